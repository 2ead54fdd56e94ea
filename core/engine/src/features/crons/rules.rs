//! Cron: entries that are due become jobs, once per tick. Overlap is judged before uniqueness (interactions, section 13).
use std::collections::BTreeMap;

use ojs_model::cron::CronSchedule;
use ojs_model::{ErrorCode, JobId, NewJob, OjsError, Timestamp, json};
use serde_json::value::RawValue;

use crate::error::{Applied, StoreError};
use crate::features::crons::records::{CronRow, Overlap};
use crate::kernel::emit::job_type_of;
use crate::kernel::enqueue::Link;
use crate::kernel::job::{JobRow, JobView};
use crate::kernel::part::Part;
use crate::kernel::transaction::Transaction;
use crate::kernel::view::visible_view;
use crate::spans::step;

/// Most jobs that wait for an earlier one to end: a job that never ends must not pile up work for years.
pub(super) const MAX_WAITING: i64 = 100;

impl Transaction<'_> {
    /// Registers an entry; an existing one of the name is replaced, its history kept. Says whether there was one.
    pub(crate) fn put_cron(&mut self, new: &CronRow) -> Applied<(CronRow, bool)> {
        let known = self.tables.cron(&new.name)?;
        let mut row = new.clone();
        if let Some(known) = &known {
            (row.created_at, row.run_count, row.last_at) = (known.created_at, known.run_count, known.last_at);
            (row.last_job, row.waiting) = (known.last_job, known.waiting);
        }
        self.aim(&mut row, self.now)?;
        let job = NewJob::parse_signed_of(&row.template, self.now, row.tenant())?;
        self.judge(&job.job_type, &job.body)?;
        self.tables.put_cron(&row)?;
        Ok((row, known.is_some()))
    }

    pub(crate) fn switch_cron(&mut self, name: &str, enabled: bool) -> Applied<CronRow> {
        let mut row = self.known_cron(name)?;
        row.enabled = enabled;
        self.aim(&mut row, self.now)?;
        self.tables.put_cron(&row)?;
        Ok(row)
    }

    pub(crate) fn delete_cron(&mut self, name: &str) -> Applied<CronRow> {
        let row = self.known_cron(name)?;
        self.tables.delete_cron(name)?;
        Ok(row)
    }

    fn known_cron(&mut self, name: &str) -> Applied<CronRow> {
        let row = self.tables.cron(name)?;
        row.filter(|row| row.is_seen(&self.tables.names().scope)).ok_or_else(|| OjsError::not_found("cron", name).into())
    }

    /// Sets the next time.
    fn aim(&mut self, row: &mut CronRow, after: Timestamp) -> Result<(), OjsError> {
        let schedule = CronSchedule::parse(&row.expression, &row.timezone)?;
        let next = if row.enabled { schedule.next(after) } else { None };
        row.next_at = next.map_or(0, Timestamp::as_millis);
        Ok(())
    }

    /// Fires what is due. After a pause of the server each entry fires once and goes on with the next future time.
    pub(crate) fn fire_crons(&mut self) -> Applied<()> {
        for mut row in self.tables.due_crons(self.now.as_millis())? {
            if !self.takes_cron(&row.name) {
                continue;
            }
            let _span = step!("ojs.cron.trigger", ojs.cron.name = row.name);
            let previous = self.going_on(&row)?;
            if row.next_at > 0 && row.next_at <= self.now.as_millis() {
                let due = Timestamp::from_millis(row.next_at);
                self.aim(&mut row, self.now)?;
                self.tick(&mut row, previous.as_ref(), due)?;
                self.tables.put_cron(&row)?;
            } else if row.waiting > 0 && previous.is_none() {
                row.waiting -= 1;
                self.fire(&mut row, self.now, false)?;
                self.tables.put_cron(&row)?;
            }
        }
        Ok(())
    }

    /// The latest job of the entry, while it has not ended.
    fn going_on(&mut self, row: &CronRow) -> Result<Option<JobRow>, StoreError> {
        let Some(id) = row.last_job else { return Ok(None) };
        Ok(self.tables.row(id)?.filter(|job| !job.state.is_terminal()))
    }

    fn tick(&mut self, row: &mut CronRow, previous: Option<&JobRow>, due: Timestamp) -> Result<(), StoreError> {
        match (row.overlap, previous) {
            (Overlap::Skip, Some(job)) => self.emit_skipped(row, "overlap_skip", Some(job.id)),
            (Overlap::Enqueue, Some(job)) => {
                if row.waiting >= MAX_WAITING {
                    self.emit_skipped(row, "overlap_skip", Some(job.id))?;
                } else {
                    row.waiting += 1;
                }
                Ok(())
            }
            (Overlap::CancelPrevious, Some(job)) => {
                self.withdraw(job, "\"reason\":\"replaced by a later cron run\"")?;
                self.fire(row, due, true)
            }
            _ => self.fire(row, due, false),
        }
    }

    /// Enqueues a job from the template.
    fn fire(&mut self, row: &mut CronRow, due: Timestamp, replaces: bool) -> Result<(), StoreError> {
        let request = stamped(row, due);
        let mut job = match NewJob::parse_signed_of(&request, self.now, row.tenant()) {
            Ok(job) => job,
            Err(error) => {
                tracing::error!(cron = row.name, %error, "the template of a cron entry is no longer valid");
                return self.emit_skipped(row, "invalid_template", None);
            }
        };
        if replaces {
            // The job that it replaces has just been cancelled for it.
            job.unique = None;
        }
        let judged = |transaction: &mut Self| {
            transaction.judge(&job.job_type, &job.body)?;
            transaction.place_step(&job, Link::default())
        };
        match self.part(Part::Cron(row.name.as_str().into()), judged) {
            Ok(()) => {}
            Err(refusal) => {
                let error = refusal.into_error()?;
                tracing::info!(cron = row.name, %error, "a cron run was not enqueued");
                let duplicate = error.code == ErrorCode::Duplicate.as_str();
                self.emit_skipped(row, if duplicate { "unique_conflict" } else { &error.code }, None)?;
                return Ok(());
            }
        }
        self.note_run(row, &job, due)
    }

    /// Runs an entry now, whether it is enabled or not. Its next time stays.
    pub(crate) fn run_cron(&mut self, name: &str) -> Applied<JobView> {
        let mut row = self.known_cron(name)?;
        let previous = self.going_on(&row)?;
        let replaces = match (row.overlap, &previous) {
            (Overlap::Skip | Overlap::Enqueue, Some(job)) => return Err(still_going_on(&row, job).into()),
            (Overlap::CancelPrevious, Some(job)) => {
                self.withdraw(job, "\"reason\":\"replaced by a later cron run\"")?;
                true
            }
            _ => false,
        };
        let mut job = NewJob::parse_signed_of(&stamped(&row, self.now), self.now, row.tenant())?;
        if replaces {
            // The job that it replaces has just been cancelled for it.
            job.unique = None;
        }
        self.judge(&job.job_type, &job.body)?;
        self.place_step(&job, Link::default())?;
        self.note_run(&mut row, &job, self.now)?;
        self.tables.put_cron(&row)?;
        visible_view(self.tables, job.id)
    }

    fn note_run(&mut self, row: &mut CronRow, job: &NewJob, due: Timestamp) -> Result<(), StoreError> {
        row.run_count += 1;
        row.last_at = self.now.as_millis();
        row.last_job = Some(job.id);
        let mut extra = self.cron_extra(row);
        json::push_text(&mut extra, "job_type", &job.job_type);
        json::push_text(&mut extra, "job_id", &job.id.to_string());
        json::push_time(&mut extra, "scheduled_at", due);
        json::push_bare(&mut extra, "run_count", row.run_count);
        let tenant = self.tenant_of_cron(row)?;
        self.journal.of_tenant(tenant, "cron.triggered", self.now, row.own_name(), &extra);
        Ok(())
    }

    /// Number of its tenant.
    fn tenant_of_cron(&mut self, row: &CronRow) -> Result<i64, StoreError> {
        row.tenant().map_or(Ok(0), |id| self.tables.tenant_wanted(id))
    }

    fn emit_skipped(&mut self, row: &CronRow, reason: &str, existing: Option<JobId>) -> Result<(), StoreError> {
        let mut extra = self.cron_extra(row);
        json::push_text(&mut extra, "job_type", &job_type_of(&row.template).unwrap_or_default());
        json::push_text(&mut extra, "reason", reason);
        if let Some(id) = existing {
            json::push_text(&mut extra, "existing_job_id", &id.to_string());
        }
        let tenant = self.tenant_of_cron(row)?;
        self.journal.of_tenant(tenant, "cron.skipped", self.now, row.own_name(), &extra);
        Ok(())
    }

    fn cron_extra(&self, row: &CronRow) -> String {
        let mut extra = String::new();
        json::push_text(&mut extra, "cron_name", row.own_name());
        json::push_text(&mut extra, "cron_expr", &row.expression);
        extra
    }
}

