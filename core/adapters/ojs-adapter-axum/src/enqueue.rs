//! Jobs, now or with the transaction; and the relay behind it.
use std::sync::Arc;
use std::time::Duration;

use ojs::outbox::same_database::{Detection, Step, clock};
use ojs::outbox::{DatabaseError, Dialect, Relay, RelayOptions, RelayStatus, Store, Table};
use ojs::request_context;
use ojs::{Client, Job, JobRequest};
use tokio::sync::{Mutex, OnceCell};

use crate::layer::OjsLayer;
use crate::transaction::{CommitTransaction, JobTransaction};

/// Why a job was not enqueued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// The job is wrong, a middleware refused it, or the server did.
    #[error(transparent)]
    Ojs(#[from] ojs::Error),
    /// The row could not be written: the transaction cannot be committed any more.
    #[cfg(feature = "postgres")]
    #[error("the job's row was not written: {0}")]
    Postgres(#[from] tokio_postgres::Error),
    /// The row could not be written, and nothing of it is there: roll the transaction back.
    #[cfg(feature = "mysql")]
    #[error("the job's row was not written: {0}")]
    Mysql(#[from] mysql_async::Error),
    /// The database has no such outbox table, and nothing was written. On PostgreSQL the transaction cannot be
    /// committed any more.
    #[error("there is no table {0}: run 'ojs.start_relay(url, true)' once, or 'ojs relay migrate'")]
    NoTable(String),
    /// The relay's database or tables cannot be used as they are set up.
    #[error("outbox: {0}")]
    Setup(String),
}

impl AdapterError {
    /// What a driver says of a table that is not there, in words that say what to do; other errors stay as they are.
    fn of_table(self, table: &str, in_engine: bool) -> Self {
        let missing = match &self {
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => error.code() == Some(&tokio_postgres::error::SqlState::UNDEFINED_TABLE),
            #[cfg(feature = "mysql")]
            Self::Mysql(mysql_async::Error::Server(error)) => error.code == NO_SUCH_TABLE,
            _ => false,
        };
        // A job that goes into the server's own table needs no outbox.
        if missing && !in_engine { Self::NoTable(table.to_owned()) } else { self }
    }
}

/// Number of MySQL's error `ER_NO_SUCH_TABLE`.
#[cfg(feature = "mysql")]
const NO_SUCH_TABLE: u16 = 1146;

/// Jobs for an application on PostgreSQL, MySQL or MariaDB. Cheap to clone: keep one, and put [`layer`](Self::layer) around the routes.
#[derive(Clone, Debug)]
pub struct Ojs {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    table: Table,
    /// Whether the server keeps its jobs in the application's database: given, or found out once.
    same: OnceCell<bool>,
    /// How that is found out.
    detection: Mutex<Detection>,
    relay: Mutex<Option<Relay>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("table", &self.table.name())
            .field("same_database", &self.same.get())
            .finish_non_exhaustive()
    }
}

/// Settings of an [`Ojs`].
#[derive(Debug)]
#[must_use]
pub struct OjsBuilder {
    client: Client,
    table: Table,
    same: OnceCell<bool>,
}

impl OjsBuilder {
    /// Another table than `ojs_outbox`.
    ///
    /// # Errors
    /// It is no plain name.
    pub fn table(mut self, name: &str) -> Result<Self, AdapterError> {
        self.table = Table::new(name)?;
        Ok(self)
    }

    /// Says whether the server keeps its jobs in the application's own database; otherwise both are asked once.
    pub fn same_database(mut self, same: bool) -> Self {
        self.same = OnceCell::new_with(Some(same));
        self
    }

    /// Ready.
    ///
    /// # Errors
    /// The client has been used already, or has a layer named `request_context`.
    pub fn build(self) -> Result<Ojs, AdapterError> {
        self.client.use_middleware("request_context", request_context::carry)?;
        let Self { client, table, same } = self;
        Ok(Ojs { shared: Arc::new(Shared { client, table, same, detection: Mutex::default(), relay: Mutex::new(None) }) })
    }
}

impl Ojs {
    /// Settings, step by step.
    pub fn builder(client: Client) -> OjsBuilder {
        OjsBuilder { client, table: Table::default(), same: OnceCell::new() }
    }

    /// With the defaults.
    ///
    /// # Errors
    /// As [`OjsBuilder::build`].
    pub fn new(client: Client) -> Result<Self, AdapterError> {
        Self::builder(client).build()
    }

    /// The client, for everything else.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    /// Puts the request's context around handlers, and this into reach of them.
    #[must_use]
    pub fn layer(&self) -> OjsLayer {
        OjsLayer::new(self.clone())
    }

    /// Sends a job now, whatever becomes of any transaction.
    ///
    /// # Errors
    /// As [`Client::enqueue`].
    pub async fn enqueue(&self, request: JobRequest) -> Result<Job, AdapterError> {
        let job = self.shared.client.enqueue_request(request).await?;
        Ok(job.ok_or(ojs::Error::NotEnqueued)?)
    }

    /// Sends many jobs now, in one request: all are stored or none.
    ///
    /// # Errors
    /// As [`Client::enqueue_batch`]; a layer that drops one of them has dropped it without an error.
    pub async fn enqueue_bulk(&self, requests: impl IntoIterator<Item = JobRequest>) -> Result<Vec<Job>, AdapterError> {
        Ok(self.shared.client.enqueue_batch(requests).await?.into_iter().flatten().collect())
    }

    /// Sends a job if, and only if, the outermost transaction commits. The row is written at once; a savepoint that is rolled back takes
    /// it along. Returns the id that the job will have.
    ///
    /// # Errors
    /// [`AdapterError::Ojs`] for a job that no server would take: the transaction is as it was. `AdapterError::Postgres` or
    /// `AdapterError::Mysql` when the row cannot be written (no table, a transaction that only reads): roll the transaction back.
    pub async fn enqueue_after_commit<T: JobTransaction>(
        &self,
        mut transaction: T,
        request: JobRequest,
    ) -> Result<String, AdapterError> {
        let shared = &self.shared;
        let in_engine = shared.shares_database(&mut transaction).await;
        let staged = if in_engine {
            shared.client.stage_in_engine(request).await?
        } else {
            shared.client.stage(request, T::DIALECT, &shared.table).await?
        };
        let staged = staged.ok_or(ojs::Error::NotEnqueued)?;
        transaction.write(&staged).await.map_err(|error| error.of_table(shared.table.name(), in_engine))?;
        Ok(staged.job_id)
    }

    /// Commits, and has the relay look at once instead of within its interval.
    ///
    /// # Errors
    /// Those of the commit.
    pub async fn commit<T: CommitTransaction>(&self, transaction: T) -> Result<(), T::Error> {
        transaction.commit().await?;
        self.wake().await;
        Ok(())
    }

    // --- the relay ---

    /// Starts the relay in this process, unless it runs: it reads the outbox of the database at `url`. With `migrate` the tables are made
    /// first. Any number of processes may do so; one sends.
    ///
    /// # Errors
    /// [`AdapterError::Setup`] for a URL that is none, and for tables that cannot be made.
    pub async fn start_relay(&self, url: &str, migrate: bool) -> Result<(), AdapterError> {
        let mut relay = self.shared.relay.lock().await;
        if relay.is_none() {
            let setup = |error: DatabaseError| AdapterError::Setup(error.to_string());
            let store = Store::by_url(self.shared.table.clone(), url).map_err(setup)?;
            if migrate {
                store.migrate().await.map_err(setup)?;
            }
            *relay = Some(Relay::start(self.shared.client.clone(), store, RelayOptions::default()));
        }
        Ok(())
    }

    /// Says that a transaction has committed.
    pub async fn wake(&self) {
        self.shared.relay.lock().await.iter().for_each(Relay::wake);
    }

    /// What the relay has done so far; `None` when it does not run here.
    pub async fn relay_status(&self) -> Option<RelayStatus> {
        self.shared.relay.lock().await.as_ref().map(Relay::status)
    }

    /// Sends what is committed, for at most `grace`, and ends the relay: behind `axum::serve(…).with_graceful_shutdown(…)`.
    pub async fn stop(&self, grace: Duration) {
        let relay = self.shared.relay.lock().await.take();
        if let Some(relay) = relay {
            relay.stop(grace).await;
        }
    }
}

impl Shared {
    /// Whether the server keeps its jobs in this transaction's database.
    async fn shares_database<T: JobTransaction>(&self, transaction: &mut T) -> bool {
        if T::DIALECT != Dialect::Postgres {
            return false;
        }
        if let Some(same) = self.same.get() {
            return *same;
        }
        let mut detection = self.detection.lock().await;
        let mut step = detection.begin(clock());
        loop {
            step = match step {
                Step::AskDatabase => detection.database(transaction.identity().await, clock()),
                Step::AskServer => match self.client.health().await {
                    Ok(health) => detection.server(Ok(&health), clock()),
                    Err(error) => detection.server(Err(error.to_string()), clock()),
                },
                Step::Enqueue { shared, lasting, reason } => {
                    if let Some(reason) = reason {
                        tracing::info!("{reason}");
                    }
                    if lasting {
                        // Only the holder of the lock sets it; another one may have done so before.
                        let _ = self.same.set(shared);
                    }
                    return shared;
                }
            };
        }
    }
}
