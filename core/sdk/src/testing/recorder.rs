//! A transport that records what is sent and answers like a server would.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::enqueued::{jobs_of, last_of, none_of};
use crate::client::Client;
use crate::transport::{BoxFuture, Request, Response, Transport, TransportError};

/// Records requests. Enqueues are answered as a server would, anything else with an empty object; answers of your own
/// come first. Clones share their record.
#[derive(Clone, Default)]
pub struct Recorder {
    inner: Arc<Mutex<Record>>,
}

#[derive(Default)]
struct Record {
    requests: Vec<Request>,
    answers: VecDeque<Result<Response, TransportError>>,
    made: u64,
}

impl Recorder {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A client that talks to this recorder.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(Arc::new(self.clone()))
    }

    /// Answers the next request with this.
    pub fn answer(&self, answer: Result<Response, TransportError>) {
        self.lock().answers.push_back(answer);
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Forgets all requests.
    pub fn clear(&self) {
        self.lock().requests.clear();
    }

    /// All jobs enqueued so far, as sent, those of batches included.
    #[must_use]
    pub fn enqueued(&self) -> Vec<Value> {
        self.lock().requests.iter().flat_map(jobs_of).collect()
    }

    /// The last enqueued job of this type, as sent.
    ///
    /// # Panics
    /// When there is none: this is an assertion.
    #[track_caller]
    pub fn assert_enqueued(&self, job_type: &str) -> Value {
        last_of(&self.enqueued(), job_type)
    }

    /// Checks that no job of this type was enqueued.
    ///
    /// # Panics
    /// When there is one: this is an assertion.
    #[track_caller]
    pub fn assert_not_enqueued(&self, job_type: &str) {
        none_of(&self.enqueued(), job_type);
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Recorder {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let mut record = self.lock();
        let answer = match record.answers.pop_front() {
            Some(answer) => answer,
            None => Ok(usual_answer(&request, &mut record.made)),
        };
        record.requests.push(request);
        Box::pin(std::future::ready(answer))
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("requests", &self.lock().requests.len()).finish()
    }
}

fn usual_answer(request: &Request, made: &mut u64) -> Response {
    let mut jobs: Vec<Value> = jobs_of(request);
    for job in &mut jobs {
        *made += 1;
        complete(job, *made);
    }
    match request.path.as_ref() {
        "/jobs" if request.method == http::Method::POST => Response::new(201, json!({"job": jobs.pop()}).to_string()),
        "/jobs/batch" | "/jobs/bulk" => Response::new(201, json!({"count": jobs.len(), "jobs": jobs}).to_string()),
        "/workers/fetch" => Response::new(200, r#"{"jobs":[]}"#),
        _ => Response::new(200, "{}"),
    }
}

/// Adds what a server adds.
fn complete(job: &mut Value, number: u64) {
    if let Some(job) = job.as_object_mut() {
        let queue = job.get("options").and_then(|options| options.get("queue")).cloned().unwrap_or_else(|| json!("default"));
        job.entry("id").or_insert_with(|| json!(format!("recorded-{number}")));
        job.insert("queue".into(), queue);
        job.insert("state".into(), json!("available"));
        job.insert("attempt".into(), json!(0));
    }
}
