//! What a relay tells its server of itself every few seconds, so that operators see how far it is (decision 114). It
//! goes on beside the relay's loop and never holds it up.
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::dialect::Dialect;
use super::relay::Shared;
use super::store::{Backlog, Store};
use crate::client::Client;
use crate::error::Error;
use crate::manifest::has_extension;

/// What the manifest of a server names that takes reports.
const EXTENSION: &str = "x-relays";
/// The first report comes so soon: a program that ends at once sends none.
const FIRST: Duration = Duration::from_secs(1);
/// How soon a server is asked again that does not take reports: it may be upgraded under a running relay.
const ASK_AGAIN: Duration = Duration::from_secs(600);
/// How long a report may take that is on its way when the relay stops, and then the last one.
const FAREWELL: Duration = Duration::from_secs(1);
/// Characters that are sent of an error.
const MAX_ERROR: usize = 500;

pub(super) struct Reporter {
    client: Client,
    store: Store,
    shared: Arc<Shared>,
    id: String,
    name: String,
    every: Duration,
    /// The manifest names the extension.
    is_offered: bool,
    /// The server may have heard of this relay.
    is_known: bool,
    /// What was counted last.
    backlog: Backlog,
}

impl Reporter {
    /// `every` is the pause between two reports.
    pub fn new(client: Client, store: Store, shared: Arc<Shared>, id: String, name: Option<String>, every: Duration) -> Self {
        let name = name.or_else(|| crate::machine::name().map(str::to_owned)).unwrap_or_default();
        let backlog = Backlog::default();
        Self { client, store, shared, id, name, every, is_offered: false, is_known: false, backlog }
    }

    /// Reports until the relay stops, and takes leave. An engine in this process has no operators to report to.
    pub async fn run(mut self) {
        if !self.client.transport().is_remote() {
            return;
        }
        let stopping = self.shared.stopping.clone();
        let mut pause = self.every.min(FIRST);
        while stopping.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            // A report that arrives behind the leave would make a relay of the past look like a silent one.
            tokio::select! {
                next = self.turn() => pause = next,
                () = after(&stopping, FAREWELL) => break,
            }
        }
        if self.is_known {
            let leave = json!({"id": self.id, "stopping": true});
            let _ = tokio::time::timeout(FAREWELL, self.send(&leave)).await;
        }
    }

    /// Reports once, where the server takes reports; returns the pause until the next time.
    async fn turn(&mut self) -> Duration {
        if !self.is_offered {
            match self.client.manifest_raw().await {
                Ok(manifest) if has_extension(&manifest, EXTENSION) => self.is_offered = true,
                Ok(_) => return ASK_AGAIN,
                Err(error) => return self.failed(&error),
            }
        }
        let report = self.report().await;
        // A report without an answer may have arrived. Only a refusal says that it is not kept.
        let before = std::mem::replace(&mut self.is_known, true);
        let sent = self.send(&report).await;
        if matches!(&sent, Err(Error::Ojs(error)) if (400..500).contains(&error.status)) {
            self.is_known = before;
        }
        match sent {
            Ok(()) => self.every,
            Err(error) => self.failed(&error),
        }
    }

    async fn report(&mut self) -> Value {
        let counted = self.store.backlog().await;
        let status = self.shared.status().clone();
        let mut error = status.error;
        match counted {
            Ok(backlog) => self.backlog = backlog,
            // What was counted before stands, beside the reason.
            Err(fault) => error = Some(fault.to_string()),
        }
        let Backlog { waiting, waits_more, oldest_ms, parked } = self.backlog;
        json!({
            "id": self.id, "name": self.name, "database": kind(self.store.database().dialect()),
            "outbox": self.store.table_name(), "leading": status.leading, "waiting": waiting, "waiting_more": waits_more,
            "oldest_waiting_ms": oldest_ms, "parked": parked, "sent": status.sent,
            "error": error.map(|text| text.chars().take(MAX_ERROR).collect::<String>()),
        })
    }

    async fn send(&self, report: &Value) -> Result<(), Error> {
        self.client.call(Method::POST, "/relays/beat", Some(report.to_string().into())).await.map(drop)
    }

    /// The pause after a failure. It is logged at debug level only, because the relay works as well without reports.
    fn failed(&mut self, error: &Error) -> Duration {
        tracing::debug!(%error, "the relay could not report to the server");
        match error {
            // The key may not, or the server has been replaced by an older one.
            Error::Ojs(error) if matches!(error.status, 401 | 403 | 404 | 405 | 501) => {
                self.is_offered = false;
                ASK_AGAIN
            }
            _ => self.every,
        }
    }
}

/// Ends so long after the token.
async fn after(token: &CancellationToken, time: Duration) {
    token.cancelled().await;
    tokio::time::sleep(time).await;
}

const fn kind(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => "postgresql",
        Dialect::Sqlite => "sqlite",
        Dialect::Mysql => "mysql",
    }
}
