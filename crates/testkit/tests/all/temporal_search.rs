//! Temporal properties of small models whose verdicts are known by hand.

use quotient::languages::Language;
use quotient::{FairnessMode, Model, Options, Plan, Reduction, Strategy, Symmetry, UsedSymmetry, Verdict};
use quotient_ir::{Formula, Positions, Property, PropertyKind, Temporal, TemporalClaim};
use quotient_temporal::Formulas;
use quotient_temporal::syntax::parse_plain;

/// A model with a formula over its invariants, which are then no claims: `p0` is the first. The parameters of the first
/// invariant are those of the formula, and all must have the same.
fn with_formula(text: &str, formula: &str) -> Model {
    let model = Model::from_text("model.m", text, Language::Murphi).unwrap_or_else(|error| panic!("{error}"));
    let mut ir = model.ir().clone();
    let ids: Vec<_> = ir.properties.indices().collect();
    let mut atoms = Vec::new();
    let mut names = Vec::new();
    let mut last: Option<Property> = None;
    for id in ids {
        let property = &ir.properties[id];
        if property.kind == PropertyKind::Invariant {
            atoms.push(property.formula.condition().expect("a condition"));
            names.push(property.name.clone().unwrap_or_default());
            last = Some(property.clone());
            ir.properties[id].kind = PropertyKind::Cover;
        }
    }
    let mut property = last.expect("an invariant");
    let mut pool = Formulas::new();
    let parsed = parse_plain(&mut pool, formula).expect(formula);
    property.name = Some("formula".into());
    property.kind = PropertyKind::Temporal;
    let claim = match pool.has_path_quantifier(parsed) {
        true => TemporalClaim::Branching { pool, formula: parsed },
        false => TemporalClaim::Linear { pool, formula: parsed },
    };
    let temporal = Temporal { claim, atoms, names, text: formula.into(), positions: Positions::Stored };
    property.formula = Formula::Temporal(Box::new(temporal));
    ir.properties.push(property);
    Model::new(ir).unwrap_or_else(|error| panic!("{error}"))
}

fn verdicts(text: &str, formula: &str, fairness: FairnessMode) -> Verdict {
    let model = with_formula(text, formula);
    let mut found = Vec::new();
    for symmetry in [Symmetry::Auto, Symmetry::Off] {
        let mut options = Options::default().property("formula").fairness(fairness).symmetry(symmetry);
        if symmetry == Symmetry::Auto {
            options = options.reduction(Reduction::By(Strategy::Canonical));
        }
        let report = Plan::new(&model, &options).expect("a plan").run().unwrap_or_else(|error| panic!("{error}"));
        // Fairness in trees is judged without symmetries.
        if symmetry == Symmetry::Auto && (fairness == FairnessMode::None || !formula.contains(['A', 'E'])) {
            assert_ne!(report.temporal[0].searches[0].symmetry, UsedSymmetry::None, "{formula}");
        }
        found.push(report.verdict);
    }
    assert_eq!(found[0], found[1], "{formula}: with and without symmetries");
    found[0]
}

/// Processes that take turns by chance: each is idle, trying, or inside.
const TURNS: &str = r#"
const N: 3;
type Proc: 1..N; Place: enum { idle, trying, inside };
var place: array [Proc] of Place;
startstate for p: Proc do place[p] := idle; end; end;
ruleset p: Proc do
  rule "try" place[p] = idle ==> place[p] := trying; end;
  rule "enter" place[p] = trying & forall q: Proc do place[q] != inside end ==> place[p] := inside; end;
  rule "leave" place[p] = inside ==> place[p] := idle; end;
end;
ruleset p: Proc do invariant "trying" place[p] = trying; end;
ruleset p: Proc do invariant "inside" place[p] = inside; end;
"#;

#[test]
fn response_needs_strong_fairness() {
    // Another process may enter again and again.
    let response = "G (p0 -> F p1)";
    assert_eq!(verdicts(TURNS, response, FairnessMode::None), Verdict::Violated);
    // Entering is not possible all the time.
    assert_eq!(verdicts(TURNS, response, FairnessMode::Weak), Verdict::Violated);
    assert_eq!(verdicts(TURNS, response, FairnessMode::Strong), Verdict::Holds);
}

