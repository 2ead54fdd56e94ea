//! The eight states of a job and every legal way between them.
//!
//! | # | from | to | trigger |
//! |---|---|---|---|
//! | 1 | – | available | `Enqueue` |
//! | 2 | – | scheduled | `Schedule` |
//! | 3 | – | pending | `Stage` |
//! | 4 | scheduled | available | `Promote` |
//! | 5 | pending | available, scheduled | `Activate` |
//! | 6 | available | active | `Fetch` |
//! | 7 | active | completed | `Ack` |
//! | 8 | active | retryable | `Fail` |
//! | 9 | active | discarded | `Exhaust` |
//! | 10 | active | available | `Release` |
//! | 11, 13 | any non-terminal | cancelled | `Cancel` |
//! | 12 | retryable | available | `Promote` |
//! | 14, 15 | scheduled, available, pending, retryable | discarded | `Expire` |
//! | 16 | discarded | available, pending | `Replay` |
//! | 17 | available | pending | `Stage` |
//!
//! The table below is [`TRANSITIONS`]; the tests walk every pair of states and every trigger against it.
use std::fmt;
use std::str::FromStr;

/// One of the eight states (protocol section 2.1). The numbers are what stores keep: never change them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum JobState {
    /// Waiting for `scheduled_at`.
    Scheduled = 0,
    /// Ready to be fetched.
    Available = 1,
    /// Staged until it is activated.
    Pending = 2,
    /// Leased to a worker.
    Active = 3,
    /// Completed: terminal.
    Completed = 4,
    /// Failed, waiting for its back-off.
    Retryable = 5,
    /// Cancelled: terminal.
    Cancelled = 6,
    /// Failed for good, or expired: terminal, but for a dead-letter retry.
    Discarded = 7,
}

/// What moves a job from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table in the module documentation explains each")]
pub enum Trigger {
    Enqueue,
    Schedule,
    Stage,
    Promote,
    Activate,
    Fetch,
    Ack,
    Fail,
    Exhaust,
    Release,
    Cancel,
    Expire,
    Replay,
}

/// Every legal transition; `None` is "does not exist yet". All others are refused with 409.
pub const TRANSITIONS: &[(Option<JobState>, Trigger, JobState)] = {
    use JobState::{Active, Available, Cancelled, Completed, Discarded, Pending, Retryable, Scheduled};
    &[
        (None, Trigger::Enqueue, Available),
        (None, Trigger::Schedule, Scheduled),
        (None, Trigger::Stage, Pending),
        (Some(Scheduled), Trigger::Promote, Available),
        (Some(Pending), Trigger::Activate, Available),
        (Some(Pending), Trigger::Activate, Scheduled),
        (Some(Available), Trigger::Fetch, Active),
        (Some(Available), Trigger::Schedule, Scheduled),
        (Some(Active), Trigger::Ack, Completed),
        (Some(Active), Trigger::Fail, Retryable),
        (Some(Active), Trigger::Exhaust, Discarded),
        (Some(Active), Trigger::Release, Available),
        (Some(Active), Trigger::Cancel, Cancelled),
        (Some(Retryable), Trigger::Promote, Available),
        (Some(Scheduled), Trigger::Cancel, Cancelled),
        (Some(Available), Trigger::Cancel, Cancelled),
        (Some(Pending), Trigger::Cancel, Cancelled),
        (Some(Retryable), Trigger::Cancel, Cancelled),
        (Some(Scheduled), Trigger::Expire, Discarded),
        (Some(Available), Trigger::Expire, Discarded),
        (Some(Pending), Trigger::Expire, Discarded),
        (Some(Retryable), Trigger::Expire, Discarded),
        (Some(Discarded), Trigger::Replay, Available),
        // Both of a job that waits for others of its train (extensions section 30).
        (Some(Discarded), Trigger::Replay, Pending),
        (Some(Available), Trigger::Stage, Pending),
    ]
};

impl JobState {
    /// All eight, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Scheduled,
        Self::Available,
        Self::Pending,
        Self::Active,
        Self::Completed,
        Self::Retryable,
        Self::Cancelled,
        Self::Discarded,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Available => "available",
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Retryable => "retryable",
            Self::Cancelled => "cancelled",
            Self::Discarded => "discarded",
        }
    }

    /// The state of a stored number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// True when only a dead-letter retry can move the job on.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Discarded)
    }

    /// Whether `trigger` may move a job from this state to `to`.
    #[must_use]
    pub fn allows(self, trigger: Trigger, to: Self) -> bool {
        TRANSITIONS.contains(&(Some(self), trigger, to))
    }

    /// Whether `trigger` may move a job out of this state at all.
    #[must_use]
    pub fn accepts(self, trigger: Trigger) -> bool {
        TRANSITIONS.iter().any(|(from, by, _)| *from == Some(self) && *by == trigger)
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The word is not the name of a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown job state '{0}'")]
pub struct UnknownState(pub String);

impl FromStr for JobState {
    type Err = UnknownState;

    /// `dead` is read as `discarded` (extension interactions, section 10).
    fn from_str(word: &str) -> Result<Self, UnknownState> {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == word);
        known.or((word == "dead").then_some(Self::Discarded)).ok_or_else(|| UnknownState(word.to_owned()))
    }
}

impl serde::Serialize for JobState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for JobState {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}
