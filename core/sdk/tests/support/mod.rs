//! A server played by the test, and a host whose handlers are the test.
#![allow(dead_code, reason = "each test file uses its part")]
pub mod double;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs::dispatch::{CancelReason, Delivery, DeliveryKey, Dispatch, Outcome, Phase};
use ojs::transport::{self, Request, Response, Transport, TransportError, TransportErrorKind};
use ojs::worker::{WorkerDriver, WorkerHandle, WorkerOptions};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// Longer than any wait of the worker: time is paused, so it passes at once when nothing else happens.
const PATIENCE: Duration = Duration::from_secs(600);

type Answer = Result<Response, TransportError>;

/// One request that waits for the test's answer.
pub struct Call {
    pub request: Request,
    answer: oneshot::Sender<Answer>,
}

impl Call {
    pub fn path(&self) -> &str {
        &self.request.path
    }

    pub fn body(&self) -> Value {
        self.request.body.as_deref().map_or(Value::Null, |body| serde_json::from_slice(body).expect("requests are JSON"))
    }

    pub fn reply(self, status: u16, body: Value) {
        self.answer_with(Ok(Response::new(status, body.to_string())));
    }

    pub fn refuse(self, status: u16, code: &str, details: Value) {
        self.reply(status, json!({"error": {"code": code, "message": code, "details": details}}));
    }

    pub fn fail(self, kind: TransportErrorKind) {
        self.answer_with(Err(TransportError::new(kind, "the test says so")));
    }

    pub fn answer_with(self, answer: Answer) {
        // A request that was cut short has no receiver.
        let _ = self.answer.send(answer);
    }
}

/// The test's end of the wire.
pub struct Server {
    calls: mpsc::UnboundedReceiver<Call>,
    beats: mpsc::UnboundedReceiver<Call>,
}

/// A transport, and the server behind it. Heartbeats come in a line of their own.
pub fn server() -> (Arc<dyn Transport>, Server) {
    let (sender, calls) = mpsc::unbounded_channel();
    let (beat_sender, beats) = mpsc::unbounded_channel();
    let transport = transport::from_fn(move |request| {
        let line = if request.path == "/workers/heartbeat" { beat_sender.clone() } else { sender.clone() };
        async move {
            let (answer, answered) = oneshot::channel();
            let gone = || TransportError::new(TransportErrorKind::Connect, "the test is over");
            line.send(Call { request, answer }).map_err(|_| gone())?;
            answered.await.map_err(|_| gone())?
        }
    });
    (transport, Server { calls, beats })
}

impl Server {
    /// The next request, which must go to this path.
    #[track_caller]
    pub fn expect<'a>(&'a mut self, path: &'a str) -> impl Future<Output = Call> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let call = tokio::time::timeout(PATIENCE, self.calls.recv()).await;
            let call = call.unwrap_or_else(|_| panic!("no request to {path} at {caller}")).expect("the worker lives");
            assert_eq!(call.path(), path, "at {caller}; body {}", call.body());
            call
        }
    }

    pub async fn beat(&mut self) -> Call {
        tokio::time::timeout(PATIENCE, self.beats.recv()).await.expect("no heartbeat").expect("the worker lives")
    }

    /// Whether a request arrives within this time.
    pub async fn hears_within(&mut self, time: Duration) -> Option<Call> {
        tokio::time::timeout(time, self.calls.recv()).await.ok().flatten()
    }

    pub async fn plain(&mut self) {
        self.expect(transport::MANIFEST_PATH).await.reply(404, json!({}));
    }

    pub async fn with_exchange(&mut self) {
        let manifest = json!({"extensions": {"experimental": [{"name": "x-worker-exchange", "version": "1.0.0"}]}});
        self.expect(transport::MANIFEST_PATH).await.reply(200, manifest);
    }

    /// Answers the next fetch with these jobs.
    pub async fn hand_out(&mut self, jobs: &[Value]) {
        self.expect("/workers/fetch").await.reply(200, json!({"jobs": jobs}));
    }
}

