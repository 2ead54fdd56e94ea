//! `ojs queues`: what waits, what runs, and the brake.
use clap::Subcommand;
use serde_json::{Value, json};

use super::bulk::{Consent, Sweep};
use crate::failure::Failure;
use crate::output::{items, print, rows, text};
use crate::remote::{Remote, segment};

const PURGE_EXAMPLES: &str = "\
Examples:
  ojs queues purge mail --state completed --older-than P7D
  ojs queues purge mail --state available,scheduled --dry-run";

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the queues.
    List,
    /// Count the jobs of some queues, or of all.
    Stats {
        /// The queues; all when none is named.
        queues: Vec<String>,
    },
    /// Hand out no more jobs of a queue. New ones are still accepted.
    Pause {
        /// The queue.
        queue: String,
    },
    /// Hand out jobs of a paused queue again.
    Resume {
        /// The queue.
        queue: String,
    },
    /// Remove jobs of a queue for ever. What waits is cancelled first, so workflows move on; what runs is left alone.
    #[command(after_help = PURGE_EXAMPLES)]
    Purge {
        /// The queue.
        queue: String,
        /// Jobs in this state; may be given more than once, or as a list with commas.
        #[arg(long, required = true, value_delimiter = ',')]
        state: Vec<String>,
        /// Only jobs that ended before this: a time, or an ISO 8601 duration before now. Of jobs that wait, their age counts.
        #[arg(long, value_name = "TIME")]
        older_than: Option<String>,
        #[command(flatten)]
        consent: Consent,
    },
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    match action {
        Action::List => list(&remote).await,
        Action::Stats { queues } => stats(&remote, queues).await,
        Action::Pause { queue } => switch(&remote, &queue, "pause").await,
        Action::Resume { queue } => switch(&remote, &queue, "resume").await,
        Action::Purge { queue, state, older_than, consent } => {
            let path = format!("/admin/queues/{}/jobs", segment(&queue));
            let body = json!({"states": state, "older_than": older_than});
            let sweep = Sweep { verb: "purge", done: "purged", count: "purged_count" };
            sweep.run(&remote, &consent, body, async |body| remote.delete_with(path.as_str(), &body).await).await
        }
    }
}

async fn list(remote: &Remote) -> Result<(), Failure> {
    let answer = remote.get("/queues?limit=200").await?;
    remote.output.show(&answer, |value| {
        let line = |queue: &Value| ["/name", "/status", "/created_at"].map(|path| text(queue, path)).to_vec();
        rows(&["queue", "status", "created"], items(value, "/queues").iter().map(line))
    })
}

/// One request per queue: there is no call for all. With `--json` one document per line.
async fn stats(remote: &Remote, mut queues: Vec<String>) -> Result<(), Failure> {
    const COLUMNS: [&str; 8] =
        ["available", "active", "scheduled", "retryable", "pending", "completed", "discarded", "cancelled"];
    if queues.is_empty() {
        queues =
            items(&remote.get("/queues?limit=200").await?.value, "/queues").iter().map(|queue| text(queue, "/name")).collect();
    }
    let mut lines = Vec::new();
    for name in queues {
        let answer = remote.get(format!("/queues/{}/stats", segment(&name))).await?;
        if remote.output.json {
            print(answer.text.trim_end());
            continue;
        }
        let status = ["/queue/status", "/status"].map(|path| text(&answer.value, path)).into_iter().find(|word| !word.is_empty());
        let mut line = vec![name, status.unwrap_or_default()];
        line.extend(COLUMNS.map(|column| figure(&answer.value, column)));
        lines.push(line);
    }
    if !remote.output.json {
        let heading: Vec<&str> = ["queue", "status"].into_iter().chain(COLUMNS).collect();
        print(&rows(&heading, lines));
    }
    Ok(())
}

/// A count, wherever the server's dialect puts it.
fn figure(answer: &Value, name: &str) -> String {
    let found = ["queue", "stats"].map(|place| text(answer, &format!("/{place}/{name}")));
    found.into_iter().find(|count| !count.is_empty()).unwrap_or_else(|| "-".to_owned())
}

async fn switch(remote: &Remote, queue: &str, verb: &str) -> Result<(), Failure> {
    let answer = remote.post(format!("/queues/{}/{verb}", segment(queue)), &json!({})).await?;
    remote.output.show(&answer, |value| {
        let status = ["/queue/status", "/status"].map(|path| text(value, path)).into_iter().find(|word| !word.is_empty());
        format!("{queue}: {}", status.unwrap_or_else(|| format!("{verb}d")))
    })
}
