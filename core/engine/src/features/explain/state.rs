//! What the state of a job says, and maintenance.
use ojs_model::JobState;

use crate::error::StoreError;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::holds::Holds;
use crate::kernel::job::{JobRow, flag};
use crate::store::tables::Tables;

/// What holds of [`Holds::NAMED`] some feature explains; others come from a newer version of the engine.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    if let Some(maintenance) = tables.maintenance()? {
        let why = if maintenance.reason.is_empty() { String::new() } else { format!(": {}", maintenance.reason) };
        found.add(
            Reason::new("maintenance", format!("The server is in maintenance and hands out nothing{why}."))
                .since(maintenance.since)
                .until(maintenance.until)
                .link("/admin/system/maintenance")
                .command("ojs maintenance off"),
        );
    }
    let id = row.id;
    match row.state {
        JobState::Scheduled => {
            found.add(Reason::new("scheduled", "It is scheduled for later.").since(row.created_at).until(row.sort_key))
        }
        JobState::Retryable => found.add(
            Reason::new(
                "backing_off",
                format!("Attempt {} of {} failed, and the next one waits.", row.charged(), row.max_attempts),
            )
            .until(row.sort_key)
            .link(format!("/jobs/{id}")),
        ),
        JobState::Pending if !row.has(flag::WAITS) => found.add(
            Reason::new("pending_activation", "It was staged and waits until its client activates it.")
                .since(row.created_at)
                .link(format!("/jobs/{id}/activate")),
        ),
        _ => {}
    }
    let known = Holds::NAMED.into_iter().fold(Holds::NONE, |all, (reason, _)| all.with(reason));
    let unknown = row.holds.without(known);
    if !unknown.is_empty() {
        found.add(Reason::new(
            "held_by_newer_version",
            format!("A newer version of the server holds it ({unknown}): this version does not hand it out."),
        ));
    }
    Ok(())
}
