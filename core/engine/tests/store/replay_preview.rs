//! What would come of running dead letters again: each reason, and that the replay does what the preview said.
use ojs_engine::command::{Cancel, Replay};
use ojs_engine::rows::DeadFilter;
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::support::Bench;

crate::on_every_store!(
    a_preview_changes_nothing_and_the_replay_does_what_it_said,
    what_holds_a_queue_or_a_tenant_is_named_once_for_all_its_jobs,
    only_the_first_job_of_a_train_leads_it,
    a_job_that_an_enqueue_would_refuse_runs_with_a_warning,
    jobs_that_cannot_run_again_are_refused_by_name,
    a_filter_finds_what_a_retry_would_find,
    a_tenant_sees_its_own_dead_letters_only,
    a_deleted_queue_is_made_anew_by_a_replay,
);

const ONCE: &str = r#""retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}"#;

impl Bench {
    /// A dead letter of a queue, with more members of the envelope and more options.
    async fn gone(&self, queue: &str, more: &str, options: &str) -> JobId {
        let id = self.enqueue(&format!(r#"{{"type":"t"{more},"options":{{"queue":"{queue}",{ONCE}{options}}}}}"#)).await;
        let job = self.claim_for(Some("w"), &[queue], 1).await.remove(0);
        self.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
        assert_eq!(self.state(id).await, JobState::Discarded);
        id
    }

    async fn previewed(&self, query: &str) -> Value {
        let (status, body) = self.http("GET", &format!("/dead-letter/preview?{query}"), "").await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn post(&self, path: &str, body: Value) {
        let (status, answer) = self.http("POST", path, &body.to_string()).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
    }

    async fn serve(&self, queues: &[&str]) {
        let body = json!({"worker_id": "w", "state": "running", "queues": queues, "concurrency": 1});
        self.post("/workers/heartbeat", body).await;
    }
}

/// How many would run, wait and be refused.
fn counts(preview: &Value) -> [u64; 3] {
    ["would_run", "would_wait", "would_be_refused"].map(|name| preview[name].as_u64().unwrap())
}

/// Effect, code and number of jobs of each reason.
fn reasons(preview: &Value) -> Vec<(String, String, u64)> {
    let text = |reason: &Value, name: &str| reason[name].as_str().unwrap().to_owned();
    let all = preview["reasons"].as_array().unwrap().iter();
    all.map(|reason| (text(reason, "effect"), text(reason, "code"), reason["jobs"].as_u64().unwrap())).collect()
}

fn one(effect: &str, code: &str, jobs: u64) -> (String, String, u64) {
    (effect.to_owned(), code.to_owned(), jobs)
}

async fn a_preview_changes_nothing_and_the_replay_does_what_it_said(b: Bench) {
    let id = b.gone("q", r#","args":[]"#, "").await;
    let before = b.previewed("").await;
    assert_eq!((counts(&before), &before["complete"]), ([0, 1, 0], &json!(true)), "{before}");
    assert_eq!(reasons(&before), [one("waits", "no_worker_for_queue", 1)]);
    assert_eq!(before["jobs"], json!([{"job_id": id.to_string(), "reasons": before["jobs"][0]["reasons"]}]));
    assert_eq!(b.state(id).await, JobState::Discarded);
    b.serve(&["q"]).await;
    assert_eq!(counts(&b.previewed("").await), [1, 0, 0]);
    b.change(Replay(id)).await.unwrap();
    assert_eq!(b.claim(1).await[0].row.id, id, "it runs, as the preview said");
    let after = b.previewed("").await;
    assert_eq!((counts(&after), &after["matched"]), ([0, 0, 0], &json!(0)));
}

async fn what_holds_a_queue_or_a_tenant_is_named_once_for_all_its_jobs(b: Bench) {
    for _ in 0..3 {
        b.gone("q", r#","args":[]"#, "").await;
    }
    let other = b.gone("r", r#","args":[],"meta":{"tenant_id":"acme"}"#, "").await;
    b.serve(&["q", "r"]).await;
    b.post("/queues/q/pause", json!({})).await;
    b.post("/admin/tenants/acme/suspend", json!({})).await;
    let preview = b.previewed("").await;
    assert_eq!(counts(&preview), [0, 4, 0]);
    assert_eq!(reasons(&preview), [one("waits", "queue_paused", 3), one("waits", "tenant_suspended", 1)]);
    let [paused, suspended] = [0, 1].map(|at: usize| &preview["reasons"][at]);
    assert_eq!((&paused["command"], &suspended["job_id"]), (&json!("ojs queues resume q"), &json!(other.to_string())));
    b.post("/queues/q/resume", json!({})).await;
    assert_eq!(counts(&b.previewed("").await), [3, 1, 0]);
}

async fn only_the_first_job_of_a_train_leads_it(b: Bench) {
    let on_end = r#","train":"dest_1""#;
    let (first, second) = (b.gone("q", r#","args":[]"#, on_end).await, b.gone("q", r#","args":[]"#, on_end).await);
    b.serve(&["q"]).await;
    let preview = b.previewed("").await;
    assert_eq!((counts(&preview), reasons(&preview)), ([1, 1, 0], vec![one("waits", "train_blocked", 1)]));
    b.change(Replay(second)).await.unwrap();
    b.change(Replay(first)).await.unwrap();
    assert_eq!(b.state(second).await, JobState::Available);
    assert_eq!(b.state(first).await, JobState::Pending, "it waits behind the other one, as the preview said");
}

async fn a_job_that_an_enqueue_would_refuse_runs_with_a_warning(b: Bench) {
    let unique = r#","unique":{"keys":["type","args"]}"#;
    let id = b.gone("q", r#","args":["a"]"#, unique).await;
    b.serve(&["q"]).await;
    let clean = b.previewed("").await;
    assert_eq!((counts(&clean), reasons(&clean)), ([1, 0, 0], vec![]));
    let rival = b.enqueue(&format!(r#"{{"type":"t","args":["a"],"options":{{"queue":"q"{unique}}}}}"#)).await;
    let schema = json!({"job_type": "t", "version": 1, "mode": "strict", "schema": {"items": {"type": "integer"}}});
    b.post("/schemas", schema).await;
    let preview = b.previewed("").await;
    assert_eq!((counts(&preview), &preview["with_warnings"]), ([1, 0, 0], &json!(1)));
    let mut found = reasons(&preview);
    found.sort();
    assert_eq!(found, [one("warning", "schema_mismatch", 1), one("warning", "unique_key_held", 1)]);
    assert!(preview.to_string().contains(&rival.to_string()), "{preview}");
    // Uniqueness is not looked at again, and arguments are not compared: both run.
    b.change(Replay(id)).await.unwrap();
    assert_eq!(b.claim(2).await.len(), 2);
}

async fn jobs_that_cannot_run_again_are_refused_by_name(b: Bench) {
    let id = b.gone("q", r#","args":[]"#, "").await;
    let ended = b.job().await;
    b.change(Cancel(ended)).await.unwrap();
    b.serve(&["q"]).await;
    let preview = b.previewed(&format!("job_ids={id},{ended},019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")).await;
    assert_eq!((counts(&preview), &preview["matched"]), ([1, 0, 2], &json!(3)));
    let mut found = reasons(&preview);
    found.sort();
    assert_eq!(found, [one("refused", "invalid_state_transition", 1), one("refused", "not_found", 1)]);
    for wrong in [
        "job_ids=nonsense".to_owned(),
        format!("job_ids={id}&queue=q"),
        format!("job_ids={}", vec![id.to_string(); 101].join(",")),
    ] {
        let (status, body) = b.http("GET", &format!("/dead-letter/preview?{wrong}"), "").await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("job_ids")), "{body}");
    }
}

async fn a_filter_finds_what_a_retry_would_find(b: Bench) {
    b.gone("a", r#","args":[]"#, "").await;
    b.gone("b", r#","args":[]"#, "").await;
    for (query, matched) in
        [("", 2), ("queue=a", 1), ("type=t", 2), ("type=u", 0), ("error_type=x", 2), ("queue=a&error_type=y", 0)]
    {
        let preview = b.previewed(query).await;
        assert_eq!((&preview["matched"], &preview["looked_at"]), (&json!(matched), &json!(matched)), "{query}");
    }
    let (status, body) = b.http("GET", "/admin/dead-letter/preview?since=soon", "").await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("since")), "{body}");
    assert_eq!(b.dead(DeadFilter::default()).await.1, 2);
}

async fn a_tenant_sees_its_own_dead_letters_only(b: Bench) {
    b.gone("q", r#","args":[],"meta":{"tenant_id":"acme"}"#, "").await;
    let other = b.gone("q", r#","args":[],"meta":{"tenant_id":"blog"}"#, "").await;
    let (status, own) = b.of("acme", "GET", "/dead-letter/preview", Value::Null).await;
    assert_eq!((status, &own["matched"]), (200, &json!(1)), "{own}");
    let (_, named) = b.of("acme", "GET", &format!("/dead-letter/preview?job_ids={other}"), Value::Null).await;
    assert_eq!((counts(&named), reasons(&named)), ([0, 0, 1], vec![one("refused", "not_found", 1)]));
}

async fn a_deleted_queue_is_made_anew_by_a_replay(b: Bench) {
    let id = b.gone("old", r#","args":[]"#, "").await;
    let (status, body) = b.http("DELETE", "/queues/old", "").await;
    assert!((200..300).contains(&status), "{body}");
    b.serve(&["old"]).await;
    let preview = b.previewed("").await;
    assert_eq!((counts(&preview), reasons(&preview)), ([1, 0, 0], vec![one("warning", "queue_deleted", 1)]));
    b.change(Replay(id)).await.unwrap();
    let (_, queues) = b.http("GET", "/queues", "").await;
    assert!(queues.to_string().contains("\"old\""), "{queues}");
    assert_eq!(b.claim_for(Some("w"), &["old"], 1).await[0].row.id, id);
}
