//! The client against a recorder: exact bodies, errors, layers around enqueueing.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ojs::middleware::EnqueueNext;
use ojs::testing::Recorder;
use ojs::transport::{self, BoxFuture, Request, Response, Transport, TransportError, TransportErrorKind};
use ojs::workflow::chain;
use ojs::{Client, CronJob, Error, JobRequest, Page};
use serde_json::{Value, json};

fn sent(recorder: &Recorder) -> (String, String, Value) {
    let request = recorder.requests().pop().expect("a request");
    let body = request.body.as_deref().map_or(Value::Null, |body| serde_json::from_slice(body).unwrap());
    (request.method.to_string(), request.path.to_string(), body)
}

#[tokio::test]
async fn the_mock_of_the_seed() {
    let mock = transport::from_fn(|request: Request| async move {
        if request.path == "/jobs" && request.method == "POST" {
            let body = json!({"job": {"id": "test-id", "type": "email.send", "state": "available", "args": ["test"]}});
            return Ok(Response::new(201, body.to_string()));
        }
        Err(TransportError::new(TransportErrorKind::Connect, format!("Unexpected request: {} {}", request.method, request.path)))
    });
    let job = Client::new(mock).enqueue("email.send", ["test"]).await.unwrap();
    assert_eq!(job.id, "test-id");
}

