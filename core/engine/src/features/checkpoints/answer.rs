//! How checkpoints are printed (extensions section 21).
use ojs_model::Timestamp;
use ojs_model::json::{members, push_bare, push_member, push_text, push_time, push_whole};

use crate::features::checkpoints::records::CheckpointRow;

/// Appends what a delivery of the job carries. `last_checkpoint` is what the document about progress calls it.
pub(super) fn push_delivery(out: &mut String, row: &CheckpointRow) {
    push_member(out, "checkpoint", "{");
    push_member(out, "state", &row.state);
    push_whole(out, "sequence", row.sequence);
    out.push('}');
    if row.by_report {
        push_member(out, "last_checkpoint", &row.state);
    }
}

/// The answer to a read: flat, as the tests read it, and nested, as the document prints it.
pub(super) fn found(row: &CheckpointRow) -> String {
    printed(row, true)
}

/// The answer to a save: the nested form is without the document.
pub(super) fn saved(row: &CheckpointRow) -> String {
    printed(row, false)
}

/// The answer to a read by the published SDKs for Go and Python: the members that they saved. A checkpoint that another
/// program saved is `state`.
pub(crate) fn resumed(row: &CheckpointRow) -> String {
    let mut out = String::with_capacity(256 + row.state.len());
    out.push('{');
    push_bare(&mut out, "has_checkpoint", true);
    push_member(&mut out, "checkpoint", "{");
    match members(&row.state) {
        Ok(saved) if saved.iter().any(|(name, _)| name == "metadata") => {
            saved.iter().for_each(|(name, value)| push_member(&mut out, name, value));
        }
        _ => {
            push_member(&mut out, "state", &row.state);
            push_member(&mut out, "metadata", "{}");
        }
    }
    push_whole(&mut out, "sequence", row.sequence);
    push_time(&mut out, "created_at", Timestamp::from_millis(row.created_at));
    out.push_str("}}");
    out
}

/// The answer to a delete.
pub(super) fn deleted(id: &str) -> String {
    let mut out = String::from("{");
    push_bare(&mut out, "deleted", true);
    push_text(&mut out, "job_id", id);
    out.push('}');
    out
}

fn printed(row: &CheckpointRow, with_state: bool) -> String {
    let mut out = String::with_capacity(256 + 2 * row.state.len());
    out.push('{');
    push_members(&mut out, row, true);
    push_member(&mut out, "checkpoint", "{");
    push_members(&mut out, row, with_state);
    out.push_str("}}");
    out
}

fn push_members(out: &mut String, row: &CheckpointRow, with_state: bool) {
    push_text(out, "job_id", &row.job.to_string());
    if with_state {
        push_member(out, "state", &row.state);
    }
    push_whole(out, "sequence", row.sequence);
    push_time(out, "created_at", Timestamp::from_millis(row.created_at));
}
