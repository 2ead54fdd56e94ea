//! `/admin/stats/tenants/noisy`: tenants that use far more than the others do.
use axum::extract::{RawQuery, State};
use ojs_model::OjsError;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::tenants::noisy::{Figures, FindNoisyTenants, Signal, Thresholds};
use crate::features::tenants::records::{Lately, PERIOD};
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::http::terms::invalid;

/// Most tenants in an answer.
const MAX_LISTED: usize = 1_000;
/// Largest threshold, so that a product of it is a number.
const MAX_THRESHOLD: u64 = 1_000_000_000;

/// `GET /admin/stats/tenants/noisy?depth_factor&rate_factor&active_percent&error_factor&min_jobs&limit`
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let usual = Thresholds::default();
    let thresholds = Thresholds {
        depth: whole(&params, "depth_factor", MAX_THRESHOLD)?.unwrap_or(usual.depth),
        rate: whole(&params, "rate_factor", MAX_THRESHOLD)?.unwrap_or(usual.rate),
        active: whole(&params, "active_percent", 100)?.map_or(usual.active, |percent| percent / 100.0),
        errors: whole(&params, "error_factor", MAX_THRESHOLD)?.unwrap_or(usual.errors),
        least: whole(&params, "min_jobs", MAX_THRESHOLD)?.unwrap_or(usual.least),
    };
    let limit = params.number("limit", 100, MAX_LISTED)?.max(1);
    let now = engine.now().as_millis();
    let found = engine.query(FindNoisyTenants { now, thresholds }).await?;
    let items: Vec<Value> = found.noisy.iter().take(limit).map(|(figures, signals)| describe(figures, signals)).collect();
    let body = json!({
        "items": items, "total": found.noisy.len(), "has_more": found.noisy.len() > limit, "compared": found.compared,
        "thresholds": {
            "depth_factor": thresholds.depth, "rate_factor": thresholds.rate,
            "active_percent": (thresholds.active * 100.0).round(), "error_factor": thresholds.errors, "min_jobs": thresholds.least,
        },
        "computed_at": stamp(now),
    });
    Ok(Json::ok(body.to_string()))
}

/// A whole number from 1 on, if present.
fn whole(params: &Params, name: &str, most: u64) -> Result<Option<f64>, OjsError> {
    let Some(text) = params.get(name) else { return Ok(None) };
    let number = text.parse::<u64>().ok().filter(|number| (1..=most).contains(number));
    let fault = || invalid(name, format!("{name} must be a whole number from 1 to {most}, got '{text}'."));
    number.map(|number| Some(number as f64)).ok_or_else(fault)
}

fn describe(figures: &Figures, signals: &[Signal]) -> Value {
    let mut members = json!({
        "tenant_id": &*figures.row.id, "name": figures.row.name,
        "status": if figures.row.suspended_at > 0 { "suspended" } else { "active" },
        "signals": signals.iter().map(signal).collect::<Vec<_>>(),
        "queue_depth": figures.depth as u64, "active": figures.active as u64, "error_rate": rounded(figures.error_rate(), 1e4),
    });
    if let Some(members) = members.as_object_mut() {
        members.extend(per_minute(figures.lately));
    }
    members
}

fn signal(signal: &Signal) -> Value {
    // What fits infinitely often has no ratio.
    let ratio = (signal.others > 0.0).then(|| rounded(signal.value / signal.others, 1e2));
    json!({
        "signal": signal.name, "value": rounded(signal.value, 1e4), "compared_with": rounded(signal.others, 1e4),
        "ratio": ratio, "threshold": signal.threshold,
    })
}

/// What has happened lately, for each minute of it.
pub(super) fn per_minute(lately: Lately) -> serde_json::Map<String, Value> {
    let minutes = PERIOD as f64 / 60_000.0;
    let names = ["enqueued_per_minute", "processed_per_minute", "failed_per_minute"];
    names.into_iter().zip(lately).map(|(name, jobs)| (name.to_owned(), json!(rounded(jobs / minutes, 1e1)))).collect()
}

fn rounded(number: f64, by: f64) -> f64 {
    (number * by).round() / by
}
