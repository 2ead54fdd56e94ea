//! `/jobs`: enqueue, read, cancel, activate.
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use ojs_model::json::{member, object, push_bare, push_member, push_text, push_time, string};
use ojs_model::limits::{MAX_BATCH_JOBS, PRIORITY_RANGE};
use ojs_model::{ErrorCode, NewJob, OjsError, Timestamp, envelope};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tracing::{Instrument, Span};

use crate::engine::Engine;
use crate::error::Refusal;
use crate::http::call::Call;
use crate::http::caller::Asker;
use crate::http::header::BLOCK_TIMEOUT;
use crate::http::page::pressure;
use crate::http::reply::{Failure, Json};
use crate::http::request::job_id;
use crate::kernel::command::{Activate, Cancel, Changed, SetPriority};
use crate::kernel::job::JobView;
use crate::kernel::placed::{Placed, Pressure};
use crate::kernel::query::GetJob;
use crate::kernel::typed::Command;
use crate::kernel::{owner, render};
use crate::spans;

pub async fn enqueue(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let mut job = engine.parse_job(envelope::check_body(&call.body)?, engine.now(), call.request_id())?;
    call.asker.sign(&mut job);
    if engine.options().test_mode {
        reject_for_test(&job)?;
    }
    let id = job.id;
    let mut warnings = std::mem::take(&mut job.warnings);
    let patience = block_timeout(&call.headers)?;
    let _slot = call.slot(&engine, patience)?;
    let placed = store(&engine, vec![Arc::new(job)], patience).await?;
    let deduplicated = placed.iter().any(|placed| placed.deduplicated);
    warnings.extend(placed.iter().flat_map(|placed| placed.warnings.iter().cloned()));
    let mut out = String::with_capacity(512);
    out.push_str("{\"job\":");
    for placed in &placed {
        owner::placed(&mut out, placed);
    }
    if deduplicated {
        push_bare(&mut out, "deduplicated", true);
    }
    push_warnings(&mut out, &warnings);
    out.push('}');
    let answer = if deduplicated { Json::ok(out) } else { Json::created(out, Some(format!("/ojs/v1/jobs/{id}"))) };
    Ok(with_pressure(answer, &placed))
}

#[derive(Deserialize)]
struct Batch<'a> {
    #[serde(borrow)]
    jobs: Option<Vec<&'a RawValue>>,
}

pub async fn enqueue_batch(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let jobs = parse_batch(&engine, &call, engine.now())?;
    if engine.options().test_mode {
        jobs.iter().try_for_each(|job| reject_for_test(job))?;
    }
    let mut warnings = located(jobs.iter().map(|job| &job.warnings), ".");
    let patience = block_timeout(&call.headers)?;
    let _slot = call.slot(&engine, patience)?;
    let placed = store(&engine, jobs, patience).await?;
    warnings.extend(located(placed.iter().map(|placed| &placed.warnings), ": "));
    warnings.truncate(MAX_WARNINGS);
    let mut out = String::with_capacity(512 * placed.len());
    out.push_str("{\"jobs\":");
    render::list(&mut out, &placed, owner::placed);
    push_bare(&mut out, "count", placed.len());
    push_warnings(&mut out, &warnings);
    out.push('}');
    Ok(with_pressure(Json::created(out, None), &placed))
}

/// Warnings that one answer carries.
const MAX_WARNINGS: usize = 20;

/// Warnings about the jobs of a batch, each with the place of its job.
fn located<'w>(warnings: impl Iterator<Item = &'w Vec<String>>, separator: &str) -> Vec<String> {
    let warned = warnings.enumerate().filter(|(_, warnings)| !warnings.is_empty());
    let told =
        warned.flat_map(|(index, warnings)| warnings.iter().map(move |warning| format!("jobs[{index}]{separator}{warning}")));
    told.take(MAX_WARNINGS).collect()
}

/// What the server did not understand and did not refuse; nothing when there is nothing.
fn push_warnings(out: &mut String, warnings: &[String]) {
    if !warnings.is_empty() {
        push_member(out, "warnings", &json!(warnings).to_string());
    }
}

fn parse_batch(engine: &Engine, call: &Call, now: Timestamp) -> Result<Vec<Arc<NewJob>>, OjsError> {
    let batch: Batch<'_> = call.parse()?;
    let jobs = batch.jobs.filter(|jobs| !jobs.is_empty());
    let jobs = jobs.ok_or_else(|| OjsError::invalid_field("jobs", "jobs is required: an array of at least one job."))?;
    if jobs.len() > MAX_BATCH_JOBS {
        let message = format!("The batch has {} jobs; the limit is {MAX_BATCH_JOBS}.", jobs.len());
        return Err(OjsError::new(ErrorCode::BatchSizeExceeded, message).with_details(json!({"max_batch_size": MAX_BATCH_JOBS})));
    }
    let parsed = jobs.iter().enumerate().map(|(index, raw)| {
        let signed = engine.parse_job(raw.get(), now, call.request_id()).map(|mut job| {
            call.asker.sign(&mut job);
            Arc::new(job)
        });
        signed.map_err(|mut error| {
            // Which element: without it a client with 1000 jobs is lost.
            error.message = format!("jobs[{index}]: {}", error.message);
            let details = error.details.get_or_insert_with(|| json!({}));
            if let Some(details) = details.as_object_mut() {
                details.insert("index".into(), json!(index));
            }
            error
        })
    });
    parsed.collect()
}

