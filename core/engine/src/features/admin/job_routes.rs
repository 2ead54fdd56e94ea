//! `/admin/jobs`: look for jobs, one or many.
use axum::extract::{Path, RawQuery, State};
use ojs_model::json::{object, push_member};
use ojs_model::{JobState, OjsError, RetryPolicy, Timestamp};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::admin::commands::{ListJobs, SearchJobs, StepJobs};
use crate::features::admin::filter::Search;
use crate::features::admin::records::{JobPage, JobStep};
use crate::features::dead_letters::commands::Replay;
use crate::features::tenants::commands::GetTenant;
use crate::http::operator::{Paging, time};
use crate::http::page::cursor;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id};
use crate::http::terms::{invalid, job_type, state};
use crate::kernel::command::{Cancel, Changed};
use crate::kernel::job::JobView;
use crate::kernel::query::GetJob;
use crate::kernel::render;
use crate::kernel::typed::Command;
use crate::store::listing::{LOOK, MAX_OFFSET, STEP};
use crate::store::rows::{JobFilter, JobSort};

/// `GET /admin/jobs?q&queue&state&type&since&until&sort&order&page&per_page&cursor&count`: newest first unless asked
/// otherwise.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let cursor = params.get("cursor").map(cursor).transpose()?;
    let filter = JobFilter { behind: cursor, ..filter(&params, paging)? };
    if let Some(text) = params.get("q") {
        return search(engine, text, filter).await;
    }
    if cursor.is_some() || params.flag("count")? == Some(false) {
        let step = engine.query(StepJobs(by_cursor(filter))).await?;
        return Ok(one_step(&step, paging.per_page));
    }
    if filter.offset > MAX_OFFSET {
        let message = format!("page and per_page pass over {} jobs; the most is {MAX_OFFSET}.", filter.offset);
        return Err(invalid("page", message).with_hint("Go on with cursor, which is the next_cursor of the page before.").into());
    }
    let JobPage { jobs, total, has_more, next, is_complete } = engine.query(ListJobs(JobFilter { look: LOOK, ..filter })).await?;
    let mut pagination = paging.object(total);
    if let Some(pagination) = pagination.as_object_mut() {
        pagination.insert("has_more".into(), json!(has_more));
        pagination.insert("complete".into(), json!(is_complete));
        pagination.insert("next_cursor".into(), json!(next.map(|place| place.to_string())));
    }
    Ok(answer(&jobs, &pagination))
}

/// The page of a search. What a search compares is not counted, so all its pages go on by cursors.
async fn search(engine: Engine, text: &str, filter: JobFilter) -> Result<Json, Failure> {
    let mut search = Search::read(text, engine.now())?;
    let mut filter = by_cursor(filter);
    search.narrow(&mut filter);
    let engine = match search.tenant.take() {
        // A caller of a tenant sees no other one.
        Some(id) if engine.tenant().is_some_and(|own| **own != *id) => return Err(OjsError::not_found("tenant", &id).into()),
        Some(id) => engine.of_tenant(engine.query(GetTenant(id)).await?.row.id),
        None => engine,
    };
    let per_page = filter.limit;
    let step = match search.is_empty() {
        true => engine.query(StepJobs(filter)).await?,
        false => engine.query(SearchJobs(filter, search)).await?,
    };
    Ok(one_step(&step, per_page))
}

fn by_cursor(filter: JobFilter) -> JobFilter {
    JobFilter { look: STEP, offset: 0, ..filter }
}

fn one_step(step: &JobStep, per_page: usize) -> Json {
    let pagination = json!({
        "per_page": per_page, "has_more": step.next.is_some(), "complete": step.is_complete,
        "next_cursor": step.next.map(|place| place.to_string()),
    });
    answer(&step.jobs, &pagination)
}

fn answer(jobs: &[JobView], pagination: &Value) -> Json {
    let mut out = String::from("{\"items\":");
    render::list(&mut out, jobs, render::job);
    push_member(&mut out, "pagination", &pagination.to_string());
    out.push('}');
    Json::ok(out)
}

/// `GET /admin/tenants/{id}/jobs`: the same of one tenant.
pub async fn list_of_tenant(State(engine): State<Engine>, Path(id): Path<String>, query: RawQuery) -> Result<Json, Failure> {
    let view = engine.query(GetTenant(id)).await?;
    list(State(engine.of_tenant(view.row.id)), query).await
}

fn filter(params: &Params, paging: Paging) -> Result<JobFilter, OjsError> {
    let state = params.get("state").map(state).transpose()?;
    let sort = match params.get("sort") {
        None | Some("created_at") => JobSort::Created,
        Some("scheduled_at") => JobSort::Scheduled,
        Some("priority") => JobSort::Priority,
        Some(other) => {
            return Err(invalid("sort", format!("sort cannot be '{other}': use created_at, scheduled_at or priority.")));
        }
    };
    let ascending = match params.get("order") {
        None | Some("desc") => false,
        Some("asc") => true,
        Some(other) => return Err(invalid("order", format!("order cannot be '{other}': use asc or desc."))),
    };
    Ok(JobFilter {
        tenant: None,
        queue: params.get("queue").map(str::to_owned),
        state,
        job_type: params.get("type").map(job_type).transpose()?,
        since: time(params, "since")?,
        until: time(params, "until")?,
        sort,
        ascending,
        limit: paging.per_page,
        offset: paging.offset(),
        ..JobFilter::default()
    })
}

/// `GET /admin/jobs/{id}`: the envelope itself, not wrapped, with its retry policy and its times in one place.
pub async fn get(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    Ok(Json::ok(detail(&engine.query(GetJob(job_id("job", &id)?)).await?)))
}

/// `POST /admin/jobs/{id}/cancel`
pub async fn cancel(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    change(&engine, Cancel(job_id("job", &id)?)).await
}

/// `POST /admin/jobs/{id}/retry`: a discarded job starts afresh. A cancelled one does not: cancelled is final.
pub async fn retry(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    change(&engine, Replay(job_id("job", &id)?)).await
}

async fn change(engine: &Engine, command: impl Command<Reply = Changed>) -> Result<Json, Failure> {
    Ok(Json::ok(detail(&engine.execute(command).await?.job)))
}

fn detail(view: &JobView) -> String {
    // Jobs may have members of their own: what the client sent is not replaced.
    let own: Map<String, Value> = serde_json::from_str(&object(&view.body.text)).unwrap_or_default();
    let mut out = String::new();
    render::object(&mut out, view, |out| {
        if view.history.errors.is_empty() {
            push_member(out, "errors", "[]");
        }
        if !own.contains_key("retry_policy") {
            let policy = view.body.retry.clone().unwrap_or_else(|| RetryPolicy::default().to_value().to_string());
            push_member(out, "retry_policy", &policy);
        }
        if !own.contains_key("metadata") {
            push_member(out, "metadata", &times(view).to_string());
        }
    });
    out
}

fn times(view: &JobView) -> Value {
    let row = &view.row;
    let ended = |state| if row.state == state { row.finished_at } else { 0 };
    let times = [
        ("created_at", row.created_at),
        ("enqueued_at", row.enqueued_at),
        ("activated_at", row.activated_at),
        ("started_at", row.started_at),
        ("completed_at", ended(JobState::Completed)),
        ("cancelled_at", ended(JobState::Cancelled)),
        ("discarded_at", ended(JobState::Discarded)),
        ("expires_at", row.expires_at),
    ];
    let known = times.into_iter().filter(|(_, at)| *at > 0);
    known.map(|(name, at)| (name.to_owned(), json!(Timestamp::from_millis(at).to_string()))).collect::<Map<_, _>>().into()
}
