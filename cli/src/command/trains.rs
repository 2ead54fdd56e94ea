//! `ojs trains`: jobs that run one after another, and the hold of a train.
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{pairs, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs trains list --held
  ojs trains show dest_7
  ojs trains advance dest_7 --job 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// List the trains that have jobs.
    List(List),
    /// Show a train and its jobs, in the order in which they run.
    #[command(visible_alias = "get")]
    Show {
        /// The id of the train.
        train: String,
    },
    /// End the hold of a train: the job that holds it leaves, and the next one may run.
    Advance {
        /// The id of the train.
        train: String,
        /// Only if this job holds the train.
        #[arg(long, value_name = "JOB")]
        job: Option<String>,
    },
    /// Hold a train: a job of it that runs may end, and no further one starts.
    Hold {
        /// The id of the train.
        train: String,
    },
}

#[derive(Debug, Args)]
pub struct List {
    /// Only trains that are held.
    #[arg(long)]
    held: bool,
    #[command(flatten)]
    cut: Cut,
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let path = |train: &str| format!("/trains/{}", segment(train));
    let answer = match action {
        Action::List(which) => return list(&remote, &which).await,
        Action::Show { train } => remote.get(format!("{}?limit=1000", path(&train))).await?,
        Action::Advance { train, job } => {
            remote.post(format!("{}/advance", path(&train)), &json!({"job_id": job, "confirm": true})).await?
        }
        Action::Hold { train } => remote.post(format!("{}/hold", path(&train)), &json!({})).await?,
    };
    remote.output.show(&answer, describe)
}

async fn list(remote: &Remote, which: &List) -> Result<(), Failure> {
    let path = if which.held { "/trains?state=held" } else { "/trains" };
    let source = Source { path: path.to_owned(), members: &["trains"], paging: Paging::Offset(200) };
    let listed = which.cut.of(remote, &source, MANY).await?;
    let columns = ["/id", "/state", "/length", "/locomotive", "/held_since"];
    listed.show(remote.output, &["train", "state", "jobs", "locomotive", "held since"], |train| {
        columns.map(|path| text(train, path))
    })
}

fn describe(train: &Value) -> String {
    let mut out = pairs([
        ("train", text(train, "/id")),
        ("state", text(train, "/state")),
        ("locomotive", text(train, "/locomotive")),
        ("jobs", text(train, "/length")),
        ("held since", text(train, "/held_since")),
        ("held by", text(train, "/held_by")),
    ]);
    for car in train.get("cars").and_then(Value::as_array).into_iter().flatten() {
        let line = [text(car, "/position"), text(car, "/job_id"), text(car, "/state")].join("  ");
        out.push('\n');
        out.push_str(&line);
    }
    out
}
