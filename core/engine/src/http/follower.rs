//! Follows the event log for all streams of events: one reader serves them all.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use crate::engine::Engine;
use crate::error::{Refusal, StoreError};
use crate::kernel::event::{Event, EventFilter, Place};
use crate::kernel::log::Span;
use crate::kernel::query::{ReadEvents, ReadSpan};
use crate::stream::{Listener, News};

/// Events read at a time.
const PAGE: usize = 1000;
/// How often the log is looked at without a signal: commits of other processes announce themselves, most of the time.
const FALLBACK: Duration = Duration::from_secs(1);

/// A listener's end; dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    engine: Engine,
    listener: Arc<Listener>,
    /// All events behind this place are delivered.
    pub from: Place,
}

impl Engine {
    /// Listens to events that pass the filter, from now on.
    pub(crate) async fn subscribe(&self, filter: EventFilter) -> Result<Subscription, Refusal> {
        let filter = EventFilter { tenant: self.tenant().cloned().or(filter.tenant.clone()), ..filter };
        let listener = Arc::new(Listener { filter, buffer: Mutex::default(), notify: Notify::new() });
        if self.is_stopping() {
            return Err(StoreError::Closed.into());
        }
        let _starting = self.streams().starting.lock().await;
        if let Some(from) = self.streams().join(&listener) {
            return Ok(Subscription { engine: self.clone(), listener, from });
        }
        // Before the end of the log is asked for: what is committed from here on rings the bell.
        self.wakeups().follow(true);
        let from = match self.log_span(None).await {
            Ok(span) => span.end,
            Err(refusal) => {
                self.wakeups().follow(false);
                return Err(refusal);
            }
        };
        self.streams().begin(from, &listener);
        // It reads for the listeners of all tenants; each has a filter of its own.
        tokio::spawn(follow(self.of_all()));
        Ok(Subscription { engine: self.clone(), listener, from })
    }

    /// The extent of the log.
    pub(crate) async fn log_span(&self, at: Option<ojs_model::Timestamp>) -> Result<Span, Refusal> {
        self.query(ReadSpan(at)).await
    }

    /// A page of the log: events, where to go on, whether there is more.
    pub(crate) async fn read_log(&self, filter: EventFilter) -> Result<(Vec<Event>, Place, bool), Refusal> {
        let (events, cursor, has_more) = self.query(ReadEvents(filter)).await?;
        Ok((events, Place::parse(&cursor).unwrap_or_default(), has_more))
    }
}

/// Reads the log as it grows, until no listener is left or the engine closes.
async fn follow(engine: Engine) {
    loop {
        let mut more = true;
        while more {
            let filter =
                EventFilter { after: engine.streams().place(), limit: PAGE, transitions: true, ..EventFilter::default() };
            more = match engine.read_log(filter).await {
                Ok((events, place, more)) => {
                    engine.streams().deliver(events, place);
                    more
                }
                Err(Refusal::Store(StoreError::Closed)) => return,
                Err(refusal) => {
                    tracing::warn!(?refusal, "the event log could not be read for open streams; trying again");
                    false
                }
            };
        }
        if engine.streams().end_if_alone(engine.wakeups()) {
            return;
        }
        tokio::select! {
            () = engine.wakeups().commit() => {}
            () = tokio::time::sleep(FALLBACK) => {}
            () = engine.closed() => return,
        }
    }
}

impl Subscription {
    /// Waits until something has come, and takes all of it. Losses come before what is left.
    pub async fn news(&self) -> News {
        loop {
            let news = {
                let mut buffer = self.listener.lock();
                (buffer.dropped.take(), std::mem::take(&mut buffer.events))
            };
            if news.0.is_some() || !news.1.is_empty() {
                return news;
            }
            self.listener.notify.notified().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut state = self.engine.streams().lock();
        state.listeners.retain(|listener| !Arc::ptr_eq(listener, &self.listener));
        if state.listeners.is_empty() {
            // The follower looks up and ends.
            self.engine.wakeups().committed();
        }
    }
}
