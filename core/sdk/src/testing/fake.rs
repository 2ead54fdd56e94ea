//! An engine of a test's own in place of the server, which remembers what was enqueued and runs handlers when told.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::enqueued::{jobs_of, last_of, none_of};
use crate::client::Client;
use crate::dispatch::Outcome;
use crate::error::Error;
use crate::transport::{BoxFuture, Embedded, Request, Response, Transport, TransportError};
use crate::worker::Worker;

/// A real engine in memory that remembers what went into it: unique jobs, delays and workflows behave as in production, and nothing runs
/// before [`drain`](Self::drain) says so. With [`inline`](Self::inline), jobs run as they are enqueued.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
/// use ojs::Worker;
/// use ojs::testing::Fake;
///
/// let fake = Fake::start().await?;
/// let client = fake.client();
/// client.enqueue("email.send", "a@example.com").await?; // the code under test
/// fake.assert_enqueued("email.send");
///
/// let worker = Worker::for_client(&client);
/// worker.register("email.send", |ctx| async move { Ok(ctx.args::<(String,)>()?) })?;
/// assert_eq!(fake.drain(&worker).await?, 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Fake {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Embedded,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    enqueued: Vec<Value>,
    inline: Option<Arc<Worker>>,
}

impl Fake {
    /// An empty engine.
    ///
    /// # Errors
    /// [`Error::Transport`] when the engine does not start.
    pub async fn start() -> Result<Self, Error> {
        let engine = Embedded::open("memory:").await?;
        Ok(Self { inner: Arc::new(Inner { engine, record: Mutex::default() }) })
    }

    /// A client for the code under test.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(Arc::new(self.clone()))
    }

    /// Runs the worker's handlers on everything that is available, jobs enqueued on the way included, and tells how many ran. Handlers run
    /// here, inside the worker's layers; the worker need not be started. A panic of a handler is a panic of this call.
    ///
    /// # Errors
    /// [`Error::Ojs`] with the code and the message of the first job that failed, after it was marked as failed; else as
    /// [`Client::call`].
    pub async fn drain(&self, worker: &Worker) -> Result<usize, Error> {
        let mut ran = 0;
        while let Some(outcome) = worker.perform_next(&self.inner.engine).await? {
            ran += 1;
            if let Outcome::Failed(failure) = outcome {
                return Err(Error::from_response(&failed(&failure.code, &failure.message)));
            }
        }
        Ok(ran)
    }

    /// From now on jobs run with this worker's handlers before the enqueue returns. What a handler fails with is what the enqueue fails
    /// with. `None` ends it.
    pub fn inline(&self, worker: impl Into<Option<Arc<Worker>>>) {
        self.record().inline = worker.into();
    }

    /// All jobs enqueued so far, as sent, those of batches included; not those that the engine refused.
    #[must_use]
    pub fn enqueued(&self) -> Vec<Value> {
        self.record().enqueued.clone()
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

    fn record(&self) -> MutexGuard<'_, Record> {
        self.inner.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn carry(&self, request: Request) -> Result<Response, TransportError> {
        let jobs = jobs_of(&request);
        let answer = self.inner.engine.request(request).await?;
        if !answer.is_success() {
            return Ok(answer);
        }
        // A handler that enqueues is inside this already: its job runs in the round under way.
        let worker = {
            let mut record = self.record();
            record.enqueued.extend(jobs);
            record.inline.take()
        };
        let Some(worker) = worker else { return Ok(answer) };
        let drained = self.drain(&worker).await;
        self.record().inline.get_or_insert(worker);
        match drained {
            Ok(_) => Ok(answer),
            Err(Error::Transport(error)) => Err(error),
            Err(error) => {
                Ok(error.ojs().map_or_else(|| failed("handler_error", &error.to_string()), |e| failed(&e.code, &e.message)))
            }
        }
    }
}

/// A failure of a handler as an answer.
fn failed(code: &str, message: &str) -> Response {
    Response::new(422, json!({"error": {"code": code, "message": message, "retryable": false}}).to_string())
}

impl Transport for Fake {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(self.carry(request))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.engine.close()
    }
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fake").field("enqueued", &self.record().enqueued.len()).finish_non_exhaustive()
    }
}
