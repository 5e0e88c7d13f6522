//! Random small models with temporal properties: one or two families of processes, each permuted freely or in a ring, or
//! a program of [`crate::symmetric_murphi`]; rules that belong to processes or are declared fair in some; formulas whose
//! atoms are symmetric, indexed by parameters, or mention a process. The same seed gives the same model.

use std::fmt::Write as _;

use quotient_ir::{
    BinaryOperator, Expr, ExprId, Fairness, Formula as PropertyFormula, Model, Number, Owner, Positions, PropertyKind,
    Temporal, TemporalClaim,
};
use quotient_temporal::print::plain;
use quotient_temporal::random::{FormulaShape, Random as FormulaRandom, random_formula};
use quotient_temporal::{Atom, Formula, Formulas, PathQuantifier, translate};

use crate::examples::load_murphi;
use crate::random_murphi::Random;
use crate::symmetric_murphi::{Kind, symmetric_program};

/// A model with temporal properties.
#[derive(Clone, Debug)]
pub struct TemporalModel {
    /// The model.
    pub model: Model,
    /// The text of the model, where an invariant `tN` is the conjunction of the atoms of temporal property `N`, and of the
    /// formulas, owners and fairness, which Murphi has no words for.
    pub text: String,
}

/// The random model of a seed.
///
/// # Errors
/// If the text is not a Murphi program, which is a mistake here.
pub fn random_temporal(seed: u64) -> Result<TemporalModel, String> {
    let mut random = Random::new(seed ^ 0x7E3B_0BA1);
    let (mut text, mut shape) = if random.percent(15) {
        let text = symmetric_program(seed, if random.percent(80) { Kind::Symmetric } else { Kind::NearlySymmetric });
        let families = if text.contains("proc: 0 .. N - 1") { vec![Family::foreign(&text)] } else { Vec::new() };
        (text, Shape { families, ..Shape::default() })
    } else {
        let mut shape = Shape::new(&mut random);
        (shape.program(&mut random), shape)
    };
    let passing = random.percent(8) && !shape.families.is_empty();
    if passing {
        let condition = shape.condition(&mut random, &mut Vec::new(), 2);
        let _ = write!(text, "\ninvariant \"passing\" {condition};\n");
    }
    let mut claims = Vec::new();
    for number in 0..1 + random.below(2) {
        claims.push(shape.claim(&mut random, number, &mut text));
    }
    let mut model = load_murphi(&format!("random-temporal-{seed}.m"), &text, &[])
        .map_err(|message| format!("{message}\n{text}"))?;
    let named = |model: &Model, name: &str| {
        let found = model.properties.iter_enumerated().find(|(_, property)| property.name.as_deref() == Some(name));
        found.map(|(id, _)| id).ok_or_else(|| format!("the property {name} is missing\n{text}"))
    };
    let mut notes = String::new();
    if passing {
        let id = named(&model, "passing")?;
        model.properties[id].kind = PropertyKind::Passing;
        notes.push_str("-- `passing` makes states transient\n");
    }
    for (number, (claim, atoms)) in claims.into_iter().enumerate() {
        let id = named(&model, &format!("t{number}"))?;
        let condition = model.properties[id].formula.condition().ok_or("an invariant has a condition")?;
        let atoms = conjuncts(&model, condition, atoms).ok_or_else(|| format!("atoms are missing\n{text}"))?;
        let positions = if random.percent(85) { Positions::Stored } else { Positions::All };
        let shown = match &claim {
            TemporalClaim::Linear { pool, formula } => format!("LTL {}", plain(pool, *formula)),
            TemporalClaim::Branching { pool, formula } => format!("CTL* {}", plain(pool, *formula)),
            TemporalClaim::Never(automaton) => format!("never {automaton:?}"),
            TemporalClaim::Behaviour(behaviour) => format!("{:?}", behaviour.claim),
        };
        let _ = writeln!(notes, "-- t{number} ({positions:?}): {shown}");
        let names = (0..atoms.len()).map(|atom| format!("p{atom}")).collect();
        let temporal = Temporal { claim, atoms, names, text: shown, positions };
        let property = &mut model.properties[id];
        property.kind = PropertyKind::Temporal;
        property.formula = PropertyFormula::Temporal(Box::new(temporal));
    }
    own(&mut model, &mut random, &mut notes);
    Ok(TemporalModel { model, text: format!("{text}\n{notes}") })
}