/// What the overlap policy of an entry forbids.
fn still_going_on(row: &CronRow, job: &JobRow) -> OjsError {
    let (name, policy, state) = (row.own_name(), row.overlap.as_str(), job.state.as_str());
    let message = format!("The latest job of cron entry '{name}' is {state}, and its overlap policy is {policy}.");
    let details = serde_json::json!({"cron_name": name, "existing_job_id": job.id.to_string(), "overlap_policy": policy});
    let hint = "Wait for that job or cancel it; the overlap policy allow runs jobs beside each other.";
    OjsError::new(ErrorCode::Conflict, message).with_details(details).with_hint(hint)
}

/// The template with `meta.cron_name` and `meta.cron_triggered_at`.
fn stamped(row: &CronRow, due: Timestamp) -> String {
    type Members<'a> = BTreeMap<&'a str, &'a RawValue>;
    let own = |text: String| RawValue::from_string(text).ok();
    let mut name = String::new();
    json::push_string(&mut name, row.own_name());
    let (Some(name), Some(at)) = (own(name), own(format!("\"{due}\""))) else { return row.template.clone() };
    let Ok(mut template) = serde_json::from_str::<Members<'_>>(&row.template) else { return row.template.clone() };
    let mut meta: Members<'_> = template.get("meta").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    meta.insert("cron_name", &name);
    meta.insert("cron_triggered_at", &at);
    let Ok(meta) = serde_json::value::to_raw_value(&meta) else { return row.template.clone() };
    template.insert("meta", &meta);
    serde_json::to_string(&template).unwrap_or_else(|_| row.template.clone())
}
