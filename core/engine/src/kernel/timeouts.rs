//! The four time-outs of a job (protocol section 5.9), the end of a lease, and expiry.
//!
//! | time-out | counts | what follows |
//! |---|---|---|
//! | `timeout` + `grace_period` | one attempt | the retry policy |
//! | `heartbeat_timeout` | silence of the worker about the job | the retry policy |
//! | `enqueue_ttl` | from the moment it may start to its first start | discarded |
//! | `total_timeout` | from acceptance, waiting included | discarded, a dead letter if the policy says so |
//!
//! The row of a running job has one deadline, the earliest of them; that of a waiting job has `expires_at`. When it has
//! passed, the rules here find out which time-out it was.
use std::fmt::Write;

use ojs_model::failure::as_seconds;
use ojs_model::retry::OnExhaustion;
use ojs_model::{ErrorCode, JobError, TimeoutKind, Timestamp, json};

use crate::error::StoreError;
use crate::kernel::job::{Body, JobRow, flag};
use crate::kernel::outcome::{Ending, brief};
use crate::kernel::settings::{DEFAULT_TIMEOUT_MS, Settings};
use crate::kernel::transaction::Transaction;
use crate::spans::step;

type Stored<T> = Result<T, StoreError>;

/// The time-out that ended the waiting of a job.
enum Late {
    /// The client's `expires_at`.
    Expired,
    /// `enqueue_ttl`, milliseconds.
    Ttl(i64),
    /// `total_timeout`, milliseconds.
    Total(i64),
}

