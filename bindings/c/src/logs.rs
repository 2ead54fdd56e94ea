//! Log records of the library.
use std::time::Duration;

use ojs_abi::logs;
use serde_json::json;

use crate::error::{enter_new, ojs_error};
use crate::slice::ojs_buf;

/// Collects log records up to a level: 0 off, 1 error, 2 warn, 3 info, 4 debug, 5 trace. Until it is called, none are
/// collected, and each failed attempt of a job is a line on stderr; from then on nothing is written there.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_logs_level(level: u8) {
    logs::install();
    logs::set_level(level);
}

/// Waits up to `wait_ms` for records and takes at most `max`: a JSON object, `{"lost": 0, "records": [{"level", "target", "text"}]}`.
/// A program that takes none loses the oldest, and reads in `lost` how many.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_logs_pull(max: usize, wait_ms: u64, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_logs_pull", out, || {
        let (records, lost) = logs::pull(max, Duration::from_millis(wait_ms));
        let records: Vec<_> =
            records.into_iter().map(|r| json!({"level": r.level, "target": r.target, "text": r.text})).collect();
        Ok(ojs_buf::new(json!({"lost": lost, "records": records}).to_string()))
    })
}
