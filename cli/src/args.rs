//! What can be typed: the commands, their options, and the help that teaches them.
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ojs_engine::outgoing::{Allowed, AwsOptions, OutgoingOptions};
use ojs_engine::{HistoryOptions, Limits};
use ojs_model::redact::SecretUrl;

use crate::command::{
    alerts, codec_server, crons, dead_letter, doctor, errors, events, grafana, jobs, keys, maintenance, man, migrate, operations,
    pools, push, queues, rate_limits, relay, relays, schemas, stats, tenants, top, trains, webhooks, workers, workflows,
};
use crate::remote::RemoteArgs;

const EXAMPLES: &str = "\
Examples:
  ojs server --store sqlite:jobs.db              start a server on 127.0.0.1:8080
  ojs jobs enqueue email.send '[\"a@example.com\"]'  give it a job
  ojs queues stats                               count waiting and running jobs
  ojs doctor                                     find faults, and what to do
  ojs dead-letter list                           list jobs that failed for good
  ojs dead-letter retry 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f

Exit status: 0 done · 1 the server refused · 2 wrong usage or setting · 3 no server answers";

/// Open Job Spec: a server for background jobs, and tools to operate it.
#[derive(Debug, Parser)]
#[command(name = "ojs", version, after_help = EXAMPLES, max_term_width = 120, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a job server.
    Server(ServerArgs),
    /// Enqueue, list, show, cancel and retry jobs, one or many.
    #[command(subcommand)]
    Jobs(jobs::Action),
    /// List changes of many jobs that run in the background; pause, resume and cancel them.
    #[command(subcommand)]
    Bulk(operations::Action),
    /// List queues, count their jobs; pause, resume and purge them.
    #[command(subcommand)]
    Queues(queues::Action),
    /// List, create, replace and delete pools of queues.
    #[command(subcommand)]
    Pools(pools::Action),
    /// List keys with rate limits; override their limits for a while.
    #[command(subcommand)]
    RateLimits(rate_limits::Action),
    /// List tenants; set their limits, suspend, resume and delete them.
    #[command(subcommand)]
    Tenants(tenants::Action),
    /// List jobs that failed for good; run them again or delete them.
    #[command(subcommand, alias = "dlq")]
    DeadLetter(dead_letter::Action),
    /// List failures, grouped by their message without ids and numbers; retry their jobs.
    #[command(subcommand)]
    Errors(errors::Action),
    /// List workers; make them stop fetching, or stop.
    #[command(subcommand)]
    Workers(workers::Action),
    /// List, add, enable, disable and delete cron entries.
    #[command(subcommand, alias = "cron")]
    Crons(crons::Action),
    /// Register schemas of arguments, list, show and delete them.
    #[command(subcommand)]
    Schemas(schemas::Action),
    /// List job trains; hold and advance them.
    #[command(subcommand)]
    Trains(trains::Action),
    /// Register and list endpoints that jobs are sent to over HTTP (push delivery).
    #[command(subcommand)]
    Push(push::Action),
    /// Send events to other systems: subscriptions and their deliveries.
    #[command(subcommand)]
    Webhooks(webhooks::Action),
    /// List, show and cancel workflows.
    #[command(subcommand)]
    Workflows(workflows::Action),
    /// Show figures of the whole server, now or over time.
    Stats(stats::Stats),
    /// Show queues and workers live.
    Top(top::Top),
    /// Show events as they happen.
    Events(events::Events),
    /// Stop handing out jobs for a while, for work on the system.
    #[command(subcommand)]
    Maintenance(maintenance::Action),
    /// Find faults, and say what to do about them.
    Doctor(doctor::Doctor),
    /// Print a dashboard for Grafana.
    Grafana(grafana::Grafana),
    /// Print alerting rules for Prometheus.
    Alerts(alerts::Alerts),
    /// Create, list and revoke the API keys of a server.
    Keys(keys::Keys),
    /// Send the jobs in the outbox of an application.
    Relay(relay::RelayArgs),
    /// List the relays of outboxes that report to the server.
    Relays(relays::Relays),
    /// Decrypt arguments for people who may see them.
    CodecServer(codec_server::CodecServer),
    /// Upgrade a store to the schema of this version.
    Migrate(migrate::Migrate),
    /// Print the completion script of a shell.
    #[command(after_help = "Example:\n  ojs completions bash > /etc/bash_completion.d/ojs")]
    Completions {
        /// bash, elvish, fish, powershell or zsh.
        shell: clap_complete::Shell,
    },
    /// Print the manual, or write a page for each command.
    Man(man::Man),
    /// Show the health of the server.
    Health,
    /// Show what the server implements.
    Manifest,
}

