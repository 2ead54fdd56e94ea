//! Relays of outboxes: what they report, who sees it, how long it is kept and how much of it.
use std::time::Duration;

use ojs_engine::access::{Access, KeyFile, Role};
use ojs_engine::command::ListRelays;
use ojs_engine::relay::{KEEP_MS, MAX_OF_ONE, SILENT_AFTER_MS};
use ojs_model::Timestamp;
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, START};
use crate::tenants::ask;

crate::on_every_store!(
    a_relay_is_listed_with_what_it_said_last,
    relays_are_running_stuck_or_silent,
    one_that_stops_is_forgotten_at_once_and_one_that_is_silent_later,
    a_tenant_sees_its_own_relays_only,
    the_relays_of_a_tenant_are_bounded,
    what_does_not_fit_is_refused,
    lists_go_on_by_cursors,
    a_producer_may_report_and_a_viewer_may_look,
);

impl Bench {
    async fn relay_says(&self, id: &str, more: Value) {
        let (status, body) = self.http("POST", "/relays/beat", &beat(id, more).to_string()).await;
        assert_eq!((status, &body["id"]), (200, &json!(id)), "{body}");
    }

    async fn relays(&self, query: &str) -> Value {
        let (status, body) = self.http("GET", &format!("/admin/relays{query}"), "").await;
        assert_eq!(status, 200, "{body}");
        body
    }
}

fn beat(id: &str, more: Value) -> Value {
    let mut beat = json!({"id": id, "name": "shop-1", "database": "postgresql", "outbox": "ojs_outbox"});
    beat.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    beat
}

fn ids(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

async fn a_relay_is_listed_with_what_it_said_last(b: Bench) {
    assert_eq!(b.relays("").await["items"], json!([]));
    b.relay_says("r1", json!({"sent": 10})).await;
    b.clock.advance(Duration::from_secs(5));
    let said = json!({"leading": true, "waiting": 10_000, "waiting_more": true, "oldest_waiting_ms": 1_500, "parked": 2,
        "sent": 35, "error": "x".repeat(600)});
    b.relay_says("r1", said).await;
    let list = b.relays("").await;
    let expected = json!({
        "id": "r1", "name": "shop-1", "tenant_id": null, "database": "postgresql", "outbox": "ojs_outbox",
        "state": "running", "leading": true, "waiting": 10_000, "waiting_relation": "gte", "oldest_waiting_ms": 1_500,
        "parked": 2, "sent": 35, "sent_per_minute": 300, "error": "x".repeat(500),
        "first_heartbeat_at": "2026-01-01T00:00:00.000Z", "last_heartbeat_at": "2026-01-01T00:00:05.000Z",
    });
    assert_eq!(list["items"], json!([expected]));
    assert_eq!(list["summary"], json!({"total": 1, "running": 1, "stuck": 0, "silent": 0}));
}

async fn relays_are_running_stuck_or_silent(b: Bench) {
    b.relay_says("silent", json!({})).await;
    b.clock.advance(Duration::from_millis(SILENT_AFTER_MS as u64));
    b.relay_says("stuck", json!({"waiting": 1, "oldest_waiting_ms": 60_000, "error": "no server listens"})).await;
    b.relay_says("running", json!({"waiting": 1, "oldest_waiting_ms": 59_999})).await;
    for state in ["silent", "stuck", "running"] {
        let list = b.relays(&format!("?state={state}")).await;
        assert_eq!((ids(&list), &list["items"][0]["state"]), (vec![state], &json!(state)));
        assert_eq!(list["summary"], json!({"total": 3, "running": 1, "stuck": 1, "silent": 1}));
    }
    let (status, body) = b.http("GET", "/admin/relays?state=lost", "").await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("state")), "{body}");
}

async fn one_that_stops_is_forgotten_at_once_and_one_that_is_silent_later(b: Bench) {
    b.relay_says("polite", json!({})).await;
    b.relay_says("killed", json!({})).await;
    b.relay_says("polite", json!({"stopping": true})).await;
    assert_eq!(ids(&b.relays("").await), ["killed"]);
    b.relay_says("never known", json!({"stopping": true})).await;
    b.clock.advance(Duration::from_millis(KEEP_MS as u64 - 1));
    assert_eq!(ids(&b.relays("").await), ["killed"]);
    b.clock.advance(Duration::from_millis(1));
    assert_eq!(ids(&b.relays("").await), Vec::<&str>::new());
    // Pruning goes in steps of minutes.
    b.advance(Duration::from_secs(600)).await;
    assert_eq!(b.engine.store().query(ListRelays { since: 0 }).await.unwrap(), []);
}

