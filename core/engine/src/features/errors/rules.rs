//! Notes failed attempts.
use ojs_model::{JobError, JobState};

use crate::error::Result;
use crate::features::errors::records::{ErrorRow, MAX_MESSAGE, fingerprint};
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;

impl Transaction<'_> {
    /// Notes the error of an attempt. A time-out of a waiting job belongs to no attempt and is
    /// not noted.
    pub(crate) fn note_error(&mut self, row: &JobRow, error: &JobError) -> Result<()> {
        if row.state != JobState::Active {
            return Ok(());
        }
        let (at, tenant) = (self.now.as_millis(), row.tenant);
        let queue = self.tables.queue_by_num(row.queue)?.name.to_string();
        let job_type = self.tables.job_type_name(row.job_type_id)?.to_string();
        let fingerprint = fingerprint(&error.kind, &error.message);
        self.features.errors.push(ErrorRow {
            id: ErrorRow::id_of(tenant, &fingerprint, &queue, &job_type),
            tenant,
            fingerprint,
            queue,
            job_type,
            error_type: kept(&error.kind),
            message: kept(&error.message),
            first_at: at,
            last_at: at,
            count: 1,
            jobs: vec![row.id],
        });
        Ok(())
    }
}

/// The beginning of a text, without NUL, which PostgreSQL does not store.
fn kept(text: &str) -> String {
    text.chars().take(MAX_MESSAGE).map(|c| if c == '\0' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
