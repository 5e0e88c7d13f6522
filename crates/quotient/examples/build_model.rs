//! Writes a model in Rust and checks it: the symmetry is found without a file, and without being declared.
#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use quotient::ir::builder::{ModelBuilder, Type, forall};
use quotient::{Model, Options, Plan};

fn main() -> Result<(), quotient::Error> {
    let mut model = ModelBuilder::new("tickets");
    // A range, not a scalarset: that the clients are interchangeable is for detection to find out.
    let client = Type::range(1..=6);
    let served = model.variable("served", Type::array(&client, Type::boolean()));
    let free = model.variable("free", Type::range(0..=2));
    model.start("all tickets are free", |start| {
        start.for_each("c", &client, |body, c| body.assign(served.at(c), false));
        start.assign(&free, 2);
    });
    model.rule("take", |rule| {
        let c = rule.parameter("c", &client);
        rule.guard((!served.at(&c)).and(free.gt(0)));
        rule.assign(served.at(&c), true);
        rule.assign(&free, &free - 1);
    });
    model.rule("give back", |rule| {
        let c = rule.parameter("c", &client);
        rule.guard(served.at(&c));
        rule.assign(served.at(&c), false);
        rule.assign(&free, &free + 1);
    });
    model.invariant("never all", |_| !forall("c", &client, |c| served.at(c)));

    let model = Model::new(model.build()?)?;
    let report = Plan::new(&model, &Options::default())?.run()?;
    println!("{:?}: {} states", report.verdict, report.states);
    if let Some(Ok(group)) = report.symmetry.map(|symmetry| symmetry.group) {
        println!("{} symmetries, {}", group.order, group.structure);
    }
    Ok(())
}
