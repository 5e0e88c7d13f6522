//! Guards, run-time errors, next values, reads and writes, compared with the reference interpreter in random reachable
//! states of example models.

use std::collections::HashMap;
use std::path::Path;

use quotient_functions::{Assignment, Effect, Evaluation, Functions, InstanceId, Preserved, Subject};
use quotient_ir::{
    Action, Budget, FaultKind, Interpreter, Layout, Model, Outcome, PropertyId, PropertyKind, RuleId, SlotId, Source,
    Valuation,
};
use quotient_kit::{FrontEnd, LoadOptions};

/// A small random number generator (SplitMix64), so that runs are reproducible.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as usize % bound
    }
}

fn parse(name: &str, text: String, language: &FrontEnd) -> Model {
    let loaded = language.load(Source::new(name, text), &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{name}: {error:?}")).model
}

/// The effect of an instance of a rule according to the interpreter; `None` if it gave up.
fn interpreted(interpreter: &Interpreter<'_>, rule: RuleId, arguments: &[i64], state: &Valuation) -> Option<Effect> {
    let given_up = |kind: FaultKind| kind == FaultKind::Exhausted;
    match interpreter.enabled(rule, arguments, state) {
        Err(fault) => (!given_up(fault.kind)).then_some(Effect::Fault),
        Ok(false) => Some(Effect::Disabled),
        Ok(true) => match interpreter.fire(rule, arguments, state) {
            Outcome::Next { state, .. } => Some(Effect::Next(state)),
            Outcome::Pruned => Some(Effect::Disabled),
            Outcome::Fault(fault) => (!given_up(fault.kind)).then_some(Effect::Fault),
        },
    }
}

/// The effect of an instance seen in one state, by the values it reads.
type Seen<'a> = HashMap<(InstanceId, Vec<i64>, Vec<Option<i64>>), (Valuation, Effect)>;

struct Check<'a> {
    name: &'a str,
    model: &'a Model,
    layout: &'a Layout,
    functions: &'a Functions,
    interpreter: Interpreter<'a>,
    reads: Vec<Vec<SlotId>>,
    writes: Vec<Vec<SlotId>>,
    seen: Seen<'a>,
    steps: usize,
}

impl Check<'_> {
    /// Compares all instances in a state, and returns the successors.
    fn state(&mut self, state: &Valuation) -> Vec<Valuation> {
        for slot in self.layout.slots.indices() {
            let (values, value) = (self.functions.values(slot), state[slot]);
            let possible = match value {
                Some(number) if self.functions.is_wide(slot) => {
                    let mut bounds = values.iter().flatten();
                    let (low, high) = (bounds.next().expect("a bound"), bounds.next_back().expect("a bound"));
                    (low..=high).contains(&&number)
                }
                _ => values.binary_search(&value).is_ok(),
            };
            assert!(possible, "{}: {} holds {value:?}", self.name, self.layout.slots[slot].name);
        }
        let mut successors = Vec::new();
        for id in self.functions.instances() {
            let instance = self.functions.instance(id).clone();
            match instance.subject {
                Subject::Action(Action::Start(_)) => {}
                Subject::Action(Action::Rule(rule)) => {
                    let entry = &self.model.rules[rule];
                    if self.functions.inputs(id).is_empty() {
                        successors.extend(self.rule(id, rule, &instance.arguments, &[], state));
                    } else {
                        // Too many instances to list: some of them.
                        let all: Vec<_> =
                            self.interpreter.instances(&entry.parameters, &entry.locals).take(20).collect();
                        for arguments in all {
                            successors.extend(self.rule(id, rule, &arguments, &arguments, state));
                        }
                    }
                }
                Subject::Property(property) => self.property(id, property, &instance.arguments, state),
            }
        }
        successors
    }

    fn rule(
        &mut self,
        id: InstanceId,
        rule: RuleId,
        arguments: &[i64],
        inputs: &[i64],
        state: &Valuation,
    ) -> Option<Valuation> {
        let expected = interpreted(&self.interpreter, rule, arguments, state)?;
        let effect = self.functions.effect(self.layout, id, state, inputs);
        let instance = self.functions.instance(id);
        assert_eq!(effect.as_ref(), Some(&expected), "{}: {instance:?} {arguments:?} in {state:?}", self.name);
        self.steps += 1;
        let read: Vec<Option<i64>> = self.reads[id.position()].iter().map(|&slot| state[slot]).collect();
        let writes = &self.writes[id.position()];
        if let Effect::Next(next) = &expected {
            for slot in self.layout.slots.indices().filter(|slot| next[*slot] != state[*slot]) {
                let name = &self.layout.slots[slot].name;
                assert!(writes.binary_search(&slot).is_ok(), "{}: {instance:?} changes {name}", self.name);
            }
        }
        // In states that agree on the slots read, the effect must be the same.
        let key = (id, inputs.to_vec(), read);
        let (other_state, other) = self.seen.entry(key).or_insert_with(|| (state.clone(), expected.clone()));
        match (&expected, &*other) {
            (Effect::Next(next), Effect::Next(other_next)) => {
                for &slot in writes {
                    let both_keep = next[slot] == state[slot] && other_next[slot] == other_state[slot];
                    let name = &self.layout.slots[slot].name;
                    assert!(
                        both_keep || next[slot] == other_next[slot],
                        "{}: what {instance:?} makes of {name} depends on more than it reads",
                        self.name
                    );
                }
            }
            (first, second) => assert_eq!(first, second, "{}: {instance:?} depends on more than it reads", self.name),
        }
        match expected {
            Effect::Next(next) => Some(next),
            Effect::Disabled | Effect::Fault => None,
        }
    }

    fn property(&self, id: InstanceId, property: PropertyId, arguments: &[i64], state: &Valuation) {
        let entry = &self.model.properties[property];
        if entry.formula.condition().is_none() || !self.interpreter.is_instance(&entry.parameters, arguments) {
            return;
        }
        let mut evaluation = Evaluation::new(self.functions.circuit(), Assignment::of_state(state));
        let fault = evaluation.holds(self.functions.fault(id)).expect("a reachable state");
        let holds = evaluation.holds(self.functions.guard(id)).expect("a reachable state");
        let expected = match self.interpreter.holds(property, arguments, state) {
            Ok(holds) => (false, holds),
            // For these, only where they hold is represented.
            Err(_) if matches!(entry.kind, PropertyKind::Invariant | PropertyKind::Passing) => (false, false),
            Err(_) => (true, false),
        };
        assert_eq!((fault, holds && !fault), expected, "{}: {:?}", self.name, self.functions.instance(id));
    }
}

