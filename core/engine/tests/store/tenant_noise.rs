//! Tenants that use far more than the others do, and the pace of a tenant.
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};
use crate::tenants::job;

crate::on_every_store!(
    a_tenant_that_waits_and_enqueues_more_than_the_others_is_named,
    a_tenant_with_most_of_the_active_jobs_is_named,
    a_tenant_whose_jobs_fail_is_named,
    tenants_alike_and_tenants_alone_are_not_noisy,
    thresholds_are_those_of_the_request,
    a_pace_is_that_of_the_last_five_minutes,
    limits_may_be_set_as_the_document_prints_them,
);

impl Bench {
    async fn noisy(&self, query: &str) -> Value {
        let (status, body) = self.http("GET", &format!("/admin/stats/tenants/noisy{query}"), "").await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn jobs_of(&self, tenant: &str, count: usize) {
        let jobs: Vec<Value> = (0..count).map(|n| job("t", json!([n]))).collect();
        assert_eq!(self.of(tenant, "POST", "/jobs/batch", json!({"jobs": jobs})).await.0, 201);
    }

    async fn fail_of(&self, tenant: &str, held: &Value) {
        let error = json!({"code": "x", "message": "m"});
        let body = json!({"job_id": held["id"], "lease_token": held["lease_token"], "error": error});
        assert_eq!(self.of(tenant, "POST", "/workers/nack", body).await.0, 200);
    }
}

/// The tenants of an answer, each with the names of its signals.
fn told(answer: &Value) -> Vec<(&str, Vec<&str>)> {
    let items = answer["items"].as_array().unwrap().iter();
    items.map(|item| (item["tenant_id"].as_str().unwrap(), names(item))).collect()
}

fn names(item: &Value) -> Vec<&str> {
    item["signals"].as_array().unwrap().iter().map(|signal| signal["signal"].as_str().unwrap()).collect()
}

async fn a_tenant_that_waits_and_enqueues_more_than_the_others_is_named(b: Bench) {
    b.jobs_of("loud", 120).await;
    for tenant in ["a", "b", "c"] {
        b.jobs_of(tenant, 4).await;
    }
    // A tenant without jobs is no measure for the others.
    assert_eq!(b.http("PUT", "/admin/tenants/idle", "{}").await.0, 201);
    let answer = b.noisy("").await;
    assert_eq!(told(&answer), [("loud", vec!["queue_depth_ratio", "enqueue_rate_ratio"])], "{answer}");
    assert_eq!((&answer["total"], &answer["compared"], &answer["has_more"]), (&json!(1), &json!(4), &json!(false)));
    let item = &answer["items"][0];
    assert_eq!(
        (&item["queue_depth"], &item["enqueued_per_minute"], &item["status"]),
        (&json!(120), &json!(24.0), &json!("active"))
    );
    let depth = json!({
        "signal": "queue_depth_ratio", "value": 120.0, "compared_with": 4.0, "ratio": 30.0, "threshold": 10.0,
    });
    assert_eq!(item["signals"][0], depth);
    assert_eq!(answer["thresholds"]["active_percent"], 50.0);
    // The rate is that of the last minutes, the depth stays.
    b.advance(seconds(600)).await;
    assert_eq!(told(&b.noisy("").await), [("loud", vec!["queue_depth_ratio"])]);
}

async fn a_tenant_with_most_of_the_active_jobs_is_named(b: Bench) {
    b.jobs_of("loud", 11).await;
    b.jobs_of("calm", 10).await;
    assert_eq!(b.fetch_of(Some("loud"), 10).await.len(), 10);
    assert_eq!(b.fetch_of(Some("calm"), 10).await.len(), 10);
    assert_eq!(told(&b.noisy("").await), [], "half of them is not more than half");
    let last = b.fetch_of(Some("loud"), 1).await.remove(0);
    let answer = b.noisy("").await;
    assert_eq!(told(&answer), [("loud", vec!["active_job_ratio"])], "{answer}");
    assert_eq!((&answer["items"][0]["active"], &answer["items"][0]["signals"][0]["compared_with"]), (&json!(11), &json!(21.0)));
    b.ack_of("loud", &last).await;
    assert_eq!(told(&b.noisy("").await), []);
}

async fn a_tenant_whose_jobs_fail_is_named(b: Bench) {
    for tenant in ["loud", "calm"] {
        b.jobs_of(tenant, 20).await;
        for (n, held) in b.fetch_of(Some(tenant), 20).await.iter().enumerate() {
            if n < if tenant == "loud" { 10 } else { 2 } {
                b.fail_of(tenant, held).await;
            } else {
                b.ack_of(tenant, held).await;
            }
        }
    }
    let answer = b.noisy("").await;
    assert_eq!(told(&answer), [("loud", vec!["error_rate"])], "{answer}");
    assert_eq!((&answer["items"][0]["error_rate"], &answer["items"][0]["signals"][0]["ratio"]), (&json!(0.5), &json!(5.0)));
    // What has failed long ago is forgotten.
    b.advance(seconds(601)).await;
    assert_eq!(told(&b.noisy("").await), []);
}

async fn tenants_alike_and_tenants_alone_are_not_noisy(b: Bench) {
    assert_eq!(b.noisy("").await["compared"], 0);
    b.jobs_of("one", 150).await;
    let (_, made) = b.http("POST", "/jobs", &job("t", json!([])).to_string()).await;
    assert!(made["job"].is_object(), "{made}");
    let alone = b.noisy("").await;
    assert_eq!((told(&alone), &alone["compared"]), (Vec::new(), &json!(1)), "the default tenant is not compared");
    b.jobs_of("other", 150).await;
    assert_eq!(told(&b.noisy("").await), []);
    // A deleted tenant is gone from the comparison.
    let all = json!({"filter": {"state": ["available"]}});
    assert_eq!(b.of("other", "POST", "/jobs/bulk/cancel", all).await.0, 200);
    assert_eq!(b.http("DELETE", "/admin/tenants/other", "").await.0, 200);
    assert_eq!(b.noisy("").await["compared"], 1);
}

async fn thresholds_are_those_of_the_request(b: Bench) {
    b.jobs_of("loud", 8).await;
    b.jobs_of("louder", 9).await;
    b.jobs_of("calm", 2).await;
    b.jobs_of("quiet", 2).await;
    assert_eq!(told(&b.noisy("").await), []);
    let answer = b.noisy("?min_jobs=5&depth_factor=2&rate_factor=100").await;
    let depth = vec!["queue_depth_ratio"];
    assert_eq!(told(&answer), [("louder", depth.clone()), ("loud", depth.clone())], "{answer}");
    let answer = b.noisy("?min_jobs=5&depth_factor=2&rate_factor=100&limit=1").await;
    assert_eq!(told(&answer), [("louder", depth)]);
    assert_eq!((&answer["total"], &answer["has_more"]), (&json!(2), &json!(true)));
    for (query, field) in [
        ("depth_factor=0", "depth_factor"),
        ("rate_factor=often", "rate_factor"),
        ("active_percent=101", "active_percent"),
        ("error_factor=-1", "error_factor"),
        ("min_jobs=1.5", "min_jobs"),
        ("limit=all", "limit"),
    ] {
        let (status, body) = b.http("GET", &format!("/admin/stats/tenants/noisy?{query}"), "").await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!(field)), "{query}: {body}");
    }
    let (status, body) = b.of("loud", "GET", "/admin/stats/tenants/noisy", Value::Null).await;
    assert_eq!((status, &body["error"]["details"]["reason"]), (403, &json!("operators_only")));
}

