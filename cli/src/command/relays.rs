//! `ojs relays`: what the relays of outboxes say of themselves.
use clap::Args;
use serde_json::Value;

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::text;
use crate::remote::{Remote, segment};
use crate::when::span;

const EXAMPLES: &str = "\
A relay reports every five seconds to the server that it sends to. It is stuck while a row has waited for more than a minute, silent after
20 seconds without a report, and forgotten 15 minutes later. `ojs relay` acts on the outbox itself.

Examples:
  ojs relays
  ojs relays --state stuck";

/// `ojs relays`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Relays {
    /// Only those in this state: running, stuck or silent.
    #[arg(long)]
    state: Option<String>,
    #[command(flatten)]
    cut: Cut,
}

/// Lists them.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(relays: Relays, remote: Remote) -> Result<(), Failure> {
    let mut path = "/admin/relays".to_owned();
    if let Some(state) = &relays.state {
        path.push_str(&format!("?state={}", segment(state)));
    }
    let listed = relays.cut.of(&remote, &Source { path, members: &["items"], paging: Paging::Numbered }, MANY).await?;
    let heading = [
        "relay",
        "tenant",
        "database",
        "outbox",
        "state",
        "leads",
        "waiting",
        "oldest",
        "parked",
        "per minute",
        "heard",
        "error",
    ];
    listed.show(remote.output, &heading, line)
}

fn line(relay: &Value) -> [String; 12] {
    let plain = |path: &str| text(relay, path);
    let leads = if relay["leading"] == true { "yes" } else { "" };
    let oldest = relay["oldest_waiting_ms"].as_i64().filter(|_| relay["waiting"] != 0).map(span).unwrap_or_default();
    [
        plain("/name"),
        plain("/tenant_id"),
        plain("/database"),
        plain("/outbox"),
        plain("/state"),
        leads.to_owned(),
        waiting(relay),
        oldest,
        plain("/parked"),
        plain("/sent_per_minute"),
        plain("/last_heartbeat_at"),
        plain("/error"),
    ]
}

/// `10000+` where the relay has stopped counting.
pub fn waiting(relay: &Value) -> String {
    let more = if relay["waiting_relation"] == "gte" { "+" } else { "" };
    format!("{}{more}", text(relay, "/waiting"))
}
