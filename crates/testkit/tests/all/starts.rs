//! Starts up to symmetry: one of each orbit is enough, whatever the text of the starts.

use num_bigint::BigUint;
use quotient_ir::{DeadlockMode, Layout, PropertyId};
use quotient_search::{Extent, SearchOptions, Silent};
use quotient_systems::SymmetrySource;
use quotient_testkit::examples::load_murphi;
use quotient_testkit::random_murphi::Random;
use quotient_testkit::search::{cross_check, plan};

/// Rules that treat all nodes and all colours alike.
const RULES: &str = "
    ruleset n: node; m: node do
      rule n != m & colour_of[n] = colour_of[m] & !done ==> first[n] := !first[n]; end;
    end;
    ruleset n: node do
      rule first[n] & second[n] ==> done := true; second[n] := false; end;
    end;";

/// Searches with and without symmetry and compares every count and state.
fn orbits(name: &str, text: &str) -> (u64, u64) {
    let model = load_murphi(name, text, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
    let layout = Layout::new(&model).expect("a layout");
    let properties: Vec<PropertyId> = model.properties.indices().collect();
    let plan = plan(&model, &layout, &properties, SymmetrySource::Detected, None).expect("a plan");
    let options = SearchOptions { deadlock: DeadlockMode::Off, ..SearchOptions::default() };
    let (report, comparison) = cross_check(&model, &layout, &plan, &options, &mut Silent)
        .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(comparison.extent, Extent::Everything, "{name}");
    assert_eq!(report.represented, Some(BigUint::from(comparison.whole.states)), "{name}");
    (report.states, comparison.whole.states)
}

fn declarations(nodes: usize, colours: usize) -> String {
    format!(
        "type node: 1..{nodes}; colour: 0..{}; colours: array [node] of colour; flags: array [node] of boolean;
        var colour_of: colours; first: flags; second: flags; done: boolean; ",
        colours - 1
    )
}

#[test]
fn starts_that_only_move_values() {
    let declarations = declarations(4, 3);
    for (name, start) in [
        (
            "whole arrays",
            "ruleset c: colours; f: flags do
              startstate colour_of := c; first := f; second := f; done := false; end
            end;",
        ),
        (
            "each to its own",
            "ruleset c: colours; f: flags; s: flags do
              startstate colour_of := c; first := f; second := s; done := false; end
            end;",
        ),
        (
            "one after the other",
            "ruleset c: colours; f: flags do startstate
              done := false;
              for n: node do colour_of[n] := c[n]; first[n] := f[n]; second[n] := true; end;
            end end;",
        ),
        (
            "through a variable",
            "ruleset c: colours; f: flags do startstate
              colour_of := c; first := f; second := first; done := false;
            end end;",
        ),
        (
            "overwritten",
            "ruleset c: colours; f: flags; s: flags do startstate
              colour_of := c; first := s; first := f; second := s; done := false;
            end end;",
        ),
        (
            "scalars",
            "ruleset a: colour; b: colour; c: colour; d: colour do startstate
              colour_of[1] := a; colour_of[2] := b; colour_of[3] := c; colour_of[4] := d;
              for n: node do first[n] := false; second[n] := n > 0; end;
              done := false;
            end end;",
        ),
        (
            "some nodes begin otherwise",
            "ruleset c: colours; f: flags do startstate
              colour_of := c; first := f; for n: node do second[n] := n = 2; end; done := false;
            end end;",
        ),
    ] {
        let (stored, represented) = orbits(name, &format!("{declarations}{start}{RULES}"));
        assert!(stored < represented, "{name}: {stored} of {represented}");
    }
}

#[test]
fn starts_that_do_more_than_move_values() {
    let declarations = declarations(3, 3);
    for (name, start) in [
        (
            "a condition",
            "ruleset c: colours; f: flags do startstate
              colour_of := c; first := f; second := f; done := false;
              if f[1] & f[2] & f[3] then done := true; end;
            end end;",
        ),
        (
            "a calculation",
            "ruleset c: colours; f: flags do startstate
              colour_of := c; first := f; done := false;
              for n: node do second[n] := !f[n]; end;
            end end;",
        ),
        (
            "a parameter as an index",
            "ruleset c: colours; p: node; f: flags do startstate
              colour_of := c; first := f; done := false;
              for n: node do second[n] := false; end;
              second[p] := true;
            end end;",
        ),
    ] {
        orbits(name, &format!("{declarations}{start}{RULES}"));
    }
}

/// Starts put together at random.
#[test]
fn random_starts() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut body = String::from("done := false;");
        for variable in ["colour_of", "first", "second"] {
            let parameter = match (variable, random.below(2)) {
                ("colour_of", _) => "c",
                (_, 0) => "f",
                _ => "s",
            };
            match random.below(4) {
                0 => body.push_str(&format!("{variable} := {parameter};")),
                1 => body.push_str(&format!("for n: node do {variable}[n] := {parameter}[n]; end;")),
                2 => body
                    .push_str(&format!("for n: node do {variable}[n] := {parameter}[{}]; end;", 1 + random.below(3))),
                _ => body.push_str(&format!("clear {variable};")),
            }
        }
        let start = format!("ruleset c: colours; f: flags; s: flags do startstate {body} end end;");
        orbits(&format!("seed {seed}"), &format!("{}{start}{RULES}", declarations(3, 2)));
    }
}
