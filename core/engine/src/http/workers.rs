//! `/workers`: fetch, ack, nack, heartbeat, and the exchange that does all of it in one request (decision record 1).
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use bytes::Bytes;
use ojs_model::json::{push_bare, push_member, push_text, push_time};
use ojs_model::limits::{MAX_BATCH_JOBS, MAX_FETCH_COUNT, MAX_FETCH_QUEUES, MAX_FETCH_TYPES, MAX_RESULT_BYTES};
use ojs_model::{ErrorCode, JobError, JobState, OjsError, Timestamp, envelope};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::push::delivery::lease_of;
use crate::http::call::Call;
use crate::http::reply::{Failure, Json};
use crate::http::request::job_id;
use crate::kernel::command::{Beat, Claim, Exchanged, Finished, Heartbeat, Outcome, OutcomeReport};
use crate::kernel::handlers::Handlers;
use crate::kernel::job::{JobRow, JobView};
use crate::kernel::render;
use crate::store::rows::WorkerPhase;

/// What a worker wants. Also the claiming half of an exchange.
#[derive(Deserialize)]
struct ClaimBody<'a> {
    #[serde(borrow, default)]
    queues: Vec<Cow<'a, str>>,
    #[serde(alias = "batch_size")]
    count: Option<u64>,
    #[serde(borrow)]
    worker_id: Option<Cow<'a, str>>,
    visibility_timeout_ms: Option<u64>,
    wait_ms: Option<u64>,
    /// The client reports with lease tokens: nothing else settles what it fetches here.
    #[serde(default)]
    lease_tokens: bool,
    /// Only jobs of these types (`fetch_types` in the manifest).
    #[serde(borrow, default)]
    job_types: Vec<Cow<'a, str>>,
    /// What the worker runs, by job type and version.
    handlers: Option<Value>,
    #[serde(borrow, default)]
    outcomes: Vec<OutcomeBody<'a>>,
}

/// One outcome: the body of ack and nack, an element of an exchange.
#[derive(Deserialize)]
struct OutcomeBody<'a> {
    #[serde(borrow)]
    job_id: Option<Cow<'a, str>>,
    lease_token: Option<i64>,
    /// In place of a lease token, of a job that was pushed.
    #[serde(borrow)]
    delivery_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    worker_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Value>,
    #[serde(default)]
    requeue: bool,
    delay_ms: Option<u64>,
}

impl ClaimBody<'_> {
    fn claim(&self, engine: &Engine, default_count: u64) -> Result<Claim, OjsError> {
        self.check()?;
        for queue in &self.queues {
            envelope::check_queue(queue).map_err(|mut error| {
                error.details = Some(json!({"field": "queues"}));
                error
            })?;
        }
        let count = usize::try_from(self.count.unwrap_or(default_count)).unwrap_or(usize::MAX);
        Ok(Claim {
            queues: self.queues.iter().map(|queue| queue.clone().into_owned()).collect(),
            count: count.min(MAX_FETCH_COUNT),
            worker: self.worker().map(|id| engine.worker_id(id)),
            visibility_ms: self.visibility_timeout_ms,
            fenced: self.lease_tokens,
            types: self.job_types.iter().map(|name| name.clone().into_owned()).collect(),
            handlers: self.handlers.as_ref().map(Handlers::parse).transpose()?.map(Arc::new),
            key: None,
        })
    }

    /// Counts, names and times within their bounds.
    fn check(&self) -> Result<(), OjsError> {
        check_count("outcomes", self.outcomes.len(), MAX_BATCH_JOBS)?;
        check_count("queues", self.queues.len(), MAX_FETCH_QUEUES)?;
        check_count("job_types", self.job_types.len(), MAX_FETCH_TYPES)?;
        for name in &self.job_types {
            envelope::check_type(name).map_err(|mut error| {
                error.details = Some(json!({"field": "job_types"}));
                error
            })?;
        }
        self.worker().map_or(Ok(()), |id| envelope::check_name("worker_id", id))?;
        self.visibility_timeout_ms.map_or(Ok(()), |ms| envelope::check_lease_ms("visibility_timeout_ms", ms))
    }

    fn worker(&self) -> Option<&str> {
        self.worker_id.as_deref().filter(|id| !id.is_empty())
    }

    fn wait(&self) -> Duration {
        Duration::from_millis(self.wait_ms.unwrap_or(0))
    }
}

/// Lists of a request are as long as a batch at most: a longer one would keep others waiting.
fn check_count(field: &str, count: usize, most: usize) -> Result<(), OjsError> {
    if count <= most {
        return Ok(());
    }
    Err(OjsError::new(ErrorCode::BatchSizeExceeded, format!("{field} has {count} elements; the limit is {most}."))
        .with_details(json!({"field": field, "max_batch_size": most})))
}

