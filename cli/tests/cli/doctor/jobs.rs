//! Checks of jobs, queues and workers.
use ojs_tests::{ServerProcess, until};
use serde_json::{Value, json};

use super::{run, warned};
use crate::common::{dead_letter, json_of, ojs, says};

/// A worker that says what it asks for.
async fn worker(server: &ServerProcess, id: &str, more: Value) {
    let mut beat = json!({"worker_id": id, "active_jobs": 0});
    beat.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server.connect().await.post("/workers/heartbeat", &beat).await.expect(200);
}

/// A job that fails for good, in the default way: it is not kept as a dead letter.
async fn discarded(server: &ServerProcess, kind: &str, error: &Value) -> String {
    let job = json_of(server, &["jobs", "enqueue", kind, "--max-attempts", "1"]).await;
    let id = job["job"]["id"].as_str().unwrap().to_owned();
    let mut wire = server.connect().await;
    wire.post("/workers/fetch", &json!({"queues": ["default"]})).await.expect(200);
    let nack = wire.post("/workers/nack", &json!({"job_id": id, "error": error})).await.expect(200).json();
    assert_eq!(nack["state"], "discarded");
    id
}

/// Changes the file under the server: what otherwise takes hours has happened.
fn rewrite(server: &ServerProcess, statement: &str) {
    let file = rusqlite::Connection::open(server.directory().join("jobs.db")).unwrap();
    file.busy_timeout(ojs_tests::PATIENCE).unwrap();
    assert!(file.execute(statement, []).unwrap() > 0, "{statement}");
}

#[tokio::test]
async fn the_doctor_says_at_once_that_no_worker_asks_for_a_queue() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "queue.starving");
    assert_eq!(warned().await, None);
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await;
    assert!(warned().await.unwrap().0.contains("1 job of 'reports'"), "no worker at all");
    worker(&server, "w1", json!({"queues": ["mail", "default"]})).await;
    let (said, command) = warned().await.unwrap();
    assert!(said.contains("no live worker asks for this queue") && said.contains("default, mail"), "{said}");
    assert!(command.starts_with("ojs jobs list --queue reports"), "{command}");
    worker(&server, "w2", json!({"queues": ["reports"]})).await;
    assert_eq!(warned().await, None);
}

#[tokio::test]
async fn the_doctor_counts_what_was_discarded_by_type_and_error() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "failures.rising");
    assert_eq!(warned().await, None);
    let refused = json!({"code": "handler_error", "type": "ConnectionError", "message": "the bank does not answer"});
    for _ in 0..2 {
        discarded(&server, "card.charge", &refused).await;
    }
    discarded(&server, "mail.send", &json!({"code": "handler_error", "type": "ValueError", "message": "no address"})).await;
    let (said, _) = warned().await.unwrap();
    assert!(said.contains("3 jobs in the last hour: card.charge (2), mail.send (1)"), "{said}");
    assert!(said.contains("most often ConnectionError: the bank does not answer (2)"), "{said}");
}

#[tokio::test]
async fn the_doctor_names_types_that_no_worker_knew() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "type.unknown");
    assert_eq!(warned().await, None);
    let unknown = json!({"code": "no_handler", "type": "NoHandler", "message": "No handler is registered.", "retryable": false});
    let id = discarded(&server, "email.sned", &unknown).await;
    let (said, command) = warned().await.unwrap();
    assert!(said.contains("1 job ended because no worker knew the type: email.sned (1)"), "{said}");
    let letter = ojs(&server.url(), &["dead-letter", "get", &id]).await.status.code() == Some(0);
    assert_eq!(command.contains("ojs dead-letter retry --all --type email.sned"), letter, "{command}");
    dead_letter(&server, "a.b").await;
    assert!(warned().await.unwrap().0.contains("1 job ended"), "only jobs without a handler");
}

