//! `ojs server` as its operator sees it: first line, signals, exit status, words on wrong input.
use std::net::TcpListener;
use std::process::{Command, Output};

use ojs_tests::{ServerProcess, Wire};
use rustix::process::Signal;
use serde_json::json;

/// Runs a command that ends by itself.
fn ojs(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ojs")).args(arguments).env_remove("OJS_URL").output().unwrap()
}

#[track_caller]
fn refuses(arguments: &[&str], words: &[&str]) {
    let output = ojs(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty(), "a server that does not start must not say that it listens");
    for word in words {
        assert!(said.contains(word), "{word:?} is missing in: {said}");
    }
}

#[test]
fn wrong_settings_end_with_2_and_advice() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refuses(&["server", "--store", "memory:", "--listen", &address], &["in use", &address, "port 0"]);
    refuses(&["server", "--store", "memory:", "--listen", "nonsense"], &["cannot listen on nonsense", "127.0.0.1:8080"]);
    refuses(&["server", "--store", "memory:", "--listen", "192.0.2.1:0"], &["cannot listen", "127.0.0.1"]);
    refuses(&["server", "--store", "oracle:x", "--listen", "127.0.0.1:0"], &["oracle:x", "sqlite:"]);
    refuses(&["server", "--store", "sqlite:", "--listen", "127.0.0.1:0"], &["sqlite:"]);
    refuses(&["server", "--store", "sqlite:/nowhere/at/all/jobs.db", "--listen", "127.0.0.1:0"], &["/nowhere/at/all/jobs.db"]);
    refuses(&["server", "--store", "memory:", "--log-level", "a=b=c"], &["--log-level", "debug"]);
    refuses(&["server", "--store", "memory:", "--log-format", "xml"], &["json"]);
    refuses(&["server", "--nonsense"], &["--nonsense", "--help"]);
    refuses(&["nonsense"], &["nonsense"]);
    refuses(&[], &["Usage"]);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    let text = "Shopping: milk, bread, and enough text to be longer than a database header of one hundred bytes. ".repeat(50);
    std::fs::write(&path, &text).unwrap();
    refuses(&["server", "--listen", "127.0.0.1:0", "--store", &format!("sqlite:{}", path.display())], &["notes.txt"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn help_teaches() {
    for (arguments, words) in [
        (vec!["--help"], vec!["Examples:", "Exit status", "dead-letter"]),
        (vec!["server", "--help"], vec!["SIGTERM", "sqlite:", "Examples:", "OJS_STORE"]),
        (vec!["jobs", "enqueue", "--help"], vec!["Examples:", "--delay"]),
        (vec!["--version"], vec![env!("CARGO_PKG_VERSION")]),
    ] {
        let output = ojs(&arguments);
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8(output.stdout).unwrap();
        for word in words {
            assert!(said.contains(word), "{word:?} is missing in: {said}");
        }
    }
}

#[tokio::test]
async fn both_signals_end_the_server_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = ServerProcess::sqlite().await;
        server.connect().await.post("/jobs", &json!({"type": "test.plain", "args": []})).await.expect(201);
        server.signal(signal);
        assert_eq!(server.ended().await.code(), Some(0));
        assert!(Wire::connect(server.address()).await.is_err(), "the port is free again");
    }
}

