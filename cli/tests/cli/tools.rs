//! The operator's tools against a real server: tables, JSON, exit status.
use crate::common::{dead_letter, fails, json_of, ojs, says};
use ojs_tests::ServerProcess;
use serde_json::{Value, json};
use tokio::process::Command;

#[tokio::test]
async fn a_job_is_enqueued_shown_and_cancelled() {
    let server = ServerProcess::memory().await;
    let shown = says(
        &server,
        &["jobs", "enqueue", "email.send", "[\"a\", 1]", "--queue", "mail", "--priority", "-5", "--meta", r#"{"trace_id":"t"}"#],
    )
    .await;
    for line in [
        "type      email.send",
        "queue     mail",
        "state     available",
        "priority  -5",
        r#"args      ["a",1]"#,
        r#"meta      {"trace_id":"t"}"#,
    ] {
        assert!(shown.lines().any(|shown| shown.trim() == line), "{line:?} is missing in:\n{shown}");
    }
    let id = shown.lines().next().unwrap().split_whitespace().last().unwrap().to_owned();
    assert!(says(&server, &["jobs", "get", &id]).await.contains("available"));
    assert!(says(&server, &["jobs", "cancel", &id]).await.contains("cancelled"));
    let refusal = fails(&server.url(), &["jobs", "cancel", &id], 1).await;
    assert!(refusal.contains("conflict"), "{refusal}");
}

#[tokio::test]
async fn arguments_and_options_become_the_request() {
    let server = ServerProcess::memory().await;
    let one = json_of(&server, &["jobs", "enqueue", "email.send", r#"{"to":"a"}"#]).await;
    assert_eq!(one["job"]["args"], json!([{"to": "a"}]));
    let none = json_of(&server, &["jobs", "enqueue", "report.build", "--delay", "1h", "--max-attempts", "7"]).await;
    assert_eq!(
        (&none["job"]["args"], &none["job"]["state"], &none["job"]["max_attempts"]),
        (&json!([]), &json!("scheduled"), &json!(7))
    );
    let id = ojs_tests::job_id();
    let own = json_of(&server, &["jobs", "enqueue", "report.build", "--id", &id, "--options", r#"{"tags":["nightly"]}"#]).await;
    assert_eq!((&own["job"]["id"], &own["job"]["tags"]), (&json!(id), &json!(["nightly"])));
    assert!(fails(&server.url(), &["jobs", "enqueue", "report.build", "--id", &id], 1).await.contains("duplicate"));
}

#[tokio::test]
async fn json_is_what_the_server_wrote() {
    let server = ServerProcess::memory().await;
    let enqueued = says(&server, &["jobs", "enqueue", "a.b", "[1.50, 1e3, 12345678901234567890]", "--json"]).await;
    let id = serde_json::from_str::<Value>(&enqueued).unwrap()["job"]["id"].as_str().unwrap().to_owned();
    let wire = server.connect().await.get(&format!("/jobs/{id}")).await;
    assert_eq!(says(&server, &["--json", "jobs", "get", &id]).await.trim_end().as_bytes(), wire.body);
}

#[tokio::test]
async fn a_job_says_why_it_does_not_run() {
    let server = ServerProcess::memory().await;
    let enqueued = json_of(&server, &["jobs", "enqueue", "a.b", "--queue", "mail"]).await;
    let id = enqueued["job"]["id"].as_str().unwrap();
    says(&server, &["queues", "pause", "mail"]).await;
    let why = says(&server, &["jobs", "why", id]).await;
    assert!(why.starts_with("Queue 'mail' is paused.\n"), "{why}");
    assert!(why.contains("\n  try: ojs queues resume mail\n") && why.contains("no_worker_for_queue: "), "{why}");
    let wire = server.connect().await.get(&format!("/jobs/{id}/explain")).await.json();
    let told = json_of(&server, &["jobs", "why", id]).await;
    assert_eq!((&told["reasons"], &told["summary"]), (&wire["reasons"], &wire["summary"]));
    says(&server, &["queues", "resume", "mail"]).await;
    server.connect().await.post("/workers/fetch", &json!({"queues": ["mail"], "worker_id": "w1"})).await.expect(200);
    assert_eq!(says(&server, &["jobs", "why", id]).await, "It is running: attempt 1, on worker w1.\n");
    assert!(fails(&server.url(), &["jobs", "why", &ojs_tests::job_id()], 1).await.contains("not_found"));
}

#[tokio::test]
async fn queues_are_listed_counted_and_paused() {
    let server = ServerProcess::memory().await;
    for _ in 0..3 {
        says(&server, &["jobs", "enqueue", "a.b", "--queue", "mail"]).await;
    }
    let list = says(&server, &["queues", "list"]).await;
    assert!(list.lines().any(|line| line.starts_with("default")) && list.lines().any(|line| line.starts_with("mail")), "{list}");
    assert!(says(&server, &["queues", "pause", "mail"]).await.contains("mail: paused"));
    let stats = says(&server, &["queues", "stats"]).await;
    let mail: Vec<&str> = stats.lines().find(|line| line.starts_with("mail")).unwrap().split_whitespace().collect();
    assert_eq!(mail[..4], ["mail", "paused", "3", "0"]);
    assert!(stats.starts_with("QUEUE") && stats.contains("AVAILABLE"));
    assert!(says(&server, &["queues", "resume", "mail"]).await.contains("mail: active"));
    // Every list has one JSON form; this one had one of its own.
    assert_eq!(json_of(&server, &["queues", "stats", "mail"]).await["items"][0]["queue"]["available"], 3);
}

#[tokio::test]
async fn dead_letters_are_listed_retried_and_deleted() {
    let server = ServerProcess::memory().await;
    let first = dead_letter(&server, "a.first").await;
    let list = says(&server, &["dead-letter", "list"]).await;
    assert!(list.contains(&first) && list.contains("mailbox is full") && list.ends_with("1 of 1\n"), "{list}");
    assert!(says(&server, &["dead-letter", "get", &first]).await.contains("failed: attempt 1"));
    assert_eq!(says(&server, &["dead-letter", "retry", &first]).await, format!("{first}: available\n"));
    assert!(fails(&server.url(), &["dead-letter", "retry", &first], 1).await.starts_with("ojs: "));
    assert!(fails(&server.url(), &["jobs", "retry", &first], 1).await.starts_with("ojs: "));
    // Worked off, so that the next fetch meets the next job.
    server.connect().await.post("/workers/fetch", &json!({"queues": ["default"]})).await.expect(200);

    let (second, third) = (dead_letter(&server, "a.second").await, dead_letter(&server, "a.third").await);
    assert_eq!(
        says(&server, &["dead-letter", "retry", "--all", "--type", "a.second", "--yes"]).await,
        format!("{second}: available\n")
    );
    assert!(says(&server, &["dlq", "list", "--type", "a.third"]).await.contains(&third));
    assert_eq!(says(&server, &["dead-letter", "delete", &third]).await, format!("{third}: deleted\n"));
    assert!(fails(&server.url(), &["jobs", "get", &third], 1).await.contains("not_found"));
    assert!(says(&server, &["dead-letter", "list"]).await.ends_with("0 of 0\n"));
}

#[tokio::test]
async fn jobs_are_listed_by_page_and_filter() {
    let server = ServerProcess::memory().await;
    for n in 0..5 {
        let kind = if n < 2 { "email.send" } else { "report.build" };
        says(&server, &["jobs", "enqueue", kind, &n.to_string(), "--queue", if n == 4 { "slow" } else { "default" }]).await;
    }
    let all = says(&server, &["jobs", "list"]).await;
    assert_eq!(all.lines().count(), 6, "{all}");
    assert!(all.lines().nth(1).unwrap().contains("slow"), "the newest comes first: {all}");
    assert_eq!(says(&server, &["jobs", "list", "--type", "email.*"]).await.lines().count(), 3);
    assert_eq!(says(&server, &["jobs", "list", "--queue", "slow"]).await.lines().count(), 2);
    assert_eq!(says(&server, &["jobs", "list", "--state", "completed"]).await.lines().count(), 1);
    assert!(says(&server, &["jobs", "list", "--limit", "2", "--page", "2"]).await.ends_with("more: --page 3\n"));
    assert!(fails(&server.url(), &["jobs", "list", "--state", "lost"], 1).await.contains("available"));
}

#[tokio::test]
async fn a_worker_hears_what_the_operator_says() {
    let server = ServerProcess::memory().await;
    let beat = json!({"worker_id": "pod/1", "active_jobs": 0});
    assert_eq!(server.connect().await.post("/workers/heartbeat", &beat).await.expect(200).json()["state"], "running");
    for directive in ["quiet", "terminate"] {
        assert_eq!(says(&server, &["workers", directive, "pod/1"]).await, format!("pod/1: {directive}\n"));
        assert_eq!(server.connect().await.post("/workers/heartbeat", &beat).await.expect(200).json()["state"], directive);
    }
    assert!(fails(&server.url(), &["workers", "quiet", "nobody"], 1).await.contains("not_found"));
}

#[tokio::test]
async fn health_and_manifest_are_told() {
    let server = ServerProcess::sqlite().await;
    let health = says(&server, &["health"]).await;
    assert!(health.contains("ok") && health.contains("sqlite"), "{health}");
    let manifest = says(&server, &["manifest"]).await;
    assert!(manifest.contains("x-worker-exchange") && manifest.contains("conformance level"), "{manifest}");
    let manifest = json_of(&server, &["manifest"]).await;
    assert_eq!((&manifest["specversion"], manifest.get("codec_server_url")), (&json!("1.0"), None));
    let server = ServerProcess::start("memory", &["--codec-server-url", "https://codec.example.com"]).await;
    assert_eq!(json_of(&server, &["manifest"]).await["codec_server_url"], "https://codec.example.com");
}

#[tokio::test]
async fn a_store_is_reached_without_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", directory.path().join("jobs.db").display());
    // A mistyped path is no empty store.
    let missing = fails(&store, &["jobs", "list"], 2).await;
    assert!(missing.contains("there is no file") && !directory.path().join("jobs.db").exists(), "{missing}");
    assert_eq!(ojs(&store, &["jobs", "enqueue", "a.b"]).await.status.code(), Some(0));
    let stats = ojs(&store, &["queues", "stats", "default", "--json"]).await;
    assert_eq!(serde_json::from_slice::<Value>(&stats.stdout).unwrap()["items"][0]["queue"]["available"], 1);
}

#[tokio::test]
async fn failures_have_their_exit_status_and_say_what_to_do() {
    let server = ServerProcess::memory().await;
    let (id, url) = (ojs_tests::job_id(), server.url());
    assert!(fails(&url, &["jobs", "get", &id], 1).await.contains("not_found"));
    assert!(fails(&url, &["jobs", "enqueue", "Not A Type"], 1).await.contains("type"));
    assert!(fails(&url, &["jobs", "enqueue", "a.b", "nonsense"], 2).await.contains("quotes"));
    assert!(fails(&url, &["jobs", "enqueue", "a.b", "--delay", "soon"], 2).await.contains("90s"));
    assert!(fails(&url, &["jobs", "enqueue", "a.b", "--meta", "[]"], 2).await.contains("object"));
    assert!(fails(&url, &["jobs", "get"], 2).await.contains("<ID>"));
    assert!(fails(&url, &["dead-letter", "retry"], 2).await.contains("ID"));
    assert!(fails("ftp://x", &["health"], 2).await.contains("ftp://x"));
    assert!(fails("http://127.0.0.1:1", &["health"], 3).await.contains("ojs server"));
    drop(server);
    assert!(fails(&url, &["health"], 3).await.contains("--url"));
}

#[tokio::test]
async fn workers_are_listed_shown_and_not_removed_while_they_live() {
    let server = ServerProcess::memory().await;
    let beat = json!({"worker_id": "w1", "active_jobs": 0, "hostname": "box", "pid": 7, "concurrency": 10, "queues": ["mail"]});
    server.connect().await.post("/workers/heartbeat", &beat).await.expect(200);
    let list = says(&server, &["workers", "list"]).await;
    assert!(list.lines().any(|line| line.starts_with("w1") && line.contains("running") && line.contains("box")), "{list}");
    assert!(says(&server, &["workers", "get", "w1"]).await.contains("[\"mail\"]"));
    assert_eq!(says(&server, &["workers", "list", "--state", "quiet"]).await.lines().count(), 1);
    assert!(fails(&server.url(), &["workers", "remove", "w1"], 1).await.contains("heartbeat"));
    assert_eq!(json_of(&server, &["workers", "list"]).await["total"], 1);
}

#[tokio::test]
async fn cron_entries_are_added_switched_and_deleted() {
    let server = ServerProcess::memory().await;
    let added = says(&server, &["crons", "add", "nightly", "0 3 * * *", "report.build", "--timezone", "Europe/Berlin"]).await;
    assert!(added.contains("nightly") && added.contains("0 3 * * *") && added.contains("Europe/Berlin"), "{added}");
    assert!(says(&server, &["crons", "list"]).await.contains("nightly"));
    assert!(says(&server, &["crons", "disable", "nightly"]).await.contains("false"));
    assert!(says(&server, &["crons", "enable", "nightly"]).await.contains("true"));
    assert_eq!(says(&server, &["crons", "delete", "nightly"]).await, "nightly: deleted\n");
    assert!(fails(&server.url(), &["crons", "get", "nightly"], 1).await.contains("not_found"));
}

#[tokio::test]
async fn workflows_are_shown_and_cancelled() {
    let server = ServerProcess::memory().await;
    let chain = json!({"type": "chain", "steps": [{"type": "a.b", "args": []}, {"type": "a.c", "args": []}]});
    let made = server.connect().await.post("/workflows", &chain).await.expect(201).json();
    let id = made["workflow"]["id"].as_str().unwrap().to_owned();
    let shown = says(&server, &["workflows", "get", &id]).await;
    assert!(shown.contains("0 of 2") && shown.contains("a.c"), "{shown}");
    assert!(says(&server, &["workflows", "cancel", &id]).await.contains("cancelled"));
}

#[tokio::test]
async fn figures_and_events_are_told() {
    let server = ServerProcess::memory().await;
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "mail"]).await;
    let stats = says(&server, &["stats"]).await;
    assert!(stats.lines().any(|line| line.split_whitespace().eq(["available", "1"])), "{stats}");
    assert_eq!(says(&server, &["stats", "--history", "1m", "--queue", "mail"]).await.lines().count(), 2);
    assert!(fails(&server.url(), &["stats", "--history", "2h"], 1).await.contains("5m"));
    let events = says(&server, &["events"]).await;
    assert!(events.contains("job.enqueued") && events.contains("mail"), "{events}");
    assert_eq!(says(&server, &["events", "--types", "job.failed"]).await, "");
}

#[tokio::test]
async fn new_events_are_followed() {
    use tokio::io::AsyncBufReadExt;
    let server = ServerProcess::memory().await;
    says(&server, &["jobs", "enqueue", "a.before"]).await;
    let mut follow = Command::new(env!("CARGO_BIN_EXE_ojs"))
        .args(["events", "--follow", "--json"])
        .env("OJS_URL", server.url())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = tokio::io::BufReader::new(follow.stdout.take().unwrap()).lines();
    // It may still be starting: jobs are enqueued until one is told of.
    let told = async { lines.next_line().await.unwrap().unwrap() };
    tokio::pin!(told);
    let line = loop {
        tokio::select! {
            line = &mut told => break line,
            _ = says(&server, &["jobs", "enqueue", "a.after"]) => {}
        }
    };
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&event["type"], &event["data"]["job_type"]), (&json!("job.enqueued"), &json!("a.after")));
}

