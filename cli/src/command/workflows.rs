//! `ojs workflows`: how far they are, and the brake.
use clap::Subcommand;
use serde_json::Value;

use crate::failure::Failure;
use crate::list::{Cut, FEW, Paging, Source};
use crate::output::{items, pairs, rows, text};
use crate::remote::{Remote, segment};

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List workflows, newest first. One inside another is a step of it, and not listed.
    List {
        /// Only this state: pending, running, completed, failed or cancelled.
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        cut: Cut,
    },
    /// Show a workflow with its steps.
    #[command(visible_alias = "show")]
    Get {
        /// Its id.
        id: String,
    },
    /// Cancel it: what has not begun never will.
    Cancel {
        /// Its id.
        id: String,
    },
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let answer = match action {
        Action::List { state, cut } => return list(&remote, state.as_deref(), &cut).await,
        Action::Get { id } => remote.get(format!("/workflows/{}", segment(&id))).await?,
        Action::Cancel { id } => remote.delete(format!("/workflows/{}", segment(&id))).await?,
    };
    remote.output.show(&answer, |value| {
        let flow = value.get("workflow").unwrap_or(value);
        let head = pairs([
            ("id", text(flow, "/id")),
            ("type", text(flow, "/type")),
            ("state", text(flow, "/state")),
            ("steps", format!("{} of {}", text(flow, "/steps_completed"), text(flow, "/steps_total"))),
            ("created", text(flow, "/created_at")),
            ("completed", text(flow, "/completed_at")),
        ]);
        let line = |step: &Value| ["/index", "/name", "/type", "/state", "/job_id"].map(|path| text(step, path)).to_vec();
        let steps = rows(&["step", "name", "type", "state", "job"], items(flow, "/steps").iter().map(line));
        format!("{head}\n\n{steps}")
    })
}

async fn list(remote: &Remote, state: Option<&str>, cut: &Cut) -> Result<(), Failure> {
    let mut path = "/admin/workflows".to_owned();
    if let Some(state) = state {
        path.push_str(&format!("?state={}", segment(state)));
    }
    let listed = cut.of(remote, &Source { path, members: &["items"], paging: Paging::Numbered }, FEW).await?;
    listed.show(remote.output, &["id", "type", "name", "state", "steps", "created"], |flow| {
        let steps = format!("{} of {}", text(flow, "/steps_completed"), text(flow, "/steps_total"));
        [text(flow, "/id"), text(flow, "/type"), text(flow, "/name"), text(flow, "/state"), steps, text(flow, "/created_at")]
    })
}