/// The parts of a conjunction that is nested to the right, so many.
fn conjuncts(model: &Model, condition: ExprId, count: usize) -> Option<Vec<ExprId>> {
    let (mut atoms, mut rest) = (Vec::new(), condition);
    for _ in 1..count {
        let Expr::Binary { operator: BinaryOperator::And, left, right } = &model.pool[rest] else { return None };
        atoms.push(*left);
        rest = *right;
    }
    atoms.push(rest);
    Some(atoms)
}

/// Gives rules to processes, and declares some fair.
fn own(model: &mut Model, random: &mut Random, notes: &mut String) {
    let has_owners = random.percent(50);
    let has_fairness = random.percent(15);
    // Processes of different families have the same numbers; mostly, only those of one family are processes.
    let of_any_family = random.percent(10);
    let rules: Vec<_> = model.rules.indices().collect();
    let mut family = None;
    for rule in rules {
        let entry = &model.rules[rule];
        let ty = entry.parameters.first().map(|parameter| entry.locals[parameter.local].ty);
        let is_scalar = ty.is_some_and(|ty| model.is_scalar(ty));
        let entry = &mut model.rules[rule];
        if has_owners {
            entry.owner = match ty {
                None if random.percent(15) => Owner::Process(Number::Constant(random.between(0, 1))),
                Some(ty) if is_scalar && (of_any_family || *family.get_or_insert(ty) == ty) && random.percent(90) => {
                    Owner::Process(Number::Parameter(0))
                }
                _ => Owner::None,
            };
        }
        if has_fairness && random.percent(40) {
            entry.fairness = *random.pick(&[Fairness::Weak, Fairness::Strong]);
        }
        let _ = writeln!(notes, "-- {:?}: {:?}, {:?}", entry.name, entry.owner, entry.fairness);
    }
}

/// A random state formula of CTL* over atoms numbered from 0; every other one is nearly one of CTL.
pub fn random_state_formula(pool: &mut Formulas, random: &mut FormulaRandom, atoms: usize) -> Formula {
    let size = 3 + random.below(7);
    let past = random.below(4) == 0;
    let shape = FormulaShape { atoms, size, next: true, past, paths: true };
    let quantifiers = [PathQuantifier::All, PathQuantifier::Some];
    let state_formula = |pool: &mut Formulas, random: &mut FormulaRandom| {
        let path = random_formula(pool, random, &shape);
        pool.path(quantifiers[random.below(2)], path)
    };
    let one = state_formula(pool, random);
    // Formulas of CTL, where a quantifier precedes every operator, are rare otherwise.
    if random.below(2) == 0 {
        let mut formula = one;
        for _ in 0..1 + random.below(3) {
            let other = pool.atom(Atom(random.below(atoms) as u32));
            let (left, right) = if random.below(2) == 0 { (formula, other) } else { (other, formula) };
            let path = match random.below(7) {
                0 => pool.next(formula),
                1 => pool.eventually(formula),
                2 => pool.always(formula),
                3 => pool.until(left, right),
                4 => pool.release(left, right),
                5 => pool.weak_until(left, right),
                _ => pool.and([left, right]),
            };
            formula = pool.path(quantifiers[random.below(2)], path);
            if random.below(4) == 0 {
                formula = pool.not(formula);
            }
        }
        return formula;
    }
    match random.below(4) {
        0 => {
            let other = state_formula(pool, random);
            pool.and([one, other])
        }
        1 => {
            let other = state_formula(pool, random);
            pool.or([one, other])
        }
        _ => one,
    }
}

/// A family of processes.
#[derive(Clone, Debug)]
struct Family {
    /// The type of its processes.
    name: &'static str,
    size: usize,
    /// The array with the status of each process.
    status: String,
    statuses: usize,
    /// Whether it may be undefined.
    may_be_undefined: bool,
    has_flag: bool,
    has_holder: bool,
    is_ring: bool,
}