#[tokio::test]
async fn the_doctor_names_types_that_wait_and_no_live_worker_declares() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "type.unknown");
    says(&server, &["jobs", "enqueue", "report.build"]).await;
    worker(&server, "w1", json!({"queues": ["default"], "handlers": [{"type": "email.send"}]})).await;
    let (said, _) = warned().await.unwrap();
    assert!(said.contains("report.build (1)"), "{said}");
    worker(&server, "w2", json!({"queues": ["default"], "handlers": [{"type": "report.build"}]})).await;
    assert_eq!(warned().await, None);
}

#[tokio::test]
async fn the_doctor_names_a_queue_that_looks_mistyped_and_one_that_stays_paused() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "queue.forgotten");
    worker(&server, "w1", json!({"queues": ["mail"]})).await;
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "mail"]).await;
    assert_eq!(warned().await, None);
    says(&server, &["queues", "pause", "mail"]).await;
    let (said, command) = warned().await.unwrap();
    assert!(said.contains("'mail' is paused") && command == "ojs queues resume mail", "{said} {command}");
    run(&server.url(), &command).await;
    assert_eq!(warned().await, None, "the command cleared it");
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "mial"]).await;
    assert!(warned().await.unwrap().0.contains("was 'mail' meant?"));
}

#[tokio::test]
async fn the_doctor_names_workers_without_slots_and_silent_ones() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "worker.silent");
    worker(&server, "w1", json!({"queues": ["mail"], "concurrency": 4})).await;
    assert_eq!(warned().await, None);
    worker(&server, "w2", json!({"queues": ["mail"], "concurrency": 0})).await;
    assert!(warned().await.unwrap().0.contains("worker w2 has no slots"));
}

#[tokio::test]
async fn the_doctor_names_attempts_that_run_for_hours_and_leases_that_are_too_short() {
    let server = ServerProcess::sqlite().await;
    for _ in 0..2 {
        says(&server, &["jobs", "enqueue", "a.b", "--options", r#"{"visibility_timeout_ms":3600000}"#]).await;
    }
    let mut wire = server.connect().await;
    let fetched =
        wire.post("/workers/fetch", &json!({"queues": ["default"], "worker_id": "w", "count": 2})).await.expect(200).json();
    // The run time of a handler, which the lease is compared with.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    wire.post("/workers/ack", &json!({"job_id": fetched["jobs"][0]["id"]})).await.expect(200);
    let id = fetched["jobs"][1]["id"].as_str().unwrap().to_owned();
    assert_eq!(warned(&server.url(), "job.stuck").await, None);
    assert_eq!(warned(&server.url(), "lease.short").await, None);
    rewrite(&server, "UPDATE jobs SET started_at = started_at - 7200000 WHERE state = 3");
    rewrite(&server, "UPDATE bodies SET body = replace(body, '3600000', '1')");
    let (said, command) = warned(&server.url(), "job.stuck").await.unwrap();
    assert!(said.contains("1 attempts run for more than an hour") && said.contains(&id), "{said}");
    assert_eq!(command, format!("ojs jobs why {id}"));
    run(&server.url(), &command).await;
    let (said, _) = warned(&server.url(), "lease.short").await.unwrap();
    assert!(said.contains("a.b (1 ms, handlers take"), "{said}");
}

#[tokio::test]
async fn the_doctor_says_that_dead_letters_will_be_lost() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "retention");
    let mut wire = server.connect().await;
    let job = json!({"type": "a", "args": [], "options": {"retry": {"max_attempts": 1, "on_exhaustion": "dead_letter"}}});
    wire.post("/jobs/batch", &json!({"jobs": vec![job; 9_000]})).await.expect(201);
    let mut outcomes: Vec<Value> = Vec::new();
    let mut dead = 0;
    while dead < 9_000 {
        if dead == 8_000 {
            assert_eq!(warned().await, None, "8,000 of 10,000 are well");
        }
        let turn = json!({"worker_id": "w", "queues": ["default"], "count": 1_000, "outcomes": outcomes});
        let answer = wire.post("/workers/exchange", &turn).await.expect(200).json();
        dead += answer["results"].as_array().unwrap().len();
        let failed =
            |job: &Value| json!({"job_id": job["id"], "lease_token": job["lease_token"], "error": {"code": "x", "message": "m"}});
        outcomes = answer["jobs"].as_array().unwrap().iter().map(failed).collect();
    }
    assert!(warned().await.unwrap().0.contains("9000 of 10000 dead letters are kept: beyond that"));
}

