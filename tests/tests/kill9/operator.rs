//! What people do to trains meanwhile: they cancel jobs, hold trains, let them go on, and run discarded jobs again.
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ojs_tests::Wire;
use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::host::Whereabouts;
use super::trains::Shared;
use super::worker;

/// Between two changes. There is nothing to wait for: any moment must do.
const PAUSE: Duration = Duration::from_millis(4);

/// What was done by hand and was confirmed.
#[derive(Debug, Default)]
pub struct Operated {
    pub holds: AtomicUsize,
    pub advances: AtomicUsize,
    pub replays: AtomicUsize,
}

/// Changes trains by hand. A round has one operator.
pub struct Operator {
    whereabouts: Whereabouts,
    shared: Arc<Shared>,
    random: StdRng,
    trains: usize,
}

impl Operator {
    pub fn new(whereabouts: Whereabouts, shared: Arc<Shared>, random: StdRng, trains: usize) -> Self {
        Self { whereabouts, shared, random, trains }
    }

    /// Goes on until it is aborted. When all jobs are stored it only lets held trains go on.
    pub async fn run(mut self) {
        loop {
            let mut wire = self.whereabouts.connect().await;
            // An error is a server that was killed.
            let _ = self.act(&mut wire).await;
        }
    }

    async fn act(&mut self, wire: &mut Wire) -> io::Result<()> {
        loop {
            let stored = self.shared.stored.load(Ordering::SeqCst);
            match self.random.random_range(0..10) {
                0..5 if !stored => self.cancel(wire).await?,
                5..7 if !stored => {
                    let train = self.random.random_range(0..self.trains);
                    let (status, _) = call(wire, "POST", &format!("/trains/t{train}/hold"), &json!({})).await?;
                    count(&self.shared.operated.holds, status);
                }
                _ => self.free(wire).await?,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn cancel(&mut self, wire: &mut Wire) -> io::Result<()> {
        let id = {
            let ids = self.shared.ids.lock().unwrap();
            // One of the latest: most of the others have ended.
            let from = ids.len().saturating_sub(100);
            if from == ids.len() {
                return Ok(());
            }
            ids[self.random.random_range(from..ids.len())].clone()
        };
        call(wire, "DELETE", &format!("/jobs/{id}"), &Value::Null).await.map(drop)
    }

    /// Lets one of the held trains go on: the job that holds it runs again, or leaves.
    async fn free(&mut self, wire: &mut Wire) -> io::Result<()> {
        let held = call(wire, "GET", "/trains?state=held&limit=200", &Value::Null).await?.1;
        let held = held["trains"].as_array().cloned().unwrap_or_default();
        if held.is_empty() {
            return Ok(());
        }
        let train = &held[self.random.random_range(0..held.len())];
        if self.random.random_bool(0.5) && self.replay(wire, train).await? {
            return Ok(());
        }
        let path = format!("/trains/{}/advance", train["id"].as_str().unwrap());
        let (status, _) = call(wire, "POST", &path, &json!({"confirm": true})).await?;
        count(&self.shared.operated.advances, status);
        Ok(())
    }

    /// Runs the discarded job again that holds a train; false when there is none.
    async fn replay(&mut self, wire: &mut Wire, train: &Value) -> io::Result<bool> {
        let Some(id) = train["locomotive"].as_str() else { return Ok(false) };
        let job = call(wire, "GET", &format!("/jobs/{id}"), &Value::Null).await?.1["job"].clone();
        if job["state"] != "discarded" || job["train"]["role"] != "locomotive" {
            return Ok(false);
        }
        let answer = call(wire, "POST", &format!("/dead-letter/{id}/retry"), &json!({})).await;
        // Unless the answer shows that the job has kept its place, it may have joined its train again at the end.
        if !matches!(&answer, Ok((200, answer)) if answer["job"]["train"]["role"] == "locomotive") {
            self.shared.log.may_rejoin(id);
        }
        count(&self.shared.operated.replays, answer?.0);
        Ok(true)
    }
}

fn count(number: &AtomicUsize, status: u16) {
    number.fetch_add(usize::from(status == 200), Ordering::SeqCst);
}

/// Status and body. A refusal with 404 or 409 is right: the job or the train has ended meanwhile.
async fn call(wire: &mut Wire, method: &str, path: &str, body: &Value) -> io::Result<(u16, Value)> {
    let answer = worker::call(wire, method, path, body).await?;
    match answer.status {
        200 | 404 | 409 => Ok((answer.status, answer.json())),
        status => panic!("{method} {path}: {status} {}", answer.code()),
    }
}
