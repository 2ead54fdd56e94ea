//! `/admin/tenants`: who is there, what each tenant has, what it may use (extensions section 10).
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use ojs_model::envelope::{check_name, check_tenant};
use ojs_model::{JobState, OjsError};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::fair::records::weight;
use crate::features::tenants::commands::{DeleteTenant, GetTenant, GetTenantFairness, ListTenants, PutTenant, TenantView};
use crate::features::tenants::noisy::GetTenantPace;
use crate::features::tenants::noisy_routes::per_minute;
use crate::features::tenants::quota::Quota;
use crate::http::call::Call;
use crate::http::operator::Paging;
use crate::http::page::{by_state, stamp};
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;
use crate::store::rows::depth;

/// `GET /admin/tenants?page&per_page&cursor`.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let paging = Paging::of(&params)?;
    let (behind, offset) = paging.start(&params)?;
    let (views, total) = engine.query(ListTenants { limit: paging.per_page + 1, offset, behind }).await?;
    let (views, pagination) = paging.of_names(views, total, |view| &view.row.id);
    let items: Vec<Value> = views.iter().map(describe).collect();
    Ok(Json::ok(json!({"items": items, "pagination": pagination}).to_string()))
}

/// `GET /admin/tenants/{id}`.
pub async fn get(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    Ok(Json::ok(describe(&engine.query(GetTenant(id)).await?).to_string()))
}

/// `PUT /admin/tenants/{id}`: makes a tenant, or changes what is named.
pub async fn put(State(engine): State<Engine>, Path(id): Path<String>, call: Call) -> Result<Json, Failure> {
    check_tenant("id", &id)?;
    let request: Map<String, Value> = call.parse()?;
    let mut change = PutTenant { id, ..PutTenant::default() };
    for (member, value) in request.iter().filter(|(_, value)| !value.is_null()) {
        match member.as_str() {
            "name" => change.name = Some(name(value)?),
            "limits" => change.quota = Some(limits(value)?),
            "status" => change.active = Some(is_active(value)?),
            "fairness_weight" => change.fairness_weight = Some(weight(member, value)?),
            "tenant_id" if value.as_str() == Some(&*change.id) => {}
            "tenant_id" => {
                let message = format!("tenant_id must be the id of the path, '{}', got {value}.", change.id);
                return Err(OjsError::invalid_field(member, message).into());
            }
            _ => {
                let message = format!("{member} is not known here: use name, limits, fairness_weight and status.");
                return Err(OjsError::invalid_field(member, message).into());
            }
        }
    }
    let location = format!("/ojs/v1/admin/tenants/{}", change.id);
    let (view, known) = engine.execute(change).await?;
    let text = describe(&view).to_string();
    Ok(if known { Json::ok(text) } else { Json::created(text, Some(location)) })
}

/// `PUT /admin/tenants/{id}/limits`: what is left out is not limited any more.
pub async fn set_limits(State(engine): State<Engine>, Path(id): Path<String>, call: Call) -> Result<Json, Failure> {
    check_tenant("id", &id)?;
    let mut request: Map<String, Value> = call.parse()?;
    let reason = reason(request.remove("reason"))?;
    let quota = Some(Quota::parse(&request)?);
    let (view, _) = engine.execute(PutTenant { id, quota, ..PutTenant::default() }).await?;
    tracing::info!(tenant = %view.row.id, reason = reason.as_deref().unwrap_or_default(), "the limits of a tenant were set");
    Ok(Json::ok(describe(&view).to_string()))
}

/// `POST /admin/tenants/{id}/suspend`.
pub async fn suspend(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    switch(&engine, id, false).await
}

/// `POST /admin/tenants/{id}/resume`.
pub async fn resume(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    switch(&engine, id, true).await
}

async fn switch(engine: &Engine, id: String, active: bool) -> Result<Json, Failure> {
    let change = PutTenant { id, active: Some(active), must_exist: true, ..PutTenant::default() };
    let (view, _) = engine.execute(change).await?;
    Ok(Json::ok(describe(&view).to_string()))
}

/// `DELETE /admin/tenants/{id}`: with its ended jobs. Refused while others are left.
pub async fn delete(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    while !engine.execute(DeleteTenant(id.clone())).await? {}
    Ok(Json::with_status(StatusCode::OK, json!({"deleted": true, "tenant_id": id}).to_string()))
}

