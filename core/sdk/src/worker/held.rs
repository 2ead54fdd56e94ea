//! The deliveries that a worker holds: from the fetch until the server has accepted the outcome.
//!
//! | stage | handler | in heartbeats |
//! |---|---|---|
//! | `Running` | works | yes |
//! | `Reporting` | has ended, or timed out | yes, until the server has answered |
//! | removed | – | no |

use std::borrow::Cow;

use bytes::Bytes;
use foldhash::HashMap;
use ojs_model::json;
use tokio::time::Instant;

use super::durable::Durable;
use crate::dispatch::{CancelReason, DeliveryKey};

/// The stage of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// With the handler.
    Running,
    /// The outcome is fixed and on its way.
    Reporting,
}

/// What log records show of a delivery besides its id. Few deliveries have one, so its texts are read when they are
/// asked for.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub envelope: Bytes,
    pub attempt: u32,
    pub max_attempts: Option<u32>,
}

impl About {
    pub fn job_type(&self) -> Cow<'_, str> {
        self.text("type")
    }

    pub fn queue(&self) -> Cow<'_, str> {
        self.text("queue")
    }

    /// A member that is a text; empty when there is none.
    fn text(&self, name: &str) -> Cow<'_, str> {
        let envelope = std::str::from_utf8(&self.envelope).unwrap_or_default();
        json::member(envelope, name).and_then(json::string).unwrap_or_default()
    }
}

/// One held delivery.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub id: std::sync::Arc<str>,
    pub about: About,
    pub lease_token: Option<u64>,
    /// When the lease runs out unless a heartbeat extends it.
    pub lease_until: Instant,
    pub stage: Stage,
    /// The handler was asked to stop, and why.
    pub cancelled: Option<CancelReason>,
    /// State that the run saves for later attempts, once there is any.
    pub durable: Option<std::sync::Arc<Durable>>,
}

#[derive(Debug, Default)]
pub(super) struct Held {
    entries: HashMap<DeliveryKey, Entry>,
    /// Entries in stage `Running`.
    running: usize,
}

impl Held {
    pub fn insert(&mut self, key: DeliveryKey, entry: Entry) {
        self.running += usize::from(entry.stage == Stage::Running);
        self.entries.insert(key, entry);
    }

    pub fn get(&self, key: DeliveryKey) -> Option<&Entry> {
        self.entries.get(&key)
    }

    pub fn get_mut(&mut self, key: DeliveryKey) -> Option<&mut Entry> {
        self.entries.get_mut(&key)
    }

    /// The outcome of a running delivery is fixed. `false` when it was fixed before: the first outcome counts.
    pub fn settle(&mut self, key: DeliveryKey) -> bool {
        match self.entries.get_mut(&key) {
            Some(entry) if entry.stage == Stage::Running => {
                entry.stage = Stage::Reporting;
                self.running -= 1;
                true
            }
            _ => false,
        }
    }

    /// Removes a delivery whose outcome the server has accepted, or never will.
    pub fn remove(&mut self, key: DeliveryKey) -> Option<Entry> {
        let entry = self.entries.remove(&key)?;
        self.running -= usize::from(entry.stage == Stage::Running);
        Some(entry)
    }

    /// Takes out all of them, the oldest first.
    pub fn drain(&mut self) -> Vec<Entry> {
        let all = self.snapshot();
        self.entries.clear();
        self.running = 0;
        all.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Deliveries whose handler still works.
    pub fn running(&self) -> usize {
        self.running
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (DeliveryKey, &Entry)> {
        self.entries.iter().map(|(key, entry)| (*key, entry))
    }

    /// All of them, the oldest first.
    pub fn snapshot(&self) -> Vec<(DeliveryKey, Entry)> {
        let mut all: Vec<_> = self.entries.iter().map(|(key, entry)| (*key, entry.clone())).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}
