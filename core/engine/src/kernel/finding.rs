//! Findings of an audit, and the part of the audit that a store does.
use std::fmt;

use ojs_model::JobId;

use crate::error::Result;

/// Findings that one audit keeps; more are only counted. A damaged store may have one for every job.
pub const MAX_FINDINGS: usize = 1_000;

/// One contradiction between the rows of a store.
///
/// ```
/// use ojs_engine::audit::Finding;
/// let finding = Finding {
///     check: "queue_counts",
///     subject: "queue 'mail'".into(),
///     what: "jobs that are available".into(),
///     expected: "3".into(),
///     found: "2".into(),
/// };
/// assert_eq!(finding.to_string(), "queue_counts: queue 'mail': jobs that are available: expected 3, found 2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the check, such as `queue_counts`.
    pub check: &'static str,
    /// The row, with its kind and its id: `job 0198…`, `queue 'mail'`.
    pub subject: String,
    /// What was compared.
    pub what: String,
    /// The value that follows from the other rows.
    pub expected: String,
    /// The value in this row.
    pub found: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { check, subject, what, expected, found } = self;
        write!(f, "{check}: {subject}: {what}: expected {expected}, found {found}")
    }
}

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audited {
    /// Number of jobs examined.
    pub jobs: u64,
    /// The first [`MAX_FINDINGS`] contradictions; none in a sound store.
    pub findings: Vec<Finding>,
    /// How many there are in all.
    pub total: u64,
}

impl Audited {
    /// Whether the store is sound.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.total == 0
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, finding: Finding) {
        self.total += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }
}

/// Comparisons that only a store can make: of its own indexes, and of rows that nothing points to.
#[derive(Debug, Default)]
pub struct StoreAudit {
    /// The contradictions.
    pub findings: Vec<Finding>,
    /// Pairs of jobs with the same uniqueness key that have both not ended, the older one first.
    pub same_key: Vec<(JobId, JobId)>,
}

/// The part of an audit that a store does itself.
pub trait AuditTables {
    /// Compares indexes with rows, and looks for rows that nothing else points to: at most `most` findings of each
    /// kind.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn audit(&mut self, most: usize) -> Result<StoreAudit>;
}

/// One statement of the audit of an SQL store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Name of the check.
    pub check: &'static str,
    /// What is compared.
    pub what: &'static str,
    /// The statement: its only parameter is the largest number of rows.
    pub sql: &'static str,
}

/// The statements of a file. Each begins with a line `-- check NAME: WHAT`.
pub fn statements(file: &'static str) -> impl Iterator<Item = Statement> {
    file.split("\n-- check ").skip(1).filter_map(|part| {
        let (head, sql) = part.split_once('\n')?;
        let (check, what) = head.split_once(": ")?;
        Some(Statement { check, what, sql: sql.trim().trim_end_matches(';') })
    })
}

/// The name of the statement whose rows are pairs of ids, not findings.
pub const SAME_KEY: &str = "same_key";
