//! The server under test, and the checks that follow every refusal.
use ojs_tests::{Answer, ServerProcess, Wire};
use serde_json::{Value, json};

/// A server in memory and a connection to it.
pub struct Target {
    pub server: ServerProcess,
    pub wire: Wire,
}

impl Target {
    pub async fn new() -> Self {
        let server = ServerProcess::memory().await;
        let wire = server.connect().await;
        Self { server, wire }
    }

    /// Replaces the connection: the server may close one after a bad request.
    pub async fn reconnect(&mut self) -> &mut Wire {
        self.wire = self.server.connect().await;
        &mut self.wire
    }

    /// Enqueues a plain job and returns it.
    pub async fn enqueue(&mut self) -> Value {
        self.wire.post("/jobs", &json!({"type": "test.plain", "args": []})).await.expect(201).job()
    }

    /// Fetches one job of the default queue.
    pub async fn fetch(&mut self) -> Value {
        // Held for longer than any test takes: the end of a lease would be a trace.
        let body = json!({"queues": ["default"], "worker_id": "w", "visibility_timeout_ms": 600_000});
        self.wire.post("/workers/fetch", &body).await.expect(200).json()["jobs"][0].clone()
    }

    /// The job's document, as the server shows it now.
    pub async fn job(&mut self, id: &str) -> Value {
        self.wire.get(&format!("/jobs/{id}")).await.expect(200).job()
    }

    /// Sends a body to a path, expects the refusal, and that it left no trace.
    #[track_caller]
    pub fn refuses<'a>(
        &'a mut self,
        path: &'a str,
        body: impl AsRef<[u8]> + 'a,
        status: u16,
        code: &'a str,
    ) -> impl Future<Output = Value> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let before = self.trace().await;
            let body = body.as_ref();
            let head = format!(
                "POST /ojs/v1{path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let answer = send_and_read(self.reconnect().await, &[head.as_bytes(), body].concat()).await;
            let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
            let error = check_refusal(&answer, status, code, &format!("{caller}: POST {path} {shown}"));
            assert_eq!(self.trace().await, before, "{caller}: a refused request left a trace: POST {path} {shown}");
            error
        }
    }

    /// Everything that could have changed: the events and the counts. Asks on a fresh connection, and for health as well.
    pub async fn trace(&mut self) -> Value {
        let wire = self.reconnect().await;
        assert_eq!(wire.get("/health").await.expect(200).json()["status"], "ok");
        let events = wire.get("/events?limit=1000").await.expect(200).json()["events"].clone();
        let queues = wire.get("/queues").await.expect(200).json()["queues"].clone();
        let counts = wire.get("/queues/default/stats").await.expect(200).json()["queue"].clone();
        json!([events, queues, counts])
    }
}

/// Sends while reading: a server that refuses early stops reading, and its answer must not be missed.
pub async fn send_and_read(wire: &mut Wire, bytes: &[u8]) -> Answer {
    // The sending half may fail: the server has closed what it no longer reads. The answer is what counts.
    let _ = wire.send(bytes).await;
    wire.answer().await.expect("an answer, not a broken connection")
}

/// The form of every refusal: status, code, the headers, and a body that helps.
pub fn check_refusal(answer: &Answer, status: u16, code: &str, what: &str) -> Value {
    let text = String::from_utf8_lossy(&answer.body);
    assert_eq!(answer.status, status, "{what}: {text}");
    assert_eq!(answer.header("content-type"), Some("application/openjobspec+json"), "{what}");
    assert_eq!(answer.header("ojs-version"), Some("1.0"), "{what}");
    let error = answer.json()["error"].clone();
    assert_eq!(error["code"], code, "{what}: {text}");
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{what}: {text}");
    assert_eq!(error["retryable"], status == 408 || status == 429 || status >= 500, "{what}: {text}");
    assert_eq!(error["request_id"].as_str(), answer.header("x-request-id"), "{what}: {text}");
    assert!(error["hint"].is_string() && error["docs_url"].is_string(), "{what}: {text}");
    error
}
