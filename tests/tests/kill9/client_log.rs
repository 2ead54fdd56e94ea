//! What the clients know: which jobs were confirmed, which leases were handed out, which acks were accepted.
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// The record of one round.
#[derive(Default)]
pub struct ClientLog(Mutex<HashMap<String, Record>>);

/// One confirmed job.
#[derive(Default)]
pub struct Record {
    /// The newest lease token handed out, 0 before the first.
    newest: i64,
    /// The token whose ack the server has confirmed.
    acked: Option<i64>,
}

impl ClientLog {
    fn records(&self) -> MutexGuard<'_, HashMap<String, Record>> {
        self.0.lock().unwrap()
    }

    /// The server has confirmed these jobs.
    pub fn confirm(&self, ids: &[String]) {
        let mut records = self.records();
        for id in ids {
            records.entry(id.clone()).or_default();
        }
    }

    /// A worker was handed a job. Returns the lease that is stale from now on, if there was one.
    ///
    /// A job may be handed out before its enqueue is confirmed: the answer may have been lost.
    pub fn claimed(&self, id: &str, token: i64) -> Option<i64> {
        let mut records = self.records();
        let record = records.entry(id.to_owned()).or_default();
        if let Some(acked) = record.acked {
            // A worker that is slow over its batch may come to a job when another has had it, under a later lease, and acked it.
            assert!(token < acked, "{id} was handed out again (lease {token}) after its ack with lease {acked} was confirmed");
            return Some(token);
        }
        let previous = std::mem::replace(&mut record.newest, token);
        // Two workers may report in another order than they were served: the larger token is the newer lease.
        if previous > token {
            record.newest = previous;
            return Some(token);
        }
        assert_ne!(previous, token, "lease {token} of {id} was handed out twice");
        (previous > 0).then_some(previous)
    }

    /// The server has confirmed an ack.
    pub fn acked(&self, id: &str, token: i64) {
        let mut records = self.records();
        let record = records.entry(id.to_owned()).or_default();
        assert!(
            record.acked.is_none_or(|known| known == token),
            "{id}: two acks were accepted, with leases {:?} and {token}",
            record.acked
        );
        record.acked = Some(token);
    }

    /// What the clients know of a job.
    pub fn describe(&self, id: &str) -> String {
        match self.records().get(id) {
            Some(Record { newest: 0, .. }) => "confirmed, never handed out".to_owned(),
            Some(record) => format!("newest lease {}, ack confirmed with {:?}", record.newest, record.acked),
            None => "never confirmed".to_owned(),
        }
    }

    /// Every confirmed job, with the lease whose ack was confirmed.
    pub fn entries(&self) -> Vec<(String, Option<i64>)> {
        self.records().iter().map(|(id, record)| (id.clone(), record.acked)).collect()
    }
}
