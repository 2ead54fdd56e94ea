//! An exchange that failed as a whole, carried out part by part.
use ojs_model::{ErrorCode, OjsError};

use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::command::{Exchange, Exchanged};
use crate::kernel::typed::Apart;

/// Writes each outcome of an exchange in a transaction of its own, then claims: a job that cannot be read must not undo
/// the outcomes of the others.
pub(crate) fn exchange(whole: &Exchange, writer: &mut dyn Apart) -> Applied<Exchanged> {
    let mut all = Vec::with_capacity(whole.outcomes.len());
    for report in &whole.outcomes {
        let job = report.job;
        match writer.execute(Exchange { outcomes: vec![report.clone()], claim: None }) {
            Ok(exchanged) => all.extend(exchanged.results),
            Err(Refusal::Store(StoreError::Failed(what))) => {
                tracing::error!(%job, %what, "an outcome was not written");
                let message = format!("The outcome of job {job} was not written: {what}.");
                all.push(Err(OjsError::new(ErrorCode::BackendError, message)));
            }
            // Those already written are known by their tokens when they are sent again.
            Err(Refusal::Store(fault)) if !all.is_empty() => return Err(StoreError::Unknown(fault.to_string()).into()),
            Err(refusal) => return Err(refusal),
        }
    }
    let Some(claim) = whole.claim.clone() else { return Ok(Exchanged { results: all, ..Exchanged::default() }) };
    match writer.execute(Exchange { outcomes: Vec::new(), claim: Some(claim) }) {
        Ok(claimed) => Ok(Exchanged { results: all, ..claimed }),
        Err(refusal) if all.is_empty() => Err(refusal),
        Err(refusal) => {
            // The outcomes are written, so the answer must say so; the caller will ask for jobs again.
            tracing::error!(?refusal, "a claim failed behind the outcomes of its exchange");
            Ok(Exchanged { results: all, ..Exchanged::default() })
        }
    }
}
