//! An exchange that failed as a whole, carried out part by part.
use ojs_model::{ErrorCode, OjsError};

use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::command::{Claim, Command, OutcomeReport, Reply};
use crate::kernel::typed::Apart;

/// Writes the outcomes of an exchange each in a transaction of its own, then claims: one job that cannot be read must not take the
/// outcomes of the others with it. `None` when there is one part only.
pub(crate) fn exchange(outcomes: &[OutcomeReport], claim: Option<&Claim>, writer: &mut dyn Apart) -> Option<Applied<Reply>> {
    (outcomes.len() + usize::from(claim.is_some()) > 1).then(|| each(outcomes, claim, writer))
}

fn each(outcomes: &[OutcomeReport], claim: Option<&Claim>, writer: &mut dyn Apart) -> Applied<Reply> {
    let mut all = Vec::with_capacity(outcomes.len());
    for report in outcomes {
        let job = report.job;
        match writer.execute(Command::Exchange { outcomes: vec![report.clone()], claim: None }) {
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
    let claimed = claim.map(|claim| writer.execute(Command::Exchange { outcomes: Vec::new(), claim: Some(claim.clone()) }));
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
