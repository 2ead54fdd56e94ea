//! Jobs that failed for good: lately, and those whose type no worker knows.
use std::collections::{BTreeMap, HashSet};

use ojs_model::Timestamp;
use serde_json::Value;

use super::context::{Context, live, now_ms, paged};
use super::finding::{Finding, ok, warning};
use crate::failure::Failure;
use crate::list::{Entry, Paging, Source};
use crate::output::{items, text};
use crate::remote::{Remote, segment};

/// A failure within this time is recent.
const RECENT_MS: i64 = 3_600_000;
/// Most discarded jobs that are looked at.
const MOST: usize = 1_000;

/// What failed for good in the last hour, and what of it was kept.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let remote = context.remote()?;
    Ok(vec![discards(context.discarded().await?), dead_letters(remote).await?])
}

/// Types of jobs that ended because they have no handler, and types of waiting jobs that no live worker declares.
pub async fn unknown_types(context: &Context) -> Result<Vec<Finding>, Failure> {
    let letters = unhandled_letters(context.remote()?).await?;
    let ended = no_handler(context.discarded().await?, &letters);
    let waiting = undeclared(context).await?;
    Ok(ended.into_iter().chain(waiting).collect())
}

/// Types that every live worker of their queue leaves out of what it declares. A worker that declares nothing runs
/// everything.
async fn undeclared(context: &Context) -> Result<Option<Finding>, Failure> {
    let live = live(context.workers().await?);
    let runs = |worker: &&Value, job: &Value| {
        let queues = items(worker, "/queues");
        let asks = queues.is_empty() || queues.iter().any(|name| *name == text(job, "/queue").as_str());
        let handlers = items(worker, "/handlers");
        asks && (handlers.is_empty() || handlers.iter().any(|handler| text(handler, "/type") == text(job, "/type")))
    };
    let jobs = context.available().await?.iter().map(|entry| &entry.value);
    let left: Vec<String> =
        jobs.filter(|job| !live.iter().any(|worker| runs(worker, job))).map(|job| text(job, "/type")).collect();
    // Without any worker all types would be unknown: `queue.starving` says that better.
    if left.is_empty() || live.is_empty() {
        return Ok(None);
    }
    let types = count(left.into_iter());
    let example = types.first().map(|(name, _)| name.clone()).unwrap_or_default();
    let said = format!("jobs wait whose type no live worker runs: {}. Deploy a worker that does, or cancel them", named(&types));
    Ok(Some(
        warning(said)
            .seen("types", names(&types))
            .cleared_by(format!("ojs jobs bulk-cancel --all --state available --type {example}")),
    ))
}

fn names(counts: &[(String, usize)]) -> Vec<String> {
    counts.iter().map(|(name, _)| name.clone()).collect()
}

/// Jobs that were discarded in the last hour, as far as [`MOST`] reaches.
///
/// # Errors
/// As [`Remote::call`].
pub async fn discarded(remote: &Remote) -> Result<Vec<Entry>, Failure> {
    // The latest to end come first. A server with very many of them does not sort them: then those accepted last are
    // looked at.
    let sorted = paged("/admin/jobs?state=discarded&sort=scheduled_at&order=desc").first(remote, MOST).await;
    let found = match sorted {
        Ok(found) => found,
        Err(_) => paged("/admin/jobs?state=discarded").first(remote, MOST).await?,
    };
    let since = now_ms() - RECENT_MS;
    let recent = |job: &Entry| {
        let ended = ["/discarded_at", "/completed_at"].map(|path| text(&job.value, path)).into_iter().find(|at| !at.is_empty());
        ended.and_then(|at| Timestamp::parse(&at).ok()).is_some_and(|at| at.as_millis() >= since)
    };
    Ok(found.into_iter().filter(recent).collect())
}

