//! Why a job is not running: each reason, with what it names.
use ojs_engine::command::Finished;
use ojs_model::JobId;
use serde_json::{Value, json};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    a_job_that_runs_or_has_ended_has_no_reasons,
    what_time_holds_is_named_with_its_end,
    a_staged_job_waits_for_its_activation,
    a_paused_queue_a_rate_and_a_bound_are_named,
    maintenance_comes_first,
    a_full_key_is_named_with_the_jobs_that_use_it,
    a_car_names_its_locomotive_and_a_hold,
    a_tenant_that_is_suspended_or_full_is_named,
    a_full_pool_is_named,
    workers_are_missing_quiet_or_busy,
    a_version_that_no_worker_runs_is_named,
    the_place_in_line_is_counted,
    a_job_that_is_not_there_is_not_found,
);

impl Bench {
    async fn explained(&self, id: JobId) -> Value {
        let (status, body) = self.http("GET", &format!("/jobs/{id}/explain"), "").await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// The codes of the reasons, without that no worker asks for the queue.
    async fn codes(&self, id: JobId) -> Vec<String> {
        let reasons = self.explained(id).await["reasons"].as_array().cloned().unwrap();
        let codes = reasons.iter().map(|reason| reason["code"].as_str().unwrap().to_owned());
        codes.filter(|code| code != "no_worker_for_queue").collect()
    }

    /// The one reason with this code.
    async fn reason(&self, id: JobId, code: &str) -> Value {
        let body = self.explained(id).await;
        let reasons = body["reasons"].as_array().unwrap();
        reasons.iter().find(|reason| reason["code"] == code).unwrap_or_else(|| panic!("no {code} in {body}")).clone()
    }

    async fn ok(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.http(method, path, &body.to_string()).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    async fn heartbeat(&self, worker: &str, queue: &str, more: Value) {
        let mut body = json!({"worker_id": worker, "state": "running", "queues": [queue], "concurrency": 1});
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.ok("POST", "/workers/heartbeat", &body).await;
    }
}

async fn a_job_that_runs_or_has_ended_has_no_reasons(b: Bench) {
    let id = b.job().await;
    let job = b.claim_for(Some("w-1"), &["q"], 1).await.remove(0);
    let body = b.explained(id).await;
    assert_eq!((&body["running"], &body["ended"], &body["reasons"]), (&json!(true), &json!(false), &json!([])), "{body}");
    assert_eq!(body["summary"], "It is running: attempt 1, on worker w-1.");
    let _: Finished = b.ack(&job).await.unwrap();
    let body = b.explained(id).await;
    assert_eq!((&body["ended"], &body["summary"]), (&json!(true), &json!("It has ended: completed.")), "{body}");
}

async fn what_time_holds_is_named_with_its_end(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","scheduled_at":"+PT1H"}}"#).await;
    let scheduled = b.reason(id, "scheduled").await;
    assert!(scheduled["until"].as_str() > scheduled["since"].as_str(), "{scheduled}");
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"timeout","message":"slow","retryable":true}"#).await.unwrap();
    let backing_off = b.reason(id, "backing_off").await;
    assert!(backing_off["message"].as_str().unwrap().starts_with("Attempt 1 of "), "{backing_off}");
    assert!(backing_off["until"].is_string(), "{backing_off}");
}

async fn a_staged_job_waits_for_its_activation(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","pending":true}}"#).await;
    assert_eq!(b.codes(id).await, ["pending_activation"]);
}

async fn a_paused_queue_a_rate_and_a_bound_are_named(b: Bench) {
    let (first, second) = (b.job().await, b.job().await);
    b.ok("POST", "/queues/q/pause", &json!({})).await;
    assert_eq!(b.reason(first, "queue_paused").await["command"], "ojs queues resume q");
    b.ok("POST", "/queues/q/resume", &json!({})).await;
    b.ok("PUT", "/queues/q/config", &json!({"concurrency": 1, "rate_limit": {"limit": 1, "period": "PT5S"}})).await;
    assert_eq!(b.codes(first).await, [""; 0]);
    assert_eq!(b.claim(1).await.len(), 1);
    assert_eq!(b.codes(second).await, ["queue_rate", "queue_concurrency"]);
    let bound = b.reason(second, "queue_concurrency").await;
    assert_eq!(bound["details"], json!({"limit": 1, "active": 1}));
    assert!(b.reason(second, "queue_rate").await["until"].is_string());
    b.advance(seconds(5)).await;
    assert_eq!(b.codes(second).await, ["queue_concurrency"]);
}

async fn maintenance_comes_first(b: Bench) {
    let id = b.job().await;
    b.ok("POST", "/queues/q/pause", &json!({})).await;
    b.ok("POST", "/admin/system/maintenance", &json!({"enabled": true, "reason": "new disks"})).await;
    assert_eq!(b.codes(id).await, ["maintenance", "queue_paused"]);
    let maintenance = b.reason(id, "maintenance").await;
    assert!(maintenance["message"].as_str().unwrap().contains("new disks") && maintenance["since"].is_string(), "{maintenance}");
}

async fn a_full_key_is_named_with_the_jobs_that_use_it(b: Bench) {
    let limited = r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"key":"api","concurrency":1}}}"#;
    let (first, second) = (b.enqueue(limited).await, b.enqueue(limited).await);
    let job = b.claim(2).await.remove(0);
    assert_eq!(job.row.id, first);
    let full = b.reason(second, "key_concurrency").await;
    let wanted = json!({"key": "api", "active_job_ids": [first.to_string()], "limit": 1, "active": 1});
    assert_eq!((&full["details"], &full["link"]), (&wanted, &json!("/rate-limits/api")));
    b.ack(&job).await.unwrap();
    assert_eq!(b.codes(second).await, [""; 0]);
}

