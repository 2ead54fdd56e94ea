//! `/admin/errors`: failures, put together by their fingerprints.
use axum::extract::{Path, RawQuery, State};
use ojs_model::OjsError;
use ojs_model::json::push_member;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::errors::commands::{ErrorFilter, ErrorGroup, ErrorSort, GetError, ListErrors};
use crate::features::errors::records::ErrorRow;
use crate::http::operator::{Paging, time};
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::http::terms::{invalid, job_type};
use crate::kernel::render;
use crate::kernel::typed::Query;

/// `GET /admin/errors?queue&type&error_type&tenant&since&sort&page&per_page`.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let (paging, filter, sort) = (Paging::of(&params)?, filter(&params)?, sort(&params)?);
    let groups = read(&engine, |pending| ListErrors { filter: filter.clone(), sort, pending }).await?;
    let pagination = paging.object(groups.len());
    let items: Vec<Value> = paging.cut(groups).map(|group| described(&group)).collect();
    Ok(Json::ok(json!({"items": items, "pagination": pagination}).to_string()))
}

/// `GET /admin/errors/{fingerprint}?queue&type&tenant`.
pub async fn get(
    State(engine): State<Engine>,
    Path(fingerprint): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json, Failure> {
    let filter = filter(&Params::parse(query.as_deref())?)?;
    let asked = |pending| GetError { fingerprint: fingerprint.clone(), filter: filter.clone(), pending };
    let (group, jobs) = read(&engine, asked).await?;
    let mut out = described(&group);
    let places = group.places.iter().map(|place| {
        json!({
            "queue": place.queue, "type": place.job_type, "count": place.count, "last_seen_at": stamp(place.last_at),
        })
    });
    if let Some(object) = out.as_object_mut() {
        object.insert("places".into(), places.collect());
    }
    let mut text = out.to_string();
    text.pop();
    let mut list = String::new();
    render::list(&mut list, &jobs, render::job);
    push_member(&mut text, "jobs", &list);
    text.push('}');
    Ok(Json::ok(text))
}

/// Asks for what is in the store and what this process has not written yet, each failure once.
async fn read<Q: Query>(engine: &Engine, query: impl Fn(Vec<ErrorRow>) -> Q) -> Result<Q::Reply, Failure> {
    loop {
        let (writes, pending) = engine.metrics().errors.now().await;
        let answer = engine.query(query(pending)).await?;
        // A write that has begun meanwhile may have brought into the store what was pending.
        if engine.metrics().errors.is_still(writes) {
            return Ok(answer);
        }
    }
}

fn filter(params: &Params) -> Result<ErrorFilter, OjsError> {
    let own = |name: &str| params.get(name).map(str::to_owned);
    Ok(ErrorFilter {
        queue: own("queue"),
        job_type: params.get("type").map(job_type).transpose()?,
        error_type: own("error_type"),
        tenant: own("tenant"),
        since: time(params, "since")?,
    })
}

fn sort(params: &Params) -> Result<ErrorSort, OjsError> {
    match params.get("sort") {
        None | Some("last_seen_at") => Ok(ErrorSort::LastSeen),
        Some("first_seen_at") => Ok(ErrorSort::FirstSeen),
        Some("count") => Ok(ErrorSort::Count),
        Some(other) => Err(invalid("sort", format!("sort cannot be '{other}': use last_seen_at, first_seen_at or count."))),
    }
}

fn described(group: &ErrorGroup) -> Value {
    let row = &group.row;
    let (queues, job_types) = group.names();
    let ids: Vec<String> = row.jobs.iter().map(ToString::to_string).collect();
    json!({
        "fingerprint": row.fingerprint, "error_type": row.error_type, "message": row.message, "count": row.count,
        "first_seen_at": stamp(row.first_at), "last_seen_at": stamp(row.last_at), "queues": queues,
        "types": job_types, "job_ids": ids,
    })
}
