//! `/dead-letter`: list, count, read, retry, delete.
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use ojs_model::json::push_member;
use ojs_model::{ErrorCode, JobId, OjsError, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::dead_letters::commands::{
    CountDead, DeleteDeadLetter, DeleteDeadLetters, GetDeadLetter, ListDead, Replay, ReplayChanged, ReplayDead,
};
use crate::features::dead_letters::preview::{MAX_IDS, PreviewReplay, Which};
use crate::features::dead_letters::records::{DeadPage, Override};
use crate::http::jobs::{changed, wrapped};
use crate::http::page::cursor;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id, parse, read_body};
use crate::http::terms::{invalid, job_type as pattern, moment};
use crate::kernel::maintenance::next_prune;
use crate::kernel::render;
use crate::kernel::typed::Command;
use crate::store::listing::LOOK;
use crate::store::rows::DeadFilter;

/// Largest page (protocol section 3.10).
const MAX_PAGE: usize = 100;

/// `GET /dead-letter?queue&type&error_type&since&until&limit&offset`: newest first.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    // A cursor that is a number is an offset: earlier versions of the server gave out such cursors.
    let behind = params.get("cursor").filter(|text| text.parse::<usize>().is_err()).map(cursor).transpose()?;
    let limit = params.limit(MAX_PAGE)?;
    let offset = if behind.is_some() { 0 } else { params.page(MAX_PAGE)?.1 };
    let page = engine.query(ListDead(DeadFilter { look: LOOK, limit, offset, behind, ..filter(&params)? })).await?;
    let mut out = String::from("{\"jobs\":");
    render::list(&mut out, &page.jobs, render::job);
    let mut object = json!({"total": page.total, "limit": limit, "has_more": has_more(&page, offset)});
    if let Some(object) = object.as_object_mut() {
        if behind.is_none() {
            object.insert("offset".into(), json!(offset));
        }
        if let Some(next) = page.next {
            object.insert("next_cursor".into(), json!(next.to_string()));
        }
        object.extend(page.relation());
    }
    push_member(&mut out, "pagination", &object.to_string());
    out.push('}');
    Ok(Json::ok(out))
}

/// Whether there may be more behind a page. Behind an empty page that was asked for by number there is no further page
/// by number, though `next_cursor` may lead on.
pub fn has_more(page: &DeadPage, offset: usize) -> bool {
    page.next.is_some() && (offset == 0 || !page.jobs.is_empty())
}

/// The filter that query parameters describe; the page is the caller's business.
pub fn filter(params: &Params) -> Result<DeadFilter, OjsError> {
    let own = |name: &str| params.get(name).map(str::to_owned);
    Ok(DeadFilter {
        queue: own("queue"),
        job_type: params.get("type").map(pattern).transpose()?,
        error_type: own("error_type"),
        since: params.get("since").map(|text| time("since", text)).transpose()?,
        until: params.get("until").map(|text| time("until", text)).transpose()?,
        ..DeadFilter::default()
    })
}

fn time(name: &str, text: &str) -> Result<i64, OjsError> {
    let at = Timestamp::parse(text).map_err(|error| {
        OjsError::new(ErrorCode::InvalidRequest, format!("{name} is {error}.")).with_details(json!({"field": name}))
    })?;
    Ok(at.as_millis())
}

pub async fn get(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let view = engine.query(GetDeadLetter(job_id("dead letter", &id)?)).await?;
    Ok(Json::ok(wrapped(&view, |_| {})))
}

/// `GET /dead-letter/preview?queue&type&error_type&since&until`, or `?job_ids=…`: what would come of a retry.
pub async fn preview(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let which = match params.list("job_ids") {
        ids if ids.is_empty() => Which::Found(filter(&params)?),
        ids => Which::Named(named(&ids, &params)?),
    };
    let preview = engine.query(PreviewReplay { which, at: engine.now() }).await?;
    Ok(Json::ok(preview.into_value().to_string()))
}

/// The jobs of a preview that names them.
fn named(ids: &[String], params: &Params) -> Result<Vec<JobId>, OjsError> {
    if filter(params)? != DeadFilter::default() {
        return Err(invalid("job_ids", "job_ids names the jobs: leave out the filter, or name no jobs."));
    }
    if ids.len() > MAX_IDS {
        let message = format!("job_ids may name {MAX_IDS} jobs, and names {}: send them in parts, or a filter.", ids.len());
        return Err(invalid("job_ids", message));
    }
    let read =
        |text: &String| text.parse().map_err(|_| invalid("job_ids", format!("job_ids has '{text}', which is no id of a job.")));
    ids.iter().map(read).collect()
}

/// A retry of one, with or without changes.
#[derive(Deserialize)]
struct Retry<'a> {
    #[serde(borrow, rename = "override")]
    change: Option<&'a RawValue>,
}

/// `POST /dead-letter/{id}/retry [{"override":{queue,priority,args,meta,retry}}]`
pub async fn retry(
    State(engine): State<Engine>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    let job = job_id("dead letter", &id)?;
    let body = read_body(&headers, body).await?;
    let request: Retry<'_> = parse(&body)?;
    let stamp = Some("re_enqueued_at");
    match request.change.map(RawValue::get).filter(|raw| *raw != "null") {
        Some(raw) => changed(&engine, ReplayChanged(job, Override::parse(raw, engine.now())?), stamp).await,
        None => changed(&engine, Replay(job), stamp).await,
    }
}

