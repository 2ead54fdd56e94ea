//! The SDK against servers that offer less or write differently: features are missing there, jobs are not. The doubles
//! speak the wire of `openjobspec/ojs-backend-redis` (`internal/api`, `internal/core`, `internal/redis` at 4b97dc23,
//! 096360c1 and 35241fb8), whose handlers `ojs-backend-lite` and `ojs-backend-postgres` share; the cited lines are
//! where the bytes come from.
#![cfg(feature = "http")]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::double::{Double, Words};
use ojs::transport::Enqueued;
use ojs::worker::{WorkerEvent, WorkerOptions};
use ojs::{Client, HandlerError, JobContext, Page, Worker};
use serde_json::{Value, json};

const OJS: &str = "application/openjobspec+json";
const JOB: &str = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

/// handler_system.go 20-35: capabilities are a list, extensions are not named.
const MANIFEST: &str = r#"{"capabilities":["push","fetch","ack","fail","cancel","info","heartbeat","dead-letter","retry","cron","scheduled","workflows","batch","priority","unique","queue-pause","queue-stats"],"implementation":{"backend":"redis","name":"ojs-backend-redis","version":"0.1.0"},"levels":[0,1,2,3,4],"specversion":"1.0.0-rc.1"}
"#;

/// chi, where no route fits (server.go): the text of net/http.
fn no_route() -> Words {
    (404, "text/plain; charset=utf-8", "404 page not found\n".to_owned())
}

fn said(status: u16, body: &Value) -> Words {
    // json.Encoder ends with a line feed (errors.go 35-41).
    (status, OJS, format!("{body}\n"))
}

/// errors.go 17-29, core/errors.go.
fn refused(status: u16, code: &str, message: &str) -> Words {
    said(status, &json!({"error": {"code": code, "message": message, "retryable": false, "request_id": "req_1"}}))
}

/// core/job.go 74-165: no member without a value, attempts counted from 0 (redis/jobs.go 26).
fn job(id: &str, attempt: u32) -> Value {
    json!({"args": [7], "attempt": attempt, "created_at": "2026-02-12T10:30:00.000Z", "enqueued_at": "2026-02-12T10:30:00.000Z",
        "id": id, "queue": "default", "started_at": "2026-02-12T10:30:01.000Z", "state": "active", "type": "email.send"})
}

/// handler_workers.go 25-64, one job a call; 0 and 1 are the numbers of the first two attempts.
fn fetched(calls: &AtomicUsize, most: usize) -> Words {
    match calls.fetch_add(1, Ordering::SeqCst) {
        n if n < most => {
            let job = job(JOB, u32::try_from(n).unwrap());
            said(200, &json!({"job": job, "jobs": [job]}))
        }
        _ => said(200, &json!({"jobs": []})),
    }
}

/// handler_workers.go 120-153: a number is no []string; the word for "go on" is another one (redis/workers.go).
fn beaten(body: &Value) -> Words {
    if body["active_jobs"].is_number() {
        return refused(400, "invalid_request", "Invalid JSON in request body.");
    }
    said(
        200,
        &json!({"state": "active", "directive": "continue", "jobs_extended": body["active_jobs"], "server_time": "2026-02-12T10:30:02.000Z"}),
    )
}

fn worker(client: &Client) -> Worker {
    let options = WorkerOptions::default().concurrency(2).worker_id("w").heartbeat_interval(Duration::from_millis(20));
    Worker::new(client.transport().clone(), options)
}

