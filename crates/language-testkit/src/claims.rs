//! The claims of a model as text.

use quotient_ir::{Model, TemporalClaim};
use quotient_temporal::print::{Notation, print};
use quotient_temporal::{Atom, Automaton};

/// States, literals, and `!` where a transition accepts.
fn automaton_text(automaton: &Automaton) -> String {
    let literals = |mask: u64, sign: &str| -> String {
        (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| format!(" {sign}{bit}")).collect()
    };
    let mut parts = vec![format!("from {:?}", automaton.initial)];
    for transition in &automaton.transitions {
        let (positive, negative) = (literals(transition.cube.positive, ""), literals(transition.cube.negative, "-"));
        let accepting = if transition.acceptance == 1 { " !" } else { "" };
        parts.push(format!("{}>{}{positive}{negative}{accepting}", transition.from, transition.to));
    }
    parts.join(", ")
}

/// The claims of a model: the name, the parameters, and the formula over the texts of its conditions.
pub fn claims(model: &Model) -> Vec<String> {
    let mut lines = Vec::new();
    for property in model.properties.iter().filter(|property| property.kind.is_claim()) {
        let name = property.name.as_deref().unwrap_or("");
        let Some(temporal) = property.formula.temporal() else {
            lines.push(format!("{name}: {:?}", property.kind));
            continue;
        };
        let parameters: String =
            property.parameters.iter().map(|it| format!("{} ", property.locals[it.local].name)).collect();
        let atom = |number: Atom| format!("{{{}}}", temporal.names[number.0 as usize]);
        let formula = match &temporal.claim {
            TemporalClaim::Linear { pool, formula } => print(pool, *formula, Notation::Plain, &atom),
            TemporalClaim::Branching { pool, formula } => {
                format!("ctl {}", print(pool, *formula, Notation::Plain, &atom))
            }
            TemporalClaim::Behaviour(behaviour) => format!("{:?}", behaviour.claim),
            TemporalClaim::Never(automaton) => format!("{:?} {}", temporal.names, automaton_text(automaton)),
        };
        lines.push(format!("{name}: {parameters}{formula}"));
    }
    lines
}
