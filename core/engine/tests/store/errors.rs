//! Error groups: failures with one fingerprint are counted together, on every store and by every node.
use std::time::Duration;

use ojs_engine::clock::Clock as _;
use ojs_engine::errors::{KEEP_MS, MAX_JOBS, fingerprint};
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};

crate::on_every_store!(
    failures_that_differ_in_values_only_are_one_group,
    a_group_names_its_queues_its_types_and_its_newest_jobs,
    jobs_that_succeed_or_expire_leave_no_trace,
    filters_and_orders,
    a_lost_lease_is_a_failure_like_any_other,
    a_group_has_the_fingerprint_of_the_histories_of_its_jobs,
    a_tenant_sees_its_own_groups_only,
    a_deleted_tenant_leaves_no_message,
    a_group_goes_a_month_after_its_last_failure,
    what_is_written_is_counted_once,
);

impl Bench {
    /// Has figures written that are in memory: a sweep does.
    async fn flush(&self) {
        self.engine.store().sweep().await.unwrap();
    }

    fn clock_text(&self) -> String {
        self.clock.now().to_string()
    }
}

/// A job of a queue that fails once with this error; its id.
async fn failed(b: &Bench, queue: &str, kind: &str, error: Value) -> JobId {
    let request = json!({"type": kind, "args": [], "options": {"queue": queue, "retry": {"initial_interval": "PT1H"}}});
    let id = b.enqueue(&request.to_string()).await;
    let job = b.claim_for(Some("w"), &[queue], 1).await.remove(0);
    b.nack(&job, &error.to_string()).await.unwrap();
    id
}

fn timeout(of: &str) -> Value {
    json!({"type": "Timeout", "code": "x", "message": format!("no answer from {of}")})
}

/// The groups that a query finds.
async fn groups(b: &Bench, query: &str) -> Vec<Value> {
    let (status, body) = b.http("GET", &format!("/admin/errors{query}"), "").await;
    assert_eq!(status, 200, "{body}");
    body["items"].as_array().unwrap().clone()
}

async fn failures_that_differ_in_values_only_are_one_group(b: Bench) {
    let first = failed(&b, "q", "t", timeout("10.0.0.1")).await;
    let began = b.clock_text();
    b.advance(seconds(60)).await;
    let second = failed(&b, "q", "t", timeout("10.0.0.2")).await;
    failed(&b, "q", "t", json!({"type": "Refused", "code": "x", "message": "no answer from 10.0.0.2"})).await;
    let found = groups(&b, "?error_type=Timeout").await;
    assert_eq!(found.len(), 1);
    let group = &found[0];
    assert_eq!(group["fingerprint"], fingerprint("Timeout", "no answer from 10.9.9.9"));
    assert_eq!((&group["count"], &group["message"]), (&json!(2), &json!("no answer from 10.0.0.2")));
    assert_eq!((&group["first_seen_at"], &group["last_seen_at"]), (&json!(began), &json!(b.clock_text())));
    assert_eq!(group["job_ids"], json!([second.to_string(), first.to_string()]));
    assert_eq!(groups(&b, "").await.len(), 2);
}

async fn a_group_names_its_queues_its_types_and_its_newest_jobs(b: Bench) {
    for queue in ["a", "b"] {
        failed(&b, queue, "t", timeout("1.1.1.1")).await;
    }
    let last = failed(&b, "b", "u", timeout("1.1.1.1")).await;
    let found = groups(&b, "").await;
    assert_eq!((&found[0]["queues"], &found[0]["types"]), (&json!(["a", "b"]), &json!(["t", "u"])));
    let of = format!("/admin/errors/{}", found[0]["fingerprint"].as_str().unwrap());
    let (status, group) = b.http("GET", &of, "").await;
    assert_eq!((status, &group["count"]), (200, &json!(3)));
    assert_eq!(group["places"].as_array().unwrap().len(), 3);
    assert_eq!(group["jobs"].as_array().unwrap().len(), 3);
    assert_eq!((&group["jobs"][0]["id"], &group["jobs"][0]["state"]), (&json!(last.to_string()), &json!("retryable")));
    let (_, narrow) = b.http("GET", &format!("{of}?queue=b&type=t"), "").await;
    assert_eq!((&narrow["count"], &narrow["queues"]), (&json!(1), &json!(["b"])));
    // A job that is gone is not shown; the group still counts it.
    b.change(ojs_engine::command::Cancel(last)).await.unwrap();
    b.http("POST", "/jobs/bulk/delete", &json!({"job_ids": [last.to_string()]}).to_string()).await;
    let (_, group) = b.http("GET", &of, "").await;
    assert_eq!((&group["count"], group["jobs"].as_array().unwrap().len()), (&json!(3), 2));
    let (status, missing) = b.http("GET", "/admin/errors/0000000000000000", "").await;
    assert_eq!((status, &missing["error"]["code"]), (404, &json!("not_found")));
    for _ in 0..MAX_JOBS + 5 {
        failed(&b, "a", "t", timeout("1.1.1.1")).await;
    }
    assert_eq!(groups(&b, "?queue=a").await[0]["job_ids"].as_array().unwrap().len(), MAX_JOBS);
}

async fn jobs_that_succeed_or_expire_leave_no_trace(b: Bench) {
    b.job_in(JobState::Completed).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"late","expires_at":"2026-01-01T00:00:30Z"}}"#).await;
    b.advance(Duration::from_secs(60)).await;
    assert_eq!(groups(&b, "").await, Vec::<Value>::new());
}

