//! Keys in front of every route, and the description of the routes.
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use ojs_engine::access::{Access, KeyFile, Role};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::admin_http::{call, get, post};
use crate::streams::Listener;
use crate::support::Bench;
use crate::tenants::{ask, job};

crate::on_every_store!(
    without_a_key_only_health_answers,
    roles_open_their_routes,
    a_viewer_reads_everything_and_changes_nothing,
    the_description_names_the_routes_that_exist,
    answers_fit_their_description,
    an_idempotency_key_is_the_clients_own,
    streams_end_with_their_key,
);

struct Guarded {
    router: axum::Router,
    keys: Vec<(Role, String)>,
}

fn guarded(b: &Bench) -> Guarded {
    let path = b.dir.path().join("keys.json");
    let mut file = KeyFile::default();
    let keys =
        Role::ALL.map(|role| (role, file.add(&role.to_string(), vec![role], ojs_model::Timestamp::from_millis(0)).unwrap()));
    file.write(&path).unwrap();
    Guarded { router: b.engine.guarded_router(Arc::new(Access::open(path).unwrap())), keys: keys.to_vec() }
}

impl Guarded {
    async fn ask(&self, role: Option<Role>, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(role) = role {
            let (_, secret) = self.keys.iter().find(|(known, _)| *known == role).unwrap();
            request = request.header("authorization", format!("Bearer {secret}"));
        }
        let response = self.router.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        if status == 401 {
            assert!(response.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
        }
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        crate::declared::check(method, path.strip_prefix("/ojs/v1").unwrap_or(path), status, &body);
        (status, body)
    }
}

impl Guarded {
    async fn ask_owned(&self, role: Role, path: &str, body: String) -> (u16, Value) {
        self.ask(Some(role), "POST", path, &body).await
    }
}

async fn without_a_key_only_health_answers(b: Bench) {
    let server = guarded(&b);
    for path in ["/health", "/ready", "/ojs/v1/health", "/ojs/manifest", "/ojs/v1/openapi.json"] {
        assert_eq!(server.ask(None, "GET", path, "").await.0, 200, "{path}");
    }
    let document = get(&b, "/openapi.json").await;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let status = server.ask(None, &method.to_uppercase(), &format!("/ojs/v1{path}"), "").await.0;
            assert_eq!(status == 401, operation.get("security").is_some(), "{method} {path}: {status}");
        }
    }
    assert_eq!(server.ask(None, "GET", "/metrics", "").await.0, 401);
    assert_eq!(server.ask(None, "GET", "/ojs/v1/nowhere", "").await.0, 404);
}

