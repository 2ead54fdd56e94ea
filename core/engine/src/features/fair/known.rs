//! Shared queues as one transaction sees them.

/// What a transaction knows of shared queues.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Whether there are any; `None` before the first question.
    pub(super) any: Option<bool>,
    /// The `fairness_key` of the job that is about to be stored.
    pub(super) named: Option<Box<str>>,
    /// How many jobs it has brought into their lines.
    pub(super) sorted: usize,
}
