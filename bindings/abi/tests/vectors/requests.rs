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

/// The text that goes over the wire when it is made without resending, and so without an id of the core's own.
async fn sent(case: &Value) -> String {
    let request = request(case);
    // In the order of the wire: a map would sort them.
    let members = ["type", "args", "meta", "schema", "options"].into_iter().filter_map(|name| Some((name, request.get(name)?)));
    let text: Vec<String> = members.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    let recorder = Arc::new(Recorder::new());
    recorder.client().enqueue_raw(Bytes::from(format!("{{{}}}", text.join(",")))).await.unwrap();
    String::from_utf8(recorder.requests().pop().unwrap().body.unwrap().to_vec()).unwrap()
}

/// Why the bytes are the language's own, and only the values are compared.
fn excuse(case: &Value) -> Option<&'static str> {
    fn any(value: &Value, test: fn(f64, &str) -> bool) -> bool {
        match value {
            Value::Number(number) => number.is_f64() && test(number.as_f64().unwrap(), &number.to_string()),
            Value::Array(items) => items.iter().any(|item| any(item, test)),
            Value::Object(members) => members.values().any(|member| any(member, test)),
            _ => false,
        }
    }
    if any(&case["args"], |_, text| text.contains('e')) {
        return Some(
            "exponents: each JSON library has a spelling of its own (1.5e-7, 1.5e-07), and arguments are sent as they were written",
        );
    }
    if any(&case["args"], |number, _| number.fract() == 0.0) {
        return Some(
            "whole floats: JavaScript and Go have no form for 1.0 that is not 1, and the others keep that it is a float",
        );
    }
    None
}

/// A workflow as a package hands it to the core, in its shortest form.
fn plain(tree: &Value) -> Value {
    let tree = tree.as_object().unwrap();
    if let Some(nodes) = tree.get("graph") {
        return plain_graph(tree, nodes.as_array().unwrap());
    }
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

/// A graph: each step has a name and those before it beside the members of its job.
fn plain_graph(tree: &serde_json::Map<String, Value>, nodes: &[Value]) -> Value {
    let step = |node: &Value| {
        let mut step = plain(&node["step"]);
        step["id"] = node["id"].clone();
        if let Some(after) = node.get("after") {
            step["depends_on"] = after.clone();
        }
        step
    };
    let mut body = json!({"type": "graph", "steps": nodes.iter().map(step).collect::<Vec<_>>()});
    if let Some(name) = tree.get("name") {
        body["name"] = name.clone();
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

/// What is said of an option that does not exist, without the list of those that do: each language has names of its own there.
async fn refusal(case: &Value) -> Value {
    let request = json!({"type": "email.send", "args": [], "options": case["options"]});
    let error = Arc::new(Recorder::new()).client().enqueue_raw(Bytes::from(request.to_string())).await.unwrap_err().to_string();
    let (_, sentence) = error.split_once(": ").unwrap();
    let end = sentence.find(" There are ").or_else(|| sentence.find("; there are ")).unwrap();
    sentence[..end].into()
}

/// Fills in what is expected.
pub async fn make(vectors: &mut Value) {
    for case in vectors["requests"].as_array_mut().unwrap() {
        let text = sent(case).await;
        let mut body: Value = serde_json::from_str(&text).unwrap();
        body.as_object_mut().unwrap().remove("id");
        case["body"] = body;
        case.as_object_mut().unwrap().remove("why");
        case["text"] = match excuse(case) {
            None => text.into(),
            Some(why) => {
                case["why"] = why.into();
                Value::Null
            }
        };
    }
    for case in vectors["refusals"].as_array_mut().unwrap() {
        case["says"] = refusal(case).await;
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
