//! OpenTelemetry spans of producers and workers, kept in memory (extensions section 12; OBS-001 to OBS-003, EI-002).
#![cfg(all(feature = "embedded", feature = "opentelemetry"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ojs::encryption::{Codec, Encrypted, Key, Keys};
use ojs::spans::Spans;
use ojs::transport::{self, Response, connect};
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs::{Client, HandlerError, JobContext, JobRequest, RetryPolicy, Worker, workflow};
use opentelemetry::context::FutureExt;
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::json;
use tokio::sync::mpsc;

const REMOTE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A program with telemetry.
struct Program {
    client: Client,
    spans: Spans,
    provider: SdkTracerProvider,
    exporter: InMemorySpanExporter,
}

impl Program {
    async fn new() -> Self {
        Self::over(connect("memory:", Default::default()).await.unwrap())
    }

    fn over(transport: Arc<dyn ojs::transport::Transport>) -> Self {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
        let spans = Spans::new(&provider);
        let client = Client::new(spans.around(transport));
        client.use_middleware("trace_inject", spans.clone()).unwrap();
        Self { client, spans, provider, exporter }
    }

    /// A worker that says what each of its runs was; the first attempt of `t.fail` fails.
    fn worker(&self) -> (WorkerHandle, mpsc::UnboundedReceiver<JobContext>) {
        let worker = Worker::new(Arc::clone(self.client.transport()), WorkerOptions::default().worker_id("w"));
        worker.middleware().add("trace_extract", self.spans.clone()).unwrap();
        let (seen, log) = mpsc::unbounded_channel();
        for kind in ["t.ok", "t.fail", "t.panic", "t.more"] {
            let (seen, client) = (seen.clone(), self.client.clone());
            worker.register(kind, move |ctx: JobContext| handle(ctx, seen.clone(), client.clone())).unwrap();
        }
        (worker.start(), log)
    }

    fn finished(&self) -> Vec<SpanData> {
        self.exporter.get_finished_spans().unwrap()
    }

    fn named(&self, name: &str) -> Vec<SpanData> {
        self.finished().into_iter().filter(|span| span.name == name).collect()
    }
}

async fn handle(ctx: JobContext, seen: mpsc::UnboundedSender<JobContext>, client: Client) -> Result<(), HandlerError> {
    seen.send(ctx.clone())?;
    match (ctx.job_type(), ctx.attempt()) {
        ("t.fail", 1) => Err(HandlerError::new("not yet").with_kind("NotYet")),
        ("t.panic", 1) => panic!("a bug"),
        ("t.more", _) => client.enqueue("t.ok", ()).await.map(drop).map_err(HandlerError::from),
        _ => Ok(()),
    }
}

fn attributes(span: &SpanData) -> BTreeMap<&str, &Value> {
    span.attributes.iter().map(|pair| (pair.key.as_str(), &pair.value)).collect()
}

fn text(span: &SpanData, name: &str) -> String {
    attributes(span).get(name).map_or_else(|| panic!("no {name}: {span:?}"), ToString::to_string)
}

fn retry() -> RetryPolicy {
    RetryPolicy::new().max_attempts(3).initial_interval(Duration::from_millis(1))
}

async fn runs(log: &mut mpsc::UnboundedReceiver<JobContext>, count: usize) -> Vec<JobContext> {
    let mut all = Vec::new();
    while all.len() < count {
        all.push(tokio::time::timeout(Duration::from_secs(60), log.recv()).await.expect("a run").expect("a worker"));
    }
    all
}

