//! Promela models at the command line: runs, charts of them, claims.

use std::path::PathBuf;

use crate::transcript::{expect, quotient};
use snapbox::str;

#[test]
fn a_run_and_its_chart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("run.svg");
    expect(
        quotient(["check", "--msc", path.to_str().expect("a plain path"), "messages.pml"]),
        str![[r#"
violated: error: assertion failed: `x == 2`

 0  initial state
      proc 0 (Client): messages.pml:8 [queue!request,3]
      proc 1 (Server): messages.pml:15 [queue?kind,value]
      everything else: 0, or empty
 1  proc 0 (Client) messages.pml:8 [queue!request,3]
      queue (queue): [request,3]
 2  proc 1 (Server) messages.pml:15 [queue?kind,value]
      queue (queue): []
      Server(1):value: 0 → 3
      Server(1):kind: 0 → request
 3  proc 1 (Server) messages.pml:16 [direct!answer]
    proc 0 (Client) messages.pml:9 [direct?answer]
 4  proc 1 (Server) messages.pml:17 [x = value]
      x: 0 → 3
    proc 1 (Server) messages.pml:18 [assert(x == 2)] fails here: assertion failed: `x == 2`
    messages.pml:18:3
    18 |   assert(x == 2)
    where the processes are:
      proc 0 (Client) messages.pml:10 [x = 2]
      proc 1 (Server) messages.pml:18 [assert(x == 2)]

undecided  no deadlock
violated   no errors

symmetries   none found (…
slice        not read by anything: Server:kind, field 1 of the messages of queue
             dead where written before read: x, Server:value
states       8
orders       processes stay at their ends; --exact-counts takes all
transitions  7
depth        5
time         …
memory       …
---- exit status 1

"#]],
    );
    let chart = std::fs::read_to_string(&path).expect("a chart was written");
    snapbox::assert_data_eq!(
        chart,
        str![[r##"
<svg xmlns="http://www.w3.org/2000/svg" width="380" height="260" font-family="sans-serif" font-size="11">
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>
<rect width="100%" height="100%" fill="white"/>
<text x="95" y="30" text-anchor="middle" font-weight="bold">Client:0</text>
<line x1="95" y1="40" x2="95" y2="230" stroke="#999"/>
<text x="285" y="30" text-anchor="middle" font-weight="bold">Server:1</text>
<line x1="285" y1="40" x2="285" y2="230" stroke="#999"/>
<circle cx="285" cy="170" r="2"/>
<text x="291" y="174" fill="#666">x = value</text>
<path d="M95,80 L285,110" fill="none" stroke="black" marker-end="url(#head)"/>
<text x="101" y="76" text-anchor="start">request(3)</text>
<path d="M285,140 L95,140" fill="none" stroke="black" marker-end="url(#head)"/>
<text x="279" y="136" text-anchor="end">answer</text>
</svg>

"##]]
    );
}

#[test]
fn a_run_for_programs() {
    let said = quotient(["check", "--format", "json", "office.pml"]);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).expect("an object");
    let trace = report["properties"][0]["trace"].as_array().expect("a trace");
    let mut text = String::new();
    for step in &trace[..5] {
        text.push_str(&format!("{} {} {}\n", step["rule"], step["text"], step["shown"]));
    }
    // What was there stays: numbers by the names of the cells.
    text.push_str(&format!("{} {}\n", trace[3]["state"]["desk.queue.slot[0].f1"], trace[3]["arguments"]));
    text.push_str(&format!("{}\n", report["properties"][0]["violation"]["message"]));
    expect(
        text,
        str![[r#"
"initial" ["initial state"] {"last.ink":"0","last.page":"0","proc 0 (:init:)":"office.pml:30 [run client(2)]","queue (book)":"[]","queue (desk)":"[]","x":"1"}
"init 30: run client(2)" ["proc 0 (:init:) office.pml:30 [run client(2)]","proc 0 (:init:) office.pml:30 [run client(3)]","proc 0 (:init:) office.pml:30 [run clerk()]"] {"clerk(3):who":"0","client(1):got":"0","client(1):step":"2","client(2):got":"0","client(2):step":"3","last.ink":"0","last.page":"0","proc 0 (:init:)":"office.pml:31 [-end-] <valid end state>","proc 1 (client)":"office.pml:15 [desk!request(reply)]","proc 2 (client)":"office.pml:15 [desk!request(reply)]","proc 3 (clerk)":"office.pml:24 [desk?request(who)] <valid end state>","queue (book)":"[]","queue (desk)":"[]","x":"1"}
"client 15: desk!request(reply)" ["proc 1 (client) office.pml:15 [desk!request(reply)]"] {"clerk(3):who":"0","client(1):got":"0","client(1):step":"2","client(2):got":"0","client(2):step":"3","last.ink":"0","last.page":"0","proc 0 (:init:)":"office.pml:31 [-end-] <valid end state>","proc 1 (client)":"office.pml:16 [reply?got]","proc 2 (client)":"office.pml:15 [desk!request(reply)]","proc 3 (clerk)":"office.pml:24 [desk?request(who)] <valid end state>","queue (book)":"[]","queue (desk)":"[request,client(1):reply]","x":"1"}
"client 15: desk!request(reply)" ["proc 2 (client) office.pml:15 [desk!request(reply)]"] {"clerk(3):who":"0","client(1):got":"0","client(1):step":"2","client(2):got":"0","client(2):step":"3","last.ink":"0","last.page":"0","proc 0 (:init:)":"office.pml:31 [-end-] <valid end state>","proc 1 (client)":"office.pml:16 [reply?got]","proc 2 (client)":"office.pml:16 [reply?got]","proc 3 (clerk)":"office.pml:24 [desk?request(who)] <valid end state>","queue (book)":"[]","queue (desk)":"[request,client(1):reply][request,client(2):reply]","x":"1"}
"clerk 25: desk?request(who)" ["proc 3 (clerk) office.pml:25 [desk?request(who)]"] {"clerk(3):who":"client(1):reply","client(1):got":"0","client(1):step":"2","client(2):got":"0","client(2):step":"3","last.ink":"0","last.page":"0","proc 0 (:init:)":"office.pml:31 [-end-] <valid end state>","proc 1 (client)":"office.pml:16 [reply?got]","proc 2 (client)":"office.pml:16 [reply?got]","proc 3 (clerk)":"office.pml:25 [who!answer]","queue (book)":"[]","queue (desk)":"[request,client(2):reply]","x":"1"}
2 {"p":2}
"invalid end state: no process can move, and not all are where they may stop"

"#]],
    );
}

#[test]
fn statements_that_are_never_executed() {
    expect(
        quotient(["check", "dead_code.pml"]),
        str![[r#"
holds

holds      no deadlock
holds      no errors

symmetries   none found (…
slice        dead where written before read: field 1 of the messages of line
states       59
orders       processes stay at their ends, steps that concern one process are taken at once; --exact-counts takes all
transitions  86
depth        26
time         …
memory       …
unreached    5 of 12 statements are never executed
             Server dead_code.pml:9 [else]: reached, but never possible
             Server dead_code.pml:9 [line!refuse]
             Server dead_code.pml:10 [line?stop]: reached, but never possible
             Server dead_code.pml:12 [printf("stopped\n")]
             Server dead_code.pml:13 [-end-]
---- exit status 0

"#]],
    );
    let said = quotient(["check", "--format", "json", "dead_code.pml"]);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).expect("an object");
    expect(
        report["never_executed"].to_string().replace("},", "},\n"),
        str![[r#"
[{"file":"dead_code.pml","line":9,"process":"Server","reached":true,"text":"else"},
{"file":"dead_code.pml","line":9,"process":"Server","reached":false,"text":"line!refuse"},
{"file":"dead_code.pml","line":10,"process":"Server","reached":true,"text":"line?stop"},
{"file":"dead_code.pml","line":12,"process":"Server","reached":false,"text":"printf(\"stopped\\n\")"},
{"file":"dead_code.pml","line":13,"process":"Server","reached":false,"text":"-end-"}]
"#]],
    );
}

/// Where the text does not say how many processes there are, the command line can.
#[test]
fn room_for_processes() {
    expect(
        quotient(["check", "workers.pml"]),
        str![[r#"
inconclusive: there is room for 13 processes only; `--max-processes` makes room for up to 255
  workers.pml:12:21
  12 |   :: started < N -> run worker(); started++

undecided  no deadlock
undecided  no errors

symmetries   none found (…
slice        dead where written before read: started
states       38
orders       steps that concern one process are taken at once; --exact-counts takes all
transitions  63
depth        37
time         …
memory       …
---- exit status 4

"#]],
    );
    expect(
        quotient(["check", "--max-processes", "17", "-D", "N=16", "workers.pml"]),
        str![[r#"
holds

holds      no deadlock
holds      no errors

symmetries   none found (…
slice        dead where written before read: started
states       49
orders       steps that concern one process are taken at once; --exact-counts takes all
partial order  the states represented are not counted
transitions  132
depth        48
time         …
memory       …
---- exit status 0

"#]],
    );
    // With all the room that SPIN has, the process after that is an error, as it is there.
    let said = quotient(["check", "--max-processes", "255", "-D", "N=255", "workers.pml"]);
    let violated = "violated: error: too many processes\n";
    assert!(said.status == Some(1) && said.stdout.starts_with(violated), "{said}");
    expect(
        quotient(["check", "--max-processes", "1", "atomic.pml"]),
        str![[r#"
---- stderr
error[too-many-processes]: 2 processes are active at the start, more than `--max-processes` allows
--> atomic.pml

1 error
---- exit status 3

"#]],
    );
    expect(
        quotient(["detect", "--max-processes", "20", "counter.m"]),
        str![[r#"
---- stderr
error: --max-processes is for Promela models
---- exit status 2

"#]],
    );
    for number in ["0", "256"] {
        let said = quotient(["check", "--max-processes", number, "workers.pml"]);
        assert!(said.status == Some(2) && said.stderr.contains("1..=255"), "{said}");
    }
}

#[test]
fn statements_that_were_not_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoint = folder.path().join("checkpoint");
    let checkpoint = checkpoint.to_str().expect("a plain path");
    let rows = |arguments: &[&str]| {
        let said = quotient(["check", "dead_code.pml"].iter().chain(arguments)).stdout;
        said.lines().filter(|line| line.starts_with("unreached")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows(&["--checkpoint", checkpoint, "--max-states", "4"]), Vec::<String>::new());
    assert_eq!(rows(&["--resume", checkpoint]), ["unreached    5 of 12 statements are never executed"]);
    for store in ["compact", "bitstate"] {
        let row = "unreached    5 of 12 statements are not executed in the states that were seen";
        assert_eq!(rows(&["--store", store]), [row], "{store}");
    }
}

#[test]
fn a_claim_that_cannot_be_checked_does_not_keep_the_others_from_it() {
    expect(
        quotient(["check", "temporal.pml"]),
        str![[r#"
inconclusive: never "returns" cannot be checked

holds        invariant  bounded
holds        no deadlock
holds        no errors
unsupported  never      returns (temporal.pml:15:1)

symmetries   none found (…
states       11
transitions  11
depth        10
time         …
memory       …
unreached    1 of 6 statements is never executed
             counter temporal.pml:12 [-end-]
---- stderr
warning[unsupported-property]: this `never` claim cannot be checked: it has variables
  --> temporal.pml:15:1
   |
15 | never returns { byte i; do :: x > 0 od }
   | ^^^^^
   |
   = help: a claim consists of conditions on the state

---- exit status 4

"#]],
    );
    // What is violated is violated, whatever cannot be checked.
    expect(
        quotient(["check", "-D", "LIMIT=2", "temporal.pml"]),
        str![[r#"
violated: error: assertion failed: `x <= 2`

 0  initial state
      proc 0 (counter): temporal.pml:8 [x < 3 :: x == 3]
      everything else: 0
 1  proc 0 (counter) temporal.pml:9 [x < 3]
 2  proc 0 (counter) temporal.pml:9 [x++]
      x: 0 → 1
 3  proc 0 (counter) temporal.pml:9 [assert(x <= 2)]
 4  proc 0 (counter) temporal.pml:9 [x < 3]
 5  proc 0 (counter) temporal.pml:9 [x++]
      x: 1 → 2
 6  proc 0 (counter) temporal.pml:9 [assert(x <= 2)]
 7  proc 0 (counter) temporal.pml:9 [x < 3]
 8  proc 0 (counter) temporal.pml:9 [x++]
      x: 2 → 3
    proc 0 (counter) temporal.pml:9 [assert(x <= 2)] fails here: assertion failed: `x <= 2`
    temporal.pml:9:20
    9 |   :: x < 3 -> x++; assert(x <= LIMIT)
    where the processes are:
      proc 0 (counter) temporal.pml:9 [assert(x <= 2)]

undecided    invariant  bounded
undecided    no deadlock
violated     no errors
unsupported  never      returns (temporal.pml:15:1)

symmetries   none found (…
states       9
transitions  8
depth        8
time         …
memory       …
---- stderr
warning[unsupported-property]: this `never` claim cannot be checked: it has variables
  --> temporal.pml:15:1
   |
15 | never returns { byte i; do :: x > 0 od }
   | ^^^^^
   |
   = help: a claim consists of conditions on the state

---- exit status 1

"#]],
    );
    expect(
        quotient(["check", "--format", "json", "temporal.pml"]),
        str![[r#"
{"schema":"quotient/1","command":"check","threads":1,"verdict":"inconclusive","summary":"inconclusive: never \"returns\" cannot be checked","stop_reason":null,"stop_message":null,"states":11,"transitions":11,"represented":"11","exact":true,"reduction":"none","reduction_factor":1.0,"symmetry":{"order":"1","structure":"trivial","generators":[],"graph":{"…"},"seconds":"…","method":"…","complete":true},"properties":[{"name":"bounded","kind":"invariant","title":"invariant \"bounded\"","verdict":"holds","trace":null,"violation":null},{"name":"deadlock","kind":"deadlock","title":"no deadlock","verdict":"holds","trace":null,"violation":null},{"name":"errors","kind":"errors","title":"no errors","verdict":"holds","trace":null,"violation":null},{"name":"returns","kind":"never","title":"never \"returns\"","verdict":"unsupported","trace":null,"violation":null,"reason":{"message":"this `never` claim cannot be checked: it has variables","file":"temporal.pml","line":15,"column":1}}],"depth":10,"states_per_level":[1,1,1,1,1,1,1,1,1,1,1],"never_executed":[{"process":"counter","file":"temporal.pml","line":12,"text":"-end-","reached":false}],"seconds":"…","canonicalization_seconds":null,"store_bytes":"…","words":1,"peak_memory_bytes":"…","diagnostics":[{"severity":"warning","code":"unsupported-property","message":"this `never` claim cannot be checked: it has variables","file":"temporal.pml","line":15,"column":1,"help":"a claim consists of conditions on the state"}]}
---- stderr
warning[unsupported-property]: this `never` claim cannot be checked: it has variables
  --> temporal.pml:15:1
   |
15 | never returns { byte i; do :: x > 0 od }
   | ^^^^^
   |
   = help: a claim consists of conditions on the state

---- exit status 4

"#]],
    );
    // Nothing is missing where it was not asked for.
    let others = quotient(["check", "--property", "bounded", "--property", "errors", "temporal.pml"]);
    assert_eq!(others.status, Some(0), "{others}");
    expect(
        quotient(["check", "--property", "returns", "temporal.pml"]),
        str![[r#"
---- stderr
error: property `returns`: this `never` claim cannot be checked: it has variables
---- exit status 2

"#]],
    );
}