#[tokio::test]
async fn the_doctor_names_a_cron_entry_that_did_not_fire() {
    let server = ServerProcess::sqlite().await;
    let url = server.url();
    let warned = || warned(&url, "cron.missed");
    says(&server, &["crons", "add", "nightly", "0 3 * * *", "a.b"]).await;
    assert_eq!(warned().await, None);
    says(&server, &["maintenance", "on", "--reason", "test"]).await;
    rewrite(&server, "UPDATE crons SET next_at = next_at - 172800000");
    let (said, command) = warned().await.unwrap();
    assert!(said.contains("'nightly' was due") && command == "ojs maintenance off", "{said}");
    run(&server.url(), &command).await;
    until("it fires", || async { warned().await.is_none().then_some(()) }).await;
}

#[tokio::test]
async fn the_doctor_names_maintenance_that_is_on() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "maintenance.on");
    assert_eq!(warned().await, None);
    says(&server, &["maintenance", "on", "--reason", "database upgrade"]).await;
    let (said, command) = warned().await.unwrap();
    assert!(said.contains("(database upgrade): nothing is handed out"), "{said}");
    run(&server.url(), &command).await;
    assert_eq!(warned().await, None, "the command cleared it");
}

#[tokio::test]
async fn the_doctor_names_a_key_that_lets_nothing_through() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "limits.blocked");
    let limited = r#"{"rate_limit":{"key":"api","concurrency":5}}"#;
    says(&server, &["jobs", "enqueue", "a.b", "--options", limited]).await;
    assert_eq!(warned().await, None);
    says(&server, &["rate-limits", "override", "api", "--concurrency", "0", "--for", "P1D"]).await;
    let (said, command) = warned().await.unwrap();
    assert!(said.contains("'api' has a limit of 0: its 1 waiting jobs never start"), "{said}");
    run(&server.url(), &command).await;
}

#[tokio::test]
async fn the_doctor_names_a_train_that_is_held() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "flow.blocked");
    says(&server, &["jobs", "enqueue", "a.b", "--options", r#"{"train":"orders"}"#]).await;
    assert_eq!(warned().await, None);
    let trains = json_of(&server, &["trains", "list"]).await;
    let id = trains["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{trains}")).to_owned();
    says(&server, &["trains", "hold", &id]).await;
    let (said, command) = warned().await.unwrap();
    assert!(said.contains(&format!("train '{id}' is held since")), "{said}");
    run(&server.url(), &command).await;
    assert_eq!(warned().await, None, "the command cleared it");
}

#[tokio::test]
async fn the_doctor_names_a_tenant_that_uses_far_more_than_the_others() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    let warned = || warned(&url, "tenant.noisy");
    let job = |tenant: &str| json!({"type": "a.b", "args": [], "meta": {"tenant_id": tenant}});
    let mut wire = server.connect().await;
    wire.post("/jobs/batch", &json!({"jobs": vec![job("loud"); 120]})).await.expect(201);
    assert_eq!(warned().await, None, "there is no other");
    wire.post("/jobs/batch", &json!({"jobs": vec![job("calm"); 2]})).await.expect(201);
    let (said, command) = warned().await.unwrap();
    assert!(said.contains("tenant 'loud'") && said.contains("queue_depth_ratio 120.0 (others 2.0)"), "{said}");
    run(&server.url(), &command).await;
    let table = says(&server, &["tenants", "noisy"]).await;
    assert!(table.contains("loud") && table.contains("enqueue_rate_ratio") && !table.contains("calm"), "{table}");
    let none = says(&server, &["tenants", "noisy", "--min-jobs", "1000"]).await;
    assert!(none.contains("no tenant is noisy; 2 were compared"), "{none}");
    assert_eq!(json_of(&server, &["tenants", "noisy", "--depth-factor", "60"]).await["items"][0]["signals"][0]["ratio"], 60.0);
}