impl Family {
    /// The processes of a program of [`crate::symmetric_murphi`].
    fn foreign(text: &str) -> Self {
        let size = text.split("N: ").nth(1).and_then(|rest| rest.split(';').next()?.trim().parse().ok()).unwrap_or(2);
        Self {
            name: "proc",
            size,
            status: "st".to_owned(),
            statuses: 2,
            may_be_undefined: true,
            has_flag: false,
            has_holder: false,
            is_ring: false,
        }
    }
}

/// What a program consists of.
#[derive(Clone, Debug, Default)]
struct Shape {
    families: Vec<Family>,
    /// The values of a shared variable; none if there is none.
    shared: usize,
    fresh: u32,
}

/// Processes in scope: the family and an expression.
type Scope = Vec<(usize, String)>;

impl Shape {
    fn new(random: &mut Random) -> Self {
        let count = if random.percent(30) { 2 } else { 1 };
        let mut families = Vec::new();
        for name in ["a", "b"].into_iter().take(count) {
            let size = *random.pick(if count == 1 { &[2, 3, 3, 3, 4][..] } else { &[2, 2, 3][..] });
            families.push(Family {
                name,
                size,
                status: format!("s{name}"),
                statuses: if count == 1 && size < 4 { random.between(2, 3) as usize } else { 2 },
                may_be_undefined: false,
                has_flag: count == 1 && size < 4 && random.percent(25),
                has_holder: random.percent(30),
                is_ring: random.percent(30),
            });
        }
        Self { families, shared: if random.percent(40) { 2 } else { 0 }, fresh: 0 }
    }

    fn program(&mut self, random: &mut Random) -> String {
        let mut text = String::from("type\n");
        for family in &self.families {
            let _ = writeln!(text, "  {}: 0 .. {};", family.name, family.size - 1);
        }
        text.push_str("\nvar\n");
        for Family { name, status, statuses, has_flag, has_holder, .. } in &self.families {
            let _ = writeln!(text, "  {status}: array [{name}] of 0 .. {};", statuses - 1);
            if *has_flag {
                let _ = writeln!(text, "  f{name}: array [{name}] of boolean;");
            }
            if *has_holder {
                let _ = writeln!(text, "  h{name}: {name};");
            }
        }
        if self.shared > 0 {
            let _ = writeln!(text, "  g: 0 .. {};", self.shared);
        }
        text.push_str("\nstartstate\n");
        for Family { name, status, has_flag, has_holder, .. } in &self.families {
            let _ = write!(text, "  for i: {name} do {status}[i] := 0;");
            text.push_str(if *has_flag { " f" } else { "" });
            if *has_flag {
                let _ = write!(text, "{name}[i] := false;");
            }
            text.push_str(" end;\n");
            if *has_holder {
                let _ = writeln!(text, "  undefine h{name};");
            }
        }
        if self.shared > 0 {
            text.push_str("  g := 0;\n");
        }
        text.push_str("end;\n");
        for number in 0..1 + random.below(4) {
            let scope = self.parameters(random, 15, 20);
            let names = ruleset(&self.families, &scope);
            let mut scope = scope;
            let guard = self.condition(random, &mut scope, 2);
            let mut body = String::new();
            for _ in 0..1 + random.below(2) {
                let _ = writeln!(body, "    {};", self.statement(random, &mut scope, 1));
            }
            let end = if names.is_empty() { "" } else { "end;\n" };
            let _ = write!(text, "\n{names}  rule \"r{number}\"\n    {guard}\n  ==>\n{body}  end;\n{end}");
        }
        text
    }

    /// Parameters with names of their own: none with some chance in a hundred, two with another.
    fn parameters(&self, random: &mut Random, none: u32, two: u32) -> Scope {
        if self.families.is_empty() || random.percent(none) {
            return Vec::new();
        }
        let count = if random.percent(two) { 2 } else { 1 };
        (0..count).map(|number| (random.below(self.families.len()), ["p", "q"][number].to_owned())).collect()
    }

    /// A process of a family, from the scope if there is one; a constant rarely, if at all.
    fn process(&self, random: &mut Random, scope: &Scope, constants: u32) -> Option<(usize, String)> {
        if scope.is_empty() || random.percent(constants) {
            if self.families.is_empty() || constants == 0 {
                return None;
            }
            let family = random.below(self.families.len());
            return Some((family, random.below(self.families[family].size).to_string()));
        }
        let (family, name) = random.pick(scope).clone();
        let size = self.families[family].size;
        if self.families[family].is_ring && random.percent(40) {
            return Some((family, format!("(({name} + {}) % {size})", random.between(1, size as i64 - 1))));
        }
        Some((family, name))
    }

