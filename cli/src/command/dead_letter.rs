//! `ojs dead-letter`: jobs that failed for good.
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
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
        limit: usize,
    },
    /// Show one, with the history of its failures.
    Get {
        /// The job's id.
        id: String,
    },
    /// Run some again, or with --all every one that the filter finds. Attempts count from zero.
    Retry {
        /// The jobs' ids.
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
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
        Action::Retry { ids, all, filter } => {
            let ids = if all { all_ids(&remote, &filter).await? } else { ids };
            retry(&remote, &ids).await
        }
        Action::Delete { id } => {
            let answer = remote.delete(format!("/dead-letter/{}", segment(&id))).await?;
            remote.output.show(&answer, |_| format!("{id}: deleted"))
        }
    }
}

/// Largest page that servers give.
const PAGE: usize = 100;

fn list_path(filter: &Filter, limit: usize, offset: usize) -> String {
    let mut path = format!("/dead-letter?limit={limit}&offset={offset}");
    for (name, value) in filter.members() {
        path.push_str(&format!("&{name}={}", segment(value)));
    }
    path
}

/// Collected before the first is run again: one that fails anew must not be met twice.
async fn all_ids(remote: &Remote, filter: &Filter) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    loop {
        let page = remote.get(list_path(filter, PAGE, ids.len())).await?.value;
        let found = items(&page, "/jobs");
        ids.extend(found.iter().map(|job| text(job, "/id")));
        if found.len() < PAGE {
            return Ok(ids);
        }
    }
}

/// Runs each again and reports it; a refusal does not stop the others.
async fn retry(remote: &Remote, ids: &[String]) -> Result<(), Failure> {
    let mut refused = 0;
    // Nothing is drawn where nobody looks: in pipes, and with --json.
    let bar = if remote.output.json || ids.len() < 2 { ProgressBar::hidden() } else { ProgressBar::new(ids.len() as u64) };
    for id in bar.wrap_iter(ids.iter()) {
        match remote.post(format!("/dead-letter/{}/retry", segment(id)), &json!({})).await {
            Ok(answer) => remote.output.show(&answer, |value| format!("{id}: {}", text(value, "/job/state")))?,
            Err(failure) if ids.len() == 1 => return Err(failure),
            Err(failure) => {
                refused += 1;
                eprintln!("ojs: {id}: {failure}");
            }
        }
    }
    if refused > 0 { Err(Failure::partly(format!("{refused} of {} were not retried", ids.len()))) } else { Ok(()) }
}

async fn list(remote: &Remote, filter: &Filter, limit: usize) -> Result<(), Failure> {
    let answer = remote.get(list_path(filter, limit, 0)).await?;
    remote.output.show(&answer, |value| {
        let line = |job: &Value| {
            ["/id", "/type", "/queue", "/attempt", "/discarded_at", "/error/message"].map(|path| text(job, path)).to_vec()
        };
        let table = rows(&["id", "type", "queue", "attempts", "discarded", "error"], items(value, "/jobs").iter().map(line));
        let total = text(value, "/pagination/total");
        if total.is_empty() { table } else { format!("{table}\n{} of {total}", items(value, "/jobs").len()) }
    })
}
