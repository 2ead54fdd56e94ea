//! What the arguments of an operation are on the wire: the vectors that all clients are held to.
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::operation::{ALL_PAGES, Filter, Group, Methods, Operation, Parameter, Place};

const JOB_ID: &str = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

/// All vectors, as text of JSON.
pub fn text(groups: &[Group]) -> Result<String, serde_json::Error> {
    let filters = crate::operation::filters(groups);
    let mut vectors = Vec::new();
    for operation in groups.iter().flat_map(|group| &group.operations) {
        let generated = operation.methods == Methods::Generated;
        for arguments in operation.example.iter().filter(|_| generated).chain(&operation.vectors) {
            vectors.push(vector(operation, arguments, &filters));
        }
    }
    let about = "Made from xtask/operations by make gen; do not edit. Names of a path are one segment each, not encoded.";
    Ok(serde_json::to_string_pretty(&json!({"about": about, "operations": vectors}))? + "\n")
}

/// A call, and the request that it shall be.
fn vector(operation: &Operation, arguments: &Map<String, Value>, filters: &BTreeMap<&str, &Filter>) -> Value {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let path: Vec<String> = operation
        .segments
        .iter()
        .map(|segment| if segment.is_parameter { text(&segment.text) } else { segment.text.clone() })
        .collect();
    let mut sent = Sent::default();
    for parameter in operation.parameters.iter().filter(|parameter| parameter.place != Place::Path && !parameter.only_wire) {
        match filters.get(parameter.kind.as_str()) {
            Some(filter) => {
                filter.fields.iter().for_each(|field| sent.put(parameter.place, inside(parameter, filter), field, arguments));
                if let Some(name) = &parameter.inside {
                    sent.body.entry(name.clone()).or_insert_with(|| json!({}));
                }
            }
            None => sent.put(parameter.place, parameter.inside.as_deref(), parameter, arguments),
        }
    }
    for (name, value) in operation.fixed.iter().filter(|(name, _)| *name != ALL_PAGES.0) {
        if operation.has_body {
            sent.body.insert(name.clone(), value.clone());
        } else {
            sent.query.insert(name.clone(), plain(value));
        }
    }
    let body = if operation.has_body { Value::Object(sent.body) } else { Value::Null };
    json!({
        "name": operation.name, "arguments": arguments, "method": operation.method, "path": path, "query": sent.query, "body": body,
        "answer": answer(operation),
    })
}

/// The member of the body that holds a parameter's value. The ids of a target are members of the body itself, its filter is not.
fn inside<'a>(parameter: &'a Parameter, filter: &'a Filter) -> Option<&'a str> {
    parameter.inside.as_deref().or((filter.name == "BulkTarget").then_some("filter"))
}

/// What is sent beside the path.
#[derive(Default)]
struct Sent {
    query: Map<String, Value>,
    body: Map<String, Value>,
}

impl Sent {
    fn put(&mut self, place: Place, inside: Option<&str>, parameter: &Parameter, arguments: &Map<String, Value>) {
        let given = arguments.get(&parameter.name).or(parameter.default.as_ref());
        let Some(value) = given else { return };
        match place {
            Place::Path => {}
            Place::Query => {
                self.query.insert(parameter.wire.clone(), plain(value));
            }
            Place::WholeBody => self.body.extend(value.as_object().cloned().unwrap_or_default()),
            Place::Body => {
                let value = match parameter.kind.as_str() {
                    "atomicity" => json!(if value == &Value::Bool(true) { "atomic" } else { "partial" }),
                    _ => value.clone(),
                };
                let members = match inside.filter(|_| parameter.name != "job_ids") {
                    Some(name) => self.body.entry(name.to_owned()).or_insert_with(|| json!({})).as_object_mut(),
                    None => Some(&mut self.body),
                };
                if let Some(members) = members {
                    members.insert(parameter.wire.clone(), value);
                }
            }
        }
    }
}

/// A value of a query as text.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(_) => value.clone(),
        Value::Array(items) => Value::from(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")),
        other => Value::from(other.to_string()),
    }
}

/// An answer that the client can read.
fn answer(operation: &Operation) -> Value {
    let job = json!({"id": JOB_ID, "type": "email.send", "args": [], "queue": "mail", "state": "available", "attempt": 0});
    let object = json!({"name": "x"});
    let member = operation.reply.member.as_str();
    let page = json!({"total": 1, "page": 1, "per_page": 100, "has_more": false});
    match operation.reply.kind.as_str() {
        "job" => json!({"job": job}),
        "bare_job" => job,
        "jobs" => json!({"jobs": [job]}),
        "job_page" => json!({"items": [job], "pagination": page}),
        "result" => json!({"job_id": JOB_ID, "state": "completed", "result": 3}),
        "results" => json!({"results": [{"job_id": JOB_ID, "state": "completed", "result": 3}, null]}),
        "workflow" => json!({"workflow": {"id": JOB_ID, "type": "chain", "state": "running"}}),
        "member" => json!({member: object}),
        "list" => json!({member: [object]}),
        "count" if operation.reply.more.is_empty() => json!({member: 3}),
        "count" => json!({member: 3, operation.reply.more.as_str(): false}),
        "crons" => json!({"crons": [{"name": "digest", "expression": "0 7 * * *"}]}),
        "cron" => json!({"cron": {"name": "digest", "expression": "0 7 * * *"}}),
        "bulk_result" => json!({"total_matched": 1, member: 1, "skipped": 0, "items": [{"job_id": JOB_ID, "status": member}]}),
        "nothing" => json!({}),
        _ => json!({"status": "ok", "name": "x"}),
    }
}
