//! CSP# models at the command line: assertions and events in formulas, runs event by event, conditions, symmetries, and
//! what is refused.

use crate::transcript::{Transcript, quotient};

const FORKS: &str = "../../../../models/csp/forks.csp";
const STACK: &str = "../../../../models/csp/lock_free_stack.csp";
const TIERS: &str = "../../../../models/csp/three_tiered.csp";

/// The program says all of these, in any order, and ends with this status.
#[track_caller]
fn check(said: &Transcript, status: i32, parts: &[&str]) {
    let all = format!("{}{}", said.stdout, said.stderr);
    for part in parts {
        assert!(all.contains(part), "`{part}` is not in\n{all}");
    }
    assert_eq!(said.status, Some(status), "{all}");
}

#[test]
fn assertions_over_events() {
    let said = quotient(["check", "events.csp"]);
    check(
        &said,
        1,
        &[
            "violated   temporal   S() |= [] (send.0 -> X \"c!0\")\n",
            "holds      temporal   S() |= [] (\"c?1\" -> X got.1)\n",
            "holds      temporal   S() |= [] (got.2 -> <> done.3)\n",
            "violated   temporal   S() |= [] (d.1 -> X done.1)\n",
            "holds      temporal   S() |= [] (d.1 -> X (done.1 || send.1))\n",
            "holds      temporal   S() |= []<> done.3\n",
            "undecided  invariant  S() |= [] !done.4\n",
            "violated   invariant  S() |= [] !done.3\n",
            "holds      cover      S() reaches small\n",
        ],
    );
}

#[test]
fn deadlocks_are_shown_event_by_event() {
    let said = quotient(["check", FORKS]);
    check(
        &said,
        1,
        &[
            "violated: deadlock",
            " 1  Rule \"get.0.0\"\n",
            "      Philosopher(0): Philosopher(0) → get.0.1 -> eat.0 -> put.0.0 -> put.0.1 -> Philosopher(0)\n",
        ],
    );
    // Nothing is said about deadlocks where nothing is asserted.
    let said = quotient(["check", "-D", "N=3", "../../../../models/csp/dining_philosophers.csp"]);
    check(&said, 0, &["holds      cover      Table() reaches allTaken\n"]);
}

#[test]
fn conditions_from_the_command_line() {
    let table = "../../../../models/csp/dining_philosophers.csp";
    let said = quotient(["check", table, "--invariant", "taken[0] < 2", "--reach", "taken[0] == 2"]);
    check(&said, 1, &["violated: cover \"taken[0] == 2\"", "holds      invariant  taken[0] < 2\n"]);
    let said = quotient(["check", table, "--ltl", "[] (take_right.0 -> taken[0] == 1)"]);
    check(&said, 0, &["holds      invariant  [] (take_right.0 -> taken[0] == 1)\n"]);
    let said = quotient(["check", table, "--ctl", "EF taken[0] == 1"]);
    check(&said, 3, &["formulas of CTL are not read for CSP#"]);
}

#[test]
fn symmetries_of_a_refinement() {
    let lock = "../../../../models/csp/filter_lock.csp";
    let said = quotient(["check", "--reduction", "canonical", lock]);
    check(&said, 0, &["temporal \"Filter() refines<FD> Lock()\": 148 nodes, 6 symmetries\n"]);
    let said = quotient(["check", "--symmetry", "off", lock]);
    check(&said, 0, &["temporal \"Filter() refines<FD> Lock()\": 770 nodes, no symmetry\n"]);
    // Two processes get inside. Runs are as short as without symmetries.
    for reduction in ["canonical", "none"] {
        let property = ["--property", "Filter() refines Lock()"];
        let options = ["check", "--reduction", reduction, "-D", "LEVELS=1", property[0], property[1], lock];
        check(&quotient(options), 1, &[" 9  Rule \"enter.", "10  Rule \"enter.", "the specification cannot do enter."]);
    }
}

#[test]
fn refinement_of_a_stack() {
    let said = quotient(["check", STACK]);
    check(
        &said,
        0,
        &[
            "holds      temporal   Stack() refines<FD> AbstractStack()\n",
            "holds      temporal   AbstractStack() refines Stack()\n",
            "holds      temporal   Stack() divergencefree\n",
        ],
    );
    // The same node on top again: a node gets into the stack that somebody holds.
    let said =
        quotient(["check", "-D", "N=3", "-D", "EXACT=0", "--property", "Stack() refines AbstractStack()", STACK]);
    check(
        &said,
        1,
        &[
            "this run violates temporal \"Stack() refines AbstractStack()\"\n",
            "36  Rule \"popped.i.(hand[i])\"\n",
            "the specification cannot do popped.",
        ],
    );
    assert!(!said.stdout.contains("nothing can happen here"), "{}", said.stdout);
}

#[test]
fn the_best_state() {
    let bridge = "../../../../models/csp/bridge.csp";
    let said = quotient(["check", bridge]);
    check(
        &said,
        0,
        &[
            "optimum      cover \"Bridge() reaches everybody with min(minutes)\": the least value is 17\n",
            "      minutes: 15 → 17\n",
        ],
    );
    let said = quotient(["check", "--format", "json", bridge]);
    check(&said, 0, &["\"optimum\":{\"extreme\":\"least\",\"value\":17,\"proved\":true}"]);
    // Nobody gets there in time.
    let said = quotient(["check", "-D", "LIMIT=16", bridge]);
    check(&said, 1, &["violated   cover      Bridge() reaches everybody with min(minutes)\n"]);
    let said = quotient(["check", "--max-states", "200", bridge]);
    check(&said, 4, &["inconclusive"]);
}

