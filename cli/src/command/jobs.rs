//! `ojs jobs`: look for jobs, and deal with one at a time or many.
use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::bulk::{self, Many};
use super::history;
use super::queues::remark_unknown;
use crate::failure::Failure;
use crate::list::{Cut, Entry, FEW, Paging, Source};
use crate::output::{items, pairs, text};
use crate::remote::{Remote, segment};
use crate::when::when;

const ENQUEUE_EXAMPLES: &str = "\
Examples:
  ojs jobs enqueue report.build                                  no arguments
  ojs jobs enqueue email.send '[\"a@example.com\", \"welcome\"]'     two arguments
  ojs jobs enqueue email.send '{\"to\": \"a@example.com\"}'          one argument, an object
  ojs jobs enqueue report.build --delay 10m --queue slow --max-attempts 5
  ojs jobs enqueue report.build --options '{\"tags\": [\"nightly\"], \"timeout_ms\": 60000}'";

const LIST_EXAMPLES: &str = "\
Examples:
  ojs jobs list                                    the newest 50
  ojs jobs list --state retryable                  what has failed and will be tried again
  ojs jobs list --state active,retryable --limit 0  all of them
  ojs jobs list --queue mail --type 'email.*' --page 2
  ojs jobs list --search 'args.customer_id:42 -queue:low'
  ojs jobs list --search 'state:discarded error:timeout since:2h'";

const BULK_EXAMPLES: &str = "\
Examples:
  ojs jobs bulk-retry --all --queue billing --state discarded --since 2h
  ojs jobs bulk-cancel --all --type 'report.*' --dry-run
  ojs jobs bulk-retry --all --search 'error:timeout since:2h' --dry-run
  ojs jobs bulk-delete --all --state completed --until 2026-01-31T00:00:00Z --yes
  ojs jobs bulk-cancel 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10";

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List jobs, newest first.
    #[command(after_help = LIST_EXAMPLES)]
    List(Listing),
    /// Show a job, with the history of its failures.
    #[command(visible_alias = "show")]
    Get {
        /// The job's id.
        id: String,
    },
    /// Say why a job is not running, and what helps.
    Why {
        /// The job's id.
        id: String,
    },
    /// Show what happened to a job: its events and its attempts, the oldest first.
    History {
        /// The job's id.
        id: String,
        /// The most events.
        #[arg(long, default_value_t = 200, value_name = "N")]
        limit: u32,
    },
    /// Cancel a job that is not finished.
    Cancel {
        /// The job's id.
        id: String,
    },
    /// Run a discarded job again, with fresh attempts.
    Retry {
        /// The job's id.
        id: String,
    },
    /// Cancel many jobs: by id, or with --all every one that the filter finds.
    #[command(after_help = BULK_EXAMPLES, override_usage = "ojs jobs bulk-cancel <ID>...\n       ojs jobs bulk-cancel --all [FILTERS]")]
    BulkCancel(Many),
    /// Run many discarded or retryable jobs again.
    #[command(after_help = BULK_EXAMPLES, override_usage = "ojs jobs bulk-retry <ID>...\n       ojs jobs bulk-retry --all [FILTERS]")]
    BulkRetry(Many),
    /// Delete many ended jobs. They are gone then.
    #[command(after_help = BULK_EXAMPLES, override_usage = "ojs jobs bulk-delete <ID>...\n       ojs jobs bulk-delete --all [FILTERS]")]
    BulkDelete(Many),
    /// Enqueue a job.
    #[command(after_help = ENQUEUE_EXAMPLES)]
    Enqueue(Box<NewJob>),
}

/// Which jobs to list.
#[derive(Debug, clap::Args)]
pub struct Listing {
    /// Only this queue.
    #[arg(long)]
    queue: Option<String>,
    /// Only this state: scheduled, available, pending, active, completed, retryable, cancelled or discarded; may be given more than once,
    /// or as a list with commas.
    #[arg(long, value_delimiter = ',')]
    state: Vec<String>,
    /// Only this job type; `email.*` is all that start so.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Enqueued at this time or later: 2026-01-31T00:00:00Z, or how long ago, such as 2h or 7d.
    #[arg(long, value_name = "TIME", value_parser = when)]
    since: Option<String>,
    /// Enqueued before this time, in the same forms.
    #[arg(long, value_name = "TIME", value_parser = when)]
    until: Option<String>,
    /// Only jobs that match: words such as state:discarded, queue:mail,billing, args.0:42, meta.customer:acme,
    /// error:timeout, tag:eu, attempt:>3, since:2h, or a text. A minus before a word excludes.
    #[arg(long, short = 'q', value_name = "SEARCH")]
    search: Option<String>,
    #[command(flatten)]
    cut: Cut,
}

