//! Why an operation could not change some of its jobs: bounded, however many there are.
use ojs_model::{JobId, OjsError};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// Reasons that are told apart; further ones are counted together.
const MAX_REASONS: usize = 20;
/// The reason of those.
const OTHER: &str = "other";
/// Characters of a message that are kept.
const MAX_MESSAGE: usize = 300;

/// Jobs that were refused for one reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Refusals {
    /// The reason of the error, or else its code.
    pub(crate) reason: String,
    /// How many jobs.
    pub(crate) count: u64,
    /// The first of them.
    pub(crate) job_id: JobId,
    /// What was said of it.
    pub(crate) message: String,
}

/// Reads what [`write`] has written.
///
/// # Errors
/// [`StoreError::Failed`] when it cannot be read: it would be replaced by the refusals that come.
pub(crate) fn read(text: &str) -> Result<Vec<Refusals>, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Failed(format!("refusals of a bulk operation cannot be read: {error}")))
}

/// As JSON.
pub(crate) fn write(known: &[Refusals]) -> String {
    serde_json::to_string(known).unwrap_or_else(|_| "[]".to_owned())
}

/// Adds a refusal.
pub(crate) fn note(known: &mut Vec<Refusals>, job_id: JobId, error: &OjsError) {
    let detail = error.details.as_ref().and_then(|details| details.get("reason")?.as_str());
    let mut reason = detail.unwrap_or(&error.code);
    if known.len() >= MAX_REASONS && !known.iter().any(|refusals| refusals.reason == reason) {
        reason = OTHER;
    }
    match known.iter_mut().find(|refusals| refusals.reason == reason) {
        Some(refusals) => refusals.count += 1,
        None => {
            let message = error.message.chars().take(MAX_MESSAGE).collect();
            known.push(Refusals { reason: reason.to_owned(), count: 1, job_id, message });
        }
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::ErrorCode;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_a_fault_and_not_none() {
        assert_eq!(read(&write(&[])).unwrap(), []);
        assert!(matches!(read("["), Err(StoreError::Failed(fault)) if fault.contains("cannot be read")));
    }

    #[test]
    fn reasons_are_counted_and_bounded() {
        let mut known = Vec::new();
        let id = JobId::now_v7();
        for number in 0..100 {
            let error = OjsError::new(ErrorCode::Conflict, "m").with_details(serde_json::json!({"reason": format!("r{number}")}));
            note(&mut known, id, &error);
            note(&mut known, id, &error);
        }
        assert_eq!(known.len(), MAX_REASONS + 1);
        assert_eq!(known.iter().map(|refusals| refusals.count).sum::<u64>(), 200);
        assert_eq!(known.last().map(|refusals| (refusals.reason.as_str(), refusals.count)), Some((OTHER, 160)));
        note(&mut known, id, &OjsError::not_found("job", "x"));
        assert_eq!(read(&write(&known)).unwrap(), known);
    }
}
