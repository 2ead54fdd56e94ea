//! Rate limits beside tenants and retries.
use std::time::Duration;

use serde_json::{Value, json};

use super::world::{World, failure, ids, job, retry};

crate::on_every_store!(
    ei_003_limits_of_a_key_are_kept_for_each_tenant,
    ei_003_a_key_without_tenants_is_one_for_all,
    ei_006_retries_consume_the_rate_of_their_key,
    ei_006_a_retry_holds_its_keys_only_slot,
    ei_r001_a_tenant_that_is_full_does_not_stop_another_one,
    ei_r006_the_scope_of_a_limit_is_tenant_or_global,
);

fn limited(key: &str, scope: Option<&str>) -> Value {
    let mut policy = json!({"key": key, "concurrency": 1});
    if let Some(scope) = scope {
        policy["scope"] = json!(scope);
    }
    job(json!({"rate_limit": policy}))
}

async fn ei_003_limits_of_a_key_are_kept_for_each_tenant(w: &World) {
    for tenant in ["a", "a", "b", "b"] {
        w.enqueue(Some(tenant), limited("api:x", None)).await;
    }
    for tenant in ["a", "b"] {
        assert_eq!(w.fetch(Some(tenant), 2).await.len(), 1, "one of each tenant");
    }
    let shown = w.read("/rate-limits/api:x").await;
    let parts: Vec<_> =
        shown["partitions"].as_array().unwrap().iter().map(|part| (&part["tenant_id"], &part["active"])).collect();
    assert_eq!(parts, [(&json!("a"), &json!(1)), (&json!("b"), &json!(1))]);
    // The same key for all tenants together: an ack of one lets the other go on.
    for tenant in ["a", "b"] {
        w.enqueue(Some(tenant), limited("api:y", Some("global"))).await;
    }
    let held = w.fetch(Some("a"), 5).await;
    assert_eq!(held.len(), 1, "the first jobs of each tenant hold their slots");
    assert!(w.fetch(Some("b"), 5).await.is_empty());
    w.ack(&held[0]).await;
    assert_eq!(w.fetch(Some("b"), 5).await.len(), 1);
}

async fn ei_003_a_key_without_tenants_is_one_for_all(w: &World) {
    for _ in 0..2 {
        w.enqueue(None, limited("api:x", None)).await;
    }
    let held = w.fetch(None, 5).await;
    assert_eq!(held.len(), 1);
    w.ack(&held[0]).await;
    assert_eq!(w.fetch(None, 5).await.len(), 1);
}

async fn ei_006_retries_consume_the_rate_of_their_key(w: &World) {
    let policy = json!({"key": "k", "rate": {"limit": 2, "period": "PT2S"}, "retry_priority": "prefer_retry"});
    let wanted = job(json!({"rate_limit": policy, "retry": retry(3, 50, json!({}))}));
    let (first, second) = (w.enqueue(None, wanted.clone()).await, w.enqueue(None, wanted).await);
    let held = w.fetch(None, 1).await;
    assert_eq!(ids(&held), [&first]);
    w.nack(&held[0], failure("once")).await;
    w.advance(Duration::from_millis(50)).await;
    let again = w.fetch(None, 5).await;
    assert_eq!((ids(&again), &again[0]["attempt"]), (vec![first.as_str()], &json!(2)), "the retry takes the second start");
    assert!(w.fetch(None, 5).await.is_empty(), "and leaves none for the new job");
    assert_eq!(w.read("/rate-limits/k").await["rate"]["current_count"], 2);
    w.advance(Duration::from_secs(2)).await;
    assert_eq!(ids(&w.fetch(None, 5).await), [&second], "a new window");
}

async fn ei_006_a_retry_holds_its_keys_only_slot(w: &World) {
    let policy = json!({"key": "k", "concurrency": 1, "retry_priority": "prefer_retry"});
    let wanted = job(json!({"rate_limit": policy, "retry": retry(3, 50, json!({}))}));
    let (first, second) = (w.enqueue(None, wanted.clone()).await, w.enqueue(None, wanted).await);
    w.nack(&w.fetch(None, 1).await[0], failure("once")).await;
    w.advance(Duration::from_millis(50)).await;
    let again = w.fetch(None, 5).await;
    assert_eq!(ids(&again), [&first]);
    assert!(w.fetch(None, 5).await.is_empty(), "withheld while the retried job is active");
    w.ack(&again[0]).await;
    assert_eq!(ids(&w.fetch(None, 5).await), [&second]);
}

async fn ei_r001_a_tenant_that_is_full_does_not_stop_another_one(w: &World) {
    for tenant in ["a", "b"] {
        let path = format!("/admin/tenants/{tenant}/limits");
        assert_eq!(w.http("PUT", &path, json!({"max_queue_depth": 2})).await.0, 200);
    }
    let first = w.enqueue(Some("a"), job(json!({}))).await;
    w.enqueue(Some("a"), job(json!({}))).await;
    let (status, refused) = w.of("a", "POST", "/jobs", job(json!({}))).await;
    assert_eq!((status, &refused["error"]["details"]["limit"]), (429, &json!("max_queue_depth")), "{refused}");
    w.enqueue(Some("b"), job(json!({}))).await;
    assert_eq!(w.of("a", "DELETE", &format!("/jobs/{first}"), Value::Null).await.0, 200);
    w.enqueue(Some("a"), job(json!({}))).await;
    assert_eq!(w.of("a", "POST", "/jobs", job(json!({}))).await.0, 429, "full again");
    let held = w.fetch(Some("a"), 1).await;
    w.ack(&held[0]).await;
    w.enqueue(Some("a"), job(json!({}))).await;
}

async fn ei_r006_the_scope_of_a_limit_is_tenant_or_global(w: &World) {
    for scope in ["tenant", "global"] {
        let id = w.enqueue(Some("a"), limited(scope, Some(scope))).await;
        assert_eq!(w.read(&format!("/jobs/{id}")).await["job"]["rate_limit"]["scope"], *scope);
    }
    let before = w.read("/queues/q/stats").await;
    let (status, refused) = w.of("a", "POST", "/jobs", limited("k", Some("galaxy"))).await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("rate_limit.scope")), "{refused}");
    assert_eq!(w.read("/queues/q/stats").await["queue"], before["queue"], "nothing is stored");
}
