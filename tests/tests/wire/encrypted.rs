//! Encrypted jobs and what the server tells of them (interactions EI-002, EI-R005).
use ojs_tests::ServerProcess;
use serde_json::{Value, json};

/// As a client has encrypted it.
const CIPHERTEXT: &str = "AQABAgMEBQYHCAkKCxwgo2igl4J+9SD6+92MVg7su6UYi1kxXgJWmNhXs4U8rLYbcuouHWUukazI";

/// A job with encrypted arguments and one in the clear, each with a failed and a completed attempt: what was handed
/// out, and the log of the server until its end.
async fn log_of_jobs(level: &str) -> (Vec<Value>, String) {
    let arguments = ["--log-level", level, "--log-format", "json", "--log-jobs"];
    let mut server = ServerProcess::start("memory", &arguments).await;
    let mut wire = server.connect().await;
    let meta = json!({"ojs_encoded": true, "ojs.codec.encodings": ["binary/encrypted"], "ojs.codec.key_id": "k-1"});
    let retry = json!({"max_attempts": 3, "initial_interval": "PT0.05S", "jitter": false});
    let blob = json!({"ojs_encoded": true, "data": CIPHERTEXT});
    let encrypted = json!({"type": "card.charge", "args": [blob], "meta": meta, "options": {"retry": retry}});
    let plain = json!({"type": "card.charge", "args": ["4111 1111 1111 1111"], "options": {"retry": retry}});
    for job in [encrypted, plain] {
        wire.post("/jobs", &job).await.expect(201);
    }
    let fetch = json!({"queues": ["default"], "worker_id": "w", "count": 1, "wait_ms": 30_000});
    let mut attempts = Vec::new();
    while attempts.len() < 4 {
        let job = wire.post("/workers/fetch", &fetch).await.expect(200).json()["jobs"][0].clone();
        let (id, attempt) = (job["id"].clone(), job["attempt"].as_u64().unwrap());
        if attempt == 1 {
            let error = json!({"code": "declined", "message": "not yet"});
            wire.post("/workers/nack", &json!({"job_id": id, "worker_id": "w", "error": error})).await.expect(200);
        } else {
            wire.post("/workers/ack", &json!({"job_id": id, "worker_id": "w"})).await.expect(200);
        }
        attempts.push(job);
    }
    server.terminate().await;
    (attempts, server.log())
}

#[tokio::test]
async fn ei_002_the_server_logs_neither_arguments_nor_ciphertext() {
    let (attempts, log) = log_of_jobs("trace").await;
    assert_eq!(attempts.iter().filter(|job| job["args"][0]["data"] == CIPHERTEXT).count(), 2, "it is handed out as it came");
    for job in &attempts {
        assert!(log.contains(job["id"].as_str().unwrap()), "the log is about these jobs");
    }
    for secret in [CIPHERTEXT, "4111 1111", "k-1"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[tokio::test]
async fn ei_r005_errors_and_events_repeat_no_arguments() {
    let server = ServerProcess::memory().await;
    let mut wire = server.connect().await;
    let blob = json!({"ojs_encoded": true, "data": CIPHERTEXT});
    let job = json!({"type": "card.charge", "args": [blob], "options": {"priority": 1000}});
    let refused = wire.post("/jobs", &job).await;
    assert!(refused.status >= 400 && !refused.json().to_string().contains(CIPHERTEXT), "{:?}", refused.json());
    let stored = wire.post("/jobs", &json!({"type": "card.charge", "args": [blob]})).await.expect(201).job();
    let path = format!("/jobs/{}", stored["id"].as_str().unwrap());
    wire.call("DELETE", &path, "").await.unwrap().expect(200);
    let again = wire.call("DELETE", &path, "").await.unwrap().expect(409);
    let told = [again.json(), wire.get("/events").await.json(), wire.get(&format!("{path}/history")).await.expect(200).json()];
    assert!(told.iter().all(|told| !told.to_string().contains(CIPHERTEXT)), "{told:?}");
}
