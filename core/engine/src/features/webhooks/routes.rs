//! `/webhooks`: subscriptions and deliveries (extensions section 18).
use std::collections::HashMap;
use std::time::Instant;

use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use ojs_model::json::{object, push_bare, push_member, push_text, push_time};
use ojs_model::{JobId, OjsError, Timestamp};
use serde_json::{Map, Value, json};

use super::backlog::Dropped;
use super::commands::{
    ChangeSubscription, CreateSubscription, DeleteSubscription, GetDelivery, GetSubscription, ListDeliveries, ListDrops,
    ListSubscriptions, RetryDelivery, RotateSecret,
};
use super::event::test_event;
use super::records::{DeliveryFilter, DeliveryRow, DeliveryState, SubscriptionRow};
use super::request::{DELIVERY, SUBSCRIPTION, Sent, post};
use super::subscribe::{apply, blank};
use crate::engine::Engine;
use crate::http::call::Call;
use crate::http::page::pagination;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::outgoing::Secret;
use crate::outgoing::input::{check_build, not_null, prefixed_id, required, secret_is_rotated};

/// Largest page.
const MAX_PAGE: usize = 200;

type Members = Map<String, Value>;

fn subscription_id(text: &str) -> Result<JobId, OjsError> {
    prefixed_id("subscription", SUBSCRIPTION, text)
}

/// `POST /webhooks/subscriptions`.
pub async fn create(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    check_build("webhooks")?;
    let body: Members = call.parse()?;
    required(&body, &[("url", "https://example.com/path"), ("events", "a list")])?;
    let tenant = engine.tenant().map(|tenant| &**tenant);
    let mut row = blank(Secret::given_or_new("secret", body.get("secret"))?, tenant, engine.now());
    apply(&mut row, &body, engine.outgoing().guard())?;
    let row = engine.execute(CreateSubscription(row)).await?;
    let location = format!("/ojs/v1/webhooks/subscriptions/{SUBSCRIPTION}{}", row.id);
    Ok(Json::created(wrapped(&row, Dropped::default(), true), Some(location)))
}

/// `GET /webhooks/subscriptions`.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let (limit, offset) = Params::parse(query.as_deref())?.page(MAX_PAGE)?;
    let rows = engine.query(ListSubscriptions).await?;
    let drops = drops(&engine).await?;
    let entry = |row: &SubscriptionRow| object(&described(row, drops.get(&row.id).copied().unwrap_or_default(), false));
    let page: Vec<String> = rows.iter().skip(offset).take(limit).map(entry).collect();
    let pagination = pagination(rows.len(), limit, offset);
    Ok(Json::ok(format!("{{\"subscriptions\":[{}],\"pagination\":{pagination}}}", page.join(","))))
}

/// `GET /webhooks/subscriptions/{id}`.
pub async fn get(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    let row = engine.query(GetSubscription(subscription_id(&text)?)).await?;
    shown(&engine, &row, false).await
}

/// `PATCH /webhooks/subscriptions/{id}`.
pub async fn change(State(engine): State<Engine>, Path(text): Path<String>, call: Call) -> Result<Json, Failure> {
    let body: Members = call.parse()?;
    let id = subscription_id(&text)?;
    if body.contains_key("secret") {
        return Err(secret_is_rotated("secret").into());
    }
    not_null(&body, &["url", "events", "active"])?;
    let guard = engine.outgoing().guard().clone();
    let row = engine.execute(ChangeSubscription { id, change: move |row: &mut SubscriptionRow| apply(row, &body, &guard) });
    shown(&engine, &row.await?, false).await
}

/// `DELETE /webhooks/subscriptions/{id}`.
pub async fn delete(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    let row = engine.execute(DeleteSubscription(subscription_id(&text)?)).await?;
    let id = format!("{SUBSCRIPTION}{}", row.id);
    Ok(Json::ok(json!({"deleted": true, "id": id}).to_string()))
}

