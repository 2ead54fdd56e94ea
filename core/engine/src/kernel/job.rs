//! A job as stores keep it: a small row that changes, a body that never does, a history written only on failure.
use std::sync::Arc;

use ojs_model::{JobId, JobState};

use crate::features::trains::records::TrainPlace;
use crate::kernel::holds::Holds;
use crate::store::row::row;

/// Bits of [`JobRow::flags`].
pub mod flag {
    /// Listed as a dead letter.
    pub const DEAD: u32 = 1;
    /// Discarded by expiry, not by failure.
    pub const EXPIRED: u32 = 2;
    /// The newest entry of the history is the job's current `error`.
    pub const ERROR: u32 = 4;
    /// The history holds a result.
    pub const RESULT: u32 = 8;
    /// The history holds errors.
    pub const ERRORS: u32 = 16;
    /// The job has a `total_timeout`.
    pub const TOTAL: u32 = 32;
    /// The job has a `heartbeat_timeout`.
    pub const STALLS: u32 = 64;
    /// The job has an `enqueue_ttl`.
    pub const TTL: u32 = 128;
    /// The job has a `result_ttl` of its own.
    pub const RESULT_TTL: u32 = 256;
    /// The history held a result, which has been pruned.
    pub const PRUNED: u32 = 512;
    /// `meta` carries a trace.
    pub const TRACED: u32 = 1024;
    /// The job names a train.
    pub const TRAIN: u32 = 1 << 11;
    /// The job has a place in its train: a record of `train_cars`.
    pub const CAR: u32 = 1 << 12;
    /// The job is pending because others of its train come first.
    pub const WAITS: u32 = 1 << 13;
    /// A job of a train that its client staged (`pending`): it must be activated when its turn has come.
    pub const STAGED: u32 = 1 << 14;
    /// The train is held when this job is cancelled.
    pub const HOLD_CANCELLED: u32 = 1 << 15;
    /// The train is held when this job is discarded.
    pub const HOLD_DISCARDED: u32 = 1 << 16;
    /// The job leaves its train at once when it is cancelled while it is active.
    pub const LEAVES_ACTIVE: u32 = 1 << 17;
    /// The job has, or had, a checkpoint.
    pub const CHECKPOINT: u32 = 1 << 18;
    /// The checkpoint goes when the job ends.
    pub const CHECKPOINT_ENDS: u32 = 1 << 19;
    /// An attempt of the job has reported progress.
    pub const PROGRESS: u32 = 1 << 20;
    /// The history of the job was deleted: a record of `history_cuts` says up to when.
    pub const CUT: u32 = 1 << 21;
}

/// Tickets begin with the time: room for a million entries a millisecond.
pub const TICKETS_PER_MILLI: i64 = 1 << 20;

row! {
    /// The part of a job that changes. Times are milliseconds since the epoch; 0 is "never".
    #[derive(Debug, Clone, PartialEq)]
    pub struct JobRow in "jobs" {
        key {
            /// Insertion number within the store.
            pub seq: i64,
        }
        fixed {
            /// The job's id.
            pub id: JobId,
            /// Number of the job type's name.
            pub job_type_id: i64 as "kind",
            /// Acceptance.
            pub created_at: i64,
            /// Number of the workflow it is a step of; 0 for none.
            pub workflow: i64,
            /// Which step.
            pub step: i64,
            /// Number of the key whose limits it shares; 0 for none.
            pub limit: i64 as "limited",
            /// The rank of its version, plus 1; 0 when it has none.
            pub version: i64,
            /// Number of its tenant; 0 for the default one.
            pub tenant: i64,
        }
        moved {
            /// Number of the queue's name.
            pub queue: i64,
            /// Higher first.
            pub priority: i32 as "nprio" from rank to priority_of,
            /// Effective `retry.max_attempts`.
            pub max_attempts: u32,
            /// While it is available in a queue that is shared: the key of its line there (`features/fair`), at least
            /// 1; 0 in any other queue.
            pub fair: i64,
        }
        changing {
            /// One of the eight states.
            pub state: JobState,
            /// The sort key of the state's index: a ticket (available), the due time (scheduled, retryable,
            /// pending), the next deadline (active), the end (terminal).
            pub sort_key: i64 as "pos",
            /// Number of the holder's worker id, 0 when it named none.
            pub worker: i64,
        }
        ending {
            /// Last entry into `available`.
            pub enqueued_at: i64,
            /// Entry into a terminal state.
            pub finished_at: i64,
            /// While it waits: when it is discarded if it has not started. Once it has completed: when the result is
            /// removed. Else 0.
            pub expires_at: i64,
            /// See [`flag`].
            pub flags: u32,
        }
        later {
            /// Claims so far.
            pub attempt: u32,
            /// Claims that were given back and do not count as attempts.
            pub releases: u32,
            /// Token of the latest claim; larger for every later claim of the store.
            pub lease: i64,
            /// Length of the lease: what a heartbeat restores.
            pub lease_ms: i64,
            /// End of the lease.
            pub lease_until: i64,
            /// End of the attempt's execution time.
            pub deadline: i64,
            /// Start of the latest attempt.
            pub started_at: i64,
            /// Activation of a pending job.
            pub activated_at: i64,
            /// Delay computed for the latest retry, milliseconds.
            pub retry_delay: i64,
        }
    } and {
        /// The reasons why it is not handed out although it is available.
        pub holds: Holds = holds_of(priority),
    }
}

