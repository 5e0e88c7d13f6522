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
fn a_run_with_everything() {
    expect(
        quotient(["check", "office.pml"]),
        str![[r#"
violated: deadlock

 0  initial state
      x: 1
      proc 0 (:init:): office.pml:30 [run client(2)]
      everything else: 0, or empty
 1  proc 0 (:init:) office.pml:30 [run client(2)]
    proc 0 (:init:) office.pml:30 [run client(3)]
    proc 0 (:init:) office.pml:30 [run clerk()]
      proc 1 (client) starts
      client(1):step: 2
      proc 2 (client) starts
      client(2):step: 3
      proc 3 (clerk) starts
 2  proc 1 (client) office.pml:15 [desk!request(reply)]
      queue (desk): [request,client(1):reply]
 3  proc 2 (client) office.pml:15 [desk!request(reply)]
      queue (desk): [request,client(1):reply][request,client(2):reply]
 4  proc 3 (clerk) office.pml:25 [desk?request(who)]
      queue (desk): [request,client(2):reply]
      clerk(3):who: 0 → client(1):reply
 5  proc 3 (clerk) office.pml:25 [who!answer]
    proc 1 (client) office.pml:16 [reply?got]
      client(1):got: 0 → answer
 6  proc 3 (clerk) office.pml:25 [desk?request(who)]
      queue (desk): []
      clerk(3):who: client(1):reply → client(2):reply
 7  proc 3 (clerk) office.pml:25 [who!answer]
    proc 2 (client) office.pml:16 [reply?got]
      client(2):got: 0 → answer
 8  proc 1 (client) office.pml:17 [x = x + step]
      x: 1 → 3
 9  proc 1 (client) office.pml:17 [last.ink = green]
      last.ink: 0 → green
10  proc 1 (client) office.pml:17 [book!x]
      queue (book): [3]
11  proc 1 (client) office.pml:18 [d_step { x++; last.page = x }]
      last.page: 0 → 4
      x: 3 → 4
12  proc 2 (client) office.pml:17 [x = x + step]
      x: 4 → 7
13  proc 2 (client) office.pml:17 [last.ink = green]
14  proc 2 (client) office.pml:17 [book!x] blocks: others may move
    invalid end state: no process can move, and not all are where they may stop
    where the processes are:
      proc 0 (:init:) office.pml:31 [-end-] <valid end state>
      proc 1 (client) office.pml:19 [-end-] <valid end state>
      proc 2 (client) office.pml:17 [book!x]
      proc 3 (clerk) office.pml:24 [desk?request(who)] <valid end state>

violated   no deadlock
undecided  no errors

symmetries   2, S2; found in …
reduction    canonical; …
slice        not read by anything: last, x, client:step, client:got, messages of book
             dead where written before read: clerk:who
states       20, representing 37 of the slice (1.85× reduction)
transitions  44
depth        10
time         …
memory       …
---- exit status 1

"#]],
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
fn a_walk_with_a_start_up() {
    expect(
        quotient(["simulate", "--seed", "3", "--steps", "4", "office.pml"]),
        str![[r#"
seed 3

 0  initial state
      x: 1
      proc 0 (:init:): office.pml:30 [run client(2)]
      everything else: 0, or empty
 1  proc 0 (:init:) office.pml:30 [run client(2)]
    proc 0 (:init:) office.pml:30 [run client(3)]
    proc 0 (:init:) office.pml:30 [run clerk()]
      proc 1 (client) starts
      client(1):step: 2
      proc 2 (client) starts
      client(2):step: 3
      proc 3 (clerk) starts
 2  proc 2 (client) office.pml:15 [desk!request(reply)]
      queue (desk): [request,client(2):reply]
 3  proc 3 (clerk) office.pml:25 [desk?request(who)]
      queue (desk): []
      clerk(3):who: 0 → client(2):reply
 4  proc 1 (client) office.pml:15 [desk!request(reply)]
      queue (desk): [request,client(1):reply]

4 steps, nothing violated
---- exit status 0

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

#[test]
fn charts_are_for_processes() {
    expect(
        quotient(["check", "--msc", "run.svg", "counter.m"]),
        str![[r#"
---- stderr
error: --msc draws runs of Promela and CSP# models
---- exit status 2

"#]],
    );
}

/// States inside of an atomic sequence are not stored, no claim is about them, and runs show them.
#[test]
fn what_is_inside_of_an_atomic_sequence() {
    expect(
        quotient(["check", "--symmetry", "off", "--threads", "2", "atomic.pml"]),
        str![[r#"
holds

holds      invariant  even
holds      no deadlock
holds      no errors

states       4
transitions  30
depth        3
time         …
memory       …
unreached    1 of 8 statements is never executed
             Count atomic.pml:14 [-end-]
---- exit status 0

"#]],
    );
    expect(
        quotient(["check", "--symmetry", "off", "--store-passing", "atomic.pml"]),
        str![[r#"
holds

holds      invariant  even
holds      no deadlock
holds      no errors

states       26
transitions  30
depth        14
time         …
memory       …
unreached    1 of 8 statements is never executed
             Count atomic.pml:14 [-end-]
---- exit status 0

"#]],
    );
    expect(
        quotient(["check", "-D", "WRONG=1", "atomic.pml"]),
        str![[r#"
violated: error: assertion failed: `x != limit`

 0  initial state
      limit: 3
      proc 0 (Count): atomic.pml:10 [x < 6 :: x == 6]
      proc 1 (Count): atomic.pml:10 [x < 6 :: x == 6]
      everything else: 0
 1  proc 0 (Count) atomic.pml:11 [x < 6]
 2  proc 0 (Count) atomic.pml:11 [x++]
      x: 0 → 1
 3  proc 0 (Count) atomic.pml:11 [assert(x != limit)]
 4  proc 0 (Count) atomic.pml:11 [x++]
      x: 1 → 2
 5  proc 0 (Count) atomic.pml:11 [x < 6]
 6  proc 0 (Count) atomic.pml:11 [x++]
      x: 2 → 3
    proc 0 (Count) atomic.pml:11 [assert(x != limit)] fails here: assertion failed: `x != limit`
    atomic.pml:11:29
    11 |   :: atomic { x < 6 -> x++; assert(x != limit); x++ }
    false: x != limit (atomic.pml:11:36)
      here x = 3, limit = 3
    where the processes are:
      proc 0 (Count) atomic.pml:11 [assert(x != limit)]
      proc 1 (Count) atomic.pml:10 [x < 6 :: x == 6]

undecided  invariant  even
undecided  no deadlock
violated   no errors

symmetries   2, S2; found in …
reduction    canonical; …
states       2, representing 2 (1.00× reduction)
transitions  12
depth        1
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn places_in_included_files() {
    expect(
        quotient(["check", "-D", "LAST=4", "included.pml"]),
        str![[r#"
violated: error: assertion failed: `x == 4`

 0  initial state
      proc 0 (:init:): included.pml:3 [run worker()]
      everything else: 0
 1  proc 0 (:init:) included.pml:3 [run worker()]
      proc 1 (worker) starts
 2  proc 1 (worker) worker.h:4 [x < 2]
 3  proc 1 (worker) worker.h:4 [x++]
      x: 0 → 1
 4  proc 1 (worker) worker.h:4 [x < 2]
 5  proc 1 (worker) worker.h:4 [x++]
      x: 1 → 2
 6  proc 0 (:init:) included.pml:3 [x == 2]
 7  proc 0 (:init:) included.pml:3 [x = 3]
      x: 2 → 3
 8  proc 1 (worker) worker.h:5 [x > 2]
    proc 1 (worker) worker.h:5 [assert(x == 4)] fails here: assertion failed: `x == 4`
    parts/worker.h:5:19
    5 |   :: x > LIMIT -> assert(x == LAST)
    where the processes are:
      proc 0 (:init:) included.pml:3 [-end-] <valid end state>
      proc 1 (worker) worker.h:5 [assert(x == 4)]

undecided  no deadlock
violated   no errors

symmetries   none found (…
states       9
orders       processes stay at their ends; --exact-counts takes all
transitions  8
depth        8
time         …
memory       …
---- exit status 1

"#]],
    );
    expect(
        quotient(["check", "--symmetry", "off", "-D", "LAST=3", "included.pml"]),
        str![[r#"
holds

holds      no deadlock
holds      no errors

states       9
orders       processes stay at their ends; --exact-counts takes all
transitions  9
depth        8
time         …
memory       …
unreached    1 of 9 statements is never executed
             worker worker.h:7 [-end-]
---- exit status 0

"#]],
    );
    expect(
        quotient(["check", "-D", "WRONG=1", "included.pml"]),
        str![[r#"
---- stderr
error[syntax]: expected the name of a variable, found `;`
 --> parts/limits.h:3:17
  |
3 | byte limit limit;
  |                 ^

1 error
---- exit status 3

"#]],
    );
}

/// What `-D` sets counts, whatever the text says, and is never without an effect.
#[test]
fn macros_set_from_outside() {
    expect(
        quotient(["check", "--symmetry", "off", "-D", "LAST=3", "-D", "LIMIT=1", "included.pml"]),
        str![[r#"
violated: deadlock

 0  initial state
      proc 0 (:init:): included.pml:3 [run worker()]
      everything else: 0
 1  proc 0 (:init:) included.pml:3 [run worker()]
      proc 1 (worker) starts
 2  proc 1 (worker) worker.h:4 [x < 1]
 3  proc 1 (worker) worker.h:4 [x++]
      x: 0 → 1
    invalid end state: no process can move, and not all are where they may stop
    where the processes are:
      proc 0 (:init:) included.pml:3 [x == 2]
      proc 1 (worker) worker.h:3 [x < 1 :: x > 1]

violated   no deadlock
undecided  no errors

states       4
orders       processes stay at their ends; --exact-counts takes all
transitions  3
depth        3
time         …
memory       …
---- stderr
warning[overridden-definition]: `-D LIMIT=1` overrides this definition of `LIMIT`
 --> parts/limits.h:1:1
  |
1 | #define LIMIT 2
  | ^^^^^^^^^^^^^
  |
  = help: put it between `#ifndef LIMIT` and `#endif` if it is meant as a default

---- exit status 1

"#]],
    );
    expect(
        quotient(["check", "-D", "LIMITS=1", "included.pml"]),
        str![[r#"
---- stderr
error[unknown-constant]: the model has no constant `LIMITS` to set
--> included.pml
 = help: did you mean `LIMIT`?

1 error
---- exit status 3

"#]],
    );
    expect(
        quotient(["check", "-D", "NOPE=1", "atomic.pml"]),
        str![[r#"
---- stderr
error[unknown-constant]: the model has no constant `NOPE` to set
--> atomic.pml
 = help: its macros are WRONG

1 error
---- exit status 3

"#]],
    );
    expect(
        quotient(["check", "-D", "NOPE=1", "messages.pml"]),
        str![[r#"
---- stderr
error[unknown-constant]: the model has no constant `NOPE` to set
--> messages.pml
 = help: it has no macros that can be set

1 error
---- exit status 3

"#]],
    );
    expect(
        quotient(["check", "-D", "WRONG=0x1", "atomic.pml"]),
        str![[r#"
---- stderr
error[bad-constant-value]: `0x1` is not a value for the macro `WRONG`: `0x1` is not a number that fits a variable
--> atomic.pml
 = help: numbers are decimal, up to 4294967295

1 error
---- exit status 3

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
fn symmetries_in_the_words_of_the_text() {
    expect(
        quotient(["detect", "../../../../models/promela/booking.pml"]),
        str![[r#"
symmetries: 6, S3

  traveller(1) ↔ traveller(2), queue (traveller(1):reply) ↔ queue (traveller(2):reply), clerk(3):who: traveller(1):reply ↔ traveller(2):reply, field 2 of message * of counter: traveller(1):reply ↔ traveller(2):reply
  traveller(0) ↔ traveller(1), queue (traveller(0):reply) ↔ queue (traveller(1):reply), clerk(3):who: traveller(0):reply ↔ traveller(1):reply, field 2 of message * of counter: traveller(0):reply ↔ traveller(1):reply

variables    traveller, clerk, counter, traveller.reply
generators   2
certified    …
text         shows all of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "office.pml", "--why-not"]),
        str![[r#"
symmetries: 1, nothing but the identity

processes client: {1} {2}  distinguished
  1 | 2: rule "client 17: take": what `x` becomes for p = 1 does not turn into what `x` becomes for p = 2
    office.pml:17:12
    17 |   atomic { take(x); last.ink = green; book!x };
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "office.pml", "--why-not", "client(1) client(2)"]),
        str![[r#"
symmetries: 1, nothing but the identity

`client(1) client(2)` is not a symmetry

in the text:

note: `p + 2` computes with it
  --> office.pml:15:3
   |
15 |   desk!request(reply);
   |   ^^^^^^^^^^^^^^^^^^^

note: `q + 2` computes with it
  --> office.pml:25:27
   |
25 |   :: desk?request(who) -> who!answer
   |                           ^^^^^^^^^^

note: some cells are set to constants
  --> office.pml:30:12
   |
30 |   atomic { run client(2); run client(3); run clerk() }
   |            ^^^^^^^^^^^^^

unfolded:

note: rule "client 17: take": what `x` becomes for p = 1 does not turn into what `x` becomes for p = 2 (and 1 more like it)
  --> office.pml:17:12
   |
17 |   atomic { take(x); last.ink = green; book!x };
   |            ^^^^
---- exit status 0

"#]],
    );
}

#[test]
fn claims_move_in_runs() {
    expect(
        quotient(["check", "--property", "never", "watched.pml"]),
        str![[r#"
violated: invariant "never"

 0  initial state
      light: red
      proc 0 (lamp): watched.pml:6 [light == red :: light == green]
      never claim: watched.pml:13 [light == red :: light == green]
 1  proc 0 (lamp) watched.pml:7 [light == red]
 2  proc 0 (lamp) watched.pml:7 [light = green]
      light: red → green
      never claim moves to watched.pml:17 [light == green :: light == red]
 3  proc 0 (lamp) watched.pml:8 [light == green]
 4  proc 0 (lamp) watched.pml:8 [light = red]
      light: green → red
      never claim moves to its end
    invariant "never" fails here
    watched.pml:12:1
    12 | never {
    where the processes are:
      proc 0 (lamp) watched.pml:6 [light == red :: light == green]

violated   invariant  never

symmetries   none found (…
states       4
transitions  4
depth        3
time         …
memory       …
---- exit status 1

"#]],
    );
}

#[test]
fn a_trace_that_is_violated() {
    expect(
        quotient(["check", "traced.pml"]),
        str![[r#"
violated: error: the trace has no step for this

 0  initial state
      proc 0 (client): traced.pml:14 [ask!_pid]
      proc 1 (client): traced.pml:14 [ask!_pid]
      proc 2 (server): traced.pml:21 [ask?who] <valid end state>
      trace: traced.pml:7 [ask!_] <valid end state>
      everything else: 0, or empty
 1  proc 0 (client) traced.pml:14 [ask!_pid]
      queue (ask): [0]
      trace moves to traced.pml:8 [answer!1]
 2  proc 2 (server) traced.pml:22 [ask?who]
      queue (ask): []
    proc 1 (client) traced.pml:14 [ask!_pid] fails here: the trace has no step for this
    traced.pml:14:3
    14 |   ask!_pid;
    where the processes are:
      proc 0 (client) traced.pml:15 [answer?got]
      proc 1 (client) traced.pml:14 [ask!_pid]
      proc 2 (server) traced.pml:22 [answer!1]

undecided  no deadlock
violated   no errors

symmetries   2, S2; found in …
reduction    canonical; …
slice        not read by anything: client:got, server:who, messages of channels1
states       3, representing 5 of the slice (1.67× reduction)
transitions  3
depth        2
time         …
memory       …
---- exit status 1

"#]],
    );
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

#[test]
fn hidden_variables() {
    expect(
        quotient(["check", "hidden.pml"]),
        str![[r#"
holds

holds      no deadlock
holds      no errors

symmetries   none found (…
slice        dead where written before read: x
states       9
transitions  36
depth        5
time         …
memory       …
unreached    1 of 5 statements is never executed
             Counter hidden.pml:11 [-end-]
---- stderr
warning[hidden-variable]: the value of hidden variable `kept` matters in later states
 --> hidden.pml:2:22
  |
2 | hidden byte scratch, kept;
  |                      ^^^^ part of the state here
...
9 |   :: assert(x < 3 && kept < 3)
  |      ------------------------- this may use a value from before
  |
  = help: SPIN leaves it out of states and may miss some of them; a variable that every step assigns before it reads it can be hidden

---- exit status 0

"#]],
    );
}

#[test]
fn a_list_behind_a_statement() {
    expect(
        quotient(["check", "listed.pml"]),
        str![[r#"
holds

holds      no deadlock
holds      no errors

symmetries   none found (…
slice        not read by anything: n
states       4
orders       steps that concern one process are taken at once; --exact-counts takes all
transitions  6
depth        3
time         …
memory       …
---- stderr
warning[list-as-step]: a list of initial values stands behind a statement
 --> listed.pml:5:8
  |
5 |   byte table[2] = { 5, 7 };
  |        ^^^^^ set when the process starts; here only the first element is set again
  |
  = help: SPIN calls this an error and makes such a verifier all the same; declare the array before the first statement of the process, or assign to its elements

---- exit status 0

"#]],
    );
}
