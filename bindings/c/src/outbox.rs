//! The outbox: rows for the program's own connection to its database, and the relay that sends them.
use std::borrow::Cow;
use std::mem::offset_of;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use ojs_abi::error::AbiError;
use ojs_abi::outbox::{self, Relay, Row, Settings, Source};
use ojs_abi::{layered, runtime, same_database};

use crate::client::ojs_client;
use crate::enqueue_layer::{around, passed};
use crate::error::{enter, enter_new, enter_own, given, ojs_error};
use crate::slice::{Options, ojs_buf, ojs_slice, options, put, put_new};
use crate::transport::ojs_transport;

/// The statements that make the tables of an outbox, or add what they lack: a JSON array of texts. `database` is `postgresql`, `mysql` or
/// `sqlite`, `table` a name, `ojs_outbox` in the specification.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_outbox_migration(
    database: ojs_slice,
    table: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_outbox_migration", out, || {
        ojs_buf::json(&outbox::migration(database.text("database")?, table.text("table")?)?)
    })
}

/// An enqueue request as a row shall hold it: after the layers of the client, and with its arguments encrypted, where
/// the client does so. Call it before staging: the relay runs no layers and encrypts nothing. Where a layer drops the
/// job the class is NOT_ENQUEUED.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_outbox_encrypted(
    client: Option<&ojs_client>,
    request: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    put(out, ptr::null_mut());
    enter_own("ojs_outbox_encrypted", || {
        let client = given(client, "client")?;
        let mut request = Cow::Borrowed(request.bytes("request")?);
        if let Some((layers, _)) = around(&client.layers, "POST", "/jobs") {
            let kept = passed(&layers, layered::job(&request)?)?;
            request = Cow::Owned(kept.ok_or(AbiError::Sdk(ojs::Error::NotEnqueued))?.to_vec());
        }
        put_new(out, ojs_buf::new(outbox::encrypted(&client.link, &request)?.into_owned()));
        Ok(())
    })
}

/// Prepares a job, given as an enqueue request, as a row of an outbox: `{"id", "sql", "params"}`. Run the statement in the
/// transaction that the job belongs to. The parameters are texts, or null; `paramstyle` says how they are written:
/// `qmark` (?), `numeric_dollar` ($1), `format` (%s).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_outbox_stage(
    request: ojs_slice,
    database: ojs_slice,
    table: ojs_slice,
    paramstyle: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    staged("ojs_outbox_stage", out, || {
        outbox::stage(request.bytes("request")?, database.text("database")?, table.text("table")?, paramstyle.text("paramstyle")?)
    })
}

/// The same as a row of the engine's own table, where the engine shares the program's PostgreSQL: no outbox, no relay.
/// ojs_outbox_notify() after the commit has the job taken in at once.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_outbox_stage_in_engine(
    request: ojs_slice,
    paramstyle: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    staged("ojs_outbox_stage_in_engine", out, || {
        outbox::stage_in_engine(request.bytes("request")?, paramstyle.text("paramstyle")?)
    })
}

fn staged(export: &'static str, out: *mut *mut ojs_buf, make: impl FnOnce() -> Result<Row, AbiError>) -> Option<Box<ojs_error>> {
    enter_new(export, out, || ojs_buf::json(&make()?))
}

/// A query for the program's connection to PostgreSQL. When its one value is the `backend.id` in the server's health, the engine's
/// table is in this database, and this role may insert into it; NULL says no.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_outbox_identity() -> ojs_slice {
    ojs_slice::of(ojs::outbox::same_database::IDENTITY.as_bytes())
}

/// The statement that tells the nodes of a server in the same database, after a commit, that there are jobs. Without
/// it they look ten times a second.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_outbox_notify() -> ojs_slice {
    ojs_slice::of(ojs::outbox::same_database::NOTIFY.as_bytes())
}

/// One step of finding out whether the server keeps its jobs in the program's PostgreSQL, from JSON to JSON.
/// `event` is `{"state", "event", "value", "error"}`: first `{"state": null, "event": "begin", "value": null}`, later
/// the `state` of the step before. `out` gets what to do next:
/// `{"state", "next": "database", "sql"}`: run that query, in a savepoint where a transaction is open, and come back
/// with the event `database` and the first value of the first row, a text or null, or with the driver's `error`;
/// `{"state", "next": "server"}`: ask for `/health`, and come back with the event `server` and the answer, or with
/// the `error`;
/// `{"state", "next": "enqueue", "shared", "lasting", "reason"}`: enqueue, with ojs_outbox_stage_in_engine() if
/// `shared`. `lasting` says that the answer stays as it is, `reason` is a sentence for the log, or null.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_outbox_same_database(event: ojs_slice, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_outbox_same_database", out, || Ok(ojs_buf::new(same_database::step(event.text("event")?)?.into_bytes())))
}