async fn roles_open_their_routes(b: Bench) {
    use Role::{Admin, Operator, Producer, Viewer, Worker};
    let server = guarded(&b);
    let id = b.job().await;
    let job = format!("/ojs/v1/jobs/{id}");
    for (method, path, body, allowed) in [
        ("POST", "/ojs/v1/jobs", r#"{"type":"t","args":[]}"#, vec![Producer, Operator, Admin]),
        ("POST", "/ojs/v1/workers/fetch", r#"{"queues":["none"]}"#, vec![Worker, Admin]),
        ("GET", job.as_str(), "", vec![Producer, Worker, Viewer, Operator, Admin]),
        ("GET", "/ojs/v1/admin/jobs", "", vec![Viewer, Operator, Admin]),
        ("GET", "/metrics", "", vec![Viewer, Operator, Admin]),
        ("POST", "/ojs/v1/admin/queues/q/pause", "", vec![Operator, Admin]),
        ("POST", "/ojs/v1/admin/system/maintenance", r#"{"enabled":false}"#, vec![Admin]),
    ] {
        for role in Role::ALL {
            let (status, body) = server.ask(Some(role), method, path, body).await;
            if allowed.contains(&role) {
                assert!(status < 300, "{role} {method} {path}: {status} {body}");
            } else {
                assert_eq!((status, &body["error"]["code"]), (403, &json!("permission_denied")), "{role} {method} {path}");
                assert!(body["error"]["details"]["required_scope"].is_string());
            }
        }
    }
}

/// Requests that only read although they send a body, and those that concern nothing but the viewer's own session.
const HARMLESS: &[(&str, &str)] = &[("post", "/jobs/results"), ("post", "/session"), ("delete", "/session")];

async fn a_viewer_reads_everything_and_changes_nothing(b: Bench) {
    let server = guarded(&b);
    let (viewer, secret) = server.keys.iter().find(|(role, _)| *role == Role::Viewer).unwrap();
    let document = get(&b, "/openapi.json").await;
    let (mut refused, mut read) = (0, 0);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let (name, uri) = (method.to_uppercase(), format!("/ojs/v1{path}"));
            if method != "get" && !HARMLESS.contains(&(method, path)) {
                let (status, body) = server.ask(Some(*viewer), &name, &uri, "{}").await;
                assert_eq!((status, &body["error"]["code"]), (403, &json!("permission_denied")), "{method} {path}");
                refused += 1;
                continue;
            }
            let request = Request::builder().method(name.as_str()).uri(&uri).header("authorization", format!("Bearer {secret}"));
            let response = server.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            assert!(![401, 403].contains(&response.status().as_u16()), "{method} {path}: {}", response.status());
            read += 1;
        }
    }
    assert!(refused > 60 && read > 50, "{refused} refused, {read} read");
    assert!("viewer".parse::<Role>().is_ok() && Role::Viewer > Role::Worker && Role::Viewer < Role::Operator);
}

/// Status and body; no body of a stream, which does not end.
async fn answer(b: &Bench, method: &str, path: &str) -> (u16, Value) {
    let request = Request::builder().method(method).uri(format!("/ojs/v1{path}")).body(Body::empty()).unwrap();
    let response = b.engine.router().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    if response.headers()["content-type"] == "text/event-stream" {
        return (status, Value::Null);
    }
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

async fn the_description_names_the_routes_that_exist(b: Bench) {
    let document = get(&b, "/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = std::collections::HashSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let (status, body) = answer(&b, method, path).await;
            match methods.get(method.to_lowercase()) {
                Some(operation) => {
                    let missing = status == 404 && body["error"]["details"]["resource_type"] == "path";
                    assert!(status != 405 && !missing, "{method} {path} is described, but answers {status}");
                    assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{operation}");
                    assert!(!operation["summary"].as_str().unwrap().is_empty());
                }
                None => assert_eq!(status, 405, "{method} {path} is not described"),
            }
        }
    }
}

/// Looks up `$ref`, then checks type, required members, enumerations, members and items.
fn fits(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return fits(document, document.pointer(reference.trim_start_matches('#')).unwrap(), value);
    }
    let right = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    let listed = schema["enum"].as_array().is_none_or(|words| words.contains(value));
    if !right || !listed {
        return Err(format!("{value} does not fit {schema}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            return Err(format!("{name} is missing in {value}"));
        }
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(member) = value.get(name) {
            fits(document, inner, member)?;
        }
    }
    for item in value.as_array().into_iter().flatten() {
        fits(document, &schema["items"], item)?;
    }
    Ok(())
}

async fn answers_fit_their_description(b: Bench) {
    let document = get(&b, "/openapi.json").await;
    let (_, enqueued) = post(&b, "/jobs", json!({"type": "t", "args": [1], "options": {"queue": "q"}})).await;
    let id = enqueued["job"]["id"].as_str().unwrap().to_owned();
    let check = |method: &str, path: &str, status: u16, body: &Value| {
        let pointer = format!("/paths/{}/{method}/responses", path.replace('/', "~1"));
        let answers = document.pointer(&pointer).unwrap_or_else(|| panic!("{method} {path} is not described"));
        let schema = &answers[format!("{}XX", status / 100)]["content"][ojs_model::MEDIA_TYPE]["schema"];
        assert!(schema.is_object(), "{method} {path} {status}");
        fits(&document, schema, body).unwrap_or_else(|fault| panic!("{method} {path}: {fault}"));
    };
    check("post", "/jobs", 201, &enqueued);
    for (described, path) in [
        ("/health", "/health".to_owned()),
        ("/jobs/{id}", format!("/jobs/{id}")),
        ("/jobs/{id}", format!("/jobs/{}", ojs_model::JobId::now_v7())),
        ("/admin/jobs", "/admin/jobs".to_owned()),
        ("/admin/jobs", "/admin/jobs?state=lost".to_owned()),
        ("/admin/jobs/{id}", format!("/admin/jobs/{id}")),
        ("/admin/queues", "/admin/queues".to_owned()),
        ("/admin/workers", "/admin/workers".to_owned()),
        ("/admin/stats", "/admin/stats".to_owned()),
        ("/dead-letter", "/dead-letter".to_owned()),
        ("/admin/dead-letter", "/admin/dead-letter".to_owned()),
    ] {
        let (status, body) = call(&b, Method::GET, &path, &Value::Null).await;
        check("get", described, status, &body);
    }
    let (status, fetched) = post(&b, "/workers/fetch", json!({"queues": ["q"]})).await;
    check("post", "/workers/fetch", status, &fetched);
    assert!(fits(&document, &json!({"$ref": "#/components/schemas/Job"}), &json!({"id": 1})).is_err(), "the check can fail");
}

/// Two clients that use the same words do not get each other's answers.
async fn an_idempotency_key_is_the_clients_own(b: Bench) {
    let server = guarded(&b);
    let request = |n: u32| {
        json!({"jobs": [{"type": "t", "args": [n], "options": {"queue": "q"}}], "idempotency_key": "import"}).to_string()
    };
    let bulk = |role, body: String| server.ask_owned(role, "/ojs/v1/jobs/bulk", body);
    let (status, first) = bulk(Role::Producer, request(1)).await;
    let (other, second) = bulk(Role::Operator, request(2)).await;
    assert_eq!((status, other), (200, 200), "{second}");
    assert_ne!(first["items"][0]["job"]["id"], second["items"][0]["job"]["id"]);
    assert_eq!(bulk(Role::Producer, request(1)).await, (200, first));
    assert_eq!(bulk(Role::Operator, request(1)).await.0, 409, "the key stands for another request of this client");
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 2);
}

