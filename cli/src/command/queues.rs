//! `ojs queues`: what waits, what runs, and the brake.
use clap::Subcommand;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{items, print, rows, text};
use crate::remote::{Remote, segment};

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