/// `POST /webhooks/subscriptions/{id}/rotate-secret`.
pub async fn rotate(State(engine): State<Engine>, Path(text): Path<String>, call: Call) -> Result<Json, Failure> {
    let body: Members = call.parse()?;
    let secret = Secret::given_or_new("secret", body.get("secret"))?;
    let row = engine.execute(RotateSecret { id: subscription_id(&text)?, secret }).await?;
    shown(&engine, &row, true).await
}

/// `POST /webhooks/subscriptions/{id}/test`. The event is sent once, by this node, and not kept.
pub async fn test(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    let row = engine.query(GetSubscription(subscription_id(&text)?)).await?;
    let now = engine.now();
    let (_, payload) = test_event(&text, now);
    let sent = Sent { delivery: JobId::now_v7(), event_type: "webhook.test", payload: &payload };
    let began = Instant::now();
    let outcome = engine.outgoing().post(post(&row, sent, &engine.options().event_source, now)).await;
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let body = match outcome {
        Ok(answer) => json!({
            "success": (200..300).contains(&answer.status), "status_code": answer.status, "response_time_ms": took,
            "response_body": answer.body, "error": null,
        }),
        Err(fault) => json!({
            "success": false, "status_code": null, "response_time_ms": took, "response_body": null, "error": fault.to_string(),
        }),
    };
    Ok(Json::with_status(StatusCode::OK, body.to_string()))
}

/// `GET /webhooks/deliveries`.
pub async fn deliveries(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let limit = params.limit(MAX_PAGE)?;
    let subscription = params.get("subscription_id").map(subscription_id).transpose()?;
    let state = params.get("status").map(|word| {
        let wrong = || OjsError::invalid_field("status", "status must be pending, sending, delivered or dead.");
        DeliveryState::from_word(word).ok_or_else(wrong)
    });
    let after = params.get("cursor").map(|cursor| {
        let wrong = || OjsError::invalid_field("cursor", "cursor must be the next_cursor of the page before.");
        cursor.strip_prefix(DELIVERY).and_then(|id| id.parse().ok()).ok_or_else(wrong)
    });
    // One more than the page tells whether there is a next one.
    let filter = DeliveryFilter { subscription, state: state.transpose()?, after: after.transpose()?, limit: limit + 1 };
    let (mut rows, total) = engine.query(ListDeliveries(filter)).await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| has_more).map(|row| format!("{DELIVERY}{}", row.id));
    let page: Vec<String> = rows.iter().map(|row| object(&told(row, false))).collect();
    let pagination = json!({"total": total, "limit": limit, "has_more": has_more, "next_cursor": next});
    Ok(Json::ok(format!("{{\"deliveries\":[{}],\"pagination\":{pagination}}}", page.join(","))))
}

/// `GET /webhooks/deliveries/{id}`.
pub async fn delivery(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    let row = engine.query(GetDelivery(prefixed_id("delivery", DELIVERY, &text)?)).await?;
    Ok(Json::ok(both("delivery", &told(&row, true))))
}

/// `POST /webhooks/deliveries/{id}/retry`.
pub async fn retry(State(engine): State<Engine>, Path(text): Path<String>) -> Result<Json, Failure> {
    let row = engine.execute(RetryDelivery(prefixed_id("delivery", DELIVERY, &text)?)).await?;
    Ok(Json::with_status(StatusCode::ACCEPTED, both("delivery", &told(&row, false))))
}

/// The object in a member, and its members beside it: both forms are published.
fn both(member: &str, members: &str) -> String {
    format!("{{\"{member}\":{{{members}}},{members}}}")
}

