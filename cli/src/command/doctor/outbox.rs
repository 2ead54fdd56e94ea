//! The outbox of an application: rows that wait for a relay, and rows that the server refuses.
use super::context::{Context, span};
use super::finding::{Finding, ok, skipped, warning};
use crate::command::relay;
use crate::failure::Failure;

/// A relay sends within seconds.
const LATE_MS: u64 = 60_000;

/// The outbox that `--database` names.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let Some((database, table)) = &context.outbox else {
        return Ok(vec![skipped("--database names no database with an outbox")]);
    };
    let store = relay::open(Some(database), table)?;
    let lag = store.lag().await.map_err(relay::fault)?;
    let mut found = Vec::new();
    let age = i64::try_from(lag.oldest_ms).unwrap_or(i64::MAX);
    if lag.pending > 0 && lag.oldest_ms > LATE_MS {
        let said = format!("{} rows wait to be sent, the oldest for {}: does a relay run?", lag.pending, span(age));
        found.push(
            warning(said)
                .seen("pending", lag.pending)
                .seen("oldest_ms", lag.oldest_ms)
                .cleared_by(format!("ojs relay run --database '{database}'")),
        );
    }
    if lag.parked > 0 {
        let said = format!("the server has refused {} rows for good: `ojs relay parked` says why", lag.parked);
        found
            .push(warning(said).seen("parked", lag.parked).cleared_by(format!("ojs relay replay --all --database '{database}'")));
    }
    if found.is_empty() {
        found.push(ok(format!("{} rows wait, none is parked", lag.pending)));
    }
    Ok(found)
}
