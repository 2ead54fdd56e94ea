//! Log records on their way to the host's logger: a bounded ring, drained by a host thread in batches.
//!
//! No core thread ever calls a host logger. A slow host loses the oldest records, and a record says how many.
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write;
use std::io::StderrLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::sync::{lock, wait};

/// Records kept for the host.
const CAPACITY: usize = 4_096;

/// One log record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// 1 error, 2 warn, 3 info, 4 debug, 5 trace.
    pub level: u8,
    /// The module that wrote the record.
    pub target: &'static str,
    /// Message, then `name=value` of the other fields.
    pub text: String,
}

#[derive(Debug, Default)]
struct Ring {
    records: VecDeque<Record>,
    written: u64,
    unblocks: u64,
}

static RING: Mutex<Ring> = Mutex::new(Ring { records: VecDeque::new(), written: 0, unblocks: 0 });
static FILLED: Condvar = Condvar::new();
static LOST: AtomicU64 = AtomicU64::new(0);
static LEVEL: AtomicU8 = AtomicU8::new(3);
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Starts collecting, for this library's own `tracing` only. Later calls do nothing.
pub fn install() {
    if !INSTALLED.swap(true, Ordering::AcqRel) {
        // The subscriber of a Rust host stays in place.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Collect));
    }
}

/// Records above this level cost nothing: 0 off, 1 error … 5 trace.
pub fn set_level(level: u8) {
    if LEVEL.swap(level, Ordering::Relaxed) != level {
        // Every place that logs remembers whether its records are wanted.
        tracing::callsite::rebuild_interest_cache();
    }
}

/// Waits up to `limit` for records and takes at most `max`, with the number lost since the last call.
#[must_use]
pub fn pull(max: usize, limit: Duration) -> (Vec<Record>, u64) {
    pull_since(max, limit, unblocks())
}

/// How often [`unblock`] was called; for [`pull_since`].
#[must_use]
pub fn unblocks() -> u64 {
    lock(&RING).unblocks
}

/// As [`pull`]; an unblock that came after `unblocks` were counted counts, also when it came before this call.
#[must_use]
pub fn pull_since(max: usize, limit: Duration, unblocks: u64) -> (Vec<Record>, u64) {
    let mut ring = lock(&RING);
    if ring.records.is_empty() && ring.unblocks == unblocks {
        ring = wait(&FILLED, ring, Some(limit));
    }
    let count = ring.records.len().min(max);
    (ring.records.drain(..count).collect(), LOST.swap(0, Ordering::Relaxed))
}

/// Waits up to `limit` for records beyond the first `seen` that this process has written, takes none, and returns how
/// many it has written by now. For a thread that wakes the one that calls [`take`].
#[must_use]
pub fn written_after(seen: u64, limit: Duration) -> u64 {
    let mut ring = lock(&RING);
    if ring.written == seen {
        ring = wait(&FILLED, ring, Some(limit));
    }
    ring.written
}

/// All records that are there, with the number lost since the last call. It does not wait.
#[must_use]
pub fn take() -> (Vec<Record>, u64) {
    (lock(&RING).records.drain(..).collect(), LOST.swap(0, Ordering::Relaxed))
}

/// Ends the wait of a thread in [`pull`].
pub fn unblock() {
    lock(&RING).unblocks += 1;
    FILLED.notify_all();
}

thread_local! {
    static HELD: RefCell<Option<(MutexGuard<'static, Ring>, StderrLock<'static>)>> = const { RefCell::new(None) };
}

/// Keeps the ring and stderr, where failures go in a program that collects no records, locked by this thread until
/// [`let_go`], so that a fork meanwhile copies them whole and unlocked by any other thread.
pub(crate) fn hold() {
    // A thread that is ending has no thread-local storage: then the locks are not taken, and the child may find them
    // locked.
    let _ = HELD.try_with(|held| *held.borrow_mut() = Some((lock(&RING), std::io::stderr().lock())));
}

/// After [`hold`], in the parent and in the child.
pub(crate) fn let_go() {
    let _ = HELD.try_with(|held| held.borrow_mut().take());
}

fn put(record: Record) {
    let mut ring = lock(&RING);
    if ring.records.len() >= CAPACITY {
        ring.records.pop_front();
        LOST.fetch_add(1, Ordering::Relaxed);
    }
    ring.records.push_back(record);
    ring.written += 1;
    let first = ring.records.len() == 1;
    drop(ring);
    if first {
        FILLED.notify_one();
    }
}

struct Collect;

impl<S: Subscriber> Layer<S> for Collect {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        // A record per step of every job is for servers that are asked for it.
        let target = metadata.target();
        // Spans are of no use to the host, and the registry takes a lock of the process for each thread that enters its
        // first one.
        metadata.is_event()
            && number(*metadata.level()) <= LEVEL.load(Ordering::Relaxed)
            && target.starts_with("ojs")
            && target != "ojs::jobs"
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let Text { mut message, rest } = text;
        message.push_str(&rest);
        put(Record { level: number(*event.metadata().level()), target: event.metadata().target(), text: message });
    }
}

fn number(level: Level) -> u8 {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

#[derive(Default)]
struct Text {
    message: String,
    rest: String,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        // Writing to a String cannot fail.
        let _ = if field.name() == "message" {
            self.message.write_str(value)
        } else {
            write!(self.rest, " {}={value}", field.name())
        };
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.rest, " {}={value:?}", field.name())
        };
    }
}
