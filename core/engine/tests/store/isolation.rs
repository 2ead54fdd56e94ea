//! The proof that a tenant neither sees nor changes what belongs to another one: every operation that the server has is
//! called by a stranger, with the names and ids of what belongs to the other tenant.
//!
//! For each operation the answer must be the one that a name gets which has never been used: so a stranger cannot even
//! learn that the thing exists. An operation that is not in [`PROBES`] must be for operators only, so a new operation
//! that tenants may call fails this test until it has a line there.
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::Bench;
use crate::tenants::ask;

crate::on_every_store!(a_stranger_neither_sees_nor_changes_anything);

/// Stands in everything of the owner that has text: what must not be in any answer to the stranger.
const SECRET: &str = "sesame";

/// What is asked. `$job`, `$active`, `$done`, `$dead`, `$flow`, `$bulk`, `$error`, `$train`, `$cron`, `$queue`, `$key`,
/// `$relay`, `$type`, `$uri`, `$hook` and `$delivery` stand for things of the owner, and then for things that are not
/// there.
#[rustfmt::skip]
const PROBES: &[(&str, &str, &str)] = &[
    ("GET", "/health", ""),
    ("GET", "/openapi.json", ""),
    ("GET", "/session", ""),
    ("POST", "/session", ""),
    ("DELETE", "/session", ""),
    ("POST", "/jobs", r#"{"type":"t","args":[],"options":{"queue":"mine"}}"#),
    ("POST", "/jobs/batch", r#"{"jobs":[{"type":"t","args":[],"options":{"queue":"mine"}}]}"#),
    ("POST", "/jobs/bulk", r#"{"jobs":[{"type":"t","args":[],"options":{"queue":"mine"}}]}"#),
    ("POST", "/jobs/bulk/cancel", r#"{"job_ids":["$job","$active"]}"#),
    ("POST", "/jobs/bulk/cancel", r#"{"filter":{"queue":"$queue"}}"#),
    ("POST", "/jobs/bulk/retry", r#"{"job_ids":["$dead"]}"#),
    ("POST", "/jobs/bulk/retry", r#"{"filter":{"queue":"$queue"}}"#),
    ("POST", "/jobs/bulk/delete", r#"{"job_ids":["$done","$dead"]}"#),
    ("POST", "/jobs/bulk/delete", r#"{"filter":{"queue":"$queue"}}"#),
    ("GET", "/jobs/$job", ""),
    ("PATCH", "/jobs/$job", r#"{"priority":5}"#),
    ("DELETE", "/jobs/$job", ""),
    ("GET", "/jobs/$job/events", ""),
    ("GET", "/jobs/$job/explain", ""),
    ("GET", "/history", ""),
    ("GET", "/history?queues=$queue", ""),
    ("GET", "/jobs/$active/history", ""),
    ("DELETE", "/jobs/$active/history", ""),
    ("GET", "/jobs/$dead/lineage", ""),
    ("POST", "/jobs/$job/activate", "{}"),
    ("GET", "/jobs/$done/result", ""),
    ("GET", "/jobs/$done/result/stream", ""),
    ("POST", "/jobs/$active/ack", "{}"),
    ("POST", "/jobs/$active/nack", r#"{"error":{"code":"x","message":"m"}}"#),
    ("POST", "/jobs/$job/cancel", "{}"),
    ("PUT", "/jobs/$active/progress", r#"{"progress":0.9,"message":"m"}"#),
    ("POST", "/workers/progress", r#"{"job_id":"$active","percentage":90,"message":"m"}"#),
    ("GET", "/jobs/$active/progress", ""),
    ("GET", "/jobs/$done/progress/stream", ""),
    ("PUT", "/jobs/$active/checkpoint", r#"{"state":{"page":9}}"#),
    ("POST", "/jobs/$active/checkpoint", r#"{"state":{"page":9}}"#),
    ("GET", "/jobs/$active/checkpoint", ""),
    ("DELETE", "/jobs/$active/checkpoint", ""),
    ("PUT", "/checkpoints/$active", r#"{"state":{"page":9},"step_index":1}"#),
    ("POST", "/checkpoints/$active", r#"{"state":{"page":9},"step_index":1}"#),
    ("GET", "/checkpoints/$active/resume", ""),
    ("DELETE", "/checkpoints/$active", ""),
    ("POST", "/jobs/fetch", r#"{"queues":["$queue"],"count":10}"#),
    ("POST", "/jobs/results", r#"{"ids":["$done","$dead"]}"#),
    ("POST", "/workers/fetch", r#"{"queues":["$queue"],"count":10,"worker_id":"w"}"#),
    ("POST", "/workers/ack", r#"{"job_id":"$active","worker_id":"w"}"#),
    ("POST", "/workers/nack", r#"{"job_id":"$active","worker_id":"w","error":{"code":"x","message":"m"}}"#),
    ("POST", "/workers/heartbeat", r#"{"worker_id":"w","active_jobs":["$active"]}"#),
    ("POST", "/workers/beat", r#"{"worker_id":"w","active_jobs":["$active"],"state":"quiet"}"#),
    ("POST", "/workers/exchange", r#"{"queues":["$queue"],"count":9,"outcomes":[{"job_id":"$active"}]}"#),
    ("POST", "/relays/beat", r#"{"id":"$relay","name":"mine"}"#),
    ("POST", "/relays/beat", r#"{"id":"$relay","stopping":true}"#),
    ("GET", "/admin/relays", ""),
    ("POST", "/workflows", r#"{"type":"chain","steps":[{"type":"t","args":[],"options":{"queue":"mine"}}]}"#),
    ("GET", "/workflows/$flow", ""),
    ("DELETE", "/workflows/$flow", ""),
    ("GET", "/workflows/$flow/progress", ""),
    ("GET", "/trains", ""),
    ("GET", "/trains/$train", ""),
    ("POST", "/trains/$train/advance", r#"{"confirm":true}"#),
    ("POST", "/trains/$train/hold", "{}"),
    ("GET", "/admin/trains", ""),
    ("GET", "/admin/trains/$train", ""),
    ("POST", "/admin/trains/$train/advance", r#"{"confirm":true}"#),
    ("POST", "/admin/trains/$train/hold", "{}"),
    ("GET", "/cron", ""),
    ("POST", "/cron", r#"{"name":"$cron","expression":"0 0 1 1 *","job_template":{"type":"t","args":[]}}"#),
    ("DELETE", "/cron/$cron", ""),
    ("GET", "/cron/$cron", ""),
    ("PATCH", "/cron/$cron", r#"{"enabled":false}"#),
    ("POST", "/cron/$cron/run", ""),
    ("GET", "/queues", ""),
    ("GET", "/queues/$queue", ""),
    ("GET", "/queues/$queue/stats", ""),
    ("GET", "/queues/$queue/events", ""),
    ("GET", "/schemas", ""),
    ("GET", "/schemas/$type", ""),
    ("GET", "/schemas/$uri", ""),
    ("GET", "/schemas/$type/versions", ""),
    ("GET", "/schemas/$type/1.0.0", ""),
    ("PATCH", "/schemas/$type/1.0.0", r#"{"mode":"off"}"#),
    ("DELETE", "/schemas/$type/1.0.0", ""),
    ("DELETE", "/schemas/$uri", ""),
    ("GET", "/admin/schemas/$type", ""),
    ("GET", "/admin/schemas/$type/versions", ""),
    ("GET", "/admin/schemas/$type/1.0.0", ""),
    ("DELETE", "/admin/schemas/$type/1.0.0", ""),
    ("POST", "/jobs", r#"{"type":"$type","args":[],"options":{"queue":"mine"}}"#),
    ("POST", "/schemas", r#"{"job_type":"$type","version":"1.0.0","schema":{"minItems":9}}"#),
    ("PUT", "/admin/schemas/$type/1.1.0", r#"{"schema":{"minItems":9}}"#),
    ("GET", "/rate-limits", ""),
    ("GET", "/rate-limits/$key", ""),
    ("GET", "/events", ""),
    ("GET", "/events?newest=true&queues=$queue", ""),
    ("GET", "/ws", ""),
    ("GET", "/dead-letter", ""),
    ("DELETE", "/dead-letter?confirm=true&queue=$queue", ""),
    ("GET", "/dead-letter/stats", ""),
    ("POST", "/dead-letter/retry", r#"{"confirm":true}"#),
    ("GET", "/dead-letter/preview", ""),
    ("GET", "/dead-letter/preview?queue=$queue", ""),
    ("GET", "/dead-letter/preview?job_ids=$dead", ""),
    ("GET", "/dead-letter/$dead", ""),
    ("DELETE", "/dead-letter/$dead", ""),
    ("POST", "/dead-letter/$dead/retry", "{}"),
    ("GET", "/admin/dead-letter", ""),
    ("DELETE", "/admin/dead-letter?confirm=true", ""),
    ("GET", "/admin/dead-letter/stats", ""),
    ("POST", "/admin/dead-letter/retry", r#"{"confirm":true}"#),
    ("GET", "/admin/dead-letter/preview?job_ids=$dead", ""),
    ("GET", "/admin/dead-letter/$dead", ""),
    ("DELETE", "/admin/dead-letter/$dead", ""),
    ("POST", "/admin/dead-letter/$dead/retry", "{}"),
    ("GET", "/admin/jobs", ""),
    ("GET", "/admin/jobs?queue=$queue&state=completed", ""),
    ("GET", "/admin/jobs/$job", ""),
    ("POST", "/admin/jobs/$job/cancel", "{}"),
    ("POST", "/admin/jobs/$dead/retry", "{}"),
    ("POST", "/admin/jobs/bulk/retry", r#"{"filter":{"queue":"$queue"},"confirm":true}"#),
    ("POST", "/admin/jobs/bulk/cancel", r#"{"filter":{},"confirm":true}"#),
    ("POST", "/admin/jobs/bulk/delete", r#"{"filter":{},"confirm":true}"#),
    ("GET", "/admin/workflows", ""),
    ("GET", "/admin/errors", ""),
    ("GET", "/admin/errors/$error", ""),
    ("GET", "/admin/bulk", ""),
    ("POST", "/admin/bulk", r#"{"action":"cancel","filter":{},"confirm":true}"#),
    ("POST", "/admin/bulk", r#"{"action":"cancel","filter":{"queue":"$queue"},"dry_run":true}"#),
    ("GET", "/admin/bulk/$bulk", ""),
    ("POST", "/admin/bulk/$bulk/pause", ""),
    ("POST", "/admin/bulk/$bulk/resume", ""),
    ("POST", "/admin/bulk/$bulk/cancel", ""),
    ("GET", "/webhooks/subscriptions", ""),
    ("POST", "/webhooks/subscriptions", r#"{"url":"http://127.0.0.1:9/","events":["job.*"],"active":false}"#),
    ("GET", "/webhooks/subscriptions/sub_$hook", ""),
    ("PATCH", "/webhooks/subscriptions/sub_$hook", r#"{"events":["*"]}"#),
    ("POST", "/webhooks/subscriptions/sub_$hook/test", "{}"),
    ("POST", "/webhooks/subscriptions/sub_$hook/rotate-secret", "{}"),
    ("DELETE", "/webhooks/subscriptions/sub_$hook", ""),
    ("GET", "/webhooks/deliveries", ""),
    ("GET", "/webhooks/deliveries?subscription_id=sub_$hook", ""),
    ("GET", "/webhooks/deliveries/del_$delivery", ""),
    ("POST", "/webhooks/deliveries/del_$delivery/retry", "{}"),
];

/// Streams without an end; `tenants::events_name_their_tenant_and_are_shown_to_it_alone` reads one.
const ENDLESS: &[(&str, &str)] = &[("GET", "/events/stream")];

/// What stands for what: the placeholders, and their values.
type Names = Vec<(&'static str, String)>;

/// A request of the owner.
async fn ask_as_owner(b: &Bench, method: &str, path: &str, body: &Value) -> (u16, axum::http::HeaderMap, Value) {
    ask(b.engine.router(), &[("X-OJS-Tenant", "owner")], method, path, body).await
}

/// What the owner has.
async fn world(b: &Bench) -> Names {
    let job = |n: u64| {
        json!({"type": "sesame.job", "args": [SECRET, n], "meta": {"x": SECRET}, "options": {"queue": SECRET,
            "rate_limit": {"key": SECRET, "concurrency": 9}, "retry": {"max_attempts": 1, "on_exhaustion": "dead_letter"}}})
    };
    let ask = |method: &'static str, path: &'static str, body: Value| async move {
        let (status, _, answer) = ask(b.engine.router(), &[("X-OJS-Tenant", "owner")], method, path, &body).await;
        assert!(status < 300, "{method} {path}: {answer}");
        answer
    };
    let mut ids = Vec::new();
    for n in 0..4 {
        let made = ask("POST", "/jobs", job(n)).await;
        ids.push(made["job"]["id"].as_str().unwrap().to_owned());
    }
    let fetched = ask("POST", "/workers/fetch", json!({"queues": [SECRET], "count": 3, "worker_id": SECRET})).await;
    let held: Vec<&str> = fetched["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
    let token = |n: usize| fetched["jobs"][n]["lease_token"].clone();
    ask("POST", "/workers/ack", json!({"job_id": held[0], "lease_token": token(0), "result": {"secret": SECRET}})).await;
    let error = json!({"code": "x", "type": "SesameError", "message": SECRET, "retryable": false});
    ask("POST", "/workers/nack", json!({"job_id": held[1], "lease_token": token(1), "error": error})).await;
    let step = json!({"type": "sesame.step", "args": [SECRET], "options": {"queue": SECRET}});
    let flow = ask("POST", "/workflows", json!({"type": "chain", "name": SECRET, "steps": [step.clone(), step.clone()]})).await;
    let schema = json!({"minItems": 1, "title": SECRET});
    let schema = json!({"job_type": "sesame.checked", "version": "1.0.0", "schema": schema, "mode": "strict"});
    ask("POST", "/schemas", schema).await;
    ask("POST", "/cron", json!({"name": SECRET, "expression": "0 0 1 1 *", "job_template": step})).await;
    let waiting = ids.iter().find(|id| !held.contains(&id.as_str())).unwrap().clone();
    let [done, dead, active] = [0, 1, 2].map(|n| held[n].to_owned());
    let flow = flow["workflow"]["id"].as_str().unwrap().to_owned();
    let report = json!({"progress": 0.5, "message": SECRET, "checkpoint": {"x": SECRET}, "lease_token": token(2)});
    let (status, _, answer) = ask_as_owner(b, "PUT", &format!("/jobs/{}/progress", held[2]), &report).await;
    assert_eq!(status, 200, "{answer}");
    let in_train = json!({"type": "sesame.job", "args": [SECRET], "options": {"queue": SECRET, "train": SECRET}});
    for _ in 0..2 {
        ask("POST", "/jobs", in_train.clone()).await;
    }
    let filter = json!({"queue": SECRET, "state": "retryable"});
    let operation = json!({"action": "retry", "filter": filter, "reason": SECRET, "confirm": true});
    let bulk = ask("POST", "/admin/bulk", operation).await["id"].as_str().unwrap().to_owned();
    // Its end is told in the log, which must not change any more.
    let (_, _, ended) = ask_as_owner(b, "GET", &format!("/admin/bulk/{bulk}?wait_ms=60000"), &Value::Null).await;
    assert_eq!(ended["state"], "completed", "{ended}");
    let named = ["$train", "$cron", "$queue", "$key", "$relay"].map(|name| (name, SECRET.to_owned()));
    let of_schema = [("$uri", "urn:ojs:schema:sesame.checked:v1.0.0"), ("$type", "sesame.checked")];
    let (_, _, failed) = ask_as_owner(b, "GET", "/admin/errors", &Value::Null).await;
    let error = failed["items"][0]["fingerprint"].as_str().unwrap().to_owned();
    let (hook, delivery) = webhook(b).await;
    let with_ids = [
        ("$error", error),
        ("$hook", hook),
        ("$delivery", delivery),
        ("$job", waiting),
        ("$active", active),
        ("$done", done),
        ("$dead", dead),
        ("$flow", flow),
        ("$bulk", bulk),
    ];
    let of_schema = of_schema.map(|(name, value)| (name, value.to_owned()));
    with_ids.into_iter().chain(of_schema).chain(named).collect()
}

/// A subscription of the owner, and a delivery of it that waits. It is not active any more, so nothing happens to it.
async fn webhook(b: &Bench) -> (String, String) {
    let body = json!({"url": "http://127.0.0.1:9/sesame", "events": ["job.cancelled"], "metadata": {"x": SECRET}});
    let (status, _, made) = ask_as_owner(b, "POST", "/webhooks/subscriptions", &body).await;
    assert_eq!((status, &made["tenant_id"]), (201, &json!("owner")), "{made}");
    let hook = made["id"].as_str().unwrap().to_owned();
    let job = json!({"type": "sesame.job", "args": [SECRET], "options": {"queue": SECRET}});
    let (_, _, job) = ask_as_owner(b, "POST", "/jobs", &job).await;
    ask_as_owner(b, "DELETE", &format!("/jobs/{}", job["job"]["id"].as_str().unwrap()), &Value::Null).await;
    // Its first attempt fails, and the next one is due at a time that does not come.
    let waits = async {
        loop {
            let (_, _, page) = ask_as_owner(b, "GET", "/webhooks/deliveries", &Value::Null).await;
            let row = page["deliveries"][0].clone();
            if row["attempts"] == 1 && row["status"] == "pending" {
                return row["id"].as_str().unwrap().to_owned();
            }
            tokio::task::yield_now().await;
        }
    };
    let delivery = tokio::time::timeout(std::time::Duration::from_secs(60), waits).await.expect("an attempt that fails");
    let path = format!("/webhooks/subscriptions/{hook}");
    assert_eq!(ask_as_owner(b, "PATCH", &path, &json!({"active": false})).await.0, 200);
    let bare = |id: &str| id.split_once('_').unwrap().1.to_owned();
    (bare(&hook), bare(&delivery))
}

/// The same names for things that nobody has.
fn nothing(names: &Names) -> Names {
    let fresh = |name: &str| {
        if name.starts_with("$train") || name.starts_with("$cron") || name.starts_with("$queue") || name.starts_with("$key") {
            "nowhere".to_owned()
        } else if name == "$type" {
            "nowhere.checked".to_owned()
        } else if name == "$uri" {
            "urn:ojs:schema:nowhere.checked:v1.0.0".to_owned()
        } else if name == "$error" {
            "0123456789abcdef".to_owned()
        } else {
            ojs_model::JobId::now_v7().to_string()
        }
    };
    names.iter().map(|(name, _)| (*name, fresh(name))).collect()
}

fn filled(text: &str, names: &Names) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// An answer without what differs from request to request.
fn comparable(status: u16, answer: &Value, names: &Names) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !matches!(name.as_str(), "request_id" | "id" | "uptime_seconds" | "cursor" | "tickets"));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut answer = answer.clone();
    strip(&mut answer);
    let text = format!("{status} {answer}");
    names.iter().fold(text, |text, (name, value)| text.replace(value.as_str(), name))
}

/// Everything that the owner has, as an operator sees it. Only what is the owner's: counts of the server change.
async fn everything(b: &Bench, names: &Names) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in [
        "/admin/jobs?per_page=100",
        "/admin/workflows",
        "/dead-letter",
        "/dead-letter/stats",
        "/cron",
        "/queues/sesame",
        "/rate-limits",
        "/schemas/$type/versions",
        "/events?limit=1000",
        "/jobs/$done/result",
        "/jobs/$active/progress",
        "/jobs/$dead/history",
        "/jobs/$active/history",
        "/jobs/$active/checkpoint",
        "/trains",
        "/trains/$train",
        "/workflows/$flow",
        "/admin/bulk",
        "/admin/errors",
        "/admin/relays",
        "/webhooks/subscriptions",
        "/webhooks/deliveries",
    ] {
        let (status, _, mut answer) =
            ask(b.engine.router(), &[("X-OJS-Tenant", "owner")], "GET", &filled(path, names), &Value::Null).await;
        assert_eq!(status, 200, "{path}: {answer}");
        // The end of the log is that of all tenants.
        answer.as_object_mut().map(|members| members.remove("cursor"));
        seen.push(answer);
    }
    seen
}

async fn a_stranger_neither_sees_nor_changes_anything(b: Bench) {
    let names = world(&b).await;
    let relay = json!({"id": SECRET, "name": SECRET, "error": SECRET});
    assert_eq!(ask_as_owner(&b, "POST", "/relays/beat", &relay).await.0, 200);
    let nothing = nothing(&names);
    let before = everything(&b, &names).await;
    let stranger = [("X-OJS-Tenant", "stranger")];
    // So that the stranger is a tenant like any other.
    let own = json!({"type": "t", "args": [], "options": {"queue": "mine"}});
    assert_eq!(ask(b.engine.router(), &stranger, "POST", "/jobs", &own).await.0, 201);
    for (method, path, body) in PROBES {
        let mut answers = Vec::new();
        for names in [&nothing, &names] {
            let body = if body.is_empty() { Value::Null } else { serde_json::from_str(&filled(body, names)).unwrap() };
            let (status, _, answer) = ask(b.engine.router(), &stranger, method, &filled(path, names), &body).await;
            answers.push(comparable(status, &answer, names));
        }
        let told = answers[1].replace("$", "");
        assert!(!told.contains(SECRET) && !told.contains("owner"), "{method} {path} tells: {told}");
        if path.contains('$') || body.contains('$') {
            // Entries of one name are made by both in turns, and the second answer says that there is one already.
            let made = *method == "POST" && *path == "/cron";
            assert!(made || answers[0] == answers[1], "{method} {path} {body}\n{}\n{}", answers[0], answers[1]);
        }
        assert_eq!(everything(&b, &names).await, before, "{method} {path} {body} has changed something");
    }
}

/// The pattern of a probe's path, as the table of operations has it.
fn pattern(path: &str) -> String {
    let path = path.split('?').next().unwrap();
    let parameter = |part: &str| match part {
        "$cron" | "$queue" => "{name}".to_owned(),
        "$key" => "{key}".to_owned(),
        "$error" => "{fingerprint}".to_owned(),
        "$type" | "$uri" => "{type}".to_owned(),
        "1.0.0" | "1.1.0" => "{version}".to_owned(),
        part if part.contains('$') => "{id}".to_owned(),
        part => part.to_owned(),
    };
    path.split('/').map(parameter).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_operation_is_probed_or_is_for_operators() {
    let b = Bench::memory().await;
    let (_, document) = b.http("GET", "/openapi.json", "").await;
    let probed: BTreeSet<(String, String)> =
        PROBES.iter().map(|(method, path, _)| ((*method).to_owned(), pattern(path))).collect();
    let mut operations = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        if path == "/ojs/manifest" {
            // It lies beside these paths, and says the same to all.
            continue;
        }
        for method in methods.as_object().unwrap().keys().filter(|name| name.as_str() != "parameters") {
            let method = method.to_uppercase();
            operations += 1;
            if probed.contains(&(method.clone(), path.clone())) || ENDLESS.contains(&(method.as_str(), path.as_str())) {
                continue;
            }
            if path == "/admin/reset" {
                // It is there in test mode only.
                continue;
            }
            let concrete = path.replace("{directive}", "quiet").replace(['{', '}'], "");
            let (status, _, body) = ask(b.engine.router(), &[("X-OJS-Tenant", "a")], &method, &concrete, &json!({})).await;
            let reason = &body["error"]["details"]["reason"];
            assert_eq!((status, reason), (403, &json!("operators_only")), "{method} {path} needs a probe: {body}");
        }
    }
    assert!(operations > 100, "the document has {operations} operations");
    for (method, path) in &probed {
        let known = &document["paths"][path.as_str()][method.to_lowercase()];
        assert!(known.is_object(), "{method} {path} is probed, and is not there");
    }
}
