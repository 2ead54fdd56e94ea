//! `ojs tenants`: who shares the server, what each tenant has and may use.
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{items, pairs, rows, text};
use crate::remote::{Remote, segment};

const LIMITS_EXAMPLES: &str = "\
Examples:
  ojs tenants limits acme --max-concurrency 10 --max-queue-depth 10000
  ojs tenants limits acme --max-enqueue-rate 100 --period PT1S
  ojs tenants limits acme                                no limits any more";

const NOISY_EXAMPLES: &str = "\
Examples:
  ojs tenants noisy
  ojs tenants noisy --depth-factor 20 --min-jobs 1000    only where a thousand jobs wait
  ojs tenants noisy --json | jq -r '.items[].tenant_id'";

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the tenants.
    List(Cut),
    /// Show a tenant: what it has, and how much of its limits is used.
    #[command(visible_alias = "get")]
    Show {
        /// The id of the tenant.
        tenant: String,
    },
    /// List tenants that use far more than the others do: that wait, enqueue, run or fail more.
    #[command(after_help = NOISY_EXAMPLES)]
    Noisy(Noisy),
    /// Set all limits of a tenant. What is left out is not limited any more.
    #[command(after_help = LIMITS_EXAMPLES)]
    Limits {
        /// The id of the tenant.
        tenant: String,
        /// Most jobs that run at a time.
        #[arg(long, value_name = "N")]
        max_concurrency: Option<u64>,
        /// Most jobs that wait, in all queues together.
        #[arg(long, value_name = "N")]
        max_queue_depth: Option<u64>,
        /// Most jobs that are scheduled.
        #[arg(long, value_name = "N")]
        max_scheduled: Option<u64>,
        /// Most jobs enqueued in a period.
        #[arg(long, value_name = "N")]
        max_enqueue_rate: Option<u64>,
        /// How many jobs it gets while a tenant of weight 1 gets one, in queues that tenants share.
        #[arg(long, value_name = "WEIGHT")]
        fairness_weight: Option<u64>,
        /// The period, ISO 8601.
        #[arg(long, value_name = "DURATION", default_value = "PT1S", requires = "max_enqueue_rate")]
        period: String,
    },
    /// Refuse the jobs of a tenant and hand none out. Jobs that run go on.
    Suspend {
        /// The id of the tenant.
        tenant: String,
    },
    /// End a suspension.
    Resume {
        /// The id of the tenant.
        tenant: String,
    },
    /// Delete a tenant with its ended jobs. Refused while others are left.
    Delete {
        /// The id of the tenant.
        tenant: String,
    },
}

#[derive(Debug, Args)]
pub struct Noisy {
    /// More waiting jobs than so many times the median of the others.
    #[arg(long, value_name = "N", default_value_t = 10)]
    depth_factor: u64,
    /// More jobs enqueued in the last five minutes than so many times the average of the others.
    #[arg(long, value_name = "N", default_value_t = 5)]
    rate_factor: u64,
    /// A larger share of the active jobs of all tenants.
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    active_percent: u64,
    /// A larger share of failed attempts than so many times that of the others.
    #[arg(long, value_name = "N", default_value_t = 3)]
    error_factor: u64,
    /// No signal with fewer jobs that wait or were enqueued, or a tenth of it that are active or failed.
    #[arg(long, value_name = "JOBS", default_value_t = 100)]
    min_jobs: u64,
    /// The most tenants to list.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u64,
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let path = |tenant: &str, rest: &str| format!("/admin/tenants/{}{rest}", segment(tenant));
    let answer = match action {
        Action::List(cut) => return list(&remote, &cut).await,
        Action::Noisy(wanted) => return noisy(&remote, &wanted).await,
        Action::Show { tenant } => {
            let stats = remote.get(path(&tenant, "/stats")).await?;
            return remote.output.show(&stats, describe_stats);
        }
        Action::Limits { tenant, max_concurrency, max_queue_depth, max_scheduled, max_enqueue_rate, fairness_weight, period } => {
            let mut limits = Map::new();
            let numbers = [
                ("max_concurrency", max_concurrency),
                ("max_queue_depth", max_queue_depth),
                ("max_scheduled", max_scheduled),
                ("fairness_weight", fairness_weight),
            ];
            limits.extend(numbers.into_iter().filter_map(|(name, most)| Some((name.to_owned(), json!(most?)))));
            if let Some(limit) = max_enqueue_rate {
                limits.insert("max_enqueue_rate".into(), json!({"limit": limit, "period": period}));
            }
            remote.put(path(&tenant, "/limits"), &limits.into()).await?
        }
        Action::Suspend { tenant } => remote.post(path(&tenant, "/suspend"), &json!({})).await?,
        Action::Resume { tenant } => remote.post(path(&tenant, "/resume"), &json!({})).await?,
        Action::Delete { tenant } => {
            let gone = remote.delete(path(&tenant, "")).await?;
            return remote.output.show(&gone, |gone| format!("{}: deleted", text(gone, "/tenant_id")));
        }
    };
    remote.output.show(&answer, describe)
}

