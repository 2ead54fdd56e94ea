//! Turns rows that an application has inserted by plain SQL into jobs.
use ojs_model::state::Trigger;
use ojs_model::unique::OnConflict;
use ojs_model::{ErrorCode, JobError, JobState, NewJob, OjsError, envelope};
use serde_json::value::RawValue;

use crate::error::Applied;
use crate::kernel::enqueue::Link;
use crate::kernel::job::flag;
use crate::kernel::part::Part;
use crate::kernel::transaction::Transaction;
use crate::store::rows::RawJob;

/// Rows that one slice of a sweep imports.
const SLICE: usize = 500;

/// An enqueue request made of a row.
#[derive(serde::Serialize)]
struct Request<'a> {
    id: String,
    #[serde(rename = "type")]
    job_type: &'a str,
    args: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
    queue: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a RawValue>,
}

impl Transaction<'_> {
    /// Imports the rows that were committed since the last call.
    pub(crate) fn import(&mut self) -> Applied<()> {
        for raw in self.tables.raw_jobs(SLICE, &self.queues_aside())? {
            self.takes_queue(&raw.queue.as_str().into());
            let placed = match self.request(&raw, true, None) {
                Ok(job) => self.part(Part::Inserted(raw.id), |transaction| transaction.import_job(&job)),
                Err(error) => Err(error.into()),
            };
            match placed {
                Ok(()) => {}
                Err(refusal) => self.import_refused(&raw, &refusal.into_error()?)?,
            }
        }
        Ok(())
    }

    fn request(&self, raw: &RawJob, whole: bool, tenant: Option<&str>) -> Result<NewJob, OjsError> {
        let part = |text: &str| RawValue::from_string(text.to_owned());
        let parts = || -> serde_json::Result<String> {
            let meta = raw.meta.as_deref().filter(|_| whole).map(part).transpose()?;
            let options = raw.options.as_deref().filter(|_| whole).map(part).transpose()?;
            serde_json::to_string(&Request {
                id: raw.id.to_string(),
                job_type: &raw.job_type,
                args: &part(&raw.args)?,
                meta: meta.as_deref(),
                queue: &raw.queue,
                options: options.as_deref(),
            })
        };
        let text = parts()
            .map_err(|error| OjsError::new(ErrorCode::InvalidPayload, format!("The inserted row is not JSON: {error}.")))?;
        NewJob::parse_of(&text, self.now, None, tenant)
    }

    fn import_job(&mut self, job: &NewJob) -> Applied<()> {
        self.judge(&job.job_type, &job.body)?;
        if let Some(policy) =
            job.unique.as_ref().filter(|policy| matches!(policy.on_conflict, OnConflict::Reject | OnConflict::Ignore))
            && let Some(existing) = self.conflicting(policy)?
        {
            return Err(crate::kernel::enqueue::not_unique(&existing, policy).into());
        }
        self.place_step(job, Link::default())
    }

    /// The application's transaction has committed, so the error cannot be returned to it: the job becomes a dead
    /// letter whose error says what was wrong.
    fn import_refused(&mut self, raw: &RawJob, refusal: &OjsError) -> Applied<()> {
        // The dead letter keeps its tenant, even if nothing else of the row can be used.
        let meta = raw.meta.as_ref().map(|meta| format!("\"meta\":{meta}"));
        let tenant = meta.and_then(|meta| envelope::tenant_in(&meta).ok().flatten());
        let job = self.request(raw, false, tenant.as_deref())?;
        self.place_step(&job, Link::default())?;
        let before = self.require(job.id)?;
        let mut row = before.clone();
        row.finished_at = self.now.as_millis();
        row.sort_key = row.finished_at;
        row.flags |= flag::DEAD;
        let mut error = JobError::engine(ErrorCode::InvalidPayload, refusal.message.clone());
        error.code = refusal.code.clone().into_owned();
        self.remember(&mut row, &error)?;
        let row = self.transition(&before, row, Trigger::Expire, JobState::Discarded)?;
        self.journal.job("job.discarded", self.now, &row, "");
        self.journal.job("job.dead_lettered", self.now, &row, "");
        Ok(())
    }
}
