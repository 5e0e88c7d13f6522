//! Random Murphi programs of loosely coupled processes, for partial order.

use std::fmt::Write as _;

use crate::random_murphi::Random;

/// Processes with a few steps each, which rarely touch what others touch.
pub fn loose_processes(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x006c_6f6f_7365);
    let processes = 2 + random.below(3);
    let places = 2 + random.below(3);
    let shared = 1 + random.below(2);
    let is_alike = random.percent(40);
    let mut text = String::from("type\n  value: 0..2;\n  process: ");
    let _ = writeln!(
        text,
        "{};",
        if is_alike { format!("scalarset({processes})") } else { format!("0..{}", processes - 1) }
    );
    let _ = writeln!(text, "var\n  pc: array [process] of 0..{};\n  own: array [process] of value;", places - 1);
    for number in 0..shared {
        let _ = writeln!(text, "  s{number}: value;");
    }
    let _ = writeln!(text, "  queue: array [0..1] of value;\n  length: 0..2;");
    text.push_str("startstate\n  for p: process do pc[p] := 0; own[p] := 0; end;\n  clear queue; length := 0;\n");
    for number in 0..shared {
        let _ = writeln!(text, "  s{number} := {};", random.below(3));
    }
    text.push_str("end;\n");
    let rules = processes.min(if is_alike { 1 } else { 9 }) * (places + random.below(3));
    for number in 0..rules {
        let owner = number % processes;
        let p = if is_alike { "p".to_owned() } else { owner.to_string() };
        let (from, to) = (random.below(places), random.below(places));
        let place = random.below(shared);
        let mut guard = format!("pc[{p}] = {from}");
        if random.percent(35) {
            let _ = match random.below(4) {
                0 => write!(guard, " & s{place} = {}", random.below(3)),
                1 => write!(guard, " & own[{p}] != {}", random.below(3)),
                2 => write!(guard, " & length < 2"),
                _ => write!(guard, " & s{place} != own[{p}]"),
            };
        }
        let mut body = String::new();
        if to != from || random.percent(50) {
            let _ = write!(body, "pc[{p}] := {to}; ");
        }
        match random.below(9) {
            0 => {
                let _ = write!(body, "s{place} := {}; ", random.below(3));
            }
            1 => {
                let _ = write!(body, "s{place} := (s{place} + {}) % 3; ", 1 + random.below(2));
            }
            2 => {
                let _ = write!(body, "own[{p}] := s{place}; ");
            }
            3 => {
                guard.push_str(" & length < 2");
                let _ = write!(body, "queue[length] := own[{p}]; length := length + 1; ");
            }
            4 => {
                guard.push_str(" & length > 0");
                let _ =
                    write!(body, "own[{p}] := queue[0]; queue[0] := queue[1]; queue[1] := 0; length := length - 1; ");
            }
            5 if random.percent(20) => {
                let _ = write!(body, "assert s{place} != {} | own[{p}] = 0; ", random.below(3));
            }
            6 if random.percent(20) => {
                let _ = write!(body, "own[{p}] := own[{p}] + 1; ");
            }
            _ => {
                let _ = write!(body, "own[{p}] := {}; ", random.below(3));
            }
        }
        if is_alike {
            let _ = writeln!(text, "ruleset p: process do rule \"{number}\" {guard} ==> {body} end; end;");
        } else {
            let _ = writeln!(text, "rule \"{number}\" {guard} ==> {body} end;");
        }
    }
    for number in 0..random.below(3) {
        let place = random.below(shared);
        let _ = match random.below(3) {
            0 => writeln!(text, "invariant \"i{number}\" s{place} != {} | length < 2;", random.below(3)),
            1 => writeln!(text, "invariant \"i{number}\" exists p: process do pc[p] != {} end;", random.below(places)),
            _ => writeln!(text, "cover \"i{number}\" s{place} = {} & length = 2;", random.below(3)),
        };
    }
    text
}
