//! What the client sends for each operation of the tables, held to the vectors that all languages share.
#[path = "../support/operation_calls.rs"]
mod operation_calls;

use std::path::Path;
use std::sync::{Arc, Mutex};

use ojs::transport::{self, Request, Response};
use ojs::{BulkOptions, BulkTarget, Client, DeadLetterFilter, DeleteQueue, Error, JobFilter, JobState, Page, Timestamp};
use serde_json::{Map, Value, json};

const JOB: &str = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

/// The calls whose methods are written by hand, with the arguments of their vectors.
async fn by_hand(client: &Client, name: &str) -> Result<(), Error> {
    let time = || Some(Timestamp::parse("2031-01-01T00:00:00Z").unwrap());
    let text = |text: &str| Some(text.to_owned());
    match name {
        "bulk_cancel" => client.bulk_cancel(JobFilter { queue: text("reports"), ..JobFilter::default() }).await.map(drop),
        "bulk_retry" => {
            let atomic = BulkOptions { atomic: true, ..BulkOptions::default() };
            client.bulk_retry_with(BulkTarget::from([JOB]), atomic).await.map(drop)
        }
        "bulk_delete" => {
            let states = vec![JobState::Completed, JobState::Cancelled];
            client.bulk_delete(JobFilter { job_type: text("email.*"), states, ..JobFilter::default() }).await.map(drop)
        }
        "list_queues" => client.list_queues().await.map(drop),
        "queue_stats" => client.queue_stats("mail").await.map(drop),
        "delete_queue" => client.delete_queue("mail", DeleteQueue::MoveTo("letters".to_owned())).await.map(drop),
        "purge_queue" => {
            let states = [JobState::Completed, JobState::Cancelled];
            client.purge_queue("reports", &states, Some("PT1H")).await.map(drop)
        }
        "override_rate_limit" => {
            let limits = json!({"concurrency": 2, "expires_at": "2031-01-01T00:00:00Z"});
            client.override_rate_limit("stripe", &limits).await.map(drop)
        }
        "dead_letters" => client.list_dead_letters(Some("mail"), Page { limit: Some(10), offset: Some(20) }).await.map(drop),
        "retry_dead_letters" => {
            let filter = DeadLetterFilter {
                queue: text("mail"),
                error_type: text("Timeout"),
                since: time(),
                ..DeadLetterFilter::default()
            };
            client.retry_dead_letters(&filter).await.map(drop)
        }
        "discard_dead_letters" => {
            let filter = DeadLetterFilter { job_type: text("email.*"), until: time(), ..DeadLetterFilter::default() };
            client.delete_dead_letters(&filter).await.map(drop)
        }
        "result" => client.result(JOB).await.map(drop),
        "results" => client.results(&[JOB, "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"]).await.map(drop),
        "health" => client.health().await.map(drop),
        "manifest" => client.manifest().await.map(drop),
        name => panic!("no call of {name}"),
    }
}

/// A request in the form of the vectors.
fn seen(request: &Request) -> Value {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let path: Vec<String> = path.split('/').filter(|segment| !segment.is_empty()).map(decoded).collect();
    let query: Map<String, Value> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), Value::from(decoded(value))))
        .collect();
    let body = request.body.as_ref().map_or(Value::Null, |body| serde_json::from_slice(body).unwrap());
    json!({"method": request.method.as_str(), "path": path, "query": query, "body": body})
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Numbers of the same value are equal, times without and with milliseconds too.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => match Timestamp::parse(text) {
            Ok(time) => time.to_string().into(),
            Err(_) => value.clone(),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn each_operation_sends_what_the_vectors_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/operations.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let vectors = vectors["operations"].as_array().unwrap();
    assert!(vectors.len() > 40, "the vectors are there");
    for (place, vector) in vectors.iter().enumerate() {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (record, answer) = (sent.clone(), vector["answer"].to_string());
        let client = Client::new(transport::from_fn(move |request| {
            record.lock().unwrap().push(seen(&request));
            let answer = answer.clone();
            async move { Ok(Response::new(200, answer)) }
        }));
        operation_calls::call(&client, place).await.unwrap_or_else(|error| panic!("{}: {error}", vector["name"]));
        let wanted = json!({
            "method": vector["method"], "path": vector["path"], "query": vector["query"], "body": vector["body"],
        });
        let sent = sent.lock().unwrap();
        assert_eq!(sent.iter().map(plain).collect::<Vec<_>>(), [plain(&wanted)], "{}", vector["name"]);
    }
}