/// `OJS-Block-Timeout`: how long an enqueue may wait for room, in seconds.
fn block_timeout(headers: &HeaderMap) -> Result<Duration, OjsError> {
    let Some(value) = headers.get(&BLOCK_TIMEOUT) else { return Ok(Duration::ZERO) };
    let seconds = value.to_str().ok().and_then(|text| text.trim().parse::<f64>().ok()).filter(|s| (0.0..=1e9).contains(s));
    let seconds = seconds.ok_or_else(|| {
        OjsError::new(ErrorCode::InvalidRequest, "OJS-Block-Timeout must be a number of seconds, 0 or more.")
            .with_details(json!({"field": "OJS-Block-Timeout"}))
    })?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Says what the key of a job has left, and how full the fullest queue is, when that is worth a warning.
fn with_pressure(answer: Json, placed: &[Placed]) -> Json {
    let answer = match placed.iter().find_map(|placed| placed.key) {
        None => answer,
        Some(key) => {
            answer.with_header("x-ratelimit-limit", key.limit).with_header("x-ratelimit-remaining", key.remaining).with_header(
                "x-ratelimit-reset",
                key.reset.as_millis().div_euclid(1000) + i64::from(key.reset.as_millis() % 1000 > 0),
            )
        }
    };
    let share = |p: &Pressure| pressure(p.depth, p.bound);
    let worst = placed.iter().filter_map(|placed| placed.pressure).max_by(|a, b| share(a).total_cmp(&share(b)));
    match worst {
        None => answer,
        Some(worst) => answer
            .with_header("x-ojs-queue-depth", worst.depth)
            .with_header("x-ojs-queue-bound", worst.bound)
            .with_header("x-ojs-queue-pressure", format!("{:.2}", share(&worst).min(1.0))),
    }
}

/// The span of accepting jobs (extensions, section 12). It continues the trace of the job that came first.
fn span_of(job: &NewJob) -> Span {
    let span = tracing::info_span!(
        target: spans::TARGET, "ojs.enqueue", otel.kind = "server", messaging.system = "ojs",
        messaging.operation.type = "publish", messaging.destination.name = &*job.queue,
        ojs.job.id = %job.id, ojs.job.type = &*job.job_type, ojs.job.queue = &*job.queue,
    );
    spans::continued(&span, || {
        let envelope = object(&job.body);
        member(member(&envelope, "meta")?, "traceparent").and_then(string).map(Cow::into_owned)
    });
    span
}

async fn store(engine: &Engine, jobs: Vec<Arc<NewJob>>, patience: Duration) -> Result<Vec<Placed>, Refusal> {
    let began = Instant::now();
    let trace = jobs.iter().find_map(|job| job.trace_id.clone());
    let span = jobs.first().map_or_else(Span::none, |job| span_of(job));
    let placed = engine.enqueue(jobs, patience).instrument(span).await?;
    // A batch is one wait, for whichever queues.
    if let Some(first) = placed.first() {
        engine.metrics().enqueued(&first.job.queue, began.elapsed(), trace);
    }
    Ok(placed)
}

/// The conformance suite's stand-in for a validating middleware; present in test mode only.
fn reject_for_test(job: &NewJob) -> Result<(), OjsError> {
    let envelope: serde_json::Value = serde_json::from_str(&object(&job.body)).unwrap_or_default();
    if job.job_type == "test.middleware.reject" && envelope.pointer("/meta/ojs_validate") == Some(&json!(true)) {
        return Err(OjsError::new(ErrorCode::ValidationError, "Rejected by the test middleware."));
    }
    Ok(())
}

pub async fn get(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let view = engine.query(GetJob(job_id("job", &id)?)).await?;
    if !asker.is_stranger_to(&view) {
        return Ok(Json::ok(wrapped(&view, |_| {})));
    }
    let mut out = String::from("{\"job\":");
    owner::outline(&mut out, &view);
    out.push('}');
    Ok(Json::ok(out))
}

pub async fn cancel(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    changed(&engine, Cancel(job_id("job", &id)?), None).await
}

pub async fn activate(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    changed(&engine, Activate(job_id("job", &id)?), None).await
}

#[derive(Deserialize)]
struct Change {
    priority: Option<serde_json::Value>,
}

/// `PATCH /jobs/{id} {"priority":n}`: while the job waits for its turn.
pub async fn patch(State(engine): State<Engine>, Path(id): Path<String>, call: Call) -> Result<Json, Failure> {
    let id = job_id("job", &id)?;
    let change: Change = call.parse()?;
    let wanted = change.priority.as_ref().and_then(serde_json::Value::as_i64).filter(|n| PRIORITY_RANGE.contains(n));
    let priority = wanted.and_then(|n| i32::try_from(n).ok()).ok_or_else(|| {
        OjsError::invalid_field("priority", "priority is required: an integer from -100 to 100. Nothing else can be changed.")
    })?;
    let Changed { job, .. } = engine.execute(SetPriority(id, priority)).await?;
    Ok(Json::ok(wrapped(&job, |_| {})))
}

/// Runs a command that changes one job and prints the job; `stamp` names a member that carries the time of the change.
pub async fn changed(engine: &Engine, command: impl Command<Reply = Changed>, stamp: Option<&str>) -> Result<Json, Failure> {
    let Changed { job: view, previous } = engine.execute(command).await?;
    let at = Timestamp::from_millis(view.row.enqueued_at);
    Ok(Json::ok(wrapped(&view, |out| {
        push_text(out, "previous_state", previous.as_str());
        if let Some(name) = stamp {
            push_time(out, name, at);
        }
    })))
}

/// `{"job": {…}}`
pub fn wrapped(view: &JobView, more: impl FnOnce(&mut String)) -> String {
    let mut out = String::from("{");
    push_member(&mut out, "job", "");
    render::object(&mut out, view, more);
    out.push('}');
    out
}
