//! The OpenAPI document of all operations.
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::operation::{ALL_PAGES, Alias, COMMON_ERRORS, Filter, Group, Operation, Parameter, Permission, Place, UNREADABLE};

/// Media type of the protocol.
const MEDIA_TYPE: &str = "application/openjobspec+json";

/// The document. The server puts in its version, the version of the specification, and the codes of errors.
pub fn text(groups: &[Group]) -> Result<String, serde_json::Error> {
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Open Job Spec", "version": "{version}",
            "description": "Open Job Spec {specification} as this server speaks it.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/ojs/v1"}],
        "tags": groups.iter().map(|group| json!({"name": group.title})).collect::<Vec<_>>(),
        "paths": paths(groups),
        "x-common-error-codes": COMMON_ERRORS.iter().chain(&UNREADABLE).collect::<Vec<_>>(),
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "Only when the server asks for keys."},
            },
        },
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Sets a member of an object.
fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn paths(groups: &[Group]) -> BTreeMap<&str, BTreeMap<String, Value>> {
    let table = Table { filters: crate::operation::filters(groups), words: crate::operation::words(groups) };
    let mut paths: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
    for group in groups {
        for operation in group.operations.iter().filter(|operation| !operation.outside && !operation.test_mode) {
            let own = std::iter::once((&operation.method, &operation.path, None));
            let others = operation.aliases.iter().enumerate();
            let others = others.map(|(number, Alias { method, path })| (method, path, Some(number + 1)));
            for (method, path, alias) in own.chain(others) {
                let described = table.operation(group, operation, path, alias);
                paths.entry(path).or_default().insert(method.to_ascii_lowercase(), described);
            }
        }
    }
    paths
}

/// What types are.
struct Table<'a> {
    filters: BTreeMap<&'a str, &'a Filter>,
    words: BTreeMap<&'a str, &'a [String]>,
}

