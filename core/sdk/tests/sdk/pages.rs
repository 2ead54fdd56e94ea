//! Lists that servers give in pages: a method that returns a list returns all of it.
use std::sync::{Arc, Mutex};

use ojs::transport::{self, Method, Request, Response};
use ojs::{Client, CronJob, Error, JobRequest, ListTrains};
use serde_json::{Value, json};

/// A server that answers with these in turn, and the paths that it was asked for.
fn server(answers: &[Value]) -> (Client, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (paths, answers) = (Arc::clone(&asked), answers.to_vec());
    let transport = transport::from_fn(move |request: Request| {
        let mut paths = paths.lock().unwrap();
        let answer = answers.get(paths.len()).or(answers.last()).cloned().unwrap_or_default();
        paths.push(request.path.to_string());
        async move {
            let status = answer["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(200);
            Ok(Response::new(status, answer.to_string()))
        }
    });
    (Client::new(transport), asked)
}

fn page(names: &[&str], pagination: Value) -> Value {
    let queues: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
    json!({"queues": queues, "pagination": pagination})
}

async fn names(client: &Client) -> Result<Vec<String>, Error> {
    Ok(client.list_queues().await?.into_iter().map(|queue| queue.name).collect())
}

#[tokio::test]
async fn pages_are_read_by_cursor_or_by_offset_until_there_are_no_more() {
    let more = |cursor: Option<&str>| json!({"total": 5, "has_more": true, "next_cursor": cursor});
    let last = page(&["e"], json!({"total": 5, "has_more": false}));
    let (client, asked) = server(&[page(&["a", "b"], more(None)), page(&["c", "d"], more(Some("d/2"))), last]);
    assert_eq!(names(&client).await.unwrap(), ["a", "b", "c", "d", "e"]);
    assert_eq!(*asked.lock().unwrap(), ["/queues", "/queues?offset=2", "/queues?cursor=d%2F2"]);
}

#[tokio::test]
async fn an_error_of_a_later_page_is_the_answer() {
    let gone = json!({"status": 503, "error": {"code": "backend_unavailable", "message": "gone"}});
    let (client, _) = server(&[page(&["a"], json!({"has_more": true})), gone]);
    assert_eq!(names(&client).await.unwrap_err().ojs().unwrap().code, "backend_unavailable");
}

#[tokio::test]
async fn servers_that_repeat_a_page_or_give_an_empty_one_are_asked_no_further() {
    let (client, asked) = server(&[page(&["a", "b"], json!({"has_more": true}))]);
    assert_eq!(names(&client).await.unwrap(), ["a", "b"]);
    assert_eq!(asked.lock().unwrap().len(), 2);
    let (client, asked) = server(&[page(&["a"], json!({"has_more": true})), page(&[], json!({"has_more": true}))]);
    assert_eq!(names(&client).await.unwrap(), ["a"]);
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_raw_call_reads_all_pages_when_it_says_so() {
    let pages = [page(&["a"], json!({"has_more": true})), page(&["b"], json!({"has_more": false}))];
    let (client, asked) = server(&pages);
    let whole = client.call(Method::GET, "/queues?pages=all&note=x", None).await.unwrap();
    assert_eq!(whole, r#"{"queues":[{"name":"a"},{"name":"b"}]}"#);
    assert_eq!(*asked.lock().unwrap(), ["/queues?note=x", "/queues?note=x&offset=1"]);
    let (client, asked) = server(&pages);
    let one = client.call(Method::GET, "/queues", None).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&one).unwrap(), pages[0], "as it was answered");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn lists_of_a_real_server_are_longer_than_a_page() {
    let client = Client::connect("memory:").await.unwrap();
    let job = |n: usize| {
        let limit = json!({"key": format!("key-{n}"), "concurrency": 1});
        JobRequest::new("t", ()).queue(format!("queue-{n}")).train(format!("train-{n}")).rate_limit(limit)
    };
    client.enqueue_batch((0..201).map(job)).await.unwrap();
    for n in 0..201 {
        client.register_cron(&CronJob::new(format!("cron-{n}"), "@daily", JobRequest::new("t", ()))).await.unwrap();
        client.create_webhook(&json!({"url": "https://example.com/hooks", "events": ["job.failed"]})).await.unwrap();
        client.create_push_endpoint(&json!({"endpoint": "https://example.com/jobs", "job_types": ["t"]})).await.unwrap();
    }
    assert_eq!(client.list_queues().await.unwrap().len(), 202, "the queue of the cron entries is one more");
    assert_eq!(client.list_trains(&ListTrains::default()).await.unwrap().len(), 201);
    assert_eq!(client.list_rate_limits().await.unwrap().len(), 201);
    assert_eq!(client.list_cron().await.unwrap().len(), 201);
    assert_eq!(client.list_webhooks().await.unwrap().len(), 201);
    assert_eq!(client.list_push_endpoints().await.unwrap().len(), 201);
}
