//! Finds the symmetries of a model and prints generators of the group: `cargo run --example detect_group MODEL`.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use quotient::{Control, DetectOptions, Model, Silent, detect};

/// Philosophers around a table: the symmetries are the rotations.
const TABLE: &str = r#"
    const N: 5;
    type seat: 0..N-1;
    var eating: array [seat] of boolean;
    startstate begin for s: seat do eating[s] := false; end; end;
    ruleset s: seat do
      rule "eat" !eating[(s + 1) % N] & !eating[(s + N - 1) % N] ==> begin eating[s] := true; end;
      rule "rest" eating[s] ==> begin eating[s] := false; end;
    end;
"#;

fn main() -> Result<(), quotient::Error> {
    let model = match std::env::args().nth(1) {
        Some(path) => Model::from_path(path)?,
        None => Model::from_text("table", TABLE, quotient::Language::Murphi)?,
    };
    let found = detect(&model, &DetectOptions::default(), &Control::default(), &mut Silent)?;
    println!("{} symmetries, {}", found.order, found.structure);
    for generator in &found.generators {
        println!("  {generator}");
    }
    Ok(())
}
