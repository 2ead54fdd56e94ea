//! What lists show, and what they say about what they leave out, against a real server.
use std::collections::HashSet;

use crate::common::{dead_letter, fails, json_of, ojs, says};
use ojs_tests::ServerProcess;
use serde_json::{Value, json};

/// Enqueues so many jobs, numbered from 0 in their arguments.
async fn enqueue(server: &ServerProcess, queue: &str, jobs: usize) {
    let jobs: Vec<Value> = (0..jobs).map(|n| json!({"type": "a.b", "args": [n], "options": {"queue": queue}})).collect();
    server.connect().await.post("/jobs/batch", &json!({"jobs": jobs})).await.expect(201);
}

#[tokio::test]
async fn a_list_that_was_cut_says_so_and_a_limit_means_what_it_says() {
    let server = ServerProcess::memory().await;
    enqueue(&server, "mail", 310).await;
    let few = says(&server, &["jobs", "list"]).await;
    assert_eq!(few.lines().count(), 52, "a heading, 50 jobs and the note");
    assert!(few.ends_with("1 to 50 of 310; all: --limit 0; more: --page 2\n"), "{few}");
    let many = says(&server, &["jobs", "list", "--limit", "300"]).await;
    assert_eq!(many.lines().count(), 302);
    assert!(many.ends_with("1 to 300 of 310; all: --limit 0; more: --page 2\n"), "{many}");
    let all = says(&server, &["jobs", "list", "--limit", "0"]).await;
    assert_eq!(all.lines().count(), 311, "nothing was left out, so nothing is said");
    let ids: HashSet<&str> = all.lines().skip(1).map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(ids.len(), 310);
    let last = says(&server, &["jobs", "list", "--limit", "300", "--page", "2"]).await;
    assert!(last.lines().count() == 12 && last.ends_with("301 to 310 of 310\n"), "{last}");
    let first = |text: &str| text.lines().nth(1).unwrap().to_owned();
    assert_eq!(first(&few), first(&all), "the newest comes first");
}

#[tokio::test]
async fn jobs_of_several_states_are_listed_together() {
    let server = ServerProcess::memory().await;
    for delay in ["1h", "", "2h", ""] {
        let words: &[&str] = if delay.is_empty() { &[] } else { &["--delay", delay] };
        says(&server, &[&["jobs", "enqueue", "a.b"], words].concat()).await;
    }
    let id = json_of(&server, &["jobs", "enqueue", "a.b"]).await["job"]["id"].as_str().unwrap().to_owned();
    says(&server, &["jobs", "cancel", &id]).await;
    let states = |list: &Value| -> Vec<String> {
        list["items"].as_array().unwrap().iter().map(|job| job["state"].as_str().unwrap().to_owned()).collect()
    };
    let both = json_of(&server, &["jobs", "list", "--state", "scheduled", "--state", "available"]).await;
    assert_eq!(states(&both), ["available", "scheduled", "available", "scheduled"], "newest first");
    assert_eq!((&both["total"], &both["next"]), (&json!(4), &Value::Null));
    let page = json_of(&server, &["jobs", "list", "--state", "scheduled,available", "--limit", "2"]).await;
    assert_eq!((states(&page).len(), &page["next"]), (2, &json!(2)));
    let page = json_of(&server, &["jobs", "list", "--state", "scheduled,available", "--limit", "2", "--page", "2"]).await;
    assert_eq!((states(&page), &page["next"]), (vec!["available".to_owned(), "scheduled".to_owned()], &Value::Null));
}

#[tokio::test]
async fn a_search_is_listed_page_by_page_and_changes_what_it_finds() {
    let server = ServerProcess::memory().await;
    enqueue(&server, "mail", 120).await;
    enqueue(&server, "low", 3).await;
    let args = |list: &Value| -> Vec<i64> {
        list["items"].as_array().unwrap().iter().map(|job| job["args"][0].as_i64().unwrap()).collect()
    };
    let one = json_of(&server, &["jobs", "list", "-q", "args.0:2 -queue:low"]).await;
    assert_eq!((args(&one), &one["items"][0]["queue"]), (vec![2], &json!("mail")));
    let search = ["jobs", "list", "--search", "queue:mail type:a.*", "--limit", "50"];
    let last = json_of(&server, &[&search[..], &["--page", "3"]].concat()).await;
    assert_eq!((args(&last), &last["next"]), ((0..20).rev().collect(), &Value::Null), "pages have no numbers on the server");
    let wrong = fails(&server.url(), &["jobs", "list", "--search", "quue:mail"], 1).await;
    assert!(wrong.contains("'quue:' is not a word of the search"), "{wrong}");
    let seen = says(&server, &["jobs", "bulk-cancel", "--all", "--search", "args.0:1,2 queue:mail", "--dry-run"]).await;
    assert!(seen.contains("2 would be cancelled"), "{seen}");
    says(&server, &["jobs", "bulk-cancel", "--all", "--search", "args.0:1,2 queue:mail", "--yes"]).await;
    let cancelled = json_of(&server, &["jobs", "list", "--state", "cancelled"]).await;
    assert_eq!(args(&cancelled), [2, 1]);
}

