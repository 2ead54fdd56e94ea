//! An exchange that failed as a whole, carried out part by part.
use ojs_model::{ErrorCode, OjsError};

use super::Answer;
use super::thread::WriterThread;
use crate::error::{Refusal, StoreError};
use crate::kernel::command::{Command, Reply};

impl WriterThread {
    /// Writes the outcomes of an exchange each in a transaction of its own, then claims: one job that cannot be read must not take the
    /// outcomes of the others with it.
    pub(super) fn exchange_apart(&mut self, command: Command) -> Result<Reply, Refusal> {
        let Command::Exchange { outcomes, claim } = command else { return self.apply_alone(&command) };
        let mut all = Vec::with_capacity(outcomes.len());
        for report in outcomes {
            let job = report.job;
            match self.apply_alone(&Command::Exchange { outcomes: vec![report], claim: None }) {
                Ok(Reply::Exchanged { results, .. }) => all.extend(results),
                Err(Refusal::Store(StoreError::Failed(what))) => {
                    tracing::error!(%job, %what, "an outcome was not written");
                    let message = format!("The outcome of job {job} was not written: {what}.");
                    all.push(Err(OjsError::new(ErrorCode::BackendError, message)));
                }
                Ok(other) => return Err(StoreError::Failed(format!("an answer of another kind: {}", other.kind())).into()),
                // Those already written are known by their tokens when they are sent again.
                Err(Refusal::Store(fault)) if !all.is_empty() => return Err(StoreError::Unknown(fault.to_string()).into()),
                Err(refusal) => return Err(refusal),
            }
        }
        let claimed = claim.map(|claim| self.apply_alone(&Command::Exchange { outcomes: Vec::new(), claim: Some(claim) }));
        let (jobs, retry_at) = match claimed {
            Some(Ok(Reply::Exchanged { jobs, retry_at, .. })) => (jobs, retry_at),
            Some(Err(refusal)) if all.is_empty() => return Err(refusal),
            Some(other) => {
                // The outcomes are written, and the caller must hear of it; it will ask for jobs again.
                let other = other.map(|reply| reply.kind());
                tracing::error!(?other, "a claim failed behind the outcomes of its exchange");
                (Vec::new(), None)
            }
            None => (Vec::new(), None),
        };
        Ok(Reply::Exchanged { results: all, jobs, retry_at })
    }

    fn apply_alone(&mut self, command: &Command) -> Result<Reply, Refusal> {
        let replies = self.guarded("a command", |this| this.apply_group(&[command]))?;
        let none = || Err(StoreError::Failed("a command without an answer".into()).into());
        replies.into_iter().next().unwrap_or_else(none)
    }
}

/// Whether a group is an exchange of several parts, which need not fail together.
pub(super) fn is_divisible(group: &[(Command, Answer)]) -> bool {
    let parts = |command: &Command| match command {
        Command::Exchange { outcomes, claim } => outcomes.len() + usize::from(claim.is_some()),
        _ => 1,
    };
    group.iter().all(|(command, _)| parts(command) > 1)
}
