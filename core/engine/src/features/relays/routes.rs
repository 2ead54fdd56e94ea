//! `/relays/beat`, with which relays report, and `/admin/relays`, which lists them.
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use ojs_model::OjsError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::commands::{BeatRelay, DropRelay, ListRelays};
use super::records::{KEEP_MS, RelayRow, RelayState};
use crate::engine::Engine;
use crate::http::operator::Paging;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, parse, read_body};
use crate::http::terms::invalid;

/// Longest id, name, kind and table, in bytes.
const MAX_NAME: usize = 255;
/// Characters that are kept of an error.
const MAX_ERROR: usize = 500;

#[derive(Deserialize)]
struct Beat {
    id: Option<String>,
    name: Option<String>,
    database: Option<String>,
    outbox: Option<String>,
    #[serde(default)]
    leading: bool,
    #[serde(default)]
    waiting: u64,
    /// Whether more wait than `waiting` says.
    #[serde(default)]
    waiting_more: bool,
    #[serde(default)]
    oldest_waiting_ms: u64,
    #[serde(default)]
    parked: u64,
    #[serde(default)]
    sent: u64,
    error: Option<String>,
    #[serde(default)]
    stopping: bool,
}

/// `POST /relays/beat`: what a relay does. One that stops says so and is forgotten.
pub async fn beat(State(engine): State<Engine>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let beat: Beat = parse(&body)?;
    let id = named("id", beat.id.as_deref())?.ok_or_else(|| invalid("id", "id is required: what the relay calls itself."))?;
    let answer = Json::ok(json!({"id": id, "stopping": beat.stopping}).to_string());
    if beat.stopping {
        engine.execute(DropRelay(id)).await?;
        return Ok(answer);
    }
    let now = engine.now().as_millis();
    let text = |field, given: &Option<String>| Ok::<_, OjsError>(named(field, given.as_deref())?.unwrap_or_default());
    let row = RelayRow {
        tenant: String::new(),
        name: text("name", &beat.name)?,
        database_kind: text("database", &beat.database)?,
        outbox: text("outbox", &beat.outbox)?,
        id,
        is_leading: beat.leading,
        waiting: number(beat.waiting),
        waits_more: beat.waiting_more,
        oldest_ms: number(beat.oldest_waiting_ms),
        parked: number(beat.parked),
        sent: number(beat.sent),
        pace: 0,
        fault: beat.error.map(|error| error.chars().take(MAX_ERROR).collect()),
        first_at: now,
        beat_at: now,
    };
    engine.execute(BeatRelay(row)).await?;
    Ok(answer)
}

/// `GET /admin/relays?state&page&per_page&cursor`
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let (paging, wanted) = (Paging::of(&params)?, state(&params)?);
    let now = engine.now().as_millis();
    let relays = engine.query(ListRelays { since: now.saturating_sub(KEEP_MS) }).await?;
    let in_state = |state: RelayState| relays.iter().filter(|row| row.state(now) == state).count();
    let summary = json!({
        "total": relays.len(), "running": in_state(RelayState::Running), "stuck": in_state(RelayState::Stuck),
        "silent": in_state(RelayState::Silent),
    });
    let listed = relays.into_iter().filter(|row| wanted.is_none_or(|wanted| wanted == row.state(now)));
    // In the order of their names; ids tell those of one machine apart.
    let listed = listed.map(|row| (format!("{} {} {}", row.name, row.id, row.tenant), row)).collect();
    let (listed, pagination) = paging.of_all(&params, listed, |(key, _)| key)?;
    let items: Vec<Value> = listed.iter().map(|(_, row)| describe(row, now)).collect();
    Ok(Json::ok(json!({"items": items, "summary": summary, "pagination": pagination}).to_string()))
}

fn state(params: &Params) -> Result<Option<RelayState>, OjsError> {
    let Some(word) = params.get("state") else { return Ok(None) };
    let known = [RelayState::Running, RelayState::Stuck, RelayState::Silent];
    let found = known.into_iter().find(|state| state.as_str() == word);
    found.map(Some).ok_or_else(|| invalid("state", format!("state cannot be '{word}': use running, stuck or silent.")))
}

/// A name, if one is given that is not empty.
fn named(field: &str, given: Option<&str>) -> Result<Option<String>, OjsError> {
    let Some(text) = given.filter(|text| !text.is_empty()) else { return Ok(None) };
    if text.len() > MAX_NAME {
        return Err(invalid(field, format!("{field} has {} bytes; the limit is {MAX_NAME}.", text.len())));
    }
    Ok(Some(text.to_owned()))
}

fn number(given: u64) -> i64 {
    i64::try_from(given).unwrap_or(i64::MAX)
}

fn describe(row: &RelayRow, now: i64) -> Value {
    json!({
        "id": row.id, "name": row.name, "tenant_id": Some(&row.tenant).filter(|tenant| !tenant.is_empty()),
        "database": row.database_kind, "outbox": row.outbox, "state": row.state(now).as_str(), "leading": row.is_leading,
        "waiting": row.waiting, "waiting_relation": if row.waits_more { "gte" } else { "eq" },
        "oldest_waiting_ms": row.oldest_ms, "parked": row.parked, "sent": row.sent, "sent_per_minute": row.pace,
        "error": row.fault, "first_heartbeat_at": stamp(row.first_at), "last_heartbeat_at": stamp(row.beat_at),
    })
}