/// The query that lists the jobs which are not sent yet, for tests: id, type, arguments and options as texts, under
/// the names `id`, `type`, `args` and `options`. Run it inside the transaction. With `in_engine` it reads the
/// engine's own table.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_outbox_staged_query(
    database: ojs_slice,
    table: ojs_slice,
    in_engine: bool,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_outbox_staged_query", out, || {
        let sql = outbox::staged_query(database.text("database")?, table.text("table")?, in_engine)?;
        Ok(ojs_buf::new(sql.into_bytes()))
    })
}

/// How a relay works. Empty and 0 mean the default.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_relay_options {
    /// Set by ojs_relay_options_init().
    pub size: u32,
    /// Most rows in one request; 1,000.
    pub batch_size: u32,
    /// How often it looks when it is not woken, in milliseconds; 1000.
    pub poll_interval_ms: u64,
    /// How long rows are kept after they were sent, in milliseconds; 24 hours.
    pub retention_ms: u64,
    /// The table; `ojs_outbox`.
    pub table: ojs_slice,
    /// Where to read: the URL of a PostgreSQL database …
    pub url: ojs_slice,
    /// … or a database that the program's own driver reaches: it pulls `POST /outbox` with `[{"sql", "params"}, …]`, runs all of it
    /// in one transaction, and replies `[[row, …], …]`, a list for each statement. Borrowed for the call; outlives the relay if freed.
    pub host: *const ojs_transport,
    /// What the host's database is: `postgresql` or `sqlite`.
    pub database: ojs_slice,
    /// Whether the tables are made first.
    pub migrate: bool,
}

// SAFETY: the other members are numbers, slices and a pointer.
unsafe impl Options for ojs_relay_options {
    const BOOLS: &'static [(usize, &'static str)] = &[(offset_of!(Self, migrate), "migrate")];
}

impl Default for ojs_relay_options {
    fn default() -> Self {
        Self {
            size: u32::try_from(size_of::<Self>()).unwrap_or(0),
            batch_size: 0,
            poll_interval_ms: 0,
            retention_ms: 0,
            table: ojs_slice::EMPTY,
            url: ojs_slice::EMPTY,
            host: ptr::null(),
            database: ojs_slice::EMPTY,
            migrate: false,
        }
    }
}

/// Fills in the size and the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_relay_options_init(options: *mut ojs_relay_options) {
    put(options, ojs_relay_options::default());
}

/// Sends the rows of an outbox that are committed, in their order. Any number may run, in any number of processes: one sends.
/// Free with ojs_relay_free().
pub struct ojs_relay {
    core: Relay,
}

fn source(given: &ojs_relay_options) -> Result<Source, AbiError> {
    // SAFETY: rule 2 of the header: borrowed for the call, NULL or alive.
    let host = unsafe { given.host.as_ref() };
    let (url, database) = (given.url.text("url")?, given.database.string("database")?);
    Source::of(Some(url).filter(|url| !url.is_empty()), database.as_deref().unwrap_or("sqlite"), host.map(|host| &host.core))
}

/// Starts a relay that sends over the client.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_relay_start(
    client: Option<&ojs_client>,
    relay_options: *const ojs_relay_options,
    out: *mut *mut ojs_relay,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_relay_start", out, || {
        let link = Arc::clone(&given(client, "client")?.link);
        let given = options(relay_options, ojs_relay_options::default(), "ojs_relay_options")?;
        let table = given.table.string("table")?.unwrap_or_else(|| "ojs_outbox".to_owned());
        let length = |millis: u64| (millis > 0).then(|| Duration::from_millis(millis));
        let settings = Settings {
            poll_interval: length(given.poll_interval_ms),
            batch_size: usize::try_from(given.batch_size).ok().filter(|size| *size > 0),
            retention: length(given.retention_ms),
            migrate: given.migrate,
        };
        let core = runtime::handle()?.block_on(Relay::start(link, &table, source(&given)?, settings))?;
        Ok(ojs_relay { core })
    })
}

/// Says that a transaction has committed: the relay looks at once. Never waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_relay_wake(relay: Option<&ojs_relay>) {
    if let Some(relay) = relay {
        relay.core.wake();
    }
}

/// What it has done so far: `{"leading", "sent", "deduplicated", "refused", "parked", "held_up", "error"}`; `null` when it is stopped.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_relay_status(relay: Option<&ojs_relay>, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_relay_status", out, || ojs_buf::json(&given(relay, "relay")?.core.status()))
}

/// Sends what is committed, for at most so many milliseconds, and ends. What is left stays in the table. A second stop does nothing.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_relay_stop(relay: Option<&ojs_relay>, grace_ms: u64) -> Option<Box<ojs_error>> {
    enter("ojs_relay_stop", || {
        runtime::handle()?.block_on(given(relay, "relay")?.core.stop(Duration::from_millis(grace_ms)));
        Ok(())
    })
}

/// Ends it at once if need be, and frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_relay_free(relay: Option<Box<ojs_relay>>) {
    drop(relay);
}
