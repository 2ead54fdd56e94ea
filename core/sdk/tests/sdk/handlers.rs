//! Rust handlers and the layers around them, against a played server.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Server, job, server};
use ojs::dispatch::CancelReason;
use ojs::middleware::Next;
use ojs::worker::{Beat, WorkerOptions};
use ojs::{Error, HandlerError, JobContext, Worker};
use serde_json::{Value, json};

fn worker() -> (Worker, Server) {
    let (transport, server) = server();
    (Worker::new(transport, WorkerOptions::default().concurrency(2).worker_id("w")), server)
}

/// Runs one job and returns the report: path and body.
async fn report(worker: Worker, mut server: Server, job: Value) -> (String, Value) {
    let handle = worker.start();
    server.plain().await;
    server.hand_out(&[job]).await;
    let report = loop {
        let call = server.hears_within(Duration::from_secs(600)).await.expect("a report");
        match call.path() {
            "/workers/fetch" => call.reply(200, json!({"jobs": []})),
            path => {
                let report = (path.to_owned(), call.body());
                call.reply(200, json!({}));
                break report;
            }
        }
    };
    drop(server);
    handle.stop(Some(Duration::ZERO));
    handle.wait().await;
    report
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_returns_is_the_result() {
    let (worker, server) = worker();
    worker
        .register("email.send", |ctx: JobContext| async move {
            let (factor,): (f64,) = ctx.args()?;
            Ok(json!({"id": ctx.id(), "type": ctx.job_type(), "attempt": ctx.attempt(), "queue": ctx.queue(), "factor": factor}))
        })
        .unwrap();
    let (path, body) = report(worker, server, job("a")).await;
    assert_eq!(path, "/workers/ack");
    assert_eq!(body["result"], json!({"id": "a", "type": "email.send", "attempt": 1, "queue": "default", "factor": 1.0}));
}

#[tokio::test(start_paused = true)]
async fn a_result_may_be_set_on_the_way() {
    let (worker, server) = worker();
    worker.register("email.send", |ctx: JobContext| async move { Ok(ctx.set_result(&json!([1]))?) }).unwrap();
    assert_eq!(report(worker, server, job("a")).await.1["result"], json!([1]));
}

#[tokio::test(start_paused = true)]
async fn errors_panics_and_missing_handlers_are_failures() {
    type Register = fn(&Worker) -> Result<(), Error>;
    let cases: Vec<(Register, Value)> = vec![
        (
            |w| w.register("email.send", |_| async { Err::<(), _>(std::io::Error::other("refused").into()) }),
            json!({"code": "handler_error", "type": "std::io::error::Error", "message": "refused", "retryable": true}),
        ),
        (
            |w| {
                w.register("email.send", |_| async {
                    Err::<(), _>(HandlerError::non_retryable("no such user").with_kind("NoUser"))
                })
            },
            json!({"code": "handler_error", "type": "NoUser", "message": "no such user", "retryable": false}),
        ),
        (
            |w| w.register("email.send", |_| async { Err::<(), _>(HandlerError::discard("old")) }),
            json!({"code": "DISCARD", "type": "DiscardError", "message": "old", "retryable": false}),
        ),
        (
            |w| {
                w.register("email.send", |_| async {
                    if true {
                        panic!("ouch {}", 1)
                    };
                    Ok(())
                })
            },
            json!({"code": "handler_panic", "type": "Panic", "message": "ouch 1", "retryable": true}),
        ),
        (
            |w| w.register("email.other", |_| async { Ok(()) }),
            json!({"code": "no_handler", "type": "NoHandler", "message": "No handler is registered for job type 'email.send'.", "retryable": false}),
        ),
        (
            |w| w.register_typed("email.send", |(_to,): (String,), _| async { Ok(()) }),
            json!({"code": "invalid_args", "type": "InvalidArgs", "retryable": false}),
        ),
    ];
    for (register, expected) in cases {
        let (worker, server) = worker();
        register(&worker).unwrap();
        let (path, body) = report(worker, server, job("a")).await;
        assert_eq!(path, "/workers/nack");
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(body["error"][name], *value, "{name} of {body}");
        }
        assert!(!body["error"]["message"].as_str().unwrap().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_snooze_is_no_failure() {
    let (worker, server) = worker();
    worker.register("email.send", |_| async { Err::<(), _>(HandlerError::snooze(Duration::from_secs(60))) }).unwrap();
    let (_, body) = report(worker, server, job("a")).await;
    assert_eq!((body["requeue"].clone(), body["delay_ms"].clone()), (json!(true), json!(60_000)));
}

#[tokio::test(start_paused = true)]
async fn layers_run_from_the_outside_in_and_back() {
    let (worker, server) = worker();
    let order = Arc::new(Mutex::new(Vec::new()));
    let layer = |name: &'static str| {
        let order = Arc::clone(&order);
        move |ctx: JobContext, next: Next| {
            let order = Arc::clone(&order);
            async move {
                order.lock().unwrap().push(format!("{name}-before"));
                let result = next.run(ctx).await;
                order.lock().unwrap().push(format!("{name}-after"));
                result
            }
        }
    };
    worker.use_middleware("first", layer("first")).unwrap();
    worker.use_middleware("second", layer("second")).unwrap();
    worker.register("email.send", |_| async { Ok(()) }).unwrap();
    report(worker, server, job("a")).await;
    assert_eq!(*order.lock().unwrap(), ["first-before", "second-before", "second-after", "first-after"]);
}

#[tokio::test(start_paused = true)]
async fn a_layer_may_answer_for_the_handler() {
    let (worker, server) = worker();
    worker.use_middleware("cache", |_: JobContext, _: Next| async { Ok(Some(ojs::Json::from(json!("cached")))) }).unwrap();
    worker
        .register("email.send", |_| async {
            if true {
                panic!("must not run")
            };
            Ok(())
        })
        .unwrap();
    assert_eq!(report(worker, server, job("a")).await.1["result"], "cached");
}

#[tokio::test(start_paused = true)]
async fn layers_leave_values_and_change_results() {
    let (worker, server) = worker();
    worker
        .use_middleware("user", |ctx: JobContext, next: Next| async move {
            ctx.set("user", "ada");
            let result = next.run(ctx).await?;
            Ok(Some(ojs::Json::from(json!({"wrapped": result.map(|json| json.to_value())}))))
        })
        .unwrap();
    worker.register("email.send", |ctx: JobContext| async move { Ok(ctx.get("user")) }).unwrap();
    assert_eq!(report(worker, server, job("a")).await.1["result"], json!({"wrapped": "ada"}));
}

#[tokio::test(start_paused = true)]
async fn the_chain_is_managed_by_name() {
    let (worker, _server) = worker();
    let layer = |ctx: JobContext, next: Next| next.run(ctx);
    let chain = worker.middleware();
    chain.add("logging", layer).unwrap();
    chain.add("metrics", layer).unwrap();
    chain.insert_before("metrics", "tracing", layer).unwrap();
    chain.insert_after("logging", "auth", layer).unwrap();
    chain.prepend("outermost", layer).unwrap();
    assert_eq!(chain.names(), ["outermost", "logging", "auth", "tracing", "metrics"]);
    chain.remove("logging").unwrap();
    assert_eq!(chain.names(), ["outermost", "auth", "tracing", "metrics"]);
    assert!(matches!(chain.insert_before("logging", "x", layer), Err(Error::UnknownMiddleware(name)) if name == "logging"));
    assert!(matches!(chain.insert_after("logging", "x", layer), Err(Error::UnknownMiddleware(_))));
    assert!(matches!(chain.remove("logging"), Err(Error::UnknownMiddleware(_))));
    assert!(matches!(chain.add("auth", layer), Err(Error::DuplicateMiddleware(_))));
}

#[tokio::test(start_paused = true)]
async fn a_type_has_one_handler() {
    let (worker, _server) = worker();
    worker.register("a.b", |_| async { Ok(()) }).unwrap();
    assert!(matches!(worker.register("a.b", |_| async { Ok(()) }), Err(Error::DuplicateHandler(_))));
}

#[tokio::test(start_paused = true)]
async fn workflows_show_in_the_context() {
    let (worker, server) = worker();
    worker
        .register("email.send", |ctx: JobContext| async move {
            let results: Vec<u32> = ctx.parent_results().expect("has parents").parse()?;
            Ok((ctx.workflow_id().map(str::to_owned), results))
        })
        .unwrap();
    let mut step = job("a");
    step["workflow_id"] = json!("wf");
    step["parent_results"] = json!([1, 2]);
    assert_eq!(report(worker, server, step).await.1["result"], json!(["wf", [1, 2]]));
}

#[tokio::test(start_paused = true)]
async fn a_handler_hears_that_its_time_is_up_and_is_aborted_if_it_does_not_listen() {
    let (worker, mut server) = worker();
    let (dropped, mut gone) = tokio::sync::mpsc::unbounded_channel::<CancelReason>();
    worker
        .register("email.send", move |ctx: JobContext| {
            let dropped = dropped.clone();
            async move {
                ctx.cancelled().await;
                dropped.send(ctx.cancel_reason().expect("cancelled")).unwrap();
                std::future::pending::<()>().await;
                Ok(())
            }
        })
        .unwrap();
    let mut short = job("a");
    short["timeout_ms"] = json!(100);
    let handle = worker.start();
    server.beats_alone();
    server.plain().await;
    server.expect("/workers/fetch").await.reply(200, json!({"jobs": [short.clone(), short]}));
    for _ in 0..2 {
        let nack = server.expect("/workers/nack").await;
        assert_eq!(nack.body()["error"]["code"], "timeout");
        nack.reply(200, json!({}));
        assert_eq!(gone.recv().await, Some(CancelReason::TimedOut));
    }
    // Both slots are free again only because the handlers were aborted.
    assert_eq!(server.expect("/workers/fetch").await.body()["count"], 2);
    handle.stop(None);
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_ask_whether_to_go_on() {
    let (worker, mut server) = worker();
    worker.register("email.send", |ctx: JobContext| async move { Ok(format!("{:?}", ctx.heartbeat().await?)) }).unwrap();
    let _handle = worker.start();
    server.plain().await;
    server.expect("/workers/fetch").await.reply(200, json!({"jobs": [job("a")]}));
    let beat = server.beat().await;
    assert_eq!(beat.body()["active_job_ids"], json!(["a"]));
    beat.reply(200, json!({"state": "running"}));
    let ack = loop {
        let call = server.hears_within(Duration::from_secs(9)).await.unwrap();
        if call.path() == "/workers/ack" {
            break call;
        }
    };
    assert_eq!(ack.body()["result"], format!("{:?}", Beat::Continue));
}

/// A worker with two slots that has run a few very short jobs, so that it fetches ahead.
async fn busy() -> (ojs::worker::WorkerHandle, Server, Arc<tokio::sync::Semaphore>) {
    let (worker, mut server) = worker();
    let gate = Arc::new(tokio::sync::Semaphore::new(2));
    let held = Arc::clone(&gate);
    worker
        .register("email.send", move |_| {
            let held = Arc::clone(&held);
            async move {
                held.acquire().await?.forget();
                Ok(())
            }
        })
        .unwrap();
    let handle = worker.start();
    server.beats_alone();
    server.plain().await;
    server.expect("/workers/fetch").await.reply(200, json!({"jobs": [job("warm-1"), job("warm-2")]}));
    (handle, server, gate)
}

/// Answers acks until the next fetch.
async fn next_fetch(server: &mut Server) -> crate::support::Call {
    loop {
        let call = server.hears_within(Duration::from_secs(600)).await.expect("a fetch");
        if call.path() == "/workers/fetch" {
            return call;
        }
        call.reply(200, json!({}));
    }
}

/// The jobs given back until nothing comes any more.
async fn given_back(server: &mut Server) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some(call) = server.hears_within(Duration::from_secs(1)).await {
        if call.path() == "/workers/nack" {
            assert_eq!(call.body()["requeue"], true);
            ids.push(call.body()["job_id"].as_str().unwrap().to_owned());
        }
        call.reply(200, json!({"jobs": []}));
    }
    ids
}

#[tokio::test(start_paused = true)]
async fn short_handlers_are_fed_ahead_and_the_rest_goes_back_on_quiet() {
    let (handle, mut server, _gate) = busy().await;
    let fetch = next_fetch(&mut server).await;
    assert!(fetch.body()["count"].as_u64().unwrap() > 2, "{}", fetch.body());
    fetch.reply(200, json!({"jobs": (0..5).map(|n| job(&format!("job-{n}"))).collect::<Vec<_>>()}));
    let fetch = next_fetch(&mut server).await;
    handle.quiet();
    assert_eq!(given_back(&mut server).await, ["job-2", "job-3", "job-4"], "two run, three waited");
    fetch.reply(200, json!({"jobs": []}));
    assert_eq!(handle.held(), 2);
}

#[tokio::test(start_paused = true)]
async fn jobs_do_not_wait_behind_handlers_that_became_slow() {
    let (handle, mut server, gate) = busy().await;
    next_fetch(&mut server).await.reply(200, json!({"jobs": (0..4).map(|n| job(&format!("job-{n}"))).collect::<Vec<_>>()}));
    let mut back = given_back(&mut server).await;
    back.extend(given_back(&mut server).await);
    assert_eq!(back, ["job-2", "job-3"]);
    assert_eq!(handle.held(), 2);
    gate.add_permits(2);
    assert_eq!(next_fetch(&mut server).await.body()["count"], 2, "no more fetching ahead");
}
