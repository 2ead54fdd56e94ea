//! A cron entry as stores keep it.
use ojs_model::JobId;

use crate::error::Result;

/// What happens when an entry is due and its last job has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Overlap {
    /// No new job.
    Skip = 0,
    /// A new job beside it.
    Allow = 1,
    /// The last job is cancelled.
    CancelPrevious = 2,
    /// A new job as soon as it has ended.
    Enqueue = 3,
}

impl Overlap {
    const ALL: [Self; 4] = [Self::Skip, Self::Allow, Self::CancelPrevious, Self::Enqueue];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Allow => "allow",
            Self::CancelPrevious => "cancel_previous",
            Self::Enqueue => "enqueue",
        }
    }

    /// Reads a word, the other vocabulary included.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "cancel" | "replace" => Some(Self::CancelPrevious),
            "queue" => Some(Self::Enqueue),
            _ => Self::ALL.into_iter().find(|overlap| overlap.as_str() == word),
        }
    }

    /// The policy of a stored number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// A cron entry. Times are milliseconds since the epoch; 0 is "never".
#[derive(Debug, Clone, PartialEq)]
pub struct CronRow {
    /// Its name: unique.
    pub name: String,
    /// When it fires.
    pub expression: String,
    /// On which wall clock: an IANA name.
    pub timezone: String,
    /// What happens when the last job has not ended.
    pub overlap: Overlap,
    /// Whether it fires at all.
    pub enabled: bool,
    /// For people.
    pub description: Option<String>,
    /// Enqueue request of its jobs.
    pub template: String,
    /// First registration.
    pub created_at: i64,
    /// Next time; 0 when disabled or when there is none.
    pub next_at: i64,
    /// Latest time it fired.
    pub last_at: i64,
    /// Jobs created.
    pub run_count: i64,
    /// Latest job.
    pub last_job: Option<JobId>,
    /// Jobs that wait for the latest one to end ([`Overlap::Enqueue`]).
    pub waiting: i64,
}

/// Rows of cron entries. Part of [`Tables`](crate::store::tables::Tables).
pub trait CronTables {
    /// One entry.
    fn cron(&mut self, name: &str) -> Result<Option<CronRow>>;
    /// All entries by name.
    fn crons(&mut self) -> Result<Vec<CronRow>>;
    /// Writes an entry, new or known.
    fn put_cron(&mut self, row: &CronRow) -> Result<()>;
    /// Deletes an entry.
    fn delete_cron(&mut self, name: &str) -> Result<()>;
    /// Entries that are due, or that have jobs waiting for another that has ended.
    fn due_crons(&mut self, now: i64) -> Result<Vec<CronRow>>;
}
