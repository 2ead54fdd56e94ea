//! Spans of requests: their names and attributes come from path and body.
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use opentelemetry::context::FutureExt;
use opentelemetry::trace::{SpanBuilder, SpanKind};
use opentelemetry::{Context, KeyValue};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Live, Spans, messaging};
use crate::encryption::Codec;
use crate::error::Error;
use crate::transport::{BoxFuture, Enqueued, Method, Request, Response, Transport, TransportError};
use crate::worker::JobContext;

/// Attempts whose outcome has not been reported. Beyond it all are forgotten: reports that never got through.
const MAX_ENDED: usize = 10_000;

/// The spans of attempts, for the reports of their outcomes.
#[derive(Default)]
pub(super) struct Ended {
    /// A transport with spans is there.
    watched: AtomicBool,
    attempts: Mutex<HashMap<String, Attempt>>,
}

#[derive(Clone)]
struct Attempt {
    context: Context,
    job_type: String,
    queue: String,
}

impl Ended {
    pub fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    pub fn began(&self, ctx: &JobContext, context: &Context) {
        if self.watched.load(Ordering::Relaxed) {
            let attempt =
                Attempt { context: context.clone(), job_type: ctx.job_type().to_owned(), queue: ctx.queue().to_owned() };
            let mut attempts = self.attempts();
            if attempts.len() >= MAX_ENDED {
                attempts.clear();
            }
            attempts.insert(ctx.id().to_owned(), attempt);
        }
    }

    fn attempts(&self) -> MutexGuard<'_, HashMap<String, Attempt>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transport whose requests have spans.
pub(super) struct Traced {
    inner: Arc<dyn Transport>,
    spans: Spans,
}

/// The spans of one request.
enum Asked {
    /// One job, by id or by outcome.
    Job(Live),
    /// Jobs on their way to the server.
    Batch(Live),
    /// Jobs on their way to a worker, and outcomes on their way back.
    Exchange { fetch: Option<Live>, reports: Vec<(String, Live)> },
    /// None.
    Nothing,
}

impl Traced {
    pub fn new(inner: Arc<dyn Transport>, spans: Spans) -> Self {
        Self { inner, spans }
    }

    fn asked(&self, request: &Request) -> Asked {
        let body = request.body.as_deref().unwrap_or_default();
        match (&request.method, &*request.path) {
            (&Method::POST, "/jobs/batch" | "/jobs/bulk") => self.batch(body),
            (&Method::POST, "/workers/fetch") => Asked::Exchange { fetch: Some(self.fetch(body)), reports: Vec::new() },
            (&Method::POST, "/workers/ack") => self.report("ojs.ack", body),
            (&Method::POST, "/workers/nack") => self.report("ojs.nack", body),
            (&Method::POST, "/workers/exchange") => self.exchange(body),
            (method, path) => match (method, path.strip_prefix("/jobs/")) {
                (&Method::GET, Some(id)) if !id.contains(['/', '?']) => Asked::Job(self.one("ojs.get_job", "receive", id)),
                (&Method::DELETE, Some(id)) if !id.contains(['/', '?']) => Asked::Job(self.one("ojs.cancel", "settle", id)),
                _ => Asked::Nothing,
            },
        }
    }

    fn batch(&self, body: &[u8]) -> Asked {
        #[derive(Deserialize, Default)]
        struct Batch {
            #[serde(default)]
            jobs: Vec<Job>,
        }
        #[derive(Deserialize)]
        struct Job {
            #[serde(default)]
            options: Options,
        }
        #[derive(Deserialize, Default)]
        struct Options {
            queue: Option<String>,
        }
        let jobs = serde_json::from_slice::<Batch>(body).unwrap_or_default().jobs;
        let queue = |job: &Job| job.options.queue.clone().unwrap_or_else(|| "default".to_owned());
        let queues: BTreeSet<String> = jobs.iter().map(queue).collect();
        let queues = queues.into_iter().collect::<Vec<_>>().join(",");
        let span = self.span(format!("{queues} enqueue_batch"), SpanKind::Producer, messaging("publish", &queues), None);
        span.set(count(jobs.len()));
        Asked::Batch(span)
    }

    fn fetch(&self, body: &[u8]) -> Live {
        #[derive(Deserialize, Default)]
        struct Fetch {
            #[serde(default)]
            queues: Vec<String>,
        }
        let queues = serde_json::from_slice::<Fetch>(body).unwrap_or_default().queues.join(",");
        self.span(format!("{queues} fetch"), SpanKind::Consumer, messaging("receive", &queues), None)
    }

    fn report(&self, name: &'static str, body: &[u8]) -> Asked {
        #[derive(Deserialize)]
        struct Report {
            job_id: String,
        }
        match serde_json::from_slice::<Report>(body) {
            Ok(Report { job_id }) => {
                Asked::Exchange { fetch: None, reports: vec![(job_id.clone(), self.outcome(name, &job_id))] }
            }
            Err(_) => Asked::Nothing,
        }
    }

    fn exchange(&self, body: &[u8]) -> Asked {
        #[derive(Deserialize)]
        struct Exchange {
            #[serde(default)]
            count: u64,
            #[serde(default)]
            outcomes: Vec<Outcome>,
        }
        #[derive(Deserialize)]
        struct Outcome {
            job_id: String,
            error: Option<IgnoredAny>,
            requeue: Option<bool>,
        }
        let Ok(exchange) = serde_json::from_slice::<Exchange>(body) else { return Asked::Nothing };
        let report = |outcome: Outcome| {
            let nack = outcome.error.is_some() || outcome.requeue == Some(true);
            let span = self.outcome(if nack { "ojs.nack" } else { "ojs.ack" }, &outcome.job_id);
            (outcome.job_id, span)
        };
        let reports = exchange.outcomes.into_iter().map(report).collect();
        Asked::Exchange { fetch: (exchange.count > 0).then(|| self.fetch(body)), reports }
    }

