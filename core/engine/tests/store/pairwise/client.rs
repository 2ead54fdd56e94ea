//! A client that enqueues, works and operates at random.
use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::held::{CONCURRENCY, Held};
use super::{
    Checkpoints, Features, Limits, LostLeases, Replays, Schedules, Schemas, Shares, Tenants, Trains, Unique, Versions, Workflows,
};
use crate::support::Bench;

/// A job that uses the features of the run. `tenants`: it may name one; runs of cron entries belong to the entry's.
pub fn job(features: Features, rng: &mut StdRng, tenants: bool) -> Value {
    let mut job = json!({"type": "t", "args": [rng.random_range(0..4)],
        "options": {"queue": "q", "priority": rng.random_range(-1..=1),
            "retry": {"max_attempts": 3, "initial_interval": "PT5S", "backoff_strategy": "constant", "jitter": false}}});
    let options = &mut job["options"];
    if features.has(Trains) {
        let end = ["advance", "hold"];
        let (discarded, cancelled) = (end[rng.random_range(0..2)], end[rng.random_range(0..2)]);
        let id = format!("t{}", rng.random_range(0..2));
        options["train"] = json!({"id": id, "on_discarded": discarded, "on_cancelled": cancelled});
    }
    if features.has(Limits) {
        options["rate_limit"] = json!({"key": format!("k{}", rng.random_range(0..2)), "concurrency": CONCURRENCY});
    }
    if features.has(Unique) {
        // A job that replaces one that runs frees its slot at once: what runs cannot be counted here then.
        let most = if features.has(Limits) { 2 } else { 3 };
        let conflict = ["reject", "ignore", "replace"][rng.random_range(0..most)];
        options["unique"] = json!({"keys": ["type", "args"], "on_conflict": conflict});
    }
    if features.has(Schedules) && rng.random_bool(0.5) {
        options["delay_until"] = ["+PT10S", "+PT60S"][rng.random_range(0..2)].into();
    }
    if features.has(Shares) && rng.random_bool(0.5) {
        options["fairness_key"] = ["x", "y"][rng.random_range(0..2)].into();
    }
    if features.has(Versions) || features.has(Schemas) {
        job["version"] = ["1.0", "2.0"][rng.random_range(0..2)].into();
    }
    if features.has(Tenants) && tenants {
        let tenant = ["a", "b"][rng.random_range(0..2)];
        job["meta"] = json!({"tenant_id": tenant});
    }
    job
}

/// One of the clients of a run.
pub struct Client<'a> {
    pub b: &'a Bench,
    pub features: Features,
    pub held: &'a Held,
    pub rng: StdRng,
    pub name: String,
}