async fn a_pace_is_that_of_the_last_five_minutes(b: Bench) {
    b.jobs_of("acme", 10).await;
    for held in b.fetch_of(Some("acme"), 5).await {
        b.ack_of("acme", &held).await;
    }
    let pace = |stats: &Value| {
        let of = |name: &str| stats["throughput"][name].as_f64().unwrap();
        [of("enqueued_per_minute"), of("processed_per_minute"), of("failed_per_minute"), of("enqueued_total")]
    };
    assert_eq!(pace(&b.tenant_stats("acme").await), [2.0, 1.0, 0.0, 10.0]);
    b.jobs_of("acme", 10).await;
    assert_eq!(pace(&b.tenant_stats("acme").await)[0], 4.0);
    // Of the period before, the part counts that is within the last five minutes.
    b.advance(seconds(450)).await;
    assert_eq!(pace(&b.tenant_stats("acme").await)[0], 2.0);
    b.jobs_of("acme", 5).await;
    assert_eq!(pace(&b.tenant_stats("acme").await)[0], 3.0);
    b.advance(seconds(1200)).await;
    assert_eq!(pace(&b.tenant_stats("acme").await), [0.0, 0.0, 0.0, 25.0]);
    assert!(b.tenant_stats("_default").await["throughput"].get("enqueued_per_minute").is_none(), "it is not counted");
}

async fn limits_may_be_set_as_the_document_prints_them(b: Bench) {
    let limits = r#"{"max_concurrency":5,"reason":"reducing capacity during an outage"}"#;
    let (status, body) = b.http("PUT", "/admin/tenants/acme/limits", limits).await;
    assert_eq!((status, &body["limits"]["max_concurrency"]), (200, &json!(5)), "{body}");
    let (status, body) = b.http("PUT", "/admin/tenants/acme", r#"{"tenant_id":"acme","fairness_weight":7}"#).await;
    let limits = &body["limits"];
    assert_eq!((status, &limits["fairness_weight"], &limits["max_concurrency"]), (200, &json!(7), &json!(5)), "{body}");
    for (path, wrong, field) in [
        ("/admin/tenants/acme/limits", r#"{"reason":5}"#, "reason"),
        ("/admin/tenants/acme", r#"{"tenant_id":"blog"}"#, "tenant_id"),
        ("/admin/tenants/acme", r#"{"fairness_weight":0}"#, "fairness_weight"),
    ] {
        let (status, body) = b.http("PUT", path, wrong).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!(field)), "{wrong}: {body}");
    }
    let (_, kept) = b.http("GET", "/admin/tenants/acme", "").await;
    assert_eq!((&kept["limits"]["fairness_weight"], &kept["limits"]["max_concurrency"]), (&json!(7), &json!(5)));
}

#[tokio::test]
async fn the_pace_of_a_tenant_is_that_of_all_nodes() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    b.jobs_of("loud", 60).await;
    other.jobs_of("loud", 60).await;
    other.jobs_of("calm", 2).await;
    for node in [&b, &other] {
        let answer = node.noisy("").await;
        assert_eq!(told(&answer), [("loud", vec!["queue_depth_ratio", "enqueue_rate_ratio"])], "{answer}");
        assert_eq!(answer["items"][0]["enqueued_per_minute"], 24.0);
    }
}
