//! `/admin/system`: maintenance, and the settings in force.
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use ojs_model::limits::{MAX_BATCH_JOBS, MAX_BODY_BYTES, MAX_ENVELOPE_BYTES, MAX_FETCH_COUNT, MAX_META_BYTES, MAX_RESULT_BYTES};
use ojs_model::{OjsError, duration};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::admin::commands::{GetMaintenance, Maintain};
use crate::features::admin::records::Maintenance;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};
use crate::http::request::{parse, read_body};
use crate::http::terms::invalid;
use crate::kernel::finding::Finding;

/// Longest reason that is kept.
const MAX_REASON: usize = 1_000;

#[derive(Deserialize)]
struct MaintenanceBody {
    enabled: Option<bool>,
    reason: Option<String>,
    estimated_duration: Option<Value>,
}

/// `POST /admin/system/maintenance`: nothing is handed out, promoted or fired until it ends; jobs are still accepted.
pub async fn set_maintenance(State(engine): State<Engine>, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let request: MaintenanceBody = parse(&body)?;
    let enabled = request.enabled.ok_or_else(|| invalid("enabled", "enabled is required: true or false."))?;
    let now = engine.now();
    let reason = request.reason.unwrap_or_default();
    if reason.len() > MAX_REASON {
        return Err(invalid("reason", format!("reason has {} bytes; the limit is {MAX_REASON}.", reason.len())).into());
    }
    let lasts = request.estimated_duration.as_ref().map(millis).transpose()?;
    let maintenance = enabled.then(|| Maintenance {
        reason,
        since: now.as_millis(),
        until: lasts.map_or(0, |lasts| now.plus_millis(lasts).as_millis()),
    });
    let maintenance = engine.execute(Maintain(maintenance)).await?;
    Ok(Json::ok(describe(maintenance.as_ref()).to_string()))
}

/// `GET /admin/system/maintenance`
pub async fn maintenance(State(engine): State<Engine>) -> Result<Json, Failure> {
    let maintenance = engine.query(GetMaintenance).await?;
    Ok(Json::ok(describe(maintenance.as_ref()).to_string()))
}

/// `GET /admin/system/audit`: compares the rows of the store with each other.
pub async fn audit(State(engine): State<Engine>) -> Result<Json, Failure> {
    let audited = engine.audit().await?;
    let finding = |finding: &Finding| {
        let Finding { check, subject, what, expected, found } = finding;
        json!({"check": check, "subject": subject, "what": what, "expected": expected, "found": found})
    };
    let findings: Vec<Value> = audited.findings.iter().map(finding).collect();
    let body = json!({"sound": audited.is_sound(), "jobs": audited.jobs, "total": audited.total, "findings": findings});
    Ok(Json::ok(body.to_string()))
}

fn describe(maintenance: Option<&Maintenance>) -> Value {
    match maintenance {
        Some(m) => {
            json!({"maintenance": true, "reason": m.reason, "enabled_at": stamp(m.since), "estimated_end": stamp(m.until)})
        }
        None => json!({"maintenance": false, "reason": null, "enabled_at": null, "estimated_end": null}),
    }
}

/// ISO 8601 or seconds.
fn millis(value: &Value) -> Result<u64, OjsError> {
    let fault = || invalid("estimated_duration", "estimated_duration must be an ISO 8601 duration such as PT30M, or seconds.");
    let parsed = match value {
        Value::String(text) => duration::parse(text).map_err(|_| fault())?,
        Value::Number(n) => std::time::Duration::from_secs(n.as_u64().ok_or_else(fault)?),
        _ => return Err(fault()),
    };
    u64::try_from(parsed.as_millis()).map_err(|_| fault())
}

/// `GET /admin/system/config`: what this server runs with. No secrets: there are none in it.
pub async fn config(State(engine): State<Engine>) -> Result<Json, Failure> {
    let options = engine.options();
    let retention = &options.retention;
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"), "backend": {"type": engine.store_name()},
        "test_mode": options.test_mode,
        "worker": {"timeout_seconds": options.worker_timeout.as_secs(), "stale_after_seconds": crate::kernel::worker::STALE_AFTER_MS / 1000},
        "retention": {
            "completed_seconds": retention.finished.as_secs(), "cancelled_seconds": retention.finished.as_secs(),
            "discarded_seconds": retention.discarded.as_secs(),
            "dead_letter": {"max_age_seconds": retention.dead_letters.as_secs(), "max_count": retention.max_dead_letters},
            "events": {"max_age_seconds": retention.events.as_secs(), "max_count": retention.max_events},
        },
        "limits": {
            "max_envelope_bytes": MAX_ENVELOPE_BYTES, "max_meta_bytes": MAX_META_BYTES, "max_body_bytes": MAX_BODY_BYTES,
            "max_result_bytes": MAX_RESULT_BYTES, "max_batch_size": MAX_BATCH_JOBS, "max_fetch_count": MAX_FETCH_COUNT,
        },
    });
    Ok(Json::ok(body.to_string()))
}
