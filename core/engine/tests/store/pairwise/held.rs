//! What the clients know: which jobs were accepted, and which they run.
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A job that a client runs.
#[derive(Debug, Clone)]
pub struct Running {
    pub token: i64,
    /// Its train, with its tenant.
    train: Option<String>,
    /// Its limit, with its tenant.
    limit: Option<String>,
    /// When its lease ends.
    until: i64,
    /// Its client does not report it.
    forgotten: bool,
}

/// Shared by the clients of a run, which take turns on one thread.
#[derive(Debug, Default)]
pub struct Held {
    running: RefCell<BTreeMap<String, Running>>,
    accepted: RefCell<BTreeSet<String>>,
    /// Jobs that a client has asked to cancel.
    cancelled: RefCell<BTreeSet<String>>,
    /// The checkpoint of a job that was confirmed last.
    saved: RefCell<BTreeMap<String, Value>>,
}

/// Milliseconds of a lease.
pub const LEASE_MS: i64 = 30_000;

/// Jobs of one key that may run at a time.
pub const CONCURRENCY: usize = 2;

impl Held {
    pub fn accept(&self, id: &str) {
        self.accepted.borrow_mut().insert(id.to_owned());
    }

    pub fn accepted(&self) -> Vec<String> {
        self.accepted.borrow().iter().cloned().collect()
    }

    /// A job was handed out at a time. Nothing that excludes it may be running.
    pub fn begin(&self, job: &Value, now: i64) {
        let mut running = self.running.borrow_mut();
        let tenant = job["meta"]["tenant_id"].as_str().unwrap_or_default();
        let named = |value: &Value| value.as_str().map(|name| format!("{tenant}/{name}"));
        let id = job["id"].as_str().unwrap();
        let run = Running {
            token: job["lease_token"].as_i64().unwrap(),
            train: named(&job["train"]["id"]),
            limit: named(&job["rate_limit"]["key"]).filter(|_| !self.cancelled.borrow().contains(id)),
            until: now + LEASE_MS,
            forgotten: false,
        };
        let known = running.insert(id.to_owned(), run.clone());
        assert!(known.is_none(), "handed out while it runs: {job}, {known:?}");
        let saved = self.saved.borrow().get(id).cloned().unwrap_or_default();
        assert_eq!(job["checkpoint"]["state"], saved, "the checkpoint that was confirmed last: {job}");
        if run.train.is_some() {
            let beside: Vec<_> = running.iter().filter(|(other, known)| *other != id && known.train == run.train).collect();
            assert!(beside.is_empty(), "{job} runs beside {beside:?}");
        }
        let used = running.values().filter(|known| known.limit.is_some() && known.limit == run.limit).count();
        assert!(used <= CONCURRENCY, "{used} jobs of {:?} run", run.limit);
    }

    /// The checkpoint of a job was confirmed.
    pub fn save(&self, id: &str, state: Value) {
        self.saved.borrow_mut().insert(id.to_owned(), state);
    }

    /// A job does not run any more, or is about to be reported.
    pub fn end(&self, id: &str) -> Option<Running> {
        self.running.borrow_mut().remove(id)
    }

    /// A job is about to be cancelled: its limit is free then, and its train when its worker has let go.
    pub fn cancel(&self, id: &str) {
        self.cancelled.borrow_mut().insert(id.to_owned());
        if let Some(run) = self.running.borrow_mut().get_mut(id) {
            run.limit = None;
        }
    }

    /// Jobs whose lease is over may be handed out again.
    pub fn end_leases(&self, now: i64) {
        self.running.borrow_mut().retain(|_, run| run.until > now);
    }

    /// The client of a job stands still.
    pub fn forget(&self, id: &str) {
        if let Some(run) = self.running.borrow_mut().get_mut(id) {
            run.forgotten = true;
        }
    }

    /// Jobs that will be reported.
    pub fn running(&self) -> Vec<String> {
        self.running.borrow().iter().filter(|(_, run)| !run.forgotten).map(|(id, _)| id.clone()).collect()
    }
}
