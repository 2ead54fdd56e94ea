//! What a tenant may use: limits at enqueue, jobs that are active at a time, suspension.
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};
use crate::tenants::{ask, ids, job};

crate::on_every_store!(
    ei_r001_a_tenant_that_is_full_does_not_stop_another_one,
    scheduled_jobs_have_a_limit_of_their_own,
    a_tenant_enqueues_as_fast_as_it_may,
    a_tenant_has_as_many_active_jobs_as_it_may,
    a_job_that_does_not_start_after_all_makes_room,
    a_suspended_tenant_takes_nothing_and_nothing_of_it_starts,
    many_held_jobs_come_out_after_a_suspension,
    limits_that_make_no_sense_are_refused,
);

impl Bench {
    /// Sets what a tenant may use.
    async fn limit(&self, tenant: &str, limits: Value) {
        let (status, body) = self.http("PUT", &format!("/admin/tenants/{tenant}/limits"), &limits.to_string()).await;
        assert_eq!(status, 200, "{body}");
    }
}

async fn ei_r001_a_tenant_that_is_full_does_not_stop_another_one(b: Bench) {
    for tenant in ["acme", "blog"] {
        b.limit(tenant, json!({"max_queue_depth": 2})).await;
    }
    let first = b.job_of("acme").await;
    b.job_of("acme").await;
    let (status, headers, body) =
        ask(b.engine.router(), &[("X-OJS-Tenant", "acme")], "POST", "/jobs", &job("t", json!([]))).await;
    let error = &body["error"];
    assert_eq!((status, &error["code"]), (429, &json!("TENANT_LIMIT_EXCEEDED")));
    assert!(headers.contains_key("retry-after"));
    for at in [error, &error["details"]] {
        assert_eq!((&at["tenant_id"], &at["limit"]), (&json!("acme"), &json!("max_queue_depth")), "{body}");
        assert_eq!((&at["current"], &at["maximum"]), (&json!(2), &json!(2)));
    }
    b.job_of("blog").await;
    // All or none, and what is refused leaves nothing behind.
    let three = json!({"jobs": [job("t", json!([])), job("t", json!([])), job("t", json!([]))]});
    assert_eq!(b.of("blog", "POST", "/jobs/batch", three.clone()).await.0, 429);
    assert_eq!(b.tenant_stats("blog").await["total_jobs"], 1);
    let (_, bulk) = b.of("blog", "POST", "/jobs/bulk", three).await;
    assert_eq!(bulk.to_string().matches(r#""code":"TENANT_LIMIT_EXCEEDED""#).count(), 2, "each on its own: {bulk}");
    // A job that is cancelled or started makes room.
    assert_eq!(b.of("acme", "DELETE", &format!("/jobs/{first}"), Value::Null).await.0, 200);
    b.job_of("acme").await;
    assert_eq!(b.fetch_of(Some("acme"), 1).await.len(), 1);
    b.job_of("acme").await;
    let (_, page) = b.of("acme", "GET", "/events?types=tenant.limit_exceeded", Value::Null).await;
    assert_eq!(page["events"][0]["data"]["maximum"], 2, "{page}");
    // Jobs that no enqueue brings do not pass the limit either.
    let flow = json!({"type": "chain", "steps": [job("t", json!([]))]});
    assert_eq!(b.of("acme", "POST", "/workflows", flow).await.0, 429);
}

async fn scheduled_jobs_have_a_limit_of_their_own(b: Bench) {
    b.limit("acme", json!({"max_scheduled": 1})).await;
    let mut later = job("t", json!([]));
    later["options"]["delay_until"] = json!("+PT1H");
    assert_eq!(b.of("acme", "POST", "/jobs", later.clone()).await.0, 201);
    let (status, body) = b.of("acme", "POST", "/jobs", later.clone()).await;
    assert_eq!((status, &body["error"]["limit"]), (429, &json!("max_scheduled")));
    b.job_of("acme").await;
    b.advance(seconds(3600)).await;
    assert_eq!(b.of("acme", "POST", "/jobs", later).await.0, 201);
}

async fn a_tenant_enqueues_as_fast_as_it_may(b: Bench) {
    b.limit("acme", json!({"max_enqueue_rate": {"limit": 2, "period": "PT10S"}})).await;
    b.job_of("acme").await;
    b.job_of("acme").await;
    let (status, body) = b.of("acme", "POST", "/jobs", job("t", json!([]))).await;
    assert_eq!((status, &body["error"]["limit"]), (429, &json!("max_enqueue_rate")), "{body}");
    b.job_of("blog").await;
    b.advance(seconds(5)).await;
    b.job_of("acme").await;
    assert_eq!(b.of("acme", "POST", "/jobs", job("t", json!([]))).await.0, 429);
}

async fn a_tenant_has_as_many_active_jobs_as_it_may(b: Bench) {
    b.limit("acme", json!({"max_concurrency": 1})).await;
    for tenant in ["acme", "acme", "acme", "blog"] {
        b.job_of(tenant).await;
    }
    let jobs = b.fetch_of(None, 10).await;
    assert_eq!(jobs.len(), 2, "one of each");
    assert!(b.fetch_of(None, 10).await.is_empty());
    assert!(b.fetch_of(Some("acme"), 10).await.is_empty());
    let held = jobs.iter().find(|job| job["meta"]["tenant_id"] == "acme").unwrap();
    b.ack_of("acme", held).await;
    let next = b.fetch_of(None, 10).await;
    assert_eq!(next.len(), 1);
    // A job that fails or whose lease ends makes room as well.
    b.advance(seconds(3600)).await;
    assert_eq!(b.fetch_of(None, 10).await.iter().filter(|job| job["meta"]["tenant_id"] == "acme").count(), 1);
    // Other limits hold at once.
    b.limit("acme", json!({})).await;
    b.job_of("acme").await;
    assert!(!b.fetch_of(None, 10).await.is_empty());
}

async fn a_job_that_does_not_start_after_all_makes_room(b: Bench) {
    b.limit("acme", json!({"max_concurrency": 1})).await;
    for _ in 0..3 {
        b.job_of("acme").await;
    }
    let mut keyed = job("t", json!([]));
    keyed["options"]["rate_limit"] = json!({"key": "k", "concurrency": 0});
    assert_eq!(b.of("acme", "POST", "/jobs", keyed.clone()).await.0, 201);
    b.job_of("acme").await;
    let first = b.fetch_of(None, 10).await;
    assert_eq!(first.len(), 1);
    b.ack_of("acme", &first[0]).await;
    // The one that may start now is cancelled: the next one takes its place.
    let (_, waiting) = b.of("acme", "GET", "/admin/jobs?state=available&order=asc", Value::Null).await;
    assert_eq!(b.of("acme", "DELETE", &format!("/jobs/{}", ids(&waiting["items"])[0]), Value::Null).await.0, 200);
    let second = b.fetch_of(None, 10).await;
    assert_eq!(second.len(), 1);
    b.ack_of("acme", &second[0]).await;
    // So it does when its key holds it.
    let third = b.fetch_of(Some("acme"), 10).await;
    assert_eq!(third.len(), 1);
    b.limit("acme", json!({"max_concurrency": 3})).await;
    assert_eq!(b.tenant_stats("acme").await["jobs"]["available"], 1);
    assert!(b.fetch_of(Some("acme"), 10).await.is_empty());
}

async fn a_suspended_tenant_takes_nothing_and_nothing_of_it_starts(b: Bench) {
    b.job_of("acme").await;
    let running = b.fetch_of(Some("acme"), 1).await.remove(0);
    b.job_of("acme").await;
    b.job_of("blog").await;
    assert_eq!(b.http("POST", "/admin/tenants/nobody/suspend", "{}").await.0, 404);
    let (status, body) = b.http("POST", "/admin/tenants/acme/suspend", "{}").await;
    assert_eq!((status, &body["status"]), (200, &json!("suspended")));
    let (status, body) = b.of("acme", "POST", "/jobs", job("t", json!([]))).await;
    assert_eq!((status, &body["error"]["details"]["reason"]), (403, &json!("tenant_suspended")));
    assert_eq!(b.fetch_of(None, 10).await.len(), 1, "that of blog");
    b.ack_of("acme", &running).await;
    assert!(b.fetch_of(Some("acme"), 10).await.is_empty());
    let (status, body) = b.http("POST", "/admin/tenants/acme/resume", "{}").await;
    assert_eq!((status, &body["status"]), (200, &json!("active")));
    assert_eq!(b.fetch_of(Some("acme"), 10).await.len(), 1);
    b.job_of("acme").await;
    let (_, page) = b.http("GET", "/events?types=tenant.suspended,tenant.resumed", "").await;
    assert_eq!(page["events"].as_array().unwrap().len(), 2);
}

async fn many_held_jobs_come_out_after_a_suspension(b: Bench) {
    b.limit("acme", json!({"max_concurrency": 0})).await;
    let jobs: Vec<Value> = (0..600).map(|n| job("t", json!([n]))).collect();
    assert_eq!(b.of("acme", "POST", "/jobs/batch", json!({"jobs": jobs})).await.0, 201);
    assert!(b.fetch_of(None, 100).await.is_empty());
    b.limit("acme", json!({})).await;
    let mut got = 0;
    loop {
        let jobs = b.fetch_of(Some("acme"), 100).await;
        if jobs.is_empty() && b.fetch_of(Some("acme"), 100).await.is_empty() {
            break;
        }
        got += jobs.len();
    }
    assert_eq!(b.tenant_stats("acme").await["jobs"]["active"], 600, "{got}");
}

async fn limits_that_make_no_sense_are_refused(b: Bench) {
    for (limits, field) in [
        (json!({"max_concurrency": -1}), "max_concurrency"),
        (json!({"max_queue_depth": "many"}), "max_queue_depth"),
        (json!({"max_enqueue_rate": {"limit": 1, "period": "soon"}}), "max_enqueue_rate"),
        (json!({"fairness": 1}), "fairness"),
    ] {
        let (status, body) = b.http("PUT", "/admin/tenants/acme/limits", &limits.to_string()).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!(field)), "{body}");
    }
    assert_eq!(b.http("PUT", "/admin/tenants/a%20b", "{}").await.0, 400);
    assert_eq!(b.http("PUT", "/admin/tenants/_default", "{}").await.0, 400);
    assert_eq!(b.http("PUT", "/admin/tenants/acme", r#"{"status":"gone"}"#).await.0, 400);
    assert_eq!(b.http("GET", "/admin/tenants/acme", "").await.0, 404, "nothing was made");
    let (status, body) = b.http("PUT", "/admin/tenants/acme", r#"{"name":"Acme Inc.","limits":{"max_scheduled":5}}"#).await;
    assert_eq!((status, &body["limits"]["max_scheduled"]), (201, &json!(5)));
    let (status, body) = b.http("PUT", "/admin/tenants/acme", r#"{"status":"suspended"}"#).await;
    assert_eq!((status, &body["name"], &body["status"]), (200, &json!("Acme Inc."), &json!("suspended")));
}

#[tokio::test]
async fn nodes_keep_one_limit_together() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    b.limit("acme", json!({"max_queue_depth": 3, "max_concurrency": 1})).await;
    let mut taken = 0;
    for node in [&b, &other, &b, &other] {
        taken += u32::from(node.of("acme", "POST", "/jobs", job("t", json!([]))).await.0 == 201);
    }
    assert_eq!(taken, 3);
    let first = b.fetch_of(None, 5).await;
    assert_eq!((first.len(), other.fetch_of(None, 5).await.len()), (1, 0));
    other.ack_of("acme", &first[0]).await;
    assert_eq!(other.fetch_of(Some("acme"), 5).await.len(), 1);
    assert_eq!(other.http("POST", "/admin/tenants/acme/suspend", "{}").await.0, 200);
    assert_eq!(b.of("acme", "POST", "/jobs", job("t", json!([]))).await.0, 403);
}

/// Both nodes ask at the same moment, again and again: what one takes, the other one sees.
#[tokio::test]
async fn nodes_that_ask_at_once_keep_one_limit_together() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let most: usize = 3;
    b.limit("acme", json!({"max_queue_depth": most, "max_concurrency": 1})).await;
    for round in 0..20 {
        let nodes = [&b, &other].into_iter().cycle().take(2 * most);
        let answers = nodes.map(|node| node.of("acme", "POST", "/jobs", job("t", json!([]))));
        let statuses: Vec<u16> = futures_util::future::join_all(answers).await.into_iter().map(|(status, _)| status).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), most, "round {round}: {statuses:?}");
        for left in (0..most).rev() {
            let (one, two) = tokio::join!(b.fetch_of(None, 5), other.fetch_of(None, 5));
            let held: Vec<&Value> = one.iter().chain(&two).collect();
            assert_eq!(held.len(), 1, "round {round}, {left} left");
            other.ack_of("acme", held[0]).await;
        }
    }
}
