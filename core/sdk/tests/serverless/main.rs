//! Handlers in functions: batches of SQS against an engine, signed push deliveries, and a function in AWS's own
//! runtime.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
mod clouds;
#[path = "../support/log.rs"]
mod log;
mod references;
mod routes;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method};
use log::Log;
use ojs::serverless::{LambdaHandler, PushHandler};
use ojs::transport::Request;
use ojs::{Client, HandlerError, JobContext, JobState, Worker};
use serde_json::{Value, json};

const SECRET: &str = "whsec_test_secret";
const NOW: i64 = 1_708_030_665;
const FIFO: &str = "arn:aws:sqs:eu-west-1:1:ojs.fifo";

/// An engine whose jobs are handed out as the sender of push deliveries does it.
struct Server {
    client: Client,
}

impl Server {
    async fn new() -> Self {
        Self { client: Client::connect("memory:").await.unwrap() }
    }

    async fn request(&self, request: Request) -> Value {
        let answer = self.client.transport().request(request).await.unwrap();
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// Jobs of type `email.send`, leased to an endpoint.
    async fn leased(&self, args: &[&str]) -> Vec<Value> {
        for arg in args {
            // A job that has failed waits longer than a busy machine needs for the test.
            let retry = json!({"initial_interval": "PT5M"});
            let job = json!({"type": "email.send", "args": [arg], "options": {"retry": retry}});
            self.request(Request::post("/jobs", job.to_string())).await;
        }
        self.claimed(args.len()).await
    }

    /// So many jobs that are available, leased to an endpoint.
    async fn claimed(&self, count: usize) -> Vec<Value> {
        let claim = json!({"queues": ["default"], "count": count, "worker_id": "push_worker_01234567"});
        let answer = self.request(Request::post("/workers/fetch", claim.to_string())).await;
        answer["jobs"].as_array().unwrap().clone()
    }

    async fn states(&self, jobs: &[Value]) -> Vec<JobState> {
        let mut states = Vec::new();
        for job in jobs {
            states.push(self.client.get_job(job["id"].as_str().unwrap()).await.unwrap().state);
        }
        states
    }
}

/// The ids of jobs that have run.
type Ran = Arc<Mutex<Vec<String>>>;

fn register(handler: &PushHandler) -> Ran {
    let ran = Ran::default();
    let noted = Arc::clone(&ran);
    let run = move |ctx: JobContext| {
        noted.lock().unwrap().push(ctx.id().to_owned());
        async move {
            match ctx.arg::<String>(0)?.as_str() {
                "fail" => Err(HandlerError::new("boom")),
                "decline" => Err(HandlerError::non_retryable("no")),
                "later" => Err(HandlerError::snooze(Duration::from_secs(90))),
                "panic" => panic!("in a handler"),
                other => Ok(format!("sent to {}", other.len())),
            }
        }
    };
    handler.register("email.send", run).unwrap();
    ran
}

/// A handler over the engine.
async fn over(server: &Server) -> (LambdaHandler, Ran) {
    let handler: LambdaHandler = LambdaHandler::builder().worker(Worker::for_client(&server.client)).build().await.unwrap();
    let ran = register(&handler);
    (handler, ran)
}

/// A handler without a server.
async fn alone() -> (LambdaHandler, Ran) {
    let handler: LambdaHandler = LambdaHandler::builder().signing_secret(SECRET).clock(|| NOW).build().await.unwrap();
    let ran = register(&handler);
    (handler, ran)
}

/// An event of SQS with messages `m0`, `m1` …
fn sqs(bodies: &[Value], arn: &str, groups: &[&str], received: u32) -> Value {
    let records = bodies.iter().enumerate().map(|(place, body)| {
        let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let group = groups.get(place).copied().unwrap_or("g");
        json!({
            "messageId": format!("m{place}"), "body": text, "eventSourceARN": arn,
            "attributes": {"ApproximateReceiveCount": received.to_string(), "MessageGroupId": group},
        })
    });
    json!({"Records": records.collect::<Vec<_>>()})
}

fn failures(answer: &Value) -> Vec<String> {
    let items = answer["batchItemFailures"].as_array().unwrap();
    items.iter().map(|item| item["itemIdentifier"].as_str().unwrap().to_owned()).collect()
}

fn job(arg: &str) -> Value {
    json!({"id": "019539a4-0000-7000-8000-000000000001", "type": "email.send", "args": [arg], "attempt": 1})
}

const STANDARD: &str = "arn:aws:sqs:eu-west-1:1:ojs";

#[tokio::test]
async fn a_batch_acks_and_nacks_at_the_server() {
    let server = Server::new().await;
    let (handler, ran) = over(&server).await;
    let jobs = server.leased(&["ok", "fail", "decline", "panic"]).await;
    let mut bodies = jobs.clone();
    bodies.push(json!("not a job"));
    let answer = handler.handle_sqs(sqs(&bodies, STANDARD, &[], 1), None).await.unwrap();
    assert_eq!(failures(&answer), ["m4"], "the server has the others");
    use JobState::{Completed, Discarded, Retryable};
    assert_eq!(server.states(&jobs).await, [Completed, Retryable, Discarded, Retryable]);
    assert_eq!(ran.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn without_a_server_the_queue_learns_of_every_failure() {
    let (handler, _) = alone().await;
    let answer = handler.handle_sqs(sqs(&[job("ok"), job("fail"), job("decline")], STANDARD, &[], 1), None).await.unwrap();
    assert_eq!(failures(&answer), ["m1", "m2"]);
}

#[tokio::test]
async fn scenario_41_fifo_stops_a_group_at_its_first_failure_and_goes_on_with_others() {
    let server = Server::new().await;
    let (handler, ran) = over(&server).await;
    let jobs = server.leased(&["ok", "fail", "ok", "ok", "ok"]).await;
    let answer = handler.handle_sqs(sqs(&jobs, FIFO, &["a", "a", "a", "b", "a"], 1), None).await.unwrap();
    assert_eq!(failures(&answer), ["m1", "m2", "m4"]);
    use JobState::{Active, Completed, Retryable};
    assert_eq!(server.states(&jobs).await, [Completed, Retryable, Active, Completed, Active]);
    assert_eq!(ran.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_message_that_comes_again_is_compared_with_the_server() {
    let server = Server::new().await;
    let (handler, ran) = over(&server).await;
    let jobs = server.leased(&["fail", "ok", "ok"]).await;
    handler.handle_sqs(sqs(&jobs[..1], STANDARD, &[], 1), None).await.unwrap();
    server.client.cancel_job(jobs[1]["id"].as_str().unwrap()).await.unwrap();
    ran.lock().unwrap().clear();
    let mut bodies = jobs.clone();
    bodies.push(job("gone"));
    let answer = handler.handle_sqs(sqs(&bodies, STANDARD, &[], 2), None).await.unwrap();
    assert!(failures(&answer).is_empty(), "{answer}");
    assert_eq!(*ran.lock().unwrap(), [jobs[2]["id"].as_str().unwrap()], "its lease holds");
}

#[tokio::test]
async fn a_reference_is_completed_from_the_server_with_its_checkpoint() {
    let server = Server::new().await;
    let (handler, _) = over(&server).await;
    handler
        .register("report.build", |ctx: JobContext| async move {
            let page: Option<u32> = ctx.load_checkpoint()?;
            ctx.checkpoint(&8).await?;
            ctx.progress(0.5, None);
            Ok((ctx.arg::<String>(0)?.len(), page))
        })
        .unwrap();
    server.client.enqueue("report.build", ("x".repeat(400_000),)).await.unwrap();
    let mut job = server.claimed(1).await.remove(0);
    let id = job["id"].as_str().unwrap().to_owned();
    let mut save = Request::new(Method::PUT, format!("/jobs/{id}/checkpoint"));
    save.body = Some(json!({"state": 7, "worker_id": job["worker_id"], "lease_token": job["lease_token"]}).to_string().into());
    server.request(save).await;
    job.as_object_mut().unwrap().remove("args");
    job["checkpoint_ref"] = true.into();
    let answer = handler.handle_sqs(sqs(&[job], STANDARD, &[], 1), None).await.unwrap();
    assert!(failures(&answer).is_empty(), "{answer}");
    let done = server.client.get_job(&id).await.unwrap();
    assert_eq!(done.state, JobState::Completed);
    let result = server.client.result(&id).await.unwrap();
    assert_eq!(result.result.unwrap().parse::<Value>().unwrap(), json!([400_000, 7]));
}

#[tokio::test]
async fn a_job_whose_checkpoint_the_server_does_not_have_runs_without_it() {
    let server = Server::new().await;
    let (handler, ran) = over(&server).await;
    let mut jobs = server.leased(&["ok"]).await;
    let members = jobs[0].as_object_mut().unwrap();
    members.remove("args");
    members.insert("checkpoint_ref".to_owned(), true.into());
    let answer = handler.handle_sqs(sqs(&jobs, STANDARD, &[], 1), None).await.unwrap();
    assert!(failures(&answer).is_empty(), "{answer}");
    assert_eq!(ran.lock().unwrap().len(), 1, "the job is there, so it runs");
    assert_eq!(server.states(&jobs).await, [JobState::Completed]);
}

#[tokio::test]
async fn a_run_ends_before_the_function_does_and_unbegun_messages_come_again() {
    let server = Server::new().await;
    let (handler, ran) = over(&server).await;
    handler
        .register("slow", |ctx: JobContext| async move {
            ctx.cancelled().await;
            std::future::pending::<Result<(), HandlerError>>().await
        })
        .unwrap();
    let slow = json!({"id": "1", "type": "slow", "args": []});
    let end = SystemTime::now() + Duration::from_millis(100);
    let told = handler.handle_direct(slow, end).await.unwrap();
    assert_eq!((&told["status"], &told["error"]["code"]), (&json!("failed"), &json!("timeout")));
    let jobs = server.leased(&["ok"]).await;
    let answer = handler.handle_sqs(sqs(&jobs, STANDARD, &[], 1), SystemTime::UNIX_EPOCH).await.unwrap();
    assert_eq!((failures(&answer).len(), ran.lock().unwrap().len()), (1, 0));
    assert_eq!(server.states(&jobs).await, [JobState::Active]);
}

fn pushed(job: &Value, delivery: &str) -> String {
    json!({"job": job, "worker_id": "push_worker_01234567", "delivery_id": delivery}).to_string()
}

fn signed(body: &str, secret: &str, at: i64) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let signature = ojs_model::webhook::signature(secret, &at.to_string(), body.as_bytes());
    headers.insert("x-ojs-signature", signature.parse().unwrap());
    headers.insert("x-ojs-timestamp", at.to_string().parse().unwrap());
    headers
}

#[tokio::test]
async fn a_push_delivery_is_answered_as_the_document_prints_it() {
    let (handler, _) = alone().await;
    let answer = async |arg: &str| {
        let body = pushed(&job(arg), &format!("del_{arg}"));
        let answer = handler.answer(&Method::POST, &signed(&body, SECRET, NOW), body.as_bytes()).await;
        assert_eq!((answer.status().as_u16(), &answer.headers()["content-type"]), (200, &"application/json".parse().unwrap()));
        serde_json::from_str::<Value>(answer.body()).unwrap()
    };
    assert_eq!(answer("ada").await, json!({"status": "completed", "result": "sent to 3"}));
    let failed = answer("fail").await;
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!("handler_error")));
    assert_eq!((&failed["error"]["message"], &failed["error"]["retryable"]), (&json!("boom"), &json!(true)));
    assert_eq!(answer("decline").await["error"]["retryable"], false);
    let later = answer("later").await;
    assert_eq!((&later["requeue"], &later["delay_ms"]), (&json!(true), &json!(90_000)), "{later}");
    let unknown = json!({"id": "1", "type": "unknown", "args": []});
    let body = pushed(&unknown, "del_u");
    let answer = handler.answer(&Method::POST, &signed(&body, SECRET, NOW), body.as_bytes()).await;
    assert!(answer.body().contains("no_handler"), "{answer:?}");
}

#[tokio::test]
async fn what_is_not_signed_now_by_the_secret_runs_no_handler() {
    let (handler, ran) = alone().await;
    let body = pushed(&job("ada"), "del_1");
    let status =
        async |method: Method, headers: HeaderMap, body: &[u8]| handler.answer(&method, &headers, body).await.status().as_u16();
    for headers in
        [HeaderMap::new(), signed(&body, "another secret", NOW), signed(&body, SECRET, NOW - 301), signed("{}", SECRET, NOW)]
    {
        assert_eq!(status(Method::POST, headers, body.as_bytes()).await, 401);
    }
    assert_eq!(status(Method::GET, signed(&body, SECRET, NOW), body.as_bytes()).await, 405);
    assert_eq!(status(Method::POST, HeaderMap::new(), &vec![b' '; (6 << 20) + 1]).await, 413);
    assert_eq!(status(Method::POST, signed("[]", SECRET, NOW), b"[]").await, 400);
    assert!(ran.lock().unwrap().is_empty());
    let wrong = LambdaHandler::builder().signing_secret(SECRET).unsigned().build().await;
    assert!(wrong.is_err(), "unsigned and a secret contradict each other");
}

/// 401 would end the job and disable the endpoint, although only a setting is missing.
#[tokio::test]
async fn a_handler_without_a_secret_answers_what_is_tried_again_and_logs_what_to_set() {
    let handler: PushHandler = PushHandler::builder().signing_secret("").build().await.unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let count = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    };
    handler.register("email.send", count).unwrap();
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let body = pushed(&job("ada"), "del_1");
    let answer = handler.answer(&Method::POST, &signed(&body, SECRET, NOW), body.as_bytes()).await;
    let told: Value = serde_json::from_str(answer.body()).unwrap();
    assert_eq!((answer.status().as_u16(), &told["error"]["code"]), (500, &json!("internal_error")));
    assert_eq!((&told["error"]["retryable"], ran.load(Ordering::SeqCst)), (&json!(true), 0));
    let line = log.text();
    assert!(line.contains("ERROR") && line.contains("OJS_SIGNING_SECRET"), "{line}");
}

#[tokio::test]
async fn a_delivery_that_arrives_twice_runs_once() {
    let handler: PushHandler = PushHandler::builder().signing_secret(SECRET).clock(|| NOW).build().await.unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    handler
        .register("email.send", move |_| {
            let run = counted.fetch_add(1, Ordering::SeqCst);
            async move { Ok(run) }
        })
        .unwrap();
    let body = pushed(&job("ada"), "del_1");
    for _ in 0..3 {
        let request = http::Request::post("/").body(body.clone()).unwrap();
        let (mut parts, body) = request.into_parts();
        parts.headers = signed(&body, SECRET, NOW);
        let answer = handler.handle_request(http::Request::from_parts(parts, body)).await;
        assert_eq!(answer.body(), r#"{"result":0,"status":"completed"}"#);
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn every_event_finds_its_way() {
    let (handler, _) = alone().await;
    let body = pushed(&job("ada"), "del_url");
    let headers: Value = signed(&body, SECRET, NOW)
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let url = json!({"version": "2.0", "requestContext": {"http": {"method": "POST"}}, "headers": headers, "body": body});
    let answer = handler.handle(url.clone(), None).await.unwrap();
    assert_eq!((&answer["statusCode"], &answer["isBase64Encoded"]), (&json!(200), &json!(false)), "{answer}");
    let encoded = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &body);
    let gateway = json!({"httpMethod": "POST", "headers": headers, "body": encoded, "isBase64Encoded": true});
    assert_eq!(handler.handle(gateway, None).await.unwrap()["statusCode"], 200);
    let mut forged = url;
    forged["headers"] = json!({});
    assert_eq!(handler.handle(forged, None).await.unwrap()["statusCode"], 401);
    assert_eq!(handler.handle(json!({"source": "app", "detail": job("ok")}), None).await.unwrap()["status"], "completed");
    assert!(handler.handle(json!({"source": "app", "detail": job("fail")}), None).await.is_err(), "Lambda calls again");
    assert_eq!(handler.handle(job("ok"), None).await.unwrap()["job_id"], job("ok")["id"]);
    assert!(handler.handle(json!([]), None).await.is_err());
}

/// The Runtime API of AWS Lambda, as "Building a custom runtime for AWS Lambda" describes it, and a process with AWS's
/// own runtime that takes its events from there.
mod runtime {
    use std::process::Stdio;

    use axum::Router;
    use axum::extract::{Path, State};
    use axum::response::IntoResponse;
    use axum::routing::{get, post};
    use tokio::process::{Child, Command};
    use tokio::sync::Mutex;
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    use super::{Arc, Duration, SystemTime, Value};

    struct Api {
        events: Mutex<UnboundedReceiver<(String, Duration)>>,
        answers: UnboundedSender<(String, Value)>,
    }

    pub struct Function {
        events: UnboundedSender<(String, Duration)>,
        answers: UnboundedReceiver<(String, Value)>,
        _process: Child,
    }

    async fn next(State(api): State<Arc<Api>>) -> impl IntoResponse {
        let Some((event, time)) = api.events.lock().await.recv().await else { return Err(http::StatusCode::GONE) };
        let end = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + time;
        let headers = [
            ("lambda-runtime-aws-request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd".to_owned()),
            ("lambda-runtime-deadline-ms", end.as_millis().to_string()),
            ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:eu-west-1:1:function:ojs".to_owned()),
            ("lambda-runtime-trace-id", "Root=1-5759e988-bd862e3fe1be46a994272793".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        Ok((headers, event))
    }

    async fn ended(State(api): State<Arc<Api>>, Path((_, what)): Path<(String, String)>, body: String) -> impl IntoResponse {
        let _ = api.answers.send((what, serde_json::from_str(&body).unwrap()));
        (http::StatusCode::ACCEPTED, r#"{"status":"OK"}"#)
    }

    impl Function {
        /// The example `lambda_function`, in a process of its own.
        pub async fn new() -> Self {
            let (events, taken) = unbounded_channel();
            let (sent, answers) = unbounded_channel();
            let api = Arc::new(Api { events: Mutex::new(taken), answers: sent });
            let routes = Router::new()
                .route("/2018-06-01/runtime/invocation/next", get(next))
                .route("/2018-06-01/runtime/invocation/{id}/{what}", post(ended))
                .with_state(api);
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async move { axum::serve(listener, routes).await });
            let process = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "the_function", "--ignored", "--nocapture"])
                .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
                .env("AWS_LAMBDA_FUNCTION_NAME", "ojs")
                .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
                .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
                .env("AWS_LAMBDA_LOG_GROUP_NAME", "ojs")
                .env("AWS_LAMBDA_LOG_STREAM_NAME", "ojs")
                .env_remove("OJS_URL")
                .stdin(Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .unwrap();
            Self { events, answers, _process: process }
        }

        /// What the function answers, and whether as a response or as an error.
        pub async fn invoke(&mut self, event: &Value, time: Duration) -> (String, Value) {
            self.events.send((event.to_string(), time)).unwrap();
            tokio::time::timeout(Duration::from_secs(60), self.answers.recv()).await.expect("an answer in time").unwrap()
        }
    }
}

#[path = "../../examples/lambda_function.rs"]
mod function;

#[test]
#[ignore = "the process that in_aws_s_own_runtime starts"]
fn the_function() {
    function::main().unwrap();
}

#[tokio::test]
async fn in_aws_s_own_runtime() {
    let mut function = runtime::Function::new().await;
    let time = Duration::from_secs(30);
    let (what, answer) = function.invoke(&job("ada"), time).await;
    assert_eq!((what.as_str(), &answer["result"]), ("response", &json!({"sent": "ada"})), "{answer}");
    let (_, answer) = function.invoke(&sqs(&[job("fail"), job("ada")], STANDARD, &[], 1), time).await;
    assert_eq!(failures(&answer), ["m0"]);
    let (what, error) = function.invoke(&json!({"source": "app", "detail": job("fail")}), time).await;
    assert_eq!(what, "error");
    assert!(error["errorMessage"].as_str().unwrap().contains("SMTP connection refused"), "{error}");
    let (_, answer) = function.invoke(&job("wait"), Duration::from_millis(200)).await;
    assert_eq!(answer["error"]["code"], "timeout", "the deadline is that of the runtime");
}
