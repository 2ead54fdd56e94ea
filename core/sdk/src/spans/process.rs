//! The span of an attempt: `{queue} process`.
use opentelemetry::context::FutureExt;
use opentelemetry::trace::{Link, SpanBuilder, SpanKind};
use opentelemetry::{Context, KeyValue};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Live, Spans, carrier, messaging};
use crate::dispatch::CancelReason;
use crate::middleware::{Middleware, Next};
use crate::transport::BoxFuture;
use crate::worker::{HandlerResult, JobContext};

/// The layer `trace_extract`.
impl Middleware for Spans {
    fn handle<'a>(&'a self, ctx: JobContext, next: Next) -> BoxFuture<'a, HandlerResult> {
        Box::pin(async move {
            let meta: Map<String, Value> = ctx.job().meta.parse().unwrap_or_default();
            let builder = SpanBuilder::from_name(format!("{} process", ctx.queue())).with_kind(SpanKind::Consumer);
            let builder = builder.with_attributes(attributes(&ctx));
            // A link, no parent: the job may run long after its producer's trace is over, and more than once.
            let builder = builder.with_links(carrier::span(&meta).map(Link::with_context).into_iter().collect());
            let mut span = self.begin(builder, &carrier::with_baggage(&Context::current(), &meta));
            span.orphaned = Some("panicked or aborted");
            self.ended.began(&ctx, &span.context);
            let result = next.run(ctx.clone()).with_context(span.context.clone()).await;
            conclude(span, &ctx, &result);
            result
        })
    }
}

fn conclude(span: Live, ctx: &JobContext, result: &HandlerResult) {
    let Err(error) = result else { return span.succeed() };
    match error.failure() {
        // A cancelled job that stops with an error has done as it was told.
        Some(_) if ctx.cancel_reason() == Some(CancelReason::Cancelled) => span.succeed(),
        Some(failure) => {
            span.set(KeyValue::new("ojs.job.error.attempt", i64::from(ctx.attempt())));
            span.fail(&failure.kind, &failure.message, &failure.backtrace);
        }
        // Snoozed or given back.
        None => span.succeed(),
    }
}

fn attributes(ctx: &JobContext) -> Vec<KeyValue> {
    #[derive(Deserialize, Default)]
    struct Member {
        workflow_type: Option<String>,
        workflow_step: Option<Value>,
    }
    let job = ctx.job();
    let mut attributes = messaging("process", ctx.queue());
    attributes.extend([
        KeyValue::new("ojs.job.id", ctx.id().to_owned()),
        KeyValue::new("messaging.message.id", ctx.id().to_owned()),
        KeyValue::new("ojs.job.type", ctx.job_type().to_owned()),
        KeyValue::new("ojs.job.attempt", i64::from(ctx.attempt())),
        KeyValue::new("ojs.job.priority", job.priority),
        KeyValue::new("ojs.job.state", "active"),
        KeyValue::new("messaging.message.body.size", i64::try_from(job.args.as_bytes().len()).unwrap_or(i64::MAX)),
    ]);
    if let Some(worker) = ctx.worker_id() {
        attributes.push(KeyValue::new("ojs.worker.id", worker));
    }
    if let Some(id) = ctx.workflow_id() {
        let member: Member = job.document.parse().unwrap_or_default();
        attributes.push(KeyValue::new("ojs.workflow.id", id.to_owned()));
        attributes.extend(member.workflow_type.map(|kind| KeyValue::new("ojs.workflow.type", kind)));
        let step = member.workflow_step.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
        attributes.extend(step.map(|step| KeyValue::new("ojs.workflow.step", step)));
    }
    attributes
}
