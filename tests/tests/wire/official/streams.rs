//! Subscriptions of the published SDKs: one request that names a channel, whose answer is read line by line.
use serde_json::{Value, json};

use super::{OJS, Sdk};

/// The SDK, its `User-Agent`, and how it writes the channel `queue:mail` behind `GET /ojs/v1`.
const SUBSCRIPTIONS: &[(&str, &str, &str)] = &[
    // src/subscribe.ts at 76884fdf; newer ones (58074659) use the paths of the specification.
    ("js", "node", "/events/stream?channel=queue%3Amail"),
    ("js, newest", "node", "/queues/mail/events"),
    // src/ojs/sse/subscription_session.py at dad12c2a, src/ojs/subscribe.py at c7e91663
    ("python", "python-httpx/0.28.1", "/events/stream?channel=queue%3Amail"),
    // subscribe.go at 07c185ab, and at bf8b3d4a, which escapes
    ("go", "Go-http-client/1.1", "/events/stream?channel=queue:mail"),
    ("go, newest", "Go-http-client/1.1", "/events/stream?channel=queue%3Amail"),
    // lib/ojs/subscribe.rb at a0075268
    ("ruby", "Ruby", "/events/stream?channel=queue%3Amail"),
    // SSESubscription.java at 0279bb5a, by HttpURLConnection
    ("java", "Java/21.0.9", "/events/stream?channel=queue%3Amail"),
    // src/subscribe.rs at 2e537f1f
    ("rust", "", "/events/stream?channel=queue%3Amail"),
];

/// What each of them makes of a frame: the values behind `id:`, `event:` and `data:`.
async fn frame(stream: &mut ojs_tests::Wire) -> (String, String, Value) {
    let (mut id, mut name) = (String::new(), String::new());
    loop {
        let line = stream.next_line().await.unwrap();
        let line = line.trim_end();
        if let Some(text) = line.strip_prefix("id: ") {
            text.clone_into(&mut id);
        } else if let Some(text) = line.strip_prefix("event: ") {
            text.clone_into(&mut name);
        } else if let Some(text) = line.strip_prefix("data: ") {
            return (id, name, serde_json::from_str(text).unwrap());
        }
    }
}

#[tokio::test]
async fn each_sdk_subscribes_to_a_queue() {
    let mut sdk = Sdk::new(&[("Accept", OJS), ("Content-Type", OJS), ("OJS-Version", "1.0")]).await;
    let body = json!({"type": "email.send", "args": [], "options": {"queue": "mail"}});
    sdk.send("POST", "/jobs", Some(body.clone())).await.expect(201);
    for (name, agent, path) in SUBSCRIPTIONS {
        let mut stream = sdk.server.connect().await;
        let agent = if agent.is_empty() { String::new() } else { format!("User-Agent: {agent}\r\n") };
        let head = format!(
            "GET /ojs/v1{path} HTTP/1.1\r\nHost: jobs.internal:8080\r\n{agent}Accept: text/event-stream\r\nCache-Control: no-cache\r\n\r\n"
        );
        stream.send(head).await.unwrap();
        assert!(stream.next_line().await.unwrap().contains("200"), "{name}");
        let mut media = false;
        while let Some(line) = Some(stream.next_line().await.unwrap()).filter(|line| !line.trim_end().is_empty()) {
            media |= line.to_lowercase().trim_end() == "content-type: text/event-stream";
        }
        assert!(media, "{name}: the SDK for Rust reads no other media type");
        let created = sdk.send("POST", "/jobs", Some(body.clone())).await.expect(201).json();
        let (id, event, data) = loop {
            let found = frame(&mut stream).await;
            if found.1 == "job.enqueued" {
                break found;
            }
        };
        assert!(id.starts_with("evt_"), "{name}: {id}");
        assert!(data.to_string().contains(created["job"]["id"].as_str().unwrap()), "{name}: {event} {data}");
    }
}
