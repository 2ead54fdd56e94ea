//! Drivers of the six published SDKs: each sends what its SDK sends, headers and bodies, and reads what it reads,
//! against the real server. The lines that are cited are those of the public repositories; each file names the versions
//! that it follows.
mod durable;
mod go;
mod java;
mod js;
mod python;
mod ruby;
mod rust;
mod streams;
mod table;

use ojs_tests::{Answer, ServerProcess, Wire};
use serde_json::Value;

/// The media type of OJS.
const OJS: &str = "application/openjobspec+json";

/// A server and a client that words its requests as an SDK does.
struct Sdk {
    server: ServerProcess,
    wire: Wire,
    /// Sent with each request, in this order.
    headers: &'static [(&'static str, &'static str)],
}

impl Sdk {
    async fn new(headers: &'static [(&'static str, &'static str)]) -> Self {
        let server = ServerProcess::memory().await;
        let wire = server.connect().await;
        Self { server, wire, headers }
    }

    /// One request to a path below `/ojs/v1`.
    async fn send(&mut self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.raw(method, &format!("/ojs/v1{path}"), body).await
    }

    /// One request to any path.
    async fn raw(&mut self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length =
            if body.is_empty() && method != "POST" { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.wire
            .send(format!("{method} {path} HTTP/1.1\r\nHost: jobs.internal:8080\r\n{headers}{length}\r\n{body}"))
            .await
            .unwrap();
        self.wire.answer().await.unwrap()
    }
}

/// A member that the SDK cannot do without.
#[track_caller]
fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_else(|| panic!("{name} is no text in {object}"))
}

/// An id of a job: a UUIDv7.
#[track_caller]
fn assert_is_id(id: &str) {
    assert!(id.len() == 36 && id.as_bytes()[14] == b'7', "{id}");
}
