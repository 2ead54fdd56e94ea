//! Claims that do not wait, and jobs that another transaction holds for a moment.
use std::time::Duration;

use crate::engine::Engine;
use crate::error::Applied;
use crate::kernel::command::{Claim, Exchanged, OutcomeReport};

/// Pauses before a claim that does not wait looks again for jobs that it has stepped over. A transaction that claims
/// them itself has mostly ended after the first pause. One that holds them and changes nothing, for example the enqueue
/// of a duplicate of a unique job, has mostly ended after the last.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(2), Duration::from_millis(8), Duration::from_millis(32), Duration::from_millis(64)];

impl Engine {
    /// Writes outcomes, then claims jobs without waiting for new ones.
    pub(crate) async fn exchange_at_once(&self, outcomes: Vec<OutcomeReport>, claim: Option<Claim>) -> Applied<Exchanged> {
        let mut exchanged = self.exchange(outcomes, claim.clone()).await?;
        // A claim that takes some jobs of a queue only cannot tell whether those that it has stepped over are for it.
        let narrow = claim.as_ref().is_none_or(|claim| !claim.types.is_empty() || claim.handlers.is_some());
        let looks = if narrow || exchanged.is_picky || self.tenant().is_some() { 1 } else { PAUSES.len() };
        for pause in PAUSES.into_iter().take(looks) {
            if !exchanged.has_passed {
                break;
            }
            tokio::time::sleep(pause).await;
            let again = match self.exchange(Vec::new(), claim.clone()).await {
                Ok(again) => again,
                Err(refusal) if exchanged.results.is_empty() => return Err(refusal),
                // The outcomes are written: their results must arrive.
                Err(_) => break,
            };
            exchanged = Exchanged { results: exchanged.results, ..again };
        }
        Ok(exchanged)
    }
}