/// Walks randomly through a model.
fn walk(name: &str, model: &Model, walks: usize, depth: usize) {
    let layout = Layout::new(model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let budget = Budget::unlimited();
    let functions =
        Functions::of(model, &layout, Preserved::Properties(&properties), &budget).expect("the budget is unlimited");
    assert!(functions.refused().is_empty(), "{name}: {:?}", functions.refused());
    assert!(budget.used() > 0);
    for id in functions.instances() {
        assert_eq!(functions.id(functions.instance(id)), Some(id));
    }
    let interpreter = Interpreter::new(model, &layout);
    let mut starts = Vec::new();
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in interpreter.instances(&entry.parameters, &entry.locals).take(50) {
            if let Outcome::Next { state, .. } = interpreter.run_start(start, &arguments) {
                starts.push(state);
            }
        }
    }
    let reads = functions.instances().map(|id| functions.reads(id)).collect();
    let writes = functions.instances().map(|id| functions.writes(id)).collect();
    let mut check = Check {
        name,
        model,
        layout: &layout,
        functions: &functions,
        interpreter,
        reads,
        writes,
        seen: HashMap::new(),
        steps: 0,
    };
    let mut random = Random(1);
    for _ in 0..walks {
        let mut state = starts[random.below(starts.len())].clone();
        for _ in 0..depth {
            let mut successors = check.state(&state);
            if successors.is_empty() {
                break;
            }
            state = successors.swap_remove(random.below(successors.len()));
        }
    }
    assert!(check.steps > 0, "{name}");
}

fn example(path: &str, walks: usize, depth: usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let language = match file.extension().and_then(|extension| extension.to_str()) {
        Some("m") => &quotient_murphi::LANGUAGE,
        Some("pml") => &quotient_promela::LANGUAGE,
        _ => &quotient_b::LANGUAGE,
    };
    walk(path, &parse(path, text, language), walks, depth);
}

#[test]
fn murphi_models_do_what_their_functions_say() {
    for path in [
        "german.m",
        "peterson.m",
        "elevator.m",
        "needham_schroeder.m",
        "bakery.m",
        "two_phase_commit.m",
        "lock_server.m",
    ] {
        example(&format!("murphi/{path}"), 6, 40);
    }
}

#[test]
fn promela_models_do_what_their_functions_say() {
    for path in ["peterson.pml", "mutex.pml", "leader_ring.pml", "client_server.pml"] {
        example(&format!("promela/{path}"), 6, 40);
    }
}

#[test]
fn b_machines_do_what_their_functions_say() {
    for path in ["Library.mch", "Lift.mch", "Peterson.mch", "scheduler0.mch", "Towns.mch"] {
        example(&format!("b/{path}"), 6, 30);
    }
}

/// Multisets, run-time errors, assumptions within steps, undefined values, wide slots.
#[test]
fn odd_models_do_what_their_functions_say() {
    let multisets = "
        type message: record who: 0..2; what: enum { ask, tell } end;
        var net: multiset [3] of message; done: array [0..2] of boolean;
        startstate for i: 0..2 do done[i] := false end end;
        ruleset i: 0..2 do
          rule multisetcount(m: net, true) < 3 & !done[i] ==> var m: message;
            begin m.who := i; m.what := ask; multisetadd(m, net) end;
        end;
        choose m: net do
          rule net[m].what = ask ==> var answer: message;
            begin answer.who := net[m].who; answer.what := tell; done[net[m].who] := true;
              multisetremove(m, net); multisetadd(answer, net) end;
          rule net[m].what = tell ==> done[net[m].who] := false; multisetremove(m, net) end;
        end;";
    let odd = "
        var x: 0..5; y: array [0..2] of 0..3; big: 0..1000000;
        startstate x := 0; undefine y; big := 7 end;
        ruleset i: 0..2 do
          rule \"set\" isundefined(y[i]) | y[i] < 3 ==> if isundefined(y[i]) then y[i] := 0 else y[i] := y[i] + 1 end end;
          rule \"forget\" !isundefined(y[i]) ==> undefine y[i] end;
        end;
        rule \"may fault\" x = 2 ==> x := y[0] end;
        rule \"divides\" 10 / (x + 1) > 1 ==> x := x + 1 end;
        rule \"grows\" big < 900000 ==> big := big * 3 + x end;
        rule \"shrinks\" big > 500 ==> big := big / 7 end;
        rule \"back\" x > 2 ==> x := 5 - x; assert x < 6 \"small\" end;
        invariant \"bounded\" big + x > 0;";
    for (name, text) in [("multisets", multisets), ("odd", odd)] {
        walk(name, &parse(name, text.to_owned(), &quotient_murphi::LANGUAGE), 20, 40);
    }
}
