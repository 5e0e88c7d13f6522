//! `quotient detect --text` and `--family` where a transcript does not suffice.

use crate::transcript::{quotient, quotient_with};

#[test]
fn sizes_of_deferred_sets() {
    let said = quotient(["detect", "--family", "../../../../models/b/Library.mch"]);
    assert!(said.stdout.starts_with("family: S_Book × S_Reader, for all Reader, Book\n"), "{said}");
}

#[test]
fn what_cannot_be_a_family() {
    for (arguments, words) in [
        (&["detect", "--family", "--symmetry", "declared", "mutex.m"][..], "it reads the text"),
        (&["detect", "--family", "--partial", "mutex.m"], "cannot be used with"),
    ] {
        let said = quotient(arguments);
        assert_eq!(said.status, Some(2), "{said}");
        assert!(said.stderr.contains(words), "{said}");
    }
}

/// A text that is not in a file is read again with other constants all the same.
#[test]
fn a_family_from_standard_input() {
    let text = "const N: 3; type p: 1..N; var x: array [p] of boolean;\n\
        startstate for i: p do x[i] := false; end; end; ruleset i: p do rule !x[i] ==> x[i] := true; end; end;\n";
    let said = quotient_with(["detect", "--family", "-"], text.as_bytes(), &[]);
    assert_eq!(said.status, Some(0), "{said}");
    assert!(said.stdout.starts_with("family: S_N, for all N"), "{said}");
}

/// Processes that are created one by one are alike if what is written is; a process that gets another argument is not.
#[test]
fn processes_created_in_one_step() {
    let text = |argument: u32| {
        format!(
            "byte x[3];\nproctype p(byte i) {{ do :: x[i] = 1 od }}\n\
             init {{ atomic {{ run p(0); run p(1); run p({argument}) }} }}\n"
        )
    };
    for (argument, structure) in [(2, "S3"), (1, "S2")] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("created.pml");
        std::fs::write(&path, text(argument)).expect("the model is written");
        let said = quotient(["detect".as_ref(), "--text".as_ref(), path.as_os_str()]);
        assert!(said.stdout.contains(structure), "{argument}: {said}");
    }
}

/// The first instance of an assumption that is false or fails decides, so that their order can be noticed.
#[test]
fn assumptions_that_may_fail() {
    let text = "type p: 0..1; var x: array [p] of 0..1;\nstartstate for i: p do x[i] := 0; end; end;\n\
        ruleset i: p do rule undefine x[i]; end; end;\nruleset i: p do assume x[i] = 0; end;\n";
    let said = quotient_with(["detect", "--text", "-"], text.as_bytes(), &[]);
    assert!(said.stdout.contains("symmetries: 1,"), "{said}");
}

/// A condition inside another may go wrong as well: both quantifiers are made strict.
#[test]
fn quantifiers_inside_others_that_may_fail() {
    let text = "type p: scalarset(3); var a: array [p] of 0..1; b: array [p] of boolean;\n\
        startstate for i: p do b[i] := false; end; end;\n\
        ruleset i: p do rule !b[i] ==> b[i] := true; a[i] := 0; end; end;\n\
        rule forall i: p do b[i] end ==> for i: p do b[i] := false; undefine a[i]; end; end;\n\
        invariant forall i: p do forall j: p do b[i] & b[j] -> a[i] = a[j] end end;\n";
    let said = quotient_with(["detect", "--text", "-"], text.as_bytes(), &[]);
    assert!(said.stdout.contains("symmetries: 6, S3") && said.stdout.contains("with strict quantifiers"), "{said}");
    let said = quotient_with(["check", "-"], text.as_bytes(), &[]);
    assert!(said.stdout.contains("4, representing 8"), "{said}");
}
