//! `ojs dead-letter`: jobs that failed for good.
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::jobs::describe;
use crate::failure::Failure;
use crate::output::{items, rows, text};
use crate::remote::{Remote, segment};

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List dead letters, the newest first.
    List {
        #[command(flatten)]
        filter: Filter,
        /// How many, up to 100.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: u32,
    },
    /// Show one, with the history of its failures.
    Get {
        /// The job's id.
        id: String,
    },
    /// Run one again, or with --all every one that the filter finds. Attempts count from zero.
    Retry {
        /// The job's id.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// All that match.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        filter: Filter,
    },
    /// Delete one. The job is gone then.
    Delete {
        /// The job's id.
        id: String,
    },
}

/// Which dead letters.
#[derive(Debug, Args)]
pub struct Filter {
    /// Of this queue only.
    #[arg(long)]
    queue: Option<String>,
    /// Of this job type only.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

impl Filter {
    fn members(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [("queue", self.queue.as_deref()), ("type", self.kind.as_deref())]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    match action {
        Action::List { filter, limit } => list(&remote, &filter, limit).await,
        Action::Get { id } => {
            let answer = remote.get(format!("/dead-letter/{}", segment(&id))).await?;
            remote.output.show(&answer, |value| value.get("job").map(describe).unwrap_or_default())
        }
        Action::Retry { id: Some(id), .. } => {
            let answer = remote.post(format!("/dead-letter/{}/retry", segment(&id)), &json!({})).await?;
            remote.output.show(&answer, |value| format!("{id}: {}", text(value, "/job/state")))
        }
        Action::Retry { id: None, filter, .. } => {
            let filter: Value = filter.members().map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
            let answer = remote.post("/dead-letter/retry", &json!({"filter": filter, "confirm": true})).await?;
            remote.output.show(&answer, |value| format!("{} retried", text(value, "/retried")))
        }
        Action::Delete { id } => {
            let answer = remote.delete(format!("/dead-letter/{}", segment(&id))).await?;
            remote.output.show(&answer, |_| format!("{id}: deleted"))
        }
    }
}

async fn list(remote: &Remote, filter: &Filter, limit: u32) -> Result<(), Failure> {
    let mut path = format!("/dead-letter?limit={limit}");
    for (name, value) in filter.members() {
        path.push_str(&format!("&{name}={}", segment(value)));
    }
    let answer = remote.get(path).await?;
    remote.output.show(&answer, |value| {
        let line = |job: &Value| {
            ["/id", "/type", "/queue", "/attempt", "/discarded_at", "/error/message"].map(|path| text(job, path)).to_vec()
        };
        let table = rows(&["id", "type", "queue", "attempts", "discarded", "error"], items(value, "/jobs").iter().map(line));
        let total = text(value, "/pagination/total");
        if total.is_empty() { table } else { format!("{table}\n{} of {total}", items(value, "/jobs").len()) }
    })
}