    fn condition(&mut self, random: &mut Random, scope: &mut Scope, depth: u32) -> String {
        if depth > 0 && random.percent(45) {
            let one = self.condition(random, scope, depth - 1);
            if random.percent(20) {
                return format!("!({one})");
            }
            let other = self.condition(random, scope, depth - 1);
            return format!("({one} {} {other})", random.pick(&["&", "|", "&", "|", "->"]));
        }
        if depth > 0 && !self.families.is_empty() && random.percent(if scope.is_empty() { 80 } else { 20 }) {
            let family = random.below(self.families.len());
            self.fresh += 1;
            let bound = format!("x{}", self.fresh);
            scope.push((family, bound.clone()));
            let body = self.condition(random, scope, depth - 1);
            scope.pop();
            let quantifier = random.pick(&["forall", "exists"]);
            return format!("({quantifier} {bound}: {} do {body} end)", self.families[family].name);
        }
        if self.shared > 0 && random.percent(20) {
            return format!("g = {}", random.below(self.shared + 1));
        }
        let Some((family, i)) = self.process(random, scope, 0) else {
            // Not a constant, which would vanish from a conjunction.
            return match self.families.len() {
                0 => format!("{} = {}", random.pick(&["a", "b", "g"]), random.below(3)),
                count => {
                    let Family { name, status, statuses, may_be_undefined, .. } = &self.families[random.below(count)];
                    let quantifier = random.pick(&["forall", "exists"]);
                    let is_defined =
                        if *may_be_undefined { format!("!isundefined({status}[x]) & ") } else { String::new() };
                    format!("({quantifier} x: {name} do {is_defined}{status}[x] = {} end)", random.below(*statuses))
                }
            };
        };
        self.atom(random, scope, family, &i)
    }

    /// A condition on a process.
    fn atom(&self, random: &mut Random, scope: &Scope, family: usize, i: &str) -> String {
        let Family { name, status, statuses, may_be_undefined, has_flag, has_holder, .. } = &self.families[family];
        let others: Vec<&String> = scope.iter().filter(|(other, _)| *other == family).map(|(_, name)| name).collect();
        let c = random.below(*statuses);
        if *may_be_undefined {
            return format!("(!isundefined({status}[{i}]) & {status}[{i}] = {c})");
        }
        match random.below(10) {
            0 | 1 if *has_flag => format!("f{name}[{i}]"),
            2 | 3 if *has_holder => format!("(!isundefined(h{name}) & h{name} = {i})"),
            4 if *has_holder => format!("isundefined(h{name})"),
            5 if others.len() > 1 => format!("{status}[{i}] = {status}[{}]", random.pick(&others)),
            6 if others.len() > 1 => format!("({i} != {} & {status}[{i}] = {c})", random.pick(&others)),
            7 => format!("{status}[{i}] != {c}"),
            _ => format!("{status}[{i}] = {c}"),
        }
    }

    fn statement(&mut self, random: &mut Random, scope: &mut Scope, depth: u32) -> String {
        if depth > 0 && random.percent(25) {
            let condition = self.condition(random, scope, 1);
            let then = self.statement(random, scope, 0);
            return if random.percent(50) {
                let otherwise = self.statement(random, scope, 0);
                format!("if {condition} then {then}; else {otherwise}; end")
            } else {
                format!("if {condition} then {then}; end")
            };
        }
        if self.shared > 0 && random.percent(20) {
            return match random.below(2) {
                0 => format!("g := {}", random.below(self.shared + 1)),
                _ => format!("g := (g + 1) % {}", self.shared + 1),
            };
        }
        if random.percent(4) {
            let condition = self.condition(random, scope, 1);
            return format!("{} {condition}", random.pick(&["assert", "assume"]));
        }
        let Some((family, i)) = self.process(random, scope, 0) else {
            // All processes at once.
            let family = random.below(self.families.len());
            let Family { name, status, statuses, .. } = &self.families[family];
            return match random.below(2) {
                0 => format!("for i: {name} do {status}[i] := {}; end", random.below(*statuses)),
                _ => format!("for i: {name} do {status}[i] := ({status}[i] + 1) % {statuses}; end"),
            };
        };
        let Family { name, status, statuses, has_flag, has_holder, .. } = self.families[family].clone();
        match random.below(10) {
            0 | 1 if has_flag => format!("f{name}[{i}] := !f{name}[{i}]"),
            2 if has_flag => format!("f{name}[{i}] := {}", self.condition(random, scope, 1)),
            3 | 4 if has_holder => format!("h{name} := {i}"),
            5 if has_holder => format!("undefine h{name}"),
            6 | 7 => format!("{status}[{i}] := {}", random.below(statuses)),
            _ => format!("{status}[{i}] := ({status}[{i}] + 1) % {statuses}"),
        }
    }