#[tokio::test]
async fn the_doctor_finds_what_is_wrong() {
    let server = ServerProcess::memory().await;
    let healthy = says(&server, &["doctor"]).await;
    let quiet = |line: &str| line.starts_with("ok ") || line.starts_with("skipped ");
    assert!(healthy.lines().all(quiet) && healthy.contains("ok       server.health"), "{healthy}");
    dead_letter(&server, "a.b").await;
    says(&server, &["maintenance", "on", "--reason", "disk swap", "--for", "PT30M"]).await;
    let output = ojs(&server.url(), &["doctor"]).await;
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("warning  maintenance.on: on since") && said.contains("disk swap"), "{said}");
    assert!(said.contains("warning  failures.rising: dead letters: 1 in the last hour"), "{said}");
    assert!(says(&server, &["maintenance", "off"]).await.contains("off"));
    assert_eq!(ojs("http://127.0.0.1:1", &["doctor"]).await.status.code(), Some(3));
}

#[tokio::test]
async fn many_jobs_are_changed_after_a_look_and_a_yes() {
    let server = ServerProcess::memory().await;
    for kind in ["report.build", "report.send", "mail.send"] {
        says(&server, &["jobs", "enqueue", kind, "--queue", "q"]).await;
    }
    let all = ["jobs", "bulk-cancel", "--all", "--queue", "q", "--type", "report.*"];
    assert_eq!(says(&server, &[&all[..], &["--dry-run"]].concat()).await.trim(), "2 would be cancelled");
    // A test has no terminal to confirm at: without --yes nothing happens.
    let said = fails(&server.url(), &all, 2).await;
    assert!(said.contains("cancel 2 jobs?") && said.contains("--yes"), "{said}");
    assert_eq!(says(&server, &[&all[..], &["--yes"]].concat()).await.trim(), "2 cancelled");
    assert_eq!(says(&server, &[&all[..], &["--yes"]].concat()).await.trim(), "0 cancelled");
    let id = json_of(&server, &["jobs", "list", "--state", "available"]).await["items"][0]["id"].as_str().unwrap().to_owned();
    let said = ojs(&server.url(), &["jobs", "bulk-delete", &id]).await;
    assert_eq!(said.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&said.stderr).contains("available"), "{said:?}");
    assert_eq!(says(&server, &["jobs", "bulk-cancel", &id]).await.trim(), "1 cancelled");
    assert_eq!(json_of(&server, &["jobs", "bulk-delete", "--all", "--state", "cancelled", "--yes"]).await["succeeded"], 3);
    fails(&server.url(), &["jobs", "bulk-retry"], 2).await;
}

