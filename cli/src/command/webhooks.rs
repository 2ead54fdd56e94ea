//! `ojs webhooks`: events that are sent to other systems.
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{items, joined, pairs, rows, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs webhooks add https://example.com/hooks/ojs job.completed job.failed
  ojs webhooks test sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f
  ojs webhooks deliveries --status dead
  ojs webhooks retry del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// Create a subscription, and show its secret. It is shown only now.
    Add(New),
    /// List the subscriptions.
    List(Cut),
    /// Show one, or change it.
    #[command(visible_alias = "get")]
    Show {
        /// Its id.
        id: String,
    },
    /// Send an event `webhook.test` now, and show what the endpoint answers.
    Test {
        /// The id of the subscription.
        id: String,
    },
    /// Replace the secret, and show the new one. Both are valid for 24 hours.
    Rotate {
        /// The id of the subscription.
        id: String,
    },
    /// Send nothing for the time being; deliveries that wait stay.
    Disable {
        /// The id of the subscription.
        id: String,
    },
    /// Send again.
    Enable {
        /// The id of the subscription.
        id: String,
    },
    /// Delete a subscription and its deliveries.
    #[command(visible_alias = "delete")]
    Remove {
        /// The id of the subscription.
        id: String,
    },
    /// List deliveries, the newest first.
    Deliveries(Wanted),
    /// Show a delivery with its event.
    Delivery {
        /// Its id.
        id: String,
    },
    /// Send a delivery again now.
    Retry {
        /// Its id.
        id: String,
    },
}

#[derive(Debug, Args)]
pub struct New {
    /// Where events are sent.
    #[arg(value_name = "URL")]
    endpoint: String,
    /// Types of events: `job.completed`, `job.*` or `*`.
    #[arg(required = true)]
    events: Vec<String>,
    /// Only events of this queue. May be repeated.
    #[arg(long = "queue", value_name = "QUEUE")]
    queues: Vec<String>,
    /// Only events of jobs of this type. May be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    job_types: Vec<String>,
    /// Signs the requests; without it the server makes one. Other processes can see it: OJS_WEBHOOK_SECRET hides it.
    #[arg(long, env = "OJS_WEBHOOK_SECRET", hide_env_values = true)]
    secret: Option<String>,
}

#[derive(Debug, Args)]
pub struct Wanted {
    /// Only of this subscription.
    #[arg(long, value_name = "ID")]
    subscription: Option<String>,
    /// Only in this state.
    #[arg(long)]
    status: Option<Status>,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,
}

/// What has become of a delivery.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Status {
    /// It waits for an attempt.
    Pending,
    /// It is being sent.
    Sending,
    /// The endpoint has taken it.
    Delivered,
    /// It was given up.
    Dead,
}

impl Status {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let one = |id: &str| format!("/webhooks/subscriptions/{}", segment(id));
    let answer = match action {
        Action::List(cut) => return list(&remote, &cut).await,
        Action::Deliveries(wanted) => return deliveries(&remote, &wanted).await,
        Action::Add(new) => {
            let filter = json!({"queues": new.queues, "job_types": new.job_types});
            let mut body = json!({"url": new.endpoint, "events": new.events, "filter": filter});
            if let (Some(secret), Some(members)) = (new.secret, body.as_object_mut()) {
                members.insert("secret".to_owned(), secret.into());
            }
            remote.post("/webhooks/subscriptions", &body).await?
        }
        Action::Show { id } => remote.get(one(&id)).await?,
        Action::Rotate { id } => remote.post(format!("{}/rotate-secret", one(&id)), &json!({})).await?,
        Action::Disable { id } => remote.patch(one(&id), &json!({"active": false})).await?,
        Action::Enable { id } => remote.patch(one(&id), &json!({"active": true})).await?,
        Action::Test { id } => {
            let answer = remote.post(format!("{}/test", one(&id)), &json!({})).await?;
            return remote.output.show(&answer, tested);
        }
        Action::Remove { id } => {
            let answer = remote.delete(one(&id)).await?;
            return remote.output.show(&answer, |_| format!("{id}: deleted"));
        }
        Action::Delivery { id } => {
            let answer = remote.get(format!("/webhooks/deliveries/{}", segment(&id))).await?;
            return remote.output.show(&answer, delivery);
        }
        Action::Retry { id } => {
            let answer = remote.post(format!("/webhooks/deliveries/{}/retry", segment(&id)), &json!({})).await?;
            return remote.output.show(&answer, |_| format!("{id}: is sent again"));
        }
    };
    remote.output.show(&answer, describe)
}