impl Client<'_> {
    pub async fn steps(mut self, steps: usize, enqueues: bool) {
        for _ in 0..steps {
            match self.rng.random_range(0..20) {
                0..7 if enqueues => self.enqueue().await,
                7..9 if enqueues => self.operate().await,
                _ => self.work(enqueues).await,
            }
        }
    }

    async fn enqueue(&mut self) {
        let mut wanted = job(self.features, &mut self.rng, true);
        let wrong = self.features.has(Schemas) && self.rng.random_bool(0.3);
        if wrong {
            wanted["args"] = json!(["no number"]);
        }
        if self.features.has(Workflows) && self.rng.random_bool(0.5) {
            let mut steps = vec![wanted.clone()];
            for _ in 0..self.rng.random_range(1..3) {
                let mut step = job(self.features, &mut self.rng, false);
                if let Some(meta) = wanted.get("meta") {
                    step["meta"] = meta.clone();
                }
                steps.push(step);
            }
            let kind = ["chain", "group"][self.rng.random_range(0..2)];
            let members = if kind == "chain" { "steps" } else { "jobs" };
            let flow = json!({"type": kind, "name": "f", members: steps}).to_string();
            let (status, answer) = self.b.http("POST", "/workflows", &flow).await;
            assert!(status == if wrong { 400 } else { 201 } || status == 409, "{answer}");
            return;
        }
        let (status, answer) = self.b.http("POST", "/jobs", &wanted.to_string()).await;
        match status {
            200 | 201 if !wrong => self.held.accept(answer["job"]["id"].as_str().unwrap()),
            400 if wrong => {}
            409 if self.features.has(Unique) => {}
            _ => panic!("{:?}: {status} {answer}", self.features),
        }
    }

    /// Other weights for the queue, lines of keys instead of tenants, or no lines any more.
    async fn share(&mut self) {
        let (method, rule) = match self.rng.random_range(0..3) {
            0 => ("PUT", json!({"weights": {"a": self.rng.random_range(1..4)}}).to_string()),
            1 => ("PUT", json!({"by": "key", "weights": {"x": self.rng.random_range(1..4)}}).to_string()),
            _ => ("DELETE", String::new()),
        };
        let (status, answer) = self.b.http(method, "/admin/queues/q/fairness", &rule).await;
        assert!(matches!(status, 200 | 201 | 404), "{answer}");
    }

    /// Cancels a job, runs a discarded one again, holds a train or lets it go on, shares the queue in another way.
    async fn operate(&mut self) {
        if self.features.has(Shares) && self.rng.random_bool(0.25) {
            return self.share().await;
        }
        let accepted = self.held.accepted();
        let (status, answer) = match self.rng.random_range(0..4) {
            0 if self.features.has(Trains) => {
                let path = format!("/trains/t{}/hold", self.rng.random_range(0..2));
                self.b.of(["_default", "a"][self.rng.random_range(0..2)], "POST", &path, json!({})).await
            }
            1 if self.features.has(Trains) => {
                let path = format!("/trains/t{}/advance", self.rng.random_range(0..2));
                self.b.of("_default", "POST", &path, json!({"confirm": true})).await
            }
            _ if accepted.is_empty() => return,
            2 => {
                let id = &accepted[self.rng.random_range(0..accepted.len())];
                self.held.cancel(id);
                self.b.http("DELETE", &format!("/jobs/{id}"), "").await
            }
            _ if self.features.has(Replays) => {
                let id = &accepted[self.rng.random_range(0..accepted.len())];
                self.b.http("POST", &format!("/dead-letter/{id}/retry"), "{}").await
            }
            _ => return,
        };
        assert!(matches!(status, 200 | 404 | 409), "{:?}: {status} {answer}", self.features);
    }

    /// Fetches jobs, and settles some that run.
    async fn work(&mut self, fails: bool) {
        let tenant = if self.features.has(Tenants) { [None, Some("a"), Some("b")][self.rng.random_range(0..3)] } else { None };
        let mut fetch = json!({"queues": ["q"], "worker_id": self.name, "count": self.rng.random_range(1..4),
            "visibility_timeout_ms": super::held::LEASE_MS});
        let range = ["<2.0", ">=2.0", "*"][self.rng.random_range(0..3)];
        if self.features.has(Versions) {
            fetch["handlers"] = json!([{"type": "t", "versions": range}]);
        }
        let now = self.b.now();
        let (status, answer) = match tenant {
            Some(tenant) => self.b.of(tenant, "POST", "/workers/fetch", fetch).await,
            None => self.b.http("POST", "/workers/fetch", &fetch.to_string()).await,
        };
        assert_eq!(status, 200, "{answer}");
        for job in answer["jobs"].as_array().unwrap() {
            assert!(tenant.is_none_or(|tenant| job["meta"]["tenant_id"] == tenant), "of another tenant: {job}");
            if self.features.has(Versions) {
                let fits = match range {
                    "<2.0" => job["version"] == "1.0",
                    ">=2.0" => job["version"] == "2.0",
                    _ => true,
                };
                assert!(fits, "{range}: {job}");
            }
            self.held.begin(job, now);
        }
        let running = self.held.running();
        for id in running {
            if fails && self.features.has(LostLeases) && self.rng.random_bool(0.2) {
                self.held.forget(&id);
            } else if !fails || self.rng.random_bool(0.5) {
                self.settle(&id, fails).await;
            }
        }
    }

    async fn settle(&mut self, id: &str, fails: bool) {
        // Another client may have settled it meanwhile.
        let Some(run) = self.held.end(id) else { return };
        let mut body = json!({"job_id": id, "lease_token": run.token});
        if self.features.has(Checkpoints) && self.rng.random_bool(0.5) {
            let state = json!({"at": self.rng.random_range(0..1_000)});
            let body = json!({"lease_token": run.token, "state": state}).to_string();
            let (status, answer) = self.b.http("PUT", &format!("/jobs/{id}/checkpoint"), &body).await;
            assert!(matches!(status, 200 | 201 | 404 | 409), "{answer}");
            if status < 300 {
                self.held.save(id, state);
            }
        }
        let choice = if fails { self.rng.random_range(0..10) } else { 9 };
        let path = match choice {
            1 | 2 => {
                body["error"] = json!({"code": "handler_error", "message": "m"});
                "/workers/nack"
            }
            3 => {
                body["error"] = json!({"code": "handler_error", "message": "m", "retryable": false});
                "/workers/nack"
            }
            4 => {
                body["requeue"] = json!(true);
                "/workers/nack"
            }
            _ => "/workers/ack",
        };
        let (status, answer) = self.b.http("POST", path, &body.to_string()).await;
        // 409: its lease is over, or it was cancelled.
        assert!(matches!(status, 200 | 409), "{:?}: {status} {answer}", self.features);
    }
}
