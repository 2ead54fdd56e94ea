//! Python handlers that do nothing, beside Celery and Dramatiq.
use crate::Result;
use crate::report::Report;
use crate::scenario::Plan;

/// Measures.
pub fn run(_plan: &Plan, _report: &mut Report) -> Result<()> {
    Ok(())
}
