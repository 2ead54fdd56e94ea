//! Extensions without which a server must not take a request: it is sent with `OJS-Requires-Extension`, and a server
//! that lacks the extension answers 422 and does nothing (extensions section 0.3).
use http::HeaderName;
use serde_json::Value;

use super::Request;

/// The header that names them.
pub(super) const REQUIRES_EXTENSION: HeaderName = HeaderName::from_static("ojs-requires-extension");

/// Job trains. A server that ignores the train of a job would run jobs beside each other that must run in order.
pub const JOB_TRAINS: &str = "urn:ojs:ext:x:openjobspec:job-trains";

impl Request {
    /// The extension that a server must have to take this request; `None` when every server may. For transports: it is
    /// the value of the header `OJS-Requires-Extension`.
    ///
    /// ```
    /// use ojs::transport::{JOB_TRAINS, Request};
    /// let job = Request::post("/jobs", r#"{"type":"a","args":[],"meta":{"train_id":"dest_123"}}"#);
    /// assert_eq!(job.required_extension(), Some(JOB_TRAINS));
    /// assert_eq!(Request::post("/jobs", r#"{"type":"a","args":["train_id"]}"#).required_extension(), None);
    /// ```
    #[must_use]
    pub fn required_extension(&self) -> Option<&'static str> {
        let body = self.body.as_deref().filter(|_| self.carries_jobs())?;
        // Most requests have no train: only a search through their bytes, no parsing.
        let body = std::str::from_utf8(body).ok().filter(|text| text.contains("\"train"))?;
        has_train(&serde_json::from_str(body).ok()?).then_some(JOB_TRAINS)
    }

    /// Whether it enqueues jobs, now or later.
    pub(crate) fn carries_jobs(&self) -> bool {
        self.method == http::Method::POST
            && matches!(
                self.path.as_ref(),
                "/jobs" | "/jobs/batch" | "/jobs/bulk" | "/jobs/bulk/enqueue" | "/workflows" | "/cron"
            )
    }
}

/// Whether this job runs in a train, or one of the jobs of this batch, workflow or cron entry.
fn has_train(body: &Value) -> bool {
    let said = |pointer: &str| body.pointer(pointer).is_some_and(|value| !value.is_null() && *value != Value::Bool(false));
    let list = |name: &str| body.get(name).and_then(Value::as_array).into_iter().flatten();
    said("/meta/train_id")
        || said("/options/train")
        || said("/train")
        // In rows of an outbox the metadata stands among the options.
        || said("/options/meta/train_id")
        || list("jobs").chain(list("steps")).any(has_train)
        || body.get("callbacks").and_then(Value::as_object).into_iter().flat_map(|jobs| jobs.values()).any(has_train)
        || body.get("job_template").is_some_and(has_train)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_is_found_wherever_a_job_stands() {
        let job = r#"{"type":"a","args":[],"options":{"train":{"id":"x"}}}"#;
        for (path, body) in [
            ("/jobs", job.to_owned()),
            ("/jobs/batch", format!(r#"{{"jobs":[{{"type":"b"}},{job}]}}"#)),
            ("/workflows", format!(r#"{{"type":"chain","steps":[{{"type":"group","jobs":[{job}]}}]}}"#)),
            ("/workflows", format!(r#"{{"type":"batch","jobs":[],"callbacks":{{"on_complete":{job}}}}}"#)),
            ("/cron", format!(r#"{{"name":"n","cron":"@daily","job_template":{job}}}"#)),
        ] {
            assert_eq!(Request::post(path, body.clone()).required_extension(), Some(JOB_TRAINS), "{path} {body}");
        }
        for (path, body) in [
            ("/jobs", r#"{"type":"a","args":[{"meta":{"train_id":"x"}}],"options":{"train":null}}"#),
            ("/jobs", r#"{"type":"a","args":[],"meta":{"train_id":null,"trainer":1},"options":{"train":false}}"#),
            ("/workers/ack", r#"{"job_id":"1","meta":{"train_id":"x"}}"#),
            ("/jobs", "\"train"),
        ] {
            assert_eq!(Request::post(path, body).required_extension(), None, "{path} {body}");
        }
    }
}
