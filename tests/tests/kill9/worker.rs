//! Workers over plain HTTP: some ack one by one, some by exchange; some jobs they fail, release or simply forget.
use std::io;
use std::sync::Arc;

use ojs_tests::{Answer, Wire};
use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::client_log::ClientLog;
use super::host::Whereabouts;

/// The shortest lease the protocol allows: forgotten jobs come back while the round still runs.
const LEASE_MS: u64 = 1000;
/// Jobs per turn.
const COUNT: usize = 64;

/// One worker.
pub struct Worker {
    pub name: String,
    pub whereabouts: Whereabouts,
    pub client_log: Arc<ClientLog>,
    pub random: StdRng,
    /// Jobs in the round.
    pub jobs: usize,
    /// Stale leases tried and refused.
    pub stale_refused: u64,
    /// Acks whose answer was lost: sent again after the reconnect.
    unanswered: Vec<(String, i64)>,
}

impl Worker {
    pub fn new(name: String, whereabouts: Whereabouts, client_log: Arc<ClientLog>, random: StdRng, jobs: usize) -> Self {
        Self { name, whereabouts, client_log, random, jobs, stale_refused: 0, unanswered: Vec::new() }
    }

    /// Works until all jobs of the round are completed; returns how many stale leases were refused.
    pub async fn run(mut self) -> u64 {
        loop {
            let mut wire = self.whereabouts.connect().await;
            // An error is a killed server: the next connection goes to its successor.
            if let Ok(()) = self.work(&mut wire).await {
                return self.stale_refused;
            }
        }
    }

    async fn work(&mut self, wire: &mut Wire) -> io::Result<()> {
        for (id, token) in std::mem::take(&mut self.unanswered) {
            self.ack(wire, id, token).await?;
        }
        loop {
            let exchange = self.random.random_bool(0.5);
            let jobs = self.fetch(wire).await?;
            if jobs.is_empty() {
                let stats = call(wire, "GET", "/queues/default/stats", &Value::Null).await?.expect(200).json();
                if stats["queue"]["completed"] == self.jobs {
                    return Ok(());
                }
                continue;
            }
            let mut done = Vec::new();
            for (id, token) in jobs {
                if let Some(stale) = self.client_log.claimed(&id, token) {
                    self.try_stale(wire, &id, stale).await?;
                }
                match self.random.random_range(0..100) {
                    0 => {} // forgotten: the lease must run out
                    1 => self.nack(wire, &id, token, json!({"error": {"code": "handler_error", "message": "planned"}})).await?,
                    2 => self.nack(wire, &id, token, json!({"requeue": true})).await?,
                    _ if exchange => done.push((id, token)),
                    _ => self.ack(wire, id, token).await?,
                }
            }
            self.ack_together(wire, done).await?;
        }
    }

    async fn fetch(&self, wire: &mut Wire) -> io::Result<Vec<(String, i64)>> {
        let body = json!({"queues": ["default"], "worker_id": self.name, "count": COUNT, "visibility_timeout_ms": LEASE_MS, "wait_ms": 100});
        let answer = call(wire, "POST", "/workers/fetch", &body).await?.expect(200).json();
        let lease = |job: &Value| (job["id"].as_str().unwrap().to_owned(), job["lease_token"].as_i64().unwrap());
        Ok(answer["jobs"].as_array().unwrap().iter().map(lease).collect())
    }

    /// Acks. A lease that ran out meanwhile is refused, and that is right: 64 jobs may take longer than a second.
    async fn ack(&mut self, wire: &mut Wire, id: String, token: i64) -> io::Result<()> {
        let body = json!({"job_id": id, "lease_token": token, "worker_id": self.name, "result": token});
        match call(wire, "POST", "/workers/ack", &body).await {
            Ok(answer) => self.settle(&id, token, answer.status, &answer.code()),
            Err(error) => {
                self.unanswered.push((id, token));
                return Err(error);
            }
        }
        Ok(())
    }

    async fn ack_together(&mut self, wire: &mut Wire, done: Vec<(String, i64)>) -> io::Result<()> {
        let outcomes: Vec<Value> =
            done.iter().map(|(id, token)| json!({"job_id": id, "lease_token": token, "result": token})).collect();
        let body = json!({"worker_id": self.name, "outcomes": outcomes});
        let answer = match call(wire, "POST", "/workers/exchange", &body).await {
            Ok(answer) => answer.expect(200).json(),
            Err(error) => {
                self.unanswered.extend(done);
                return Err(error);
            }
        };
        for ((id, token), result) in done.iter().zip(answer["results"].as_array().unwrap()) {
            let code = result["error"]["code"].as_str().unwrap_or_default();
            self.settle(id, *token, if code.is_empty() { 200 } else { 409 }, code);
        }
        Ok(())
    }

    fn settle(&self, id: &str, token: i64, status: u16, code: &str) {
        match (status, code) {
            (200, _) => self.client_log.acked(id, token),
            (409, "conflict") => {}
            _ => panic!("ack of {id}: {status} {code}"),
        }
    }

    async fn nack(&mut self, wire: &mut Wire, id: &str, token: i64, mut body: Value) -> io::Result<()> {
        body["job_id"] = json!(id);
        body["lease_token"] = json!(token);
        body["worker_id"] = json!(self.name);
        let answer = call(wire, "POST", "/workers/nack", &body).await?;
        assert!(matches!(answer.status, 200 | 409), "nack of {id}: {} {}", answer.status, answer.code());
        Ok(())
    }

    /// What a worker does that was paused and knows nothing of its successor. Nothing of it may have an effect.
    async fn try_stale(&mut self, wire: &mut Wire, id: &str, stale: i64) -> io::Result<()> {
        let attempts = [
            ("/workers/ack", json!({"job_id": id, "lease_token": stale, "result": "stale"})),
            (
                "/workers/nack",
                json!({"job_id": id, "lease_token": stale, "error": {"code": "stale", "message": "stale", "retryable": false}}),
            ),
            ("/workers/nack", json!({"job_id": id, "lease_token": stale, "requeue": true})),
        ];
        for (path, body) in attempts {
            let answer = call(wire, "POST", path, &body).await?;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (409, "conflict"),
                "stale lease {stale} of {id} on {path}: {}",
                answer.json()
            );
        }
        self.stale_refused += 1;
        Ok(())
    }
}

/// One request; an error when the connection broke or the database is away.
pub async fn call(wire: &mut Wire, method: &str, path: &str, body: &Value) -> io::Result<Answer> {
    let answer = wire.call(method, path, &if body.is_null() { String::new() } else { body.to_string() }).await?;
    if answer.status == 503 {
        // The database is away: as good as no answer.
        return Err(io::Error::other("503"));
    }
    Ok(answer)
}
