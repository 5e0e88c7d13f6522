//! Transcripts of `quotient detect` and the files it writes.

use crate::transcript::{Transcript, expect, quotient, quotient_with};
use snapbox::str;

const READERS_WRITERS: &str = "../../../../models/murphi/readers_writers.m";
const TOKEN_CIRCULATION: &str = "../../../../models/murphi/token_circulation.m";

/// Detects the symmetries of a model and reads what was exported.
fn export(model: &str, file: &str, more: &[&str]) -> (Transcript, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    let mut arguments = vec!["detect".as_ref(), "--export".as_ref(), path.as_os_str(), model.as_ref()];
    arguments.extend(more.iter().map(std::ffi::OsStr::new));
    let transcript = quotient(arguments);
    (transcript, std::fs::read_to_string(&path).expect("the export is there"))
}

#[test]
fn symmetries() {
    expect(
        quotient(["detect", TOKEN_CIRCULATION]),
        str![[r#"
symmetries: 6, C6

  label[*]: 0 ↔ 1
  (agent 0 2 1)

types        agent
variables    token, label, leader
preserved    liveness "a single leader brings about a single token"
generators   2
certified    …
text         shows all of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn symmetries_json() {
    expect(
        quotient(["detect", "--format", "json", "mutex.m"]),
        str![[r#"
{"schema":"quotient/1","command":"detect","symmetry":{"source":"auto","order":"2","structure":"S2","complete":true,"text":{"order":"2","structure":"S2","strict":false,"seconds":"…"},"generators":[{"cycles":["(process 0 1)"]}],"types":["process"],"variables":["at","last"],"fixed":[],"numbers":[],"refused":[],"certification":"…","graph":{"…"},"seconds_by_phase":"…","seconds":"…"},"properties":[{"name":"mutual exclusion","kind":"invariant"},{"name":"both try","kind":"cover"}],"request":null,"is_symmetry":null,"reasons":null,"families":null,"seconds":"…","peak_memory_bytes":"…","diagnostics":[]}
---- exit status 0

"#]],
    );
}

/// Two copies of the text under different names are symmetric, too.
#[test]
fn copies_of_the_text() {
    expect(
        quotient(["detect", "twins.m"]),
        str![[r#"
symmetries: 2, S2

  x ↔ y

variables    x, y
preserved    invariant "not both"
generators   1
certified    …
text         shows none of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn numbers() {
    expect(
        quotient(["detect", "../../../../models/murphi/bakery.m"]),
        str![[r#"
symmetries: 1, nothing but the identity
add --why-not to see what breaks a symmetry that you expected

numbers      number_of, greatest: values are numbers that do not permute
preserved    invariant "mutual exclusion"
graph        …
time         …
---- exit status 0

"#]],
    );
}

/// An assumption is not a property to choose, but it decides which states there are.
#[test]
fn assumptions() {
    let model = |assumption: &str| {
        let text = format!(
            "var x, y: boolean; startstate begin x := true; y := true; end; rule true ==> x := !x; end; \
             rule true ==> y := !y; end; {assumption}"
        );
        quotient_with(["detect", "--no-properties", "-"], text.as_bytes(), &[]).stdout
    };
    assert!(model("").starts_with("symmetries: 2, S2\n"), "{}", model(""));
    assert!(model("assume x | y;").starts_with("symmetries: 2, S2\n"));
    assert!(model("assume x;").starts_with("symmetries: 1, "));
}

#[test]
fn none() {
    expect(
        quotient(["detect", "counter.m"]),
        str![[r#"
symmetries: 1, nothing but the identity
add --why-not to see what breaks a symmetry that you expected

preserved    invariant "in range", cover "reaches the limit", liveness "always comes back"
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn fixed_variables() {
    let text = "var x, y, u, v: boolean;
ruleset b: boolean do startstate begin x := b; y := !b; u := true; v := true; end; end;
rule \"wait\" begin while x do x := y; end; end;
rule begin u := !u; end;
rule begin v := !v; end;
";
    expect(
        quotient_with(["detect", "-"], text.as_bytes(), &[]),
        str![[r#"
symmetries: 2, S2

  u ↔ v

variables    u, v
fixed        x: a loop does not end after 4096 iterations whatever the state (<stdin>:3:1)
fixed        y: a loop does not end after 4096 iterations whatever the state (<stdin>:3:1)
generators   1
certified    …
text         shows none of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn multisets() {
    expect(
        quotient(["detect", "-D", "N=3", "../../../../models/murphi/lock_server.m"]),
        str![[r#"
symmetries: 6, S3

  (client 0 1)
  (client 0 2)

types        client
variables    state, entrusted, network
preserved    invariant "mutual exclusion", invariant "there is one lock", invariant "requests go to the server, from clients", liveness "everyone can have the lock again"
generators   2
certified    …
text         shows all of them, with strict quantifiers in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn long_cycles() {
    expect(
        quotient(["detect", "-D", "N=40", "../../../../models/murphi/dining_philosophers.m"]),
        str![[r#"
symmetries: 40, C40

  (philosopher 0 1 2 3 4 5 6 7 … 39)

types        philosopher
variables    doing, taken
preserved    invariant "neighbours do not eat at the same time"
generators   1
certified    …
text         shows all of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn without_properties() {
    expect(
        quotient(["detect", "--no-properties", "mutex.m"]),
        str![[r#"
symmetries: 2, S2

  (process 0 1)

types        process
variables    at, last
generators   1
certified    …
text         shows all of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn one_property() {
    expect(
        quotient(["detect", "--property", "both try", "--property", "deadlock", "mutex.m"]),
        str![[r#"
symmetries: 2, S2

  (process 0 1)

types        process
variables    at, last
preserved    cover "both try"
generators   1
certified    …
text         shows all of them in …
graph        …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn declared() {
    expect(
        quotient(["detect", "--symmetry", "declared", "mutex.m"]),
        str![[r#"
symmetries: 2, S2

  (process 0 1)

types        process
variables    at, last
preserved    invariant "mutual exclusion", cover "both try"
generators   1
certified    …
time         …
---- exit status 0

"#]],
    );
}

#[test]
fn declared_and_not_so() {
    expect(
        quotient(["detect", "--symmetry", "declared", "unfair.m"]),
        str![[r#"
symmetries: 1, nothing but the identity
add --why-not to see what breaks a symmetry that you expected

refused: exchanging client_0 and client_1 of the scalarset client

note: rule "grant": what `owner` becomes is not the same for the permuted state
  --> unfair.m:40:7
   |
40 |       owner := c;
   |       ^^^^^^^^^^

refused: exchanging client_1 and client_2 of the scalarset client

note: rule "grant": what `owner` becomes is not the same for the permuted state
  --> unfair.m:40:7
   |
40 |       owner := c;
   |       ^^^^^^^^^^

time         …
---- exit status 0

"#]],
    );
}

#[test]
fn declared_and_not_so_json() {
    expect(
        quotient(["detect", "--symmetry=declared", "--format=json", "-DN=2", "unfair.m"]),
        str![[r#"
{"schema":"quotient/1","command":"detect","symmetry":{"source":"declared","order":"1","structure":"trivial","complete":true,"text":null,"generators":[],"types":[],"variables":[],"fixed":[],"numbers":[],"refused":[{"type":"client","values":["client_0","client_1"],"reasons":[{"message":"rule \"grant\": what `owner` becomes is not the same for the permuted state","file":"unfair.m","line":40,"column":7}]}],"certification":"…","graph":null,"seconds_by_phase":"…","seconds":"…"},"properties":[],"request":null,"is_symmetry":null,"reasons":null,"families":null,"seconds":"…","peak_memory_bytes":"…","diagnostics":[]}
---- exit status 0

"#]],
    );
}

#[test]
fn off() {
    expect(
        quotient(["detect", "--symmetry", "off", "mutex.m"]),
        str![[r#"
symmetries: 1, nothing but the identity

time         …
---- exit status 0

"#]],
    );
}

#[test]
fn why_not() {
    expect(
        quotient(["detect", READERS_WRITERS, "--why-not", "process 1 3"]),
        str![[r#"
symmetries: 2, S2

`process 1 3` is not a symmetry

in the text:

note: `p <= 2` computes with it
  --> ../../../../models/murphi/readers_writers.m:44:3
   |
44 | /   rule "enter beside readers"
45 | |     at[p] = trying & p <= READERS & forall q: process do q <= READERS | at[q] != inside end
46 | |   ==>
47 | |     at[p] := inside;
48 | |   end;
   | |_____^

note: `q <= 2` computes with it
  --> ../../../../models/murphi/readers_writers.m:44:3
   |
44 | /   rule "enter beside readers"
45 | |     at[p] = trying & p <= READERS & forall q: process do q <= READERS | at[q] != inside end
46 | |   ==>
47 | |     at[p] := inside;
48 | |   end;
   | |_____^

note: `p > 2` computes with it
  --> ../../../../models/murphi/readers_writers.m:58:1
   |
58 | / invariant "a writer is alone"
59 | |   forall p: process do
60 | |     p > READERS & at[p] = inside -> forall q: process do q = p | at[q] != inside end
61 | |   end;
   | |_____^

note: `p < q` computes with it
  --> ../../../../models/murphi/readers_writers.m:63:1
   |
63 | / cover "readers meet"
64 | |   exists p: process do
65 | |     exists q: process do p < q & at[p] = inside & at[q] = inside end
66 | |   end;
   | |_____^

unfolded:

note: rule "enter beside readers" can fire for p = 1, but never for p = 3
  --> ../../../../models/murphi/readers_writers.m:44:3
   |
44 | /   rule "enter beside readers"
45 | |     at[p] = trying & p <= READERS & forall q: process do q <= READERS | at[q] != inside end
46 | |   ==>
47 | |     at[p] := inside;
48 | |   end;
   | |_____^

note: rule "enter beside readers": the condition `forall q: process do q <= 2 | at[q] != inside end` for p = 2 changes its meaning
  --> ../../../../models/murphi/readers_writers.m:44:3
   |
44 | /   rule "enter beside readers"
45 | |     at[p] = trying & p <= READERS & forall q: process do q <= READERS | at[q] != inside end
46 | |   ==>
47 | |     at[p] := inside;
48 | |   end;
   | |_____^

note: the property "a writer is alone" says something else about the permuted state
  --> ../../../../models/murphi/readers_writers.m:58:1
   |
58 | / invariant "a writer is alone"
59 | |   forall p: process do
60 | |     p > READERS & at[p] = inside -> forall q: process do q = p | at[q] != inside end
61 | |   end;
   | |_____^
---- exit status 0

"#]],
    );
}

#[test]
fn why_not_json() {
    expect(
        quotient(["detect", "--format", "json", READERS_WRITERS, "--why-not", "process 1 3"]),
        str![[r#"
{"schema":"quotient/1","command":"detect","symmetry":{"source":"auto","order":"2","structure":"S2","complete":true,"text":{"order":"1","structure":"1","strict":false,"seconds":"…"},"generators":[{"cycles":["(process 1 2)"]}],"types":["process"],"variables":["at"],"fixed":[],"numbers":[],"refused":[],"certification":"…","graph":{"…"},"seconds_by_phase":"…","seconds":"…"},"properties":[{"name":"a writer is alone","kind":"invariant"},{"name":"readers meet","kind":"cover"},{"name":"everyone can enter again","kind":"liveness"}],"request":"process 1 3","is_symmetry":false,"limits":[{"message":"`p <= 2` computes with it","file":"../../../../models/murphi/readers_writers.m","line":44,"column":3},{"message":"`q <= 2` computes with it","file":"../../../../models/murphi/readers_writers.m","line":44,"column":3},{"message":"`p > 2` computes with it","file":"../../../../models/murphi/readers_writers.m","line":58,"column":1},{"message":"`p < q` computes with it","file":"../../../../models/murphi/readers_writers.m","line":63,"column":1}],"reasons":[{"message":"rule \"enter beside readers\" can fire for p = 1, but never for p = 3","file":"../../../../models/murphi/readers_writers.m","line":44,"column":3},{"message":"rule \"enter beside readers\": the condition `forall q: process do q <= 2 | at[q] != inside end` for p = 2 changes its meaning","file":"../../../../models/murphi/readers_writers.m","line":44,"column":3},{"message":"the property \"a writer is alone\" says something else about the permuted state","file":"../../../../models/murphi/readers_writers.m","line":58,"column":1}],"families":null,"seconds":"…","peak_memory_bytes":"…","diagnostics":[]}
---- exit status 0

"#]],
    );
}

#[test]
fn why_not_a_symmetry() {
    for (request, whole) in
        [("process 1 2", "\n  (process 1 2)\n"), ("process 1 1", ""), ("at[1] at[2]", "\n  (process 1 2)\n")]
    {
        let transcript = quotient(["detect", READERS_WRITERS, "--why-not", request]);
        assert!(transcript.stdout.ends_with(&format!("`{request}` is a symmetry\n{whole}")), "{transcript}");
        assert_eq!(transcript.status, Some(0), "{transcript}");
    }
}

#[test]
fn why_not_a_rotation() {
    expect(
        quotient(["detect", "../../../../models/murphi/milner_scheduler.m", "--why-not", "rotate cell"]),
        str![[r#"
symmetries: 1, nothing but the identity

`rotate cell` is not a symmetry

note: the start state "token at the first cell" sets `token` to 0, where the exchange asks for 1
  --> ../../../../models/murphi/milner_scheduler.m:24:3
   |
24 |   token := 0;
   |   ^^^^^^^^^^
---- exit status 0

"#]],
    );
}

#[test]
fn families() {
    expect(
        quotient(["detect", READERS_WRITERS, "--why-not"]),
        str![[r#"
symmetries: 2, S2

process: {1, 2} {3}  distinguished
  1 | 3: rule "enter beside readers" can fire for p = 1, but never for p = 3
    ../../../../models/murphi/readers_writers.m:44:3
    44 |   rule "enter beside readers"
---- exit status 0

"#]],
    );
    // The model may follow the flag; it is no request.
    let after = quotient(["detect", "--why-not", READERS_WRITERS]);
    assert_eq!(after.to_string(), quotient(["detect", READERS_WRITERS, "--why-not"]).to_string());
}

#[test]
fn families_json() {
    expect(
        quotient(["detect", "--format=json", "--why-not", "--no-properties", READERS_WRITERS]),
        str![[r#"
{"schema":"quotient/1","command":"detect","symmetry":{"source":"auto","order":"2","structure":"S2","complete":true,"text":{"order":"2","structure":"S2","strict":false,"seconds":"…"},"generators":[{"cycles":["(process 1 2)"]}],"types":["process"],"variables":["at"],"fixed":[],"numbers":[],"refused":[],"certification":"…","graph":{"…"},"seconds_by_phase":"…","seconds":"…"},"properties":[],"request":null,"is_symmetry":null,"reasons":null,"families":[{"type":"process","classes":[["1","2"],["3"]],"separators":[{"message":"rule \"enter beside readers\" can fire for p = 1, but never for p = 3","file":"../../../../models/murphi/readers_writers.m","line":44,"column":3}]}],"seconds":"…","peak_memory_bytes":"…","diagnostics":[]}
---- exit status 0

"#]],
    );
}

/// What refers to the processes follows them, and the answer is that of `detect`.
#[test]
fn why_not_with_what_follows() {
    expect(
        quotient(["detect", "../../../../models/promela/booking.pml", "--why-not", "traveller 0 1"]),
        str![[r#"
symmetries: 6, S3

`traveller 0 1` is a symmetry

  traveller(0) ↔ traveller(1), queue (traveller(0):reply) ↔ queue (traveller(1):reply), clerk(3):who: traveller(0):reply ↔ traveller(1):reply, field 2 of message * of counter: traveller(0):reply ↔ traveller(1):reply
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "../../../../models/promela/leader_ring.pml", "--why-not", "node 0 1"]),
        str![[r#"
symmetries: 3, C3

`node 0 1` is not a symmetry

in the text:

note: `(p + 3 - 1) % 3` computes with it
  --> ../../../../models/promela/leader_ring.pml:20:6
   |
20 |   :: !leader && nempty(link[(_pid + N - 1) % N]) -> d_step { nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1; leader ...
   |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

unfolded:

note: rule "node 19: leader && nfull(link[_pid])": the condition `len(link[p]) != 1` for p = 0 does not become the one for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:19:6
   |
19 |   :: leader && nfull(link[_pid]) -> d_step { nfull(link[_pid]) -> link[_pid]!1; leader = 0 }
   |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^

note: rule "node 20: !leader && nempty(link[(_pid + N - 1) % N])": the condition `len(link[(p + 3 - 1) % 3]) != 0` for p = 0 does not become the one for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:20:6
   |
20 |   :: !leader && nempty(link[(_pid + N - 1) % N]) -> d_step { nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1; leader ...
   |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

note: rule "node 21: d_step { leader && nempty(link[(_pid + N - 1) %...": the condition `len(link[(p + 3 - 1) % 3]) != 0` for p = 0 does not become the one for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:21:6
   |
21 |   :: d_step { leader && nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1 }
   |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

note: rule "node 21: d_step { leader && nempty(link[(_pid + N - 1) %..." writes `len(link[2])` for p = 0, but not `len(link[2])` for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:21:61
   |
21 |   :: d_step { leader && nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1 }
   |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^

note: rule "node 21: d_step { leader && nempty(link[(_pid + N - 1) %..." writes `field 1 of message 1 of link[2]` for p = 0, but not `field 1 of message 1 of link[2]` for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:21:61
   |
21 |   :: d_step { leader && nempty(link[(_pid + N - 1) % N]) -> link[(_pid + N - 1) % N]?1 }
   |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^

note: rule "node 19: d_step { nfull(link[_pid]) -> link[_pid]!1; lea...": the condition `len(link[p]) != 1` for p = 0 does not become the one for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:19:37
   |
19 |   :: leader && nfull(link[_pid]) -> d_step { nfull(link[_pid]) -> link[_pid]!1; leader = 0 }
   |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

note: rule "node 19: d_step { nfull(link[_pid]) -> link[_pid]!1; lea..." writes `len(link[0])` for p = 0, but not `len(link[0])` for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:19:67
   |
19 |   :: leader && nfull(link[_pid]) -> d_step { nfull(link[_pid]) -> link[_pid]!1; leader = 0 }
   |                                                                   ^^^^^^^^^^^^

note: rule "node 19: d_step { nfull(link[_pid]) -> link[_pid]!1; lea..." writes `field 1 of message 1 of link[0]` for p = 0, but not `field 1 of message 1 of link[0]` for p = 1 (and 1 more like it)
  --> ../../../../models/promela/leader_ring.pml:19:67
   |
19 |   :: leader && nfull(link[_pid]) -> d_step { nfull(link[_pid]) -> link[_pid]!1; leader = 0 }
   |                                                                   ^^^^^^^^^^^^

and 3 other reasons
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "../../../../models/promela/three_tiered.pml", "--why-not"]),
        str![[r#"
symmetries: 144, S3 wr S2 × S2

elements of connected: {0, 1} {2}  distinguished
  0 | 2: rule "client 32: connected[s]": the condition `connected[client(p):s]` for p = 4 changes its meaning
    ../../../../models/promela/three_tiered.pml:32:6
    32 |   :: connected[s] -> skip; skip
processes server: {1, 2} {3}  distinguished
  1 | 3: rule "server 23: connected[s] = true" writes `connected[0]` for p = 1, but not `connected[0]` for p = 3
    ../../../../models/promela/three_tiered.pml:23:3
    23 |   connected[s] = true;
processes client: {4, 5, 6, 7, 8, 9} {10, 11}  distinguished
  4 | 10: rule "client 32: connected[s]": the condition `connected[client(p):s]` for p = 4 does not become the one for p = 10
    ../../../../models/promela/three_tiered.pml:32:6
    32 |   :: connected[s] -> skip; skip
---- exit status 0

"#]],
    );
    expect(
        quotient(["detect", "--format", "json", "../../../../models/promela/mutex.pml", "--why-not", "P(0) P(1)"]),
        str![[r#"
{"schema":"quotient/1","command":"detect","symmetry":{"source":"auto","order":"6","structure":"S3","complete":true,"text":{"order":"6","structure":"S3","strict":false,"seconds":"…"},"generators":[{"cycles":["P(1) ↔ P(2)","control: 1 ↔ 2"]},{"cycles":["P(0) ↔ P(1)","control: 0 ↔ 1"]}],"types":[],"variables":["P","control"],"fixed":[],"numbers":[],"refused":[],"certification":"…","graph":{"…"},"seconds_by_phase":"…","seconds":"…"},"properties":[],"request":"P(0) P(1)","is_symmetry":true,"permutation":["P(0) ↔ P(1)","control: 0 ↔ 1"],"reasons":[],"families":null,"seconds":"…","peak_memory_bytes":"…","diagnostics":[]}
---- exit status 0

"#]],
    );
}

#[test]
fn bad_requests() {
    for (request, words) in [
        ("proc 1 2", "there is no type `proc`"),
        ("process 1 9", "`9` is not a value of process: 1..3"),
        ("process 1", "no variable `process`"),
        ("rotate", "expected"),
        ("", "expected"),
        ("at[1] at", "different shapes"),
    ] {
        let transcript = quotient(["detect", READERS_WRITERS, "--why-not", request]);
        assert_eq!(transcript.status, Some(2), "{request}: {transcript}");
        assert!(transcript.stderr.contains(words), "{request}: {transcript}");
        assert!(transcript.stdout.is_empty(), "{request}: {transcript}");
    }
}

#[test]
fn wrong_usage() {
    for (arguments, words) in [
        (&["detect"][..], "which model?"),
        (&["detect", "--property", "nothing", "mutex.m"], "no property `nothing`"),
        (&["detect", "--property", "both try", "--no-properties", "mutex.m"], "cannot be used with"),
        (&["detect", "--symmetry", "some", "mutex.m"], "possible values: auto, declared, off"),
        (&["detect", "--export", "graph.png", "mutex.m"], "must end in .dimacs"),
        (&["detect", "--export", "graph.dot", "--symmetry", "off", "mutex.m"], "only --symmetry auto"),
        (&["detect", "--export", "no/such/folder/graph.dot", "mutex.m"], "cannot write"),
        (&["detect", "--certificate", "no/such/folder/certificate.json", "mutex.m"], "cannot write"),
        (&["detect", "--certificate", "certificate.json", "--partial", "mutex.m"], "cannot be used with"),
    ] {
        let transcript = quotient(arguments);
        assert_eq!(transcript.status, Some(2), "{arguments:?}\n{transcript}");
        assert!(transcript.stderr.contains(words), "{arguments:?}\n{transcript}");
        assert!(transcript.stdout.is_empty(), "{arguments:?}\n{transcript}");
    }
}

#[test]
fn invalid_model() {
    let transcript = quotient(["detect", "nowhere.m"]);
    assert_eq!(transcript.status, Some(3), "{transcript}");
    assert!(transcript.stderr.contains("cannot read") && transcript.stdout.is_empty(), "{transcript}");
    let transcript = quotient(["detect", "--format", "json", "invalid.m"]);
    assert_eq!(transcript.status, Some(3), "{transcript}");
    assert!(transcript.stdout.contains("\"command\":\"detect\""), "{transcript}");
}

#[test]
fn dot() {
    let (_, graph) = export("twins.m", "graph.dot", &[]);
    expect(
        graph,
        str![[r#"
graph {
  node [style=filled, colorscheme=set312];
  0 [label="x", fillcolor=1, tooltip="colour 0"];
  1 [label="x = false", fillcolor=2, tooltip="colour 1"];
  2 [label="x = true", fillcolor=2, tooltip="colour 1"];
  3 [label="y", fillcolor=1, tooltip="colour 0"];
  4 [label="y = false", fillcolor=2, tooltip="colour 1"];
  5 [label="y = true", fillcolor=2, tooltip="colour 1"];
  6 [label="both down", fillcolor=3, tooltip="colour 2"];
  7 [label=":=", fillcolor=4, tooltip="colour 3"];
  8 [label=":=", fillcolor=4, tooltip="colour 3"];
  9 [label="raise x", fillcolor=5, tooltip="colour 4"];
  10 [label=":=", fillcolor=4, tooltip="colour 3"];
  11 [label="lift y", fillcolor=5, tooltip="colour 4"];
  12 [label=":=", fillcolor=4, tooltip="colour 3"];
  13 [label="not both", fillcolor=6, tooltip="colour 5"];
  14 [label="or", fillcolor=7, tooltip="colour 6"];
  0 -- 1;
  0 -- 2;
  1 -- 7;
  1 -- 9;
  1 -- 14;
  2 -- 10;
  3 -- 4;
  3 -- 5;
  4 -- 8;
  4 -- 11;
  4 -- 14;
  5 -- 12;
  6 -- 7;
  6 -- 8;
  9 -- 10;
  11 -- 12;
  13 -- 14;
}

"#]],
    );
}

#[test]
fn gap() {
    let (_, program) = export("twins.m", "group.g", &[]);
    expect(
        program,
        str![[r##"
# The symmetries of twins.m on the literals that they move:
# 1: x = false
# 2: x = true
# 3: y = false
# 4: y = true
symmetries := Group([
  (1,3)(2,4)
]);
Print(Size(symmetries), "\n");

"##]],
    );
}

#[test]
fn gap_without_symmetry() {
    let (_, program) = export("mutex.m", "group.gap", &["--symmetry", "off"]);
    expect(
        program,
        str![[r##"
# The symmetries of mutex.m on the literals that they move:
symmetries := Group(());
Print(Size(symmetries), "\n");

"##]],
    );
}

#[test]
fn dimacs_and_dreadnaut() {
    let (_, graph) = export("mutex.m", "graph.bliss", &[]);
    assert!(graph.starts_with("p edge "), "{graph}");
    let (_, graph) = export("mutex.m", "graph.dre", &[]);
    assert!(graph.starts_with("As -a -m\nn=") && graph.ends_with("]\nx\n"), "{graph}");
}

/// The guide's worked example is what the program says, and its drawing shows every vertex.
#[test]
fn worked_example_of_the_guide() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let text = std::fs::read_to_string(guide.join("detection.md")).expect("the guide");
    let block = |opening: &str| {
        let start = text.find(opening).expect("the block is there") + opening.len();
        &text[start..start + text[start..].find("```").expect("a block has an end")]
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (model, graph) = (folder.path().join("lock.m"), folder.path().join("lock.dot"));
    std::fs::write(&model, block("```murphi\n")).expect("the model is written");
    let transcript = quotient(["detect".as_ref(), "--export".as_ref(), graph.as_os_str(), model.as_os_str()]);
    let expected = block("```\n$ quotient detect lock.m\n");
    assert_eq!(transcript.stdout.lines().count(), expected.lines().count(), "{transcript}");
    for (said, expected) in transcript.stdout.lines().zip(expected.lines()) {
        if !["certified  ", "text  ", "time  "].iter().any(|name| said.starts_with(name) && expected.starts_with(name))
        {
            assert_eq!(said, expected, "{transcript}");
        }
    }
    let drawing = std::fs::read_to_string(guide.join("detection-lock.svg")).expect("the drawing");
    let graph = std::fs::read_to_string(&graph).expect("the graph");
    let labels: Vec<&str> = graph.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(drawing.matches("<text").count(), labels.len());
    for label in labels {
        assert!(drawing.contains(&format!(">{label}<")), "{label}");
    }
}
