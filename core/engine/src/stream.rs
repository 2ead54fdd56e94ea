//! Live events: one follower of the log serves all listeners.
//!
//! The follower sleeps until a commit; then it reads what is new, once, and puts it into the buffer of each listener it
//! concerns. It ends with the last listener, so an engine without listeners does none of this.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::http::client_limit::{ClientLimit, MAX_PER_CLIENT, MAX_STREAMS};
use crate::kernel::event::{Event, EventFilter, Place};
use crate::kernel::wake::Wakeups;

/// Events kept for a listener that reads slower than they come; the oldest go first (extensions section 3).
pub const BUFFER: usize = 1000;
/// Who listens, and how far the log has been read for them.
#[derive(Debug)]
pub struct Streams {
    state: Mutex<State>,
    /// Held while the follower is started: it needs to ask the store where the log ends.
    pub(crate) starting: tokio::sync::Mutex<()>,
    client_limit: Arc<ClientLimit>,
}

impl Default for Streams {
    fn default() -> Self {
        let client_limit = Arc::new(ClientLimit::new(MAX_STREAMS, MAX_PER_CLIENT));
        Self { state: Mutex::default(), starting: tokio::sync::Mutex::default(), client_limit }
    }
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) listeners: Vec<Arc<Listener>>,
    place: Place,
    following: bool,
}

#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) filter: EventFilter,
    pub(crate) buffer: Mutex<Buffer>,
    pub(crate) notify: Notify,
}

#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) events: VecDeque<Arc<Event>>,
    pub(crate) dropped: Option<Dropped>,
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

/// Events in their order.
pub type Events = VecDeque<Arc<Event>>;

/// What has come since the last look.
pub type News = (Option<Dropped>, Events);

impl Streams {
    /// How many may listen.
    pub fn client_limit(&self) -> &Arc<ClientLimit> {
        &self.client_limit
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // The state is valid after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn place(&self) -> Place {
        self.lock().place
    }

    /// Adds a listener if the log is being followed; says from where it hears.
    pub(crate) fn join(&self, listener: &Arc<Listener>) -> Option<Place> {
        let mut state = self.lock();
        if !state.following {
            return None;
        }
        state.listeners.push(Arc::clone(listener));
        Some(state.place)
    }

    pub(crate) fn begin(&self, place: Place, listener: &Arc<Listener>) {
        *self.lock() = State { listeners: vec![Arc::clone(listener)], place, following: true };
    }

    pub(crate) fn deliver(&self, events: Vec<Event>, place: Place) {
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

    pub(crate) fn end_if_alone(&self, wakeups: &Wakeups) -> bool {
        let mut state = self.lock();
        let alone = state.listeners.is_empty();
        if alone {
            state.following = false;
            // Under the lock: a listener that comes next says it anew.
            wakeups.follow(false);
        }
        alone
    }
}

impl Listener {
    pub(crate) fn push(&self, event: &Arc<Event>) {
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

    pub(crate) fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