/// What to do with many. A name that is not known is refused: a misspelt filter would mean all of them.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Many {
    #[serde(default)]
    filter: Wanted,
    #[serde(default)]
    confirm: bool,
    older_than: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    queue: Option<String>,
    r#type: Option<String>,
    error_type: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

impl Many {
    /// The filter, once the caller has confirmed that it means it.
    fn confirmed(self, now: Timestamp) -> Result<DeadFilter, OjsError> {
        if !self.confirm {
            let error = OjsError::new(ErrorCode::InvalidRequest, "This changes many jobs at once: confirm must be true.");
            return Err(error.with_details(json!({"field": "confirm"})));
        }
        let Wanted { queue, r#type: job_type, error_type, since, until } = self.filter;
        let at = |name: &str, text: Option<String>| text.map(|text| time(name, &text)).transpose();
        let older = self.older_than.map(|text| moment("older_than", &text, now)).transpose()?;
        let until = at("filter.until", until)?.into_iter().chain(older).min();
        let job_type = job_type.as_deref().map(pattern).transpose()?;
        Ok(DeadFilter { queue, job_type, error_type, since: at("filter.since", since)?, until, ..DeadFilter::default() })
    }
}

/// `POST /dead-letter/retry {"filter":{…},"confirm":true}`
pub async fn retry_many(State(engine): State<Engine>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let ids = each_slice(&engine, parse::<Many>(&body)?.confirmed(engine.now())?, ReplayDead).await?;
    Ok(Json::ok(all_done("retry", "retried", ids.len(), json!({"job_ids": ids}))))
}

/// `DELETE /dead-letter?confirm=true&queue&type&error_type&since&until`, or the same in the body as for a retry.
pub async fn delete_many(
    State(engine): State<Engine>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let body = read_body(&headers, body).await?;
    let mut many: Many = parse(&body)?;
    many.confirm |= params.get("confirm") == Some("true");
    let given = filter(&params)?;
    let inside = many.confirmed(engine.now())?;
    let filter = DeadFilter {
        queue: inside.queue.or(given.queue),
        job_type: inside.job_type.or(given.job_type),
        error_type: inside.error_type.or(given.error_type),
        since: inside.since.or(given.since),
        until: inside.until.or(given.until),
        ..DeadFilter::default()
    };
    let ids = each_slice(&engine, filter, DeleteDeadLetters).await?;
    Ok(Json::ok(all_done("delete", "deleted", ids.len(), json!({}))))
}

/// The answer to a change of many in the forms of both planes. `failed` is always 0: a job that has changed meanwhile
/// is left out.
fn all_done(action: &str, done: &str, jobs: usize, mut more: Value) -> String {
    if let Some(object) = more.as_object_mut() {
        object.extend([
            ("action".to_owned(), json!(action)),
            ("matched".to_owned(), json!(jobs)),
            ("succeeded".to_owned(), json!(jobs)),
            (done.to_owned(), json!(jobs)),
            ("failed".to_owned(), json!(0)),
            ("errors".to_owned(), json!([])),
        ]);
    }
    more.to_string()
}

/// Repeats a command until it finds nothing more. What dies meanwhile is left for the next time.
async fn each_slice<C>(engine: &Engine, filter: DeadFilter, command: fn(DeadFilter) -> C) -> Result<Vec<JobId>, Failure>
where
    C: Command<Reply = Vec<JobId>>,
{
    let end = engine.now().as_millis().saturating_add(1);
    let filter = DeadFilter { until: Some(filter.until.map_or(end, |until| until.min(end))), ..filter };
    let mut all = Vec::new();
    loop {
        let ids = engine.execute(command(filter.clone())).await?;
        if ids.is_empty() {
            return Ok(all);
        }
        all.extend(ids);
    }
}

/// `GET /dead-letter/stats`
pub async fn stats(State(engine): State<Engine>) -> Result<Json, Failure> {
    let stats = engine.query(CountDead(LOOK)).await?;
    let keep = &engine.options().retention;
    let at = |millis: i64| Timestamp::from_millis(millis).to_string();
    let mut body = json!({
        "total": stats.total, "by_queue": stats.by_queue, "by_error_type": stats.by_error_type,
        "oldest_at": stats.oldest_at.map(at), "newest_at": stats.newest_at.map(at),
        "retention": {
            "max_age": iso(keep.dead_letters), "max_count": keep.max_dead_letters,
            "next_prune_at": at(next_prune(engine.now().as_millis())),
        },
    });
    if let Some(body) = body.as_object_mut().filter(|_| stats.is_partial) {
        body.insert("by_error_type_relation".into(), json!("gte"));
        if engine.tenant().is_some() {
            body.extend(["total_relation", "by_queue_relation"].map(|name| (name.to_owned(), json!("gte"))));
        }
    }
    Ok(Json::ok(body.to_string()))
}

/// A period in whole days where it is one.
fn iso(period: Duration) -> String {
    let seconds = period.as_secs();
    if seconds > 0 && seconds.is_multiple_of(86_400) { format!("P{}D", seconds / 86_400) } else { format!("PT{seconds}S") }
}

pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let job = job_id("dead letter", &id)?;
    engine.execute(DeleteDeadLetter(job)).await?;
    Ok(Json::ok(json!({"deleted": true, "job_id": job}).to_string()))
}
