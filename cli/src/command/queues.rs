//! `ojs queues`: what waits, what runs, and the brake.
use clap::{Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::bulk::{Consent, Sweep};
use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source, Total, envelope};
use crate::names::did_you_mean;
use crate::output::{pairs, print, remark, rows, text};
use crate::remote::{Remote, segment};

const PURGE_EXAMPLES: &str = "\
Examples:
  ojs queues purge mail --state completed --older-than P7D
  ojs queues purge mail --state available,scheduled --dry-run";

const SHARE_EXAMPLES: &str = "\
Examples:
  ojs queues share mail --weight acme=4 --weight initech=2
  ojs queues share reports --by key";

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the queues.
    List(Cut),
    /// Show a queue: its counts, how long its oldest job has waited, its settings.
    #[command(visible_alias = "show")]
    Get {
        /// The queue.
        queue: String,
    },
    /// Count the jobs of some queues, or of all.
    Stats {
        /// The queues; all when none is named.
        queues: Vec<String>,
    },
    /// Hand out no more jobs of a queue. New ones are still accepted.
    Pause {
        /// The queue.
        queue: String,
        /// Make the queue, paused, when there is none of this name: its first jobs will wait.
        #[arg(long)]
        create: bool,
    },
    /// Hand out jobs of a paused queue again.
    Resume {
        /// The queue.
        queue: String,
    },
    /// Serve tenants, or keys that jobs name, in turn. Jobs that wait are shared as well.
    #[command(after_help = SHARE_EXAMPLES)]
    Share {
        /// The queue. It is made when there is none of this name.
        queue: String,
        /// What the jobs are shared by.
        #[arg(long, default_value = "tenant")]
        by: Share,
        /// How many jobs a tenant or key gets while another one gets one; may be given more than once.
        #[arg(long, value_name = "NAME=WEIGHT")]
        weight: Vec<String>,
        /// The weight of all others.
        #[arg(long, value_name = "WEIGHT", default_value_t = 1)]
        default_weight: u64,
    },
    /// Hand out the jobs of a shared queue in their order again.
    Unshare {
        /// The queue.
        queue: String,
    },
    /// Remove jobs of a queue for ever. What waits is cancelled first, so workflows move on; what runs is left alone.
    #[command(after_help = PURGE_EXAMPLES)]
    Purge {
        /// The queue.
        queue: String,
        /// Jobs in this state; may be given more than once, or as a list with commas.
        #[arg(long, required = true, value_delimiter = ',')]
        state: Vec<String>,
        /// Only jobs that ended before this: a time, or an ISO 8601 duration before now. Of jobs that wait, their age counts.
        #[arg(long, value_name = "TIME")]
        older_than: Option<String>,
        #[command(flatten)]
        consent: Consent,
    },
}

/// What the jobs of a queue are shared by.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Share {
    /// The tenant of a job.
    Tenant,
    /// The `fairness_key` of a job, and its tenant where it names none.
    Key,
}

impl Share {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Key => "key",
        }
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    match action {
        Action::List(cut) => list(&remote, &cut).await,
        Action::Get { queue } => get(&remote, &queue).await,
        Action::Stats { queues } => stats(&remote, queues).await,
        Action::Pause { queue, create } => {
            if !create {
                must_exist(&remote, &queue, Some("--create makes it, paused")).await?;
            }
            switch(&remote, &queue, "pause").await
        }
        Action::Resume { queue } => {
            must_exist(&remote, &queue, None).await?;
            switch(&remote, &queue, "resume").await
        }
        Action::Share { queue, by, weight, default_weight } => share(&remote, &queue, by, weight, default_weight).await,
        Action::Unshare { queue } => {
            let answer = remote.delete(fairness_of(&queue)).await?;
            remote.output.show(&answer, |_| format!("{queue}: not shared any more"))
        }
        Action::Purge { queue, state, older_than, consent } => {
            let path = format!("/admin/queues/{}/jobs", segment(&queue));
            let body = json!({"states": state, "older_than": older_than});
            let sweep = Sweep { verb: "purge", done: "purged", count: "purged_count" };
            sweep.run(&remote, &consent, body, async |body| remote.delete_with(path.as_str(), &body).await).await
        }
    }
}

fn fairness_of(queue: &str) -> String {
    format!("/admin/queues/{}/fairness", segment(queue))
}

async fn share(remote: &Remote, queue: &str, by: Share, weights: Vec<String>, default: u64) -> Result<(), Failure> {
    let mut named = Map::new();
    for entry in &weights {
        let weight = entry.split_once('=').and_then(|(name, weight)| Some((name, weight.parse::<u64>().ok()?)));
        let (name, weight) = weight.ok_or_else(|| Failure::setting(format!("{entry}: a weight is written acme=4")))?;
        named.insert(name.to_owned(), weight.into());
    }
    let body = json!({"by": by.as_str(), "weights": named, "default_weight": default});
    let answer = remote.put(fairness_of(queue), &body).await?;
    remote.output.show(&answer, |value| {
        let weights = value.get("weights").and_then(Value::as_object).into_iter().flatten();
        let weights: Vec<String> = weights.map(|(name, weight)| format!("{name}={weight}")).collect();
        pairs([
            ("queue", text(value, "/queue")),
            ("shared by", text(value, "/by")),
            ("weights", weights.join(", ")),
            ("weight of others", text(value, "/default_weight")),
        ])
    })
}

