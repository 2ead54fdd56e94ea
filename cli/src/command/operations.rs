//! `ojs bulk`: changes of many jobs that the server carries out in the background.
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::bulk::{Consent, bar};
use crate::failure::Failure;
use crate::list::{Cut, FEW, Paging, Source};
use crate::output::{items, pairs, print, remark, rows, text};
use crate::remote::{Answer, Remote, segment};

/// How often the bar moves. The end is answered at once.
const LOOK_EVERY: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Operations begin with `ojs jobs bulk-retry --all`, `bulk-cancel --all` and `bulk-delete --all`.
Examples:
  ojs bulk list --state running
  ojs bulk show 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f --follow
  ojs bulk pause 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// List bulk operations, the newest first.
    List {
        /// Only those in this state: running, paused, completed, cancelled or failed.
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        cut: Cut,
    },
    /// Show one: how far it is, how many jobs were changed, how many were refused and why.
    #[command(visible_alias = "get")]
    Show {
        /// Its id.
        id: String,
        /// Wait until it does not run any more.
        #[arg(long)]
        follow: bool,
    },
    /// Stop one until it is resumed.
    Pause {
        /// Its id.
        id: String,
    },
    /// Go on with one that was paused or has failed.
    Resume {
        /// Its id.
        id: String,
    },
    /// End one for good. Jobs that it has changed stay changed.
    Cancel {
        /// Its id.
        id: String,
    },
}

/// How an operation is begun.
#[derive(Debug, Args)]
pub struct Begin {
    /// With --all: return at once; the server goes on by itself, see `ojs bulk`.
    #[arg(long, requires = "all")]
    detach: bool,
    /// With --all: why, for those who look at it later.
    #[arg(long, value_name = "TEXT", requires = "all")]
    reason: Option<String>,
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    match action {
        Action::List { state, cut } => list(&remote, state.as_deref(), &cut).await,
        Action::Show { id, follow: true } => {
            let first = remote.get(path(&id, "")).await?;
            let last = follow(&remote, first).await?;
            remote.output.show(&last, describe)
        }
        Action::Show { id, follow: false } => {
            let answer = remote.get(path(&id, "")).await?;
            remote.output.show(&answer, describe)
        }
        Action::Pause { id } => direct(&remote, &id, "pause").await,
        Action::Resume { id } => direct(&remote, &id, "resume").await,
        Action::Cancel { id } => direct(&remote, &id, "cancel").await,
    }
}

fn path(id: &str, rest: &str) -> String {
    format!("/admin/bulk/{}{rest}", segment(id))
}

async fn direct(remote: &Remote, id: &str, word: &str) -> Result<(), Failure> {
    let answer = remote.post(path(id, &format!("/{word}")), &json!({})).await?;
    remote.output.show(&answer, |value| format!("{id}: {}", text(value, "/state")))
}

async fn list(remote: &Remote, state: Option<&str>, cut: &Cut) -> Result<(), Failure> {
    let filter = state.map_or_else(String::new, |state| format!("?state={}", segment(state)));
    let source = Source { path: format!("/admin/bulk{filter}"), members: &["items"], paging: Paging::Numbered };
    let listed = cut.of(remote, &source, FEW).await?;
    listed.show(remote.output, &["id", "action", "state", "changed", "refused", "created", "by"], |operation| {
        let columns = ["/id", "/action", "/state", "/counts/changed", "/counts/refused", "/created_at", "/created_by"];
        columns.map(|path| text(operation, path))
    })
}

fn describe(operation: &Value) -> String {
    let filter = operation.get("filter").map(ToString::to_string).unwrap_or_default();
    let mut out = pairs([
        ("operation", text(operation, "/id")),
        ("action", text(operation, "/action")),
        ("filter", filter),
        ("state", text(operation, "/state")),
        ("changed", text(operation, "/counts/changed")),
        ("refused", text(operation, "/counts/refused")),
        ("expected", expected(operation)),
        ("reason", text(operation, "/reason")),
        ("tenant", text(operation, "/tenant_id")),
        ("created", text(operation, "/created_at")),
        ("by", text(operation, "/created_by")),
        ("finished", text(operation, "/finished_at")),
        ("error", text(operation, "/error")),
    ]);
    let refused = items(operation, "/refusals");
    if !refused.is_empty() {
        let line = |refusal: &Value| ["/reason", "/count", "/job_id", "/message"].map(|path| text(refusal, path)).to_vec();
        out.push_str("\n\n");
        out.push_str(&rows(&["refused", "jobs", "first", "message"], refused.iter().map(line)));
    }
    out
}

fn expected(operation: &Value) -> String {
    let jobs = text(operation, "/progress/expected");
    match operation.pointer("/progress/relation").and_then(Value::as_str) {
        Some("about") => format!("about {jobs}"),
        Some("gte") => format!("{jobs} or more"),
        _ => jobs,
    }
}