async fn filters_and_orders(b: Bench) {
    failed(&b, "a", "mail.send", timeout("1.1.1.1")).await;
    b.advance(seconds(60)).await;
    for _ in 0..3 {
        failed(&b, "b", "mail.read", json!({"type": "Refused", "code": "x", "message": "refused"})).await;
    }
    b.advance(seconds(60)).await;
    let later = b.clock_text();
    failed(&b, "a", "mail.send", timeout("1.1.1.2")).await;
    let types = |found: Vec<Value>| -> Vec<String> {
        found.iter().map(|group| group["error_type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(groups(&b, "").await), ["Timeout", "Refused"]);
    assert_eq!(types(groups(&b, "?sort=count").await), ["Refused", "Timeout"]);
    assert_eq!(types(groups(&b, "?sort=first_seen_at").await), ["Refused", "Timeout"]);
    assert_eq!(types(groups(&b, "?queue=b").await), ["Refused"]);
    assert_eq!(types(groups(&b, "?type=mail.*").await), ["Timeout", "Refused"]);
    assert_eq!(types(groups(&b, "?type=mail.read").await), ["Refused"]);
    assert_eq!(types(groups(&b, &format!("?since={later}")).await), ["Timeout"]);
    assert_eq!(types(groups(&b, "?per_page=1&page=2").await), ["Refused"]);
    for wrong in ["?sort=size", "?since=yesterday", "?type=A%20B"] {
        let (status, body) = b.http("GET", &format!("/admin/errors{wrong}"), "").await;
        assert_eq!(status, 400, "{wrong}: {body}");
    }
}

async fn a_lost_lease_is_a_failure_like_any_other(b: Bench) {
    let id = b.job().await;
    assert_eq!(b.claim(1).await.len(), 1);
    b.advance(seconds(120)).await;
    let found = groups(&b, "").await;
    assert_eq!((found.len(), &found[0]["job_ids"]), (1, &json!([id.to_string()])));
}

async fn a_group_has_the_fingerprint_of_the_histories_of_its_jobs(b: Bench) {
    let id = failed(&b, "q", "t", json!({"code": "x", "message": "row 7 of 'a' is \u{0} gone"})).await;
    let (_, history) = b.http("GET", &format!("/jobs/{id}/history"), "").await;
    assert_eq!(groups(&b, "").await[0]["fingerprint"], history["attempts"][0]["fingerprint"]);
}

async fn a_tenant_sees_its_own_groups_only(b: Bench) {
    for tenant in ["acme", "globex"] {
        b.job_of(tenant).await;
        let job = b.fetch_of(Some(tenant), 1).await.remove(0);
        let error = json!({"type": "Timeout", "message": format!("no answer from '{tenant}'"), "code": "x"});
        let nack = json!({"job_id": job["id"], "lease_token": job["lease_token"], "error": error});
        assert_eq!(b.of(tenant, "POST", "/workers/nack", nack).await.0, 200);
    }
    let (_, own) = b.of("acme", "GET", "/admin/errors", Value::Null).await;
    assert_eq!((&own["items"][0]["count"], &own["items"][0]["message"]), (&json!(1), &json!("no answer from 'acme'")));
    let all = groups(&b, "").await;
    assert_eq!((all.len(), &all[0]["count"]), (1, &json!(2)), "an operator sees both as one");
    assert_eq!(groups(&b, "?tenant=globex").await[0]["message"], "no answer from 'globex'");
    assert_eq!(groups(&b, "?tenant=never").await, Vec::<Value>::new());
    let path = format!("/admin/errors/{}", all[0]["fingerprint"].as_str().unwrap());
    let (_, group) = b.of("acme", "GET", &path, Value::Null).await;
    assert_eq!(group["jobs"].as_array().unwrap().len(), 1, "{group}");
}

async fn a_deleted_tenant_leaves_no_message(b: Bench) {
    let id = b.job_of("acme").await;
    let job = b.fetch_of(Some("acme"), 1).await.remove(0);
    let error = json!({"message": "secret", "code": "x", "retryable": false});
    let nack = json!({"job_id": job["id"], "lease_token": job["lease_token"], "error": error});
    assert_eq!(b.of("acme", "POST", "/workers/nack", nack).await.0, 200);
    b.flush().await;
    assert_eq!(b.state(id.parse().unwrap()).await, JobState::Discarded);
    let (status, body) = b.http("DELETE", "/admin/tenants/acme", "").await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(groups(&b, "").await, Vec::<Value>::new());
}

async fn a_group_goes_a_month_after_its_last_failure(b: Bench) {
    failed(&b, "q", "t", timeout("1.1.1.1")).await;
    b.flush().await;
    b.advance(Duration::from_millis(KEEP_MS.unsigned_abs() - 60_000)).await;
    assert_eq!(groups(&b, "").await.len(), 1);
    b.advance(Duration::from_secs(3_600)).await;
    assert_eq!(groups(&b, "").await, Vec::<Value>::new());
}

async fn what_is_written_is_counted_once(b: Bench) {
    for n in 1..=3 {
        failed(&b, "q", "t", timeout("1.1.1.1")).await;
        assert_eq!(groups(&b, "").await[0]["count"], n, "seen before it is written");
        b.flush().await;
        assert_eq!(groups(&b, "").await[0]["count"], n, "and not twice afterwards");
    }
}

#[tokio::test]
async fn groups_outlive_a_restart() {
    let b = Bench::sqlite().await;
    failed(&b, "q", "t", timeout("1.1.1.1")).await;
    let b = b.reopened().await;
    assert_eq!(groups(&b, "").await[0]["count"], 1);
}

#[tokio::test]
async fn two_nodes_add_to_one_group() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    for node in [&b, &other, &b] {
        failed(node, "q", "t", timeout("1.1.1.1")).await;
        node.flush().await;
    }
    for node in [&b, &other] {
        assert_eq!(groups(node, "").await[0]["count"], 3);
    }
}
