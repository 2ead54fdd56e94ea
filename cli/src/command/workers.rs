//! `ojs workers`: who works, and how to make them stop, politely, from outside.
use clap::Subcommand;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{pairs, text};
use crate::remote::{Remote, segment};

const DEPLOY: &str = "\
A worker hears of it at its next heartbeat. For a rolling deploy: quiet the old workers, start the new ones, terminate the old.

Examples:
  ojs workers list
  ojs workers quiet worker-7
  ojs workers remove worker-7      it is gone for sure: hand its jobs out again now";

#[derive(Debug, Subcommand)]
#[command(after_help = DEPLOY)]
pub enum Action {
    /// List workers and what they hold.
    List {
        /// Only those in this state: running, quiet, terminate, drain, stale (silent) or left (stopped in order).
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        cut: Cut,
    },
    /// Show a worker.
    #[command(visible_alias = "show")]
    Get {
        /// The worker's id.
        worker: String,
    },
    /// Fetch no more jobs; finish those that run.
    Quiet {
        /// The worker's id.
        worker: String,
    },
    /// Stop: finish what runs within the grace period, then exit.
    Terminate {
        /// The worker's id.
        worker: String,
    },
    /// Take an order back that the worker has not heard yet.
    Resume {
        /// The worker's id.
        worker: String,
    },
    /// Forget a silent worker; its jobs are handed out again at once.
    Remove {
        /// The worker's id.
        worker: String,
    },
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let (worker, directive) = match &action {
        Action::List { state, cut } => return list(&remote, state.as_deref(), cut).await,
        Action::Get { worker } => {
            let answer = remote.get(format!("/admin/workers/{}", segment(worker))).await?;
            return remote.output.show(&answer, describe);
        }
        Action::Remove { worker } => {
            let answer = remote.delete(format!("/admin/workers/{}", segment(worker))).await?;
            return remote
                .output
                .show(&answer, |value| format!("{worker}: removed, {} jobs returned", text(value, "/jobs_requeued")));
        }
        Action::Quiet { worker } => (worker, "quiet"),
        Action::Terminate { worker } => (worker, "terminate"),
        Action::Resume { worker } => (worker, "resume"),
    };
    let answer = remote.post(format!("/admin/workers/{}/{directive}", segment(worker)), &json!({})).await?;
    remote.output.show(&answer, |value| format!("{worker}: {}", text(value, "/directive")))
}

async fn list(remote: &Remote, state: Option<&str>, cut: &Cut) -> Result<(), Failure> {
    let mut path = "/admin/workers".to_owned();
    if let Some(state) = state {
        path.push_str(&format!("?state={}", segment(state)));
    }
    let listed = cut.of(remote, &Source { path, members: &["items"], paging: Paging::Numbered }, MANY).await?;
    let columns = ["/id", "/state", "/active_jobs", "/concurrency", "/hostname", "/pid", "/version", "/last_heartbeat_at"];
    let heading = ["worker", "state", "active", "slots", "host", "pid", "version", "last heartbeat"];
    listed.show(remote.output, &heading, |worker| columns.map(|path| text(worker, path)))
}

fn describe(worker: &Value) -> String {
    pairs([
        ("id", text(worker, "/id")),
        ("state", text(worker, "/state")),
        ("directive", text(worker, "/directive")),
        ("active jobs", text(worker, "/active_jobs")),
        ("concurrency", text(worker, "/concurrency")),
        ("queues", text(worker, "/queues")),
        ("host", text(worker, "/hostname")),
        ("pid", text(worker, "/pid")),
        ("version", text(worker, "/version")),
        ("started", text(worker, "/started_at")),
        ("last heartbeat", text(worker, "/last_heartbeat_at")),
        ("metadata", text(worker, "/metadata")),
    ])
}
