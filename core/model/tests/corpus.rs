//! Replays the seeds and regressions of the fuzz targets: what libFuzzer checks, on the stable toolchain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic here is a failed test")]
#[path = "../../../fuzz/checks.rs"]
mod checks;

use std::path::Path;

/// Runs one target over its files, and over every prefix of each: a cut document is the commonest broken one.
fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut files = 0;
    for folder in ["seeds", "regressions"] {
        let Ok(entries) = fuzz.join(folder).join(target).read_dir() else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let data = std::fs::read(&path).unwrap();
            println!("{}", path.display());
            check(&data);
            (0..data.len()).for_each(|end| check(data.get(..end).unwrap_or_default()));
            files += 1;
        }
    }
    assert!(files >= 5, "the seeds of {target} are missing");
}

#[test]
fn envelope() {
    replay("envelope", checks::envelope);
}

#[test]
fn retry() {
    replay("retry", checks::retry);
}

#[test]
fn duration() {
    replay("duration", checks::duration);
}

#[test]
fn time() {
    replay("time", checks::time);
}
