//! Parts of answers that several routes share: pagination, counts, pressure, times.
use ojs_model::{JobState, OjsError, Timestamp};
use serde_json::{Value, json};

use crate::http::terms::invalid;
use crate::store::listing::ListPlace;
use crate::store::rows::Counts;

/// The `pagination` object of every list.
pub fn pagination(total: usize, limit: usize, offset: usize) -> Value {
    let next = offset.saturating_add(limit);
    let mut object = json!({"total": total, "limit": limit, "offset": offset, "has_more": next < total});
    if let (true, Some(object)) = (next < total, object.as_object_mut()) {
        object.insert("next_cursor".into(), json!(next.to_string()));
    }
    object
}

/// Where a list goes on: the `next_cursor` of the page before.
pub(crate) fn cursor(text: &str) -> Result<ListPlace, OjsError> {
    text.parse().map_err(|_| invalid("cursor", format!("cursor must be the next_cursor of the page before, got '{text}'.")))
}

/// A time as JSON, `null` for never.
pub(crate) fn stamp(millis: i64) -> Value {
    if millis > 0 { json!(Timestamp::from_millis(millis).to_string()) } else { Value::Null }
}

/// 0 is empty, 1 is full; two decimals.
pub fn pressure(depth: u64, bound: u64) -> f64 {
    (depth as f64 / bound as f64 * 100.0).round() / 100.0
}

/// Counts by the names of their states.
pub fn by_state(counts: &Counts) -> serde_json::Map<String, Value> {
    JobState::ALL.into_iter().zip(counts).map(|(state, count)| (state.as_str().to_owned(), json!(count))).collect()
}
