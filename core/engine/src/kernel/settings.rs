//! Settings that few jobs have. They are part of the fixed text of a job; a bit in [`crate::kernel::job::flag`] says that it is worth reading.
use ojs_model::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::kernel::job::Body;

/// Default lease and default execution time-out in milliseconds (protocol section 1.5).
pub const DEFAULT_TIMEOUT_MS: i64 = 1_800_000;
/// Milliseconds a result is kept by default: 7 days (protocol section 8.10).
pub const DEFAULT_RESULT_TTL_MS: i64 = 604_800_000;

/// Settings as the job's text has them.
#[derive(Debug, Default)]
pub struct Settings {
    /// Most milliseconds from the enqueue to the end, waiting included.
    pub total_ms: Option<i64>,
    /// Most milliseconds between two heartbeats for the job.
    pub stall_ms: Option<i64>,
    /// Most milliseconds until the first start.
    pub ttl_ms: Option<i64>,
    /// How long the result is kept, in seconds; 0 keeps none, -1 keeps it for ever.
    pub result_ttl: Option<i64>,
    /// `scheduled_at`: the job is not started earlier.
    pub scheduled_at: Option<i64>,
    /// `expires_at`: the job is not started later.
    pub expires_at: Option<i64>,
    /// The trace that `meta` carries.
    pub trace_id: Option<String>,
}

#[derive(Deserialize)]
struct Text<'a> {
    total_timeout: Option<i64>,
    heartbeat_timeout: Option<i64>,
    enqueue_ttl: Option<i64>,
    result_ttl: Option<i64>,
    scheduled_at: Option<String>,
    expires_at: Option<String>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
}

impl Settings {
    /// Reads the settings from the fixed text of a job. The text was checked by the enqueue; a member that cannot be
    /// read counts as absent.
    #[must_use]
    pub fn of(body: &Body) -> Self {
        let object = ojs_model::json::object(&body.text);
        let Ok(text) = serde_json::from_str::<Text<'_>>(&object) else { return Self::default() };
        let time = |text: Option<String>| text.and_then(|at| Timestamp::parse(&at).ok()).map(Timestamp::as_millis);
        let millis = |seconds: Option<i64>| seconds.map(|s| s.saturating_mul(1000));
        Self {
            total_ms: millis(text.total_timeout),
            stall_ms: millis(text.heartbeat_timeout),
            ttl_ms: millis(text.enqueue_ttl),
            result_ttl: text.result_ttl,
            scheduled_at: time(text.scheduled_at),
            expires_at: time(text.expires_at),
            trace_id: text.meta.and_then(|meta| ojs_model::trace::id_of(meta.get())),
        }
    }
}