#[tokio::test]
async fn a_waiting_fetch_is_answered_when_the_server_stops() {
    let body = r#"{"queues":["default"],"wait_ms":60000}"#;
    let request = format!("POST /ojs/v1/workers/fetch HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for tries_left in (0..5).rev() {
        let mut server = ServerProcess::memory().await;
        let mut waiting = server.connect().await;
        waiting.send(request.as_str()).await.unwrap();
        // Accepted behind the one above, which has been read by then, unless its thread had to wait for a processor.
        server.connect().await.get("/health").await.expect(200);
        server.signal(Signal::TERM);
        let answer = waiting.answer().await;
        assert_eq!(server.ended().await.code(), Some(0));
        match answer {
            Ok(answer) if answer.status == 200 => {
                assert_eq!(answer.json()["jobs"], json!([]));
                return;
            }
            // The signal has overtaken the fetch, which was refused, or not read at all. One that waits is never treated like that.
            other => assert!(tries_left > 0, "{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_second_signal_ends_a_stuck_drain_at_once() {
    let mut server = ServerProcess::memory().await;
    // A body that never ends keeps the drain waiting.
    let mut stuck = server.connect().await;
    stuck.send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n").await.unwrap();
    assert_eq!(stuck.answer().await.unwrap().status, 100, "the server is reading the body now");
    server.signal(Signal::TERM);
    // The drain has begun when new connections are refused.
    while Wire::connect(server.address()).await.is_ok() {
        tokio::task::yield_now().await;
    }
    server.signal(Signal::INT);
    assert_eq!(server.ended().await.code(), Some(128 + 2));
}

#[tokio::test]
async fn confirmed_jobs_survive_a_restart() {
    let mut server = ServerProcess::sqlite().await;
    let id =
        server.connect().await.post("/jobs", &json!({"type": "test.plain", "args": [1]})).await.expect(201).job()["id"].clone();
    assert_eq!(server.terminate().await.code(), Some(0));
    let again = server.again().await;
    let job = again.connect().await.get(&format!("/jobs/{}", id.as_str().unwrap())).await.expect(200).job();
    assert_eq!((&job["state"], &job["args"]), (&json!("available"), &json!([1])));
}

/// Ids of the jobs that were cancelled, as often as the log tells it.
async fn cancelled(wire: &mut Wire) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = wire.get(&format!("/events?types=job.cancelled&limit=1000{cursor}")).await.expect(200).json();
        ids.extend(page["events"].as_array().unwrap().iter().map(|event| event["subject"].as_str().unwrap().to_owned()));
        if page["has_more"] != true {
            return ids;
        }
        cursor = format!("&after={}", page["cursor"].as_str().unwrap());
    }
}

#[tokio::test]
async fn a_killed_server_goes_on_with_its_bulk_operations() {
    const JOBS: usize = 20_000;
    let mut server = ServerProcess::sqlite().await;
    let mut wire = server.connect().await;
    let jobs: Vec<_> = (0..JOBS / 2).map(|n| json!({"type": "t", "args": [n], "options": {"queue": "q"}})).collect();
    for _ in 0..2 {
        wire.post("/jobs/bulk", &json!({"jobs": jobs})).await.expect(200);
    }
    let request = json!({"action": "cancel", "filter": {"queue": "q"}, "confirm": true});
    let id = wire.post("/admin/bulk", &request).await.expect(202).json()["id"].as_str().unwrap().to_owned();
    // The first of forty slices is done.
    while wire.get(&format!("/admin/bulk/{id}")).await.expect(200).json()["counts"]["changed"] == 0 {
        tokio::task::yield_now().await;
    }
    server.kill().await;
    let again = server.again().await;
    let mut wire = again.connect().await;
    let killed = wire.get(&format!("/admin/bulk/{id}")).await.expect(200).json();
    assert_eq!(killed["state"], "running", "it was killed in the middle: {killed}");
    // The lease of the process that was killed ends after ten seconds.
    let mut operation = killed;
    while operation["state"] == "running" {
        operation = wire.get(&format!("/admin/bulk/{id}?wait_ms=30000")).await.expect(200).json();
    }
    assert_eq!(operation["state"], "completed", "{operation}");
    assert_eq!(operation["counts"], json!({"seen": JOBS, "changed": JOBS, "refused": 0}));
    let mut ids = cancelled(&mut wire).await;
    assert_eq!(ids.len(), JOBS, "none is done twice");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), JOBS, "none is left out");
    assert_eq!(wire.get("/queues/q/stats").await.expect(200).json()["cancelled"], JOBS);
}

#[tokio::test]
async fn reset_exists_in_test_mode_only() {
    for (arguments, status) in [(vec![], 404), (vec!["--test-mode"], 200)] {
        let server = ServerProcess::start("memory", &arguments).await;
        let mut wire = server.connect().await;
        wire.post("/jobs", &json!({"type": "test.plain", "args": []})).await.expect(201);
        assert_eq!(wire.post("/admin/reset", &json!({})).await.status, status);
        let left = if status == 200 { 0 } else { 1 };
        assert_eq!(wire.get("/queues/default/stats").await.json()["queue"]["total"], left);
    }
}

