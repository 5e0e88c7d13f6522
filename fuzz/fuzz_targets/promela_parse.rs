//! Reads arbitrary bytes as a Promela model.

#![no_main]

mod reading;

use libfuzzer_sys::fuzz_target;
use quotient::languages::Language;

fuzz_target!(|bytes: &[u8]| reading::read(bytes, "fuzz.pml", Language::Promela));