fn all_queues() -> Source {
    Source { path: "/queues".to_owned(), members: &["queues"], paging: Paging::Offset(200) }
}

async fn list(remote: &Remote, cut: &Cut) -> Result<(), Failure> {
    let listed = cut.of(remote, &all_queues(), MANY).await?;
    let columns = ["/name", "/status", "/created_at"];
    listed.show(remote.output, &["queue", "status", "created"], |queue| columns.map(|path| text(queue, path)))
}

async fn get(remote: &Remote, queue: &str) -> Result<(), Failure> {
    must_exist(remote, queue, None).await?;
    let answer = remote.get(format!("/admin/queues/{}", segment(queue))).await?;
    remote.output.show(&answer, |value| {
        let count = |state: &str| text(value, &format!("/counts/{state}"));
        let configuration = value.get("configuration").and_then(Value::as_object).into_iter().flatten();
        let settings: Vec<String> =
            configuration.filter(|(_, value)| !value.is_null()).map(|(name, value)| format!("{name}={value}")).collect();
        pairs([
            ("queue", text(value, "/name")),
            ("state", text(value, "/state")),
            ("available", count("available")),
            ("active", count("active")),
            ("scheduled", count("scheduled")),
            ("retryable", count("retryable")),
            ("oldest waits since", text(value, "/oldest_available_at")),
            ("settings", settings.join(", ")),
            ("created", text(value, "/created_at")),
        ])
    })
}

/// The protocol makes a queue of any name that is paused or resumed: a misspelt one is refused here.
async fn must_exist(remote: &Remote, queue: &str, otherwise: Option<&str>) -> Result<(), Failure> {
    let Some(known) = queues_instead_of(remote, queue).await? else { return Ok(()) };
    let near = did_you_mean(queue, known.iter().map(String::as_str));
    let advice = near.into_iter().chain(otherwise.map(str::to_owned)).collect::<Vec<_>>().join(" ");
    let advice = if advice.is_empty() { "`ojs queues list` shows the queues that there are".to_owned() } else { advice };
    Err(Failure::refused(format!("there is no queue '{queue}'"), advice))
}

/// Says on stderr that an empty list is empty because there is no queue of this name.
///
/// # Errors
/// As [`Remote::call`].
pub async fn remark_unknown(remote: &Remote, queue: &str) -> Result<(), Failure> {
    if let Some(known) = queues_instead_of(remote, queue).await? {
        let near = did_you_mean(queue, known.iter().map(String::as_str)).map(|hint| format!(": {hint}"));
        remark(&format!("ojs: there is no queue '{queue}'{}", near.unwrap_or_default()));
    }
    Ok(())
}

/// `None` when the queue exists, else the names of the queues that do.
async fn queues_instead_of(remote: &Remote, queue: &str) -> Result<Option<Vec<String>>, Failure> {
    // One look is enough for a queue that is there; servers that do not know this call have the list.
    if remote.get(format!("/admin/queues/{}", segment(queue))).await.is_ok() {
        return Ok(None);
    }
    let known: Vec<String> = all_queues().all(remote).await?.iter().map(|entry| text(&entry.value, "/name")).collect();
    Ok(if known.iter().any(|name| name == queue) { None } else { Some(known) })
}

/// One request per queue: there is no call for all.
async fn stats(remote: &Remote, mut queues: Vec<String>) -> Result<(), Failure> {
    const COLUMNS: [&str; 8] =
        ["available", "active", "scheduled", "retryable", "pending", "completed", "discarded", "cancelled"];
    let named = !queues.is_empty();
    if !named {
        queues = all_queues().all(remote).await?.iter().map(|entry| text(&entry.value, "/name")).collect();
    }
    let (mut lines, mut answers) = (Vec::new(), Vec::new());
    for name in queues {
        if named {
            must_exist(remote, &name, None).await?;
        }
        let answer = remote.get(format!("/queues/{}/stats", segment(&name))).await?;
        let status = ["/queue/status", "/status"].map(|path| text(&answer.value, path)).into_iter().find(|word| !word.is_empty());
        let mut line = vec![name, status.unwrap_or_default()];
        line.extend(COLUMNS.map(|column| figure(&answer.value, column)));
        lines.push(line);
        answers.push(answer);
    }
    if remote.output.json {
        let total = answers.len() as u64;
        return print(&envelope(answers.iter().map(|answer| answer.text.trim()), Some(Total::from(total)), None::<u64>));
    }
    let heading: Vec<&str> = ["queue", "status"].into_iter().chain(COLUMNS).collect();
    print(&rows(&heading, lines))
}

/// A count, wherever the server's dialect puts it.
fn figure(answer: &Value, name: &str) -> String {
    let found = ["queue", "stats"].map(|place| text(answer, &format!("/{place}/{name}")));
    found.into_iter().find(|count| !count.is_empty()).unwrap_or_else(|| "-".to_owned())
}

async fn switch(remote: &Remote, queue: &str, verb: &str) -> Result<(), Failure> {
    let answer = remote.post(format!("/queues/{}/{verb}", segment(queue)), &json!({})).await?;
    remote.output.show(&answer, |value| {
        let status = ["/queue/status", "/status"].map(|path| text(value, path)).into_iter().find(|word| !word.is_empty());
        format!("{queue}: {}", status.unwrap_or_else(|| format!("{verb}d")))
    })
}