/// `GET /admin/tenants/{id}/stats`.
pub async fn stats(State(engine): State<Engine>, Path(id): Path<String>) -> Result<Json, Failure> {
    let view = engine.query(GetTenant(id.clone())).await?;
    let pace = engine.query(GetTenantPace { id: id.clone(), now: engine.now().as_millis() }).await?;
    let fairness = engine.query(GetTenantFairness(id)).await?.map(|fairness| {
        let share = |share: f64| (share * 10_000.0).round() / 10_000.0;
        json!({
            "weight": fairness.weight, "effective_share": share(fairness.effective_share),
            "actual_share": share(fairness.actual_share),
        })
    });
    let counts = &view.usage.counts;
    let queues: Vec<Value> = view
        .queues
        .iter()
        .map(|(name, counts)| {
            let mut members = by_state(counts);
            members.insert("name".into(), json!(name));
            members.insert("depth".into(), json!(depth(counts)));
            Value::Object(members)
        })
        .collect();
    let [enqueued, processed, failed] = view.usage.totals;
    let mut throughput = pace.map(per_minute).unwrap_or_default();
    let totals = [("enqueued_total", enqueued), ("processed_total", processed), ("failed_total", failed)];
    throughput.extend(totals.map(|(name, total)| (name.to_owned(), json!(total))));
    let quota = view.row.quota.get(&view.row.id)?;
    let of = |state: JobState| counts.get(state as usize).copied().unwrap_or(0);
    let used = json!({
        "max_concurrency": {"limit": quota.max_concurrency, "current": of(JobState::Active)},
        "max_queue_depth": {"limit": quota.max_queue_depth, "current": depth(counts)},
        "max_scheduled": {"limit": quota.max_scheduled, "current": of(JobState::Scheduled)},
        "max_enqueue_rate": {"limit": quota.max_enqueue_rate.map(|rate| rate.to_value())},
    });
    let body = json!({
        "tenant_id": &*view.row.id, "status": status(&view), "total_jobs": counts.iter().sum::<i64>(),
        "jobs": by_state(counts), "queue_depth": depth(counts), "queues": queues, "limits": used,
        "throughput": throughput,
        "fairness": fairness, "computed_at": engine.now().to_string(),
    });
    Ok(Json::ok(body.to_string()))
}

/// Why limits are set, for the log.
fn reason(value: Option<Value>) -> Result<Option<String>, OjsError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let text = value.as_str().ok_or_else(|| OjsError::invalid_field("reason", "reason must be a string."))?;
    check_name("reason", text)?;
    Ok(Some(text.to_owned()))
}

fn name(value: &Value) -> Result<String, OjsError> {
    let text = value.as_str().ok_or_else(|| OjsError::invalid_field("name", "name must be a string."))?;
    check_name("name", text)?;
    Ok(text.to_owned())
}

fn limits(value: &Value) -> Result<Quota, OjsError> {
    let object = value.as_object().ok_or_else(|| OjsError::invalid_field("limits", "limits must be an object."))?;
    Quota::parse(object)
}

fn is_active(value: &Value) -> Result<bool, OjsError> {
    match value.as_str() {
        Some("active") => Ok(true),
        Some("suspended") => Ok(false),
        _ => Err(OjsError::invalid_field("status", format!("status must be active or suspended, got {value}."))),
    }
}

fn status(view: &TenantView) -> &'static str {
    if view.row.suspended_at > 0 { "suspended" } else { "active" }
}

fn describe(view: &TenantView) -> Value {
    let row = &view.row;
    let (limits, fault) = match row.quota.get(&row.id) {
        Ok(quota) => (quota.to_value(), None),
        Err(fault) => (Value::Null, Some(fault.to_string())),
    };
    let mut object = json!({
        "id": &*row.id, "tenant_id": &*row.id, "name": row.name, "status": status(view), "limits": limits,
        "created_at": stamp(row.created_at), "suspended_at": stamp(row.suspended_at),
        "total_jobs": view.usage.counts.iter().sum::<i64>(), "jobs": by_state(&view.usage.counts),
    });
    if let (Some(fault), Some(members)) = (fault, object.as_object_mut()) {
        members.insert("fault".into(), json!(fault));
    }
    object
}
