//! The two changes that nearly every job goes through, claim and completion: each has a statement that writes only what it changes.
//!
//! Claims are filed (see migration 4), so that the deadline of a job that ends soon never enters an index.
use ojs_model::JobState;

use super::connection::Ask;
use super::params::Param;
use super::rows::{Columns, bits};
use crate::kernel::job::JobRow;

/// How long a claim stays filed as a batch. Most jobs have ended by then; the deadlines of the others are indexed.
const FILED_MS: i64 = 2_000;

/// Claims and completions of a transaction.
#[derive(Debug)]
pub struct Moves {
    /// Number, attempt, lease, worker, deadline, length and end of the lease, end of the attempt; the lease before.
    claims: Columns<9>,
    claimed_at: i64,
    /// When the batch must be taken apart.
    until: i64,
    /// Number and lease.
    completions: Columns<2>,
    completed_at: i64,
}

impl Default for Moves {
    fn default() -> Self {
        Self {
            claims: Columns::with_capacity(0),
            claimed_at: 0,
            until: i64::MAX,
            completions: Columns::with_capacity(0),
            completed_at: 0,
        }
    }
}

impl Moves {
    /// Takes a change if it is one of the two and nothing else.
    pub fn take(&mut self, before: &JobRow, after: &JobRow) -> bool {
        match (before.state, after.state) {
            (JobState::Available, JobState::Active) => self.take_claim(before, after),
            (JobState::Active, JobState::Completed) => self.take_completion(before, after),
            _ => false,
        }
    }

    fn take_claim(&mut self, before: &JobRow, after: &JobRow) -> bool {
        let claimed = JobRow {
            state: after.state,
            attempt: after.attempt,
            lease: after.lease,
            worker: after.worker,
            sort_key: after.sort_key,
            lease_ms: after.lease_ms,
            lease_until: after.lease_until,
            deadline: after.deadline,
            started_at: after.started_at,
            expires_at: 0,
            ..before.clone()
        };
        let at = if self.claims.is_empty() { after.started_at } else { self.claimed_at };
        // Jobs with a limit are counted while they run, by their place.
        if claimed != *after || after.started_at != at || after.limit != 0 {
            return false;
        }
        self.claimed_at = at;
        self.until = self.until.min(after.sort_key).min(at.saturating_add(FILED_MS));
        self.claims.push([
            after.seq,
            bits(after.attempt),
            after.lease,
            after.worker,
            after.sort_key,
            after.lease_ms,
            after.lease_until,
            after.deadline,
            before.lease,
        ]);
        true
    }

    fn take_completion(&mut self, before: &JobRow, after: &JobRow) -> bool {
        let completed = JobRow {
            state: after.state,
            worker: 0,
            sort_key: after.finished_at,
            finished_at: after.finished_at,
            ..before.clone()
        };
        let at = if self.completions.is_empty() { after.finished_at } else { self.completed_at };
        if completed != *after || after.finished_at != at {
            return false;
        }
        self.completed_at = at;
        self.completions.push([after.seq, before.lease]);
        true
    }

    /// Job numbers of the claims: what is filed.
    pub fn claimed(&self) -> &[i64] {
        let [seqs, ..] = &self.claims.0;
        &seqs.0
    }

    /// The statements.
    pub fn asks(&self) -> impl Iterator<Item = Ask<'_>> {
        let [seqs, rest @ ..] = &self.claims.0;
        let claims = (!self.claims.is_empty()).then(|| {
            let mut columns: Vec<&dyn Param> = vec![seqs, &self.claimed_at];
            columns.extend(rest.iter().map(|column| column as &dyn Param));
            [Ask::new(sql!("file_claims"), &[&self.until, seqs]), Ask::with(sql!("claim_runs"), columns)]
        });
        let completions = (!self.completions.is_empty()).then(|| {
            let [seqs, leases] = &self.completions.0;
            Ask::new(sql!("complete_runs"), &[&self.completed_at, seqs, leases])
        });
        claims.into_iter().flatten().chain(completions)
    }

    /// How many rows each statement must change.
    pub fn expected(&self, sql: &str) -> Option<usize> {
        let known = [(sql!("claim_runs"), self.claims.len()), (sql!("complete_runs"), self.completions.len())];
        known.into_iter().find(|(own, _)| *own == sql).map(|(_, rows)| rows)
    }
}
