//! A thread that only reads.
use std::sync::PoisonError;

use super::{Inbox, Message, caught};
use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::scope::Scope;
use crate::kernel::typed::Asked;
use crate::metrics::Metrics;
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// How often a query is answered again.
const MAX_TRIES: usize = 3;

/// The loop of a thread that only reads.
pub(super) fn read_loop(mut tables: Box<dyn Tables>, metrics: &Metrics, inbox: &Inbox) {
    loop {
        let taken = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(message) = taken else { return };
        match message {
            // Its client has gone away: nothing waits for the answer.
            Message::Query(_, reply, _) if reply.is_closed() => {}
            Message::Query(query, reply, place) => {
                let answered = caught(|| read(tables.as_mut(), query.as_ref())).unwrap_or_else(|panic| {
                    tracing::error!(%panic, ?query, "a bug: a query met a panic; its reader goes on");
                    metrics.panicked();
                    Err(StoreError::Failed(format!("a bug in the engine ({panic}); please report it with the log")).into())
                });
                if matches!(answered, Err(Refusal::Store(_))) {
                    tables.rollback();
                    // A query that panicked has not reset its scope.
                    tables.names().scope = Scope::All;
                }
                // Before the answer: the next search of the same client finds the place free.
                drop(place);
                let _ = reply.send(answered);
            }
            Message::Execute(_, reply) | Message::Sweep(reply) | Message::Probe(reply) => {
                let _ = reply.send(Err(StoreError::Closed.into()));
            }
            Message::Close(done) => {
                drop(tables);
                let _ = done.send(());
                return;
            }
        }
    }
}

/// Answers a query, again when the store asks for a fresh snapshot.
fn read(tables: &mut dyn Tables, query: &dyn Asked) -> Applied<()> {
    for _ in 0..MAX_TRIES {
        match read_once(tables, query) {
            Err(Refusal::Store(StoreError::Conflict(what))) => {
                tracing::debug!(%what, ?query, "a query is answered again");
                tables.rollback();
            }
            answered => return answered,
        }
    }
    read_once(tables, query)
}

/// Answers a query from one snapshot for all its reads.
fn read_once(tables: &mut dyn Tables, query: &dyn Asked) -> Applied<()> {
    tables.begin(false)?;
    tables.prepare(&Wanted::default())?;
    let answered = query.answer(tables);
    tables.commit()?;
    answered
}