/// The priority of a job with this rank: see [`JobRow::rank`].
fn priority_of(rank: i32) -> i32 {
    Holds::of_rank(rank).1
}

/// The reasons that hold a job with this rank.
fn holds_of(rank: i32) -> Holds {
    Holds::of_rank(rank).0
}

impl JobRow {
    /// Attempts that count: claims minus those given back.
    #[must_use]
    pub fn charged(&self) -> u32 {
        self.attempt.saturating_sub(self.releases)
    }

    /// First sort key of a queue's line: minus the priority; jobs with a reason, or with a version, come after all
    /// others.
    #[must_use]
    pub fn rank(&self) -> i32 {
        self.holds.rank(self.priority)
    }

    /// Whether the job can be handed out once it is available. A job with a version has the bit [`Holds::VERSION`],
    /// and one in the line of a key the bit [`Holds::FAIR_SHARE`]; these alone do not hold it.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.holds == self.line().holds()
    }

    /// The line of the job while it is available.
    #[must_use]
    pub const fn line(&self) -> Line {
        let is_fair = self.fair > 0;
        if self.version == 0 {
            return Line { is_fair, ..Line::of_queue(self.queue) };
        }
        Line { queue: self.queue, job_type_id: self.job_type_id, version: self.version, is_fair }
    }

    /// Whether a flag is set.
    #[must_use]
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// A line of available jobs. Each queue has one for jobs without a version, and one for each version of a job type;
/// each of them once for jobs in the lines of keys (`features/fair`) and once for all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// Number of the queue.
    pub queue: i64,
    /// Number of the job type; 0 in the line of jobs without a version.
    pub job_type_id: i64,
    /// As [`JobRow::version`].
    pub version: i64,
    /// Whether its jobs stand in the lines of keys: [`JobRow::fair`] is not 0.
    pub is_fair: bool,
}

impl Line {
    /// The line of the jobs without a version.
    #[must_use]
    pub const fn of_queue(queue: i64) -> Self {
        Self { queue, job_type_id: 0, version: 0, is_fair: false }
    }

    /// The set of reasons of the jobs in this line that are free to start.
    #[must_use]
    pub const fn holds(self) -> Holds {
        let holds = if self.version == 0 { Holds::NONE } else { Holds::VERSION };
        if self.is_fair { holds.with(Holds::FAIR_SHARE) } else { holds }
    }

    /// Whether this is the line of a job.
    #[must_use]
    pub fn has(self, row: &JobRow) -> bool {
        row.line() == self
    }
}

row! {
    /// The part of a job that never changes.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Body in "bodies" {
        changing {
            /// Members of the envelope as JSON text without braces.
            pub text: String as "body",
            /// The job's own retry policy as JSON.
            pub retry: Option<String>,
            /// Milliseconds one attempt may run; 0 is the default.
            pub timeout_ms: i64,
            /// Milliseconds of soft stop after the time-out.
            pub grace_ms: i64,
            /// Milliseconds of the lease; 0 is the default.
            pub visibility_ms: i64,
        }
    }
}

row! {
    /// Errors and result of a job.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct History in "histories" {
        changing {
            /// JSON array of error entries, oldest first; empty when none.
            pub errors: String,
            /// JSON text of the result; empty when none.
            pub result: String,
        }
    }
}

/// A job with everything needed to print it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    /// The changing part.
    pub row: JobRow,
    /// The fixed part.
    pub body: Body,
    /// Errors and result.
    pub history: History,
    /// Name of the queue.
    pub queue: Arc<str>,
    /// Name of the holder.
    pub worker: Option<Arc<str>>,
    /// Its place in its train.
    pub train: Option<Box<TrainPlace>>,
    /// What features add when the job is handed out: members as JSON text without braces.
    pub delivered: String,
}