impl Transaction<'_> {
    /// Ends the attempts of running jobs whose lease or deadline has passed.
    pub(crate) fn judge_overdue(&mut self) -> Stored<()> {
        let now = self.now.as_millis();
        for row in self.tables.overdue(now, self.slice())? {
            if !self.takes(&row) {
                continue;
            }
            let _span = step!("ojs.visibility.check", ojs.job.id = %row.id);
            let flagged = row.has(flag::TOTAL | flag::STALLS);
            let settings = if flagged { self.settings(row.seq)? } else { Settings::default() };
            let total = settings.total_ms.filter(|_| row.has(flag::TOTAL));
            let stall = settings.stall_ms.filter(|_| row.has(flag::STALLS));
            let out_of_time = row.deadline <= now && row.deadline <= row.lease_until;
            match (total, stall) {
                (Some(limit), _) if out_of_time && row.created_at.saturating_add(limit) <= row.deadline => {
                    self.end_total(&row, limit)?;
                }
                _ if out_of_time => self.time_out(&row)?,
                (_, Some(limit)) if row.lease_ms == limit => self.stall(&row, limit)?,
                _ => {
                    let message = format!("The lease ran out after {} ms without a heartbeat.", row.lease_ms);
                    self.lose(&row, &JobError::engine(ErrorCode::VisibilityTimeout, message))?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn settings(&mut self, seq: i64) -> Stored<Settings> {
        Ok(Settings::of(&self.tables.body(seq)?))
    }

    /// Sets the deadlines of an attempt that starts now.
    pub(crate) fn set_deadlines(&self, row: &mut JobRow, body: &Body) {
        let now = self.now.as_millis();
        let timeout = if body.timeout_ms > 0 { body.timeout_ms } else { DEFAULT_TIMEOUT_MS };
        row.deadline = now.saturating_add(timeout).saturating_add(body.grace_ms);
        if row.has(flag::TOTAL | flag::STALLS) {
            let settings = Settings::of(body);
            if let Some(total) = settings.total_ms.filter(|_| row.has(flag::TOTAL)) {
                row.deadline = row.deadline.min(row.created_at.saturating_add(total));
            }
            if let Some(stall) = settings.stall_ms {
                row.lease_ms = row.lease_ms.min(stall);
            }
        }
        row.lease_until = now.saturating_add(row.lease_ms);
        row.sort_key = row.lease_until.min(row.deadline);
    }

    /// Sets the deadline of a job that waits again: its total time-out still counts.
    pub(crate) fn set_end_of_waiting(&mut self, row: &mut JobRow) -> Stored<()> {
        if row.has(flag::TOTAL) && row.expires_at == 0 {
            let total = self.settings(row.seq)?.total_ms;
            row.expires_at = total.map_or(0, |ms| row.created_at.saturating_add(ms));
        }
        Ok(())
    }

    fn time_out(&mut self, row: &JobRow) -> Stored<()> {
        let body = self.tables.body(row.seq)?;
        let limit = if body.timeout_ms > 0 { body.timeout_ms } else { DEFAULT_TIMEOUT_MS };
        let error = self.timed_out(TimeoutKind::Execution, limit, row.started_at);
        self.emit_timeout("job.timeout", row, &error)?;
        self.fail(row, &error)?;
        Ok(())
    }

    fn stall(&mut self, row: &JobRow, limit: i64) -> Stored<()> {
        let heard = row.lease_until.saturating_sub(row.lease_ms);
        let error = self.timed_out(TimeoutKind::Stalled, limit, heard);
        self.emit_timeout("job.stalled", row, &error)?;
        self.fail(row, &error)?;
        Ok(())
    }

    /// Ends a job, running or waiting, whose total time is over.
    fn end_total(&mut self, before: &JobRow, limit: i64) -> Stored<JobRow> {
        let mut row = before.clone();
        let error = self.timed_out(TimeoutKind::Total, limit, row.created_at);
        self.remember(&mut row, &error)?;
        self.emit_timeout("job.total_timeout", &row, &error)?;
        if before.state == ojs_model::JobState::Active {
            self.emit_failure(&row, &error)?;
        } else {
            row.flags |= flag::EXPIRED;
        }
        let dead_letter = self.policy(before)?.on_exhaustion == OnExhaustion::DeadLetter;
        self.discard(before, row, &error, Ending { dead_letter, reason: "total_timeout" })
    }

    /// Whether a retry is not worth scheduling: the job could not start again in time.
    pub(crate) fn emit_no_time_left(&mut self, row: &JobRow) -> Stored<()> {
        let limit = self.settings(row.seq)?.total_ms.unwrap_or(0);
        let error = self.timed_out(TimeoutKind::Total, limit, row.created_at);
        self.emit_timeout("job.total_timeout", row, &error)
    }

    /// Discards a job whose time to start has passed.
    pub(crate) fn expire(&mut self, before: &JobRow) -> Stored<JobRow> {
        let late = self.what_was_late(before)?;
        let error = match late {
            Late::Total(limit) => return self.end_total(before, limit),
            Late::Ttl(limit) => {
                let ready = before.expires_at.saturating_sub(limit);
                self.timed_out(TimeoutKind::EnqueueTtl, limit, ready)
            }
            Late::Expired => expired(),
        };
        let mut row = before.clone();
        row.flags |= flag::EXPIRED;
        self.remember(&mut row, &error)?;
        match late {
            Late::Ttl(_) => self.emit_timeout("job.ttl_expired", &row, &error)?,
            _ => self.emit_expired(&row, before.expires_at)?,
        }
        self.discard(before, row, &error, Ending { dead_letter: false, reason: "expired" })
    }

    /// Discards a job that had expired before it was stored.
    pub(crate) fn emit_stillborn(&mut self, row: &JobRow, expired_at: Option<Timestamp>) -> Stored<()> {
        self.emit_expired(row, expired_at.map_or(0, Timestamp::as_millis))?;
        let extra = format!("\"total_attempts\":0,\"last_error\":{}", brief(&expired()));
        self.emit("job.discarded", row, &extra)
    }

    fn emit_expired(&mut self, row: &JobRow, expires_at: i64) -> Stored<()> {
        let created = Timestamp::from_millis(row.created_at);
        let mut extra = format!("\"created_at\":\"{created}\",\"expired_at\":\"{}\"", self.now);
        let _ = write!(extra, ",\"ttl_ms\":{}", expires_at.saturating_sub(row.created_at).max(0));
        self.emit("job.expired", row, &extra)
    }

    /// What ended the waiting. The end was worked out when the request came, a moment before the job was stored, on
    /// PostgreSQL by another clock: only the client's own time can be compared with it to the millisecond.
    fn what_was_late(&mut self, row: &JobRow) -> Stored<Late> {
        if !row.has(flag::TOTAL | flag::TTL) {
            return Ok(Late::Expired);
        }
        let settings = self.settings(row.seq)?;
        if settings.expires_at == Some(row.expires_at) {
            return Ok(Late::Expired);
        }
        let ready = settings.scheduled_at.map_or(row.created_at, |at| at.max(row.created_at));
        let total = settings.total_ms.filter(|_| row.has(flag::TOTAL));
        // The first start ends the time to live: a job that waits again is bound by its total time.
        let ttl = settings.ttl_ms.filter(|_| row.has(flag::TTL) && row.attempt == 0);
        let comes_first = |ttl: i64| total.is_none_or(|total| ready.saturating_add(ttl) <= row.created_at.saturating_add(total));
        Ok(match (ttl, total) {
            (Some(ttl), _) if comes_first(ttl) => Late::Ttl(ttl),
            (_, Some(total)) => Late::Total(total),
            _ => Late::Expired,
        })
    }

    fn timed_out(&self, kind: TimeoutKind, limit: i64, since: i64) -> JobError {
        let elapsed = self.now.as_millis().saturating_sub(since);
        let millis = |ms: i64| u64::try_from(ms).unwrap_or(0);
        JobError::timed_out(kind, millis(limit), millis(elapsed))
    }

    fn emit_timeout(&mut self, event: &str, row: &JobRow, error: &JobError) -> Stored<()> {
        let mut extra = format!("\"attempt\":{}", row.attempt);
        if let (Some(kind), Some((limit, elapsed))) = (error.timeout_kind, error.timeout_ms) {
            json::push_text(&mut extra, "timeout_kind", kind.as_str());
            json::push_bare(&mut extra, "limit_seconds", as_seconds(limit));
            json::push_bare(&mut extra, "elapsed_seconds", as_seconds(elapsed));
        }
        let _ = write!(extra, ",\"error\":{}", brief(error));
        self.emit(event, row, &extra)
    }
}

fn expired() -> JobError {
    JobError::engine(ErrorCode::Expired, "The job expired before it was started.")
}
