//! `ojs relay`: sends what applications have put into their outbox, as a process of its own.
use std::io::Write;
use std::time::Duration;

use clap::{Args, Subcommand};
use ojs::outbox::{DatabaseError, MysqlOutbox, Relay, RelayOptions, SqliteOutbox, Store, Table};
use ojs_model::redact::SecretUrl;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::LogFormat;
use crate::failure::Failure;
use crate::log;
use crate::output::{Output, print, rows};
use crate::remote::RemoteArgs;

const EXAMPLES: &str = "\
Any number may run, beside relays inside of applications: one sends, the others take over within two seconds when it is gone.
SIGTERM or SIGINT: sends what is committed, for at most --grace seconds, and exits with 0. Nothing is lost either way.

Examples:
  ojs relay migrate --database postgres://app@db/shop       make the table, or add what it lacks
  ojs relay run --database postgres://app@db/shop --url http://jobs:8080
  ojs relay status --database postgres://app@db/shop        how far it is behind
  ojs relay parked --database postgres://app@db/shop        what the server refuses, and why
  ojs relay replay --database postgres://app@db/shop 17     send one of them again";

/// `ojs relay`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RelayArgs {
    #[command(subcommand)]
    action: Action,
    /// The application's database: `postgres://…`, `mysql://…` or `sqlite:PATH`.
    #[arg(long, global = true, value_name = "URL", env = "OJS_OUTBOX_DATABASE", hide_env_values = true)]
    database: Option<SecretUrl>,
    /// The outbox.
    #[arg(long, global = true, value_name = "NAME", env = "OJS_OUTBOX_TABLE", default_value = "ojs_outbox")]
    table: String,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Send what is there and what comes, until told to stop.
    Run(RunArgs),
    /// Make the table, or add to a table made by the specification's DDL what it lacks.
    Migrate,
    /// How many rows wait, how old the oldest is, how many were given up.
    Status,
    /// Rows that the server has refused for good.
    Parked {
        /// Most rows shown.
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Send a parked row again, or all of them.
    Replay(Which),
    /// Delete a parked row, or all of them.
    Drop(Which),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Number of the row.
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    id: Option<i64>,
    /// All parked rows.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    /// What operators call this relay. [default: the name of the machine]
    #[arg(long, value_name = "NAME", env = "OJS_RELAY_NAME")]
    name: Option<String>,
    /// Look so often when no commit wakes it, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    poll_interval: u64,
    /// Most rows in one request.
    #[arg(long, value_name = "ROWS", default_value_t = 1000, value_parser = clap::value_parser!(u16).range(1..=1000))]
    batch_size: u16,
    /// Keep rows so long after they were sent, in hours.
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    retention: u64,
    /// Longest time for sending what is left when told to stop, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
    /// What is logged: error, warn, info, debug, trace, or target=level pairs.
    #[arg(long, value_name = "LEVEL", env = "OJS_LOG_LEVEL", default_value = "info")]
    log_level: String,
    /// How log lines are written.
    #[arg(long, value_enum, env = "OJS_LOG_FORMAT", default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

/// Runs the command.
///
/// # Errors
/// A database that cannot be reached or has no outbox, a server URL that cannot be used.
pub async fn run(args: RelayArgs, remote: RemoteArgs) -> Result<(), Failure> {
    let store = open(args.database.as_ref(), &args.table)?;
    let output = remote.output();
    match args.action {
        Action::Run(options) => relay(options, store, remote).await,
        Action::Migrate => {
            store.migrate().await.map_err(fault)?;
            say(output, &json!({"table": args.table}), || format!("{} is ready", args.table))
        }
        Action::Status => {
            let lag = store.lag().await.map_err(fault)?;
            say(output, &json!(lag), || {
                format!(
                    "{} waiting, the oldest for {:.1} s; {} parked",
                    lag.pending,
                    Duration::from_millis(lag.oldest_ms).as_secs_f64(),
                    lag.parked
                )
            })
        }
        Action::Parked { limit } => {
            let parked = store.parked(limit).await.map_err(fault)?;
            say(output, &json!({"parked": parked}), || {
                let line = |row: &ojs::outbox::Parked| {
                    vec![
                        row.id.to_string(),
                        row.job_type.clone(),
                        row.parked_at.clone(),
                        row.attempts.to_string(),
                        row.error.clone(),
                    ]
                };
                rows(&["row", "type", "parked", "attempts", "error"], parked.iter().map(line))
            })
        }
        Action::Replay(which) => {
            let count = store.replay(which.id).await.map_err(fault)?;
            counted(output, "replayed", count, which.id)
        }
        Action::Drop(which) => {
            let count = store.drop_parked(which.id).await.map_err(fault)?;
            counted(output, "dropped", count, which.id)
        }
    }
}

fn counted(output: Output, what: &str, count: usize, id: Option<i64>) -> Result<(), Failure> {
    if let (0, Some(id)) = (count, id) {
        return Err(Failure::partly(format!("no parked row {id}; see `ojs relay parked`")));
    }
    say(output, &json!({ what: count }), || format!("{what} {count}"))
}

fn say(output: Output, value: &serde_json::Value, text: impl FnOnce() -> String) -> Result<(), Failure> {
    print(&if output.json { value.to_string() } else { text() })
}

async fn relay(options: RunArgs, store: Store, remote: RemoteArgs) -> Result<(), Failure> {
    log::start(&options.log_level, options.log_format, false)?;
    let cannot = |error: std::io::Error| Failure::setting(format!("cannot listen for signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    // Says at once what is wrong with the database or the table.
    let lag = store.lag().await.map_err(fault)?;
    let client = remote.client().await?;
    let mut settings = RelayOptions::default();
    settings.poll_interval = Duration::from_millis(options.poll_interval);
    settings.name = options.name;
    settings.batch_size = options.batch_size.into();
    settings.retention = Duration::from_secs(options.retention.saturating_mul(3600));
    let relay = Relay::start(client, store.clone(), settings);
    tracing::info!(pending = lag.pending, oldest_ms = lag.oldest_ms, parked = lag.parked, "relay started");
    let mut stdout = std::io::stdout();
    // Scripts wait for this line; a closed stdout is no reason not to work.
    let _ = writeln!(stdout, "relaying").and_then(|()| stdout.flush());
    let mut report = tokio::time::interval(Duration::from_secs(10));
    let mut seen = 0;
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = report.tick() => {
                let status = relay.status();
                if status.sent != seen {
                    tracing::info!(sent = status.sent, deduplicated = status.deduplicated, refused = status.refused, parked = status.parked, "relaying");
                    seen = status.sent;
                }
            }
        }
    }
    let before = relay.status().sent;
    relay.stop(Duration::from_secs(options.grace)).await;
    let left = store.lag().await.map(|lag| lag.pending).unwrap_or_default();
    tracing::info!(sent = before, left, "relay stopped");
    Ok(())
}

/// Opens the outbox of a database.
///
/// # Errors
/// A URL that cannot be used, a file that is not there.
pub fn open(database: Option<&SecretUrl>, table: &str) -> Result<Store, Failure> {
    const ADVICE: &str = "for example --database postgres://app@localhost/shop, mysql://app@localhost/shop, or sqlite:app.db";
    let table = Table::new(table).map_err(|error| Failure::setting(format!("--table: {error}")))?;
    let database = database.ok_or_else(|| Failure::usage("which database has the outbox?", ADVICE))?;
    let url = database.expose();
    if let Some(path) = url.strip_prefix("sqlite:") {
        if !std::path::Path::new(path).is_file() {
            return Err(Failure::usage(
                format!("--database: there is no file {path}"),
                "the application makes it; name that file",
            ));
        }
        return Ok(Store::new(table, SqliteOutbox::open(path).map_err(fault)?));
    }
    if url.starts_with("postgres:") || url.starts_with("postgresql:") || MysqlOutbox::takes(url) {
        // The parser may quote what it does not understand.
        return Store::by_url(table, url).map_err(|DatabaseError(error)| fault(DatabaseError(database.scrub(&error))));
    }
    Err(Failure::usage(format!("--database: cannot read '{database}'"), ADVICE))
}

/// What to do about a database that does not do what it was asked.
pub fn fault(error: DatabaseError) -> Failure {
    let advice = if error.is_unmigrated() {
        "make the table with `ojs relay migrate`"
    } else {
        "is --database right, and may its user read and write the outbox?"
    };
    Failure::usage(error.to_string(), advice)
}
