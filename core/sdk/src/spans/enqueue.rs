//! The span of an enqueue: `{queue} enqueue`.
use std::borrow::Cow;

use opentelemetry::context::FutureExt;
use opentelemetry::trace::{SpanBuilder, SpanKind, TraceContextExt};
use opentelemetry::{Context, KeyValue};

use super::{Spans, carrier, messaging};
use crate::error::Error;
use crate::job::Job;
use crate::middleware::{EnqueueMiddleware, EnqueueNext};
use crate::options::defaults;
use crate::request::JobRequest;
use crate::transport::BoxFuture;

/// Where the job will go: the queue that it names, else that of its type.
fn destination(request: &JobRequest) -> Cow<'_, str> {
    if request.queue != "default" || request.named_queue {
        return Cow::Borrowed(&request.queue);
    }
    defaults::queue(&request.job_type).map_or(Cow::Borrowed("default"), Cow::Owned)
}

/// The layer `trace_inject`.
impl EnqueueMiddleware for Spans {
    fn handle<'a>(&'a self, mut request: JobRequest, next: EnqueueNext) -> BoxFuture<'a, Result<Option<Job>, Error>> {
        Box::pin(async move {
            let queue = destination(&request);
            let builder = SpanBuilder::from_name(format!("{queue} enqueue"));
            let builder = builder.with_kind(SpanKind::Producer).with_attributes(attributes(&request, &queue));
            let span = self.begin(builder, &parent(&request));
            carrier::inject(&span.context, &mut request.meta);
            let result = next.run(request).with_context(span.context.clone()).await;
            match &result {
                Ok(job) => {
                    if let Some(job) = job {
                        span.set(KeyValue::new("ojs.job.id", job.id.clone()));
                        span.set(KeyValue::new("messaging.message.id", job.id.clone()));
                        span.set(KeyValue::new("ojs.job.state", job.state.as_str().to_owned()));
                    }
                    span.succeed();
                }
                Err(error) => span.fail(error.code(), &error.to_string(), &[]),
            }
            result
        })
    }
}

/// The current span; where there is none, or the job names another trace, what the job names.
fn parent(request: &JobRequest) -> Context {
    let current = Context::current();
    let here = current.span().span_context().clone();
    match carrier::span(&request.meta) {
        Some(named) if !here.is_valid() || named.trace_id() != here.trace_id() => current.with_remote_span_context(named),
        _ => current,
    }
}

fn attributes(request: &JobRequest, queue: &str) -> Vec<KeyValue> {
    let mut attributes = messaging("publish", queue);
    attributes.push(KeyValue::new("ojs.job.type", request.job_type.clone()));
    attributes.push(KeyValue::new("ojs.job.priority", i64::from(request.priority)));
    let size = i64::try_from(request.args.as_bytes().len()).unwrap_or(i64::MAX);
    attributes.push(KeyValue::new("messaging.message.body.size", size));
    if let Some(when) = &request.delay_until {
        attributes.push(KeyValue::new("ojs.job.scheduled_at", when.text().to_owned()));
    }
    attributes
}
