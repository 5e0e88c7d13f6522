//! Reads arbitrary bytes as a B machine.

#![no_main]

mod reading;

use libfuzzer_sys::fuzz_target;
use quotient::languages::Language;

fuzz_target!(|bytes: &[u8]| reading::read(bytes, "fuzz.mch", Language::B));