#[test]
fn refusals_and_divergences_are_said() {
    let said = quotient(["check", "refinement.csp"]);
    check(
        &said,
        1,
        &[
            "violated   temporal   P refines<F> Q\n",
            "everything but {coffee} is refused here; the specification accepts at least {coffee, tea}\n",
            "violated   temporal   Loop divergencefree\n",
            "the cycle leads back to the state after step 1, and repeats forever",
            "violated   temporal   P deterministic\n",
            "τ leads to different states from here\n",
            "holds      temporal   P refines Q\n",
        ],
    );
}

#[test]
fn fairness_of_events_processes_and_runs() {
    let claims = ["[]<> serve.1", "[]<> serve.2", "[]<> shut"];
    // What is annotated is fair whatever is asked for; but without more fairness the door may stay shut.
    let cases = [
        (&["none"][..], [true, false, false], ""),
        (&["weak-event", "weak-process", "weak"], [true, true, true], "weak fairness"),
        (&["strong-event", "strong-process"], [true, true, true], "strong fairness"),
        (&["global"], [true, true, true], "global fairness"),
    ];
    for (modes, expected, words) in cases {
        for mode in modes {
            let said = quotient(["check", "fair.csp", "--fairness", mode]);
            let holds = |holds: bool| if holds { "holds     " } else { "violated  " };
            let rows = claims.iter().zip(expected);
            let rows: Vec<String> =
                rows.map(|(claim, it)| format!("{} temporal   Office() |= {claim}\n", holds(it))).collect();
            let mut parts: Vec<&str> = rows.iter().map(String::as_str).collect();
            parts.push(words);
            check(&said, i32::from(expected.contains(&false)), &parts);
        }
    }
    let said = quotient(["check", "fair.csp", "--fairness", "global", "--format", "json"]);
    check(&said, 0, &["\"fairness\":\"global\""]);
}

#[test]
fn global_fairness_in_rings() {
    let ring = "../../../../models/csp/leader_odd_ring.csp";
    let said = quotient(["check", ring, "--fairness", "strong-event"]);
    check(&said, 1, &["violated   temporal   Ring() |= <>[] oneLeader\n", "strong fairness of events"]);
    let said = quotient(["check", ring, "--fairness", "global", "--reduction", "canonical"]);
    check(&said, 0, &["4 nodes, 10 symmetries, global fairness"]);
    let (duels, formula) = ("../../../../models/csp/leader_duels.csp", "Ring() |= <>[] oneLeader");
    let said = quotient(["check", duels, "--fairness", "global", "--max-depth", "2", "--property", formula]);
    check(&said, 4, &["inconclusive: the limit of 2 steps was reached"]);
    // A ring with an even number of agents comes to an end without a leader.
    let said = quotient(["check", ring, "-D", "N=4", "--fairness", "global", "--property", "Ring() |= <>[] oneLeader"]);
    check(&said, 1, &["the cycle is in a component of one node that no step leaves; the cycle takes all of its steps"]);
    let peterson = "../../../../models/murphi/peterson.m";
    let said = quotient(["check", peterson, "--fairness", "weak-process"]);
    check(&said, 2, &["--fairness weak-process needs processes, and the model has none; use `weak` or `strong`"]);
    let said = quotient(["check", peterson, "--fairness", "global", "--ctl", "AG EF at[1] = critical"]);
    check(&said, 2, &["--fairness global cannot be used with temporal property", "it is about trees of runs"]);
}

#[test]
fn symmetries() {
    let said = quotient(["detect", TIERS]);
    check(&said, 0, &["symmetries: 144, S3 wr S2 × S2", "Server(3) 1 ↔ Server(3) 2"]);
}

/// Messages without and with a buffer, one that nobody receives, and events.
#[test]
fn message_sequence_charts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.svg");
    let said = quotient(["check", "--msc", path.to_str().expect("a plain path"), "chart.csp"]);
    check(&said, 1, &["violated   invariant  S() |= [] early\n"]);
    let chart = std::fs::read_to_string(&path).expect("a chart");
    let lines: Vec<&str> =
        chart.lines().filter(|line| line.starts_with("<text") || line.starts_with("<path")).collect();
    let texts = |text: &str| lines.iter().filter(|line| line.contains(&format!(">{text}<"))).count();
    for (text, count) in [("Client(7)", 1), ("Server()", 1), ("call.7", 1), ("box!1.4", 1), ("both", 2), ("box!0.9", 1)]
    {
        assert_eq!(texts(text), count, "{text} in\n{chart}");
    }
    // Received: an arrow between the lines; not received: one that ends beside its line.
    let arrows: Vec<&&str> = lines.iter().filter(|line| line.starts_with("<path")).collect();
    assert_eq!(arrows.len(), 3, "{chart}");
    assert_eq!(chart.matches("r=\"4\"").count(), 1, "{chart}");
}
