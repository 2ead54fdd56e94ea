//! Events as they happen, from real processes: each on the other's commits, and to the end.
use std::time::{Duration, Instant};

use ojs_tests::{ServerProcess, Wire};
use serde_json::{Value, json};

/// Opens a stream.
async fn listen(server: &ServerProcess, path: &str) -> Wire {
    let mut wire = server.connect().await;
    wire.send(format!("GET /ojs/v1{path} HTTP/1.1\r\nHost: test\r\nAccept: text/event-stream\r\n\r\n")).await.unwrap();
    assert_eq!(wire.next_line().await.unwrap(), "HTTP/1.1 200 OK");
    while !wire.next_line().await.unwrap().starts_with("retry: 3000") {}
    wire
}

/// Name and data of the next frame.
async fn frame(wire: &mut Wire) -> (String, Value) {
    let mut name = String::new();
    loop {
        let line = wire.next_line().await.expect("the stream goes on");
        if let Some(event) = line.strip_prefix("event: ") {
            event.clone_into(&mut name);
        } else if let Some(data) = line.strip_prefix("data: ") {
            return (name, serde_json::from_str(data).unwrap());
        }
    }
}

/// Two servers on one file: a listener at either hears what the other does.
#[tokio::test]
async fn a_listener_hears_what_another_process_does() {
    let first = ServerProcess::sqlite().await;
    let second = first.again().await;
    for (near, far) in [(&first, &second), (&second, &first)] {
        let mut listener = listen(near, "/events/stream?types=job.enqueued").await;
        let id =
            far.connect().await.post("/jobs", &json!({"type": "test.plain", "args": []})).await.expect(201).job()["id"].clone();
        let (name, event) = frame(&mut listener).await;
        assert_eq!((name.as_str(), &event["subject"]), ("job.enqueued", &id));
    }
}

/// SIGTERM with open streams: they are told, and do not hold up the end.
#[tokio::test]
async fn a_server_that_stops_says_so_to_its_listeners() {
    let mut server = ServerProcess::sqlite().await;
    let mut listeners = Vec::new();
    for _ in 0..10 {
        listeners.push(listen(&server, "/events/stream").await);
    }
    let started = Instant::now();
    assert_eq!(server.terminate().await.code(), Some(0));
    // A connection that is still busy would be cut after 25 s.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    for listener in &mut listeners {
        let (name, data) = frame(listener).await;
        assert_eq!((name.as_str(), &data["reason"]), ("server.shutdown", &json!("shutdown")));
    }
}