#[tokio::test]
async fn an_enqueue_is_type_and_args_and_nothing_else() {
    let recorder = Recorder::new();
    recorder.client().enqueue("email.send", ["test"]).await.unwrap();
    assert_eq!(recorder.requests()[0].body.as_deref(), Some(&br#"{"type":"email.send","args":["test"]}"#[..]));
    recorder.client().enqueue("email.send", "test").queue("mail").await.unwrap();
    assert_eq!(
        sent(&recorder),
        ("POST".into(), "/jobs".into(), json!({"type": "email.send", "args": ["test"], "options": {"queue": "mail"}}))
    );
}

#[tokio::test]
async fn a_batch_is_one_request() {
    let recorder = Recorder::new();
    let jobs =
        recorder.client().enqueue_batch([JobRequest::new("a.a", 1), JobRequest::new("b.b", ()).priority(5)]).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.as_ref().unwrap().job_type.as_str()).collect::<Vec<_>>(), ["a.a", "b.b"]);
    assert_eq!(
        recorder.requests()[0].body.as_deref().map(|b| String::from_utf8_lossy(b).into_owned()).as_deref(),
        Some(r#"{"jobs":[{"type":"a.a","args":[1]},{"type":"b.b","args":[],"options":{"priority":5}}]}"#)
    );
    assert!(recorder.client().enqueue_batch([]).await.unwrap().is_empty());
    assert_eq!(recorder.requests().len(), 1, "an empty batch is no request");
}

#[tokio::test]
async fn every_call_has_its_path() {
    let recorder = Recorder::new();
    let client = recorder.client();
    macro_rules! check {
        ($call:expr, $method:literal, $path:literal, $body:expr) => {
            let _ = $call.await;
            assert_eq!(sent(&recorder), ($method.to_owned(), $path.to_owned(), $body));
        };
    }
    check!(client.get_job("a/b"), "GET", "/jobs/a%2Fb", Value::Null);
    check!(client.cancel_job("x"), "DELETE", "/jobs/x", Value::Null);
    check!(client.cancel("x"), "DELETE", "/jobs/x", Value::Null);
    check!(client.activate("x"), "POST", "/jobs/x/activate", json!({}));
    check!(client.set_priority("x", 3), "PATCH", "/jobs/x", json!({"priority": 3}));
    check!(client.list_queues(), "GET", "/queues", Value::Null);
    check!(client.queue_stats("q"), "GET", "/queues/q/stats", Value::Null);
    check!(client.pause_queue("q"), "POST", "/queues/q/pause", json!({}));
    check!(client.resume_queue("q"), "POST", "/queues/q/resume", json!({}));
    check!(
        client.list_dead_letters(Some("q"), Page { limit: Some(5), offset: None }),
        "GET",
        "/dead-letter?queue=q&limit=5",
        Value::Null
    );
    check!(client.get_dead_letter("x"), "GET", "/dead-letter/x", Value::Null);
    check!(client.retry_dead_letter("x"), "POST", "/dead-letter/x/retry", json!({}));
    check!(client.delete_dead_letter("x"), "DELETE", "/dead-letter/x", Value::Null);
    let cron = CronJob::new("n", "@daily", JobRequest::new("t", ()));
    check!(client.register_cron(&cron), "POST", "/cron", Value::try_from(&cron).unwrap());
    check!(client.list_cron(), "GET", "/cron", Value::Null);
    check!(client.get_cron("n"), "GET", "/cron/n", Value::Null);
    check!(client.delete_cron("n"), "DELETE", "/cron/n", Value::Null);
    let definition = chain([JobRequest::new("t", ())]);
    check!(client.workflow(&definition), "POST", "/workflows", Value::try_from(&definition).unwrap());
    check!(client.get_workflow("w"), "GET", "/workflows/w", Value::Null);
    check!(client.cancel_workflow("w"), "DELETE", "/workflows/w", Value::Null);
    check!(client.health(), "GET", "/health", Value::Null);
    check!(client.manifest(), "GET", "/ojs/manifest", Value::Null);
}

#[tokio::test]
async fn errors_tell_transport_from_server_from_local() {
    let recorder = Recorder::new();
    let client = recorder.client();
    let refuse = |status: u16, body: Value| recorder.answer(Ok(Response::new(status, body.to_string())));

    refuse(
        409,
        json!({"error": {"code": "duplicate", "message": "exists", "retryable": false, "details": {"existing_job_id": "x"}, "request_id": "req_1"}}),
    );
    let error = client.enqueue("t", ()).await.unwrap_err();
    assert!(error.is_duplicate() && !error.is_retryable());
    assert_eq!(
        (error.status(), error.code(), error.ojs().unwrap().request_id.as_deref()),
        (Some(409), "duplicate", Some("req_1"))
    );

    for (code, details) in [
        ("conflict", json!({"reason": "invalid_state_transition"})),
        ("invalid_state_transition", json!({})),
        ("INVALID_STATE_TRANSITION", json!({})),
        ("invalid_request", json!({})),
    ] {
        refuse(409, json!({"error": {"code": code, "message": "no", "details": details}}));
        assert!(client.cancel("x").await.unwrap_err().is_invalid_state_transition(), "{code}");
    }

    refuse(404, json!({"code": "NOT_FOUND", "message": "flat"}));
    assert!(client.get_job("x").await.unwrap_err().is_not_found());

    refuse(503, json!({"error": {"code": "backend_unavailable", "message": "later"}}));
    assert!(client.get_job("x").await.unwrap_err().is_retryable());

    recorder.answer(Ok(Response::new(502, "<html>Bad Gateway</html>")));
    let error = client.get_job("x").await.unwrap_err();
    assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::NotOjs { status: 502 }), "{error:?}");
    assert!(error.is_retryable() && error.to_string().contains("Bad Gateway"));

    recorder.answer(Err(TransportError::new(TransportErrorKind::Connect, "refused")));
    let error = client.get_job("x").await.unwrap_err();
    assert!(error.is_retryable() && error.status().is_none() && error.ojs().is_none());

    recorder.answer(Ok(Response::new(200, "surprise")));
    assert!(matches!(client.get_job("x").await, Err(Error::Serialization { .. })));
}

