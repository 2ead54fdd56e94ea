//! A check of the kernel: no two jobs with one uniqueness key where the policy of the newer one forbids that.
use ojs_model::unique::{Subject, UniqueKey};
use ojs_model::{JobId, JobState, UniquePolicy, json};

use super::Audit;
use crate::error::Result;

impl Audit<'_> {
    pub(super) fn compare_unique(&mut self, pairs: &[(JobId, JobId)]) -> Result<()> {
        for (older, newer) in pairs {
            let (Some(older), Some(newer)) = (self.tables.row(*older)?, self.tables.row(*newer)?) else { continue };
            // A job that ended and was run again by an operator may meet the one that came after it, in the same
            // millisecond too. One that was available before and is pending waits for its second turn in its train.
            let runs_again = older.state == JobState::Pending && older.enqueued_at > 0;
            let stayed = older.enqueued_at < newer.created_at && older.state != JobState::Retryable && !runs_again;
            let body = json::object(&self.tables.body(newer.seq)?.text);
            if stayed && policy_of(&body).is_some_and(|policy| forbids(&policy)) {
                let what = "unended jobs with its uniqueness key";
                self.find("unique_keys", format_args!("job {}", newer.id), what, 1, format_args!("also job {}", older.id));
            }
        }
        Ok(())
    }
}

/// Whether the policy leaves no way to a second job: any unended state counts, for any length of time.
fn forbids(policy: &UniquePolicy) -> bool {
    let unended = JobState::ALL.into_iter().filter(|state| !state.is_terminal());
    policy.period_ms.is_none() && unended.into_iter().all(|state| policy.states.contains(&state))
}

fn policy_of(body: &str) -> Option<UniquePolicy> {
    let raw = json::member(body, "unique")?;
    // Only the states and the period are used, so any key will do.
    let given = UniqueKey::parse(&"0".repeat(64));
    let subject = Subject { job_type: "", queue: "", args: "[]", meta: "{}", version: None, given };
    UniquePolicy::parse(&serde_json::from_str(raw).ok()?, &subject).ok()
}
