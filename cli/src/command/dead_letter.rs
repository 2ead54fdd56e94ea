//! `ojs dead-letter`: jobs that failed for good.
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::bulk::Consent;
use super::jobs::describe;
use super::queues::remark_unknown;
use crate::failure::Failure;
use crate::list::{Cut, FEW, Paging, Source};
use crate::output::{Output, items, print, remark, rows, text};
use crate::remote::{Remote, segment};

const RETRY_EXAMPLES: &str = "\
Examples:
  ojs dead-letter retry 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f
  ojs dead-letter retry --all --type email.send --dry-run
  ojs dead-letter retry --all --queue mail --yes";

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List dead letters, the newest first.
    List {
        #[command(flatten)]
        filter: Filter,
        #[command(flatten)]
        cut: Cut,
    },
    /// Show one, with the history of its failures.
    #[command(visible_alias = "show")]
    Get {
        /// The job's id.
        id: String,
    },
    /// Run some again, or with --all every one that the filter finds. Attempts count from zero.
    #[command(after_help = RETRY_EXAMPLES)]
    Retry {
        /// The jobs' ids.
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
        /// All that match.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        filter: Filter,
        #[command(flatten)]
        consent: Consent,
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
    fn source(&self) -> Source {
        let mut path = "/dead-letter?".to_owned();
        for (name, value) in [("queue", &self.queue), ("type", &self.kind)] {
            if let Some(value) = value {
                path.push_str(&format!("{name}={}&", segment(value)));
            }
        }
        path.pop();
        Source { path, members: &["jobs"], paging: Paging::Offset(100) }
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    match action {
        Action::List { filter, cut } => list(&remote, &filter, &cut).await,
        Action::Get { id } => {
            let answer = remote.get(format!("/dead-letter/{}", segment(&id))).await?;
            remote.output.show(&answer, |value| value.get("job").map(describe).unwrap_or_default())
        }
        Action::Retry { ids, all: false, consent, .. } => {
            if consent.dry_run {
                return foretell(&remote, &format!("job_ids={}", segment(&ids.join(","))), ids.len()).await;
            }
            retry(&remote, &ids).await
        }
        Action::Retry { filter, consent, .. } => retry_all(&remote, &filter, &consent).await,
        Action::Delete { id } => {
            let answer = remote.delete(format!("/dead-letter/{}", segment(&id))).await?;
            remote.output.show(&answer, |_| format!("{id}: deleted"))
        }
    }
}

/// Looks, asks, then runs them again.
async fn retry_all(remote: &Remote, filter: &Filter, consent: &Consent) -> Result<(), Failure> {
    // Collected before the first is run again: one that fails anew must not be met twice.
    let ids: Vec<String> = filter.source().all(remote).await?.iter().map(|job| text(&job.value, "/id")).collect();
    if consent.dry_run {
        let source = filter.source();
        let query = source.path.split_once('?').map_or("", |(_, query)| query);
        return foretell(remote, query, ids.len()).await;
    }
    if ids.is_empty() {
        return count(remote.output, "retried", 0);
    }
    consent.ask(&format!("retry {} dead letters?", ids.len()))?;
    retry(remote, &ids).await
}

/// Prints the preview of a retry. From a server without previews only the count is printed.
async fn foretell(remote: &Remote, query: &str, jobs: usize) -> Result<(), Failure> {
    let path = if query.is_empty() { "/dead-letter/preview".to_owned() } else { format!("/dead-letter/preview?{query}") };
    match remote.get(path).await {
        Ok(answer) => remote.output.show(&answer, foretold),
        Err(failure) if failure.is_unreachable() => Err(failure),
        Err(failure) => {
            remark(&format!("ojs: only counted, the server says nothing of a retry: {}", failure.in_one_line()));
            count(remote.output, "would be retried", jobs)
        }
    }
}

/// The counts, and below them a line for each reason.
fn foretold(value: &Value) -> String {
    let [matched, seen] = ["/matched", "/looked_at"].map(|path| text(value, path));
    let [run, wait, refused] = ["/would_run", "/would_wait", "/would_be_refused"].map(|path| text(value, path));
    let of = if matched == seen { String::new() } else { format!(" of the newest {seen}") };
    let least = if value["matched_relation"] == "gte" { "at least " } else { "" };
    let first = format!("{least}{matched} would be retried{of}: {run} would run, {wait} would wait, {refused} would be refused");
    let reasons = items(value, "/reasons");
    if reasons.is_empty() {
        return first;
    }
    let columns = ["/effect", "/jobs", "/code", "/job_id", "/message", "/command"];
    let lines = reasons.iter().map(|reason| columns.map(|path| text(reason, path)).to_vec());
    format!("{first}\n{}", rows(&["effect", "jobs", "reason", "first job", "message", "what helps"], lines))
}

fn count(output: Output, words: &str, jobs: usize) -> Result<(), Failure> {
    print(&if output.json { json!({"matched": jobs}).to_string() } else { format!("{jobs} {words}") })
}

/// Runs each again and reports it; a refusal does not stop the others.
async fn retry(remote: &Remote, ids: &[String]) -> Result<(), Failure> {
    let mut refused = 0;
    // Nothing is drawn where no person looks: in pipes, and with --json.
    let bar = if remote.output.json || ids.len() < 2 { ProgressBar::hidden() } else { ProgressBar::new(ids.len() as u64) };
    for id in bar.wrap_iter(ids.iter()) {
        match remote.post(format!("/dead-letter/{}/retry", segment(id)), &json!({})).await {
            Ok(answer) => remote.output.show(&answer, |value| format!("{id}: {}", text(value, "/job/state")))?,
            Err(failure) if ids.len() == 1 => return Err(failure),
            Err(failure) => {
                refused += 1;
                remark(&format!("ojs: {id}: {failure}"));
            }
        }
    }
    if refused > 0 { Err(Failure::partly(format!("{refused} of {} were not retried", ids.len()))) } else { Ok(()) }
}

async fn list(remote: &Remote, filter: &Filter, cut: &Cut) -> Result<(), Failure> {
    let listed = cut.of(remote, &filter.source(), FEW).await?;
    if let Some(queue) = filter.queue.as_deref().filter(|_| listed.entries.is_empty()) {
        remark_unknown(remote, queue).await?;
    }
    let columns = ["/id", "/type", "/queue", "/attempt", "/discarded_at", "/error/message"];
    let heading = ["id", "type", "queue", "attempts", "discarded", "error"];
    listed.counted().show(remote.output, &heading, |job| columns.map(|path| text(job, path)))
}
