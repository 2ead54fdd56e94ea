//! `ojs events`: what happens, as it happens.
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{items, print, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs events --limit 20                                the oldest 20 that are kept
  ojs events --follow --types job.failed,job.discarded
  ojs events --follow --json | jq .data";

/// Between two looks when there was nothing new.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Events {
    /// Go on with new ones until interrupted; begins with the next event.
    #[arg(long)]
    follow: bool,
    /// Behind this cursor or event id.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Only these types, comma-separated.
    #[arg(long)]
    types: Option<String>,
    /// Only these queues, comma-separated.
    #[arg(long)]
    queues: Option<String>,
    /// At most this many (without --follow).
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
}

/// Prints events, one a line.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(events: Events, remote: Remote) -> Result<(), Failure> {
    let mut cursor = events.after.clone();
    if events.follow && cursor.is_none() {
        cursor = Some(end_of_log(&remote).await?);
    }
    loop {
        let answer = remote.get(events.path(cursor.as_deref())).await?;
        let found = items(&answer.value, "/events");
        found.iter().for_each(|event| print(&line(event, remote.output.json)));
        if !events.follow {
            return Ok(());
        }
        let next = text(&answer.value, "/cursor");
        cursor = Some(next).filter(|next| !next.is_empty()).or(cursor);
        if found.is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The cursor behind everything that is there already.
async fn end_of_log(remote: &Remote) -> Result<String, Failure> {
    let mut cursor = String::new();
    loop {
        let answer = remote.get(format!("/events?limit=1000&after={}", segment(&cursor))).await?;
        cursor = text(&answer.value, "/cursor");
        if text(&answer.value, "/has_more") != "true" {
            return Ok(cursor);
        }
    }
}

impl Events {
    fn path(&self, cursor: Option<&str>) -> String {
        let mut path = format!("/events?limit={}", if self.follow { 1000 } else { self.limit });
        for (name, value) in [("after", cursor), ("types", self.types.as_deref()), ("queues", self.queues.as_deref())] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                path.push_str(&format!("&{name}={}", segment(value)));
            }
        }
        path
    }
}

fn line(event: &Value, json: bool) -> String {
    if json {
        return event.to_string();
    }
    let mut parts = ["/time", "/type", "/data/queue", "/data/job_type", "/subject"].map(|path| text(event, path)).to_vec();
    parts.push(text(event, "/data/error/message"));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}