#[tokio::test]
async fn obs_002_and_003_a_job_has_a_span_where_it_is_made_and_a_linked_one_where_it_runs() {
    let program = Program::new().await;
    let request = program.provider.tracer("web").start("GET /");
    let context = Context::new().with_span(request);
    let job = program.client.enqueue("t.ok", ["secret-args"]).queue("mail").priority(7).send();
    let job = job.with_context(context.clone()).await.unwrap();
    let (handle, mut log) = {
        let worker = Worker::new(Arc::clone(program.client.transport()), WorkerOptions::new(["mail"]).worker_id("w"));
        worker.middleware().add("trace_extract", program.spans.clone()).unwrap();
        let (seen, log) = mpsc::unbounded_channel();
        worker.register("t.ok", move |ctx: JobContext| std::future::ready(seen.send(ctx).map_err(HandlerError::from))).unwrap();
        (worker.start(), log)
    };
    runs(&mut log, 1).await;
    handle.shutdown(None).await;

    let [made] = &program.named("mail enqueue")[..] else { panic!("{:?}", program.finished()) };
    let [run] = &program.named("mail process")[..] else { panic!("{:?}", program.finished()) };
    assert_eq!((&made.span_kind, &run.span_kind), (&SpanKind::Producer, &SpanKind::Consumer));
    assert_eq!((&made.status, &run.status), (&Status::Ok, &Status::Ok));
    let here = context.span().span_context().clone();
    assert_eq!((made.span_context.trace_id(), made.parent_span_id), (here.trace_id(), here.span_id()));
    // Linked, and no child.
    let [link] = &run.links[..] else { panic!("{run:?}") };
    assert_eq!(
        (link.span_context.trace_id(), link.span_context.span_id()),
        (made.span_context.trace_id(), made.span_context.span_id())
    );
    assert_eq!(run.parent_span_id, SpanId::INVALID);
    for (span, operation) in [(made, "publish"), (run, "process")] {
        for (name, value) in [
            ("messaging.system", "ojs"),
            ("messaging.operation.type", operation),
            ("messaging.destination.name", "mail"),
            ("messaging.message.id", &job.id),
            ("ojs.job.id", &job.id),
            ("ojs.job.type", "t.ok"),
            ("ojs.job.queue", "mail"),
            ("ojs.job.priority", "7"),
            ("messaging.message.body.size", "15"),
        ] {
            assert_eq!(text(span, name), value, "{name} of {}", span.name);
        }
    }
    assert_eq!((text(run, "ojs.job.attempt"), text(run, "ojs.worker.id")), ("1".to_owned(), "w".to_owned()));
    // The report of the outcome belongs to the attempt.
    let [ack] = &program.named("ojs.ack")[..] else { panic!("{:?}", program.finished()) };
    assert_eq!((ack.parent_span_id, &ack.span_kind), (run.span_context.span_id(), &SpanKind::Client));
    assert_eq!(
        (text(ack, "ojs.job.id"), text(ack, "ojs.job.type"), text(ack, "ojs.job.queue")),
        (job.id, "t.ok".into(), "mail".into())
    );
    assert!(program.named("mail fetch").iter().any(|span| text(span, "messaging.batch.message_count") == "1"));
    assert!(!format!("{:?}", program.finished()).contains("secret-args"));
}

#[tokio::test]
async fn each_attempt_has_a_span_and_failures_are_on_it() {
    let program = Program::new().await;
    let (handle, mut log) = program.worker();
    program.client.enqueue("t.fail", ()).retry(retry()).await.unwrap();
    program.client.enqueue("t.panic", ()).retry(retry()).await.unwrap();
    runs(&mut log, 4).await;
    handle.shutdown(None).await;
    let spans = program.named("default process");
    let of = |kind: &str, attempt: &str| {
        let mut found = spans
            .iter()
            .filter(|span| (text(span, "ojs.job.type"), text(span, "ojs.job.attempt")) == (kind.into(), attempt.into()));
        (found.next().expect("a span").clone(), found.next().is_none())
    };
    let (failed, alone) = of("t.fail", "1");
    assert!(alone && failed.status == Status::error("not yet"), "{failed:?}");
    assert_eq!(
        (text(&failed, "error.type"), text(&failed, "error.message"), text(&failed, "ojs.job.error.attempt")),
        ("NotYet".into(), "not yet".into(), "1".into())
    );
    assert!(failed.events.iter().any(|event| event.name == "exception"), "{failed:?}");
    let (panicked, _) = of("t.panic", "1");
    assert!(matches!(panicked.status, Status::Error { .. }), "{panicked:?}");
    for kind in ["t.fail", "t.panic"] {
        assert_eq!(of(kind, "2").0.status, Status::Ok);
    }
    assert_eq!((program.named("ojs.nack").len(), program.named("ojs.ack").len()), (2, 2));
}

