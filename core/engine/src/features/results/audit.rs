//! The audit of results and errors: what a job's flags say is there can be read.
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::job::{History, JobRow, flag};

pub(crate) const CHECKS: Checks = Checks { job: Some(look_at), whole: None };

fn look_at(audit: &mut Audit<'_>, row: &JobRow, history: &History) -> Result<()> {
    let subject = format!("job {}", row.id);
    if row.has(flag::RESULT) && serde_json::from_str::<serde::de::IgnoredAny>(&history.result).is_err() {
        audit.find("results", &subject, "its result", "a JSON text", shown(&history.result));
    }
    if row.has(flag::RESULT) && row.has(flag::PRUNED) {
        audit.find("results", &subject, "its result", "there or pruned", "both");
    }
    if row.has(flag::ERRORS)
        && !serde_json::from_str::<Vec<serde::de::IgnoredAny>>(&history.errors).is_ok_and(|all| !all.is_empty())
    {
        audit.find("errors", &subject, "its errors", "a JSON array with an entry for each", shown(&history.errors));
    }
    Ok(())
}

/// The length and no more: a result may be what its owner encrypts elsewhere.
fn shown(text: &str) -> String {
    format!("{} bytes of another form", text.len())
}
