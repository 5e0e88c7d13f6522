//! Runs programs on compiled code and on the reference interpreter: random programs whose seed the
//! fuzzer chooses, and whatever else is a Murphi model.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quotient::languages::{Language, LoadOptions, load, source_from_bytes};
use quotient_ir::{Layout, Source};
use quotient_testkit::agreement::compare_compiled;
use quotient_testkit::random_murphi::{ProgramOptions, random_program};

/// States of one model that are compared.
const STATES: usize = 300;

fuzz_target!(|bytes: &[u8]| {
    let source = match bytes {
        &[size, extensions, ref seed @ ..] if seed.len() <= 8 => {
            let seed = seed.iter().fold(0, |seed, &byte| seed << 8 | u64::from(byte));
            let options = ProgramOptions {
                size: u32::from(size % 6) + 1,
                extensions: extensions % 2 == 1,
                ..ProgramOptions::default()
            };
            Source::new("random.m", random_program(seed, &options))
        }
        _ => match source_from_bytes("fuzz.m", bytes) {
            Ok(source) => source,
            Err(_) => return,
        },
    };
    if let Ok(loaded) = load(source, Language::Murphi, &LoadOptions::default())
        && Layout::new(&loaded.model).is_ok()
        && let Err(difference) = compare_compiled(&loaded.model, STATES)
    {
        panic!("{difference}");
    }
});