/// A job to enqueue.
#[derive(Debug, clap::Args)]
pub struct NewJob {
    /// The job's type, for example email.send.
    #[arg(value_name = "TYPE")]
    kind: String,
    /// Arguments as JSON: an array, or one value that becomes the only argument.
    #[arg(default_value = "[]", value_parser = json_value)]
    args: Value,
    /// The queue. [default: default]
    #[arg(long)]
    queue: Option<String>,
    /// -100 to 100, higher first.
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i64>,
    /// Not before this time from now: 90s, 10m, 2h, 1d, or ISO 8601 (PT90S).
    #[arg(long, value_name = "DURATION", value_parser = relative_time)]
    delay: Option<String>,
    /// How often it is tried at most, the first attempt included.
    #[arg(long, visible_alias = "retry", value_name = "N")]
    max_attempts: Option<u32>,
    /// What others call it; refused, because the first attempt is no retry.
    #[arg(long, alias = "max-retries", hide = true, value_parser = no_retries)]
    retries: Option<u32>,
    /// A UUIDv7 of your own: sending the command again then cannot make a second job.
    #[arg(long)]
    id: Option<String>,
    /// Metadata, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = json_object)]
    meta: Option<Map<String, Value>>,
    /// Further options, as a JSON object; those above win.
    #[arg(long, value_name = "JSON", value_parser = json_object)]
    options: Option<Map<String, Value>>,
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let answer = match action {
        Action::List(listing) => return listing.show(&remote).await,
        Action::Get { id } => remote.get(format!("/jobs/{}", segment(&id))).await?,
        Action::Why { id } => {
            let answer = remote.get(format!("/jobs/{}/explain", segment(&id))).await?;
            return remote.output.show(&answer, reasons);
        }
        Action::History { id, limit } => {
            let answer = remote.get(format!("/jobs/{}/history?limit={limit}", segment(&id))).await?;
            return remote.output.show(&answer, history::describe);
        }
        Action::Cancel { id } => remote.delete(format!("/jobs/{}", segment(&id))).await?,
        Action::Retry { id } => {
            // Looked for as a job first: the route of dead letters would say that there is no dead letter.
            remote.get(format!("/jobs/{}", segment(&id))).await?;
            remote.post(format!("/dead-letter/{}/retry", segment(&id)), &json!({})).await?
        }
        Action::BulkCancel(many) => return bulk::change(&remote, "cancel", "cancelled", many).await,
        Action::BulkRetry(many) => return bulk::change(&remote, "retry", "retried", many).await,
        Action::BulkDelete(many) => return bulk::change(&remote, "delete", "deleted", many).await,
        Action::Enqueue(job) => remote.enqueue(&job.request()).await?,
    };
    remote.output.show(&answer, |value| value.get("job").map(describe).unwrap_or_default())
}

impl Listing {
    async fn show(self, remote: &Remote) -> Result<(), Failure> {
        let mut path = "/admin/jobs?".to_owned();
        let filters =
            [("queue", &self.queue), ("type", &self.kind), ("since", &self.since), ("until", &self.until), ("q", &self.search)];
        for (name, value) in filters {
            if let Some(value) = value {
                path.push_str(&format!("{name}={}&", segment(value)));
            }
        }
        path.pop();
        let paging = if self.search.is_some() { Paging::Cursors } else { Paging::Numbered };
        let source = |path: String| Source { path, members: &["items"], paging };
        let listed = match self.state.as_slice() {
            [] => self.cut.of(remote, &source(path), FEW).await?,
            states => {
                let sign = if path.contains('?') { '&' } else { '?' };
                let of_state = |state: &String| source(format!("{path}{sign}state={}", segment(state)));
                let sources: Vec<Source> = states.iter().map(of_state).collect();
                self.cut.of_several(remote, &sources, newest_first).await?
            }
        };
        if let Some(queue) = self.queue.as_deref().filter(|_| listed.entries.is_empty()) {
            remark_unknown(remote, queue).await?;
        }
        let columns = ["/id", "/type", "/queue", "/state", "/attempt", "/created_at"];
        let heading = ["id", "type", "queue", "state", "attempt", "created"];
        listed.show(remote.output, &heading, |job| columns.map(|path| text(job, path)))
    }
}

/// The order of lists of jobs. Times are of one length and one zone, ids of one millisecond in order.
fn newest_first(a: &Entry, b: &Entry) -> std::cmp::Ordering {
    let place = |entry: &Entry| ["/created_at", "/id"].map(|path| text(&entry.value, path));
    place(b).cmp(&place(a))
}

impl NewJob {
    /// The body of `POST /jobs`.
    fn request(self) -> Value {
        let args = if self.args.is_array() { self.args } else { json!([self.args]) };
        let mut options = self.options.unwrap_or_default();
        if let Some(queue) = self.queue {
            options.insert("queue".into(), queue.into());
        }
        if let Some(priority) = self.priority {
            options.insert("priority".into(), priority.into());
        }
        if let Some(delay) = self.delay {
            options.insert("scheduled_at".into(), delay.into());
        }
        if let Some(attempts) = self.max_attempts {
            let retry = options.entry("retry").or_insert_with(|| json!({}));
            if let Some(retry) = retry.as_object_mut() {
                retry.insert("max_attempts".into(), attempts.into());
            }
        }
        let mut body = Map::from_iter([("type".to_owned(), Value::from(self.kind)), ("args".to_owned(), args)]);
        if let Some(id) = self.id {
            body.insert("id".into(), id.into());
        }
        if let Some(meta) = self.meta {
            body.insert("meta".into(), meta.into());
        }
        if !options.is_empty() {
            body.insert("options".into(), options.into());
        }
        body.into()
    }
}