const SERVER_HELP: &str = "\
The first line on stdout is `listening on http://ADDRESS`, with the real port when port 0 was asked for, the second
one says where the page for browsers is. Logs go to stderr.
OTEL_EXPORTER_OTLP_ENDPOINT sends traces, metrics and logs by OTLP (http/protobuf); the other OTEL_ variables apply too.
SIGHUP: reads the keys again.
SIGTERM or SIGINT: accepts no new connections, completes requests that it has read, closes the store, exits with 0. A second signal exits at once.

Examples:
  ojs server                                         127.0.0.1:8080, jobs in ./ojs.db
  ojs server --store sqlite:/var/lib/ojs/jobs.db
  ojs server --store postgres://ojs@db/ojs                any number of servers on one database
  ojs server --store 'sqlite:jobs.db?durability=relaxed'   faster; a power cut may lose the last moments
  ojs server --listen 0.0.0.0:8080 --keys ojs-keys.json      for other machines: `ojs keys add` makes the keys
  ojs server --store memory: --listen 127.0.0.1:0    for tests: nothing is kept, any free port
  ojs server --ui-server https://jobs.example.com    only the page, in front of another server";

/// Options that mean nothing without a store of one's own.
#[cfg(feature = "dashboard")]
const OF_A_STORE: [&str; 9] = [
    "store",
    "keys",
    "codec_server_url",
    "event_source",
    "strict_checkpoints",
    "missing_tenant",
    "no_ui",
    "test_mode",
    "log_jobs",
];

/// See [`ServerArgs::missing_tenant`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MissingTenantArg {
    Default,
    Reject,
}