impl Table<'_> {
    fn operation(&self, group: &Group, operation: &Operation, path: &str, alias: Option<usize>) -> Value {
        let refused =
            json!({"description": "Refused", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Error"}}}});
        let mut responses = json!({"2XX": success(operation), "4XX": refused, "5XX": refused});
        if let (Some(responses), false) = (responses.get_mut("4XX"), operation.errors.is_empty()) {
            set(responses, "description", format!("Refused: {}", operation.errors.join(", ")).into());
        }
        let id = alias.map_or_else(|| operation.name.clone(), |number| format!("{}_{}", operation.name, number + 1));
        let summary = plain(&operation.doc);
        let mut described = json!({
            "operationId": id, "summary": summary, "tags": [group.title], "parameters": self.parameters(operation, path),
            "responses": responses, "x-error-codes": operation.errors,
        });
        if !operation.more.is_empty() {
            set(&mut described, "description", plain(&operation.more).into());
        }
        if operation.permission != Permission::Open {
            set(&mut described, "security", json!([{"key": [scope(operation.permission)]}, {}]));
        }
        if operation.has_body {
            let schema = self.body(operation);
            let required =
                operation.body.as_deref().is_some_and(|body| matches!(body, "NewJob" | "NewJobs" | "Workflow" | "Cron"));
            let content = json!({MEDIA_TYPE: {"schema": schema}, "application/json": {"schema": schema}});
            set(&mut described, "requestBody", json!({"required": required, "content": content}));
        }
        described
    }

    fn parameters(&self, operation: &Operation, path: &str) -> Vec<Value> {
        let mut found = Vec::new();
        for parameter in &operation.parameters {
            match (parameter.place, self.filters.get(parameter.kind.as_str())) {
                (Place::Path, _) if path.contains(&format!("{{{}}}", parameter.wire)) => {
                    found.push(self.parameter(parameter, "path"))
                }
                (Place::Query, Some(filter)) => found.extend(filter.fields.iter().map(|field| self.parameter(field, "query"))),
                (Place::Query, None) => found.push(self.parameter(parameter, "query")),
                _ => {}
            }
        }
        if !operation.has_body {
            let known = |name: &str| name == ALL_PAGES.0 || operation.parameters.iter().any(|known| known.wire == name);
            let fixed = operation.fixed.keys().filter(|name| !known(name));
            found.extend(fixed.map(|name| json!({"name": name, "in": "query", "schema": {"type": "boolean"}})));
        }
        found
    }

    fn parameter(&self, parameter: &Parameter, place: &str) -> Value {
        let mut schema = self.schema(&parameter.kind);
        if parameter.kind == "texts" {
            schema = json!({"type": "string"});
        }
        let mut described = json!({"name": parameter.wire, "in": place, "schema": schema, "description": parameter.doc});
        if place == "path" {
            set(&mut described, "required", true.into());
        }
        described
    }

    fn body(&self, operation: &Operation) -> Value {
        if let Some(name) = &operation.body {
            return json!({"$ref": format!("#/components/schemas/{name}")});
        }
        let mut members: Map<String, Value> = Map::new();
        let mut required: Vec<&str> = Vec::new();
        for parameter in operation.parameters.iter().filter(|parameter| parameter.place == Place::Body) {
            match self.filters.get(parameter.kind.as_str()) {
                Some(filter) => {
                    let fields = |also: bool| {
                        let fields = filter.fields.iter().filter(move |field| (field.name == "job_ids") == also);
                        fields.map(|field| (field.wire.clone(), self.member(field)))
                    };
                    members.extend(fields(true));
                    members
                        .insert("filter".into(), json!({"type": "object", "properties": fields(false).collect::<Map<_, _>>()}));
                }
                None => {
                    members.insert(parameter.wire.clone(), self.member(parameter));
                    required.extend(parameter.required.then_some(parameter.wire.as_str()));
                }
            }
        }
        for (name, value) in &operation.fixed {
            members.insert(name.clone(), json!({"type": if value.is_boolean() { "boolean" } else { "integer" }}));
        }
        let mut schema = json!({"type": "object"});
        if !members.is_empty() {
            set(&mut schema, "properties", members.into());
        }
        if !required.is_empty() {
            set(&mut schema, "required", required.into());
        }
        schema
    }

    fn member(&self, parameter: &Parameter) -> Value {
        let mut schema = self.schema(&parameter.kind);
        set(&mut schema, "description", parameter.doc.clone().into());
        schema
    }

    /// The schema of a value of this type.
    fn schema(&self, kind: &str) -> Value {
        match kind {
            "integer" => json!({"type": "integer"}),
            "number" => json!({"type": "number"}),
            "page_number" => json!({"type": "integer", "minimum": 1}),
            "boolean" => json!({"type": "boolean"}),
            "object" | "settings" | "limits" => json!({"type": "object"}),
            "texts" | "states" => json!({"type": "array", "items": {"type": "string"}}),
            "time" | "moment" => json!({"type": "string", "format": "date-time"}),
            "period" => json!({"type": "string", "format": "duration"}),
            "atomicity" => json!({"type": "string", "enum": ["partial", "atomic"]}),
            other => match self.words.get(other) {
                Some(words) => json!({"type": "string", "enum": words}),
                None => json!({"type": "string"}),
            },
        }
    }
}

/// The scope of the admin API that a permission amounts to.
fn scope(permission: Permission) -> &'static str {
    match permission {
        Permission::Open => "",
        Permission::Enqueue | Permission::Work => "ojs:data:write",
        Permission::Read => "ojs:data:read",
        Permission::Inspect => "ojs:admin:read",
        Permission::Operate => "ojs:admin:write",
        Permission::Administer => "ojs:admin:purge",
    }
}

/// A text for readers without these pages: `[name]` stands for another operation, `[word](page)` leads to a page.
fn plain(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, (_, after))) = rest.split_once("](").and_then(|(before, link)| Some((before, link.split_once(')')?)))
    {
        out.push_str(before);
        out.push(']');
        rest = after;
    }
    out.push_str(rest);
    out.replace(['[', ']'], "`")
}