#[tokio::test]
async fn every_list_has_the_same_json_form() {
    let server = ServerProcess::memory().await;
    dead_letter(&server, "a.dead").await;
    enqueue(&server, "mail", 3).await;
    let limited = r#"{"rate_limit":{"key":"api","concurrency":5}}"#;
    says(&server, &["jobs", "enqueue", "a.limited", "--options", limited]).await;
    says(&server, &["crons", "add", "nightly", "0 3 * * *", "report.build"]).await;
    let chain = json!({"type": "chain", "steps": [{"type": "a.b", "args": []}]});
    server.connect().await.post("/workflows", &chain).await.expect(201);
    server.connect().await.post("/workers/heartbeat", &json!({"worker_id": "w1", "active_jobs": 0})).await.expect(200);
    for list in [
        &["jobs", "list"][..],
        &["queues", "list"],
        &["queues", "stats"],
        &["dead-letter", "list"],
        &["workers", "list"],
        &["workflows", "list"],
        &["crons", "list"],
        &["rate-limits", "list"],
        &["events"],
    ] {
        let answer = json_of(&server, list).await;
        assert!(!answer["items"].as_array().unwrap_or_else(|| panic!("{list:?}: {answer}")).is_empty(), "{list:?}");
        assert_eq!(answer.get("next"), Some(&Value::Null), "{list:?}");
    }
    // Each comes as the server wrote it, its members in their order.
    assert!(says(&server, &["jobs", "list", "--json"]).await.contains(r#"{"specversion":"1.0","id":""#));
}

#[tokio::test]
async fn the_newest_events_are_shown() {
    let database = ojs_postgres_fixture::database();
    let stores = [ServerProcess::memory().await, ServerProcess::sqlite().await, ServerProcess::on(database.url(), &[]).await];
    for server in stores {
        for n in 0..150 {
            server.connect().await.post("/jobs", &json!({"type": format!("a.n{n}"), "args": []})).await.expect(201);
        }
        let three = says(&server, &["events", "--limit", "3"]).await;
        let types: Vec<&str> = three.lines().map(|line| line.split_whitespace().nth(3).unwrap()).collect();
        assert_eq!(types, ["a.n147", "a.n148", "a.n149"]);
        assert!(says(&server, &["events"]).await.contains("a.n50 "), "100 by default");
        assert_eq!(says(&server, &["events", "--limit", "0"]).await.lines().count(), 150);
        let old = says(&server, &["events", "--limit", "2", "--queues", "none"]).await;
        assert_eq!(old, "");
        let first = json_of(&server, &["events", "--after", "0.0", "--limit", "2"]).await;
        assert_eq!(first["items"][1]["data"]["job_type"], "a.n1");
        let next = first["next"].as_str().unwrap();
        let second = json_of(&server, &["events", "--after", next, "--limit", "2"]).await;
        assert_eq!(second["items"][0]["data"]["job_type"], "a.n2");
    }
}

#[tokio::test]
async fn workflows_are_listed_by_state() {
    let database = ojs_postgres_fixture::database();
    let stores = [ServerProcess::memory().await, ServerProcess::sqlite().await, ServerProcess::on(database.url(), &[]).await];
    for server in stores {
        let mut ids = Vec::new();
        for steps in 1..=3 {
            let steps: Vec<Value> = (0..steps).map(|_| json!({"type": "a.b", "args": []})).collect();
            let made =
                server.connect().await.post("/workflows", &json!({"type": "chain", "steps": steps})).await.expect(201).json();
            ids.push(made["workflow"]["id"].as_str().unwrap().to_owned());
        }
        says(&server, &["workflows", "cancel", &ids[0]]).await;
        let list = says(&server, &["workflows", "list", "--limit", "2"]).await;
        assert!(list.lines().nth(1).unwrap().starts_with(&ids[2]) && list.contains("0 of 3"), "{list}");
        assert!(list.ends_with("more: --page 2\n"), "{list}");
        let running = json_of(&server, &["workflows", "list", "--state", "running"]).await;
        assert_eq!(running["items"].as_array().unwrap().len(), 2);
        assert_eq!(json_of(&server, &["workflows", "list", "--state", "cancelled"]).await["items"][0]["id"], ids[0].as_str());
        assert!(fails(&server.url(), &["workflows", "list", "--state", "lost"], 1).await.contains("cancelled"));
    }
}

#[tokio::test]
async fn a_misspelt_queue_is_not_made() {
    let server = ServerProcess::memory().await;
    enqueue(&server, "mail", 1).await;
    let said = fails(&server.url(), &["queues", "pause", "mial"], 1).await;
    assert!(said.contains("no queue 'mial'") && said.contains("did you mean 'mail'?") && said.contains("--create"), "{said}");
    let said = fails(&server.url(), &["queues", "resume", "nosuch"], 1).await;
    assert!(!said.contains("did you mean") && said.contains("ojs queues list"), "{said}");
    assert!(fails(&server.url(), &["queues", "stats", "mial"], 1).await.contains("'mail'"));
    assert!(fails(&server.url(), &["queues", "show", "mial"], 1).await.contains("'mail'"));
    assert!(!says(&server, &["queues", "list"]).await.contains("mial"), "none was made");
    assert!(says(&server, &["queues", "pause", "default"]).await.contains("paused"), "it always exists");
    assert!(says(&server, &["queues", "pause", "nosuch", "--create"]).await.contains("nosuch: paused"));
    assert!(says(&server, &["queues", "show", "nosuch"]).await.contains("paused"));
}

#[tokio::test]
async fn dead_letters_are_retried_after_a_look_and_a_yes() {
    let server = ServerProcess::memory().await;
    let id = dead_letter(&server, "a.first").await;
    let all = ["dead-letter", "retry", "--all"];
    for which in [&["--all"][..], &["--all", "--type", "a.*"], &[id.as_str()]] {
        let said = says(&server, &[&["dead-letter", "retry", "--dry-run"][..], which].concat()).await;
        assert!(said.starts_with("1 would be retried: 0 would run, 1 would wait, 0 would be refused\n"), "{said}");
        assert!(said.contains("no_worker_for_queue") && said.contains("ojs workers list"), "{said}");
    }
    let none = says(&server, &["dead-letter", "retry", "--all", "--type", "b.c", "--dry-run"]).await;
    assert_eq!(none, "0 would be retried: 0 would run, 0 would wait, 0 would be refused\n");
    let answer = json_of(&server, &[&all[..], &["--dry-run"]].concat()).await;
    assert_eq!((&answer["would_wait"], &answer["reasons"][0]["job_id"]), (&json!(1), &json!(id)));
    // A test has no terminal: without --yes nothing happens.
    let said = fails(&server.url(), &all, 2).await;
    assert!(said.contains("retry 1 dead letters?") && said.contains("--yes"), "{said}");
    assert!(says(&server, &["dead-letter", "list"]).await.ends_with("1 of 1\n"));
    assert_eq!(says(&server, &[&all[..], &["--yes"]].concat()).await, format!("{id}: available\n"));
    assert_eq!(says(&server, &[&all[..], &["--yes"]].concat()).await, "0 retried\n");
}

#[tokio::test]
async fn show_is_another_name_of_get() {
    let server = ServerProcess::memory().await;
    let id = dead_letter(&server, "a.b").await;
    says(&server, &["crons", "add", "nightly", "0 3 * * *", "report.build"]).await;
    for (what, name) in [("jobs", id.as_str()), ("dead-letter", id.as_str()), ("crons", "nightly"), ("queues", "default")] {
        assert_eq!(says(&server, &[what, "show", name]).await, says(&server, &[what, "get", name]).await);
    }
    for what in ["workers", "workflows", "rate-limits"] {
        assert!(fails(&server.url(), &[what, "show", "nosuch"], 1).await.contains("not"), "{what}");
    }
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_a_command_quietly() {
    let server = ServerProcess::memory().await;
    enqueue(&server, "mail", 300).await;
    let binary = env!("CARGO_BIN_EXE_ojs");
    for (command, status) in [
        ("completions bash", 0),
        ("jobs list --limit 0", 0),
        ("jobs list --limit 0 --json", 0),
        ("events --limit 0", 0),
        ("queues nosuch", 2),
        ("jobs get nosuch", 1),
        ("jobs why nosuch", 1),
    ] {
        // The reader of both outputs has gone before the first byte is written.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut process = tokio::process::Command::new(binary);
        let process = process.args(command.split(' ')).env("OJS_URL", server.url());
        let process = process.stdout(writer.try_clone().unwrap()).stderr(writer);
        assert_eq!(process.status().await.unwrap().code(), Some(status), "{command}");
    }
}

#[tokio::test]
async fn what_cannot_be_written_is_a_failure() {
    let server = ServerProcess::memory().await;
    let script = format!("exec '{}' queues list > /dev/full", env!("CARGO_BIN_EXE_ojs"));
    let mut shell = tokio::process::Command::new("bash");
    let output = shell.args(["-c", &script]).env("OJS_URL", server.url()).output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));
}

#[tokio::test]
async fn unknown_options_are_refused_with_the_nearest_name() {
    let server = ServerProcess::memory().await;
    for (options, near) in [
        (r#"{"retries":5}"#, "retry"),
        (r#"{"retry":{"max_attemps":5}}"#, "max_attempts"),
        (r#"{"unique":{"key":["type"],"perod":"PT1M"}}"#, "period"),
        (r#"{"rate_limit":{"key":"api","concurency":5}}"#, "concurrency"),
    ] {
        let said = fails(&server.url(), &["jobs", "enqueue", "a.b", "--options", options], 2).await;
        assert!(said.contains(&format!("'{near}'")), "{options}: {said}");
    }
    let said = fails(&server.url(), &["jobs", "enqueue", "a.b", "--options", r#"{"timeout_ms":0}"#], 2).await;
    assert!(said.contains("timeout"), "{said}");
    assert_eq!(json_of(&server, &["jobs", "list"]).await["items"], json!([]), "nothing was enqueued");
}

#[tokio::test]
async fn an_empty_list_of_a_misspelt_queue_says_so() {
    let server = ServerProcess::memory().await;
    enqueue(&server, "mail", 1).await;
    for list in ["jobs", "dead-letter"] {
        let output = ojs(&server.url(), &[list, "list", "--queue", "mial"]).await;
        assert_eq!(output.status.code(), Some(0), "an empty list is no failure");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said, "ojs: there is no queue 'mial': did you mean 'mail'?\n");
        assert!(!output.stdout.is_empty(), "the heading is there");
    }
    says(&server, &["dead-letter", "list", "--queue", "mail"]).await;
}

#[tokio::test]
async fn attempts_are_named_as_in_the_languages_and_retries_are_refused() {
    let server = ServerProcess::memory().await;
    let job = json_of(&server, &["jobs", "enqueue", "a.b", "--retry", "5"]).await;
    assert_eq!(job["job"]["max_attempts"], 5);
    for option in ["--retries", "--max-retries"] {
        let said = fails(&server.url(), &["jobs", "enqueue", "a.b", option, "5"], 2).await;
        assert!(said.contains("--max-attempts N"), "{said}");
    }
}

#[tokio::test]
async fn hints_fit_the_error() {
    let server = ServerProcess::memory().await;
    assert!(fails(&server.url(), &["workers", "get", "w1"], 1).await.contains("30 s after its last heartbeat"));
    assert!(fails(&server.url(), &["jobs", "get", "x"], 1).await.contains("ojs jobs list"));
    assert!(fails(&server.url(), &["dead-letter", "get", "x"], 1).await.contains("ojs jobs retry"));
    assert!(fails(&server.url(), &["jobs", "retry", "x"], 1).await.contains("Job 'x' not found"));
    for family in ["trains", "tenants", "schemas", "push", "webhooks"] {
        let said = fails(&server.url(), &[family, "get", "x"], 1).await;
        assert!(said.contains(&format!("`ojs {family} list`")), "{said}");
    }
    let usage = fails(&server.url(), &["jobs", "bulk-retry", "--queue", "q"], 2).await;
    assert!(usage.contains("ojs jobs bulk-retry --all [FILTERS]"), "{usage}");
    let wrong = fails(&server.url(), &["jobs", "list", "--since", "yesterday"], 2).await;
    assert!(wrong.contains("or how long ago, such as 90s, 2h or 7d"), "{wrong}");
    says(&server, &["jobs", "enqueue", "recent.job"]).await;
    assert!(says(&server, &["jobs", "list", "--since", "2h"]).await.contains("recent.job"));
    assert!(!says(&server, &["jobs", "list", "--until", "2h"]).await.contains("recent.job"));
    assert!(fails(&server.url(), &["workflows", "get", "x"], 1).await.contains("ojs workflows list"));
    let said = fails(&server.url(), &["jobs", "enqueue", "SendMail"], 1).await;
    assert!(said.contains("got 'SendMail'") && !said.contains("details.field"), "{said}");
    let beat = json!({"worker_id": "w1", "active_jobs": 0});
    server.connect().await.post("/workers/heartbeat", &beat).await.expect(200);
    let said = fails(&server.url(), &["workers", "remove", "w1"], 1).await;
    assert!(said.contains("ojs workers terminate") && !said.contains("POST"), "{said}");
    // A server that is there and silent is not to be started again.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let output = ojs(&url, &["queues", "list", "--timeout", "1"]).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3) && said.contains("--timeout") && !said.contains("ojs server"), "{said}");
}