    /// A claim and the number of its atoms, whose conjunction is added to the text.
    fn claim(&mut self, random: &mut Random, number: usize, text: &mut String) -> (TemporalClaim, usize) {
        let mut scope = self.parameters(random, 40, 25);
        let names = ruleset(&self.families, &scope);
        let atoms = 1 + random.below(3);
        let constants = if random.percent(20) { 50 } else { 0 };
        let mut conditions = Vec::new();
        for _ in 0..atoms {
            let indexed = random.percent(60) || constants > 0;
            let process = self.process(random, &scope, constants).filter(|_| indexed);
            conditions.push(match process {
                Some((family, i)) => self.atom(random, &scope, family, &i),
                None => self.condition(random, &mut scope, 2),
            });
        }
        let conjunction = conditions
            .iter()
            .rev()
            .skip(1)
            .fold(format!("({})", conditions[atoms - 1]), |rest, condition| format!("(({condition}) & {rest})"));
        let end = if names.is_empty() { "" } else { "end;\n" };
        let _ = write!(text, "\n{names}  invariant \"t{number}\" {conjunction};\n{end}");
        let mut formulas = FormulaRandom::new(random.bits());
        let mut pool = Formulas::new();
        if random.percent(30) {
            let formula = random_state_formula(&mut pool, &mut formulas, atoms);
            return (TemporalClaim::Branching { pool, formula }, atoms);
        }
        let formula = match random.below(4) {
            // Formulas that people write.
            0 => usual(&mut pool, random, atoms),
            _ => {
                let size = 2 + random.below(7);
                let shape = FormulaShape { past: random.percent(25), ..FormulaShape::future(atoms, size) };
                random_formula(&mut pool, &mut formulas, &shape)
            }
        };
        if random.percent(12) {
            let negation = pool.not(formula);
            let automaton = translate(&mut pool, negation).expect("a small formula has an automaton");
            return (TemporalClaim::Never(automaton), atoms);
        }
        (TemporalClaim::Linear { pool, formula }, atoms)
    }
}

/// A usual formula: response, recurrence, stability and the like.
fn usual(pool: &mut Formulas, random: &mut Random, atoms: usize) -> Formula {
    let (a, b) = (Atom(random.below(atoms) as u32), Atom(random.below(atoms) as u32));
    let (a, b) = (pool.atom(a), pool.atom(b));
    let (not_a, eventually_a, eventually_b) = (pool.not(a), pool.eventually(a), pool.eventually(b));
    let (always_a, recurring_a, recurring_b) = (pool.always(a), pool.always(eventually_a), pool.always(eventually_b));
    match random.below(8) {
        0 => {
            let response = pool.implies(a, eventually_b);
            pool.always(response)
        }
        1 => recurring_a,
        2 => pool.eventually(always_a),
        3 => pool.implies(recurring_a, recurring_b),
        4 => eventually_a,
        5 => pool.until(not_a, b),
        6 => {
            let after = pool.weak_until(a, b);
            let kept = pool.implies(a, after);
            pool.always(kept)
        }
        _ => {
            let next = pool.next(not_a);
            let changes = pool.implies(a, next);
            pool.always(changes)
        }
    }
}

/// The head of a ruleset over parameters.
fn ruleset(families: &[Family], parameters: &Scope) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let names: Vec<String> =
        parameters.iter().map(|(family, name)| format!("{name}: {}", families[*family].name)).collect();
    format!("ruleset {} do\n", names.join("; "))
}