/// The list of all subscriptions of webhooks.
pub fn source() -> Source {
    Source { path: "/webhooks/subscriptions".to_owned(), members: &["subscriptions"], paging: Paging::Offset(200) }
}

async fn list(remote: &Remote, cut: &Cut) -> Result<(), Failure> {
    let listed = cut.of(remote, &source(), MANY).await?;
    listed.show(remote.output, &["id", "url", "events", "active", "dropped"], |entry| {
        let events = joined(entry, "/events");
        [text(entry, "/id"), text(entry, "/url"), events, text(entry, "/active"), text(entry, "/dropped")]
    })
}

async fn deliveries(remote: &Remote, wanted: &Wanted) -> Result<(), Failure> {
    let mut path = format!("/webhooks/deliveries?limit={}", wanted.limit);
    if let Some(id) = &wanted.subscription {
        path.push_str(&format!("&subscription_id={}", segment(id)));
    }
    if let Some(status) = wanted.status {
        path.push_str(&format!("&status={}", status.as_str()));
    }
    let answer = remote.get(path).await?;
    remote.output.show(&answer, |answer| {
        let columns = ["/id", "/event_type", "/status", "/attempts", "/status_code", "/created_at", "/next_attempt_at"];
        let lines = items(answer, "/deliveries").iter().map(|entry| columns.map(|path| text(entry, path)).to_vec());
        rows(&["id", "event", "status", "attempts", "answer", "created", "next attempt"], lines)
    })
}

fn describe(answer: &Value) -> String {
    let one = answer.get("subscription").unwrap_or(answer);
    let mut lines = vec![
        ("id", text(one, "/id")),
        ("url", text(one, "/url")),
        ("events", joined(one, "/events")),
        ("queues", joined(one, "/filter/queues")),
        ("job types", joined(one, "/filter/job_types")),
        ("active", text(one, "/active")),
        ("created", text(one, "/created_at")),
        ("dropped events", text(one, "/dropped")),
    ];
    if one.pointer("/dropped_since").is_some_and(Value::is_string) {
        lines.push(("dropped since", text(one, "/dropped_since")));
    }
    if one.get("secret").is_some() {
        lines.push(("secret", text(one, "/secret")));
    }
    pairs(lines)
}

fn delivery(answer: &Value) -> String {
    let one = answer.get("delivery").unwrap_or(answer);
    let about = pairs([
        ("id", text(one, "/id")),
        ("subscription", text(one, "/subscription_id")),
        ("status", text(one, "/status")),
        ("attempts", text(one, "/attempts")),
        ("answer", text(one, "/status_code")),
        ("error", text(one, "/error")),
        ("next attempt", text(one, "/next_attempt_at")),
    ]);
    let event = one.get("event").and_then(|event| serde_json::to_string_pretty(event).ok());
    event.map_or_else(|| about.clone(), |event| format!("{about}\n{event}"))
}

fn tested(answer: &Value) -> String {
    pairs([
        ("success", text(answer, "/success")),
        ("answer", text(answer, "/status_code")),
        ("time, ms", text(answer, "/response_time_ms")),
        ("error", text(answer, "/error")),
        ("body", text(answer, "/response_body")),
    ])
}
