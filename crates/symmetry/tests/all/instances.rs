//! The action of the group on instances, compared with the reference interpreter: if an instance leads from one state
//! to another, its image leads from the image of the first to the image of the second; and images of products are
//! images of images.

use std::path::Path;

use quotient_frontends::{Language, LoadOptions, load};
use quotient_groups::SparsePermutation;
use quotient_groups::random::Random;
use quotient_ir::{Action, Budget, Interpreter, Layout, Model, Outcome, PropertyId, RuleId, Source, Valuation};
use quotient_symmetry::{
    Canonicalizer, CertifiedGroup, Instance, InstanceAction, InstanceMap, Subject, Workspace, declared, detect,
};

/// The effect of an instance of a rule, without details of run-time errors.
fn step(
    interpreter: &Interpreter<'_>,
    rule: RuleId,
    arguments: &[i64],
    state: &Valuation,
) -> Result<Option<Valuation>, ()> {
    match interpreter.enabled(rule, arguments, state) {
        Err(_) => Err(()),
        Ok(false) => Ok(None),
        Ok(true) => match interpreter.fire(rule, arguments, state) {
            Outcome::Next { state, .. } => Ok(Some(state)),
            Outcome::Pruned => Ok(None),
            Outcome::Fault(_) => Err(()),
        },
    }
}

struct Check<'a> {
    name: &'a str,
    model: &'a Model,
    layout: &'a Layout,
    interpreter: Interpreter<'a>,
    group: &'a CertifiedGroup,
    action: InstanceAction,
    moved: usize,
}

impl Check<'_> {
    fn rule_instances(&self) -> Vec<(RuleId, Vec<i64>)> {
        let rules = self.model.rules.iter_enumerated();
        rules
            .flat_map(|(rule, entry)| {
                let instances = self.interpreter.instances(&entry.parameters, &entry.locals);
                instances.map(move |arguments| (rule, arguments))
            })
            .collect()
    }

    /// Compares all instances in a state with their images in the image of the state.
    fn element(&mut self, element: &SparsePermutation, map: &InstanceMap, state: &Valuation) {
        let states = self.group.literals().action(self.layout, element).expect("an element acts on states");
        let image_state = states.apply(state);
        for (rule, arguments) in self.rule_instances() {
            let instance = Instance { subject: Subject::Action(Action::Rule(rule)), arguments };
            // An instance that selects an element of a multiset has no image.
            let Some(image) = self.action.image(map, &instance) else {
                assert!(!self.layout.multisets().is_empty(), "{}: {instance:?}", self.name);
                continue;
            };
            let Subject::Action(Action::Rule(image_rule)) = image.subject else { panic!("{image:?}") };
            let own = step(&self.interpreter, rule, &instance.arguments, state);
            let other = step(&self.interpreter, image_rule, &image.arguments, &image_state);
            let expected = own.map(|next| next.map(|next| states.apply(&next)));
            assert_eq!(other, expected, "{}: {instance:?} goes to {image:?}", self.name);
            self.moved += usize::from(instance != image);
        }
        for (property, entry) in
            self.model.properties.iter_enumerated().filter(|(_, entry)| entry.formula.condition().is_some())
        {
            for arguments in self.interpreter.instances(&entry.parameters, &entry.locals) {
                let instance = Instance { subject: Subject::Property(property), arguments };
                let Some(image) = self.action.image(map, &instance) else { continue };
                assert_eq!(image.subject, instance.subject, "{}", self.name);
                let own = self.interpreter.holds(property, &instance.arguments, state).ok();
                let other = self.interpreter.holds(property, &image.arguments, &image_state).ok();
                assert_eq!(own, other, "{}: {instance:?} goes to {image:?}", self.name);
            }
        }
    }
}

