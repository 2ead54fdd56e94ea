//! What workers send: the reports of every outcome, and the requests of whole lives. `tests/vectors/judge.py` is the server.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ojs::transport::{ConnectOptions, Http, ResendPolicy};
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs::{HandlerError, JobContext, Worker};
use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};

/// The server of the vectors.
struct Judge {
    process: Child,
    address: String,
}

impl Judge {
    fn start() -> Self {
        let mut command = Command::new("python3");
        let mut process =
            command.arg(crate::folder().join("judge.py")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { process, address }
    }

    fn worker(&self, options: WorkerOptions) -> Worker {
        let options = options.visibility_timeout(Duration::from_secs(30));
        let mut connection = ConnectOptions::default();
        connection.resend = ResendPolicy::never();
        Worker::new(Arc::new(Http::new(&format!("http://{}", self.address), connection).unwrap()), options)
    }

    /// The requests of each case, by its name.
    fn found(&self, kind: &str) -> HashMap<String, Value> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET /verdicts/{kind} HTTP/1.1\r\nhost: judge\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let verdicts: Vec<Value> = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        let requests = |verdict: &Value| verdict["found"].as_str().unwrap().split('\n').map(Value::from).collect();
        verdicts.iter().map(|verdict| (verdict["name"].as_str().unwrap().to_owned(), requests(verdict))).collect()
    }
}

impl Judge {
    /// The requests of all lives. A worker waits for the answer to its last words for a while only: they may still be on their way.
    fn settled(&self, lives: &Value) -> HashMap<String, Value> {
        let began = Instant::now();
        loop {
            let found = self.found("lives");
            let whole = |case: &Value| {
                let requests = found[case["name"].as_str().unwrap()].as_array().unwrap();
                let expected = case["requests"].as_array().map_or(0, Vec::len);
                requests.len() >= expected && requests.last().is_some_and(|last| last == "/workers/heartbeat terminate")
            };
            if lives.as_array().unwrap().iter().all(whole) || began.elapsed() > Duration::from_secs(60) {
                return found;
            }
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It ends with its standard input.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Fills in what is expected.
pub async fn make(vectors: &mut Value) {
    let judge = Judge::start();
    let worker =
        judge.worker(WorkerOptions::new(["outcomes"]).worker_id("vectors").heartbeat_interval(Duration::from_millis(20)));
    worker.register("vector", does).unwrap();
    let handle = worker.start();
    let found = judge.found("outcomes");
    handle.shutdown(Some(Duration::ZERO)).await;
    for case in vectors["outcomes"].as_array_mut().unwrap() {
        case["requests"] = found[case["name"].as_str().unwrap()].clone();
    }
    for case in vectors["lives"].as_array().unwrap() {
        live(&judge, case).await;
    }
    let found = judge.settled(&vectors["lives"]);
    for case in vectors["lives"].as_array_mut().unwrap() {
        case["requests"] = found[case["name"].as_str().unwrap()].clone();
    }
}

/// What a handler returns.
enum Returned {
    Json(Value),
    Unserializable,
}

impl Serialize for Returned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(value) => value.serialize(serializer),
            Self::Unserializable => Err(serde::ser::Error::custom("JSON has no form for it")),
        }
    }
}

/// The handler that does what its argument says.
async fn does(ctx: JobContext) -> Result<Returned, HandlerError> {
    let does: Value = ctx.arg(0)?;
    let text = |name: &str| does[name].as_str().unwrap_or_default();
    if !does["fail"].is_null() {
        return Err(HandlerError::new(text("fail")));
    }
    if !does["refuse"].is_null() {
        let code = does["code"].as_str().unwrap_or("non_retryable");
        let error = HandlerError::non_retryable(text("refuse")).with_code(code);
        return Err(if does["details"].is_null() { error } else { error.with_details(does["details"].clone()) });
    }
    if let Some(pause) = does["snooze_ms"].as_u64() {
        return Err(HandlerError::snooze(Duration::from_millis(pause)));
    }
    if !does["unserializable"].is_null() {
        return Ok(Returned::Unserializable);
    }
    if !does["wait"].is_null() || !does["wait_and_return"].is_null() {
        ctx.cancelled().await;
        if !does["wait"].is_null() {
            return Err(HandlerError::release());
        }
        return Ok(Returned::Json(does["wait_and_return"].clone()));
    }
    Ok(Returned::Json(does["return"].clone()))
}

/// One life of a worker, step by step.
async fn live(judge: &Judge, case: &Value) {
    let name = case["name"].as_str().unwrap();
    let number = |member: &str| case[member].as_u64().unwrap();
    let options = WorkerOptions::new([name])
        .worker_id(name)
        .concurrency(usize::try_from(number("concurrency")).unwrap())
        .grace_period(Duration::from_millis(number("grace_ms")))
        .heartbeat_interval(Duration::from_millis(20));
    let worker = judge.worker(options);
    let (began, mut begins) = mpsc::unbounded_channel();
    let go = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&go);
    worker
        .register("hold", move |ctx: JobContext| {
            let (began, gate) = (began.clone(), Arc::clone(&gate));
            async move {
                began.send(()).unwrap();
                tokio::select! {
                    _ = gate.acquire() => Ok(()),
                    () = ctx.cancelled() => Err(HandlerError::release()),
                }
            }
        })
        .unwrap();
    let handle: WorkerHandle = worker.start();
    for step in case["steps"].as_array().unwrap() {
        match step.as_str().unwrap() {
            "began" => {
                for _ in case["jobs"].as_array().unwrap() {
                    begins.recv().await.unwrap();
                }
            }
            "go" => go.close(),
            "quiet" => handle.quiet(),
            "stop" => handle.stop(None),
            "stop_now" => handle.stop(Some(Duration::ZERO)),
            "stopped" => handle.wait().await,
            other => panic!("{other}"),
        }
    }
}