#[tokio::test]
async fn jobs_that_a_handler_makes_belong_to_its_span() {
    let program = Program::new().await;
    let (handle, mut log) = program.worker();
    program.client.enqueue("t.more", ()).await.unwrap();
    runs(&mut log, 2).await;
    handle.shutdown(None).await;
    let run = program.named("default process").into_iter().find(|span| text(span, "ojs.job.type") == "t.more").unwrap();
    let made = program.named("default enqueue").into_iter().find(|span| text(span, "ojs.job.type") == "t.ok").unwrap();
    assert_eq!((made.span_context.trace_id(), made.parent_span_id), (run.span_context.trace_id(), run.span_context.span_id()));
}

#[tokio::test]
async fn obs_001_the_trace_that_a_job_names_goes_on() {
    let program = Program::new().await;
    let job = program.client.enqueue("t.ok", ()).meta("traceparent", REMOTE).meta("tracestate", "vendor=7").await.unwrap();
    let [made] = &program.named("default enqueue")[..] else { panic!("{:?}", program.finished()) };
    assert_eq!(made.parent_span_id.to_string(), "00f067aa0ba902b7");
    let meta: serde_json::Value = program.client.get_job(&job.id).await.unwrap().meta.parse().unwrap();
    let own = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", made.span_context.span_id());
    assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(own), &json!("vendor=7")));
    assert_eq!(text(&program.named("ojs.get_job")[0], "ojs.job.type"), "t.ok");
    program.client.cancel_job(&job.id).await.unwrap();
    assert_eq!(text(&program.named("ojs.cancel")[0], "ojs.job.state"), "cancelled");
}

#[tokio::test]
async fn a_batch_has_one_span_for_the_request_and_one_per_job() {
    let program = Program::new().await;
    let jobs = ["a", "b"].map(|queue| JobRequest::new("t.ok", ()).queue(queue));
    program.client.enqueue_batch(jobs).await.unwrap();
    let batch = &program.named("a,b enqueue_batch")[0];
    assert_eq!((text(batch, "messaging.batch.message_count"), &batch.span_kind), ("2".to_owned(), &SpanKind::Producer));
    assert_eq!((program.named("a enqueue").len(), program.named("b enqueue").len()), (1, 1));
}

#[tokio::test]
async fn dt_every_span_of_the_document_has_its_name_its_kind_and_its_attributes() {
    let program = Program::new().await;
    let (handle, mut log) = program.worker();
    program.client.enqueue("t.fail", ()).retry(retry()).await.unwrap();
    runs(&mut log, 2).await;
    handle.shutdown(None).await;
    let [one, two] = ["t.ok", "t.ok"].map(|kind| JobRequest::new(kind, ()));
    let waiting = program.client.enqueue_batch([one, two]).await.unwrap().remove(0).unwrap();
    program.client.get_job(&waiting.id).await.unwrap();
    program.client.cancel_job(&waiting.id).await.unwrap();
    const ALL: &[&str] = &["messaging.system", "messaging.destination.name", "ojs.job.queue"];
    const JOB: &[&str] = &["ojs.job.id", "ojs.job.type", "messaging.message.id"];
    const RUN: &[&str] =
        &["ojs.job.attempt", "ojs.job.state", "ojs.job.priority", "ojs.worker.id", "messaging.message.body.size"];
    for (name, kind, operation, attributes) in [
        ("default enqueue", SpanKind::Producer, Some("publish"), [ALL, JOB].concat()),
        ("default enqueue_batch", SpanKind::Producer, Some("publish"), ALL.to_vec()),
        ("default fetch", SpanKind::Consumer, None, ALL.to_vec()),
        ("default process", SpanKind::Consumer, Some("process"), [ALL, JOB, RUN].concat()),
        ("ojs.ack", SpanKind::Client, None, vec!["messaging.system", "ojs.job.id"]),
        ("ojs.nack", SpanKind::Client, None, vec!["messaging.system", "ojs.job.id"]),
        ("ojs.cancel", SpanKind::Client, None, vec!["ojs.job.id"]),
        ("ojs.get_job", SpanKind::Client, None, vec!["ojs.job.id"]),
    ] {
        let spans = program.named(name);
        assert!(!spans.is_empty(), "there is no span {name}: {:?}", program.finished());
        for span in &spans {
            assert_eq!(span.span_kind, kind, "{name}");
            attributes.iter().for_each(|attribute| drop(text(span, attribute)));
            if let Some(operation) = operation {
                assert_eq!(text(span, "messaging.operation.type"), operation, "{name}");
            }
        }
    }
}

