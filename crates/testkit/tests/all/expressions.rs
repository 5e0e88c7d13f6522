//! Expressions that are evaluated in states: every variable reads as the cells of the state, and formulas of B have the
//! values that they have as constants.

use quotient::ir::{Interpreter, PartKind, TableIndex, TypeId, TypeKind, Valuation, queue_text};
use quotient::names::value_text;
use quotient::shown::StateShape;
use quotient::walk::{self, Consequence};
use quotient::{Control, Expression, Language, Model};
use quotient_testkit::random_b::{random_formulas, random_machine};
use quotient_testkit::random_csp::random_csp;
use quotient_testkit::random_dve::random_dve;
use quotient_testkit::random_murphi::{ProgramOptions, Random, random_program};
use quotient_testkit::random_promela::random_promela;
use quotient_testkit::robustness::examples;
use quotient_testkit::switches::number_from;

/// The states of a random run, at most so many.
fn run(model: &Model, seed: u64, most: usize) -> Vec<Valuation> {
    let interpreter = Interpreter::new(model.ir(), model.layout());
    let mut random = Random::new(seed);
    let mut states: Vec<Valuation> = Vec::new();
    while states.len() < most {
        let candidates = match states.last() {
            None => walk::starts(&interpreter),
            Some(state) => walk::successors(&interpreter, state),
        };
        let next: Vec<Valuation> = candidates
            .list
            .into_iter()
            .filter_map(|candidate| match candidate.consequence {
                Consequence::State(state) => Some(state),
                _ => None,
            })
            .collect();
        if next.is_empty() {
            break;
        }
        states.push(random.pick(&next).clone());
    }
    states
}

/// The variables of a model by name, with their values in a state as cells show them; nothing for one without a value.
fn variables(model: &Model, state: &Valuation) -> Vec<(String, Option<String>)> {
    let (ir, layout) = (model.ir(), model.layout());
    let cells = |first: usize, ty| &state.0[first..first + ir.cells(ty) as usize];
    let is_queue = |ty: TypeId| match &ir.types[ty].kind {
        TypeKind::Record { fields } => model.language() != Some(Language::Murphi) && fields[0].name == "length",
        _ => false,
    };
    let text = |first, ty| {
        let cells = cells(first, ty);
        if is_queue(ty) {
            return Some(queue_text(ir, ty, cells));
        }
        let has_value = !ir.is_scalar(ty) || cells[0].is_some();
        has_value.then(|| value_text(ir, ty, &mut cells.iter().copied()))
    };
    if let Some(presentation) = &ir.presentation {
        let parts = presentation.parts.iter().filter(|part| part.presence.is_none());
        return parts
            .filter_map(|part| {
                let first = part.first_slot(layout);
                match &part.kind {
                    PartKind::Value => Some((part.name.clone(), text(first, part.ty))),
                    PartKind::Queue => {
                        let name = part.name.strip_prefix("queue (")?.strip_suffix(')')?;
                        // Channels of processes have longer names, which are no expressions.
                        let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
                        let value = queue_text(ir, part.ty, cells(first, part.ty));
                        is_name.then(|| (name.to_owned(), Some(value)))
                    }
                    _ => None,
                }
            })
            .collect();
    }
    if model.language() == Some(Language::B) {
        let shape = StateShape::new(ir, layout);
        return shape.entries(state).into_iter().map(|entry| (entry.name, Some(entry.value))).collect();
    }
    let is_name = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let is_position = |ty: TypeId| matches!(ir.types[ty].kind, TypeKind::Enumeration { .. });
    ir.variables
        .iter_enumerated()
        .filter(|(_, variable)| is_name(&variable.name) && variable.span.end > 0)
        // The positions of processes are asked for state by state.
        .filter(|(_, variable)| model.language() == Some(Language::Murphi) || !is_position(variable.ty))
        .map(|(id, variable)| (variable.name.clone(), text(layout.first_slot(id).position(), variable.ty)))
        .collect()
}

/// Compares the values of all variables along a run; returns how many were compared.
fn compare(text: &str, language: Language, seed: u64) -> usize {
    let Ok(model) = Model::from_text("model", text, language) else { return 0 };
    let states = run(&model, seed, 20);
    let expected: Vec<Vec<(String, Option<String>)>> = states.iter().map(|state| variables(&model, state)).collect();
    let Some(names) = expected.iter().max_by_key(|it| it.len()) else { return 0 };
    let mut compared = 0;
    for (name, _) in names {
        let read = Expression::new(&model, name, &Control::default());
        let expression = read.unwrap_or_else(|error| panic!("`{name}`: {error:?}\n{text}"));
        for (state, found) in expected.iter().zip(expression.values(&states)) {
            let value = state.iter().find(|it| it.0 == *name).and_then(|it| it.1.clone());
            assert_eq!(found, value, "`{name}` in\n{text}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn variables_read_as_their_cells() {
    let seeds = 0..number_from("QUOTIENT_EXPRESSION_MODELS", 5);
    let options = ProgramOptions::default();
    type Texts<'a> = &'a dyn Fn(u64) -> String;
    let languages: [(Language, usize, Texts<'_>); 5] = [
        (Language::Murphi, 200, &|seed| random_program(seed, &options)),
        (Language::Promela, 100, &random_promela),
        (Language::B, 200, &random_machine),
        (Language::Dve, 100, &|seed| random_dve(seed).text()),
        (Language::Csp, 100, &|seed| random_csp(seed).text()),
    ];
    for (language, least, text) in languages {
        let mut compared: usize = seeds.clone().map(|seed| compare(&text(seed), language, seed)).sum();
        let small = examples(language.identifier()).into_iter().filter(|text| text.len() < 2500).take(4);
        compared += small.map(|text| compare(&text, language, 1)).sum::<usize>();
        assert!(compared >= least, "{language:?}: {compared}");
    }
}

#[test]
fn formulas_of_states_have_the_values_of_constants() {
    let mut compared = 0;
    for seed in 0..number_from("QUOTIENT_EXPRESSION_FORMULAS", 4) {
        let text = random_formulas(seed, 5);
        let Ok(model) = Model::from_text("formulas", &text, Language::B) else { continue };
        let states = run(&model, seed, 3);
        let claims = text.split("INVARIANT").nth(1).expect("an invariant").split("INITIALISATION").next();
        for line in claims.expect("an invariant").lines() {
            let Some((formula, name)) = line.trim().trim_end_matches('&').trim_end().rsplit_once(" = k") else {
                continue;
            };
            let values = |text: &str| {
                let read = Expression::new(&model, text, &Control::default());
                read.unwrap_or_else(|error| panic!("`{text}`: {error:?}")).values(states.last())
            };
            let (found, expected) = (values(formula), values(&format!("k{name}")));
            assert!(found[0].is_some(), "{formula}");
            assert_eq!(found, expected, "{formula}");
            compared += 1;
        }
    }
    assert!(compared >= 5, "{compared}");
}
