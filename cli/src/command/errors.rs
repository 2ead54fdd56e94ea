//! `ojs errors`: failures put together by their fingerprints, and the jobs behind them.
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{Cut, FEW, Paging, Source};
use crate::output::{items, joined, pairs, print, rows, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs errors list
  ojs errors list --queue mail --sort count
  ojs errors show 1f0c5f9d2a7be643
  ojs errors retry 1f0c5f9d2a7be643";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// List groups of errors, the last seen first.
    List {
        #[command(flatten)]
        filter: Filter,
        /// What comes first.
        #[arg(long, value_enum, default_value_t = Sort::LastSeen)]
        sort: Sort,
        #[command(flatten)]
        cut: Cut,
    },
    /// Show a group with its queues, its types and its newest jobs.
    #[command(visible_alias = "get")]
    Show {
        /// The fingerprint, as `ojs errors list` and `ojs jobs history` show it.
        fingerprint: String,
        #[command(flatten)]
        filter: Filter,
    },
    /// Run those of its newest jobs again that have failed for good or wait for their next attempt.
    Retry {
        /// The fingerprint.
        fingerprint: String,
        #[command(flatten)]
        filter: Filter,
    },
}

/// What comes first.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Sort {
    /// The latest failure.
    LastSeen,
    /// The newest kind of failure.
    FirstSeen,
    /// The most failures.
    Count,
}

/// Which failures.
#[derive(Debug, Args)]
pub struct Filter {
    /// Of this queue only.
    #[arg(long)]
    queue: Option<String>,
    /// Of this job type only; `email.*` is all types that start with `email.`.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Errors of this type only.
    #[arg(long, value_name = "TYPE")]
    error_type: Option<String>,
    /// Of this tenant only.
    #[arg(long)]
    tenant: Option<String>,
}

impl Filter {
    /// A path with the filter; `more` is a parameter of its own, or empty.
    fn path(&self, start: &str, more: &str) -> String {
        let own = [("queue", &self.queue), ("type", &self.kind), ("error_type", &self.error_type), ("tenant", &self.tenant)];
        let given = own.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", segment(value.as_deref()?))));
        let parts: Vec<String> = given.chain((!more.is_empty()).then(|| more.to_owned())).collect();
        if parts.is_empty() { start.to_owned() } else { format!("{start}?{}", parts.join("&")) }
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let one = |fingerprint: &str| format!("/admin/errors/{}", segment(fingerprint));
    match action {
        Action::List { filter, sort, cut } => list(&remote, &filter, sort, &cut).await,
        Action::Show { fingerprint, filter } => {
            let answer = remote.get(filter.path(&one(&fingerprint), "")).await?;
            remote.output.show(&answer, describe)
        }
        Action::Retry { fingerprint, filter } => {
            let group = remote.get(filter.path(&one(&fingerprint), "")).await?.value;
            let failed = items(&group, "/jobs").iter().filter(|job| may_retry(job));
            let ids: Vec<&Value> = failed.filter_map(|job| job.get("id")).collect();
            if ids.is_empty() {
                return print("none of its jobs can be retried");
            }
            let answer = remote.post("/jobs/bulk/retry".to_owned(), &json!({"job_ids": ids})).await?;
            remote.output.show(&answer, |value| format!("{} retried", text(value, "/retried")))
        }
    }
}

fn may_retry(job: &Value) -> bool {
    matches!(text(job, "/state").as_str(), "discarded" | "retryable")
}

async fn list(remote: &Remote, filter: &Filter, sort: Sort, cut: &Cut) -> Result<(), Failure> {
    let sort = match sort {
        Sort::LastSeen => "sort=last_seen_at",
        Sort::FirstSeen => "sort=first_seen_at",
        Sort::Count => "sort=count",
    };
    let source = Source { path: filter.path("/admin/errors", sort), members: &["items"], paging: Paging::Numbered };
    let listed = cut.of(remote, &source, FEW).await?;
    let heading = ["fingerprint", "count", "last seen", "queues", "types", "error"];
    listed.show(remote.output, &heading, |group| {
        let error = format!("{}: {}", text(group, "/error_type"), text(group, "/message"));
        let [fingerprint, count, seen] = ["/fingerprint", "/count", "/last_seen_at"].map(|path| text(group, path));
        [fingerprint, count, seen, joined(group, "/queues"), joined(group, "/types"), error]
    })
}

fn describe(group: &Value) -> String {
    let mut out = pairs([
        ("fingerprint", text(group, "/fingerprint")),
        ("error", text(group, "/error_type")),
        ("message", text(group, "/message")),
        ("failures", text(group, "/count")),
        ("first seen", text(group, "/first_seen_at")),
        ("last seen", text(group, "/last_seen_at")),
    ]);
    let table = |out: &mut String, path: &str, columns: &[&str], heading: &[&str]| {
        let lines = items(group, path).iter().map(|item| columns.iter().map(|column| text(item, column)).collect());
        out.push_str("\n\n");
        out.push_str(&rows(heading, lines));
    };
    table(&mut out, "/places", &["/queue", "/type", "/count", "/last_seen_at"], &["queue", "type", "failures", "last seen"]);
    let jobs = ["/id", "/state", "/queue", "/type", "/attempt"];
    table(&mut out, "/jobs", &jobs, &["job", "state", "queue", "type", "attempt"]);
    out
}
