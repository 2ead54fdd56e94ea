//! Tenants together with trains, versions and progress.
use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::support::Bench;
use crate::tenants::{ask, ids};
use crate::webhooks::SECRET;

crate::on_every_store!(
    jt_23_trains_of_two_tenants_are_apart,
    a_tenant_without_jobs_finds_none,
    a_fetch_of_a_tenant_gets_its_own_versions_only,
    a_report_of_a_stranger_changes_nothing_of_the_holders,
    what_holds_a_job_beside_its_tenant_keeps_no_job_for_ever,
    webhooks_of_a_tenant_get_its_own_events_only,
    what_a_tenant_has_set_up_is_deleted_with_it,
);

/// A successful request of a tenant.
async fn of(b: &Bench, tenant: &str, method: &str, path: &str, body: Value) -> Value {
    let (status, _, answer) = ask(b.engine.router(), &[("X-OJS-Tenant", tenant)], method, path, &body).await;
    assert!(status < 300, "{method} {path}: {answer}");
    answer
}

/// Ids of the jobs that a fetch of a tenant brings.
async fn fetched(b: &Bench, tenant: &str, fetch: Value) -> Vec<String> {
    let answer = of(b, tenant, "POST", "/workers/fetch", fetch).await;
    answer["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned()).collect()
}

async fn jt_23_trains_of_two_tenants_are_apart(b: Bench) {
    let job = json!({"type": "t", "args": [], "options": {"queue": "q", "train": "x"}});
    let mut ids = Vec::new();
    for tenant in ["a", "b", "_default", "a"] {
        let made = of(&b, tenant, "POST", "/jobs", job.clone()).await;
        ids.push((made["job"]["id"].as_str().unwrap().to_owned(), made["job"]["train"]["position"].as_i64().unwrap()));
    }
    let positions: Vec<i64> = ids.iter().map(|(_, position)| *position).collect();
    assert_eq!(positions, [1, 1, 1, 2], "each tenant has a train of its own");
    for (tenant, cars) in [("a", 2), ("b", 1), ("_default", 1)] {
        let train = of(&b, tenant, "GET", "/trains/x", Value::Null).await;
        assert_eq!(train["length"], cars, "{tenant}");
        assert_eq!(of(&b, tenant, "GET", "/trains", Value::Null).await["count"], 1, "{tenant}");
    }
    // Held for one tenant, it goes on for the others.
    of(&b, "a", "POST", "/trains/x/hold", json!({})).await;
    assert_eq!(of(&b, "b", "GET", "/trains/x", Value::Null).await["state"], "running");
    let fetch = json!({"queues": ["q"], "count": 9, "worker_id": "w"});
    for (tenant, id) in [("a", &ids[0].0), ("b", &ids[1].0)] {
        assert_eq!(fetched(&b, tenant, fetch.clone()).await, std::slice::from_ref(id), "{tenant}");
        of(&b, tenant, "POST", "/workers/ack", json!({"job_id": id, "worker_id": "w"})).await;
    }
    assert_eq!(fetched(&b, "a", fetch.clone()).await, [""; 0], "its train is held");
    of(&b, "a", "POST", "/trains/x/advance", json!({"confirm": true})).await;
    assert_eq!(fetched(&b, "a", fetch).await, [ids[3].0.clone()]);
    let seen = of(&b, "b", "GET", "/events?limit=1000", Value::Null).await;
    let trains: Vec<&Value> = seen["events"].as_array().unwrap().iter().filter(|event| event["subject"] == "x").collect();
    assert!(!trains.is_empty() && trains.iter().all(|event| event["type"] != "train.held"), "{trains:?}");
}

async fn a_fetch_of_a_tenant_gets_its_own_versions_only(b: Bench) {
    let mut ids = Vec::new();
    for tenant in ["a", "b", "a"] {
        let job = json!({"type": "t", "args": [], "version": "2.1", "options": {"queue": "q"}});
        ids.push(of(&b, tenant, "POST", "/jobs", job).await["job"]["id"].as_str().unwrap().to_owned());
    }
    let fetch = |versions: &str| json!({"queues": ["q"], "count": 9, "worker_id": "w", "handlers": [{"type": "t", "versions": [versions]}]});
    assert_eq!(fetched(&b, "b", fetch(">=3.0")).await, [""; 0], "no worker for its version");
    assert_eq!(fetched(&b, "b", fetch(">=2.0 <3.0")).await, [ids[1].clone()]);
    assert_eq!(fetched(&b, "a", fetch(">=2.0 <3.0")).await, [ids[0].clone(), ids[2].clone()]);
}

async fn a_report_of_a_stranger_changes_nothing_of_the_holders(b: Bench) {
    let job = json!({"type": "t", "args": [], "options": {"queue": "q"}});
    let id = of(&b, "a", "POST", "/jobs", job).await["job"]["id"].as_str().unwrap().to_owned();
    fetched(&b, "a", json!({"queues": ["q"], "worker_id": "w"})).await;
    let path = format!("/jobs/{id}/progress");
    // The second report is kept in memory: it is less than a second after the first.
    for fraction in [0.2, 0.4] {
        of(&b, "a", "PUT", &path, json!({"progress": fraction})).await;
    }
    for (tenant, wanted) in [("b", 404), ("_default", 404)] {
        let report = json!({"progress": 0.9, "message": "stranger"});
        let (status, _, answer) = ask(b.engine.router(), &[("X-OJS-Tenant", tenant)], "PUT", &path, &report).await;
        assert_eq!(status, wanted, "{tenant}: {answer}");
    }
    let seen = of(&b, "a", "GET", &path, Value::Null).await;
    assert_eq!((&seen["progress"], &seen["message"]), (&json!(0.4), &Value::Null));
}

async fn what_holds_a_job_beside_its_tenant_keeps_no_job_for_ever(b: Bench) {
    let key = json!({"key": "k", "concurrency": 1});
    let kinds = [json!({}), json!({"version": "2.1"}), json!({"rate_limit": key}), json!({"version": "2.1", "rate_limit": key})];
    for (place, kind) in kinds.iter().enumerate() {
        let (tenant, queue) = (format!("acme-{place}"), format!("q{place}"));
        let limits = json!({"max_concurrency": 1});
        let (status, _, answer) = ask(b.engine.router(), &[], "PUT", &format!("/admin/tenants/{tenant}/limits"), &limits).await;
        assert_eq!(status, 200, "{answer}");
        let mut job = json!({"type": "t", "args": [], "options": {"queue": queue}});
        job.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        let mut left = Vec::new();
        for _ in 0..4 {
            left.push(of(&b, &tenant, "POST", "/jobs", job.clone()).await["job"]["id"].as_str().unwrap().to_owned());
        }
        // Suspended while jobs wait, and resumed.
        for action in ["suspend", "resume"] {
            let path = format!("/admin/tenants/{tenant}/{action}");
            assert_eq!(ask(b.engine.router(), &[], "POST", &path, &json!({})).await.0, 200);
        }
        let fetch = json!({"queues": [queue], "count": 9, "worker_id": "w", "handlers": [{"type": "t", "versions": ["*"]}]});
        for turn in 0..4 {
            let mut got = fetched(&b, &tenant, fetch.clone()).await;
            if got.is_empty() {
                // What a changed limit opens is there for the next claim.
                got = fetched(&b, &tenant, fetch.clone()).await;
            }
            assert_eq!(got, [left.remove(0)], "{kind}, turn {turn}");
            of(&b, &tenant, "POST", "/workers/ack", json!({"job_id": got[0], "worker_id": "w"})).await;
        }
    }
}

async fn webhooks_of_a_tenant_get_its_own_events_only(b: Bench) {
    let (mut own, mut all) = (Endpoint::answering(204).await, Endpoint::answering(204).await);
    let body = |endpoint: &Endpoint| json!({"url": endpoint.url(), "events": ["job.enqueued", "queue.*"], "secret": SECRET});
    let made = of(&b, "a", "POST", "/webhooks/subscriptions", body(&own)).await;
    assert_eq!(made["tenant_id"], "a");
    let (status, of_operator) = b.http("POST", "/webhooks/subscriptions", &body(&all).to_string()).await;
    assert_eq!((status, of_operator.get("tenant_id")), (201, None));
    let job = json!({"type": "t", "args": [], "options": {"queue": "q"}});
    let mut ids = Vec::new();
    for tenant in ["b", "_default", "a"] {
        ids.push(of(&b, tenant, "POST", "/jobs", job.clone()).await["job"]["id"].clone());
    }
    assert_eq!(b.http("POST", "/admin/queues/q/pause", "").await.0, 200);
    let last = of(&b, "a", "POST", "/jobs", job).await["job"]["id"].clone();
    // Deliveries are sent side by side: they come in no order.
    let mut got = Vec::new();
    for _ in 0..2 {
        got.push(own.next().await.json());
    }
    got.sort_by_key(|event| event["subject"].to_string());
    let told: Vec<&Value> = got.iter().map(|event| &event["subject"]).collect();
    assert_eq!(told, [&ids[2], &last], "no event of another tenant, and none of the server");
    assert!(got.iter().all(|event| event["data"]["tenant_id"] == "a"));
    for _ in 0..5 {
        all.next().await;
    }
    let seen = of(&b, "a", "GET", "/webhooks/deliveries", Value::Null).await;
    assert_eq!((seen["deliveries"].as_array().unwrap().len(), &seen["pagination"]["total"]), (2, &json!(2)), "{seen}");
    assert_eq!(b.http("GET", "/webhooks/deliveries", "").await.1["pagination"]["total"], 7);
    for _ in 1..20 {
        of(&b, "a", "POST", "/webhooks/subscriptions", body(&own)).await;
    }
    let tenant = [("X-OJS-Tenant", "a")];
    let (status, _, refused) = ask(b.engine.router(), &tenant, "POST", "/webhooks/subscriptions", &body(&own)).await;
    assert_eq!((status, &refused["error"]["details"]["max_subscriptions"]), (409, &json!(20)), "{refused}");
    of(&b, "b", "POST", "/webhooks/subscriptions", body(&own)).await;
}

async fn what_a_tenant_has_set_up_is_deleted_with_it(b: Bench) {
    let entry = json!({"name": "tick", "expression": "* * * * *", "job_template": {"type": "t", "args": []}});
    let hook = json!({"url": "http://127.0.0.1:9/", "events": ["job.*"], "active": false});
    let schema = json!({"job_type": "t", "version": "1", "schema": {"maxItems": 0}, "mode": "strict"});
    let lists = [("/webhooks/subscriptions", "subscriptions"), ("/cron", "crons"), ("/schemas", "schemas")];
    for tenant in ["acme", "blog"] {
        for ((path, _), body) in lists.iter().zip([&hook, &entry, &schema]) {
            of(&b, tenant, "POST", path, body.clone()).await;
        }
        b.job_of(tenant).await;
        let held = b.fetch_of(Some(tenant), 1).await.remove(0);
        b.ack_of(tenant, &held).await;
    }
    assert_eq!(b.http("DELETE", "/admin/tenants/acme", "").await.0, 200);
    for (path, member) in lists {
        let (_, all) = b.http("GET", path, "").await;
        assert_eq!(all[member].as_array().map(Vec::len), Some(1), "{path}: what is left is of the other tenant: {all}");
    }
    // No cron entry is left that would create the tenant again.
    b.advance(std::time::Duration::from_secs(120)).await;
    assert_eq!(b.http("GET", "/admin/tenants/acme", "").await.0, 404);
    assert_eq!(b.http("GET", "/admin/tenants/blog", "").await.0, 200);
    let wrong = json!({"type": "t", "args": [1]});
    for (tenant, status) in [("acme", 201), ("blog", 400)] {
        assert_eq!(b.of(tenant, "POST", "/jobs", wrong.clone()).await.0, status, "{tenant}");
    }
    assert_eq!(of(&b, "acme", "GET", "/webhooks/subscriptions", Value::Null).await["subscriptions"], json!([]));
}

async fn a_tenant_without_jobs_finds_none(b: Bench) {
    assert_eq!(b.fetch_of(Some("new"), 5).await, Vec::<Value>::new());
    b.job().await;
    assert_eq!(b.fetch_of(Some("new"), 5).await, Vec::<Value>::new());
    let (status, list) = b.of("new", "GET", "/admin/jobs", Value::Null).await;
    assert_eq!((status, ids(&list["items"]).len()), (200, 0), "{list}");
    let id = b.job_of("new").await;
    assert_eq!(b.fetch_of(Some("new"), 5).await[0]["id"], id.as_str());
}