pub async fn fetch(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let request: ClaimBody<'_> = call.parse()?;
    if request.queues.is_empty() {
        return Err(OjsError::invalid_field("queues", "queues is required: an array of at least one queue name.").into());
    }
    if request.count == Some(0) {
        return Err(OjsError::invalid_field("count", "count must be at least 1.").into());
    }
    let claim = Claim { key: call.asker.key.clone(), ..request.claim(&engine, 1)? };
    let wait = request.wait();
    let _slot = call.slot(&engine, wait)?;
    let Exchanged { jobs, .. } = engine.exchange_while(Vec::new(), Some(claim), wait, call.revoked()).await?;
    let mut out = String::from("{");
    push_jobs(&mut out, &jobs);
    if let Some(first) = jobs.first() {
        push_member(&mut out, "job", "");
        render::leased(&mut out, first);
    }
    out.push('}');
    Ok(Json::ok(out))
}

pub async fn exchange(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let request: ClaimBody<'_> = call.parse()?;
    let claim = Claim { key: call.asker.key.clone(), ..request.claim(&engine, 0)? };
    let claim = (claim.count > 0 && !claim.queues.is_empty()).then_some(claim);
    let wait = request.wait();
    // An outcome that cannot be read is answered in its place; the others are written all the same.
    let mut reports = Vec::with_capacity(request.outcomes.len());
    let mut places = Vec::with_capacity(request.outcomes.len());
    for outcome in &request.outcomes {
        places.push(match outcome.report(&engine, request.worker(), false) {
            Ok(report) => {
                reports.push(report);
                Ok(())
            }
            Err(error) => Err(error),
        });
    }
    let ids: Vec<String> = request.outcomes.iter().map(|o| o.job_id.clone().unwrap_or_default().into_owned()).collect();
    // Outcomes are written even when there is no place to wait.
    let (_slot, wait) = match call.slot(&engine, wait) {
        Err(_) if !reports.is_empty() => (None, Duration::ZERO),
        slot => (slot?, wait),
    };
    let Exchanged { results, jobs, .. } = engine.exchange_while(reports, claim, wait, call.revoked()).await?;
    let mut results = results.into_iter();
    let mut out = String::with_capacity(128 + ids.len() * 80 + jobs.len() * 512);
    out.push_str("{\"results\":[");
    for (index, (id, place)) in ids.iter().zip(places).enumerate() {
        if index > 0 {
            out.push(',');
        }
        let result =
            place.and_then(|()| results.next().unwrap_or_else(|| Err(OjsError::new(ErrorCode::InternalError, "No answer."))));
        out.push('{');
        push_text(&mut out, "job_id", id);
        match result {
            Ok(finished) => {
                push_text(&mut out, "state", finished.row.state.as_str());
                if matches!(finished.row.state, JobState::Retryable | JobState::Discarded) {
                    push_attempt(&mut out, &finished.row);
                }
            }
            Err(error) => push_member(&mut out, "error", &error.to_object().to_string()),
        }
        out.push('}');
    }
    out.push(']');
    push_jobs(&mut out, &jobs);
    push_text(&mut out, "state", "running");
    push_text(&mut out, "directive", "running");
    push_time(&mut out, "server_time", engine.now());
    out.push('}');
    Ok(Json::ok(out))
}

fn push_jobs(out: &mut String, jobs: &[JobView]) {
    push_member(out, "jobs", "");
    render::list(out, jobs, render::leased);
}

