//! Live events: one follower of the log serves everybody who listens.
//!
//! The follower sleeps until a commit; then it reads what is new, once, and puts it into the buffer of each listener it
//! concerns. It ends with the last listener, so an engine nobody listens to does nothing of this.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::engine::Engine;
use crate::error::{Refusal, StoreError};
use crate::http::client_limit::{ClientLimit, MAX_PER_CLIENT, MAX_STREAMS};
use crate::kernel::command::{Query, Reply};
use crate::kernel::event::{Event, EventFilter, Place};
use crate::kernel::log::Span;

/// Events kept for a listener that reads slower than they come; the oldest go first (extensions section 3).
pub const BUFFER: usize = 1000;
/// Events read at a time.
const PAGE: usize = 1000;
/// How often the log is looked at without a signal: commits of other processes announce themselves, most of the time.
const FALLBACK: Duration = Duration::from_secs(1);

/// Who listens, and how far the log has been read for them.
#[derive(Debug)]
pub struct Streams {
    state: Mutex<State>,
    /// Held while the follower is started: it needs to ask the store where the log ends.
    starting: tokio::sync::Mutex<()>,
    client_limit: Arc<ClientLimit>,
}

impl Default for Streams {
    fn default() -> Self {
        let client_limit = Arc::new(ClientLimit::new(MAX_STREAMS, MAX_PER_CLIENT));
        Self { state: Mutex::default(), starting: tokio::sync::Mutex::default(), client_limit }
    }
}

#[derive(Debug, Default)]
struct State {
    listeners: Vec<Arc<Listener>>,
    place: Place,
    following: bool,
}

#[derive(Debug)]
struct Listener {
    filter: EventFilter,
    buffer: Mutex<Buffer>,
    notify: Notify,
}

#[derive(Debug, Default)]
struct Buffer {
    events: VecDeque<Arc<Event>>,
    dropped: Option<Dropped>,
}

/// Events that a listener was too slow for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// How many.
    pub count: u64,
    /// Id of the first.
    pub oldest: String,
    /// Id of the last.
    pub newest: String,
}

/// What has come since the last look.
pub type News = (Option<Dropped>, VecDeque<Arc<Event>>);

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
        tokio::spawn(follow(self.clone()));
        Ok(Subscription { engine: self.clone(), listener, from })
    }

    /// The extent of the log.
    pub(crate) async fn log_span(&self, at: Option<ojs_model::Timestamp>) -> Result<Span, Refusal> {
        match self.query(Query::Log(at)).await? {
            Reply::Log(span) => Ok(span),
            other => Err(StoreError::Failed(format!("unexpected answer {other:?}")).into()),
        }
    }

    /// A page of the log: events, where to go on, whether there is more.
    pub(crate) async fn read_log(&self, filter: EventFilter) -> Result<(Vec<Event>, Place, bool), Refusal> {
        match self.query(Query::Events(filter)).await? {
            Reply::Events { events, cursor, has_more } => Ok((events, Place::parse(&cursor).unwrap_or_default(), has_more)),
            other => Err(StoreError::Failed(format!("unexpected answer {other:?}")).into()),
        }
    }
}

/// Reads the log as it grows, until nobody listens or the engine closes.
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
                    tracing::warn!(?refusal, "the event log could not be read for those who listen; trying again");
                    false
                }
            };
        }
        if engine.streams().end_if_alone(&engine) {
            return;
        }
        tokio::select! {
            () = engine.wakeups().commit() => {}
            () = tokio::time::sleep(FALLBACK) => {}
            () = engine.closed() => return,
        }
    }
}

impl Streams {
    /// How many may listen.
    pub fn client_limit(&self) -> &Arc<ClientLimit> {
        &self.client_limit
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is valid after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self) -> Place {
        self.lock().place
    }

    /// Adds a listener if the log is being followed; says from where it hears.
    fn join(&self, listener: &Arc<Listener>) -> Option<Place> {
        let mut state = self.lock();
        if !state.following {
            return None;
        }
        state.listeners.push(Arc::clone(listener));
        Some(state.place)
    }

    fn begin(&self, place: Place, listener: &Arc<Listener>) {
        *self.lock() = State { listeners: vec![Arc::clone(listener)], place, following: true };
    }

    fn deliver(&self, events: Vec<Event>, place: Place) {
        let mut state = self.lock();
        state.place = place;
        for event in events.into_iter().map(Arc::new) {
            for listener in &state.listeners {
                if listener.filter.wants(&event) {
                    listener.push(&event);
                }
            }
        }
        for listener in &state.listeners {
            listener.notify.notify_one();
        }
    }

    fn end_if_alone(&self, engine: &Engine) -> bool {
        let mut state = self.lock();
        let alone = state.listeners.is_empty();
        if alone {
            state.following = false;
            // Under the lock: a listener that comes next says it anew.
            engine.wakeups().follow(false);
        }
        alone
    }
}

impl Listener {
    fn push(&self, event: &Arc<Event>) {
        let mut buffer = self.lock();
        buffer.events.push_back(Arc::clone(event));
        if buffer.events.len() > BUFFER
            && let Some(lost) = buffer.events.pop_front()
        {
            match &mut buffer.dropped {
                Some(dropped) => {
                    dropped.count += 1;
                    dropped.newest.clone_from(&lost.id);
                }
                none => *none = Some(Dropped { count: 1, oldest: lost.id.clone(), newest: lost.id.clone() }),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
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
