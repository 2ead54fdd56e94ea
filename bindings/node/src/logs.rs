//! Log records for a logger in JavaScript.
use std::thread;
use std::time::Duration;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use ojs_abi::logs;

use crate::bell::Bell;
use crate::gate;

/// How long the thread sleeps when nothing is logged.
const NAP: Duration = Duration::from_secs(60);

/// A log record.
#[napi(object)]
pub struct LogRecord {
    /// 1 error … 5 trace.
    pub level: u8,
    /// The module that spoke.
    pub target: String,
    /// What it said; absent in a record that only counts those lost.
    pub text: Option<String>,
    /// Records lost before this one.
    pub lost: f64,
}

/// Starts collecting, up to a level: 0 off, 1 error … 5 trace.
#[napi]
pub fn set_log_level(level: u8) {
    logs::install();
    logs::set_level(level);
}

/// Calls `ring` on its own thread when there are records to take, until that thread ends.
#[napi]
pub fn watch_logs(ring: Function<'_, (), ()>) -> Result<()> {
    let bell = Bell::new(&ring)?;
    thread::Builder::new()
        .name("ojs-logs".into())
        .spawn(move || watch(&bell))
        .map(drop)
        .map_err(|error| Error::from_reason(error.to_string()))
}

fn watch(bell: &Bell) {
    let mut seen = 0;
    loop {
        let written = logs::written_after(seen, NAP);
        if written != seen && !bell.reaches() {
            return;
        }
        seen = written;
    }
}

/// All records that are there. It does not wait, so that an exit handler can call it.
#[napi]
pub fn take_logs() -> Result<Vec<LogRecord>> {
    let (records, lost) = gate::enter("takeLogs", || Ok(logs::take()))?;
    let lost = (lost > 0).then(|| LogRecord { level: 2, target: String::new(), text: None, lost: lost as f64 });
    let records =
        records.into_iter().map(|r| LogRecord { level: r.level, target: r.target.to_owned(), text: Some(r.text), lost: 0.0 });
    Ok(lost.into_iter().chain(records).collect())
}
