//! From the URL of a store to its connections and threads.
use std::sync::Arc;

#[cfg(feature = "postgres")]
use ojs_model::redact::SecretUrl;
use tokio_util::sync::CancellationToken;

use crate::engine::{Database, Engine, Shared};
use crate::error::StoreError;
use crate::features;
use crate::features::webhooks::backlog::Backlog;
use crate::kernel::maintenance::Sweeper;
use crate::kernel::wake::Wakeups;
use crate::options::{EngineOptions, StoreUrl};
use crate::store::memory::MemoryTables;
use crate::store::postgres::Node;
#[cfg(feature = "postgres")]
use crate::store::postgres::{PostgresTables, Role};
use crate::store::seam::Store;
use crate::store::sqlite::SqliteTables;
use crate::store::tables::Tables;
use crate::store::writer::{Connections, GroupCommitStore, WriterParts};

/// Connections that write: while one waits for the commit of its group, the next group gathers at another.
#[cfg(feature = "postgres")]
const POSTGRES_WRITERS: usize = 6;
/// Connections that only read.
#[cfg(feature = "postgres")]
const POSTGRES_READERS: usize = 2;
/// Connections for lists and searches: two, so that one slow search does not hold up the others.
const SEARCHERS: usize = 2;

/// The engine could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store could not be opened.
    #[error("cannot open {store}: {fault}. {remedy}")]
    Store {
        /// Which store.
        store: String,
        /// What it said.
        fault: StoreError,
        /// What to look at, for a store of this kind.
        remedy: &'static str,
    },
    /// The runtime is shutting down.
    #[error("cannot open the store: {0}")]
    Runtime(#[from] tokio::task::JoinError),
}

impl Engine {
    /// Opens the store and starts its writer thread. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`OpenError`] when the store cannot be opened.
    pub async fn open(options: EngineOptions) -> Result<Self, OpenError> {
        let shared = Shared {
            hooks: &features::HOOKS,
            wakeups: Arc::default(),
            metrics: Arc::default(),
            progress: Arc::default(),
            backlog: Arc::new(Backlog::new(options.outgoing.max_waiting)),
            closing: CancellationToken::new(),
        };
        let (prepared, parts) = (options.clone(), shared.clone());
        // Opening reads and may recover a file: not on a runtime thread.
        let opened = tokio::task::spawn_blocking(move || open_store(&prepared, parts));
        let (store, node) = opened.await??;
        let store: Arc<dyn Store> = Arc::new(store);
        let store = options.between.as_ref().map_or(Arc::clone(&store), |between| between(store));
        Ok(Self::over(store, node.map(|node| node as Arc<dyn Database>), options, shared))
    }
}

impl Database for Node {
    fn identity(&self) -> &str {
        Self::identity(self)
    }

    fn ahead(&self) -> i64 {
        Self::ahead(self)
    }
}

/// Opens a store: its connections, and the threads that own them.
fn open_store(options: &EngineOptions, shared: Shared) -> Result<(GroupCommitStore, Option<Arc<Node>>), OpenError> {
    let url = &options.store;
    let remedy = match url {
        StoreUrl::Postgres { .. } => "Check that PostgreSQL runs there, and that user and database exist",
        _ => "Check that the folder exists and is writable, and that the file is an ojs database",
    };
    let refused = |fault| OpenError::Store { store: url.to_string(), fault, remedy };
    let (connections, node) = connect(url, &shared.wakeups, shared.closing).map_err(refused)?;
    let parts = WriterParts {
        features: shared.hooks,
        connections,
        clock: Arc::clone(&options.clock),
        sweeper: Sweeper::new(options.worker_timeout, options.retention),
        wakeups: shared.wakeups,
        metrics: shared.metrics,
        progress: shared.progress,
        backlog: shared.backlog,
    };
    let store = GroupCommitStore::start(parts).map_err(refused)?;
    Ok((store, node))
}

/// Opens the connections of a store.
fn connect(
    url: &StoreUrl,
    wakeups: &Arc<Wakeups>,
    stop: CancellationToken,
) -> Result<(Connections, Option<Arc<Node>>), StoreError> {
    let one = |tables: Box<dyn Tables>| vec![tables];
    match url {
        StoreUrl::Memory => {
            let writers = one(Box::<MemoryTables>::default());
            Ok((
                Connections {
                    writers,
                    maintenance: None,
                    readers: Vec::new(),
                    searchers: Vec::new(),
                    name: "memory",
                    checkup: None,
                },
                None,
            ))
        }
        StoreUrl::Sqlite { path, durability } => {
            let unclean = SqliteTables::recover(path)?;
            let writers = one(Box::new(SqliteTables::open(path, *durability)?));
            let reader = || Ok(Box::new(SqliteTables::open_reader(path)?) as Box<dyn Tables>);
            let readers = one(reader()?);
            let searchers = (0..SEARCHERS).map(|_| reader()).collect::<Result<_, StoreError>>()?;
            let checkup = unclean.then(|| crate::store::sqlite::checkup::start(path));
            Ok((Connections { writers, maintenance: None, readers, searchers, name: "sqlite", checkup }, None))
        }
        #[cfg(not(feature = "postgres"))]
        StoreUrl::Postgres { .. } => {
            drop((Arc::clone(wakeups), stop));
            Err(crate::store::postgres::absent())
        }
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres { url, direct } => {
            let node = Node::open(url.expose())?;
            node.listen(direct.as_ref().map(SecretUrl::expose), Arc::clone(wakeups), stop)?;
            let open = |role| Ok(Box::new(PostgresTables::open(&node, role)?) as Box<dyn Tables>);
            let writers = (0..POSTGRES_WRITERS).map(|_| open(Role::Writer)).collect::<Result<_, StoreError>>()?;
            let readers = (0..POSTGRES_READERS).map(|_| open(Role::Reader)).collect::<Result<_, StoreError>>()?;
            let searchers = (0..SEARCHERS).map(|_| open(Role::Reader)).collect::<Result<_, StoreError>>()?;
            let maintenance = Some(open(Role::Maintenance)?);
            Ok((Connections { writers, maintenance, readers, searchers, name: "postgres", checkup: None }, Some(node)))
        }
    }
}