async fn a_tenant_sees_its_own_relays_only(b: Bench) {
    b.relay_says("r", json!({"name": "of nobody"})).await;
    for tenant in ["acme", "globex"] {
        let (status, body) = b.of(tenant, "POST", "/relays/beat", beat("r", json!({"name": tenant}))).await;
        assert_eq!(status, 200, "{body}");
    }
    for tenant in ["acme", "globex"] {
        let (_, list) = b.of(tenant, "GET", "/admin/relays", Value::Null).await;
        assert_eq!((&list["items"][0]["tenant_id"], &list["summary"]["total"]), (&json!(tenant), &json!(1)), "{list}");
    }
    let (_, list) = b.of("initech", "GET", "/admin/relays", Value::Null).await;
    assert_eq!(list["summary"]["total"], 0, "{list}");
    b.of("acme", "POST", "/relays/beat", beat("r", json!({"stopping": true}))).await;
    let all = b.relays("").await;
    let names: Vec<&Value> = all["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["globex", "of nobody"], "operators see those of all tenants");
}

async fn the_relays_of_a_tenant_are_bounded(b: Bench) {
    let (status, _) = b.of("acme", "POST", "/relays/beat", beat("other", json!({}))).await;
    assert_eq!(status, 200);
    for n in 0..MAX_OF_ONE + 2 {
        b.clock.advance(Duration::from_millis(1));
        b.relay_says(&format!("r{n}"), json!({})).await;
        if n == 100 {
            // Heard of again: others have been silent for longer.
            b.relay_says("r0", json!({})).await;
        }
    }
    let kept = b.engine.store().query(ListRelays { since: START - 1 }).await.unwrap();
    assert_eq!(kept.len(), MAX_OF_ONE + 1, "those of another tenant are counted apart");
    let is_kept = |id: &str| kept.iter().any(|row| row.id == id);
    assert!(is_kept("r0") && is_kept("other") && is_kept("r3") && !is_kept("r1") && !is_kept("r2"));
}

async fn what_does_not_fit_is_refused(b: Bench) {
    let long = "n".repeat(256);
    for (body, field) in [
        (json!({}), "id"),
        (json!({"id": ""}), "id"),
        (json!({"id": long}), "id"),
        (json!({"id": "r", "name": long}), "name"),
        (json!({"id": "r", "database": long}), "database"),
        (json!({"id": "r", "outbox": long}), "outbox"),
        (json!({"id": "r", "waiting": -1}), "waiting"),
        (json!({"id": "r", "leading": "yes"}), "leading"),
    ] {
        let (status, answer) = b.http("POST", "/relays/beat", &body.to_string()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{body}: {answer}");
    }
    assert_eq!(b.relays("").await["summary"]["total"], 0);
    b.relay_says(&"n".repeat(255), json!({"waiting": u64::MAX})).await;
    assert_eq!(b.relays("").await["items"][0]["waiting"], i64::MAX);
}

async fn lists_go_on_by_cursors(b: Bench) {
    for n in 0..5 {
        b.relay_says(&format!("r{n}"), json!({})).await;
    }
    let first = b.relays("?per_page=2").await;
    assert_eq!(ids(&first), ["r0", "r1"]);
    // What comes and goes between two pages is neither shown twice nor a reason to leave one out.
    b.relay_says("r0", json!({"stopping": true})).await;
    b.relay_says("r1b", json!({})).await;
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap().replace(' ', "%20");
    let second = b.relays(&format!("?per_page=2&cursor={cursor}")).await;
    assert_eq!(ids(&second), ["r1b", "r2"]);
    assert_eq!(second["pagination"]["has_more"], true);
}

async fn a_producer_may_report_and_a_viewer_may_look(b: Bench) {
    let path = b.dir.path().join("keys.json");
    let mut file = KeyFile::default();
    let roles = [Role::Producer, Role::Viewer, Role::Worker];
    let keys = roles.map(|role| file.add(&format!("{role:?}"), vec![role], Timestamp::from_millis(0)).unwrap());
    file.write(&path).unwrap();
    let access = std::sync::Arc::new(Access::open(&path).unwrap());
    let router = b.engine.guarded_router(access);
    let statuses = async |method: &str, path: &str, body: Value| {
        let mut found = Vec::new();
        for key in &keys {
            let bearer = format!("Bearer {key}");
            found.push(ask(router.clone(), &[("Authorization", bearer.as_str())], method, path, &body).await.0);
        }
        found
    };
    assert_eq!(statuses("POST", "/relays/beat", beat("r", json!({}))).await, [200, 403, 403]);
    assert_eq!(statuses("GET", "/admin/relays", Value::Null).await, [403, 200, 403]);
}

/// Relays report to whichever node they reach, and every node lists them.
#[tokio::test]
async fn every_node_lists_the_relays_of_all() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    b.relay_says("r", json!({})).await;
    assert_eq!(ids(&other.relays("").await), ["r"]);
    other.relay_says("r", json!({"stopping": true})).await;
    assert_eq!(b.relays("").await["summary"]["total"], 0);
}