    /// The report of an outcome: a child of the attempt's span.
    fn outcome(&self, name: &'static str, id: &str) -> Live {
        let attempt = self.spans.ended.attempts().get(id).cloned();
        let queue = attempt.as_ref().map_or("", |attempt| &attempt.queue);
        let mut attributes = messaging("settle", queue);
        attributes.push(KeyValue::new("ojs.job.id", id.to_owned()));
        attributes.extend(attempt.as_ref().map(|attempt| KeyValue::new("ojs.job.type", attempt.job_type.clone())));
        self.span(name.to_owned(), SpanKind::Client, attributes, attempt.map(|attempt| attempt.context))
    }

    fn one(&self, name: &'static str, operation: &'static str, id: &str) -> Live {
        let attributes = vec![
            KeyValue::new("messaging.system", "ojs"),
            KeyValue::new("messaging.operation.type", operation),
            KeyValue::new("ojs.job.id", id.to_owned()),
        ];
        self.span(name.to_owned(), SpanKind::Client, attributes, None)
    }

    fn span(&self, name: String, kind: SpanKind, attributes: Vec<KeyValue>, parent: Option<Context>) -> Live {
        let builder = SpanBuilder::from_name(name).with_kind(kind).with_attributes(attributes);
        self.spans.begin(builder, &parent.unwrap_or_else(Context::current))
    }

    fn answered(&self, asked: Asked, answer: &Result<Response, TransportError>) {
        let answer = match answer {
            Ok(response) if response.is_success() => Ok(&response.body),
            Ok(response) => Err(Error::from_response(response)),
            Err(error) => Err(Error::from(error.clone())),
        };
        match asked {
            Asked::Nothing => {}
            Asked::Job(span) => {
                if let Ok(body) = answer {
                    describe(&span, body);
                }
                end(span, answer.err().as_ref());
            }
            Asked::Batch(span) => end(span, answer.err().as_ref()),
            Asked::Exchange { fetch, reports } => {
                let refused = answer.as_ref().map_or_else(|_| Vec::new(), |body| self.settled(body, &reports));
                for (index, (_, span)) in reports.into_iter().enumerate() {
                    let own = refused.iter().find(|(at, _)| *at == index).map(|(_, error)| error);
                    end(span, own.or(answer.as_ref().err()));
                }
                if let Some(span) = fetch {
                    if let Ok(body) = answer {
                        span.set(count(jobs_in(body)));
                    }
                    end(span, answer.err().as_ref());
                }
            }
        }
    }

    /// Which outcomes of a exchange were refused; the attempts are over.
    fn settled(&self, body: &Bytes, reports: &[(String, Live)]) -> Vec<(usize, Error)> {
        #[derive(Deserialize, Default)]
        struct Answer<'a> {
            #[serde(borrow, default)]
            results: Vec<One<'a>>,
        }
        #[derive(Deserialize)]
        struct One<'a> {
            #[serde(borrow, default)]
            error: Option<&'a serde_json::value::RawValue>,
        }
        let mut attempts = self.spans.ended.attempts();
        reports.iter().for_each(|(id, _)| drop(attempts.remove(id)));
        let answer: Answer<'_> = serde_json::from_slice(body).unwrap_or_default();
        let errors = answer.results.into_iter().enumerate();
        errors.filter_map(|(at, one)| one.error.map(|error| (at, Error::from_item(error.get())))).collect()
    }
}

impl Transport for Traced {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let asked = self.asked(&request);
            let context = match &asked {
                Asked::Job(span) | Asked::Batch(span) => span.context.clone(),
                Asked::Exchange { .. } | Asked::Nothing => Context::current(),
            };
            let answer = self.inner.request(request).with_context(context).await;
            self.answered(asked, &answer);
            answer
        })
    }

    fn resends(&self) -> bool {
        self.inner.resends()
    }

    fn codec(&self) -> Option<&Codec> {
        self.inner.codec()
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    fn enqueue_signal(&self) -> Option<&Enqueued> {
        self.inner.enqueue_signal()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}

fn end(span: Live, error: Option<&Error>) {
    match error {
        None => span.succeed(),
        Some(error) => span.fail(error.code(), &error.to_string(), &[]),
    }
}

fn count(jobs: usize) -> KeyValue {
    KeyValue::new("messaging.batch.message_count", i64::try_from(jobs).unwrap_or(i64::MAX))
}

fn jobs_in(body: &[u8]) -> usize {
    #[derive(Deserialize, Default)]
    struct Answer {
        #[serde(default)]
        jobs: Vec<IgnoredAny>,
    }
    serde_json::from_slice::<Answer>(body).unwrap_or_default().jobs.len()
}

/// What the answer says of the job.
fn describe(span: &Live, body: &Bytes) {
    let Ok(job) = crate::job::from_answer(body) else { return };
    span.set(KeyValue::new("messaging.destination.name", job.queue.clone()));
    span.set(KeyValue::new("ojs.job.queue", job.queue));
    span.set(KeyValue::new("ojs.job.type", job.job_type));
    span.set(KeyValue::new("ojs.job.state", job.state.as_str().to_owned()));
}
