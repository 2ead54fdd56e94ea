//! `ojs migrate`: brings a store to the schema of this version.
use clap::Args;
use ojs_engine::{Engine, EngineOptions, StoreUrl, schema};
use ojs_model::redact::SecretUrl;

use crate::failure::Failure;
use crate::output::{Output, print};

const EXAMPLES: &str = "\
A server does the same when it opens the store; do it beforehand to see what happens, and after a backup.

Examples:
  ojs migrate --store sqlite:jobs.db            what would be done
  ojs migrate --store sqlite:jobs.db --apply    do it
  ojs migrate --store postgres://ojs@db/jobs --apply";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Migrate {
    /// The store.
    #[arg(long, value_name = "URL", env = "OJS_STORE", default_value = "sqlite:ojs.db", hide_env_values = true)]
    store: SecretUrl,
    /// Do it, instead of only showing what would be done.
    #[arg(long)]
    apply: bool,
}

/// Shows what would be done, or does it.
///
/// # Errors
/// A store that cannot be read or opened.
pub async fn run(command: Migrate, output: Output) -> Result<(), Failure> {
    let url = command.store.expose().parse::<StoreUrl>();
    let url = url.map_err(|error| Failure::usage(format!("--store: {error}"), "for example --store sqlite:jobs.db"))?;
    let (wanted, asked) = (schema::newest(&url), url.clone());
    let looked = tokio::task::spawn_blocking(move || schema::version(&asked)).await;
    let looked = looked.map_err(|error| Failure::setting(error.to_string()))?;
    let before = looked.map_err(|fault| Failure::setting(fault.to_string()))?;
    let behind = before < wanted;
    if behind && command.apply {
        let engine = Engine::open(EngineOptions::new(url)).await.map_err(|error| Failure::setting(error.to_string()))?;
        engine.close().await;
    }
    let done = behind && command.apply;
    if output.json {
        return print(
            &serde_json::json!({"version": before, "current": wanted, "pending": wanted - before, "applied": done}).to_string(),
        );
    }
    print(&match (behind, done) {
        (false, _) => format!("{}: schema version {before}, nothing to do", command.store),
        (true, true) => format!("{}: schema version {before} → {wanted}", command.store),
        (true, false) if before == 0 => {
            format!("{}: not there yet; --apply creates it with schema version {wanted}", command.store)
        }
        (true, false) => format!("{}: schema version {before}; --apply brings it to {wanted}", command.store),
    })
}
