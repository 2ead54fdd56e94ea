//! `ojs pools`: queues that share the workers which fetch from several of them.
use clap::{Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{pairs, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs pools put shop mail=1 orders=4 --strategy weighted
  ojs pools put batch reports exports --concurrency 10
  ojs pools stats";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// List the pools.
    List(Cut),
    /// Make a pool, or replace the one of this name.
    Put {
        /// The name of the pool.
        name: String,
        /// Its queues, each with a weight if it has another one than 1: orders=4.
        #[arg(required = true, value_name = "QUEUE[=WEIGHT]")]
        queues: Vec<String>,
        /// How a fetch of several queues is divided among them.
        #[arg(long, default_value = "round-robin")]
        strategy: Strategy,
        /// The most jobs of all its queues that are active at a time.
        #[arg(long, value_name = "N")]
        concurrency: Option<u64>,
        /// Close its queues to fetches that name a queue outside the pool.
        #[arg(long)]
        isolated: bool,
        /// The least share of each queue, 0 to 1.
        #[arg(long, value_name = "SHARE")]
        least_share: Option<f64>,
    },
    /// What each queue has handed out in the last minutes.
    Stats,
    /// Delete a pool. Its queues and their jobs stay.
    Delete {
        /// The name of the pool.
        name: String,
    },
}

/// How a fetch of several queues is divided among them.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Strategy {
    /// One job from each queue in turn.
    RoundRobin,
    /// In proportion to the weights.
    Weighted,
    /// From the queue in which the most jobs wait.
    LeastLoaded,
    /// From the first queue that has jobs.
    Strict,
}

impl Strategy {
    const fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Weighted => "weighted",
            Self::LeastLoaded => "least-loaded",
            Self::Strict => "strict",
        }
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`], and a weight that is no number.
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    match action {
        Action::List(cut) => list(&remote, &cut).await,
        Action::Stats => {
            let answer = remote.get("/admin/scheduling/stats".to_owned()).await?;
            remote.output.show(&answer, usage)
        }
        Action::Delete { name } => {
            let answer = remote.delete(format!("/admin/pools/{}", segment(&name))).await?;
            remote.output.show(&answer, |_| format!("{name}: deleted"))
        }
        Action::Put { name, queues, strategy, concurrency, isolated, least_share } => {
            let starvation = least_share.map(|share| json!({"enabled": true, "min_dispatch_ratio": share}));
            let body = json!({
                "queues": entries(&queues)?, "strategy": strategy.as_str(), "concurrency": concurrency, "isolated": isolated,
                "starvation_prevention": starvation,
            });
            let answer = remote.put(format!("/admin/pools/{}", segment(&name)), &body).await?;
            remote.output.show(&answer, describe)
        }
    }
}

/// `orders=4` as an object with name and weight.
fn entries(queues: &[String]) -> Result<Vec<Value>, Failure> {
    let entry = |given: &String| match given.split_once('=') {
        None => Ok(json!({"name": given, "weight": 1})),
        Some((name, weight)) => match weight.parse::<u64>() {
            Ok(weight) => Ok(json!({"name": name, "weight": weight})),
            Err(_) => Err(Failure::setting(format!("{given}: the weight must be a whole number, as in {name}=4"))),
        },
    };
    queues.iter().map(entry).collect()
}

async fn list(remote: &Remote, cut: &Cut) -> Result<(), Failure> {
    let source = Source { path: "/admin/pools".to_owned(), members: &["pools"], paging: Paging::Whole };
    let listed = cut.of(remote, &source, MANY).await?;
    listed.show(remote.output, &["name", "strategy", "concurrency", "queues"], |pool| {
        [text(pool, "/name"), text(pool, "/strategy"), text(pool, "/concurrency"), weights(pool)]
    })
}

/// The queues of a pool with their weights.
fn weights(pool: &Value) -> String {
    let none = Map::new();
    let weights = pool.get("weights").and_then(Value::as_object).unwrap_or(&none);
    let names = pool.get("queues").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let shown = names.map(|name| format!("{name}={}", weights.get(name).and_then(Value::as_u64).unwrap_or(1)));
    shown.collect::<Vec<_>>().join(" ")
}

fn describe(answer: &Value) -> String {
    let pool = answer.get("pool").unwrap_or(answer);
    pairs([
        ("pool", text(pool, "/name")),
        ("strategy", text(pool, "/strategy")),
        ("queues", weights(pool)),
        ("concurrency", text(pool, "/concurrency")),
        ("isolated", text(pool, "/isolated")),
    ])
}

fn usage(answer: &Value) -> String {
    let queues = answer.pointer("/stats/queues").and_then(Value::as_array).into_iter().flatten();
    let line = |queue: &Value| {
        let columns = ["/pool", "/queue", "/weight", "/dispatched", "/dispatch_ratio", "/available", "/active"];
        columns.map(|path| text(queue, path)).join("\t")
    };
    let mut out = "pool\tqueue\tweight\thanded out\tshare\tavailable\tactive".to_owned();
    for queue in queues {
        out.push('\n');
        out.push_str(&line(queue));
    }
    out
}