/// Whether the server has bulk operations. Others are asked again and again for a slice.
///
/// # Errors
/// As [`Remote::knows`].
pub async fn are_known(remote: &Remote) -> Result<bool, Failure> {
    remote.knows("/admin/bulk?per_page=1").await
}

impl Begin {
    /// Refuses the options that only servers with bulk operations understand.
    ///
    /// # Errors
    /// When such an option was given.
    pub fn check_without_operations(&self) -> Result<(), Failure> {
        let given = [("--detach", self.detach), ("--reason", self.reason.is_some())];
        let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let message = format!("{option} needs bulk operations, which this server does not have");
        Err(Failure::usage(message, format!("leave {option} out: the jobs are then changed by this command, part by part")))
    }
}

/// Looks, asks, begins an operation and follows it to its end.
///
/// # Errors
/// As [`Remote::call`]; a refusal of the person who is asked; jobs that were refused; an operation that was stopped.
pub async fn begin(
    remote: &Remote,
    verb: &str,
    done: &str,
    filter: Value,
    consent: &Consent,
    begin: &Begin,
) -> Result<(), Failure> {
    let mut body = json!({"action": verb, "filter": filter, "dry_run": true});
    let seen = remote.post("/admin/bulk", &body).await?;
    let (matched, jobs) = (number(&seen.value, "/matched"), amount(&seen.value));
    if consent.dry_run {
        return remote.output.show(&seen, |_| format!("{jobs} would be {done}"));
    }
    if matched == 0 {
        return remote.output.show(&seen, |_| format!("0 {done}"));
    }
    consent.ask(&format!("{verb} {jobs} jobs?"))?;
    if let Some(members) = body.as_object_mut() {
        members.remove("dry_run");
        members.insert("confirm".into(), json!(true));
        members.insert("reason".into(), json!(begin.reason));
    }
    let operation = remote.post("/admin/bulk", &body).await?;
    if begin.detach {
        return remote.output.show(&operation, |value| text(value, "/id"));
    }
    finished(remote, done, &follow(remote, operation).await?.value)
}

/// How many jobs a dry run has found, in words.
fn amount(seen: &Value) -> String {
    let matched = text(seen, "/matched");
    match seen.get("relation").and_then(Value::as_str) {
        Some("gte") => format!("{matched} or more"),
        Some("about") => format!("about {matched}"),
        _ => matched,
    }
}

fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// Waits until an operation does not run any more, with a bar.
async fn follow(remote: &Remote, first: Answer) -> Result<Answer, Failure> {
    let id = text(&first.value, "/id");
    let mut answer = first;
    let bar = bar(remote, number(&answer.value, "/progress/expected"));
    if !bar.is_hidden() {
        remark(&format!("ojs: operation {id} continues without this command; `ojs bulk pause {id}` stops it"));
    }
    while answer.value.get("state").and_then(Value::as_str) == Some("running") {
        advance(&bar, &answer.value);
        answer = remote.get(path(&id, &format!("?wait_ms={}", LOOK_EVERY.as_millis()))).await?;
    }
    bar.finish_and_clear();
    Ok(answer)
}

fn advance(bar: &ProgressBar, operation: &Value) {
    let seen = number(operation, "/counts/seen");
    bar.set_length(number(operation, "/progress/expected").max(seen));
    bar.set_position(seen);
}

/// Says how an operation ended.
fn finished(remote: &Remote, done: &str, operation: &Value) -> Result<(), Failure> {
    let (changed, refused) = (number(operation, "/counts/changed"), number(operation, "/counts/refused"));
    if remote.output.json {
        let mut shown = operation.clone();
        if let Some(members) = shown.as_object_mut() {
            // The names of the answer to a request that changes a slice.
            members.extend([
                ("matched".to_owned(), json!(changed + refused)),
                ("succeeded".to_owned(), json!(changed)),
                ("failed".to_owned(), json!(refused)),
            ]);
        }
        print(&shown.to_string())?;
    } else {
        for refusal in items(operation, "/refusals") {
            let (count, message) = (text(refusal, "/count"), text(refusal, "/message"));
            remark(&format!("ojs: {count} refused: {}: {message}", text(refusal, "/reason")));
        }
        print(&format!("{changed} {done}"))?;
    }
    match operation.get("state").and_then(Value::as_str) {
        Some("completed") if refused == 0 => Ok(()),
        Some("completed") => Err(Failure::partly(format!("{refused} of {} were not {done}", changed + refused))),
        state => {
            let id = text(operation, "/id");
            let message = format!("operation {id} is {}: {}", state.unwrap_or("unknown"), text(operation, "/error"));
            Err(Failure::refused(message.trim_end_matches([':', ' ']), format!("look at it with `ojs bulk show {id}`")))
        }
    }
}
