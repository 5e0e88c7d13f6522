//! Checks a model and prints the verdict on each of its properties: `cargo run --example check_file MODEL`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it finds")]

use std::process::ExitCode;

use quotient::{Options, Subject, Verdict, names};

fn main() -> Result<ExitCode, quotient::Error> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("which model? Usage: check_file MODEL");
        return Ok(ExitCode::from(2));
    };
    let model = quotient::Model::from_path(&path)?;
    let report = quotient::Plan::new(&model, &Options::default())?.run()?;
    for property in &report.properties {
        let name = match property.subject {
            Subject::Property(id) => names::property_title(model.ir(), id),
            Subject::Deadlock => "no deadlock".to_owned(),
            Subject::Errors => "no errors".to_owned(),
        };
        println!("{name}: {:?}", property.verdict);
    }
    if let Some(reason) = &report.stop_reason {
        println!("ended early: {reason}");
    }
    let represented = report.represented.map_or_else(|| "an unknown number of".to_owned(), |number| number.to_string());
    println!("{} states stored, representing {represented} states", report.states);
    Ok(ExitCode::from(u8::from(report.verdict == Verdict::Violated)))
}