#[tokio::test]
async fn bulk_operations_are_listed_shown_and_directed() {
    let server = ServerProcess::memory().await;
    for n in 0..3 {
        says(&server, &["jobs", "enqueue", "report.build", &format!("[{n}]"), "--queue", "q"]).await;
    }
    let begin = ["jobs", "bulk-cancel", "--all", "--queue", "q", "--yes", "--detach", "--reason", "not needed"];
    let id = says(&server, &begin).await.trim().to_owned();
    let shown = says(&server, &["bulk", "show", &id, "--follow"]).await;
    for words in ["cancel", "completed", "not needed", r#"{"queue":"q"}"#] {
        assert!(shown.contains(words), "{shown}");
    }
    let listed = json_of(&server, &["bulk", "list", "--state", "completed"]).await;
    assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["counts"]["changed"]), (&json!(id), &json!(3)));
    assert!(says(&server, &["bulk", "list"]).await.contains(&id));
    for word in ["pause", "resume", "cancel"] {
        assert!(fails(&server.url(), &["bulk", word, &id], 1).await.contains("completed"), "{word}");
    }
    assert!(fails(&server.url(), &["bulk", "show", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"], 1).await.contains("not"));
    let told = json_of(&server, &["jobs", "bulk-delete", "--all", "--queue", "q", "--yes"]).await;
    assert_eq!((&told["state"], &told["succeeded"], &told["failed"]), (&json!("completed"), &json!(3), &json!(0)));
}

#[tokio::test]
async fn a_queue_is_purged() {
    let server = ServerProcess::memory().await;
    says(&server, &["jobs", "enqueue", "a", "--queue", "q"]).await;
    says(&server, &["jobs", "enqueue", "a", "--queue", "q", "--delay", "1h"]).await;
    assert_eq!(
        says(&server, &["queues", "purge", "q", "--state", "available,scheduled", "--dry-run"]).await.trim(),
        "2 would be purged"
    );
    let young = ["queues", "purge", "q", "--state", "available", "--older-than", "PT1H", "--yes"];
    assert_eq!(says(&server, &young).await.trim(), "0 purged");
    assert_eq!(says(&server, &["queues", "purge", "q", "--state", "available,scheduled", "--yes"]).await.trim(), "2 purged");
    fails(&server.url(), &["queues", "purge", "q", "--state", "active", "--yes"], 1).await;
    fails(&server.url(), &["queues", "purge", "misspelt", "--state", "completed", "--yes"], 1).await;
}

#[tokio::test]
async fn pools_are_made_listed_and_deleted() {
    let server = ServerProcess::memory().await;
    let put = ["pools", "put", "shop", "mail", "orders=4", "--strategy", "weighted", "--concurrency", "9"];
    let shown = says(&server, &put).await;
    assert!(shown.contains("weighted") && shown.contains("mail=1 orders=4") && shown.contains('9'), "{shown}");
    let table = says(&server, &["pools", "list"]).await;
    assert!(table.contains("shop") && table.contains("mail=1 orders=4"), "{table}");
    says(&server, &["jobs", "enqueue", "a", "--options", r#"{"queue":"mail"}"#]).await;
    let stats = says(&server, &["pools", "stats"]).await;
    assert!(stats.lines().any(|line| line.starts_with("shop\tmail\t1\t0\t0")), "{stats}");
    fails(&server.url(), &["pools", "put", "other", "orders"], 1).await;
    fails(&server.url(), &["pools", "put", "other", "x=many"], 2).await;
    assert!(says(&server, &["pools", "delete", "shop"]).await.contains("deleted"));
    fails(&server.url(), &["pools", "delete", "shop"], 1).await;
}

#[tokio::test]
async fn a_queue_is_shared_and_unshared() {
    let server = ServerProcess::memory().await;
    let share = ["queues", "share", "mail", "--by", "key", "--weight", "vip=4", "--default-weight", "2"];
    let shown = says(&server, &share).await;
    assert!(shown.contains("key") && shown.contains("vip=4"), "{shown}");
    fails(&server.url(), &["queues", "share", "mail", "--weight", "vip=many"], 2).await;
    fails(&server.url(), &["queues", "share", "mail", "--weight", "vip=1001"], 1).await;
    says(&server, &["tenants", "limits", "acme", "--fairness-weight", "3"]).await;
    let tenant = says(&server, &["tenants", "limits", "acme", "--fairness-weight", "3", "--max-concurrency", "5"]).await;
    assert!(tenant.contains("fairness weight"), "{tenant}");
    assert!(says(&server, &["queues", "unshare", "mail"]).await.contains("not shared"));
    fails(&server.url(), &["queues", "unshare", "mail"], 1).await;
}

#[tokio::test]
async fn trains_are_shown_held_and_advanced() {
    let server = ServerProcess::memory().await;
    for _ in 0..2 {
        says(&server, &["jobs", "enqueue", "a", "--meta", r#"{"train_id":"dest_7"}"#]).await;
    }
    for (state, words) in [
        ("available", "dest_7, locomotive at position 1, epoch 0, running"),
        ("pending", "dest_7, waits at position 2 behind 1, running"),
    ] {
        let id = json_of(&server, &["jobs", "list", "--state", state]).await["items"][0]["id"].as_str().unwrap().to_owned();
        let shown = says(&server, &["jobs", "show", &id]).await;
        assert!(shown.contains(words), "{shown}");
    }
    let shown = says(&server, &["trains", "show", "dest_7"]).await;
    assert!(shown.contains("running") && shown.contains("available") && shown.contains("pending"), "{shown}");
    assert!(!says(&server, &["trains", "list", "--held"]).await.contains("dest_7"));
    assert_eq!(json_of(&server, &["trains", "hold", "dest_7"]).await["state"], "held");
    assert!(says(&server, &["trains", "list", "--held"]).await.contains("dest_7"));
    fails(&server.url(), &["trains", "advance", "dest_7", "--job", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"], 1).await;
    assert_eq!(json_of(&server, &["trains", "advance", "dest_7"]).await["state"], "running");
    fails(&server.url(), &["trains", "advance", "dest_7"], 1).await;
    fails(&server.url(), &["trains", "show", "never"], 1).await;
}

#[tokio::test]
async fn failures_are_put_together_and_their_jobs_are_retried() {
    let server = ServerProcess::memory().await;
    let id = dead_letter(&server, "mail.send").await;
    let error = json_of(&server, &["errors", "list", "--type", "mail.*"]).await["items"][0].clone();
    assert_eq!((&error["count"], &error["job_ids"]), (&json!(1), &json!([id])));
    let fingerprint = error["fingerprint"].as_str().unwrap();
    let listed = says(&server, &["errors", "list", "--sort", "count"]).await;
    assert!(listed.contains(fingerprint) && listed.contains("mail.send"), "{listed}");
    assert!(!says(&server, &["errors", "list", "--queue", "other"]).await.contains(fingerprint));
    let shown = says(&server, &["errors", "show", fingerprint]).await;
    assert!(shown.contains(&id) && shown.contains("discarded"), "{shown}");
    assert!(says(&server, &["errors", "retry", fingerprint]).await.contains("1 retried"));
    assert!(says(&server, &["jobs", "show", &id]).await.contains("available"));
    assert!(says(&server, &["errors", "retry", fingerprint]).await.contains("none of its jobs"));
    fails(&server.url(), &["errors", "show", "0000000000000000"], 1).await;
}

#[tokio::test]
async fn the_history_of_a_job_is_shown() {
    let server = ServerProcess::memory().await;
    let job = json_of(&server, &["jobs", "enqueue", "mail.send", r#"["a@example.com"]"#]).await;
    let id = job["job"]["id"].as_str().unwrap();
    let mut wire = server.connect().await;
    wire.post("/workers/fetch", &serde_json::json!({"queues": ["default"], "worker_id": "w1"})).await.expect(200);
    let error = serde_json::json!({"code": "timeout", "message": "no answer from 10.0.0.7"});
    wire.post("/workers/nack", &serde_json::json!({"job_id": id, "worker_id": "w1", "error": error})).await.expect(200);
    let shown = says(&server, &["jobs", "history", id]).await;
    for part in ["mail.send on queue default", "available to active", "worker w1", "attempt 1: no answer", "active to retryable"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(json_of(&server, &["jobs", "history", id]).await["attempts"][0]["worker_id"], "w1");
    fails(&server.url(), &["jobs", "history", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"], 1).await;
}

#[tokio::test]
async fn limits_are_shown_and_overridden() {
    let server = ServerProcess::memory().await;
    let options = r#"{"rate_limit":{"key":"api","concurrency":5}}"#;
    says(&server, &["jobs", "enqueue", "a", "--options", options]).await;
    let table = says(&server, &["rate-limits", "list"]).await;
    assert!(table.contains("api") && table.contains('5'), "{table}");
    let shown = says(&server, &["rate-limits", "override", "api", "--concurrency", "2", "--limit", "10", "--for", "PT1H"]).await;
    assert!(shown.contains("concurrency") && shown.contains("10 per PT1S") && shown.contains("overridden until"), "{shown}");
    assert_eq!(json_of(&server, &["rate-limits", "override", "api", "--end"]).await["concurrency"]["limit"], 5);
    fails(&server.url(), &["rate-limits", "override", "api"], 2).await;
    fails(&server.url(), &["rate-limits", "get", "never"], 1).await;
}

#[tokio::test]
async fn tenants_are_listed_limited_suspended_and_deleted() {
    let server = ServerProcess::memory().await;
    says(&server, &["jobs", "enqueue", "t", "--options", r#"{"metadata":{"tenant_id":"acme"}}"#]).await;
    assert!(says(&server, &["tenants", "list"]).await.contains("acme"));
    let limited = says(&server, &["tenants", "limits", "acme", "--max-queue-depth", "5", "--max-enqueue-rate", "9"]).await;
    assert!(limited.contains("9 per PT1S"), "{limited}");
    let shown = says(&server, &["tenants", "show", "acme"]).await;
    assert!(shown.contains("1 of 5"), "{shown}");
    assert_eq!(json_of(&server, &["tenants", "suspend", "acme"]).await["status"], "suspended");
    assert_eq!(json_of(&server, &["tenants", "resume", "acme"]).await["status"], "active");
    fails(&server.url(), &["tenants", "delete", "acme"], 1).await;
    fails(&server.url(), &["tenants", "show", "unknown"], 1).await;
    fails(&server.url(), &["tenants", "limits", "acme", "--period", "PT1M"], 2).await;
}