#[tokio::test]
async fn an_open_address_needs_keys_or_a_word() {
    refuses(&["server", "--listen", "0.0.0.0:0", "--store", "memory:"], &["--keys", "--insecure"]);
    refuses(
        &["server", "--listen", "127.0.0.1:0", "--store", "memory:", "--keys", "/nowhere/keys.json"],
        &["/nowhere/keys.json", "ojs keys add"],
    );
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut server = Command::new(env!("CARGO_BIN_EXE_ojs"))
        .args(["server", "--listen", "0.0.0.0:0", "--store", "memory:", "--log-format", "json", "--insecure"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let (mut first, mut second) = (String::new(), String::new());
    let mut stdout = std::io::BufReader::new(server.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut first).unwrap();
    std::io::BufRead::read_line(&mut stdout, &mut second).unwrap();
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert!(first.starts_with("listening on http://0.0.0.0:"), "{first}");
    let port = first.trim().rsplit(':').next().unwrap();
    assert_eq!(second, format!("dashboard at http://127.0.0.1:{port}/ui/\n"), "an address that a browser can open");
    let lines = std::fs::read_to_string(&log).unwrap();
    let warned = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert!(
        warned
            .into_iter()
            .any(|line| line["severity"] == "WARN" && line["message"].as_str().is_some_and(|m| m.contains("EXPOSED")))
    );
}

#[tokio::test]
async fn keys_are_asked_for_and_changes_of_the_file_are_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let keys = directory.path().join("keys.json").display().to_string();
    let made = ojs(&["keys", "add", "shop", "--role", "producer", "--keys", &keys]);
    let key = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    assert!(key.starts_with("ojs_") && key.len() > 60, "{key}");
    let listed = String::from_utf8(ojs(&["keys", "list", "--keys", &keys]).stdout).unwrap();
    assert!(listed.contains("shop") && listed.contains("producer") && !listed.contains(&key), "{listed}");
    let server = ServerProcess::start("memory", &["--keys", &keys]).await;
    let url = server.url();
    let enqueue = |token: String| {
        let url = url.clone();
        move || {
            Command::new(env!("CARGO_BIN_EXE_ojs"))
                .args(["jobs", "enqueue", "a.b", "--url", &url, "--token", &token])
                .output()
                .unwrap()
        }
    };
    assert_eq!(enqueue(key.clone())().status.code(), Some(0));
    let refused = enqueue("wrong".to_owned())();
    assert!(String::from_utf8(refused.stderr).unwrap().contains("unauthenticated"));
    let denied = Command::new(env!("CARGO_BIN_EXE_ojs")).args(["jobs", "list", "--url", &url, "--token", &key]).output().unwrap();
    assert!(String::from_utf8(denied.stderr).unwrap().contains("permission_denied"));
    assert_eq!(ojs(&["keys", "add", "shop", "--role", "admin", "--keys", &keys]).status.code(), Some(1));
    assert_eq!(ojs(&["keys", "revoke", "shop", "--keys", &keys]).status.code(), Some(0));
    server.signal(Signal::HUP);
    ojs_tests::until("the revoked key is refused", || async { (enqueue(key.clone())().status.code() == Some(1)).then_some(()) })
        .await;
}

#[test]
fn a_store_is_migrated_when_asked() {
    let directory = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", directory.path().join("jobs.db").display());
    let said =
        |arguments: &[&str]| String::from_utf8(ojs(&[&["migrate", "--store", &store], arguments].concat()).stdout).unwrap();
    assert!(said(&[]).contains("not there yet"));
    assert!(said(&["--apply"]).contains("→"));
    assert!(said(&[]).contains("nothing to do"));
    assert!(said(&["--json"]).contains("\"pending\":0"));
}

#[test]
fn shells_get_their_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let output = ojs(&["completions", shell]);
        assert!(output.status.success() && String::from_utf8(output.stdout).unwrap().contains("dead-letter"));
    }
}

/// One record per step of a job in the form of the logging extension, and never an argument in it.
#[tokio::test]
async fn steps_of_jobs_are_logged_when_asked_for() {
    let server = ServerProcess::start("memory", &["--log-format", "json", "--log-jobs", "--log-level", "debug"]).await;
    let mut wire = server.connect().await;
    let retry = json!({"max_attempts": 1});
    for job in ["good", "bad"] {
        let options = json!({"queue": job, "retry": retry});
        wire.post(
            "/jobs",
            &json!({"type": "test.logged", "args": ["secret"], "meta": {"password": "secret"}, "options": options}),
        )
        .await
        .expect(201);
        let fetched = wire.post("/workers/fetch", &json!({"queues": [job], "worker_id": "w"})).await.expect(200).json();
        let id = fetched["jobs"][0]["id"].clone();
        let (path, body) = match job {
            "good" => ("/workers/ack", json!({"job_id": id, "result": "secret"})),
            _ => ("/workers/nack", json!({"job_id": id, "error": {"code": "no_luck", "message": "it did not work"}})),
        };
        wire.post(path, &body).await.expect(200);
    }
    let log = ojs_tests::until("the last record is written", || async {
        Some(server.log()).filter(|log| log.contains("job.discarded"))
    })
    .await;
    assert!(!log.contains("secret"), "{log}");
    let records: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps = |queue: &str| -> Vec<(String, String)> {
        let own = records.iter().filter(|record| record["ojs"]["queue"] == queue);
        own.map(|record| (record["message"].as_str().unwrap().to_owned(), record["severity"].as_str().unwrap().to_owned()))
            .collect()
    };
    let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect()
    };
    assert_eq!(steps("good"), pairs(&[("job.enqueued", "INFO"), ("job.started", "DEBUG"), ("job.completed", "INFO")]));
    let bad = steps("bad");
    assert!(bad.contains(&("job.failed".to_owned(), "WARN".to_owned())), "{bad:?}");
    let last = records.iter().find(|record| record["message"] == "job.discarded").unwrap();
    assert_eq!(
        (&last["severity_number"], &last["component"], &last["category"]),
        (&json!(17), &json!("server"), &json!("lifecycle"))
    );
    assert_eq!((&last["ojs"]["job_type"], &last["ojs"]["state"]), (&json!("test.logged"), &json!("discarded")));
    assert!(last["ojs"]["job_id"].is_string() && last["timestamp"].as_str().unwrap().ends_with('Z'), "{last}");
}
