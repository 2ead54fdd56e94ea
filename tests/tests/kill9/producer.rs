//! Clients that enqueue, and send again with the same ids whatever was not answered.
use std::sync::Arc;

use ojs_tests::{Answer, Wire, job_id};
use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::client_log::ClientLog;
use super::host::Whereabouts;

/// Enqueues `jobs` jobs, half of them one by one. Returns how many requests had to be sent again.
pub async fn run(mut whereabouts: Whereabouts, client_log: Arc<ClientLog>, mut random: StdRng, jobs: usize) -> u64 {
    let (mut wire, mut resent, mut left) = (whereabouts.connect().await, 0, jobs);
    while left > 0 {
        let single = random.random_bool(0.97);
        let size = if single { 1 } else { random.random_range(2..=64).min(left) };
        left -= size;
        let ids: Vec<String> = (0..size).map(|_| job_id()).collect();
        let jobs: Vec<Value> = ids.iter().map(|id| job(id)).collect();
        resent += send(&mut wire, &mut whereabouts, &jobs).await;
        client_log.confirm(&ids);
    }
    resent
}

/// Sends jobs with ids of their own until there is an answer, several as a batch; returns how often it had to be
/// repeated.
pub async fn send(wire: &mut Wire, whereabouts: &mut Whereabouts, jobs: &[Value]) -> u64 {
    let (path, body) = match jobs {
        [job] => ("/jobs", job.to_string()),
        jobs => ("/jobs/batch", json!({"jobs": jobs}).to_string()),
    };
    let mut repeated = 0;
    loop {
        match wire.call("POST", path, &body).await {
            Ok(answer) if answer.status == 201 => return repeated,
            // The database is away. Whether the job was stored is not known.
            Ok(answer) if answer.status == 503 => {
                repeated += 1;
                *wire = whereabouts.connect().await;
            }
            // The first one got through, only its answer was lost. All or nothing holds for a batch.
            Ok(answer) if is_our_duplicate(&answer, jobs) && repeated > 0 => return repeated,
            Ok(answer) => panic!("{path}: {} {}", answer.status, String::from_utf8_lossy(&answer.body)),
            Err(_) => {
                repeated += 1;
                *wire = whereabouts.connect().await;
            }
        }
    }
}

fn is_our_duplicate(answer: &Answer, jobs: &[Value]) -> bool {
    answer.status == 409
        && answer.code() == "duplicate"
        && answer.json()["error"]["details"]["existing_job_id"]
            .as_str()
            .is_some_and(|known| jobs.iter().any(|job| job["id"] == known))
}

/// Enough attempts for any number of lost leases, and quick retries.
fn job(id: &str) -> Value {
    let retry = json!({"max_attempts": 1000, "initial_interval_ms": 20, "backoff_coefficient": 1.0, "jitter": false});
    json!({"type": "test.fault", "args": [id], "id": id, "options": {"retry": retry}})
}