fn discards(recent: &[Entry]) -> Finding {
    if recent.is_empty() {
        return ok("no job was discarded in the last hour");
    }
    let types = count(recent.iter().map(|job| text(&job.value, "/type")));
    let errors = count(recent.iter().map(|job| error_of(&job.value)));
    let number = if recent.len() >= MOST { format!("{MOST} or more") } else { recent.len().to_string() };
    let jobs = if recent.len() == 1 { "job" } else { "jobs" };
    let most = errors.first().map(|(error, times)| format!("; most often {error} ({times})")).unwrap_or_default();
    let example = recent.first().map(|job| text(&job.value, "/id")).unwrap_or_default();
    let said = format!("discarded: {number} {jobs} in the last hour: {}{most}: `ojs jobs get {example}`", named(&types));
    warning(said)
        .quoting()
        .seen("types", names(&types))
        .seen("jobs", recent.len())
        .cleared_by("ojs jobs bulk-retry --all --state discarded")
}

async fn dead_letters(remote: &Remote) -> Result<Finding, Failure> {
    let since = Timestamp::from_millis(now_ms() - RECENT_MS).to_string();
    let recent = remote.get(format!("/dead-letter?limit=1&since={}", segment(&since))).await?.value;
    let recent = recent.pointer("/pagination/total").and_then(Value::as_u64).unwrap_or(0);
    Ok(if recent > 0 {
        let found = warning(format!("dead letters: {recent} in the last hour: `ojs dead-letter list` says why"));
        found.seen("dead_letters", recent).cleared_by("ojs dead-letter retry --all")
    } else {
        ok("no dead letter in the last hour")
    })
}

/// Dead letters of any age whose type no worker knew: none of them runs again by itself.
async fn unhandled_letters(remote: &Remote) -> Result<Vec<Entry>, Failure> {
    let stats = remote.get("/dead-letter/stats").await?.value;
    let errors = stats.get("by_error_type").and_then(Value::as_object);
    let mut found = Vec::new();
    for error in errors.into_iter().flatten().map(|(name, _)| name).filter(|name| is_no_handler(name)) {
        let path = format!("/dead-letter?error_type={}", segment(error));
        found.extend(Source { path, members: &["jobs"], paging: Paging::Offset(100) }.first(remote, MOST).await?);
    }
    Ok(found)
}

fn no_handler(recent: &[Entry], letters: &[Entry]) -> Vec<Finding> {
    let mut seen = HashSet::new();
    let without = recent.iter().filter(|job| ["/error/code", "/error/type"].iter().any(|p| is_no_handler(&text(&job.value, p))));
    let jobs: Vec<&Entry> = letters.iter().chain(without).filter(|job| seen.insert(text(&job.value, "/id"))).collect();
    if jobs.is_empty() {
        return vec![ok("no job ended because its type has no handler")];
    }
    let types = count(jobs.iter().map(|job| text(&job.value, "/type")));
    let example = types.first().map(|(name, _)| name.clone()).unwrap_or_default();
    let ended = if jobs.len() == 1 { "1 job ended" } else { &format!("{} jobs ended", jobs.len()) };
    let again = if letters.is_empty() {
        format!("ojs jobs bulk-retry --all --state discarded --type {example}")
    } else {
        format!("ojs dead-letter retry --all --type {example}")
    };
    let said =
        format!("{ended} because no worker knew the type: {}. Mend the name, or register it, then `{again}`", named(&types));
    vec![warning(said).seen("types", names(&types)).cleared_by(again)]
}

/// `no_handler`, `NoHandler`: implementations spell it both ways.
fn is_no_handler(word: &str) -> bool {
    word.replace('_', "").eq_ignore_ascii_case("nohandler")
}

/// Type, or code, and message.
fn error_of(job: &Value) -> String {
    let name = ["/error/type", "/error/code"].map(|path| text(job, path)).into_iter().find(|name| !name.is_empty());
    let parts = [name.unwrap_or_else(|| "no error given".to_owned()), text(job, "/error/message")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
}

/// How often each occurs, the most frequent first.
fn count(names: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    list
}

/// The first few in words.
fn named(counts: &[(String, usize)]) -> String {
    const SHOWN: usize = 5;
    let mut words: Vec<String> = counts.iter().take(SHOWN).map(|(name, times)| format!("{name} ({times})")).collect();
    if counts.len() > SHOWN {
        words.push(format!("and {} more types", counts.len() - SHOWN));
    }
    words.join(", ")
}
