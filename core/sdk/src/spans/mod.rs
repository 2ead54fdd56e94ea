//! OpenTelemetry spans around jobs (extensions section 12; feature `opentelemetry`).
//!
//! One [`Spans`] is a layer of both chains, and [around](Spans::around) the transport it makes spans of the requests too:
//!
//! ```
//! # #[cfg(feature = "embedded")]
//! # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
//! use ojs::{Client, Worker, spans::Spans};
//!
//! let spans = Spans::global(); // of the provider that the program has set
//! let transport = Client::connect("memory:").await?.transport().clone();
//! let client = Client::new(spans.around(transport));
//! client.use_middleware("trace_inject", spans.clone())?;
//! let worker = Worker::for_client(&client);
//! worker.middleware().prepend("trace_extract", spans)?;
//! # Ok(()) }
//! # #[cfg(not(feature = "embedded"))] fn main() {}
//! ```
//!
//! | span | kind | where |
//! |---|---|---|
//! | `{queue} enqueue` | producer | the layer around enqueueing: one per job, in batches and outboxes too |
//! | `{queue} process` | consumer | the layer around handlers: one per attempt, linked to the enqueue span, parent of what the handler does |
//! | `{queue} enqueue_batch`, `{queue} fetch` | producer, consumer | the transport |
//! | `ojs.ack`, `ojs.nack` | client, children of the process span | the transport |
//! | `ojs.cancel`, `ojs.get_job` | client | the transport |
//!
//! The trace travels in the job's metadata: `traceparent`, `tracestate`, `baggage` (W3C). Arguments and results are on no span.
use std::fmt;
use std::sync::Arc;

use opentelemetry::global::{self, BoxedTracer};
use opentelemetry::trace::{SpanBuilder, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, InstrumentationScope, KeyValue};

use crate::transport::Transport;
use crate::workflow::WorkflowDefinition;

mod carrier;
mod enqueue;
mod process;
mod requests;

use requests::{Ended, Traced};

/// Makes the spans. Cheap to clone: clones are one.
#[derive(Clone)]
pub struct Spans {
    tracer: Arc<BoxedTracer>,
    ended: Arc<Ended>,
}

impl Spans {
    /// Of the provider that the program has set as the global one; call it after that.
    #[must_use]
    pub fn global() -> Self {
        Self::of(global::tracer_with_scope(scope()))
    }

    /// Of this provider.
    pub fn new<P>(provider: &P) -> Self
    where
        P: TracerProvider,
        P::Tracer: Tracer<Span: Send + Sync + 'static> + Send + Sync + 'static,
    {
        Self::of(BoxedTracer::new(Box::new(provider.tracer_with_scope(scope()))))
    }

    fn of(tracer: BoxedTracer) -> Self {
        Self { tracer: Arc::new(tracer), ended: Arc::default() }
    }

    /// A transport whose requests have spans. Give the same `Spans` to the worker's chain: then acks are children of the attempts they report.
    #[must_use]
    pub fn around(&self, transport: Arc<dyn Transport>) -> Arc<dyn Transport> {
        self.ended.watch();
        Arc::new(Traced::new(transport, self.clone()))
    }

    /// A workflow whose jobs carry the present trace: the first step and, when the server starts them, all others. Jobs with a trace of
    /// their own keep it.
    ///
    /// ```
    /// use ojs::{JobRequest, spans::Spans, workflow::chain};
    /// let import = Spans::global().workflow(chain([JobRequest::new("data.fetch", ()), JobRequest::new("data.load", ())]));
    /// ```
    pub fn workflow(&self, mut definition: WorkflowDefinition) -> WorkflowDefinition {
        let context = Context::current();
        definition.each_job(&mut |job| {
            if !job.meta.contains_key(carrier::TRACEPARENT) {
                carrier::inject(&context, &mut job.meta);
                if let Some(origin) = job.meta.get(carrier::TRACEPARENT).cloned() {
                    job.meta.insert(carrier::ORIGIN.to_owned(), origin);
                }
            }
        });
        definition
    }

    /// Begins a span around what runs in its context.
    fn begin(&self, builder: SpanBuilder, parent: &Context) -> Live {
        let span = self.tracer.build_with_context(builder, parent);
        Live { context: parent.with_span(span), orphaned: None }
    }
}

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spans")
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("ojs").with_version(env!("CARGO_PKG_VERSION")).build()
}

/// What spans of every kind have: the operation's place in OpenTelemetry's conventions for messaging.
fn messaging(operation: &'static str, queue: &str) -> Vec<KeyValue> {
    vec![
        KeyValue::new("messaging.system", "ojs"),
        KeyValue::new("messaging.operation.type", operation),
        KeyValue::new("messaging.destination.name", queue.to_owned()),
        KeyValue::new("ojs.job.queue", queue.to_owned()),
    ]
}

/// A span under way.
struct Live {
    context: Context,
    /// Its status when its end was not reported: it was dropped.
    orphaned: Option<&'static str>,
}

impl Live {
    fn set(&self, attribute: KeyValue) {
        self.context.span().set_attribute(attribute);
    }

    fn succeed(mut self) {
        self.orphaned = None;
        self.context.span().set_status(Status::Ok);
    }

    /// `kind`: a code or the name of a type, never a text of many values.
    fn fail(mut self, kind: &str, message: &str, backtrace: &[String]) {
        self.orphaned = None;
        let span = self.context.span();
        let mut exception =
            vec![KeyValue::new("exception.type", kind.to_owned()), KeyValue::new("exception.message", message.to_owned())];
        if !backtrace.is_empty() {
            exception.push(KeyValue::new("exception.stacktrace", backtrace.join("\n")));
        }
        span.add_event("exception", exception);
        span.set_attribute(KeyValue::new("error.type", kind.to_owned()));
        span.set_attribute(KeyValue::new("error.message", message.to_owned()));
        span.set_status(Status::error(message.to_owned()));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let span = self.context.span();
        if let Some(what) = self.orphaned {
            span.set_attribute(KeyValue::new("error.type", what));
            span.set_status(Status::error(what));
        }
        span.end();
    }
}