impl OutcomeBody<'_> {
    fn report(&self, engine: &Engine, worker: Option<&str>, want_job: bool) -> Result<OutcomeReport, OjsError> {
        let id =
            self.job_id.as_deref().ok_or_else(|| OjsError::invalid_field("job_id", "job_id is required: the id of the job."))?;
        let outcome = if self.requeue {
            Outcome::Release(self.delay()?)
        } else if let Some(error) = &self.error {
            Outcome::Nack(Box::new(JobError::parse(error)?))
        } else {
            Outcome::Ack(self.result()?)
        };
        let own = self.worker_id.as_deref().filter(|id| !id.is_empty());
        own.map_or(Ok(()), |id| envelope::check_name("worker_id", id))?;
        Ok(OutcomeReport {
            job: job_id("job", id)?,
            lease: self.lease()?,
            worker: own.or(worker).map(|id| engine.worker_id(id)),
            outcome,
            want_job,
        })
    }

    /// The token of the claim: as such, or in the id of a delivery.
    fn lease(&self) -> Result<Option<i64>, OjsError> {
        let Some(delivery) = self.delivery_id.as_deref().filter(|_| self.lease_token.is_none()) else {
            return Ok(self.lease_token);
        };
        let wrong = || OjsError::invalid_field("delivery_id", "delivery_id must be the id that came with the job, del_….");
        lease_of(delivery).map(Some).ok_or_else(wrong)
    }

    /// Milliseconds that a released job is kept back: `delay_ms`, or `error.details.snooze_ms`.
    fn delay(&self) -> Result<u64, OjsError> {
        let snooze = || self.error.as_ref()?.pointer("/details/snooze_ms")?.as_u64();
        let (field, ms) = match self.delay_ms {
            Some(ms) => ("delay_ms", ms),
            None => ("error.details.snooze_ms", snooze().unwrap_or(0)),
        };
        envelope::check_delay_ms(field, ms)?;
        Ok(ms)
    }

    fn result(&self) -> Result<Option<Bytes>, OjsError> {
        let Some(raw) = self.result else { return Ok(None) };
        let bytes = raw.get().len();
        if bytes > MAX_RESULT_BYTES {
            let message = format!("The result has {bytes} bytes; the limit is {MAX_RESULT_BYTES}. The job stays active.");
            let details = json!({"field": "result", "actual_bytes": bytes, "max_bytes": MAX_RESULT_BYTES});
            return Err(OjsError::new(ErrorCode::ResultTooLarge, message).with_details(details));
        }
        Ok(Some(Bytes::copy_from_slice(raw.get().as_bytes())))
    }
}

pub async fn ack(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let mut request: OutcomeBody<'_> = call.parse()?;
    (request.error, request.requeue) = (None, false);
    settle(&engine, request.report(&engine, None, true)?).await
}

pub async fn nack(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let request: OutcomeBody<'_> = call.parse()?;
    if request.error.is_none() && !request.requeue {
        let message = "error is required: an object with code and message.";
        return Err(OjsError::invalid_field("error", message).into());
    }
    settle(&engine, request.report(&engine, None, true)?).await
}

/// Writes one outcome and answers in the union of the documented forms (protocol section 3.6).
async fn settle(engine: &Engine, report: OutcomeReport) -> Result<Json, Failure> {
    let Exchanged { results, .. } = engine.exchange(vec![report], None).await?;
    let answer = results.into_iter().next().unwrap_or_else(|| Err(OjsError::new(ErrorCode::InternalError, "No answer.")));
    let Finished { row, job, .. } = answer?;
    let mut out = String::from("{");
    let id = row.id.to_string();
    if row.state == JobState::Completed {
        push_bare(&mut out, "acknowledged", true);
    }
    push_text(&mut out, "id", &id);
    push_text(&mut out, "job_id", &id);
    push_text(&mut out, "state", row.state.as_str());
    if row.state != JobState::Completed {
        push_attempt(&mut out, &row);
    }
    match row.state {
        JobState::Completed => push_time(&mut out, "completed_at", Timestamp::from_millis(row.finished_at)),
        JobState::Discarded => {
            push_time(&mut out, "discarded_at", Timestamp::from_millis(row.finished_at));
            push_time(&mut out, "completed_at", Timestamp::from_millis(row.finished_at));
        }
        _ => {}
    }
    if let Some(view) = &job {
        push_member(&mut out, "job", "");
        render::job(&mut out, view);
    }
    out.push('}');
    Ok(Json::ok(out))
}

/// Which attempt it was, and when the next one is.
fn push_attempt(out: &mut String, row: &JobRow) {
    push_bare(out, "attempt", row.attempt);
    push_bare(out, "max_attempts", row.max_attempts);
    if row.state == JobState::Retryable {
        push_time(out, "next_attempt_at", Timestamp::from_millis(row.sort_key));
        push_bare(out, "retry_delay_ms", row.retry_delay);
    }
}

/// All published shapes of a heartbeat.
#[derive(Deserialize)]
struct BeatBody<'a> {
    #[serde(borrow)]
    worker_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    state: Option<Cow<'a, str>>,
    active_jobs: Option<Value>,
    #[serde(default)]
    active_job_ids: Vec<String>,
    #[serde(default)]
    job_ids: Vec<String>,
    job_id: Option<String>,
    #[serde(default)]
    lease_tokens: HashMap<String, i64>,
    visibility_timeout_ms: Option<u64>,
    /// Another way to say that it is stopping.
    shutdown: Option<Value>,
    /// What the worker says of itself, all optional.
    #[serde(flatten)]
    about: AboutWorker,
}

