//! Checks a model that is wrong, and walks the run that shows it, step by step.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use quotient::{Language, Model, Options, Plan, ir::Action, names};

/// A lock that two processes can pass together.
const LOCK: &str = r#"
    type process: scalarset(2);
    var at: array [process] of enum { outside, waiting, inside }; free: boolean;
    startstate begin for p: process do at[p] := outside; end; free := true; end;
    ruleset p: process do
      rule "look" at[p] = outside & free ==> begin at[p] := waiting; end;
      rule "enter" at[p] = waiting ==> begin at[p] := inside; free := false; end;
      rule "leave" at[p] = inside ==> begin at[p] := outside; free := true; end;
    end;
    invariant "mutual exclusion" forall p: process do forall q: process do
      at[p] = inside & at[q] = inside -> p = q end end;
"#;

fn main() -> Result<(), quotient::Error> {
    let model = Model::from_text("lock", LOCK, Language::Murphi)?;
    let report = Plan::new(&model, &Options::default())?.run()?;
    let Some(trace) = report.properties.iter().find_map(|property| property.trace.as_ref()) else {
        println!("nothing is violated");
        return Ok(());
    };
    let (representation, layout) = (model.ir(), model.layout());
    for (number, step) in trace.steps.iter().enumerate() {
        let name = match step.action {
            Action::Start(_) => "start".to_owned(),
            Action::Rule(rule) => names::rule_name(representation, rule),
        };
        println!("{number}: {name}");
        for (slot, value) in layout.slots.iter().zip(&step.state.0) {
            let value = value.map_or_else(|| "undefined".to_owned(), |value| representation.value_name(slot.ty, value));
            println!("     {} = {value}", slot.name);
        }
    }
    println!("violated: {:?}", trace.violation);
    Ok(())
}
