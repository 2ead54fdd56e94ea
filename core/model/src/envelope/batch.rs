//! A batch body, split into the texts of its jobs.
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{ErrorCode, OjsError};
use crate::limits::MAX_BATCH_JOBS;

/// Splits `{"jobs":[…]}` into the text of each job, in one pass and without copying; [`NewJob::parse`] reads them.
/// Other members are ignored, and the last of several `jobs` wins.
///
/// ```
/// let jobs = ojs_model::envelope::split_batch(r#"{"jobs":[{"type":"a","args":[1.0]},{"type":"b","args":[]}]}"#)?;
/// assert_eq!(jobs, [r#"{"type":"a","args":[1.0]}"#, r#"{"type":"b","args":[]}"#]);
/// # Ok::<(), ojs_model::OjsError>(())
/// ```
///
/// # Errors
/// 400 `invalid_payload` when `jobs` is missing, empty or not an array; 413 `batch_size_exceeded` beyond
/// [`MAX_BATCH_JOBS`].
///
/// [`NewJob::parse`]: crate::NewJob::parse
pub fn split_batch(text: &str) -> Result<Vec<&str>, OjsError> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let jobs = parser.deserialize_map(Batch).and_then(|jobs| parser.end().map(|()| jobs)).map_err(|e| {
        OjsError::invalid_field(
            "jobs",
            format!("The batch must be an object with an array of jobs, {{\"jobs\": […]}}: {}.", crate::json::describe(&e)),
        )
    })?;
    let jobs = jobs.filter(|jobs| !jobs.is_empty());
    let Some(jobs) = jobs else {
        return Err(OjsError::invalid_field("jobs", "jobs is required and must hold at least one job."));
    };
    if jobs.len() > MAX_BATCH_JOBS {
        let message = format!("The batch holds {} jobs; the limit is {MAX_BATCH_JOBS}.", jobs.len());
        return Err(OjsError::new(ErrorCode::BatchSizeExceeded, message)
            .with_details(serde_json::json!({"field": "jobs", "actual": jobs.len(), "max_batch_size": MAX_BATCH_JOBS})));
    }
    Ok(jobs.into_iter().map(RawValue::get).collect())
}

/// Reads `jobs` out of an object.
struct Batch;

impl<'de> Visitor<'de> for Batch {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut jobs = None;
        while let Some(is_jobs) = map.next_key::<IsJobs>()? {
            if is_jobs.0 {
                jobs = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(jobs)
    }
}

/// Whether a member is called `jobs`.
struct IsJobs(bool);

impl<'de> serde::Deserialize<'de> for IsJobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = IsJobs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }
            fn visit_str<E>(self, text: &str) -> Result<IsJobs, E> {
                Ok(IsJobs(text == "jobs"))
            }
        }
        deserializer.deserialize_str(Text)
    }
}
