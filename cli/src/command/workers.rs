//! `ojs workers`: tell a worker to stop, politely, from outside.
use clap::Subcommand;
use serde_json::json;

use crate::failure::Failure;
use crate::output::text;
use crate::remote::{Remote, segment};

const DEPLOY: &str = "\
A worker hears of it at its next heartbeat. For a rolling deploy: quiet the old workers, start the new ones, terminate the old.
`ojs jobs get ID` shows which worker holds a job.";

#[derive(Debug, Subcommand)]
#[command(after_help = DEPLOY)]
pub enum Action {
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
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let (worker, directive) = match &action {
        Action::Quiet { worker } => (worker, "quiet"),
        Action::Terminate { worker } => (worker, "terminate"),
    };
    let answer = remote.post(format!("/admin/workers/{}/{directive}", segment(worker)), &json!({})).await?;
    remote.output.show(&answer, |value| format!("{worker}: {}", text(value, "/directive")))
}