/// What a worker says of itself. Operators see it as it was sent: the types of the members are not checked.
#[derive(Deserialize, serde::Serialize)]
struct AboutWorker {
    #[serde(skip_serializing_if = "Option::is_none")]
    hostname: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queues: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", alias = "labels")]
    metadata: Option<Value>,
    /// Checked, unlike the others: it decides which jobs the worker is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    handlers: Option<Value>,
}

/// Most that is kept of what a worker says of itself; a worker that says more is not described.
const MAX_ABOUT_BYTES: usize = 4_096;

impl AboutWorker {
    fn info(&mut self) -> Result<Option<crate::store::rows::WorkerInfo>, OjsError> {
        let handlers = self.handlers.take();
        handlers.as_ref().map(Handlers::parse).transpose()?;
        let told = serde_json::to_string(self).ok().filter(|text| text.len() <= MAX_ABOUT_BYTES);
        let Some(handlers) = handlers else { return Ok(told.filter(|text| text != "{}").map(Into::into)) };
        let mut members: Map<String, Value> = told.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        members.insert("handlers".to_owned(), handlers);
        Ok(Some(Value::Object(members).to_string().into()))
    }
}

impl BeatBody<'_> {
    /// How far the worker is with stopping, under all names in use (extensions section 7): it takes jobs, none, is leaving, drains.
    fn phase(&self) -> WorkerPhase {
        match self.state.as_deref() {
            Some("quiet") => WorkerPhase::Quiet,
            Some("terminate" | "terminating" | "terminated") => WorkerPhase::Terminate,
            Some("drain" | "draining" | "shutting_down" | "shutdown" | "stopping" | "stopped") => WorkerPhase::Drain,
            _ if self.shutdown == Some(Value::Bool(true)) => WorkerPhase::Drain,
            _ => WorkerPhase::Running,
        }
    }

    /// The ids held: `active_job_ids`, `active_jobs` when it is an array, `job_ids`, `job_id`.
    fn held(&self) -> Result<Vec<String>, OjsError> {
        let mut ids = self.active_job_ids.clone();
        match &self.active_jobs {
            Some(Value::Array(list)) => ids.extend(list.iter().filter_map(Value::as_str).map(str::to_owned)),
            None | Some(Value::Number(_) | Value::Null) => {}
            Some(_) => {
                return Err(OjsError::invalid_field("active_jobs", "active_jobs must be a number or an array of job ids."));
            }
        }
        ids.extend(self.job_ids.iter().chain(&self.job_id).cloned());
        check_count("active_jobs", ids.len().max(self.lease_tokens.len()), MAX_BATCH_JOBS)?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

pub async fn heartbeat(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let mut request: BeatBody<'_> = call.parse()?;
    let info = request.about.info()?;
    let worker = request.worker_id.as_deref().filter(|id| !id.is_empty());
    // The SDK for Ruby fetches and beats without a name: such a heartbeat renews the jobs that it names.
    let nameless = worker.is_none() && !request.job_ids.is_empty();
    let missing = || OjsError::invalid_field("worker_id", "worker_id is required: a non-empty string.");
    let worker = if nameless { None } else { Some(worker.ok_or_else(missing)?) };
    worker.map_or(Ok(()), |id| envelope::check_name("worker_id", id))?;
    let phase = request.phase();
    request.visibility_timeout_ms.map_or(Ok(()), |ms| envelope::check_lease_ms("visibility_timeout_ms", ms))?;
    let held = request.held()?;
    let count = match &request.active_jobs {
        Some(Value::Number(n)) => n.as_u64().unwrap_or(0),
        _ => held.len() as u64,
    };
    // Ids of foreign shapes name no job of ours and are left out of the answer.
    let jobs = held.iter().filter_map(|id| Some((id.parse().ok()?, request.lease_tokens.get(id).copied()))).collect();
    let beat = Heartbeat {
        worker: worker.map(|id| engine.worker_id(id)).unwrap_or_default(),
        phase,
        jobs,
        visibility_ms: request.visibility_timeout_ms,
        test_directives: engine.options().test_mode,
        info,
        key: call.asker.key.clone(),
    };
    let Beat { extended, cancelled, directive } = engine.execute(beat).await?;
    let body = json!({
        "state": directive.as_str(), "directive": directive.as_str(), "acknowledged": true, "active_jobs": count,
        "jobs_extended": extended, "cancelled_jobs": cancelled, "server_time": engine.now().to_string(),
    });
    Ok(Json::ok(body.to_string()))
}
