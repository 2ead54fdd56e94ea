//! The attempts of a job, from its row and from the entries of its errors.
use ojs_model::{JobState, Timestamp};
use serde::Deserialize;

use crate::error::StoreError;
use crate::kernel::job::JobView;
use crate::kernel::outcome::error_entries;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// It runs.
    Not,
    /// The handler returned.
    Completed,
    /// The handler failed, the time was over, or the worker was lost.
    Failed,
    /// The job was cancelled while it ran.
    Cancelled,
    /// The worker gave the job back.
    Released,
}

impl Ended {
    /// The word on the wire.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Not => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Released => "released",
        }
    }
}

/// One attempt. Times are milliseconds since the epoch; 0 is "not known", or "not yet".
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attempt {
    /// Its number, from 1 on. A replay begins at 1 again.
    pub(super) number: u32,
    /// When the job became available for it.
    pub(super) available_at: i64,
    /// When a worker took the job.
    pub(super) started_at: i64,
    /// When it ended.
    pub(super) ended_at: i64,
    /// How it ended.
    pub(super) ended: Ended,
    /// The worker, where it is known.
    pub(super) worker: Option<String>,
    /// Why it failed.
    pub(super) error: Option<Failed>,
}

/// What an entry of `errors` says of an error.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Failed {
    #[serde(default)]
    pub(super) code: String,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) retryable: bool,
}

/// What an entry of `errors` says of its attempt. Entries of older versions have no start.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    attempt: u32,
    occurred_at: String,
    started_at: Option<String>,
    wait_ms: Option<i64>,
    worker_id: Option<String>,
    #[serde(flatten)]
    error: Failed,
}

fn millis(text: &str) -> i64 {
    Timestamp::parse(text).map_or(0, Timestamp::as_millis)
}

/// The attempts of a job, the oldest first. Of a job with very many failures only the newest are kept.
///
/// # Errors
/// Entries that cannot be read.
pub(super) fn attempts(view: &JobView) -> Result<Vec<Attempt>, StoreError> {
    let mut all: Vec<Attempt> = Vec::new();
    for raw in error_entries(&view.row, &view.history.errors)? {
        let entry: Entry = serde_json::from_str(raw.get())
            .map_err(|error| StoreError::Failed(format!("an error of job {} cannot be read: {error}", view.row.id)))?;
        // A job that expired while it waited has an error of no attempt.
        if entry.started_at.is_none() && all.last().map_or(0, |last| last.number) == entry.attempt {
            continue;
        }
        let started_at = entry.started_at.as_deref().map_or(0, millis);
        all.push(Attempt {
            number: entry.attempt,
            available_at: entry.wait_ms.map_or(0, |wait| started_at.saturating_sub(wait)),
            started_at,
            ended_at: millis(&entry.occurred_at),
            ended: Ended::Failed,
            worker: entry.worker_id,
            error: Some(entry.error),
        });
    }
    all.extend(latest(view, &all));
    Ok(all)
}

/// The latest attempt, when it has not failed.
fn latest(view: &JobView, failed: &[Attempt]) -> Option<Attempt> {
    let row = &view.row;
    if row.attempt == 0 || row.started_at == 0 || failed.last().is_some_and(|last| last.started_at == row.started_at) {
        return None;
    }
    let (ended, ended_at) = match row.state {
        JobState::Active => (Ended::Not, 0),
        JobState::Completed => (Ended::Completed, row.finished_at),
        // A job that was given back is in its line again, or waits for it.
        JobState::Cancelled if row.started_at >= row.enqueued_at => (Ended::Cancelled, row.finished_at),
        // An older version has kept no start with the error.
        JobState::Discarded if failed.last().is_some_and(|last| last.number == row.attempt) => return None,
        _ => (Ended::Released, 0),
    };
    Some(Attempt {
        number: row.attempt,
        available_at: if row.enqueued_at <= row.started_at { row.enqueued_at } else { 0 },
        started_at: row.started_at,
        ended_at,
        ended,
        worker: view.worker.as_deref().map(str::to_owned),
        error: None,
    })
}