#[tokio::test]
async fn a_degraded_server_still_has_a_health() {
    let recorder = Recorder::new();
    recorder.answer(Ok(Response::new(503, r#"{"status":"degraded"}"#)));
    assert_eq!(recorder.client().health().await.unwrap()["status"], "degraded");
}

#[tokio::test]
async fn layers_change_jobs_and_see_what_became_of_them() {
    let recorder = Recorder::new();
    let client = recorder.client();
    client
        .use_middleware("trace", |mut request: JobRequest, next: EnqueueNext| async move {
            request.meta.insert("trace_id".into(), json!("t1"));
            let job = next.run(request).await?;
            assert!(job.as_ref().is_some_and(|job| job.id.starts_with("recorded")));
            Ok(job)
        })
        .unwrap();
    client.enqueue("a.a", ()).await.unwrap();
    assert_eq!(recorder.assert_enqueued("a.a")["meta"], json!({"trace_id": "t1"}));
    assert!(matches!(client.middleware().remove("trace"), Err(Error::Frozen)));
    assert!(matches!(client.use_middleware("late", |request, next: EnqueueNext| next.run(request)), Err(Error::Frozen)));
}

/// A client that drops every job of type `spam`.
fn strict(recorder: &Recorder) -> Client {
    let client = recorder.client();
    client
        .use_middleware("filter", |request: JobRequest, next: EnqueueNext| async move {
            if request.job_type == "spam" { Ok(None) } else { next.run(request).await }
        })
        .unwrap();
    client
}

#[tokio::test]
async fn a_dropped_job_is_not_sent_and_the_caller_knows() {
    let recorder = Recorder::new();
    let client = strict(&recorder);
    assert_eq!(client.enqueue("spam", ()).send_optional().await.unwrap(), None);
    assert!(matches!(client.enqueue("spam", ()).await, Err(Error::NotEnqueued)));
    assert!(recorder.requests().is_empty());
}

#[tokio::test]
async fn layers_run_for_each_job_of_a_batch() {
    let recorder = Recorder::new();
    let client = strict(&recorder);
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    client
        .use_middleware("count", move |request: JobRequest, next: EnqueueNext| {
            let count = Arc::clone(&count);
            async move {
                let job_type = request.job_type.clone();
                let job = next.run(request).await?;
                assert_eq!(job.as_ref().map(|job| job.job_type.as_str()), Some(job_type.as_str()), "each gets its own answer");
                count.fetch_add(1, Ordering::SeqCst);
                Ok(job)
            }
        })
        .unwrap();
    let jobs = client.enqueue_batch(["a", "spam", "b"].map(|job_type| JobRequest::new(job_type, ()))).await.unwrap();
    assert_eq!(
        jobs.iter().map(|job| job.as_ref().map(|job| job.job_type.as_str())).collect::<Vec<_>>(),
        [Some("a"), None, Some("b")]
    );
    assert_eq!((recorder.requests().len(), recorder.enqueued().len(), seen.load(Ordering::SeqCst)), (1, 2, 2));
    assert!(client.enqueue_batch([JobRequest::new("spam", ())]).await.unwrap()[0].is_none());
    assert_eq!(recorder.requests().len(), 1, "nothing left, nothing sent");
}

#[tokio::test]
async fn a_failing_layer_stops_the_whole_batch() {
    let recorder = Recorder::new();
    let client = recorder.client();
    client
        .use_middleware("validate", |request: JobRequest, next: EnqueueNext| async move {
            if request.job_type == "bad" { Err(Error::Middleware("bad".into())) } else { next.run(request).await }
        })
        .unwrap();
    let batch = ["a", "bad", "b"].map(|job_type| JobRequest::new(job_type, ()));
    assert!(matches!(client.enqueue_batch(batch).await, Err(Error::Middleware(_))));
    assert!(recorder.requests().is_empty());
}

#[tokio::test]
async fn a_refused_batch_reaches_every_layer_and_the_caller() {
    let recorder = Recorder::new();
    let client = strict(&recorder);
    recorder.answer(Ok(Response::new(
        400,
        json!({"error": {"code": "invalid_payload", "message": "no", "details": {"index": 1}}}).to_string(),
    )));
    let error = client.enqueue_batch(["a", "b"].map(|job_type| JobRequest::new(job_type, ()))).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("invalid_payload", Some(400)));
}

/// A transport that says it resends; the first `sends` of its answer tells that it did.
struct Resending {
    recorder: Recorder,
    sends: u32,
}

impl Transport for Resending {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let resend = request.resend;
            let mut response = self.recorder.request(request).await?;
            response.sends = if resend { self.sends } else { 1 };
            Ok(response)
        })
    }

    fn resends(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn jobs_that_may_be_sent_twice_have_an_id_of_their_own() {
    let recorder = Recorder::new();
    let client = Client::new(Arc::new(Resending { recorder: recorder.clone(), sends: 1 }));
    let job = client.enqueue("a.a", ()).await.unwrap();
    let body = recorder.assert_enqueued("a.a");
    assert_eq!(body["id"], json!(job.id));
    assert!(job.id.parse::<ojs::JobId>().is_ok());
    assert!(recorder.requests()[0].resend);
    client.enqueue_batch([JobRequest::new("b.b", ())]).await.unwrap();
    assert!(recorder.assert_enqueued("b.b")["id"].is_string());
}

#[tokio::test]
async fn a_duplicate_of_itself_is_success() {
    let recorder = Recorder::new();
    let id = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";
    let duplicate = |existing: &str| {
        Ok(Response::new(
            409,
            json!({"error": {"code": "duplicate", "message": "exists", "details": {"existing_job_id": existing}}}).to_string(),
        ))
    };
    let found = || Ok(Response::new(200, json!({"job": {"id": id, "type": "a.a", "state": "available"}}).to_string()));
    let twice = Client::new(Arc::new(Resending { recorder: recorder.clone(), sends: 2 }));
    recorder.answer(duplicate(id));
    recorder.answer(found());
    assert_eq!(twice.enqueue("a.a", ()).id(id).await.unwrap().id, id);
    recorder.answer(duplicate("another"));
    assert!(twice.enqueue("a.a", ()).id(id).await.unwrap_err().is_duplicate(), "a unique policy refused it");
    recorder.answer(duplicate(id));
    recorder.answer(found());
    assert_eq!(twice.enqueue_batch([JobRequest::new("a.a", ()).with_id(id)]).await.unwrap()[0].as_ref().unwrap().id, id);
    let once = Client::new(Arc::new(Resending { recorder: recorder.clone(), sends: 1 }));
    recorder.answer(duplicate(id));
    assert!(once.enqueue("a.a", ()).id(id).await.unwrap_err().is_duplicate(), "sent once, the job is somebody else's");
}

#[tokio::test]
async fn raw_calls_pass_text_through() {
    let recorder = Recorder::new();
    let client = recorder.client();
    let text = r#"{"type":"a.a","args":[1.0, 1e3],"x_own":{"b":1,"a":2}}"#;
    client.enqueue_raw(text.into()).await.unwrap();
    assert_eq!(recorder.requests()[0].body.as_deref(), Some(text.as_bytes()));
    client.enqueue_batch_raw(format!("[{text}]").into()).await.unwrap();
    assert_eq!(recorder.requests()[1].body.as_deref(), Some(format!("{{\"jobs\":[{text}]}}").as_bytes()));
    assert!(matches!(client.enqueue_raw("[]".into()).await, Err(Error::Validation { .. })));
    assert!(matches!(client.enqueue_batch_raw("{}".into()).await, Err(Error::Validation { .. })));
}

/// A server without a route for results, whose job ends at the second look, and whose empty lists are null.
fn foreign() -> (Client, Arc<AtomicUsize>) {
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    let transport = transport::from_fn(move |request: Request| {
        let looks = Arc::clone(&counted);
        async move {
            let job = |state: &str| json!({"job": {"id": "a", "type": "t", "state": state, "args": [], "result": {"n": 1}}});
            let answer = match &*request.path {
                "/jobs/a" if looks.fetch_add(1, Ordering::SeqCst) == 0 => (200, job("active")),
                "/jobs/a" => (200, job("completed")),
                "/jobs/held" => (200, job("active")),
                path if path.starts_with("/dead-letter") => (200, json!({"jobs": null, "total": 0})),
                _ => (404, json!({"error": {"code": "not_found", "message": "no such thing"}})),
            };
            Ok(Response::new(answer.0, answer.1.to_string()))
        }
    });
    (Client::new(transport), looks)
}

#[tokio::test(start_paused = true)]
async fn a_result_comes_from_the_job_where_the_server_has_no_results() {
    let (client, looks) = foreign();
    let result = client.wait_for_result("a", Duration::from_secs(10)).await.unwrap();
    assert_eq!((result.job_id.as_str(), result.state.as_str()), ("a", "completed"));
    assert_eq!(result.result.unwrap().as_str(), r#"{"n":1}"#);
    assert_eq!(looks.load(Ordering::SeqCst), 2);
    assert_eq!(client.wait_for_result("held", Duration::from_secs(3)).await.unwrap_err().status(), Some(408));
    assert!(client.wait_for_result("none", Duration::from_secs(3)).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn a_list_that_is_null_is_empty() {
    let (client, _) = foreign();
    assert!(client.list_dead_letters(None, Page::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn wrong_options_are_refused_before_anything_is_sent() {
    let recorder = Arc::new(Recorder::new());
    let client = recorder.client();
    for (options, message) in [
        (r#"{"retries":3}"#, "options.retries: unknown option 'retries'; did you mean 'retry'? There are queue, priority,"),
        (
            r#"{"retry":{"max_attemps":3}}"#,
            "retry.max_attemps: unknown option 'max_attemps' of retry; did you mean 'max_attempts'? There are max_attempts,",
        ),
        (
            r#"{"unique":{"onConflikt":"ignore"}}"#,
            "unique.onConflikt: unknown option 'onConflikt' of unique; did you mean 'on_conflict'? There are keys,",
        ),
        (r#"{"rate_limit":{"per_secnd":1}}"#, "rate_limit.per_secnd: unknown option 'per_secnd' of rate_limit"),
        (r#"{"timeout_ms":0}"#, "timeout: must be longer than zero"),
        (r#"{"delay":"-5s"}"#, "delay: must be a length of time"),
        (r#"{"delay_until":"+-PT5S"}"#, "delay_until: must not be negative"),
        (r#"[]"#, "options: must be a JSON object"),
    ] {
        let job = format!(r#"{{"type":"t","args":[],"options":{options}}}"#);
        let error = client.enqueue_raw(job.clone().into()).await.unwrap_err();
        assert!(matches!(error, Error::Validation { .. }) && error.to_string().contains(message), "{options}: {error}");
        let error = client.enqueue_batch_raw(format!(r#"[{{"type":"t","args":[]}},{job}]"#).into()).await.unwrap_err();
        assert!(error.to_string().contains(&format!("jobs[1].{}", message.split(':').next().unwrap())), "{error}");
    }
    assert!(recorder.requests().is_empty());
}

#[tokio::test]
async fn defaults_of_a_type_fill_in_what_is_left_out() {
    use ojs::{JobOptions, UniquePolicy, defaults};
    let recorder = Arc::new(Recorder::new());
    let client = recorder.client();
    defaults::set(
        "defaults.test",
        JobOptions::new().queue("mail").priority(5).timeout(Duration::from_secs(3)).unique(UniquePolicy::by(["type"])),
    )
    .unwrap();
    let options = || sent(&recorder).2["options"].clone();
    client.enqueue("defaults.test", ()).await.unwrap();
    let unique = json!({"keys": ["type"], "key": ["type"]});
    assert_eq!(options(), json!({"queue": "mail", "priority": 5, "timeout_ms": 3000, "unique": unique}));
    client.enqueue("defaults.test", ()).queue("default").priority(0).option("unique", false).await.unwrap();
    assert_eq!(options(), json!({"queue": "default", "priority": 0, "timeout_ms": 3000}), "what is named wins");
    client.enqueue("defaults.other", ()).await.unwrap();
    assert_eq!(options(), Value::Null);
    assert!(defaults::set_json("defaults.test", r#"{"retries":1}"#).is_err());
    defaults::set_json("defaults.test", "{}").unwrap();
    client.enqueue("defaults.test", ()).await.unwrap();
    assert_eq!(options(), Value::Null);
}
