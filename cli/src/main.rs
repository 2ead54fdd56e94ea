//! The `ojs` command: a job server, and the tools to operate one.
//!
//! Exit status: 0 done, 1 the server refused, 2 wrong usage or a setting that cannot work, 3 no server answers.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

mod args;
mod command;
mod failure;
#[cfg(feature = "dashboard")]
mod front;
mod list;
mod log;
mod names;
mod output;
mod remote;
mod server;
mod telemetry;
mod watch;
mod when;

use args::{Cli, Command};
use failure::Failure;

/// Requests of many threads allocate and free small pieces: the system's allocator takes a seventh of the server's
/// instructions for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = parsed(&matches);
    let done = match cli.remote.watch() {
        Some(period) => watch::repeat(period, &matches, || run(parsed(&matches))).await,
        None => run(cli).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::remark(&format!("ojs: {failure}"));
            failure.exit_code()
        }
    }
}

fn parsed(matches: &ArgMatches) -> Cli {
    let mut cli = Cli::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    cli.remote.only_reads = watch::only_reads(matches);
    cli
}

async fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Server(args) => serve(args, cli.remote).await,
        Command::Jobs(action) => command::jobs::run(action, cli.remote.connect().await?).await,
        Command::Bulk(action) => command::operations::run(action, cli.remote.connect().await?).await,
        Command::Queues(action) => command::queues::run(action, cli.remote.connect().await?).await,
        Command::Pools(action) => command::pools::run(action, cli.remote.connect().await?).await,
        Command::Tenants(action) => command::tenants::run(action, cli.remote.connect().await?).await,
        Command::RateLimits(action) => command::rate_limits::run(action, cli.remote.connect().await?).await,
        Command::DeadLetter(action) => command::dead_letter::run(action, cli.remote.connect().await?).await,
        Command::Errors(action) => command::errors::run(action, cli.remote.connect().await?).await,
        Command::Workers(action) => command::workers::run(action, cli.remote.connect().await?).await,
        Command::Crons(action) => command::crons::run(action, cli.remote.connect().await?).await,
        Command::Trains(action) => command::trains::run(action, cli.remote.connect().await?).await,
        Command::Schemas(action) => command::schemas::run(action, cli.remote.connect().await?).await,
        Command::Push(action) => command::push::run(action, cli.remote.connect().await?).await,
        Command::Webhooks(action) => command::webhooks::run(action, cli.remote.connect().await?).await,
        Command::Workflows(action) => command::workflows::run(action, cli.remote.connect().await?).await,
        Command::Stats(stats) => command::stats::run(stats, cli.remote.connect().await?).await,
        Command::Top(top) => command::top::run(top, cli.remote.connect().await?).await,
        Command::Events(events) => command::events::run(events, cli.remote.connect().await?).await,
        Command::Maintenance(action) => command::maintenance::run(action, cli.remote.connect().await?).await,
        Command::Doctor(doctor) => command::doctor::run(doctor, cli.remote).await,
        Command::Grafana(grafana) => command::grafana::run(&grafana),
        Command::Alerts(alerts) => command::alerts::run(&alerts),
        Command::Man(man) => command::man::run(&man, <Cli as clap::CommandFactory>::command()),
        Command::Keys(keys) => command::keys::run(keys, cli.remote.output()),
        Command::Relays(relays) => command::relays::run(relays, cli.remote.connect().await?).await,
        Command::Relay(args) => command::relay::run(args, cli.remote).await,
        Command::CodecServer(args) => command::codec_server::run(args).await,
        Command::Migrate(migrate) => command::migrate::run(migrate, cli.remote.output()).await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut <Cli as clap::CommandFactory>::command(), "ojs", &mut script);
            output::write(&script).map(drop)
        }
        Command::Health => command::about::health(cli.remote.connect().await?).await,
        Command::Manifest => command::about::manifest(cli.remote.connect().await?).await,
    }
}

/// A server, or only the page of another one.
async fn serve(args: args::ServerArgs, remote: remote::RemoteArgs) -> Result<(), Failure> {
    #[cfg(feature = "dashboard")]
    if let Some(url) = args.ui_server.clone() {
        return front::run(args, url, remote).await;
    }
    drop(remote);
    server::run(args).await
}
