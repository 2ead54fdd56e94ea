//! `/events`: the log, page by page, and as it grows.
use std::time::Duration;

use axum::extract::{RawQuery, State};
use ojs_model::json::{push_bare, push_text};
use ojs_model::{ErrorCode, OjsError};
use serde_json::json;

use crate::engine::{Engine, MAX_WAIT};
use crate::features::cloudevents::answer::{BATCH, MAX_BATCH_EVENTS, batch};
use crate::http::client_limit::Guest;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::kernel::event::{Event, EventFilter, Place};
use crate::kernel::event_log::Page;
use crate::kernel::query::{NewestEvents, ReadEvents};
use crate::kernel::render;

/// `GET /events?after&types&queues&job_types&limit&wait_ms`: with `wait_ms` the answer is held back until there is something to tell.
/// `after=latest` begins behind the newest event. `newest=true` answers with the newest `limit` events instead of the first ones.
///
/// With `format=cloudevents` it is a batch of CloudEvents, with cursor and more in headers.
pub async fn poll(State(engine): State<Engine>, guest: Guest, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let as_cloud_events = wanted(&params)?;
    let most = if as_cloud_events { MAX_BATCH_EVENTS } else { 1000 };
    let after = match params.get("after") {
        None => Place::default(),
        Some("latest") => engine.log_span(None).await?.end,
        Some(text) => Place::parse(text).ok_or_else(|| {
            OjsError::new(
                ErrorCode::InvalidRequest,
                format!("after must be a cursor or an event id of this server, got '{text}'."),
            )
            .with_details(json!({"field": "after"}))
        })?,
    };
    let filter = EventFilter {
        after,
        types: params.list("types"),
        queues: params.list("queues"),
        job_types: params.list("job_types"),
        limit: params.number("limit", 100, most)?.max(1),
        ..EventFilter::default()
    };
    if params.get("newest") == Some("true") {
        let (events, cursor, _) = engine.query(NewestEvents(filter)).await?;
        return Ok(answer(&engine, as_cloud_events, &(events, cursor, false)));
    }
    let most = usize::try_from(MAX_WAIT.as_millis()).unwrap_or(usize::MAX);
    let patience = Duration::from_millis(params.number("wait_ms", 0, most)? as u64);
    let _slot = engine.slot(&guest, patience)?;
    let page = if patience.is_zero() { engine.query(ReadEvents(filter)).await? } else { wait(&engine, filter, patience).await? };
    Ok(answer(&engine, as_cloud_events, &page))
}

fn answer(engine: &Engine, as_cloud_events: bool, page: &Page) -> Json {
    let (events, cursor, has_more) = page;
    if !as_cloud_events {
        return Json::ok(written(events, cursor, *has_more));
    }
    let (text, count) = batch(events, &engine.options().event_source);
    // Behind the last one that has found room.
    let last = events.get(..count).and_then(<[Event]>::last).filter(|_| count < events.len());
    let (cursor, more) = last.map_or_else(|| (cursor.clone(), *has_more), |last| (last.place.cursor(), true));
    let answer = Json::ok(text).with_header("content-type", BATCH);
    answer.with_header("x-ojs-cursor", cursor).with_header("x-ojs-has-more", more)
}

/// Whether a client wants events as CloudEvents: `format=cloudevents`.
///
/// # Errors
/// 400 for another format.
pub fn wanted(params: &Params) -> Result<bool, OjsError> {
    match params.get("format") {
        None | Some("ojs") => Ok(false),
        Some("cloudevents") => Ok(true),
        Some(other) => {
            let message = format!("format must be ojs or cloudevents, got '{other}'.");
            Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "format"})))
        }
    }
}

/// The answer.
fn written(events: &[Event], cursor: &str, has_more: bool) -> String {
    let mut out = String::from("{\"events\":");
    render::list(&mut out, events, |out, event| out.push_str(&event.render()));
    push_text(&mut out, "cursor", cursor);
    push_bare(&mut out, "has_more", has_more);
    out.push('}');
    out
}

/// Waits for a page that is not empty. Dropped with the connection of a client that hangs up.
async fn wait(engine: &Engine, mut filter: EventFilter, patience: Duration) -> Result<Page, Failure> {
    let deadline = tokio::time::Instant::now() + patience;
    // Listens before it looks: an event in between is not missed.
    let subscription = engine.subscribe(filter.clone()).await?;
    loop {
        let found = engine.query(ReadEvents(filter.clone())).await?;
        if !found.0.is_empty() || found.2 {
            return Ok(found);
        }
        filter.after = Place::parse(&found.1).unwrap_or(filter.after);
        tokio::select! {
            _ = subscription.news() => {}
            () = tokio::time::sleep_until(deadline) => return Ok(found),
            () = engine.closed() => return Ok(found),
        }
    }
}
