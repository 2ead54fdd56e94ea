//! What is kept of a worker: when it counts as stale, and the key that its id belongs to.
use crate::error::{Result, StoreError};
use crate::store::rows::WorkerInfo;

/// Silence after which a worker counts as stale: three heartbeats. It is dead, and forgotten, after `worker_timeout`.
pub const STALE_AFTER_MS: i64 = 15_000;

/// Member of a worker's stored description: the API key of its heartbeats. Workers cannot set it: only members of other
/// names are taken from them.
const KEY: &str = "key";

/// Reads a worker's stored description; that of a worker which has sent no heartbeat is empty.
fn members_of(info: &str) -> Result<serde_json::Map<String, serde_json::Value>> {
    if info.is_empty() {
        return Ok(serde_json::Map::new());
    }
    let fault = |error| StoreError::Failed(format!("the stored description of a worker cannot be read: {error}"));
    serde_json::from_str(info).map_err(fault)
}

/// The key of a worker's heartbeats.
///
/// # Errors
/// [`StoreError::Failed`] when the description cannot be read: another key would be let in.
pub(crate) fn key_of(info: &str) -> Result<Option<String>> {
    Ok(members_of(info)?.get(KEY).and_then(|key| key.as_str()).map(str::to_owned))
}

/// A worker's stored description with its key.
///
/// # Errors
/// [`StoreError::Failed`] when the description cannot be read.
pub(crate) fn with_key(info: &str, key: &str) -> Result<WorkerInfo> {
    let mut info = members_of(info)?;
    info.insert(KEY.to_owned(), key.into());
    Ok(serde_json::Value::Object(info).to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_that_cannot_be_read_is_not_taken_for_one_without_a_key() {
        let kept = with_key(r#"{"version":"2"}"#, "k").unwrap();
        assert_eq!((&*kept, key_of(&kept).unwrap().as_deref()), (r#"{"key":"k","version":"2"}"#, Some("k")));
        assert_eq!((key_of("").unwrap(), key_of("{}").unwrap()), (None, None));
        assert!(matches!(key_of("{"), Err(StoreError::Failed(fault)) if fault.contains("cannot be read")));
        assert!(matches!(with_key("{", "k"), Err(StoreError::Failed(_))));
    }
}
