//! The audit of dead letters: each is a discarded job, and the list has as many as the jobs.
use ojs_model::JobState;

use crate::kernel::audit::Checks;
use crate::kernel::job::flag;
use crate::store::rows::DeadFilter;
use crate::store::selection::Selection;

pub(crate) const CHECKS: Checks = Checks {
    job: Some(|audit, row, _| {
        if row.has(flag::DEAD) {
            audit.features.dead_letters += 1;
            audit.same("dead_letters", format_args!("job {}", row.id), "its state", JobState::Discarded, row.state);
        }
        Ok(())
    }),
    whole: Some(|audit| {
        let (seen, all) = (audit.features.dead_letters, DeadFilter::default());
        let listed = audit.tables.count(&Selection::Dead(&all), usize::MAX)?;
        audit.same("dead_letters", "the list of dead letters", "its length", seen, listed);
        for (queue, lacking) in audit.tables.dead_drift()? {
            let subject = format!("queue number {queue}");
            audit.find("dead_letters", subject, "what the number of its dead letters lacks", 0, lacking);
        }
        Ok(())
    }),
};
