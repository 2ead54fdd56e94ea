//! Jobs enqueued by the clock.
use ojs_model::json::{push_member, push_text};
use serde_json::Value;

use crate::client::forms;
use crate::error::Error;
use crate::request::JobRequest;

/// A cron job: when, and which job.
///
/// ```
/// use ojs::{CronJob, JobRequest};
/// let cron = CronJob::new("daily-report", "0 9 * * *", JobRequest::new("report.generate", ())).timezone("Asia/Tokyo");
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct CronJob {
    name: String,
    expression: String,
    timezone: Option<String>,
    overlap: Option<Overlap>,
    job: JobRequest,
}

/// What happens when the previous run is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overlap {
    /// No new job.
    Skip,
    /// A second one beside it.
    Allow,
    /// The previous one is cancelled.
    CancelPrevious,
    /// The new one waits for the previous one.
    Enqueue,
}

impl CronJob {
    /// A cron job. The expression has five fields, six with seconds first, or is a word such as `@daily`.
    pub fn new(name: impl Into<String>, expression: impl Into<String>, job: JobRequest) -> Self {
        Self { name: name.into(), expression: expression.into(), timezone: None, overlap: None, job }
    }

    /// An IANA time zone; UTC when not set.
    pub fn timezone(mut self, zone: impl Into<String>) -> Self {
        self.timezone = Some(zone.into());
        self
    }

    /// What happens when the previous run is not over; [`Overlap::Skip`] when not set.
    pub fn overlap(mut self, policy: Overlap) -> Self {
        self.overlap = Some(policy);
        self
    }

    /// The short form; [`forms`] makes of it what goes over the wire.
    pub(crate) fn to_json(&self) -> Result<String, Error> {
        let mut out = String::from("{");
        push_text(&mut out, "name", &self.name);
        push_text(&mut out, "expression", &self.expression);
        if let Some(zone) = &self.timezone {
            push_text(&mut out, "timezone", zone);
        }
        if let Some(policy) = self.overlap {
            let word = match policy {
                Overlap::Skip => "skip",
                Overlap::Allow => "allow",
                Overlap::CancelPrevious => "cancel_previous",
                Overlap::Enqueue => "enqueue",
            };
            push_text(&mut out, "overlap_policy", word);
        }
        push_member(&mut out, "job_template", &self.job.to_json()?);
        out.push('}');
        Ok(out)
    }
}

/// As the server would read it; for tests and tools.
impl TryFrom<&CronJob> for Value {
    type Error = Error;

    fn try_from(cron: &CronJob) -> Result<Self, Error> {
        let body = forms::cron(&cron.to_json()?.into())?;
        serde_json::from_slice(&body).map_err(|e| Error::json("cron job", e))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_travel_together() {
        let cron = CronJob::new("n", "@daily", JobRequest::new("t", [1]).queue("q")).timezone("UTC").overlap(Overlap::Skip);
        assert_eq!(
            Value::try_from(&cron).unwrap(),
            json!({
                "name": "n", "expression": "@daily", "cron": "@daily", "timezone": "UTC", "overlap_policy": "skip",
                "job_template": {"type": "t", "args": [1], "options": {"queue": "q"}},
                "type": "t", "args": [1], "options": {"queue": "q"},
            })
        );
    }
}