#[derive(Debug, Args)]
#[command(after_help = SERVER_HELP)]
pub struct ServerArgs {
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", env = "OJS_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: String,
    /// Where jobs are kept: `sqlite:PATH`, `postgres://USER@HOST/DATABASE` (for several servers), or `memory:` (gone when the server stops).
    #[arg(long, value_name = "URL", env = "OJS_STORE", default_value = "sqlite:ojs.db", hide_env_values = true)]
    pub store: SecretUrl,
    /// Require a key of this file on every request (`ojs keys add`). Changes of the file take effect within two
    /// seconds.
    #[arg(long, value_name = "FILE", env = "OJS_KEYS")]
    pub keys: Option<PathBuf>,
    /// Listen on other addresses than loopback without keys: every client that reaches the server can do everything.
    #[arg(long, env = "OJS_INSECURE", conflicts_with = "keys", value_parser = clap::builder::BoolishValueParser::new(), default_value_t = false, action = clap::ArgAction::SetTrue)]
    pub insecure: bool,
    /// A host name that this server answers to, besides names of the local network; `*` for all. May be repeated.
    #[arg(long = "allow-host", value_name = "NAME", env = "OJS_ALLOW_HOSTS", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// Where dashboards have encrypted arguments decrypted (`ojs codec-server`): the manifest names it.
    #[arg(long, value_name = "URL", env = "OJS_CODEC_SERVER_URL")]
    pub codec_server_url: Option<String>,
    /// The URI of this deployment: `source` of its events as CloudEvents. [default: ojs://ojs/engine/local]
    #[arg(long, value_name = "URI", env = "OJS_EVENT_SOURCE", value_parser = uri)]
    pub event_source: Option<String>,
    /// Save checkpoints of active jobs only, and delete them when their jobs end.
    #[arg(long)]
    pub strict_checkpoints: bool,
    /// What happens to a job that names no tenant, from a caller without one: `default` gives it to the tenant
    /// `_default`, `reject` refuses it with 422.
    #[arg(long, value_name = "WHAT", env = "OJS_MISSING_TENANT", default_value = "default")]
    pub missing_tenant: MissingTenantArg,
    /// Serve no page at `/ui/`.
    #[cfg(feature = "dashboard")]
    #[arg(long, env = "OJS_NO_UI", value_parser = clap::builder::BoolishValueParser::new(), default_value_t = false, action = clap::ArgAction::SetTrue)]
    pub no_ui: bool,
    /// Serve only the page, for the Open Job Spec server at this URL: requests of the page are sent on to it, and no
    /// store is opened. `--token` (OJS_AUTH_TOKEN) is the key for them; without it, people sign in with their own keys.
    #[cfg(feature = "dashboard")]
    #[arg(long, value_name = "URL", env = "OJS_UI_SERVER", hide_env_values = true, conflicts_with_all = OF_A_STORE)]
    pub ui_server: Option<SecretUrl>,
    /// Add `POST /ojs/v1/admin/reset` and the hooks of the conformance suite. Anyone who can connect can delete all jobs.
    #[arg(long)]
    pub test_mode: bool,
    /// error, warn, info, debug or trace; or a filter like `ojs_engine=debug,info`. Libraries log only when they are named
    /// (`debug,tokio_postgres=debug`): some log the arguments of jobs.
    #[arg(long, value_name = "LEVEL", env = "OJS_LOG_LEVEL", default_value = "info")]
    pub log_level: String,
    /// How log lines are written.
    #[arg(long, value_name = "FORMAT", env = "OJS_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,
    /// Log every step of every job as well (enqueued, completed, retrying, …); arguments and results are never logged.
    #[arg(long, env = "OJS_LOG_JOBS")]
    pub log_jobs: bool,
    #[command(flatten)]
    pub history: HistoryArgs,
    #[command(flatten)]
    pub outgoing: OutgoingArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Which events the server shows of a job's history.
#[derive(Debug, Args)]
#[command(next_help_heading = "Histories")]
pub struct HistoryArgs {
    /// Whether the server answers requests for histories of jobs.
    #[arg(long, value_name = "BOOL", env = "OJS_HISTORY_ENABLED", default_value_t = true, action = clap::ArgAction::Set)]
    history_enabled: bool,
    /// How far back histories reach.
    #[arg(long, value_name = "DAYS", env = "OJS_HISTORY_RETENTION_DAYS", default_value_t = 30, value_parser = at_least_one())]
    history_retention_days: u32,
    /// The most events in the history of a job: the newest.
    #[arg(long, value_name = "COUNT", env = "OJS_HISTORY_MAX_EVENTS_PER_JOB", default_value_t = 1_000, value_parser = at_least_one())]
    history_max_events: u32,
}

impl From<&HistoryArgs> for HistoryOptions {
    fn from(args: &HistoryArgs) -> Self {
        let retention = Duration::from_secs(u64::from(args.history_retention_days) * 86_400);
        Self { enabled: args.history_enabled, retention, max_events: args.history_max_events as usize }
    }
}

/// Where the server sends requests itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "Webhooks and push delivery")]
pub struct OutgoingArgs {
    /// A network or a host that webhooks and jobs may be sent to although it is not public, also without TLS:
    /// `10.1.0.0/16`, `hooks.internal`. May be repeated.
    #[arg(long = "webhook-allow", value_name = "NETWORK|HOST", env = "OJS_WEBHOOK_ALLOW", value_delimiter = ',')]
    webhook_allow: Vec<Allowed>,
    /// Send webhooks and jobs to every address, also without TLS. Clients can then reach what this machine reaches.
    #[arg(long, env = "OJS_WEBHOOK_ALLOW_INSECURE", value_parser = clap::builder::BoolishValueParser::new(), default_value_t = false, action = clap::ArgAction::SetTrue)]
    webhook_allow_insecure: bool,
    /// How long an endpoint of a webhook may take.
    #[arg(long, value_name = "SECONDS", env = "OJS_WEBHOOK_TIMEOUT", default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..=60))]
    webhook_timeout: u64,
    /// Deliveries that may wait for one subscription of webhooks. Events beyond it are dropped for this subscription.
    #[arg(long, value_name = "COUNT", env = "OJS_WEBHOOK_MAX_WAITING", default_value_t = 100_000, value_parser = at_least_one())]
    webhook_max_waiting: u32,
    /// The region of queues of Amazon SQS whose address does not name one. Without it, AWS_DEFAULT_REGION.
    #[arg(long, value_name = "REGION", env = "AWS_REGION")]
    aws_region: Option<String>,
}

impl From<&OutgoingArgs> for OutgoingOptions {
    fn from(args: &OutgoingArgs) -> Self {
        Self {
            allow: args.webhook_allow.clone(),
            allow_insecure: args.webhook_allow_insecure,
            timeout: Duration::from_secs(args.webhook_timeout),
            max_waiting: args.webhook_max_waiting,
            aws: AwsOptions { region: args.aws_region.clone().or_else(default_region), access_key: None },
            ..Self::default()
        }
    }
}

/// The region in the older variable of Amazon.
fn default_region() -> Option<String> {
    std::env::var("AWS_DEFAULT_REGION").ok().filter(|region| !region.is_empty())
}

/// What clients may take of a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Connections in all; further ones wait.
    #[arg(long, value_name = "COUNT", env = "OJS_MAX_CONNECTIONS", default_value_t = 10_000, value_parser = at_least_one())]
    max_connections: u32,
    /// Connections of one client address; further ones are closed.
    #[arg(long, value_name = "COUNT", env = "OJS_MAX_CONNECTIONS_PER_CLIENT", default_value_t = 5_000, value_parser = at_least_one())]
    max_connections_per_client: u32,
    /// Requests that wait for jobs, results or events, in all; further ones are answered with 503.
    #[arg(long, value_name = "COUNT", env = "OJS_MAX_WAITING", default_value_t = 8_000, value_parser = at_least_one())]
    max_waiting: u32,
    /// The same for one client address and for one key; further ones are answered with 429.
    #[arg(long, value_name = "COUNT", env = "OJS_MAX_WAITING_PER_CLIENT", default_value_t = 4_000, value_parser = at_least_one())]
    max_waiting_per_client: u32,
    /// Time for the request line and the headers of a request.
    #[arg(long, value_name = "SECONDS", env = "OJS_HEADER_TIMEOUT", default_value_t = 10, value_parser = at_least_one())]
    header_timeout: u32,
    /// A connection without a request ends after this time.
    #[arg(long, value_name = "SECONDS", env = "OJS_IDLE_TIMEOUT", default_value_t = 75, value_parser = at_least_one())]
    idle_timeout: u32,
    /// A connection ends when an answer is not read for this time.
    #[arg(long, value_name = "SECONDS", env = "OJS_WRITE_TIMEOUT", default_value_t = 30, value_parser = at_least_one())]
    write_timeout: u32,
}

fn at_least_one() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

impl From<&LimitArgs> for Limits {
    fn from(args: &LimitArgs) -> Self {
        let seconds = |count: u32| Duration::from_secs(count.into());
        let mut limits = Self::default();
        limits.connections = args.max_connections as usize;
        limits.connections_per_client = args.max_connections_per_client as usize;
        limits.waiting = args.max_waiting as usize;
        limits.waiting_per_client = args.max_waiting_per_client as usize;
        limits.header_timeout = seconds(args.header_timeout);
        limits.idle_timeout = seconds(args.idle_timeout);
        limits.write_timeout = seconds(args.write_timeout);
        limits
    }
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line, for collectors.
    Json,
}

/// A URI: a scheme, and characters that a URI may have.
fn uri(text: &str) -> Result<String, String> {
    let has_scheme = text.split_once(':').is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    if has_scheme && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err("a URI is needed, for example https://jobs.example.com/ojs".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
