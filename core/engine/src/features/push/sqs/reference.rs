//! Jobs that are too large for a message: the message names the job, and the function reads the job from the server.
use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Members that a reference keeps: what a function needs to know of the job before it has read the job, and the lease.
const KEPT: &[&str] = &[
    "attempt",
    "id",
    "lease_token",
    "max_attempts",
    "priority",
    "queue",
    "specversion",
    "started_at",
    "state",
    "timeout_ms",
    "type",
    "worker_id",
];
/// Says that the server has a checkpoint of the job as well.
const CHECKPOINT_REF: &str = "checkpoint_ref";

/// The reference to a job, out of its envelope: without `args`, which says that it is a reference. The checkpoint stays
/// when it has at most `room` bytes.
pub(crate) fn reference(envelope: &str, room: usize) -> Option<String> {
    let members: BTreeMap<&str, &RawValue> = serde_json::from_str(envelope).ok()?;
    let mut kept: BTreeMap<&str, &RawValue> = BTreeMap::new();
    kept.extend(KEPT.iter().filter_map(|name| members.get_key_value(name)));
    let known: &RawValue = serde_json::from_str("true").ok()?;
    match members.get_key_value("checkpoint") {
        Some((name, state)) if state.get().len() <= room => drop(kept.insert(name, state)),
        Some(_) => drop(kept.insert(CHECKPOINT_REF, known)),
        None => {}
    }
    serde_json::to_string(&kept).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The vectors of all languages: what the server sends, and what a function makes of it.
    #[test]
    fn references_are_those_of_the_vectors() {
        let vectors: Value =
            serde_json::from_str(include_str!("../../../../../../tests/vectors/serverless_reference.json")).unwrap();
        for case in vectors["cases"].as_array().unwrap() {
            let made = reference(&case["envelope"].to_string(), usize::try_from(case["room"].as_u64().unwrap()).unwrap());
            let made: Value = serde_json::from_str(&made.unwrap()).unwrap();
            assert_eq!(made, case["message"], "{}", case["name"]);
        }
    }

    #[test]
    fn a_reference_has_no_args_and_fits() {
        let large = "x".repeat(1_000_000);
        let envelope = json!({"id": "a", "type": "t", "args": [large], "meta": {"a": large}, "checkpoint": {"state": large}});
        let made: Value = serde_json::from_str(&reference(&envelope.to_string(), 1_000).unwrap()).unwrap();
        assert_eq!(made, json!({"id": "a", "type": "t", "checkpoint_ref": true}));
    }
}
