//! Log records for a logger in JavaScript.
use std::thread;
use std::time::Duration;

use napi::bindgen_prelude::*;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use ojs_abi::logs;

/// Records handed over at a time.
const MAX: usize = 256;
/// How long the thread sleeps when nothing is said.
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

/// Weak: it does not keep the process alive.
type Emit = ThreadsafeFunction<Vec<LogRecord>, (), Vec<LogRecord>, Status, false, true>;

/// Starts collecting, up to a level: 0 off, 1 error … 5 trace.
#[napi]
pub fn set_log_level(level: u8) {
    logs::install();
    logs::set_level(level);
}

/// Calls `emit` with records as they come, on its own thread, until that ends.
#[napi]
pub fn carry_logs(emit: Function<'_, Vec<LogRecord>, ()>) -> Result<()> {
    let emit: Emit = emit.build_threadsafe_function().weak::<true>().build()?;
    thread::Builder::new()
        .name("ojs-logs".into())
        .spawn(move || carry(&emit))
        .map(drop)
        .map_err(|error| Error::from_reason(error.to_string()))
}

fn carry(emit: &Emit) {
    loop {
        let (records, lost) = logs::pull(MAX, NAP);
        let mut said: Vec<LogRecord> = Vec::with_capacity(records.len() + 1);
        if lost > 0 {
            said.push(LogRecord { level: 2, target: String::new(), text: None, lost: lost as f64 });
        }
        said.extend(records.into_iter().map(|r| LogRecord {
            level: r.level,
            target: r.target.to_owned(),
            text: Some(r.text),
            lost: 0.0,
        }));
        if !said.is_empty() && emit.call(said, ThreadsafeFunctionCallMode::NonBlocking) != Status::Ok {
            return;
        }
    }
}
