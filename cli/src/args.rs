//! What can be typed: the commands, their options, and the help that teaches them.
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::command::{dead_letter, jobs, queues, workers};
use crate::remote::RemoteArgs;

const EXAMPLES: &str = "\
Examples:
  ojs server --store sqlite:jobs.db              start a server on 127.0.0.1:8080
  ojs jobs enqueue email.send '[\"a@example.com\"]'  give it a job
  ojs queues stats                               see what waits and what runs
  ojs dead-letter list                           see what failed for good
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
    /// Enqueue, list, show, cancel and retry jobs.
    #[command(subcommand)]
    Jobs(jobs::Action),
    /// List queues, count their jobs, pause and resume them.
    #[command(subcommand)]
    Queues(queues::Action),
    /// Look at jobs that failed for good; run them again or delete them.
    #[command(subcommand, alias = "dlq")]
    DeadLetter(dead_letter::Action),
    /// Tell workers to stop fetching, or to stop.
    #[command(subcommand)]
    Workers(workers::Action),
    /// Ask the server how it is.
    Health,
    /// Show what the server implements.
    Manifest,
}

const SERVER_HELP: &str = "\
The first line on stdout is `listening on http://ADDRESS`, with the real port when port 0 was asked for. Logs go to stderr.
SIGTERM or SIGINT: no new connections, answers what it has read, closes the store, exits with 0. A second signal exits at once.

Examples:
  ojs server                                         127.0.0.1:8080, jobs in ./ojs.db
  ojs server --store sqlite:/var/lib/ojs/jobs.db
  ojs server --store 'sqlite:jobs.db?durability=relaxed'   faster; a power cut may lose the last moments
  ojs server --store memory: --listen 127.0.0.1:0    for tests: nothing is kept, any free port";

#[derive(Debug, Args)]
#[command(after_help = SERVER_HELP)]
pub struct ServerArgs {
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", env = "OJS_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: String,
    /// Where jobs are kept: `sqlite:PATH`, or `memory:` (gone when the server stops).
    #[arg(long, value_name = "URL", env = "OJS_STORE", default_value = "sqlite:ojs.db")]
    pub store: String,
    /// Add `POST /ojs/v1/admin/reset` and the hooks of the conformance suite. Anyone who can connect can delete all jobs.
    #[arg(long)]
    pub test_mode: bool,
    /// error, warn, info, debug or trace; or a filter like `ojs_engine=debug,info`.
    #[arg(long, value_name = "LEVEL", env = "OJS_LOG_LEVEL", default_value = "info")]
    pub log_level: String,
    /// How log lines are written.
    #[arg(long, value_name = "FORMAT", env = "OJS_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line, for collectors.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