/// Answers every heartbeat with "go on" from now on; the calls go to the returned list.
pub fn keep_alive(mut beats: mpsc::UnboundedReceiver<Call>) -> Arc<Mutex<Vec<Value>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Some(call) = beats.recv().await {
            list.lock().expect("lives").push(call.body());
            call.reply(200, json!({"state": "running"}));
        }
    });
    seen
}

impl Server {
    /// Lets the server answer heartbeats by itself.
    pub fn beats_alone(&mut self) -> Arc<Mutex<Vec<Value>>> {
        let (_, empty) = mpsc::unbounded_channel();
        keep_alive(std::mem::replace(&mut self.beats, empty))
    }
}

pub fn job(id: &str) -> Value {
    json!({"id": id, "type": "email.send", "queue": "default", "state": "active", "attempt": 1, "args": [1.0]})
}

/// A host with a number of slots; what it is told comes out of channels.
pub struct Host {
    pub deliveries: mpsc::UnboundedReceiver<Delivery>,
    pub cancels: mpsc::UnboundedReceiver<(DeliveryKey, CancelReason)>,
    pub phases: mpsc::UnboundedReceiver<Phase>,
    slots: Arc<Slots>,
}

struct Slots {
    free: AtomicUsize,
    deliveries: mpsc::UnboundedSender<Delivery>,
    cancels: mpsc::UnboundedSender<(DeliveryKey, CancelReason)>,
    phases: mpsc::UnboundedSender<Phase>,
}

struct HostDispatch(Arc<Slots>);

impl Dispatch for HostDispatch {
    fn capacity(&self) -> usize {
        self.0.free.load(Ordering::SeqCst)
    }

    fn dispatch(&self, batch: Vec<Delivery>) {
        self.0.free.fetch_sub(batch.len(), Ordering::SeqCst);
        for delivery in batch {
            assert_ne!(delivery.id, "bomb", "the host panics");
            self.0.deliveries.send(delivery).expect("the test listens");
        }
    }

    fn cancel(&self, key: DeliveryKey, why: CancelReason) {
        let _ = self.0.cancels.send((key, why));
    }

    fn phase(&self, phase: Phase) {
        let _ = self.0.phases.send(phase);
    }
}

impl Host {
    pub fn new(slots: usize) -> (Self, Arc<dyn Dispatch>) {
        let (deliveries, deliveries_out) = mpsc::unbounded_channel();
        let (cancels, cancels_out) = mpsc::unbounded_channel();
        let (phases, phases_out) = mpsc::unbounded_channel();
        let slots = Arc::new(Slots { free: AtomicUsize::new(slots), deliveries, cancels, phases });
        let dispatch = Arc::new(HostDispatch(Arc::clone(&slots)));
        (Self { deliveries: deliveries_out, cancels: cancels_out, phases: phases_out, slots }, dispatch)
    }

    pub async fn next(&mut self) -> Delivery {
        tokio::time::timeout(PATIENCE, self.deliveries.recv()).await.expect("no delivery").expect("the worker lives")
    }

    /// The handler of this delivery ends.
    pub fn finish(&self, delivery: Delivery, outcome: Outcome) {
        self.slots.free.fetch_add(1, Ordering::SeqCst);
        delivery.completion.finish(outcome);
    }

    pub async fn cancelled(&mut self) -> (DeliveryKey, CancelReason) {
        tokio::time::timeout(PATIENCE, self.cancels.recv()).await.expect("no cancel").expect("the worker lives")
    }
}

pub fn done(result: &'static str) -> Outcome {
    Outcome::Completed { result: Some(result.into()) }
}

/// A worker named `w` with this many slots against a played server.
pub fn worker(slots: usize, options: impl FnOnce(WorkerOptions) -> WorkerOptions) -> (Server, Host, WorkerHandle) {
    let (transport, server) = server();
    let (host, dispatch) = Host::new(slots);
    let options = options(WorkerOptions::default().concurrency(slots).worker_id("w"));
    let handle = WorkerDriver::start(transport, options, dispatch);
    (server, host, handle)
}
