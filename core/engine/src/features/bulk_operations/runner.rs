//! Goes on with the operations of a store: a slice of each in turn, and as much time for others in between.
//!
//! Each node has one runner. It keeps no reference to the store while it waits, so an engine that is dropped closes its
//! store. What a node that ends leaves behind, another one or its successor goes on with.
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ojs_model::{JobId, Timestamp};
use tokio_util::sync::CancellationToken;

use super::plan::Place;
use super::records::OperationRow;
use super::slices::{FailOperation, FindSlice, LEASE_MS, ReleaseOperations, RunSlice, RunningOperations};
use crate::error::{Applied, Refusal, StoreError};
use crate::features::tenants::commands::Within;
use crate::kernel::typed::{Command, Query};
use crate::kernel::wake::Wakeups;
use crate::store::seam::Store;

/// How often it looks without a reason: another process on the same file may have ended.
const FALLBACK: Duration = Duration::from_secs(30);
/// How long it waits after a fault of the store.
const AFTER_FAULT: Duration = Duration::from_secs(1);
/// The longest pause between two slices.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Faults at one place after which an operation has failed.
const MAX_FAULTS: u32 = 5;

/// What a runner works with.
pub(crate) struct Parts {
    pub store: Weak<dyn Store>,
    pub wakeups: Arc<Wakeups>,
    /// The time by the clock of the store.
    pub now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    pub closing: CancellationToken,
}

/// The runner of a node.
struct Runner {
    parts: Parts,
    /// The name of this node among those that hold operations.
    node: JobId,
    /// Faults of the store, by operation, since its last slice.
    faults: HashMap<JobId, u32>,
    /// Whether it has gone on with any operation.
    has_run: bool,
}

/// Runs until the engine closes.
pub(crate) async fn run(parts: Parts) {
    let mut runner = Runner { parts, node: JobId::now_v7(), faults: HashMap::new(), has_run: false };
    while !runner.parts.closing.is_cancelled() {
        let pause = match runner.turn().await {
            Ok(pause) => pause,
            Err(Refusal::Store(StoreError::Closed)) => break,
            Err(refusal) => {
                tracing::warn!(?refusal, "bulk operations could not be read; trying again");
                AFTER_FAULT
            }
        };
        tokio::select! {
            () = runner.parts.wakeups.operations() => {}
            () = tokio::time::sleep(pause) => {}
            () = runner.parts.closing.cancelled() => {}
        }
    }
    if let (true, Some(store)) = (runner.has_run, runner.parts.store.upgrade()) {
        // What cannot be released is free after its lease.
        let _ = store.execute(ReleaseOperations(runner.node)).await;
    }
}

impl Runner {
    /// A slice of each operation that is this node's to go on with; returns when to look again.
    async fn turn(&mut self) -> Applied<Duration> {
        let Some(store) = self.parts.store.upgrade() else { return Err(StoreError::Closed.into()) };
        let running = store.query(RunningOperations).await?;
        let began = Instant::now();
        let mut pause = FALLBACK;
        for row in running {
            if self.parts.closing.is_cancelled() {
                break;
            }
            let now = (self.parts.now)();
            if !row.is_free_for(self.node, now.as_millis()) {
                let until = Timestamp::from_millis(row.lease_until).millis_since(now);
                let lease = u64::try_from(LEASE_MS).unwrap_or_default();
                pause = pause.min(Duration::from_millis(until.clamp(1, lease)));
                continue;
            }
            self.has_run = true;
            pause = pause.min(match self.step(&store, &row).await {
                Ok(()) => {
                    self.faults.remove(&row.id);
                    began.elapsed().clamp(Duration::from_millis(1), LONGEST_PAUSE)
                }
                Err(Refusal::Store(StoreError::Closed)) => return Err(StoreError::Closed.into()),
                Err(refusal) => {
                    self.note_fault(&store, &row, &refusal).await?;
                    AFTER_FAULT
                }
            });
        }
        Ok(pause)
    }

    /// One slice of an operation. When another node was faster, nothing happens.
    async fn step(&self, store: &Arc<dyn Store>, row: &OperationRow) -> Applied<()> {
        let found = query(store, row, FindSlice(row.clone())).await?;
        let slice = RunSlice { id: row.id, node: self.node, from: Place::of(row), found, failed: Vec::new() };
        execute(store, row, slice).await.map(drop)
    }

    /// A store that is away may come back; what it cannot read, it cannot read the next time either.
    async fn note_fault(&mut self, store: &Arc<dyn Store>, row: &OperationRow, refusal: &Refusal) -> Applied<()> {
        tracing::warn!(operation = %row.id, ?refusal, "a slice of a bulk operation failed; trying again");
        let fault = match refusal {
            Refusal::Store(StoreError::Failed(fault)) => fault.clone(),
            Refusal::Store(_) => return Ok(()),
            Refusal::Ojs(error) => error.message.clone(),
            Refusal::Blocked(blocked) => blocked.error.message.clone(),
        };
        let faults = self.faults.entry(row.id).or_default();
        *faults += 1;
        if *faults < MAX_FAULTS {
            return Ok(());
        }
        self.faults.remove(&row.id);
        execute(store, row, FailOperation { id: row.id, from: Place::of(row), fault }).await
    }
}

/// Asks as the tenant of an operation.
async fn query<Q: Query>(store: &Arc<dyn Store>, row: &OperationRow, query: Q) -> Applied<Q::Reply> {
    match row.of_one() {
        Some(tenant) => store.query(Within { tenant: tenant.into(), asked: query }).await,
        None => store.query(query).await,
    }
}

/// Carries out a command as the tenant of an operation.
async fn execute<C: Command>(store: &Arc<dyn Store>, row: &OperationRow, command: C) -> Applied<C::Reply> {
    match row.of_one() {
        Some(tenant) => store.execute(Within { tenant: tenant.into(), asked: command }).await,
        None => store.execute(command).await,
    }
}