/// A job as pairs, its failures below.
pub fn describe(job: &Value) -> String {
    let attempts = match (text(job, "/attempt"), text(job, "/max_attempts")) {
        (attempt, max) if max.is_empty() => attempt,
        (attempt, max) => format!("{attempt} of {max}"),
    };
    let mut out = pairs([
        ("id", text(job, "/id")),
        ("type", text(job, "/type")),
        ("queue", text(job, "/queue")),
        ("state", text(job, "/state")),
        ("priority", text(job, "/priority")),
        ("attempt", attempts),
        ("args", text(job, "/args")),
        ("meta", text(job, "/meta")),
        ("train", place(job)),
        ("result", text(job, "/result")),
        ("worker", text(job, "/worker_id")),
        ("created", text(job, "/created_at")),
        ("scheduled", text(job, "/scheduled_at")),
        ("enqueued", text(job, "/enqueued_at")),
        ("started", text(job, "/started_at")),
        ("next attempt", text(job, "/next_attempt_at")),
        ("completed", text(job, "/completed_at")),
        ("cancelled", text(job, "/cancelled_at")),
        ("discarded", text(job, "/discarded_at")),
    ]);
    for failure in items(job, "/errors") {
        let line = ["/attempt", "/occurred_at", "/type", "/message"].map(|path| text(failure, path));
        out.push_str(&format!("\nfailed: attempt {}, {}, {}: {}", line[0], line[1], line[2], line[3]));
    }
    out
}

/// Why a job is not running: one line, and a paragraph for each reason where there are any.
fn reasons(answer: &Value) -> String {
    let mut out = text(answer, "/summary");
    for reason in items(answer, "/reasons") {
        out.push_str(&format!("\n\n{}: {}", text(reason, "/code"), text(reason, "/message")));
        let details = items_of(reason, "/details");
        let known = [("since", text(reason, "/since")), ("until", text(reason, "/until")), ("try", text(reason, "/command"))];
        for (name, value) in known.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(details) {
            if !value.is_empty() {
                out.push_str(&format!("\n  {name}: {value}"));
            }
        }
    }
    out
}

/// The members of an object, as names and texts.
fn items_of(value: &Value, path: &str) -> Vec<(String, String)> {
    let members = value.pointer(path).and_then(Value::as_object);
    let named = |(name, value): (&String, &Value)| {
        (name.replace('_', " "), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    members.into_iter().flatten().map(named).collect()
}

/// One line of text about the place of a job in its train. It is empty for a job without a train.
fn place(job: &Value) -> String {
    let [id, role, position, ahead, state, epoch] =
        ["id", "role", "position", "ahead", "state", "epoch"].map(|name| text(job, &format!("/train/{name}")));
    match role.as_str() {
        "" => String::new(),
        "locomotive" => format!("{id}, locomotive at position {position}, epoch {epoch}, {state}"),
        "car" => format!("{id}, waits at position {position} behind {ahead}, {state}"),
        other => format!("{id}, {other}"),
    }
}

fn json_value(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON ({error}); a plain text needs quotes: '\"{text}\"'"))
}

fn json_object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object ({error}); for example '{{\"key\": \"value\"}}'"))
}

fn no_retries(_: &str) -> Result<u32, String> {
    Err("attempts are counted, the first one included: use --max-attempts N".to_owned())
}

/// `10m` or `PT10M` → `+PT10M`, the wire's form of "from now".
fn relative_time(text: &str) -> Result<String, String> {
    if text.starts_with('P') {
        return Ok(format!("+{text}"));
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text.strip_prefix(digits).unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("use a number and a unit, for example 90s, 10m, 2h, 1d".into());
    }
    match *unit {
        "s" => Ok(format!("+PT{digits}S")),
        "m" => Ok(format!("+PT{digits}M")),
        "h" => Ok(format!("+PT{digits}H")),
        "d" => Ok(format!("+P{digits}D")),
        _ => Err("the unit is s, m, h or d".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_become_relative_times() {
        assert_eq!(relative_time("90s").as_deref(), Ok("+PT90S"));
        assert_eq!(relative_time("2d").as_deref(), Ok("+P2D"));
        assert_eq!(relative_time("PT0.5S").as_deref(), Ok("+PT0.5S"));
        for wrong in ["", "m", "10", "10x", "1.5h", "-5s", "é"] {
            assert!(relative_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_job_in_words_names_every_failure() {
        let job = json!({"id": "1", "state": "retryable", "attempt": 1, "max_attempts": 3,
            "errors": [{"attempt": 1, "occurred_at": "t", "type": "Oops", "message": "no"}]});
        let words = describe(&job);
        assert!(!words.contains("train"), "{words}");
        assert!(words.contains("1 of 3") && words.ends_with("failed: attempt 1, t, Oops: no"), "{words}");
    }
}
