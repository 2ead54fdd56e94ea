//! Clocks that differ.
use ojs_model::Timestamp;

use super::context::{Context, now_ms};
use super::finding::{Finding, ok, skipped, warning};
use super::store;
use crate::failure::Failure;
use crate::output::text;

/// Clocks may differ by so much before leases and schedules are noticeably off.
const MAX_SKEW_MS: i64 = 2_000;

/// The clocks of the server and of the database beside the clock of this machine.
pub async fn skew(context: &Context) -> Result<Vec<Finding>, Failure> {
    let mut found = store::clock(context).await?;
    if context.url.is_some() && context.remote.is_some() {
        found.push(server(context).await?);
    }
    if found.is_empty() {
        found.push(skipped("no server answers, and --store names no database"));
    }
    Ok(found)
}

async fn server(context: &Context) -> Result<Finding, Failure> {
    let sent = now_ms();
    let answer = context.get("/queues/default/stats").await?;
    let received = now_ms();
    let Some(told) = Timestamp::parse(&text(&answer, "/computed_at")).ok() else {
        return Ok(warning("the server does not tell its time"));
    };
    let skew = told.as_millis() - (sent + received) / 2;
    let found = if skew.abs() > MAX_SKEW_MS + (received - sent) {
        warning(format!("the server's clock is {skew} ms from this machine's: schedules will be off. Use NTP on both"))
            .cleared_by("timedatectl set-ntp true")
    } else {
        ok(format!("within {} ms of the server's", skew.abs()))
    };
    Ok(found.seen("skew_ms", skew))
}
