//! Checkpoints of the published SDKs: two go through the SDK's transport and have routes of their own, two go around it
//! and use those of the specification. Ruby's are in `ruby.rs`. The first class of the SDK for JavaScript asked for
//! paths that begin with `/ojs/v1/ojs/v1`, which no server has; the newest uses the specification's.
use serde_json::{Value, json};

use super::{OJS, Sdk, text};

const GO: &[(&str, &str)] =
    &[("User-Agent", "Go-http-client/1.1"), ("Accept", OJS), ("Content-Type", OJS), ("Ojs-Version", "1.0")];
const PYTHON: &[(&str, &str)] =
    &[("User-Agent", "python-httpx/0.28.1"), ("Accept", OJS), ("Content-Type", OJS), ("OJS-Version", "1.0")];

/// The log that is replayed is a text within a text.
fn saved() -> Value {
    let log = r#"[{"seq":0,"type":"call","key":"fetch","result":{"price":99.99}}]"#;
    json!({"state": {"phase": "load"}, "step_index": 2, "metadata": {"_replay_log": log, "attempt": "1"}})
}

async fn active_job(sdk: &mut Sdk) -> String {
    sdk.send("POST", "/jobs", Some(json!({"type": "etl.process", "args": []}))).await.expect(201);
    let fetch = json!({"queues": ["default"], "count": 1, "worker_id": "w"});
    let fetched = sdk.send("POST", "/workers/fetch", Some(fetch)).await.expect(200).json();
    text(&fetched["jobs"][0], "id").to_owned()
}

/// durable.go at 08567e1c: `PUT`; src/ojs/durable/context.py at fb96c0f0: `POST`.
#[tokio::test]
async fn go_and_python_save_read_and_delete_what_they_replay() {
    for (headers, method) in [(GO, "PUT"), (PYTHON, "POST")] {
        let mut sdk = Sdk::new(headers).await;
        let id = active_job(&mut sdk).await;
        let (path, resume) = (format!("/checkpoints/{id}"), format!("/checkpoints/{id}/resume"));
        // replay_loader.py: 404 is "no checkpoint"; durable.go: every error is.
        assert_eq!(sdk.send("GET", &resume, None).await.expect(404).code(), "not_found");
        sdk.send(method, &path, Some(saved())).await.expect(200);
        let found = sdk.send("GET", &resume, None).await.expect(200).json();
        assert_eq!(found["has_checkpoint"], true);
        for (member, value) in saved().as_object().unwrap() {
            assert_eq!(&found["checkpoint"][member], value, "{method} {member}");
        }
        // durable.go at bf42ede2 looks at the specification's route first, for a state in this form.
        let standard = sdk.send("GET", &format!("/jobs/{id}/checkpoint"), None).await.expect(200).json();
        assert_eq!(standard["checkpoint"]["state"], saved());
        sdk.send("DELETE", &path, None).await.expect(200);
        sdk.send("GET", &resume, None).await.expect(404);
        let refusal = sdk.send(method, &path, Some(json!({"step_index": 1}))).await.expect(400).json();
        assert_eq!(refusal["error"]["details"]["field"], "state");
    }
}

/// What another program saved is the state, and there is nothing to replay.
#[tokio::test]
async fn a_checkpoint_of_another_program_has_no_log() {
    let mut sdk = Sdk::new(GO).await;
    let id = active_job(&mut sdk).await;
    for state in [json!({"cursor": 7}), json!([1, 2]), json!("page 3")] {
        sdk.send("PUT", &format!("/jobs/{id}/checkpoint"), Some(json!({"state": state}))).await.expect(200);
        let found = sdk.send("GET", &format!("/checkpoints/{id}/resume"), None).await.expect(200).json();
        assert_eq!((&found["checkpoint"]["state"], &found["checkpoint"]["metadata"]), (&state, &json!({})));
    }
}

/// DurableJobHandler.java at 3ea56a58, by java.net.http; src/durable.rs at 6fd099c5, by reqwest.
#[tokio::test]
async fn java_and_rust_save_and_read_by_plain_requests() {
    let plain: [&'static [(&str, &str)]; 2] = [
        &[("User-Agent", "Java-http-client/21.0.9"), ("Content-Type", "application/json")],
        &[("content-type", "application/json"), ("accept", "*/*")],
    ];
    for headers in plain {
        let mut sdk = Sdk::new(GO).await;
        let id = active_job(&mut sdk).await;
        sdk.headers = headers;
        let path = format!("/jobs/{id}/checkpoint");
        sdk.send("GET", &path, None).await.expect(404);
        sdk.send("PUT", &path, Some(json!({"state": 7000}))).await.expect(200);
        assert_eq!(sdk.send("GET", &path, None).await.expect(200).json()["state"], 7000);
        sdk.send("DELETE", &path, None).await.expect(200);
        sdk.send("GET", &path, None).await.expect(404);
    }
}

/// src/serverless/lambda.ts at 5667134b reports while it is being pushed to: without a body, and the error as a text.
#[tokio::test]
async fn functions_of_the_sdk_for_javascript_report_by_the_id_in_the_path() {
    let mut sdk = Sdk::new(GO).await;
    let (done, failed) = (active_job(&mut sdk).await, active_job(&mut sdk).await);
    sdk.headers = &[("Content-Type", "application/json"), ("Accept", "*/*"), ("User-Agent", "node")];
    sdk.send("POST", &format!("/jobs/{done}/ack"), None).await.expect(200);
    sdk.send("POST", &format!("/jobs/{failed}/nack"), Some(json!({"error": "no route to host"}))).await.expect(200);
    let read = sdk.send("GET", &format!("/jobs/{done}"), None).await.expect(200).json();
    assert_eq!(text(&read["job"], "state"), "completed");
    let read = sdk.send("GET", &format!("/jobs/{failed}"), None).await.expect(200).json();
    assert_eq!((text(&read["job"], "state"), text(&read["job"]["error"], "message")), ("retryable", "no route to host"));
}
