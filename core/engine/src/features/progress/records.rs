//! Progress as it is reported and as stores keep it.
use ojs_model::JobId;

use crate::error::Result;
use crate::store::record::{RecordTables, Records, Scan, record};

/// Silence after which an active job that has reported progress counts as stalled in the figures.
pub const STALLED_AFTER_MS: i64 = 60_000;
/// What a worker reports, or several reports of one job in one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// From 0 to 1.
    pub fraction: Option<f64>,
    /// JSON text of the application.
    pub data: Option<String>,
    /// For people.
    pub message: Option<String>,
    /// When its data was received, milliseconds.
    pub data_at: i64,
    /// When its message was received.
    pub message_at: i64,
    /// When it was received.
    pub at: i64,
}

impl Report {
    /// Received at a time.
    #[must_use]
    pub fn received(self, at: i64) -> Self {
        Self { data_at: at, message_at: at, at, ..self }
    }
}

record! {
    /// The progress of one attempt of a job. A job with a record has
    /// [`flag::PROGRESS`](crate::kernel::job::flag::PROGRESS).
    #[derive(Debug, Clone, PartialEq)]
    pub struct ProgressRow in "progress" {
        key ("job");
        index REPORTING = "progress_reporting" ("active_at") positive;
        /// The job.
        pub job: JobId,
        /// Token of the claim whose attempt it is. A record of an earlier attempt counts as none.
        pub lease: i64,
        /// From 0 to 1; `None` while only data or a message was reported.
        pub fraction: Option<f64>,
        /// JSON text of the latest report that had data.
        pub data: Option<String>,
        /// That of the latest report that had a message.
        pub message: Option<String>,
        /// When that data was reported, milliseconds.
        pub data_at: i64,
        /// When that message was reported.
        pub message_at: i64,
        /// Time of the latest report.
        pub updated_at: i64,
        /// The same while the attempt runs; 0 when it has ended.
        pub active_at: i64,
    }
}

impl ProgressRow {
    /// Of an attempt that has reported nothing.
    #[must_use]
    pub const fn fresh(job: JobId, lease: i64) -> Self {
        let (data, message, data_at, message_at) = (None, None, 0, 0);
        Self { job, lease, fraction: None, data, message, data_at, message_at, updated_at: 0, active_at: 0 }
    }

    /// Takes in a report, in whichever order reports come: of fractions the largest counts, of everything else what
    /// was reported last. Members that a report leaves out stay.
    pub fn take(&mut self, report: &Report) {
        self.fraction = match (self.fraction, report.fraction) {
            (Some(known), Some(new)) => Some(known.max(new)),
            (known, new) => known.or(new),
        };
        let data = (&mut self.data, &mut self.data_at, &report.data, report.data_at);
        let message = (&mut self.message, &mut self.message_at, &report.message, report.message_at);
        for (known, known_at, new, at) in [data, message] {
            if new.is_some() && at >= *known_at {
                known.clone_from(new);
                *known_at = at;
            }
        }
        self.updated_at = self.updated_at.max(report.at);
    }

    /// The record as one report.
    #[must_use]
    pub fn report(&self) -> Report {
        Report {
            fraction: self.fraction,
            data: self.data.clone(),
            message: self.message.clone(),
            data_at: self.data_at,
            message_at: self.message_at,
            at: self.updated_at,
        }
    }

    /// The fraction in percent, as events carry it.
    #[must_use]
    pub fn percent(&self) -> Option<u32> {
        // From 0 to 1, so from 0 to 100.
        self.fraction.map(|fraction| (fraction * 100.0).round() as u32)
    }
}

/// Progress of jobs.
pub trait ProgressTables: RecordTables {
    /// The record of a job, of whichever attempt.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn progress(&mut self, job: JobId) -> Result<Option<ProgressRow>> {
        Records::of(self).get(&job)
    }

    /// Writes a record, new or known.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_progress(&mut self, row: &ProgressRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Removes the record of a job, if there is one.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn delete_progress(&mut self, job: JobId) -> Result<()> {
        Records::<ProgressRow, _>::of(self).delete(&job)
    }

    /// How many active jobs have reported progress and then nothing for a minute.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn count_stalled(&mut self, now: i64) -> Result<usize> {
        let since = now.saturating_sub(STALLED_AFTER_MS);
        Records::<ProgressRow, _>::of(self).count(&Scan::over(ProgressRow::REPORTING).to(&since))
    }
}

impl<T: RecordTables + ?Sized> ProgressTables for T {}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(fraction: f64, message: &str, at: i64) -> Report {
        Report { fraction: Some(fraction), message: Some(message.into()), ..Report::default() }.received(at)
    }

    #[test]
    fn reports_in_any_order_give_the_same_record() {
        let reports = [report(0.2, "a", 1), report(0.7, "b", 2), report(0.5, "c", 3), Report::default().received(4)];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let mut row = ProgressRow::fresh(JobId::from_bytes([1; 16]), 1);
            order.iter().filter_map(|place| reports.get(*place)).for_each(|report| row.take(report));
            assert_eq!((row.fraction, row.message.as_deref(), row.updated_at), (Some(0.7), Some("c"), 4), "{order:?}");
            let (known, again) = (row.clone(), row.report());
            row.take(&again);
            assert_eq!(row, known, "the same report twice changes nothing");
        }
    }
}
