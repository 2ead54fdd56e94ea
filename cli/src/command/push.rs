//! `ojs push`: jobs that are sent to endpoints over HTTP.
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{joined, pairs, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs push add https://example.com/functions/jobs email.send 'report.*' --queue default --max-concurrency 100
  ojs push test push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f
  ojs push list
  ojs push pause push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// Register an endpoint, and show its secret. It is shown only now.
    Add(New),
    /// List the endpoints, with the reason of each one that fails.
    List(Cut),
    /// Show one.
    #[command(visible_alias = "get")]
    Show {
        /// Its id.
        id: String,
    },
    /// Send a signed trial delivery now, and explain the answer.
    Test {
        /// The id of the endpoint.
        id: String,
    },
    /// Send no jobs for the time being; workers that fetch get them.
    Pause {
        /// The id of the endpoint.
        id: String,
    },
    /// Send jobs again, also to an endpoint that was disabled because of its answers.
    Resume {
        /// The id of the endpoint.
        id: String,
    },
    /// Replace the secret, and show the new one. Both are valid for 24 hours.
    Rotate {
        /// The id of the endpoint.
        id: String,
    },
    /// Delete an endpoint. Its jobs stay available.
    #[command(visible_alias = "delete")]
    Remove {
        /// The id of the endpoint.
        id: String,
    },
}

#[derive(Debug, Args)]
pub struct New {
    /// Where jobs are sent.
    #[arg(value_name = "URL")]
    endpoint: String,
    /// Types of jobs; `*` stands for any characters.
    #[arg(required = true, value_name = "TYPE")]
    job_types: Vec<String>,
    /// Only jobs of this queue; `*` stands for any characters. May be repeated. Without it, of all queues.
    #[arg(long = "queue", value_name = "QUEUE")]
    queues: Vec<String>,
    /// Most jobs that it holds at a time: 10 without it.
    #[arg(long, value_name = "N")]
    max_concurrency: Option<u32>,
    /// Milliseconds in which it must answer: 30000 without it.
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u32>,
    /// Its share of jobs that several endpoints take: 1 without it.
    #[arg(long, value_name = "N")]
    weight: Option<u32>,
    /// Send a job again after an answer 429, instead of giving it up.
    #[arg(long)]
    retry_429: bool,
    /// Where it runs, for people: aws, gcp, azure, cloudflare.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Signs the requests; without it the server makes one. Other processes can see it: OJS_PUSH_SECRET hides it.
    #[arg(long, env = "OJS_PUSH_SECRET", hide_env_values = true)]
    secret: Option<String>,
}

impl New {
    /// The request that registers it. What was not named is left to the server.
    fn body(self) -> Value {
        let mut config = Map::new();
        let numbers = [("max_concurrency", self.max_concurrency), ("timeout_ms", self.timeout_ms), ("weight", self.weight)];
        config.extend(numbers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        if self.retry_429 {
            config.insert("retry_429".to_owned(), true.into());
        }
        config.extend(self.secret.map(|secret| ("signing_secret".to_owned(), secret.into())));
        let queues = (!self.queues.is_empty()).then_some(self.queues);
        json!({
            "endpoint": self.endpoint, "job_types": self.job_types, "queues": queues, "config": config, "provider": self.provider,
        })
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let one = |id: &str| format!("/push/endpoints/{}", segment(id));
    let answer = match action {
        Action::List(cut) => return list(&remote, &cut).await,
        Action::Add(new) => remote.post("/push/endpoints", &new.body()).await?,
        Action::Show { id } => remote.get(one(&id)).await?,
        Action::Rotate { id } => remote.post(format!("{}/rotate-secret", one(&id)), &json!({})).await?,
        Action::Pause { id } => remote.patch(one(&id), &json!({"active": false})).await?,
        Action::Resume { id } => remote.patch(one(&id), &json!({"active": true})).await?,
        Action::Test { id } => {
            let answer = remote.post(format!("{}/test", one(&id)), &json!({})).await?;
            return remote.output.show(&answer, tested);
        }
        Action::Remove { id } => {
            let answer = remote.delete(one(&id)).await?;
            return remote.output.show(&answer, |_| format!("{id}: deleted"));
        }
    };
    remote.output.show(&answer, describe)
}

/// The list of all endpoints of push delivery.
pub fn source() -> Source {
    Source { path: "/push/endpoints".to_owned(), members: &["endpoints"], paging: Paging::Offset(200) }
}

async fn list(remote: &Remote, cut: &Cut) -> Result<(), Failure> {
    let listed = cut.of(remote, &source(), MANY).await?;
    listed.show(remote.output, &["id", "endpoint", "types", "queues", "status", "reason"], |entry| {
        // An endpoint that works again keeps its latest failure, which is not the reason of its status.
        let works = matches!(entry.get("status").and_then(Value::as_str), Some("active" | "paused"));
        let reason = if works { String::new() } else { text(entry, "/last_failure/reason") };
        let (types, queues) = (joined(entry, "/job_types"), joined(entry, "/queues"));
        [text(entry, "/id"), text(entry, "/endpoint"), types, queues, text(entry, "/status"), reason]
    })
}

fn describe(one: &Value) -> String {
    let mut lines = vec![
        ("id", text(one, "/id")),
        ("endpoint", text(one, "/endpoint")),
        ("job types", joined(one, "/job_types")),
        ("queues", joined(one, "/queues")),
        ("status", text(one, "/status")),
        ("max concurrency", text(one, "/config/max_concurrency")),
        ("timeout, ms", text(one, "/config/timeout_ms")),
        ("weight", text(one, "/config/weight")),
        ("worker", text(one, "/worker_id")),
        ("created", text(one, "/created_at")),
    ];
    if one.get("last_failure").is_some_and(Value::is_object) {
        lines.push(("failures in a row", text(one, "/consecutive_failures")));
        lines.push(("last failure", text(one, "/last_failure/at")));
        lines.push(("its reason", text(one, "/last_failure/reason")));
    }
    if one.pointer("/config/signing_secret").is_some() {
        lines.push(("secret", text(one, "/config/signing_secret")));
    }
    pairs(lines)
}

fn tested(answer: &Value) -> String {
    let about = pairs([
        ("success", text(answer, "/success")),
        ("outcome", text(answer, "/outcome")),
        ("answer", text(answer, "/status_code")),
        ("time, ms", text(answer, "/response_time_ms")),
        ("error", text(answer, "/error")),
        ("body", text(answer, "/response_body")),
    ]);
    format!("{about}\n{}", text(answer, "/explanation"))
}
