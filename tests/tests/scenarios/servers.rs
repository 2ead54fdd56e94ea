//! Servers that are overrun, killed between request and answer, or find their file damaged.
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use ojs_tests::{PATIENCE, ServerProcess, binary, job_id};
use rand::Rng;
use serde_json::{Value, json};

/// Hundreds of waiting fetches and a flood of enqueues: a heartbeat and an ack still get through.
#[tokio::test]
async fn scenario_23_heartbeats_never_wait_behind_work() {
    let server = ServerProcess::sqlite().await;
    let mut wire = server.connect().await;
    wire.post("/jobs", &json!({"type": "test.plain", "args": []})).await.expect(201);
    let fetch = json!({"queues": ["default"], "worker_id": "w", "visibility_timeout_ms": 600_000});
    let fetched = wire.post("/workers/fetch", &fetch).await.expect(200).json();
    let job = fetched["jobs"][0].clone();
    let mut load = tokio::task::JoinSet::new();
    for _ in 0..400 {
        let mut wire = server.connect().await;
        let body = json!({"queues": ["idle"], "count": 1, "wait_ms": 60000});
        load.spawn(async move { drop(wire.call("POST", "/workers/fetch", &body.to_string()).await) });
    }
    for _ in 0..32 {
        let mut wire = server.connect().await;
        let jobs =
            json!({"jobs": vec![json!({"type": "test.plain", "args": [], "options": {"queue": "busy"}}); 200]}).to_string();
        load.spawn(async move { while wire.call("POST", "/jobs/batch", &jobs).await.is_ok() {} });
    }
    let beat = json!({"worker_id": "w", "active_jobs": [job["id"]], "visibility_timeout_ms": 600_000});
    // All of that may have taken longer than a connection may be silent.
    let mut wire = server.connect().await;
    for _ in 0..10 {
        let began = Instant::now();
        let answer = wire.post("/workers/heartbeat", &beat).await.expect(200).json();
        // A worker's lease is 30 s; what it would wait behind is there for 60 s, or for ever.
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        assert_eq!(answer["jobs_extended"], json!([job["id"]]));
    }
    wire.post("/workers/ack", &json!({"job_id": job["id"], "lease_token": job["lease_token"]})).await.expect(200);
    load.abort_all();
}

/// Killed at any moment between the request and its answer: the client sends again with the same id, and there is one job.
#[tokio::test]
async fn scenario_25_killed_between_request_and_answer() {
    let mut server = ServerProcess::sqlite().await;
    let mut jobs = 0;
    for _ in 0..15 {
        let id = job_id();
        let body = json!({"type": "test.plain", "args": [id], "id": id}).to_string();
        let mut wire = server.connect().await;
        let head = format!(
            "POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        wire.send(head).await.unwrap();
        // Any moment must do, so a random one is taken.
        tokio::time::sleep(Duration::from_micros(rand::rng().random_range(0..3000))).await;
        server.kill().await;
        server = server.again().await;
        let mut wire = server.connect().await;
        let answer = wire.call("POST", "/jobs", &body).await.unwrap();
        match answer.status {
            201 => assert_eq!(answer.job()["id"], id),
            409 => assert_eq!(answer.json()["error"]["details"]["existing_job_id"], id),
            _ => panic!("{}", String::from_utf8_lossy(&answer.body)),
        }
        jobs += 1;
        assert_eq!(wire.get(&format!("/jobs/{id}")).await.expect(200).job()["args"], json!([id]));
        assert_eq!(wire.get("/queues/default/stats").await.expect(200).json()["queue"]["total"], json!(jobs));
    }
}

/// Starts a server on a file and says how that went: the error it ended with, or `None` when it serves.
async fn refusal(path: &Path) -> Option<String> {
    let store = format!("sqlite:{}", path.display());
    let mut child = tokio::process::Command::new(binary())
        .args(["server", "--listen", "127.0.0.1:0", "--store", &store])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
    if line.is_some() {
        child.kill().await.unwrap();
        return None;
    }
    let output = child.wait_with_output().await.unwrap();
    assert!(!output.status.success());
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A store with jobs in it, closed, and a copy of its file.
async fn closed_store() -> (ServerProcess, std::path::PathBuf) {
    let mut server = ServerProcess::sqlite().await;
    let mut wire = server.connect().await;
    for _ in 0..20 {
        let jobs = json!({"jobs": vec![json!({"type": "test.plain", "args": ["x".repeat(200)]}); 100]});
        wire.post("/jobs/batch", &jobs).await.expect(201);
    }
    assert_eq!(server.terminate().await.code(), Some(0));
    let path = std::path::PathBuf::from(server.store().trim_start_matches("sqlite:"));
    (server, path)
}

/// A damaged file is refused with its name and what to do; a damaged end of the log is cut off, and what is before it
/// is there.
#[tokio::test]
async fn scenario_28_damage_is_never_silent() {
    let (server, path) = closed_store().await;
    let whole = std::fs::read(&path).unwrap();
    let copy = path.with_file_name("copy.db");
    let damage: [(&str, Vec<u8>); 4] = [
        ("cut in the middle", whole[..whole.len() / 2].to_vec()),
        ("cut at a page", whole[..whole.len() - 4096].to_vec()),
        ("no database", b"these are not the bytes of a database, but enough of them to look like a file".repeat(100)),
        ("head overwritten", [&[0xff; 100][..], &whole[100..]].concat()),
    ];
    for (what, bytes) in damage {
        std::fs::write(&copy, bytes).unwrap();
        for leftover in ["copy.db-wal", "copy.db-shm"] {
            let _ = std::fs::remove_file(path.with_file_name(leftover));
        }
        let said = refusal(&copy).await.unwrap_or_else(|| panic!("{what}: it serves a damaged file"));
        assert!(said.contains("copy.db"), "{what}: names the file: {said}");
    }
    assert!(refusal(&path).await.is_none(), "the original is as good as before");
    let mut next = server.again().await;
    let stats = next.connect().await.get("/queues/default/stats").await.expect(200).json();
    assert_eq!(stats["queue"]["total"], 2000);
    // Killed with a log, and the end of the log is garbage.
    let mut wire = next.connect().await;
    let confirmed = wire.post("/jobs", &json!({"type": "test.plain", "args": []})).await.expect(201).job()["id"].clone();
    next.kill().await;
    let wal = path.with_file_name("jobs.db-wal");
    let mut log = std::fs::File::options().write(true).open(&wal).unwrap();
    log.seek(SeekFrom::End(0)).unwrap();
    log.write_all(&rand::random::<[u8; 32]>().repeat(1000)).unwrap();
    let next = next.again().await;
    let job: Value = next.connect().await.get(&format!("/jobs/{}", confirmed.as_str().unwrap())).await.expect(200).job();
    assert_eq!(job["state"], "available");
}
