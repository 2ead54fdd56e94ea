//! A worker of the trains test as a process of its own, so that it can be killed. It is this test program, started
//! again for one test; what its handlers do, it writes to its output, line by line, with times of the clock that all
//! processes of the machine share.
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use ojs_tests::Wire;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::worker::call;

/// The variable that makes this program a worker: the file with the addresses of the servers.
pub const SERVERS: &str = "OJS_TRAINS_SERVERS";
/// The variable with its number, which is part of its name and the seed of its random choices.
pub const NAME: &str = "OJS_TRAINS_WORKER";
/// The queue of the test.
pub const QUEUE: &str = "trains";
/// The shortest lease the protocol allows.
pub const LEASE: Duration = Duration::from_millis(1000);
/// Fetches that one process has under way at a time.
const TASKS: u64 = 2;
/// How long some handlers take, so that kills meet them and leases end before their jobs have begun.
const WORK: Duration = Duration::from_millis(200);
/// How long a worker waits before it looks for a server again.
const PAUSE: Duration = Duration::from_millis(20);

/// Microseconds since some moment, the same one for all processes.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec).unwrap() * 1_000_000 + u64::try_from(time.tv_nsec).unwrap() / 1000
}

/// Not a test by itself: the parent starts it with the variables, and kills it. Without them there is nothing to do.
#[tokio::test]
async fn worker_process() {
    let Some(servers) = std::env::var_os(SERVERS).map(PathBuf::from) else { return };
    let seed: u64 = std::env::var(NAME).unwrap().parse().unwrap();
    let tasks = (0..TASKS).map(|task| {
        let (servers, random) = (servers.clone(), StdRng::seed_from_u64(seed * TASKS + task));
        tokio::spawn(Hand { servers, random, name: format!("w{seed}-{task}") }.work())
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

/// One loop of fetches, with a connection of its own.
struct Hand {
    servers: PathBuf,
    random: StdRng,
    name: String,
}

impl Hand {
    /// Works until the process is killed.
    async fn work(mut self) {
        loop {
            let Ok(list) = std::fs::read_to_string(&self.servers) else { continue };
            let addresses: Vec<&str> = list.lines().collect();
            let address = addresses[self.random.random_range(0..addresses.len())];
            if let Ok(mut wire) = Wire::connect(address.parse().unwrap()).await {
                // An error is a server that was killed.
                let _ = self.turns(&mut wire).await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn turns(&mut self, wire: &mut Wire) -> io::Result<()> {
        loop {
            let sent = now();
            let body = json!({"queues": [QUEUE], "worker_id": self.name, "count": 8, "wait_ms": 200,
                "visibility_timeout_ms": LEASE.as_millis()});
            let answer = call(wire, "POST", "/workers/fetch", &body).await?;
            for job in answer.expect(200).json()["jobs"].as_array().unwrap() {
                self.handle(wire, sent, job).await?;
            }
        }
    }

    /// Runs one job: a line when its handler begins, a line when it has ended, and only then the report.
    async fn handle(&mut self, wire: &mut Wire, sent: u64, job: &Value) -> io::Result<()> {
        let (id, token) = (job["id"].as_str().unwrap(), job["lease_token"].as_i64().unwrap());
        let (train, number, epoch) = (&job["args"][0], &job["args"][1], &job["train"]["epoch"]);
        say(&format!("begin {} {sent} {train} {number} {epoch} {id}", now()))?;
        if self.random.random_bool(0.1) {
            tokio::time::sleep(WORK).await;
        }
        let (word, path, more) = match self.random.random_range(0..100) {
            0..2 => ("forgets", "", json!({})),
            2..7 => ("fails", "/workers/nack", json!({"error": {"code": "handler_error", "message": "planned"}})),
            7..11 => {
                let error = json!({"code": "handler_error", "message": "planned", "retryable": false});
                ("discards", "/workers/nack", json!({"error": error}))
            }
            11..14 => ("returns", "/workers/nack", json!({"requeue": true})),
            _ => ("completes", "/workers/ack", json!({"result": token})),
        };
        say(&format!("end {} {epoch} {train} {word}", now()))?;
        if path.is_empty() {
            return Ok(());
        }
        let mut body = json!({"job_id": id, "lease_token": token, "worker_id": self.name});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = call(wire, "POST", path, &body).await?;
        match answer.status {
            // Refused: the lease is over, or the job was cancelled.
            200 | 409 => Ok(()),
            status => panic!("{path} of {id}: {status} {}", answer.code()),
        }
    }
}

/// One line, at once.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "@{line}")?;
    out.flush()
}