fn success(operation: &Operation) -> Value {
    if operation.reply.kind == "stream" {
        return json!({"description": "A stream of events", "content": {"text/event-stream": {"schema": {"type": "string"}}}});
    }
    let schema = json!({"$ref": format!("#/components/schemas/{}", operation.reply.schema())});
    json!({"description": "Done", "content": {MEDIA_TYPE: {"schema": schema}}})
}

/// Schemas of bodies. The server fills in the states of jobs and the codes of errors.
fn schemas() -> Value {
    let (text, number, time) =
        (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "string", "format": "date-time"}));
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let object = json!({"type": "object"});
    json!({
        "Object": object, "Workflow": object, "Fetch": object, "Outcome": object, "Heartbeat": object, "Exchange": object,
        "AdminBulk": {
            "type": "object",
            "properties": {"job_ids": {"type": "array", "items": text}, "filter": object, "confirm": {"type": "boolean"},
                           "dry_run": {"type": "boolean"}, "limit": number},
        },
        "Cron": {
            "type": "object", "required": ["name"],
            "properties": {"name": text, "expression": text, "timezone": text, "overlap_policy": text, "enabled": {"type": "boolean"},
                           "description": text, "job_template": reference("NewJob")},
        },
        "NewJob": {
            "type": "object", "required": ["type", "args"],
            "properties": {"type": text, "args": {"type": "array"}, "id": {"type": "string", "format": "uuid"}, "meta": object,
                           "version": {"type": ["string", "integer"]},
                           "options": object},
        },
        "NewJobs": {"type": "object", "required": ["jobs"], "properties": {"jobs": {"type": "array", "items": reference("NewJob")}}},
        "Job": {
            "type": "object",
            "required": ["id", "type", "args", "queue", "state", "attempt", "max_attempts", "priority", "created_at"],
            "properties": {
                "id": {"type": "string", "format": "uuid"}, "type": text, "args": {"type": "array"}, "meta": object, "queue": text,
                "state": {"type": "string", "enum": "{states}"}, "attempt": number, "max_attempts": number, "priority": number,
                "created_at": time, "enqueued_at": time, "started_at": time, "completed_at": time, "errors": {"type": "array"},
            },
        },
        "WrappedJob": {"type": "object", "required": ["job"], "properties": {"job": reference("Job")}},
        "Jobs": {"type": "object", "required": ["jobs"], "properties": {"jobs": {"type": "array", "items": reference("Job")}}},
        "Page": page(),
        "Health": {
            "type": "object", "required": ["status", "version", "uptime_seconds", "backend"],
            "properties": {"status": text, "version": text, "uptime_seconds": number, "backend": object},
        },
        "Error": {
            "type": "object", "required": ["error"],
            "properties": {"error": {
                "type": "object", "required": ["code", "message", "retryable", "request_id"],
                "properties": {"code": {"type": "string", "examples": "{codes}"}, "message": text, "retryable": {"type": "boolean"},
                               "details": object, "hint": text, "request_id": text},
            }},
        },
    })
}

/// A page of a list of the admin API.
fn page() -> Value {
    let number = json!({"type": "integer"});
    json!({
        "type": "object", "required": ["items", "pagination"],
        "properties": {
            "items": {"type": "array", "items": {"type": "object"}},
            "pagination": {
                "type": "object", "required": ["total", "page", "per_page", "has_more"],
                "properties": {
                    "total": number, "page": number, "per_page": number, "has_more": {"type": "boolean"},
                    "total_relation": {
                        "type": "string", "enum": ["gte"],
                        "description": "There may be more than `total`: the server counted a part of them.",
                    },
                    "next_cursor": {"type": ["string", "null"], "description": "Where the next page begins: `cursor`."},
                },
            },
        },
    })
}
