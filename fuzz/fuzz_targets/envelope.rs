#![no_main]
// One file of checks serves four targets.
#![allow(dead_code)]
#[path = "../checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::envelope(data));