async fn a_car_names_its_locomotive_and_a_hold(b: Bench) {
    let car = r#"{"type":"t","args":[],"options":{"queue":"q","train":"dest_1"}}"#;
    let (first, _, third) = (b.enqueue(car).await, b.enqueue(car).await, b.enqueue(car).await);
    let blocked = b.reason(third, "train_blocked").await;
    let wanted =
        json!({"train": "dest_1", "locomotive": first.to_string(), "locomotive_state": "available", "position": 3, "ahead": 2});
    assert_eq!(blocked["details"], wanted);
    b.ok("POST", "/trains/dest_1/hold", &json!({})).await;
    let held = b.reason(third, "train_held").await;
    assert!(held["since"].is_string() && held["command"] == "ojs trains advance dest_1", "{held}");
}

async fn a_tenant_that_is_suspended_or_full_is_named(b: Bench) {
    let of_tenant = r#"{"type":"t","args":[],"options":{"queue":"q"},"meta":{"tenant_id":"acme"}}"#;
    let (first, second) = (b.enqueue(of_tenant).await, b.enqueue(of_tenant).await);
    b.ok("PUT", "/admin/tenants/acme/limits", &json!({"max_concurrency": 1})).await;
    assert_eq!(b.claim(2).await.len(), 1);
    assert_eq!(b.reason(second, "tenant_concurrency").await["details"], json!({"limit": 1, "active": 1}));
    b.ok("POST", "/admin/tenants/acme/suspend", &json!({})).await;
    assert_eq!(b.reason(second, "tenant_suspended").await["command"], "ojs tenants resume acme");
    assert_eq!(b.explained(first).await["running"], true);
}

async fn a_full_pool_is_named(b: Bench) {
    b.ok("PUT", "/admin/pools/all", &json!({"queues": ["q"], "concurrency": 1})).await;
    let (_, second) = (b.job().await, b.job().await);
    assert_eq!(b.claim(1).await.len(), 1);
    assert_eq!(b.reason(second, "pool_concurrency").await["details"], json!({"pool": "all", "limit": 1, "active": 1}));
}

async fn workers_are_missing_quiet_or_busy(b: Bench) {
    let (first, second) = (b.job().await, b.job().await);
    b.heartbeat("w-mail", "mail", json!({})).await;
    let missing = b.reason(second, "no_worker_for_queue").await;
    assert_eq!(missing["details"], json!({"queues_with_workers": ["mail"]}), "{missing}");
    b.heartbeat("w-1", "q", json!({})).await;
    assert_eq!(b.claim_for(Some("w-1"), &["q"], 1).await[0].row.id, first);
    assert_eq!(b.reason(second, "workers_full").await["details"], json!({"active_jobs": 1, "workers": ["w-1"]}));
    b.ok("POST", "/admin/workers/w-1/quiet", &json!({})).await;
    assert_eq!(b.reason(second, "workers_quiet").await["command"], "ojs workers resume w-1");
    b.advance(seconds(16)).await;
    assert_eq!(b.reason(second, "no_worker_for_queue").await["code"], "no_worker_for_queue", "a silent worker takes no jobs");
}

async fn a_version_that_no_worker_runs_is_named(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q"},"version":"2.0"}"#).await;
    b.heartbeat("w-1", "q", json!({"handlers": [{"type": "t", "versions": "<2.0"}]})).await;
    assert_eq!(b.codes(id).await, ["no_worker_for_version"]);
    b.heartbeat("w-2", "q", json!({"handlers": [{"type": "t", "versions": ">=2.0"}]})).await;
    assert_eq!(b.codes(id).await, [""; 0]);
}

async fn the_place_in_line_is_counted(b: Bench) {
    let (first, second) = (b.job().await, b.job().await);
    let urgent = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","priority":5}}"#).await;
    assert_eq!(b.reason(second, "behind_others").await["details"], json!({"ahead": 2, "relation": "eq"}));
    assert_eq!(b.reason(first, "behind_others").await["message"], "1 job of queue 'q' comes before it.");
    assert_eq!(b.codes(urgent).await, [""; 0]);
}

async fn a_job_that_is_not_there_is_not_found(b: Bench) {
    let (status, body) = b.http("GET", "/jobs/019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f/explain", "").await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")), "{body}");
}