#[test]
fn formulas_about_trees() {
    for (formula, verdict) in [
        ("AG EF p1", [Verdict::Holds; 3]),
        ("AG (p0 -> EF p1)", [Verdict::Holds; 3]),
        ("AG (p0 -> AF p1)", [Verdict::Violated, Verdict::Violated, Verdict::Holds]),
        ("EF EG p0", [Verdict::Holds, Verdict::Holds, Verdict::Violated]),
        ("EF EG p1", [Verdict::Violated; 3]),
        ("A G F p1", [Verdict::Violated, Verdict::Violated, Verdict::Holds]),
        ("EX p0 & !EX p1", [Verdict::Holds; 3]),
        ("E (F p1 & G !p0)", [Verdict::Violated; 3]),
    ] {
        let modes = [FairnessMode::None, FairnessMode::Weak, FairnessMode::Strong];
        assert_eq!(modes.map(|fairness| verdicts(TURNS, formula, fairness)), verdict, "{formula}");
    }
}

#[test]
fn the_cycle_of_a_formula_about_trees_is_fair() {
    // All processes do the same, but each must move again and again.
    let text = r#"
        type Proc: 1..3;
        var x: boolean;
        startstate begin x := false; end;
        ruleset p: Proc do rule "flip" begin x := !x; end; end;
        invariant "x" x;
    "#;
    for (formula, mode) in [("A F G p0", FairnessMode::Weak), ("!E G F p0", FairnessMode::Strong)] {
        let model = with_formula(text, formula);
        let options = Options::default().property("formula").fairness(mode).symmetry(Symmetry::Off);
        let report = Plan::new(&model, &options).expect("a plan").run().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.verdict, Verdict::Violated);
        let trace = report.properties[0].trace.as_ref().expect("a run");
        let cycle = &trace.steps[trace.cycle.expect("it goes on forever") + 1..];
        let mut movers: Vec<i64> = cycle.iter().map(|step| step.arguments[0]).collect();
        movers.sort_unstable();
        movers.dedup();
        assert_eq!(movers, [1, 2, 3], "{formula}");
    }
}

#[test]
fn other_formulas() {
    for (formula, verdict) in [
        // The others get stuck as long as one is inside.
        ("G (p1 -> F !p1)", [Verdict::Holds; 3]),
        ("F p0", [Verdict::Violated, Verdict::Holds, Verdict::Holds]),
        ("G F p1", [Verdict::Violated, Verdict::Violated, Verdict::Holds]),
        ("G (p1 -> O p0)", [Verdict::Holds; 3]),
        ("G (p0 -> (p0 W p1))", [Verdict::Holds; 3]),
        ("G (p1 -> X !p1)", [Verdict::Violated; 3]),
        ("F G p0", [Verdict::Violated; 3]),
    ] {
        let modes = [FairnessMode::None, FairnessMode::Weak, FairnessMode::Strong];
        assert_eq!(modes.map(|fairness| verdicts(TURNS, formula, fairness)), verdict, "{formula}");
    }
}

#[test]
fn an_instance_is_chosen_late() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi/peterson.m");
    let text = std::fs::read_to_string(path).expect("an example").replace("N: 3;", "N: 4;");
    let response = "ltl \"gets in\" forall p: process do [] (at[p] = arriving -> <> at[p] = critical) end;";
    let text = format!("{text}\n{response}\n");
    let model = Model::from_text("peterson.m", &text, Language::Murphi).unwrap_or_else(|error| panic!("{error}"));
    let options = Options::default().property("gets in").fairness(FairnessMode::Weak);
    let options = options.reduction(Reduction::By(Strategy::Canonical));
    let report = Plan::new(&model, &options).expect("a plan").run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.verdict, Verdict::Holds);
    let [search] = &report.temporal[0].searches[..] else { panic!("one orbit of instances") };
    assert_eq!(search.instances.len(), 4);
    let (most, least) = (24u32.into(), 6u32.into());
    assert_eq!(search.symmetry, UsedSymmetry::Annotated { most, least });
    // Without symmetries 10,621 nodes.
    assert_eq!(search.states, 1260);
}
