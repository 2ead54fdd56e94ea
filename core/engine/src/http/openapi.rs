//! The OpenAPI document, made from the table of routes.
use axum::http::Method;
use ojs_model::json::push_member;
use ojs_model::{ErrorCode, JobState, MEDIA_TYPE, SPEC_VERSION};
use serde_json::{Map, Value, json};

use crate::http::access::Permission;
use crate::http::reply::Json;
use crate::http::routes::{Route, table};

/// `GET /openapi.json`
pub async fn document() -> Json {
    let mut out = String::from("{");
    push_member(&mut out, "openapi", "\"3.1.0\"");
    let body = describe(&table());
    for (name, part) in &body {
        push_member(&mut out, name, &part.to_string());
    }
    out.push('}');
    Json::ok(out)
}

/// Everything but the version of OpenAPI.
fn describe(routes: &[Route]) -> Map<String, Value> {
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let entry = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(route.method.as_str().to_ascii_lowercase(), operation(route));
        }
    }
    let info = json!({
        "title": "Open Job Spec", "version": env!("CARGO_PKG_VERSION"),
        "description": format!("Open Job Spec {SPEC_VERSION} as this server speaks it."),
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    });
    let security = json!({"key": {"type": "http", "scheme": "bearer", "description": "Only when the server asks for keys."}});
    Map::from_iter([
        ("info".to_owned(), info),
        ("servers".to_owned(), json!([{"url": "/ojs/v1"}])),
        ("paths".to_owned(), Value::from(paths)),
        ("components".to_owned(), json!({"schemas": schemas(), "securitySchemes": security})),
    ])
}

fn operation(route: &Route) -> Value {
    let name = |part: &str| part.trim_matches(['{', '}']).replace('-', "_");
    let parts: Vec<String> = route.path.split('/').filter(|part| !part.is_empty()).map(name).collect();
    let parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    let refused = json!({"description": "Refused", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Error"}}}});
    let mut operation = json!({
        "operationId": format!("{}_{}", route.method.as_str().to_ascii_lowercase(), parts.join("_")),
        "summary": route.summary,
        "tags": [parts.first().map_or("", String::as_str)],
        "parameters": parameters,
        "responses": {"2XX": success(route), "4XX": refused, "5XX": refused},
    });
    if let Some(operation) = operation.as_object_mut() {
        if route.needs != Permission::Open {
            operation.insert("security".into(), json!([{"key": [route.needs.scope()]}, {}]));
        }
        if matches!(route.method, Method::POST | Method::PATCH | Method::PUT) {
            let required = matches!(route.path, "/jobs" | "/jobs/batch" | "/workflows" | "/cron");
            let schema = json!({"$ref": format!("#/components/schemas/{}", request(route.path))});
            let content = json!({MEDIA_TYPE: {"schema": schema}, "application/json": {"schema": schema}});
            operation.insert("requestBody".into(), json!({"required": required, "content": content}));
        }
    }
    operation
}

fn success(route: &Route) -> Value {
    if route.path.ends_with("/stream") || (route.path.ends_with("/events") && route.path != "/events") {
        return json!({"description": "A stream of events", "content": {"text/event-stream": {"schema": {"type": "string"}}}});
    }
    let schema = json!({"$ref": format!("#/components/schemas/{}", answer(&route.method, route.path))});
    json!({"description": "Done", "content": {MEDIA_TYPE: {"schema": schema}}})
}

/// Schema of a request body.
fn request(path: &str) -> &'static str {
    match path {
        "/jobs" => "NewJob",
        "/jobs/batch" => "NewJobs",
        _ => "Object",
    }
}

/// Schema of an answer.
fn answer(method: &Method, path: &str) -> &'static str {
    match (method.as_str(), path) {
        ("POST", "/jobs") | (_, "/jobs/{id}" | "/jobs/{id}/activate" | "/dead-letter/{id}/retry") => "WrappedJob",
        ("GET", "/dead-letter/{id}" | "/admin/dead-letter/{id}") | (_, "/admin/dead-letter/{id}/retry") => "WrappedJob",
        (_, "/admin/jobs/{id}" | "/admin/jobs/{id}/cancel" | "/admin/jobs/{id}/retry") => "Job",
        (_, "/jobs/batch" | "/workers/fetch") | ("GET", "/dead-letter") => "Jobs",
        ("GET", "/admin/jobs" | "/admin/queues" | "/admin/workers" | "/admin/dead-letter") => "Page",
        (_, "/health") => "Health",
        _ => "Object",
    }
}

fn schemas() -> Value {
    let time = json!({"type": "string", "format": "date-time"});
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let states = JobState::ALL.map(JobState::as_str);
    let codes: Vec<&str> = ErrorCode::CATALOGUE.iter().map(|entry| entry.wire).collect();
    json!({
        "Object": {"type": "object"},
        "NewJob": {
            "type": "object", "required": ["type", "args"],
            "properties": {"type": text, "args": {"type": "array"}, "id": {"type": "string", "format": "uuid"}, "meta": {"type": "object"}, "options": {"type": "object"}},
        },
        "NewJobs": {"type": "object", "required": ["jobs"], "properties": {"jobs": {"type": "array", "items": {"$ref": "#/components/schemas/NewJob"}}}},
        "Job": {
            "type": "object", "required": ["id", "type", "args", "queue", "state", "attempt", "max_attempts", "priority", "created_at"],
            "properties": {
                "id": {"type": "string", "format": "uuid"}, "type": text, "args": {"type": "array"}, "meta": {"type": "object"}, "queue": text,
                "state": {"type": "string", "enum": states}, "attempt": number, "max_attempts": number, "priority": number,
                "created_at": time, "enqueued_at": time, "started_at": time, "completed_at": time, "errors": {"type": "array"},
            },
        },
        "WrappedJob": {"type": "object", "required": ["job"], "properties": {"job": {"$ref": "#/components/schemas/Job"}}},
        "Jobs": {"type": "object", "required": ["jobs"], "properties": {"jobs": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}}}},
        "Page": {
            "type": "object", "required": ["items", "pagination"],
            "properties": {
                "items": {"type": "array", "items": {"type": "object"}},
                "pagination": {
                    "type": "object", "required": ["total", "page", "per_page", "has_more"],
                    "properties": {"total": number, "page": number, "per_page": number, "has_more": {"type": "boolean"}},
                },
            },
        },
        "Health": {
            "type": "object", "required": ["status", "version", "uptime_seconds", "backend"],
            "properties": {"status": text, "version": text, "uptime_seconds": number, "backend": {"type": "object"}},
        },
        "Error": {
            "type": "object", "required": ["error"],
            "properties": {"error": {
                "type": "object", "required": ["code", "message", "retryable", "request_id"],
                "properties": {"code": {"type": "string", "examples": codes}, "message": text, "retryable": {"type": "boolean"}, "details": {"type": "object"}, "hint": text, "request_id": text},
            }},
        },
    })
}
