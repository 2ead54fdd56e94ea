//! Google Cloud and Azure: what their platforms send for a message of a queue, and the examples as they serve.
use axum::Router;
use axum::body::Body;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{Method, Request};
use ojs::serverless::{AzureHandler, Builder, GoogleHandler, PushHandler};
use ojs::{JobState, Worker};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{Ran, Server, job, register};

#[allow(dead_code, reason = "its main serves on a port; the test asks its routes")]
#[path = "../../examples/azure_function.rs"]
mod azure_function;
#[allow(dead_code, reason = "its main serves on a port; the test asks its routes")]
#[path = "../../examples/google_function.rs"]
mod google_function;

/// A handler, with a server or without one.
async fn handler<H>(builder: Builder<H>, server: Option<&Server>) -> (H, Ran)
where
    H: From<PushHandler> + std::ops::Deref<Target = PushHandler>,
{
    let builder = match server {
        Some(server) => builder.worker(Worker::for_client(&server.client)),
        None => builder,
    };
    let handler = builder.build().await.unwrap();
    let ran = register(&handler);
    (handler, ran)
}

/// The request of a push subscription of Pub/Sub, in the form that Google prints.
fn published(job: &Value, attempt: u32) -> Value {
    let data = BASE64_STANDARD.encode(job.to_string());
    let at = "2021-02-26T19:13:55.749Z";
    let message = json!({
        "attributes": {"key": "value"}, "data": data, "messageId": "2070443601311540", "message_id": "2070443601311540",
        "publishTime": at, "publish_time": at,
    });
    json!({"deliveryAttempt": attempt, "message": message, "subscription": "projects/myproject/subscriptions/mysubscription"})
}

/// The request of the host of Azure Functions for a queue trigger, in the form that Microsoft prints.
fn called(message: &Value, count: &Value) -> Value {
    let metadata = json!({
        "DequeueCount": count, "ExpirationTime": "2019-10-16T17:58:31+00:00", "Id": "800ae4b3-bdd2-4c08-badd-f08e5a34b865",
        "InsertionTime": "2019-10-09T17:58:31+00:00", "NextVisibleTime": "2019-10-09T18:08:32+00:00",
        "PopReceipt": "AgAAAAMAAAAAAAAAAgtnj8x+1QE=",
        "sys": {"MethodName": "job", "UtcNow": "2019-10-09T17:58:32.2205399Z", "RandGuid": "24ad4c06-24ad-4e5b-8294-3da9714877e9"},
    });
    json!({"Data": {"message": message}, "Metadata": metadata})
}

async fn google(handler: &GoogleHandler, body: &Value) -> u16 {
    handler.handle_cloud_event(&Method::POST, body.to_string().as_bytes()).await.status().as_u16()
}

async fn azure(handler: &AzureHandler, body: &Value) -> u16 {
    handler.handle_queue("message", &Method::POST, body.to_string().as_bytes()).await.status().as_u16()
}

#[tokio::test]
async fn messages_of_pub_sub_report_to_the_server() {
    let server = Server::new().await;
    let (handler, ran) = handler(GoogleHandler::builder(), Some(&server)).await;
    let jobs = server.leased(&["ok", "fail", "decline"]).await;
    for job in &jobs {
        assert_eq!(google(&handler, &published(job, 1)).await, 204, "the server has the outcome");
    }
    use JobState::{Completed, Discarded, Retryable};
    assert_eq!(server.states(&jobs).await, [Completed, Retryable, Discarded]);
    for job in &jobs {
        assert_eq!(google(&handler, &published(job, 2)).await, 204, "delivered again: the server knows better");
    }
    assert_eq!(ran.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn every_form_of_a_cloud_event_is_read_and_what_no_server_knows_of_comes_again() {
    let (handler, ran) = handler(GoogleHandler::builder(), None).await;
    let event =
        |member: &str, data: Value| json!({"specversion": "1.0", "id": "1", "source": "//app", "type": "job", member: data});
    let encoded = |of: &Value| Value::from(BASE64_STANDARD.encode(of.to_string()));
    let job_ok = job("ok");
    let forms = [
        job_ok.clone(),
        published(&job_ok, 1),
        event("data", job_ok.clone()),
        event("data", published(&job_ok, 1)),
        event("data_base64", encoded(&job_ok)),
    ];
    for form in &forms {
        assert_eq!(google(&handler, form).await, 204, "{form}");
    }
    assert_eq!(ran.lock().unwrap().len(), forms.len());
    assert_eq!(google(&handler, &published(&job("fail"), 1)).await, 500);
    for wrong in [json!({"message": {"data": "%"}}), json!([]), event("data", json!("no job"))] {
        assert_eq!(google(&handler, &wrong).await, 500, "{wrong}");
    }
    assert_eq!(handler.handle_cloud_event(&Method::GET, b"").await.status(), 405);
    assert_eq!(handler.handle_cloud_event(&Method::POST, &vec![b' '; (6 << 20) + 1]).await.status(), 413);
}

#[tokio::test]
async fn queues_of_azure_report_to_the_server() {
    let server = Server::new().await;
    let (handler, ran) = handler(AzureHandler::builder(), Some(&server)).await;
    let jobs = server.leased(&["ok", "fail"]).await;
    let text = Value::from(jobs[0].to_string());
    assert_eq!(azure(&handler, &called(&text, &json!(1))).await, 200);
    assert_eq!(azure(&handler, &called(&jobs[1], &json!("1"))).await, 200, "the server has the failure");
    assert_eq!(server.states(&jobs).await, [JobState::Completed, JobState::Retryable]);
    let twice_quoted = Value::from(Value::from(jobs[0].to_string()).to_string());
    assert_eq!(azure(&handler, &called(&twice_quoted, &json!("2"))).await, 200, "delivered again: the server knows better");
    assert_eq!(ran.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn azure_abandons_what_no_server_knows_of() {
    let (handler, ran) = handler(AzureHandler::builder(), None).await;
    for (message, status) in [(job("ok"), 200), (job("fail"), 500), (json!("no job"), 500)] {
        assert_eq!(azure(&handler, &called(&message, &json!(1))).await, status, "{message}");
    }
    assert_eq!(ran.lock().unwrap().len(), 2);
    let answer = handler.handle_queue("other", &Method::POST, called(&job("ok"), &json!(1)).to_string().as_bytes()).await;
    let told: Value = serde_json::from_str(answer.body()).unwrap();
    assert_eq!((answer.status().as_u16(), &told["error"]["code"]), (500, &json!("invalid_payload")));
    assert!(told["error"]["message"].as_str().unwrap().contains("name the trigger's binding"), "{told}");
}

async fn posted(routes: &Router, path: &str, body: &Value) -> u16 {
    let request = Request::post(path).body(Body::from(body.to_string())).unwrap();
    routes.clone().oneshot(request).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn the_examples_serve_both_kinds_of_requests() {
    let google = google_function::routes().await.unwrap();
    assert_eq!(posted(&google, "/push", &job("ada")).await, 500, "no signing secret");
    assert_eq!(posted(&google, "/pubsub", &published(&job("ada"), 1)).await, 204);
    assert_eq!(posted(&google, "/pubsub", &published(&job("fail"), 1)).await, 500);
    let azure = azure_function::routes().await.unwrap();
    assert_eq!(posted(&azure, "/api/push", &job("ada")).await, 500, "no signing secret");
    assert_eq!(posted(&azure, "/job", &called(&job("ada"), &json!(1))).await, 200);
    assert_eq!(posted(&azure, "/job", &called(&job("fail"), &json!(1))).await, 500);
}
