//! `/rate-limits`: keys with limits and what is going on with them (extensions section 4).
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use ojs_model::rate_limit::Limits;
use ojs_model::{OjsError, Timestamp};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::limits::commands::{ListLimits, OverrideLimit};
use crate::features::limits::records::{LimitPage, LimitView, StoredLimits};
use crate::http::operator::{NamedPage, wrong_cursor};
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, parse, read_body};

/// Largest page (protocol section 3.10).
const MAX_PAGE: usize = 200;

/// `GET /rate-limits`.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let part = NamedPage::of(&params, MAX_PAGE)?;
    let behind = match part.behind {
        Some(name) => Some(name.split_once('/').ok_or_else(wrong_cursor)?),
        None => None,
    };
    let behind = behind.map(|(tenant, key)| (key.to_owned(), tenant.to_owned()));
    let page = LimitPage { limit: part.limit + 1, offset: part.offset, behind };
    let (mut views, total) = engine.query(ListLimits { key: None, page, at: engine.now() }).await?;
    // No tenant has a slash in its name; a key may have.
    let pagination = part.cut(&mut views, total, |view| format!("{}/{}", view.row.tenant, view.row.key));
    let items: Vec<Value> = views.iter().map(describe).collect();
    Ok(Json::ok(json!({"items": items, "pagination": pagination}).to_string()))
}

/// `GET /rate-limits/{key}?tenant=`: the key without a tenant first, those of tenants under `partitions`.
pub async fn get(State(engine): State<Engine>, Path(key): Path<String>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let page = LimitPage { limit: MAX_PAGE, ..LimitPage::default() };
    let (mut views, _) = engine.query(ListLimits { key: Some(key.clone()), page, at: engine.now() }).await?;
    if let Some(tenant) = params.get("tenant") {
        views.retain(|view| &*view.row.tenant == tenant);
    }
    let Some(first) = views.first() else { return Err(OjsError::not_found("rate limit", &key).into()) };
    let mut body = describe(first);
    if let (true, Some(object)) = (views.len() > 1, body.as_object_mut()) {
        object.insert("partitions".into(), views.iter().map(describe).collect());
    }
    Ok(Json::ok(body.to_string()))
}

/// `PUT /rate-limits/{key}`: other limits until `expires_at`. Without any limit the override ends.
pub async fn put(State(engine): State<Engine>, Path(key): Path<String>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let request: Map<String, Value> = parse(&body)?;
    let limits = Limits::parse(&request)?;
    let now = engine.now();
    let expires = request.get("expires_at").filter(|at| !at.is_null());
    let until = match expires {
        Some(at) => {
            Some(at.as_str().and_then(|text| Timestamp::parse_from(text, now).ok()).filter(|at| *at > now).ok_or_else(|| {
                OjsError::invalid_field(
                    "expires_at",
                    "expires_at must be a time to come: RFC 3339, or + and an ISO 8601 duration.",
                )
            })?)
        }
        None => None,
    };
    let (limits, until) = match (limits.is_limited(), until) {
        (false, _) => (None, now),
        (true, Some(until)) => (Some(limits), until),
        (true, None) => {
            let message = "expires_at is required: an override is for a while. Lasting limits come with the jobs of the key.";
            return Err(OjsError::invalid_field("expires_at", message).into());
        }
    };
    let tenant = request.get("tenant").and_then(Value::as_str).unwrap_or_default().to_owned();
    let view = engine.execute(OverrideLimit { tenant, key, limits, until }).await?;
    Ok(Json::ok(describe(&view).to_string()))
}

fn describe(view: &LimitView) -> Value {
    let row = &view.row;
    let (limits, fault) = match row.now(view.at.as_millis()) {
        Ok(limits) => (limits, None),
        Err(fault) => (Limits::default(), Some(fault.to_string())),
    };
    let scope = if row.tenant.is_empty() { "global" } else { "tenant" };
    let mut object = json!({"key": &*row.key, "scope": scope, "active": view.active, "waiting_count": view.waiting});
    let Some(members) = object.as_object_mut() else { return object };
    members.extend(limits.to_value());
    members.extend(fault.map(|fault| ("fault".to_owned(), fault.into())));
    if scope == "tenant" {
        members.insert("tenant_id".into(), json!(&*row.tenant));
    }
    if let Some(most) = limits.concurrency {
        let available = i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(view.active).max(0);
        members.insert("concurrency".into(), json!({"limit": most, "active": view.active, "available": available}));
    }
    if let Some(Value::Object(rate)) = members.get_mut("rate") {
        rate.insert("current_count".into(), json!(view.used));
        rate.insert("window".into(), json!("sliding"));
        rate.insert("window_resets_at".into(), json!(view.window_opens_at.map(|at| at.to_string())));
    }
    if let Some(Value::Object(throttle)) = members.get_mut("throttle") {
        throttle.insert("next_allowed_at".into(), json!(view.throttle_opens_at.map(|at| at.to_string())));
    }
    if row.held_until > view.at.as_millis() {
        members.insert("held_until".into(), json!(Timestamp::from_millis(row.held_until).to_string()));
    }
    if row.override_until > view.at.as_millis() && row.override_limits != StoredLimits::None {
        let until = Timestamp::from_millis(row.override_until).to_string();
        let policy = if let StoredLimits::Set(limits) = &row.limits { limits.to_value() } else { Default::default() };
        members.insert("override".into(), json!({"expires_at": until, "policy": policy}));
    }
    object
}
