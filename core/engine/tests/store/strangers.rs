//! Keys and what they may know of each other's jobs and workers.
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use ojs_engine::access::{Access, KeyFile, Role};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::on_every_store;
use crate::support::Bench;

on_every_store!(
    a_producer_sees_little_of_jobs_of_other_keys,
    a_producer_neither_replaces_nor_reads_through_uniqueness,
    jobs_of_workflows_and_cron_entries_belong_to_the_key_that_made_them,
    the_id_of_a_worker_belongs_to_its_key_while_it_is_alive,
);

struct Guarded {
    router: axum::Router,
    keys: Vec<(&'static str, String)>,
}

fn guarded(b: &Bench) -> Guarded {
    let path = b.dir.path().join("keys.json");
    let mut file = KeyFile::default();
    let roles = [
        ("shop", Role::Producer),
        ("blog", Role::Producer),
        ("w1", Role::Worker),
        ("w2", Role::Worker),
        ("boss", Role::Operator),
    ];
    let keys = roles.map(|(name, role)| (name, file.add(name, vec![role], ojs_model::Timestamp::from_millis(0)).unwrap()));
    file.write(&path).unwrap();
    Guarded { router: b.engine.guarded_router(Arc::new(Access::open(path).unwrap())), keys: keys.to_vec() }
}

impl Guarded {
    async fn ask(&self, key: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let (_, secret) = self.keys.iter().find(|(known, _)| *known == key).unwrap();
        let request = Request::builder().method(method).uri(format!("/ojs/v1{path}"));
        let request = request.header("authorization", format!("Bearer {secret}")).header("content-type", "application/json");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let response = self.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        crate::declared::check(method, path, status, &body);
        (status, body)
    }
}

fn secret_job(options: Value) -> Value {
    // A client cannot say who it is: the server writes the name.
    json!({"type": "t", "args": ["secret"], "enqueued_by": "blog", "options": options})
}

fn outline(id: &str, state: &str) -> Value {
    json!({"id": id, "type": "t", "queue": "q", "state": state})
}

async fn a_producer_sees_little_of_jobs_of_other_keys(b: Bench) {
    let server = guarded(&b);
    let (_, made) = server.ask("shop", "POST", "/jobs", secret_job(json!({"queue": "q"}))).await;
    assert_eq!(made["job"]["enqueued_by"], "shop");
    let id = made["job"]["id"].as_str().unwrap().to_owned();
    let job = format!("/jobs/{id}");
    for whole in ["shop", "boss", "w1"] {
        assert_eq!(server.ask(whole, "GET", &job, Value::Null).await.1["job"]["args"], json!(["secret"]), "{whole}");
    }
    assert_eq!(server.ask("blog", "GET", &job, Value::Null).await, (200, json!({"job": outline(&id, "available")})));
    b.ack(&b.claim(1).await.remove(0)).await.unwrap();
    for path in [format!("{job}/result"), format!("{job}/result/stream"), format!("{job}/events")] {
        assert_eq!(server.ask("blog", "GET", &path, Value::Null).await.0, 403, "{path}");
    }
    let ids = json!({"ids": [id]});
    assert_eq!(server.ask("blog", "POST", "/jobs/results", ids.clone()).await.1["results"], json!([null]));
    assert_ne!(server.ask("shop", "POST", "/jobs/results", ids).await.1["results"], json!([null]));
    // Without keys everything is as it was.
    assert_eq!(b.http("GET", &job, "").await.1["job"]["args"], json!(["secret"]));
}

async fn a_producer_neither_replaces_nor_reads_through_uniqueness(b: Bench) {
    let server = guarded(&b);
    let unique = |on_conflict: &str| {
        let unique = json!({"keys": ["type"], "on_conflict": on_conflict});
        secret_job(json!({"queue": "q", "unique": unique}))
    };
    let (_, made) = server.ask("shop", "POST", "/jobs", unique("reject")).await;
    let id = made["job"]["id"].as_str().unwrap().to_owned();
    let (status, known) = server.ask("blog", "POST", "/jobs", unique("ignore")).await;
    assert_eq!((status, &known), (200, &json!({"job": outline(&id, "available"), "deduplicated": true})));
    let (_, known) = server.ask("blog", "POST", "/jobs/bulk", json!({"jobs": [unique("ignore")]})).await;
    assert!(!known.to_string().contains("secret"), "{known}");
    for replacing in ["replace", "replace_except_schedule"] {
        let (status, refused) = server.ask("blog", "POST", "/jobs", unique(replacing)).await;
        assert_eq!((status, &refused["error"]["details"]["existing_job_id"]), (409, &json!(id)), "{refused}");
        assert!(!refused.to_string().contains("secret"));
    }
    assert_eq!(server.ask("shop", "GET", &format!("/jobs/{id}"), Value::Null).await.1["job"]["state"], "available");
    assert_eq!(server.ask("shop", "POST", "/jobs", unique("replace")).await.0, 201, "its own it may replace");
}

async fn jobs_of_workflows_and_cron_entries_belong_to_the_key_that_made_them(b: Bench) {
    let server = guarded(&b);
    let mut step = secret_job(json!({"queue": "q", "unique": {"keys": ["type"], "on_conflict": "reject"}}));
    let inner = json!({"type": "chain", "steps": [step.clone()]});
    step["type"] = json!("last");
    let flow = json!({"type": "chain", "steps": [inner, step]});
    let (status, made) = server.ask("shop", "POST", "/workflows", flow).await;
    assert_eq!(status, 201, "{made}");
    let workflow = format!("/workflows/{}", made["workflow"]["id"].as_str().unwrap());
    for kind in ["t", "last"] {
        let held = b.claim(1).await.remove(0);
        assert!(held.body.text.contains(r#""enqueued_by":"shop""#), "{}", held.body.text);
        let id = held.row.id.to_string();
        let job = format!("/jobs/{id}");
        assert_eq!(server.ask("shop", "GET", &job, Value::Null).await.1["job"]["args"], json!(["secret"]));
        let outline = json!({"id": id, "type": kind, "queue": "q", "state": "active"});
        assert_eq!(server.ask("blog", "GET", &job, Value::Null).await.1, json!({"job": outline}));
        let mut replacing = secret_job(json!({"queue": "q", "unique": {"keys": ["type"], "on_conflict": "replace"}}));
        replacing["type"] = json!(kind);
        assert_eq!(server.ask("blog", "POST", "/jobs", replacing).await.0, 409, "{kind}");
        b.settle(held.row.id, Some(held.row.lease), ojs_engine::command::Outcome::Ack(Some("\"out\"".into()))).await.unwrap();
    }
    let whole = server.ask("shop", "GET", &workflow, Value::Null).await.1.to_string();
    assert!(whole.contains("out"), "{whole}");
    let (status, seen) = server.ask("blog", "GET", &workflow, Value::Null).await;
    assert_eq!((status, seen["workflow"]["state"].as_str()), (200, Some("completed")));
    assert!(!seen.to_string().contains("out") && seen["workflow"].as_object().unwrap().len() == 3, "{seen}");

    let entry = json!({"name": "tick", "expression": "* * * * *", "job_template": secret_job(json!({"queue": "q"}))});
    let (status, made) = server.ask("boss", "POST", "/cron", entry).await;
    assert_eq!(status, 201, "{made}");
    b.advance(std::time::Duration::from_secs(60)).await;
    let held = b.claim(1).await.remove(0);
    assert!(held.body.text.contains(r#""enqueued_by":"boss""#), "{}", held.body.text);
    let (_, seen) = server.ask("blog", "GET", &format!("/jobs/{}", held.row.id), Value::Null).await;
    assert!(!seen.to_string().contains("secret"), "{seen}");
}

async fn the_id_of_a_worker_belongs_to_its_key_while_it_is_alive(b: Bench) {
    let server = guarded(&b);
    b.job().await;
    let beat = |state: &str| json!({"worker_id": "host-1", "state": state, "queues": ["q"]});
    let fetch = json!({"queues": ["q"], "worker_id": "host-1"});
    assert_eq!(server.ask("w1", "POST", "/workers/heartbeat", beat("running")).await.0, 200);
    assert_eq!(server.ask("w2", "POST", "/workers/heartbeat", beat("quiet")).await.0, 403);
    assert_eq!(server.ask("w2", "POST", "/workers/fetch", fetch.clone()).await.0, 403);
    let (_, workers) = server.ask("boss", "GET", "/admin/workers", Value::Null).await;
    assert!(!workers.to_string().contains("\"w1\""), "the key is no part of what a worker says: {workers}");
    let (_, jobs) = server.ask("w1", "POST", "/workers/fetch", fetch).await;
    assert_eq!(jobs["jobs"].as_array().map(Vec::len), Some(1));
    // Nothing was heard of it for longer than a worker may be silent: a new process may take the name.
    b.advance(std::time::Duration::from_secs(120)).await;
    assert_eq!(server.ask("w2", "POST", "/workers/heartbeat", beat("running")).await.0, 200);
}