fn check(name: &str, model: &Model, group: &CertifiedGroup, layout: &Layout) {
    assert!(!group.is_trivial(), "{name}");
    let unlimited = Budget::unlimited();
    let interpreter = Interpreter::new(model, layout);
    let action = group.instance_action();
    let mut check = Check { name, model, layout, interpreter, group, action, moved: 0 };
    let mut random = Random::new(3);
    let mut state = None;
    for (start, entry) in model.starts.iter_enumerated() {
        for arguments in check.interpreter.instances(&entry.parameters, &entry.locals) {
            if let Outcome::Next { state: found, .. } = check.interpreter.run_start(start, &arguments) {
                state.get_or_insert(found);
            }
        }
    }
    let mut state = state.expect("an initial state");
    let instances = check.rule_instances();
    let canonicalizer = Canonicalizer::new(model, layout, group).expect("a canonicalizer");
    let mut workspace = Workspace::default();
    for depth in 0..30 {
        for (position, generator) in group.generators().iter().enumerate().take(6) {
            let map = check.action.of_generator(position);
            check.element(&generator.clone(), &map, &state);
            let lifted = check.action.of_element(generator, &unlimited).expect("unlimited");
            assert_eq!(lifted.as_ref(), Some(&map), "{name}: generator {position}");
        }
        // A product, as one element and step by step.
        let mut product = SparsePermutation::identity();
        let mut factors = Vec::new();
        for _ in 0..random.below(8) {
            let position = random.below(group.generators().len());
            product = product.then(&group.generators()[position]);
            factors.push(check.action.of_generator(position));
        }
        let map = check.action.of_element(&product, &unlimited).expect("unlimited").expect("a product of generators");
        check.element(&product, &map, &state);
        for (rule, arguments) in &instances {
            let instance = Instance { subject: Subject::Action(Action::Rule(*rule)), arguments: arguments.clone() };
            let Some(identity) = check.action.image(&InstanceMap::default(), &instance) else { continue };
            let by_steps =
                factors.iter().fold(identity, |image, map| check.action.image(map, &image).expect("an image"));
            assert_eq!(check.action.image(&map, &instance), Some(by_steps), "{name}: {instance:?}");
        }
        // The element that leads to the representative.
        let mut packed = vec![0; layout.words()];
        layout.pack(&state, &mut packed);
        let witness = canonicalizer.canonicalize_with_witness(&mut workspace, &mut packed);
        let map = check.action.of_element(&witness, &unlimited).expect("unlimited").expect("an element of the group");
        check.element(&witness, &map, &state);
        let mut successors: Vec<Valuation> = instances
            .iter()
            .filter_map(|(rule, arguments)| step(&check.interpreter, *rule, arguments, &state).ok().flatten())
            .collect();
        if successors.is_empty() {
            break;
        }
        state = successors.swap_remove((random.below(successors.len()) + depth) % successors.len());
    }
    assert!(check.moved > 0, "{name}");
}

fn loaded(name: &str, text: String, language: Language) -> Model {
    let loaded = load(Source::new(name, text), language, &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{name}: {error:?}")).model
}

fn example(path: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(path);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let language = match file.extension().and_then(|extension| extension.to_str()) {
        Some("m") => Language::Murphi,
        Some("pml") => Language::Promela,
        _ => Language::B,
    };
    let model = loaded(path, text, language);
    let layout = Layout::new(&model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let found = detect(&model, &layout, &properties, &Budget::unlimited()).expect("certified");
    check(path, &model, &found.group, &layout);
}

#[test]
fn images_of_instances_do_the_same_for_images_of_states() {
    for path in [
        "murphi/german.m",
        "murphi/peterson.m",
        "murphi/leader_election_ring.m",
        "murphi/hypercube.m",
        "murphi/three_tiered.m",
        "murphi/lock_server.m",
        "promela/mutex.pml",
        "promela/resource_allocator.pml",
        "b/Towns.mch",
        "b/USB.mch",
    ] {
        example(path);
    }
}

#[test]
fn declared_groups_act_on_instances_as_well() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi/german.m"));
    let model = loaded("german.m", text.expect("the example"), Language::Murphi);
    let layout = Layout::new(&model).expect("a layout");
    let found = declared(&model, &layout, &[], &Budget::unlimited()).expect("certified");
    check("german.m", &model, &found.group, &layout);
}

/// Rules with the same effect, more of them for some processes than for others.
#[test]
fn instances_that_do_the_same_have_images() {
    let text = "
        type p: scalarset(3); var x: array [p] of 0..2; turn: 0..1;
        startstate for i: p do x[i] := 0 end; turn := 0 end;
        ruleset i: p; twice: 0..1 do rule x[i] < 2 ==> x[i] := x[i] + 1 end end;
        ruleset i: p; j: p do rule i != j & x[i] = 2 ==> x[i] := 0 end end;
        ruleset i: p do rule true ==> turn := 1 - turn end end;";
    let model = loaded("same.m", text.to_owned(), Language::Murphi);
    let layout = Layout::new(&model).expect("a layout");
    let found = detect(&model, &layout, &[], &Budget::unlimited()).expect("certified");
    check("same.m", &model, &found.group, &layout);
    let uneven = "
        var x: array [0..1] of 0..2;
        startstate x[0] := 0; x[1] := 0 end;
        rule \"a\" x[0] < 2 ==> x[0] := x[0] + 1 end;
        rule \"also a\" x[0] < 2 ==> x[0] := x[0] + 1 end;
        rule \"b\" x[1] < 2 ==> x[1] := x[1] + 1 end;";
    let model = loaded("uneven.m", uneven.to_owned(), Language::Murphi);
    let layout = Layout::new(&model).expect("a layout");
    let found = detect(&model, &layout, &[], &Budget::unlimited()).expect("certified");
    check("uneven.m", &model, &found.group, &layout);
}