#[tokio::test(flavor = "multi_thread")]
async fn without_exchange_each_job_is_fetched_and_acked_and_attempts_begin_with_one() {
    let calls = AtomicUsize::new(0);
    let mut double = Double::speaking(move |line, body| match line {
        "GET /ojs/manifest" => (200, OJS, MANIFEST.to_owned()),
        "POST /ojs/v1/workers/fetch" => fetched(&calls, 2),
        "POST /ojs/v1/workers/heartbeat" => beaten(body),
        // redis/jobs.go 357-364 and 255-261
        "POST /ojs/v1/workers/nack" => said(
            200,
            &json!({"attempt": 1, "job_id": body["job_id"], "max_attempts": 3,
            "next_attempt_at": "2026-02-12T10:30:03.000Z", "state": "retryable"}),
        ),
        "POST /ojs/v1/workers/ack" => said(
            200,
            &json!({"acknowledged": true, "completed_at": "2026-02-12T10:30:04.000Z",
            "job_id": body["job_id"], "state": "completed"}),
        ),
        _ => no_route(),
    })
    .await;
    let client = Client::connect(&double.url).await.unwrap();
    let worker = worker(&client);
    worker
        .register("email.send", |ctx: JobContext| async move {
            match ctx.attempt() {
                1 => Err(HandlerError::new("the first attempt fails")),
                attempt => Ok(json!({"attempt": attempt})),
            }
        })
        .unwrap();
    let handle = worker.start();
    let nack = double.hears("POST /ojs/v1/workers/nack").await;
    assert_eq!((&nack["error"]["message"], &nack["job_id"]), (&json!("the first attempt fails"), &json!(JOB)));
    assert!(nack.get("lease_token").is_none(), "this server has none");
    let ack = double.hears("POST /ojs/v1/workers/ack").await;
    assert_eq!(ack["result"], json!({"attempt": 2}));
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_that_is_refused_is_sent_as_a_list_from_then_on() {
    let calls = AtomicUsize::new(0);
    let mut double = Double::speaking(move |line, body| match line {
        "GET /ojs/manifest" => (200, OJS, MANIFEST.to_owned()),
        "POST /ojs/v1/workers/fetch" => fetched(&calls, 1),
        "POST /ojs/v1/workers/heartbeat" => beaten(body),
        "POST /ojs/v1/workers/ack" => said(200, &json!({"acknowledged": true, "state": "completed"})),
        _ => no_route(),
    })
    .await;
    let client = Client::connect(&double.url).await.unwrap();
    let worker = worker(&client);
    let (end, ended) = tokio::sync::watch::channel(false);
    worker
        .register("email.send", move |_| {
            let mut ended = ended.clone();
            async move {
                // A test that has failed sends nothing any more.
                let _ = ended.wait_for(|ended| *ended).await;
                Ok(())
            }
        })
        .unwrap();
    let handle = worker.start();
    let mut held = Value::Null;
    while held != json!([JOB]) {
        held = double.hears("POST /ojs/v1/workers/heartbeat").await["active_jobs"].clone();
    }
    let next = double.hears("POST /ojs/v1/workers/heartbeat").await;
    assert!(next["active_jobs"].is_array(), "it is remembered");
    end.send(true).unwrap();
    double.hears("POST /ojs/v1/workers/ack").await;
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_that_the_job_s_state_forbids_is_lost_and_not_repeated() {
    let calls = AtomicUsize::new(0);
    let mut double = Double::speaking(move |line, _| match line {
        "GET /ojs/manifest" => (200, OJS, MANIFEST.to_owned()),
        "POST /ojs/v1/workers/fetch" => fetched(&calls, 1),
        // redis/jobs.go 232-243, written with 409 and this code by handler_workers.go 84-91
        "POST /ojs/v1/workers/ack" => {
            refused(409, "invalid_request", "Cannot acknowledge job not in 'active' state. Current state: 'completed'.")
        }
        _ => said(200, &json!({"state": "active"})),
    })
    .await;
    let client = Client::connect(&double.url).await.unwrap();
    let worker = worker(&client);
    worker.register("email.send", |_| async { Ok(()) }).unwrap();
    let handle = worker.start();
    let mut events = handle.events();
    let lost = async {
        loop {
            if let WorkerEvent::OutcomeLost { error, .. } = events.recv().await.unwrap() {
                return error;
            }
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(60), lost).await.unwrap().is_invalid_state_transition());
    handle.shutdown(None).await;
    let mut acks = 0;
    while let Ok((line, _)) = double.heard.try_recv() {
        acks += usize::from(line == "POST /ojs/v1/workers/ack");
    }
    assert_eq!(acks, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_that_are_null_are_empty() {
    let double = Double::speaking(|line, _| match line.split('?').next().unwrap_or_default() {
        // handler_queues.go 25-42: a nil slice is null.
        "GET /ojs/v1/queues" => {
            said(200, &json!({"pagination": {"has_more": false, "limit": 50, "offset": 0, "total": 0}, "queues": null}))
        }
        "GET /ojs/v1/dead-letter" => said(200, &json!({"jobs": null, "pagination": {"total": 0}})),
        "GET /ojs/v1/cron" => said(200, &json!({"crons": null})),
        "POST /ojs/v1/workers/fetch" => said(200, &json!({"jobs": null})),
        _ => no_route(),
    })
    .await;
    let client = Client::connect(&double.url).await.unwrap();
    assert!(client.list_queues().await.unwrap().is_empty());
    assert!(client.list_dead_letters(None, Page::default()).await.unwrap().is_empty());
    assert!(client.list_cron().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_comes_from_the_job_where_there_is_no_route_for_results() {
    let looks = AtomicUsize::new(0);
    let double = Double::speaking(move |line, _| match line {
        "GET /ojs/v1/jobs/019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f" => {
            let mut job = job(JOB, 0);
            if looks.fetch_add(1, Ordering::SeqCst) > 0 {
                job["state"] = json!("completed");
                job["result"] = json!({"sent": true});
            }
            // handler_jobs.go: `{"job": …}`
            said(200, &json!({"job": job}))
        }
        _ => no_route(),
    })
    .await;
    let client = Client::connect(&double.url).await.unwrap();
    let result = client.wait_for_result(JOB, Duration::from_secs(60)).await.unwrap();
    assert_eq!((result.state.as_str(), result.result.unwrap().as_str()), ("completed", r#"{"sent":true}"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_in_other_forms_mean_the_same() {
    let words: Vec<(Words, Option<&str>, u16)> = vec![
        (refused(404, "not_found", "Job 'x' not found."), Some("not_found"), 404),
        // Flat, and a name with a message (protocol section 4.1).
        (said(404, &json!({"code": "not_found", "message": "no such job"})), Some("not_found"), 404),
        (said(404, &json!({"error": "not_found", "message": "no such job"})), Some("not_found"), 404),
        (no_route(), None, 404),
        // A proxy in front.
        ((502, "text/html", "<html>Bad Gateway</html>".to_owned()), None, 502),
    ];
    for ((status, media, body), code, expected) in words {
        let text = body.clone();
        let double = Double::speaking(move |_, _| (status, media, body.clone())).await;
        let client = Client::builder().url(&double.url).resend(ojs::transport::ResendPolicy::never()).connect().await.unwrap();
        let error = client.get_job(JOB).await.unwrap_err();
        assert_eq!((error.status(), error.ojs().map(|error| &*error.code)), (Some(expected), code), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_are_written_otherwise_do_not_keep_a_job_from_its_handler() {
    let calls = AtomicUsize::new(0);
    let mut double = Double::speaking(move |line, body| match line {
        "POST /ojs/v1/workers/fetch" if calls.fetch_add(1, Ordering::SeqCst) == 0 => {
            let mut odd = job("1", 1);
            for (name, value) in [
                ("timeout", json!("30s")),
                ("timeout_ms", json!("30000")),
                ("max_attempts", json!(null)),
                ("lease_token", json!("abc")),
            ] {
                odd[name] = value;
            }
            said(200, &json!({"jobs": [odd]}))
        }
        "POST /ojs/v1/workers/fetch" => said(200, &json!({"jobs": []})),
        "POST /ojs/v1/workers/ack" => said(200, body),
        _ => no_route(),
    })
    .await;
    let client = Client::connect(&double.url).await.unwrap();
    let worker = worker(&client);
    worker.register("email.send", |ctx: JobContext| async move { Ok(json!(ctx.attempt())) }).unwrap();
    let handle = worker.start();
    assert_eq!(double.hears("POST /ojs/v1/workers/ack").await["result"], 1);
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_and_a_worker_that_connected_apart_share_what_is_enqueued() {
    let double = Double::speaking(|line, _| match line {
        "POST /ojs/v1/jobs" => said(201, &json!({"job": job("1", 0)})),
        _ => no_route(),
    })
    .await;
    let (client, other) = (Client::connect(&double.url).await.unwrap(), Client::connect(&double.url).await.unwrap());
    let mut told = other.transport().enqueue_signal().map(Enqueued::listen).unwrap();
    assert!(client.get_job("1").await.is_err());
    assert!(!told.has_changed().unwrap(), "a refusal and a question enqueue nothing");
    client.enqueue("email.send", 7).await.unwrap();
    assert!(told.has_changed().unwrap());
    told.mark_unchanged();
}
