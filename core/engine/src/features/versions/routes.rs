//! `/admin/routing/{type}`: which versions the jobs of a type get that name none.
use axum::extract::{Path, State};
use axum::http::StatusCode;
use ojs_model::envelope;
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::versions::records::RouteRow;
use crate::features::versions::rollback::{Rollback, rollback_of, rolled_back};
use crate::features::versions::routing::{DeleteRoute, GetRoute, PutRoute, Rule, rules_of};
use crate::http::call::Call;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};

/// `GET /admin/routing/{type}`.
pub async fn get(State(engine): State<Engine>, Path(job_type): Path<String>) -> Result<Json, Failure> {
    let row = engine.query(GetRoute(job_type)).await?;
    Ok(Json::ok(described(&row)?))
}

/// `PUT /admin/routing/{type}`.
pub async fn put(State(engine): State<Engine>, Path(job_type): Path<String>, call: Call) -> Result<Json, Failure> {
    envelope::check_type(&job_type)?;
    let members: Map<String, Value> = call.parse()?;
    let rules = Rule::parse_all(members.get("rules"))?;
    let rollback = Rollback::parse(members.get("auto_rollback"))?;
    let location = format!("/ojs/v1/admin/routing/{job_type}");
    let (row, known) = engine.execute(PutRoute { job_type, rules, rollback }).await?;
    let body = described(&row)?;
    Ok(if known { Json::ok(body) } else { Json::created(body, Some(location)) })
}

/// `DELETE /admin/routing/{type}`.
pub async fn delete(State(engine): State<Engine>, Path(job_type): Path<String>) -> Result<Json, Failure> {
    engine.execute(DeleteRoute(job_type.clone())).await?;
    Ok(Json::with_status(StatusCode::OK, json!({"deleted": true, "type": job_type}).to_string()))
}

fn described(row: &RouteRow) -> Result<String, Failure> {
    let rollback = rollback_of(row)?.map(|rollback| rollback.to_json());
    let routing = json!({
        "type": row.job_type, "rules": rules_of(row)?, "auto_rollback": rollback, "rolled_back": rolled_back(row)?,
        "updated_at": stamp(row.updated_at),
    });
    Ok(json!({"routing": routing}).to_string())
}