#[tokio::test]
async fn a_refused_job_is_an_error() {
    let refusal = json!({"error": {"code": "queue_paused", "message": "no", "retryable": false}}).to_string();
    let program = Program::over(transport::from_fn(move |_| std::future::ready(Ok(Response::new(409, refusal.clone())))));
    program.client.enqueue("t.ok", ()).await.unwrap_err();
    let [made] = &program.named("default enqueue")[..] else { panic!("{:?}", program.finished()) };
    assert!(matches!(made.status, Status::Error { .. }) && text(made, "error.type") == "queue_paused", "{made:?}");
}

#[tokio::test]
async fn the_jobs_of_a_workflow_carry_its_trace() {
    let program = Program::new().await;
    let (handle, mut log) = program.worker();
    let context = Context::new().with_span(program.provider.tracer("web").start("POST /import"));
    let chain = workflow::chain([JobRequest::new("t.ok", ()), JobRequest::new("t.ok", ())]);
    let chain = {
        let _here = context.clone().attach();
        program.spans.workflow(chain)
    };
    let started = program.client.workflow(&chain).await.unwrap();
    let steps = runs(&mut log, 2).await;
    handle.shutdown(None).await;
    let parent = format!("00-{}-{}-01", context.span().span_context().trace_id(), context.span().span_context().span_id());
    for (step, ctx) in steps.iter().enumerate() {
        let meta: serde_json::Value = ctx.job().meta.parse().unwrap();
        assert_eq!(meta, json!({"traceparent": parent, "ojs.workflow.trace_origin": parent}));
        let spans = program.named("default process");
        let span = spans.iter().find(|span| text(span, "ojs.job.id") == ctx.id()).unwrap();
        let member = ["ojs.workflow.id", "ojs.workflow.type", "ojs.workflow.step"].map(|name| text(span, name));
        assert_eq!(member, [started.id.clone(), "chain".to_owned(), step.to_string()]);
    }
}

#[tokio::test]
async fn ei_002_neither_plaintext_nor_ciphertext_is_on_a_span() {
    let wire = connect("memory:", Default::default()).await.unwrap();
    let keys = Keys::new("k-1", Key::new([1; 32])).unwrap();
    let program = Program::over(Arc::new(Encrypted::new(wire, Codec::new(keys))));
    let job = program.client.enqueue("t.fail", ["4111 1111"]).retry(retry()).await.unwrap();
    let stored = program.client.get_job(&job.id).await.unwrap();
    let ciphertext = stored.args.parse::<serde_json::Value>().unwrap()[0].as_object().map(|blob| blob["data"].clone());
    let (handle, mut log) = program.worker();
    runs(&mut log, 2).await;
    handle.shutdown(None).await;
    let all = format!("{:?}", program.finished());
    assert!(program.named("default process").len() == 2 && !all.contains("4111 1111") && !all.contains("args"), "{all}");
    if let Some(serde_json::Value::String(data)) = ciphertext {
        assert!(!all.contains(&data));
    }
}
