//! The audit: compares the rows of a store with each other and changes nothing.
//!
//! It runs in one read transaction, so it sees one state of the store, and walks through the jobs in pages. The kernel
//! and each store have their own checks; a feature adds its checks with the member `audit` of its
//! `Feature`.
mod jobs;
mod log;
pub mod query;
mod unique;

use std::fmt::Display;

use ojs_model::JobId;

use crate::error::Result;
use crate::features::state::AuditState;
use crate::kernel::finding::{Audited, Finding};
use crate::kernel::job::{History, JobRow, flag};
use crate::store::record::{KeyPart, Record, Records, Scan};
use crate::store::rows::JobFilter;
use crate::store::tables::Tables;

/// Jobs that are read at a time.
const PAGE: usize = 500;
/// Records that a check of a feature reads at a time.
pub(crate) const RECORDS: usize = 200;
/// Findings that one statement of a store returns at most.
pub const FROM_STORE: usize = 100;

/// Looks at one job, with its errors and its result.
pub type CheckJob = fn(&mut Audit<'_>, &JobRow, &History) -> Result<()>;

/// The checks of a feature.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    /// Looks at each job, with its errors and its result.
    pub job: Option<CheckJob>,
    /// Looks at the feature's own records when all jobs have been seen.
    pub whole: Option<fn(&mut Audit<'_>) -> Result<()>>,
}

/// A running audit.
pub struct Audit<'a> {
    /// The rows, as one transaction sees them.
    pub tables: &'a mut dyn Tables,
    /// What features have counted so far.
    pub(crate) features: AuditState,
    said: Audited,
}

/// Looks at everything.
///
/// # Errors
/// When rows cannot be read at all.
pub fn run(tables: &mut dyn Tables, features: &[Checks]) -> Result<Audited> {
    let mut audit = Audit { tables, features: AuditState::default(), said: Audited::default() };
    let mut tally = jobs::Tally::default();
    let mut after = 0;
    loop {
        let page = audit.tables.jobs(&JobFilter { ascending: true, after, limit: PAGE, ..JobFilter::default() })?;
        let Some(last) = page.last().map(|row| row.seq) else { break };
        for (row, history) in audit.with_histories(page)? {
            audit.said.jobs += 1;
            audit.look_at_job(&row, &mut tally)?;
            for check in features.iter().filter_map(|checks| checks.job) {
                check(&mut audit, &row, &history)?;
            }
        }
        after = last;
    }
    audit.compare_counts(&tally)?;
    audit.compare_log()?;
    let of_store = audit.tables.audit(FROM_STORE)?;
    of_store.findings.into_iter().for_each(|finding| audit.said.add(finding));
    audit.compare_unique(&of_store.same_key)?;
    for check in features.iter().filter_map(|checks| checks.whole) {
        check(&mut audit)?;
    }
    Ok(audit.said)
}

impl Audit<'_> {
    /// Notes a contradiction.
    pub(crate) fn find(
        &mut self,
        check: &'static str,
        subject: impl Display,
        what: impl Display,
        expected: impl Display,
        found: impl Display,
    ) {
        let (subject, what) = (subject.to_string(), what.to_string());
        self.said.add(Finding { check, subject, what, expected: expected.to_string(), found: found.to_string() });
    }

    /// Notes a contradiction where two values differ.
    pub(crate) fn same<T: PartialEq + Display>(
        &mut self,
        check: &'static str,
        subject: impl Display,
        what: impl Display,
        expected: T,
        found: T,
    ) {
        if expected != found {
            self.find(check, subject, what, expected, found);
        }
    }

    /// Looks at all records of a table, a page at a time and in the order of their key. `key` gives the first column of
    /// the key, in which no two records are the same; `least` is smaller than that of any record.
    pub(crate) fn each_record<R: Record, K: KeyPart>(
        &mut self,
        least: K,
        key: impl Fn(&R) -> K,
        mut look: impl FnMut(&mut Self, &R) -> Result<()>,
    ) -> Result<()> {
        let mut after = least;
        loop {
            let page: Vec<R> = Records::of(&mut *self.tables).scan(&Scan::over(R::TABLE.key).above(&after).limit(RECORDS))?;
            let Some(last) = page.last().map(&key) else { return Ok(()) };
            for record in &page {
                look(self, record)?;
            }
            after = last;
        }
    }

    /// Errors and results of a page. Those of most jobs are empty and not read.
    fn with_histories(&mut self, page: Vec<JobRow>) -> Result<Vec<(JobRow, History)>> {
        let wanted: Vec<JobId> =
            page.iter().filter(|row| row.flags & (flag::ERRORS | flag::RESULT) != 0).map(|row| row.id).collect();
        let mut read = self.tables.outcomes(&wanted)?.into_iter().flatten().peekable();
        let mut rows = Vec::with_capacity(page.len());
        for row in page {
            let history = read.next_if(|(of, _)| of.id == row.id).map(|(_, history)| history);
            rows.push((row, history.unwrap_or_default()));
        }
        Ok(rows)
    }
}