async fn list(remote: &Remote, cut: &Cut) -> Result<(), Failure> {
    let source = Source { path: "/admin/tenants".to_owned(), members: &["items"], paging: Paging::Numbered };
    let listed = cut.of(remote, &source, MANY).await?;
    listed.show(remote.output, &["tenant", "status", "jobs", "available", "active"], |tenant| {
        [
            text(tenant, "/id"),
            text(tenant, "/status"),
            text(tenant, "/total_jobs"),
            text(tenant, "/jobs/available"),
            text(tenant, "/jobs/active"),
        ]
    })
}

async fn noisy(remote: &Remote, wanted: &Noisy) -> Result<(), Failure> {
    let Noisy { depth_factor, rate_factor, active_percent, error_factor, min_jobs, limit } = wanted;
    let path = format!(
        "/admin/stats/tenants/noisy?depth_factor={depth_factor}&rate_factor={rate_factor}&active_percent={active_percent}\
         &error_factor={error_factor}&min_jobs={min_jobs}&limit={limit}"
    );
    let answer = remote.get(path).await?;
    remote.output.show(&answer, |answer| {
        if items(answer, "/items").is_empty() {
            return format!("no tenant is noisy; {} were compared", text(answer, "/compared"));
        }
        rows(&["tenant", "waiting", "active", "enqueued/min", "errors", "signals"], items(answer, "/items").iter().map(loud))
    })
}

fn loud(tenant: &Value) -> Vec<String> {
    let fields = ["/tenant_id", "/queue_depth", "/active", "/enqueued_per_minute", "/error_rate"];
    fields.iter().map(|field| text(tenant, field)).chain([signals(tenant)]).collect()
}

/// `queue_depth_ratio 120 (others 4), active_job_ratio 11 (all 21)`
pub fn signals(tenant: &Value) -> String {
    let said = |signal: &Value| {
        let name = text(signal, "/signal");
        let whom = if name == "active_job_ratio" { "all" } else { "others" };
        format!("{name} {} ({whom} {})", text(signal, "/value"), text(signal, "/compared_with"))
    };
    items(tenant, "/signals").iter().map(said).collect::<Vec<_>>().join(", ")
}

fn rate(at: &Value, pointer: &str) -> String {
    match (text(at, &format!("{pointer}/limit")), text(at, &format!("{pointer}/period"))) {
        (starts, _) if starts.is_empty() => starts,
        (starts, period) => format!("{starts} per {period}"),
    }
}

fn describe(tenant: &Value) -> String {
    pairs([
        ("tenant", text(tenant, "/id")),
        ("name", text(tenant, "/name")),
        ("status", text(tenant, "/status")),
        ("jobs", text(tenant, "/total_jobs")),
        ("max concurrency", text(tenant, "/limits/max_concurrency")),
        ("max queue depth", text(tenant, "/limits/max_queue_depth")),
        ("max scheduled", text(tenant, "/limits/max_scheduled")),
        ("fairness weight", text(tenant, "/limits/fairness_weight")),
        ("max enqueue rate", rate(tenant, "/limits/max_enqueue_rate")),
    ])
}

fn describe_stats(stats: &Value) -> String {
    let used = |name: &str| match (text(stats, &format!("/limits/{name}/current")), text(stats, &format!("/limits/{name}/limit")))
    {
        (_, most) if most.is_empty() => most,
        (current, most) => format!("{current} of {most}"),
    };
    pairs([
        ("tenant", text(stats, "/tenant_id")),
        ("status", text(stats, "/status")),
        ("jobs", text(stats, "/total_jobs")),
        ("waiting", text(stats, "/queue_depth")),
        ("active", text(stats, "/jobs/active")),
        ("enqueued a minute", text(stats, "/throughput/enqueued_per_minute")),
        ("completed a minute", text(stats, "/throughput/processed_per_minute")),
        ("completed so far", text(stats, "/throughput/processed_total")),
        ("max concurrency", used("max_concurrency")),
        ("max queue depth", used("max_queue_depth")),
        ("max scheduled", used("max_scheduled")),
        ("max enqueue rate", rate(stats, "/limits/max_enqueue_rate/limit")),
    ])
}