/// Each stream that a key has opened ends when it is revoked; those of other keys go on.
async fn streams_end_with_their_key(b: Bench) {
    let path = b.dir.path().join("keys.json");
    let now = ojs_model::Timestamp::from_millis(0);
    let mut file = KeyFile::default();
    let [gone, changed, kept] = ["gone", "changed", "kept"].map(|name| file.add(name, vec![Role::Admin], now).unwrap());
    file.write(&path).unwrap();
    let access = Arc::new(Access::open(&path).unwrap());
    let router = b.engine.guarded_router(Arc::clone(&access));
    let id = b.job().await;
    let paths = ["events/stream", "queues/q/events", &format!("jobs/{id}/events"), &format!("jobs/{id}/result/stream")];
    let paths: Vec<String> = paths.iter().map(|path| format!("/ojs/v1/{path}")).collect();
    let open = async |secret: &str, path: &str| {
        let request = Request::get(path).header("authorization", format!("Bearer {secret}")).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let (status, mut stream) = (response.status().as_u16(), Listener::of(response.into_body()));
        if status == 200 {
            assert!(stream.block().await.unwrap().starts_with("retry:"));
        }
        (status, stream)
    };
    let mut ending = Vec::new();
    let mut going_on = Vec::new();
    for path in &paths {
        ending.push(open(&gone, path).await);
        ending.push(open(&changed, path).await);
        going_on.push(open(&kept, path).await);
    }
    assert!(ending.iter().chain(&going_on).all(|(status, _)| *status == 200));
    let change = |file: &mut KeyFile| {
        file.revoke("gone")?;
        file.keys.iter_mut().find(|key| key.name == "changed").unwrap().roles = vec![Role::Viewer];
        Ok(())
    };
    KeyFile::change(&path, false, change).unwrap();
    access.reload().unwrap();
    for (_, stream) in &mut ending {
        assert_eq!(stream.next().await, None, "it ends without another event");
    }
    assert_eq!(open(&gone, &paths[0]).await.0, 401, "a client that connects again learns why");
    // What happens now is heard by those whose key is in force.
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    for (_, stream) in &mut going_on {
        assert!(stream.next().await.is_some());
    }
}

#[tokio::test]
async fn a_key_speaks_for_the_tenant_that_it_is_bound_to() {
    let b = Bench::memory().await;
    let path = b.dir.path().join("keys.json");
    let (bound, free) = KeyFile::change(&path, true, |file| {
        let bound = file.add("shop", vec![Role::Admin], ojs_model::Timestamp::from_millis(0))?;
        file.bind("shop", "acme")?;
        Ok((bound, file.add("root", vec![Role::Admin], ojs_model::Timestamp::from_millis(0))?))
    })
    .unwrap();
    let access = Arc::new(Access::open(&path).unwrap());
    let router = || b.engine.guarded_router(Arc::clone(&access));
    let (bound, free) = (format!("Bearer {bound}"), format!("Bearer {free}"));
    let other = b.job_of("blog").await;
    let (status, _, body) = ask(router(), &[("Authorization", &bound)], "POST", "/jobs", &job("t", json!([]))).await;
    assert_eq!((status, &body["job"]["meta"]["tenant_id"]), (201, &json!("acme")), "{body}");
    let foreign = format!("/jobs/{other}");
    assert_eq!(ask(router(), &[("Authorization", &bound)], "GET", &foreign, &Value::Null).await.0, 404);
    let posing = [("Authorization", bound.as_str()), ("X-OJS-Tenant", "blog")];
    assert_eq!(ask(router(), &posing, "GET", &foreign, &Value::Null).await.0, 403);
    assert_eq!(ask(router(), &[("Authorization", &free)], "GET", &foreign, &Value::Null).await.0, 200);
    // An administrator of one tenant is none of the server.
    assert_eq!(ask(router(), &[("Authorization", &bound)], "GET", "/admin/stats", &Value::Null).await.0, 403);
    assert_eq!(ask(router(), &[("Authorization", &free)], "GET", "/admin/stats", &Value::Null).await.0, 200);
    let metrics = Request::builder().uri("/metrics").header("Authorization", &bound).body(Body::empty()).unwrap();
    assert_eq!(router().oneshot(metrics).await.unwrap().status(), 403);
}
