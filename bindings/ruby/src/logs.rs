//! Log records for Ruby's `Logger`.
use std::time::Duration;

use magnus::{Error, RArray, Ruby};
use ojs_abi::logs;

use crate::gate;

/// Waits for records: `[[[level, target, text], …], lost]`.
pub fn pull_logs(ruby: &Ruby, max: usize, wait_ms: u64) -> Result<RArray, Error> {
    // Counted while the GVL is held: an interruption on the way into the wait is seen by it. The interrupted wait is not taken up again.
    let seen = logs::unblocks();
    let (records, lost) = gate::released(ruby, "pull_logs", logs::unblock, || {
        Ok(Some(logs::pull_since(max, Duration::from_millis(wait_ms), seen)))
    })?;
    let list = ruby.ary_new_capa(records.len());
    for record in records {
        list.push((record.level, record.target, record.text))?;
    }
    let answer = ruby.ary_new_capa(2);
    answer.push(list)?;
    answer.push(lost)?;
    Ok(answer)
}

/// Starts collecting, up to a level: 0 off, 1 error … 5 trace.
pub fn set_log_level(level: u8) {
    logs::install();
    logs::set_level(level);
}