/// What was dropped, by subscription: what nodes have written, and what this one has not written yet.
async fn drops(engine: &Engine) -> Result<HashMap<JobId, Dropped>, Failure> {
    let backlog = engine.backlog();
    // What is written meanwhile would count twice.
    let _still = backlog.writing.lock().await;
    let written = engine.query(ListDrops).await?.into_iter().map(|row| (row.subscription, row.dropped()));
    let mut all: HashMap<JobId, Dropped> = HashMap::new();
    for (id, more) in written.chain(backlog.unwritten()) {
        let dropped = all.entry(id).or_default();
        *dropped = dropped.and(more);
    }
    Ok(all)
}

async fn shown(engine: &Engine, row: &SubscriptionRow, with_secret: bool) -> Result<Json, Failure> {
    let dropped = drops(engine).await?.remove(&row.id).unwrap_or_default();
    Ok(Json::ok(wrapped(row, dropped, with_secret)))
}

fn wrapped(row: &SubscriptionRow, dropped: Dropped, with_secret: bool) -> String {
    both("subscription", &described(row, dropped, with_secret))
}

/// The members of a subscription. Its secret is shown only in the answer that creates it.
fn described(row: &SubscriptionRow, dropped: Dropped, with_secret: bool) -> String {
    let mut out = String::new();
    push_text(&mut out, "id", &format!("{SUBSCRIPTION}{}", row.id));
    push_text(&mut out, "url", &row.url);
    push_member(&mut out, "events", &json!(SubscriptionRow::entries(&row.events)).to_string());
    push_bare(&mut out, "active", row.active);
    let filter = json!({
        "queues": SubscriptionRow::entries(&row.queues), "job_types": SubscriptionRow::entries(&row.job_types),
    });
    push_member(&mut out, "filter", &filter.to_string());
    push_text(&mut out, "format", row.format.as_str());
    push_member(&mut out, "metadata", &row.metadata);
    if !row.tenant.is_empty() {
        push_text(&mut out, "tenant_id", &row.tenant);
    }
    if with_secret {
        push_text(&mut out, "secret", row.secret.expose());
    }
    if row.previous_until > 0 {
        push_time(&mut out, "previous_secret_expires_at", Timestamp::from_millis(row.previous_until));
    }
    push_bare(&mut out, "dropped", dropped.events);
    if dropped.since > 0 {
        push_time(&mut out, "dropped_since", Timestamp::from_millis(dropped.since));
    } else {
        push_member(&mut out, "dropped_since", "null");
    }
    push_time(&mut out, "created_at", Timestamp::from_millis(row.created_at));
    push_time(&mut out, "updated_at", Timestamp::from_millis(row.updated_at));
    out
}

/// The members of a delivery.
fn told(row: &DeliveryRow, with_event: bool) -> String {
    let mut out = String::new();
    push_text(&mut out, "id", &format!("{DELIVERY}{}", row.id));
    push_text(&mut out, "subscription_id", &format!("{SUBSCRIPTION}{}", row.subscription));
    push_text(&mut out, "event_id", &row.event_id);
    push_text(&mut out, "event_type", &row.event_type);
    push_text(&mut out, "status", row.state.as_str());
    push_bare(&mut out, "attempts", row.attempts);
    push_time(&mut out, "created_at", Timestamp::from_millis(row.created_at));
    let next = if row.state == DeliveryState::Pending { row.due_at } else { 0 };
    for (name, at) in [("last_attempt_at", row.attempted_at), ("next_attempt_at", next), ("ended_at", row.ended_at)] {
        if at > 0 {
            push_time(&mut out, name, Timestamp::from_millis(at));
        } else {
            push_member(&mut out, name, "null");
        }
    }
    let status = (row.status > 0).then_some(row.status);
    push_member(&mut out, "status_code", &json!(status).to_string());
    push_bare(&mut out, "duration_ms", row.took);
    push_member(&mut out, "error", &json!((!row.error.is_empty()).then_some(&row.error)).to_string());
    push_member(&mut out, "response_body", &json!((!row.answer.is_empty()).then_some(&row.answer)).to_string());
    if with_event {
        push_member(&mut out, "event", &row.payload);
    }
    out
}
