//! `ojs rate-limits`: keys with limits, what is going on with them, other limits for a while.
use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{pairs, text};
use crate::remote::{Remote, segment};

const OVERRIDE_EXAMPLES: &str = "\
Examples:
  ojs rate-limits override api.example.com --concurrency 2 --for PT1H
  ojs rate-limits override api.example.com --limit 10 --period PT1S --for PT30M
  ojs rate-limits override api.example.com --end";

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the keys with limits.
    List(Cut),
    /// Show a key: its limits, and how much of them is used.
    #[command(visible_alias = "show")]
    Get {
        /// The key.
        key: String,
    },
    /// Give a key other limits for a while. Lasting ones come with the jobs of the key.
    #[command(after_help = OVERRIDE_EXAMPLES)]
    Override {
        /// The key.
        key: String,
        /// Jobs that run at a time.
        #[arg(long, value_name = "N", required_unless_present_any = ["limit", "end"])]
        concurrency: Option<u64>,
        /// Starts in a period.
        #[arg(long, value_name = "N")]
        limit: Option<u64>,
        /// The period, ISO 8601.
        #[arg(long, value_name = "DURATION", default_value = "PT1S", requires = "limit")]
        period: String,
        /// How long, ISO 8601.
        #[arg(long = "for", value_name = "DURATION", required_unless_present = "end")]
        length: Option<String>,
        /// End the override: the limits of the jobs hold again.
        #[arg(long, conflicts_with_all = ["concurrency", "limit", "length"])]
        end: bool,
    },
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let answer = match action {
        Action::List(cut) => return list(&remote, &cut).await,
        Action::Get { key } => remote.get(format!("/rate-limits/{}", segment(&key))).await?,
        Action::Override { key, concurrency, limit, period, length, end: _ } => {
            let mut limits = Map::new();
            if let Some(most) = concurrency {
                limits.insert("concurrency".into(), json!(most));
            }
            if let Some(limit) = limit {
                limits.insert("rate".into(), json!({"limit": limit, "period": period}));
            }
            if let Some(length) = length {
                limits.insert("expires_at".into(), json!(format!("+{length}")));
            }
            remote.put(format!("/rate-limits/{}", segment(&key)), &limits.into()).await?
        }
    };
    remote.output.show(&answer, describe)
}

/// The list of all keys with limits.
pub fn source() -> Source {
    Source { path: "/rate-limits".to_owned(), members: &["items"], paging: Paging::Offset(200) }
}

async fn list(remote: &Remote, cut: &Cut) -> Result<(), Failure> {
    let listed = cut.of(remote, &source(), MANY).await?;
    listed.show(remote.output, &["key", "scope", "concurrency", "rate", "active", "waiting"], |limit| {
        [
            text(limit, "/key"),
            text(limit, "/scope"),
            text(limit, "/concurrency/limit"),
            rate(limit),
            text(limit, "/active"),
            text(limit, "/waiting_count"),
        ]
    })
}

fn rate(limit: &Value) -> String {
    match (text(limit, "/rate/limit"), text(limit, "/rate/period")) {
        (starts, _) if starts.is_empty() => starts,
        (starts, period) => format!("{starts} per {period}"),
    }
}

fn describe(limit: &Value) -> String {
    pairs([
        ("key", text(limit, "/key")),
        ("scope", text(limit, "/scope")),
        ("active", text(limit, "/active")),
        ("waiting", text(limit, "/waiting_count")),
        ("concurrency", text(limit, "/concurrency/limit")),
        ("rate", rate(limit)),
        ("used", text(limit, "/rate/current_count")),
        ("window resets", text(limit, "/rate/window_resets_at")),
        ("throttle", text(limit, "/throttle/limit")),
        ("overridden until", text(limit, "/override/expires_at")),
    ])
}
