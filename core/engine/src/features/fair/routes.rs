//! `/admin/queues/{name}/fairness`: how the jobs of a queue are shared (extensions sections 10 and 22).
use axum::extract::{Path, State};
use axum::http::StatusCode;
use ojs_model::{OjsError, envelope};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features::fair::commands::{DeleteFairness, GetFairness, PutFairness, SharedView};
use crate::features::fair::records::Share;
use crate::features::fair::weights::{Weights, weight};
use crate::http::call::Call;
use crate::http::page::stamp;
use crate::http::reply::{Failure, Json};

/// The only strategy: jobs of one priority are handed out to keys in proportion to their weights.
const STRATEGY: &str = "fair-share";

/// `GET /admin/queues/{name}/fairness`.
pub async fn get(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    Ok(Json::ok(describe(&engine.query(GetFairness(name)).await?).to_string()))
}

/// `PUT /admin/queues/{name}/fairness`: what is left out has its default.
pub async fn put(State(engine): State<Engine>, Path(name): Path<String>, call: Call) -> Result<Json, Failure> {
    envelope::check_queue(&name)?;
    let members: Map<String, Value> = call.parse()?;
    if is_off(&members)? {
        return delete(State(engine), Path(name)).await;
    }
    let wanted = read(name, &members)?;
    let location = format!("/ojs/v1/admin/queues/{}/fairness", wanted.queue);
    let (view, known) = engine.execute(wanted).await?;
    let body = describe(&view).to_string();
    Ok(if known { Json::ok(body) } else { Json::created(body, Some(location)) })
}

/// `DELETE /admin/queues/{name}/fairness`.
pub async fn delete(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    engine.execute(DeleteFairness(name.clone())).await?;
    Ok(Json::with_status(StatusCode::OK, json!({"deleted": true, "queue": name}).to_string()))
}

fn is_off(members: &Map<String, Value>) -> Result<bool, OjsError> {
    match members.get("enabled") {
        None | Some(Value::Null | Value::Bool(true)) => Ok(false),
        Some(Value::Bool(false)) => Ok(true),
        Some(_) => Err(OjsError::invalid_field("enabled", "enabled must be true or false.")),
    }
}

fn read(queue: String, members: &Map<String, Value>) -> Result<PutFairness, OjsError> {
    let mut wanted = PutFairness { queue, share: Share::default(), default_weight: 1, weights: Weights::default().into() };
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "enabled" => {}
            "by" => {
                let share = value.as_str().and_then(Share::parse);
                wanted.share =
                    share.ok_or_else(|| OjsError::invalid_field("by", format!("by must be tenant or key, got {value}.")))?;
            }
            "strategy" if value.as_str() == Some(STRATEGY) => {}
            "strategy" => {
                return Err(OjsError::invalid_field("strategy", format!("strategy must be {STRATEGY}, got {value}.")));
            }
            "default_weight" => wanted.default_weight = weight("default_weight", value)?,
            "weights" => {
                let object = value.as_object();
                let object = object.ok_or_else(|| {
                    OjsError::invalid_field("weights", "weights must be an object: {\"acme\": 4, \"initech\": 1}.")
                })?;
                wanted.weights = Weights::parse(object)?.into();
            }
            _ => {
                let message = format!("{name} is not known here: use by, weights, default_weight, strategy and enabled.");
                return Err(OjsError::invalid_field(name, message));
            }
        }
    }
    Ok(wanted)
}

fn describe(view: &SharedView) -> Value {
    let row = &view.row;
    let fault = row.weights.get(&view.queue).err().map(|fault| fault.to_string());
    let mut object = json!({
        "queue": &*view.queue, "enabled": row.is_shared(), "strategy": STRATEGY, "by": row.share.as_str(),
        "weights": row.weights.known().map(Weights::to_value), "default_weight": row.default_weight,
        "created_at": stamp(row.created_at), "updated_at": stamp(row.updated_at),
    });
    if let (Some(fault), Some(members)) = (fault, object.as_object_mut()) {
        members.insert("fault".into(), json!(fault));
    }
    object
}
