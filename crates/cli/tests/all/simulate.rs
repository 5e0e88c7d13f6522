//! `quotient simulate` and `quotient lower` where a transcript does not suffice: seeds, interaction, files.

use crate::transcript::{expect, quotient, quotient_with};
use snapbox::str;

#[test]
fn random_json() {
    let transcript = quotient(["simulate", "--seed", "3", "--steps", "1", "--format", "json", "counter.m"]);
    expect(
        transcript,
        str![[r#"
{"schema":"quotient/1","command":"simulate","verdict":"inconclusive","stop_reason":"step-limit","seed":3,"steps":1,"trace":[{"rule":"Zero","arguments":{},"state":{"count":0}},{"rule":"increment","arguments":{},"state":{"count":1}}],"violation":null,"diagnostics":[]}
---- exit status 0

"#]],
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed: &str| quotient(["simulate", "--seed", seed, "--steps", "30", "mutex.m"]).stdout;
    assert_eq!(run("42"), run("42"));
    assert!((0..10).any(|seed: u32| run(&seed.to_string())[..] != run("42")[..]));
}

#[test]
fn a_fresh_seed_is_shown() {
    let transcript = quotient(["simulate", "--steps", "1", "counter.m"]);
    assert!(transcript.stdout.starts_with("seed "), "{transcript}");
}

#[test]
fn interactive() {
    let transcript = quotient_with(["simulate", "--interactive", "mutex.m"], b"1\n2\nu\ns\n7\nwhat\n?\nq\n", &[]);
    expect(
        transcript,
        str![[r#"
  0  Startstate "free"
       at[process_0]: idle
       at[process_1]: idle
       locked: false
       last: undefined

  1) Rule "try", p: process_0 (likewise 2)
>   1  Rule "try", p: process_0
       at[process_0]: idle → trying

  1) Rule "try", p: process_1
  2) Rule "enter", p: process_0
>   2  Rule "enter", p: process_0
       at[process_0]: trying → critical
       locked: false → true
       last: undefined → process_0

  1) Rule 3, p: process_0 (mutex.m:30:3)
> back after step 1

  1) Rule "try", p: process_1
  2) Rule "enter", p: process_0
>   at[process_0]: trying
  at[process_1]: idle
  locked: false
  last: undefined
> choose a step by its number, or ? for help
> choose a step by its number, or ? for help
>   NUMBER  take that step
  r       take a random step
  u       undo the last step
  n       take the next step of the recorded run
  e       follow the recorded run to its end
  s       show the whole state
  l       list all steps, also those that are like others
  ?       this help
  q       quit
> 
---- exit status 0

"#]],
    );
}

#[test]
fn interactive_start_and_end() {
    let transcript = quotient_with(["simulate", "--interactive", "starts.m"], b"u\n2\nr\n", &[]);
    expect(
        transcript,
        str![[r#"

  1) Startstate "from", v: 0
  2) Startstate "from", v: 1
  3) Startstate "from", v: 2
> there is nothing to undo
>   0  Startstate "from", v: 1
       x: 1

no rule can fire; u to undo, q to quit
> 
no rule can fire; u to undo, q to quit
> 
---- exit status 0

"#]],
    );
}

#[test]
fn interactive_fault() {
    let transcript = quotient_with(["simulate", "--interactive", "faulty.m"], b"1\n1\n1\n1\nq\n", &[]);
    expect(
        transcript,
        str![[r#"
  0  Startstate "start"
       x: 0
       y: undefined

  1) Rule "grow"
>   1  Rule "grow"
       x: 0 → 1

  1) Rule "grow"
>   2  Rule "grow"
       x: 1 → 2

  1) Rule "grow"
>   3  Rule "grow"
       x: 2 → 3

  1) Rule "leap", step: 1 fails
  2) Rule "leap", step: 2 fails
>      Rule "leap", step: 1 fails here: value 4 is out of range 0..3 of `x`
     faulty.m:8:31
     8 |   rule "leap" x = 3 ==> begin x := x + step; end;

  1) Rule "leap", step: 1 fails
  2) Rule "leap", step: 2 fails
> 
---- exit status 0

"#]],
    );
}

#[test]
fn lowered_models_are_models() {
    for (model, status) in [("counter.m", 0), ("mutex.m", 1), ("stuck.m", 1), ("starts.m", 1)] {
        let lowered = quotient(["lower", model]);
        assert_eq!(lowered.status, Some(0), "{lowered}");
        let counts = |transcript: &crate::transcript::Transcript| {
            let is_count = |line: &&str| line.starts_with("states") || line.starts_with("transitions");
            transcript.stdout.lines().filter(is_count).map(str::to_owned).collect::<Vec<_>>()
        };
        let again = quotient_with(["check", "-"], lowered.stdout.as_bytes(), &[]);
        assert_eq!(again.status, Some(status), "{lowered}{again}");
        assert_eq!(counts(&again), counts(&quotient(["check", model])), "{lowered}{again}");
    }
}

#[test]
fn lowered_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lowered.m");
    let transcript = quotient([
        "lower".as_ref(),
        "-D".as_ref(),
        "Limit=5".as_ref(),
        "-o".as_ref(),
        path.as_os_str(),
        "counter.m".as_ref(),
    ]);
    assert_eq!(transcript.status, Some(0), "{transcript}");
    assert_eq!(transcript.stdout, "", "{transcript}");
    let transcript = quotient(["explore".as_ref(), path.as_os_str()]);
    assert!(transcript.stdout.contains("states       6\n"), "{transcript}");
}
