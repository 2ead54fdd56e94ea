//! An operation as it is shown.
use serde_json::{Value, json};

use super::records::{OperationRow, OperationState, Relation};
use super::refusals;
use crate::http::page::stamp;

/// The object of an operation.
pub(crate) fn describe(row: &OperationRow) -> Value {
    let filter: Value = serde_json::from_str(&row.filter).unwrap_or_default();
    json!({
        "id": row.id.to_string(),
        "action": row.action.verb(),
        "state": row.state.as_str(),
        "filter": filter,
        "reason": row.reason,
        "tenant_id": row.of_one(),
        "created_by": row.created_by,
        "created_at": stamp(row.created_at),
        "updated_at": stamp(row.updated_at),
        "finished_at": stamp(row.finished_at),
        "counts": {"seen": row.seen, "changed": row.changed, "refused": row.refused},
        // null when they cannot be read: that is not the same as none.
        "refusals": refusals::read(&row.refusals).ok(),
        "progress": {
            "expected": row.expected, "relation": row.relation.as_str(), "fraction": fraction(row),
        },
        "error": row.fault,
    })
}

/// How much of the operation is done, 0 to 1; `None` when it is not known how many jobs there are.
fn fraction(row: &OperationRow) -> Option<f64> {
    if row.state == OperationState::Completed {
        return Some(1.0);
    }
    if row.relation == Relation::AtLeast {
        return None;
    }
    let of = row.seen as f64 / row.expected.max(row.seen).max(1) as f64;
    Some((of * 1000.0).floor() / 1000.0)
}
