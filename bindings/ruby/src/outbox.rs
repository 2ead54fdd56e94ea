//! The outbox: rows for the application's connection, and the relay.
use std::sync::Arc;
use std::time::Duration;

use magnus::{Error, RArray, RString, Ruby};
use ojs::outbox::same_database;
use ojs_abi::error::AbiError;
use ojs_abi::fakes;
use ojs_abi::outbox::{self, Relay as Core, Row, Source};
use serde::Deserialize;

use crate::connection::{Connection, length};
use crate::transport::HostTransport;
use crate::{gate, text};

/// The statements that make the tables, or add what they lack.
pub fn migration(ruby: &Ruby, database: String, table: String) -> Result<Vec<String>, Error> {
    gate::held(ruby, "outbox_migration", || outbox::migration(&database, &table))
}

/// One step of finding out whether the server keeps its jobs in the application's database, from JSON to JSON.
pub fn same_database_step(ruby: &Ruby, event: String) -> Result<String, Error> {
    gate::held(ruby, "same_database_step", || ojs_abi::same_database::step(&event))
}

/// The query that lists the jobs which are not sent yet.
pub fn staged_query(ruby: &Ruby, database: String, table: String, in_engine: bool) -> Result<String, Error> {
    gate::held(ruby, "outbox_staged_query", || outbox::staged_query(&database, &table, in_engine))
}

/// What a fake records of a request: a JSON array of jobs.
pub fn fake_recorded(method: String, path: String, body: RString) -> String {
    fakes::recorded(&method, &path, &text::bytes(body))
}

/// Where in a JSON array of recorded jobs those stand that a test asks for.
pub fn fake_matching(ruby: &Ruby, jobs: String, wanted: String) -> Result<Vec<u32>, Error> {
    gate::held(ruby, "fake_matching", || fakes::matching(&jobs, &wanted))
}

/// Notifies the nodes of a server that rows were committed.
pub const fn notify() -> &'static str {
    same_database::NOTIFY
}

/// `[job id, statement, parameters]` for an enqueue request.
pub fn stage(ruby: &Ruby, request: RString, database: String, table: String, style: String) -> Result<RArray, Error> {
    let request = text::bytes(request);
    row(ruby, gate::held(ruby, "outbox_stage", || outbox::stage(&request, &database, &table, &style))?)
}

/// The same for the engine's own table, in the application's PostgreSQL.
pub fn stage_in_engine(ruby: &Ruby, request: RString, style: String) -> Result<RArray, Error> {
    let request = text::bytes(request);
    row(ruby, gate::held(ruby, "outbox_stage_in_engine", || outbox::stage_in_engine(&request, &style))?)
}

fn row(ruby: &Ruby, row: Row) -> Result<RArray, Error> {
    let array = ruby.ary_new_capa(3);
    array.push(row.id)?;
    array.push(row.sql)?;
    array.push(ruby.ary_from_vec(row.params))?;
    Ok(array)
}

/// Settings of a relay; lengths of time are seconds. A URL, or else the host reads the database.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    table: String,
    database: String,
    url: Option<String>,
    poll_interval: Option<f64>,
    batch_size: Option<usize>,
    retention: Option<f64>,
    #[serde(default)]
    migrate: bool,
}

/// A running relay.
#[magnus::wrap(class = "OJS::Native::Relay", free_immediately)]
pub struct Relay {
    core: Core,
}

impl Relay {
    /// The settings are JSON. `host` answers `POST /outbox`; with a URL it is not asked.
    pub fn new(ruby: &Ruby, connection: &Connection, settings: String, host: Option<&HostTransport>) -> Result<Self, Error> {
        let (table, source, settings) = gate::held(ruby, "Relay.new", || {
            let given: Settings = text::settings(&settings)?;
            let source = Source::of(given.url.as_deref(), &given.database, host.map(|host| &host.core))?;
            let settings = outbox::Settings {
                poll_interval: length("poll_interval", given.poll_interval)?,
                batch_size: given.batch_size,
                retention: length("retention", given.retention)?,
                migrate: given.migrate,
            };
            Ok((given.table, source, settings))
        })?;
        let link = Arc::clone(&connection.core);
        let core = gate::wait(ruby, "Relay.new", async move { Core::start(link, &table, source, settings).await })?;
        Ok(Self { core })
    }

    /// A transaction has committed.
    pub fn wake(&self) {
        self.core.wake();
    }

    /// What it has done so far, as JSON; nil when it is over or another process's.
    pub fn status(ruby: &Ruby, this: &Self) -> Result<Option<String>, Error> {
        gate::held(ruby, "Relay.status", || {
            let status = this.core.status();
            status.map(|status| serde_json::to_string(&status).map_err(|e| AbiError::System(e.to_string()))).transpose()
        })
    }

    /// Sends what is committed, for at most `grace` seconds, and ends.
    pub fn stop(ruby: &Ruby, this: &Self, grace: f64) -> Result<(), Error> {
        gate::wait(ruby, "Relay.stop", async {
            this.core.stop(length("grace", Some(grace))?.unwrap_or(Duration::ZERO)).await;
            Ok(())
        })
    }
}
