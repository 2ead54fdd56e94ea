//! Requests, workflows and schedules on the wire, and the errors that answers become.
use std::sync::Arc;

use bytes::Bytes;
use ojs::testing::Recorder;
use ojs::transport::Response;
use ojs_abi::error::AbiError;
use serde_json::{Map, Value, json};

/// The request as a package hands it to the core: options that are the defaults are left out.
fn request(case: &Value) -> Value {
    let mut options: Map<String, Value> = case["options"].as_object().unwrap().clone();
    let mut body = json!({"type": case["type"], "args": case["args"]});
    for name in ["meta", "schema"] {
        if let Some(value) = options.remove(name).filter(|value| *value != json!({})) {
            body[name] = value;
        }
    }
    options.retain(|name, value| match name.as_str() {
        "queue" => *value != json!("default"),
        "priority" => *value != json!(0),
        "tags" => *value != json!([]),
        _ => true,
    });
    if !options.is_empty() {
        body["options"] = options.into();
    }
    body
}

/// What the core makes of it on the wire, less the id that it may have made.
async fn sent(case: &Value) -> Value {
    let recorder = Arc::new(Recorder::new());
    recorder.client().enqueue_raw(Bytes::from(request(case).to_string())).await.unwrap();
    let mut body: Value = serde_json::from_slice(recorder.requests().pop().unwrap().body.as_deref().unwrap()).unwrap();
    body.as_object_mut().unwrap().remove("id");
    body
}

/// A workflow as a package hands it to the core, in its shortest form.
fn plain(tree: &Value) -> Value {
    let tree = tree.as_object().unwrap();
    let Some(kind) = ["chain", "group", "batch"].into_iter().find(|kind| tree.contains_key(*kind)) else {
        return Value::Object(tree.clone());
    };
    let steps: Vec<Value> = tree[kind].as_array().unwrap().iter().map(plain).collect();
    let mut body = json!({"type": kind});
    body[if kind == "chain" { "steps" } else { "jobs" }] = steps.into();
    for name in ["name", "callbacks"] {
        if let Some(value) = tree.get(name) {
            body[name] = value.clone();
        }
    }
    body
}

/// What the core makes of a workflow on the wire.
async fn workflow(case: &Value) -> Value {
    let recorder = Arc::new(Recorder::new());
    recorder.client().workflow_raw(Bytes::from(plain(&case["workflow"]).to_string())).await.unwrap();
    serde_json::from_slice(recorder.requests().pop().unwrap().body.as_deref().unwrap()).unwrap()
}

/// What the core makes of a cron job on the wire.
async fn cron(case: &Value) -> Value {
    let mut given = case["cron"].as_object().unwrap().clone();
    let template = given.remove("job").unwrap();
    given.insert("job_template".to_owned(), template);
    let recorder = Arc::new(Recorder::new());
    recorder.client().register_cron_raw(Bytes::from(Value::Object(given).to_string())).await.unwrap();
    serde_json::from_slice(recorder.requests().pop().unwrap().body.as_deref().unwrap()).unwrap()
}

/// Class and members of the error that an answer becomes.
fn error(case: &Value) -> Value {
    let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
    let answer = Response::new(status, Bytes::from(case["answer"].to_string()));
    let error = AbiError::Sdk(ojs::Error::from_response(&answer));
    let object = error.to_object();
    json!({"class": error.class() as i32, "code": object["code"], "message": object["message"], "retryable": object["retryable"],
           "status": object["status"], "hint": object.get("hint"), "details": object.get("details")})
}

/// Fills in what is expected.
pub async fn make(vectors: &mut Value) {
    for case in vectors["requests"].as_array_mut().unwrap() {
        case["body"] = sent(case).await;
    }
    for case in vectors["workflows"].as_array_mut().unwrap() {
        case["body"] = workflow(case).await;
    }
    for case in vectors["crons"].as_array_mut().unwrap() {
        case["body"] = cron(case).await;
    }
    for case in vectors["answers"].as_array_mut().unwrap() {
        case["error"] = error(case);
    }
}
