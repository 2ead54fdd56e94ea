//! Progress over a socket: headers, and the stream to the end of the job.
use serde_json::{Value, json};

use super::target::Target;

/// The name and the data of the next event of a stream.
async fn event(stream: &mut ojs_tests::Wire) -> (String, Value) {
    let mut name = String::new();
    loop {
        let line = stream.next_line().await.unwrap();
        let line = line.trim_end();
        if let Some(event) = line.strip_prefix("event: ") {
            event.clone_into(&mut name);
        } else if let Some(data) = line.strip_prefix("data: ") {
            return (name, serde_json::from_str(data).unwrap());
        }
    }
}

#[tokio::test]
async fn progress_is_reported_read_and_followed() {
    let mut target = Target::new().await;
    let id = target.enqueue().await["id"].as_str().unwrap().to_owned();
    target.fetch().await;
    let path = format!("/jobs/{id}/progress");
    let mut stream = target.server.connect().await;
    let head = format!("GET /ojs/v1{path}/stream HTTP/1.1\r\nHost: test\r\nAccept: text/event-stream\r\n\r\n");
    stream.send(head).await.unwrap();
    assert!(stream.next_line().await.unwrap().contains("200"));

    let body = json!({"progress": 0.5, "message": "half", "worker_id": "w"}).to_string();
    let answer = target.wire.call("PUT", &path, &body).await.unwrap().expect(200);
    assert_eq!((answer.header("x-ojs-progress"), answer.header("cache-control")), (Some("0.5"), Some("no-cache")));
    let (name, data) = event(&mut stream).await;
    assert_eq!((name.as_str(), &data["progress"], &data["message"]), ("progress", &json!(0.5), &json!("half")));

    // The server writes the rest within a second by itself: no further report is needed for the stream to go on.
    for fraction in [0.6, 0.7] {
        let body = json!({"progress": fraction, "worker_id": "w"}).to_string();
        target.wire.call("PUT", &path, &body).await.unwrap().expect(200);
    }
    assert_eq!(event(&mut stream).await.1["progress"], 0.7);
    target.wire.post("/workers/ack", &json!({"job_id": id, "worker_id": "w"})).await.expect(200);
    let (name, data) = event(&mut stream).await;
    assert_eq!((name.as_str(), &data["progress"], &data["state"]), ("completed", &json!(1.0), &json!("completed")));
    let read = target.wire.get(&path).await.expect(200);
    assert_eq!((read.header("x-ojs-progress"), &read.json()["progress"]), (Some("1"), &json!(1.0)));
}

#[tokio::test]
async fn a_checkpoint_beyond_a_mebibyte_is_refused_by_name() {
    let mut target = Target::new().await;
    let id = target.enqueue().await["id"].as_str().unwrap().to_owned();
    let path = format!("/jobs/{id}/checkpoint");
    let error = target.refuses(&path, json!({"state": "x".repeat(1_048_576)}).to_string(), 413, "payload_too_large").await;
    assert_eq!(error["details"]["field"], "state");
    let whole = "x".repeat(1_048_574);
    let saved = target.wire.call("PUT", &path, &json!({"state": whole}).to_string()).await.unwrap().expect(200).json();
    assert_eq!(saved["checkpoint"]["sequence"], 1);
    assert_eq!(target.fetch().await["checkpoint"]["state"], json!(whole));
}
