//! Promela models at the command line: runs, charts of them, claims.

mod transcript;

use std::path::PathBuf;

use snapbox::str;
use transcript::{expect, quotient};

#[test]
fn a_run_and_its_chart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("run.svg");
    expect(
        quotient(["check", "--msc", path.to_str().expect("a plain path"), "messages.pml"]),
        str![[r#"
violated: error: assertion failed: `x = 2`

 0  Startstate "initial"
      x: 0
      Client[0].pc: 2
      Server[1].pc: 2
      Server[1].value: 0
      Server[1].kind: 0
      queue.queue.len: 0
      queue.queue.slot[0].f1: 0
      queue.queue.slot[0].f2: 0
 1  Rule "Client 8: queue!request,3"
      Client[0].pc: 2 → 3
      queue.queue.len: 0 → 1
      queue.queue.slot[0].f1: 0 → 2
      queue.queue.slot[0].f2: 0 → 3
 2  Rule "Server 15: queue?kind,value"
      Server[1].pc: 2 → 3
      Server[1].value: 0 → 3
      Server[1].kind: 0 → 2
      queue.queue.len: 1 → 0
      queue.queue.slot[0].f1: 2 → 0
      queue.queue.slot[0].f2: 3 → 0
 3  Rule "Server 16: direct!answer → Client 9: direct?answer"
      Client[0].pc: 3 → 4
      Server[1].pc: 3 → 4
 4  Rule "Server 17: x = value"
      x: 0 → 3
      Server[1].pc: 4 → 5
    Rule "Server 18: assert(x == 2)" goes wrong here: assertion failed: `x = 2`
    messages.pml:18:3
    18 |   assert(x == 2)

undecided  no deadlock
violated   no errors

symmetries   none; looked for in …
states       8
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
<text x="101" y="76" text-anchor="start">queue!request,3</text>
<path d="M285,140 L95,140" fill="none" stroke="black" marker-end="url(#head)"/>
<text x="279" y="136" text-anchor="end">direct!answer</text>
</svg>

"##]]
    );
}

#[test]
fn charts_are_for_promela() {
    expect(
        quotient(["check", "--msc", "run.svg", "counter.m"]),
        str![[r#"
---- stderr
error: --msc draws runs of Promela models
---- exit status 2

"#]],
    );
}
