//! The audit of dead letters: each is a discarded job, and the list has as many as the jobs.
use ojs_model::JobState;

use crate::kernel::audit::Checks;
use crate::kernel::job::flag;
use crate::store::rows::DeadFilter;

pub(crate) const CHECKS: Checks = Checks {
    job: Some(|audit, row, _| {
        if row.has(flag::DEAD) {
            audit.features.dead_letters += 1;
            audit.same("dead_letters", format_args!("job {}", row.id), "its state", JobState::Discarded, row.state);
        }
        Ok(())
    }),
    whole: Some(|audit| {
        let (_, listed) = audit.tables.dead(&DeadFilter::default())?;
        let seen = audit.features.dead_letters;
        audit.same("dead_letters", "the list of dead letters", "its length", seen, listed);
        Ok(())
    }),
};
