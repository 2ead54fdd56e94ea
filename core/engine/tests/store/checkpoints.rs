//! Checkpoints (extensions section 21): saved, delivered with the next attempt, kept with the job. The numbers are
//! those of the conformance suite.
use std::time::Duration;

use futures_util::future::join_all;
use ojs_engine::command::{Cancel, SaveCheckpoint};
use ojs_engine::error::Refusal;
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::nodes::{advance_together, second_node};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    dur_001_a_checkpoint_is_saved_and_read,
    dur_002_every_save_has_the_next_sequence,
    dur_003_a_deleted_checkpoint_is_gone_and_the_next_begins_at_one,
    dur_004_a_save_replaces_the_whole_document,
    dur_008_an_unknown_job_has_none,
    dur_009_the_next_attempt_is_delivered_with_the_checkpoint,
    dur_012_a_checkpoint_that_was_deleted_is_not_delivered,
    dur_013_the_checkpoint_of_an_ended_job_is_read_only,
    dur_016_jobs_have_checkpoints_of_their_own,
    it_survives_a_lost_lease_and_a_replay,
    only_the_holder_saves_the_checkpoint_of_an_active_job,
    a_save_of_the_holder_renews_its_lease,
    what_is_no_checkpoint_is_refused_and_the_one_before_stays,
    saves_at_once_count_one_after_the_other,
    in_strict_mode_it_needs_a_running_job_and_goes_with_it,
    it_is_removed_with_its_job,
    a_save_is_an_event,
);

impl Bench {
    async fn save(&self, id: JobId, body: Value) -> (u16, Value) {
        self.http("PUT", &format!("/jobs/{id}/checkpoint"), &body.to_string()).await
    }

    async fn saved(&self, id: JobId) -> (u16, Value) {
        self.http("GET", &format!("/jobs/{id}/checkpoint"), "").await
    }

    /// The first job of a fetch, as the worker sees it.
    async fn fetched(&self, worker: &str) -> Value {
        let body = json!({"queues": ["q"], "worker_id": worker, "visibility_timeout_ms": 30_000});
        self.http("POST", "/workers/fetch", &body.to_string()).await.1["jobs"][0].clone()
    }
}

async fn dur_001_a_checkpoint_is_saved_and_read(b: Bench) {
    let id = b.job().await;
    let (status, body) = b.save(id, json!({"state": {"processed": 500, "total": 1000}})).await;
    assert_eq!((status, &body["sequence"], &body["state"]["total"]), (200, &json!(1), &json!(1000)), "{body}");
    assert_eq!(body["checkpoint"], json!({"job_id": id.to_string(), "sequence": 1, "created_at": "2026-01-01T00:00:00.000Z"}));
    let (status, body) = b.saved(id).await;
    assert_eq!((status, &body["job_id"], &body["sequence"]), (200, &json!(id.to_string()), &json!(1)));
    assert_eq!((&body["state"], &body["checkpoint"]["state"]), (&json!({"processed": 500, "total": 1000}), &body["state"]));
    assert_eq!(b.http("POST", &format!("/jobs/{id}/checkpoint"), r#"{"state":{}}"#).await.0, 200, "an empty document is one");
    assert_eq!(b.saved(id).await.1["state"], json!({}));
}

async fn dur_002_every_save_has_the_next_sequence(b: Bench) {
    let id = b.job().await;
    for sequence in 1..=3 {
        assert_eq!(b.save(id, json!({"state": {"step": sequence}})).await.1["sequence"], sequence);
    }
    assert_eq!(b.save(id, json!({"state": 9, "sequence": 9})).await.1["sequence"], 9);
    assert_eq!(b.save(id, json!({"state": 9, "sequence": 9})).await.0, 200, "the answer to the first was lost");
    let (status, body) = b.save(id, json!({"state": 10, "sequence": 9})).await;
    assert_eq!((status, &body["error"]["details"]["current_sequence"]), (409, &json!(9)), "{body}");
    assert_eq!((b.saved(id).await.1["state"].clone(), b.saved(id).await.1["sequence"].clone()), (json!(9), json!(9)));
}

async fn dur_003_a_deleted_checkpoint_is_gone_and_the_next_begins_at_one(b: Bench) {
    let id = b.job().await;
    for _ in 0..2 {
        b.save(id, json!({"state": 1})).await;
    }
    for _ in 0..2 {
        let (status, body) = b.http("DELETE", &format!("/jobs/{id}/checkpoint"), "").await;
        assert_eq!((status, body), (200, json!({"deleted": true, "job_id": id.to_string()})), "deleting twice is no fault");
    }
    assert_eq!(b.saved(id).await.0, 404);
    assert_eq!(b.save(id, json!({"state": {"phase": "after"}})).await.1["sequence"], 1);
}

async fn dur_004_a_save_replaces_the_whole_document(b: Bench) {
    let id = b.job().await;
    b.save(id, json!({"state": {"a": 1, "nested": {"x": 1}}})).await;
    b.save(id, json!({"state": {"b": 2}})).await;
    assert_eq!(b.saved(id).await.1["state"], json!({"b": 2}));
}

async fn dur_008_an_unknown_job_has_none(b: Bench) {
    let id = JobId::now_v7();
    assert_eq!(b.save(id, json!({"state": 1})).await.0, 404);
    assert_eq!(b.saved(id).await.0, 404);
    assert_eq!(b.http("DELETE", &format!("/jobs/{id}/checkpoint"), "").await.0, 404);
    let (status, body) = b.saved(b.job().await).await;
    assert_eq!((status, &body["error"]["details"]["resource_type"]), (404, &json!("checkpoint")));
}

async fn dur_009_the_next_attempt_is_delivered_with_the_checkpoint(b: Bench) {
    let id = b.job().await;
    let job = b.fetched("w").await;
    assert!(job.get("checkpoint").is_none(), "{job}");
    b.save(id, json!({"state": {"rows": 750, "cursor": "abc"}, "worker_id": "w"})).await;
    let nack = json!({"job_id": id.to_string(), "worker_id": "w", "error": {"code": "x", "message": "m"}});
    assert_eq!(b.http("POST", "/workers/nack", &nack.to_string()).await.0, 200);
    b.advance(seconds(120)).await;
    let job = b.fetched("v").await;
    assert_eq!(job["attempt"], 2);
    assert_eq!(job["checkpoint"], json!({"state": {"rows": 750, "cursor": "abc"}, "sequence": 1}));
    assert!(job.get("last_checkpoint").is_none(), "it came by itself");
    let (_, seen) = b.http("GET", &format!("/jobs/{id}"), "").await;
    assert!(seen["job"].get("checkpoint").is_none(), "only deliveries have it");
    b.save(id, json!({"state": {"rows": 1500}, "worker_id": "v"})).await;
    let ack = json!({"job_id": id.to_string(), "worker_id": "v"});
    assert_eq!(b.http("POST", "/workers/ack", &ack.to_string()).await.0, 200);
    let (status, body) = b.saved(id).await;
    assert_eq!((status, &body["sequence"], &body["state"]["rows"]), (200, &json!(2), &json!(1500)));
}

async fn dur_012_a_checkpoint_that_was_deleted_is_not_delivered(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.save(id, json!({"state": 1})).await;
    b.http("DELETE", &format!("/jobs/{id}/checkpoint"), "").await;
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(120)).await;
    assert!(b.fetched("w").await.get("checkpoint").is_none());
}

async fn dur_013_the_checkpoint_of_an_ended_job_is_read_only(b: Bench) {
    for state in [JobState::Completed, JobState::Cancelled, JobState::Discarded] {
        let ended = b.job_in(state).await;
        let (status, body) = b.save(ended, json!({"state": 1})).await;
        assert_eq!((status, &body["error"]["details"]["current_state"]), (409, &json!(state.as_str())), "{body}");
        assert_eq!(b.saved(ended).await.0, 404);
    }
    for state in [JobState::Scheduled, JobState::Pending, JobState::Retryable, JobState::Available] {
        let waiting = b.job_in(state).await;
        assert_eq!(b.save(waiting, json!({"state": 1})).await.0, 200, "{state}");
        b.change(Cancel(waiting)).await.unwrap();
        assert_eq!(b.save(waiting, json!({"state": 2})).await.0, 409);
        assert_eq!(b.saved(waiting).await.1["state"], 1, "it can be read as long as the job");
    }
}

async fn dur_016_jobs_have_checkpoints_of_their_own(b: Bench) {
    let (one, two) = (b.job().await, b.job().await);
    b.save(one, json!({"state": {"owner": "one"}})).await;
    b.save(two, json!({"state": {"owner": "two"}})).await;
    assert_eq!(b.saved(one).await.1["state"]["owner"], "one");
    let jobs = b.http("POST", "/workers/fetch", r#"{"queues":["q"],"count":2,"worker_id":"w"}"#).await.1;
    assert_eq!(
        (&jobs["jobs"][0]["checkpoint"]["state"]["owner"], &jobs["jobs"][1]["checkpoint"]["state"]["owner"]),
        (&json!("one"), &json!("two"))
    );
}

async fn it_survives_a_lost_lease_and_a_replay(b: Bench) {
    let id = b
        .enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":2,"on_exhaustion":"dead_letter"}}}"#)
        .await;
    let job = b.claim(1).await.remove(0);
    b.save(id, json!({"state": "kept", "lease_token": job.row.lease})).await;
    b.advance(seconds(31)).await;
    let job = b.claim(1).await.remove(0);
    assert_eq!(job.delivered, r#""checkpoint":{"state":"kept","sequence":1}"#);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    assert_eq!(b.state(id).await, JobState::Discarded);
    assert_eq!(b.http("POST", &format!("/dead-letter/{id}/retry"), "").await.0, 200);
    assert_eq!(b.fetched("w").await["checkpoint"]["state"], "kept");
}

async fn only_the_holder_saves_the_checkpoint_of_an_active_job(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    let reason = |body: &Value| body["error"]["details"]["reason"].clone();
    let (status, body) = b.save(id, json!({"state": 1, "lease_token": job.row.lease - 1})).await;
    assert_eq!((status, reason(&body)), (409, json!("stale_lease")));
    let (status, body) = b.save(id, json!({"state": 1, "worker_id": "v"})).await;
    assert_eq!((status, reason(&body)), (409, json!("lease_owner")));
    assert_eq!(b.save(id, json!({"state": 1, "worker_id": "w"})).await.0, 200);
    b.advance(seconds(31)).await;
    let (status, body) = b.save(id, json!({"state": 2, "lease_token": job.row.lease})).await;
    assert_eq!((status, reason(&body)), (409, json!("invalid_state_transition")), "the lease has run out");
    let body = json!({"queues": ["q"], "worker_id": "w", "lease_tokens": true});
    let token = b.http("POST", "/workers/fetch", &body.to_string()).await.1["jobs"][0]["lease_token"].clone();
    let (status, body) = b.save(id, json!({"state": 2, "worker_id": "w"})).await;
    assert_eq!((status, reason(&body)), (409, json!("lease_token_required")));
    assert_eq!(b.saved(id).await.1["state"], 1);
    assert_eq!(b.save(id, json!({"state": 2, "lease_token": token})).await.1["sequence"], 2);
}

async fn a_save_of_the_holder_renews_its_lease(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    for _ in 0..3 {
        b.advance(seconds(20)).await;
        assert_eq!(b.save(id, json!({"state": 1, "lease_token": job.row.lease})).await.0, 200);
    }
    b.advance(seconds(31)).await;
    assert_eq!(b.state(id).await, JobState::Available);
}

async fn what_is_no_checkpoint_is_refused_and_the_one_before_stays(b: Bench) {
    let id = b.job().await;
    b.save(id, json!({"state": "before"})).await;
    for (body, field) in [
        (json!({}), "state"),
        (json!({"state": null}), "state"),
        (json!({"state": 1, "sequence": 0}), "sequence"),
        (json!({"state": 1, "sequence": "two"}), "sequence"),
        (json!({"state": 1, "lease_token": "x"}), "lease_token"),
    ] {
        let (status, answer) = b.save(id, body.clone()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{body}: {answer}");
    }
    let (status, answer) = b.save(id, json!({"state": "x".repeat(1_048_575)})).await;
    assert_eq!((status, &answer["error"]["details"]["max_bytes"]), (413, &json!(1_048_576)));
    assert_eq!(b.saved(id).await.1["state"], "before");
    let most = "x".repeat(1_048_574);
    assert_eq!(b.save(id, json!({"state": most})).await.0, 200);
    assert_eq!(b.fetched("w").await["checkpoint"]["state"], json!(most), "a large document comes back whole");
}

async fn saves_at_once_count_one_after_the_other(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    let answers = join_all((0..40).map(|n| b.save(id, json!({"state": n, "lease_token": job.row.lease})))).await;
    let mut sequences: Vec<i64> = answers.iter().map(|(_, body)| body["sequence"].as_i64().unwrap()).collect();
    let last = answers.iter().find(|(_, body)| body["sequence"] == 40).unwrap().1["state"].clone();
    sequences.sort_unstable();
    assert_eq!(sequences, (1..=40).collect::<Vec<_>>());
    assert_eq!(b.saved(id).await.1["state"], last);
}

async fn in_strict_mode_it_needs_a_running_job_and_goes_with_it(b: Bench) {
    let save = |job| SaveCheckpoint {
        job,
        state: "1".into(),
        lease: None,
        worker: None,
        sequence: None,
        strict: true,
        by_report: false,
    };
    let id = b.job().await;
    match b.engine.store().execute(save(id)).await {
        Err(Refusal::Ojs(error)) => assert_eq!(error.status, 409),
        other => panic!("{other:?}"),
    }
    let job = b.claim(1).await.remove(0);
    assert_eq!(b.engine.store().execute(save(id)).await.unwrap().sequence, 1);
    b.advance(seconds(31)).await;
    let again = b.claim(1).await.remove(0);
    assert!(again.row.lease > job.row.lease && again.delivered.contains("checkpoint"));
    b.ack(&again).await.unwrap();
    assert_eq!(b.saved(id).await.0, 404);
}

async fn it_is_removed_with_its_job(b: Bench) {
    let id = b.job().await;
    b.save(id, json!({"state": 1})).await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    b.advance(Duration::from_secs(8 * 86_400)).await;
    let (status, body) = b.saved(id).await;
    assert_eq!(
        (status, &body["error"]["details"]["resource_type"]),
        (404, &json!("job")),
        "the audit finds records that are left"
    );
}

async fn a_save_is_an_event(b: Bench) {
    let id = b.job().await;
    b.save(id, json!({"state": {"a": 1}})).await;
    assert_eq!(b.story(id).await, ["job.enqueued", "job.checkpointed"]);
    let (events, _, _) = b.events(ojs_engine::EventFilter::default()).await;
    let data: Value = serde_json::from_str(&events[1].data).unwrap();
    assert_eq!((&data["sequence"], &data["size_bytes"], &data["queue"]), (&json!(1), &json!(7), &json!("q")), "{data}");
}

#[tokio::test]
async fn a_confirmed_checkpoint_is_there_after_a_restart() {
    let b = Bench::sqlite().await;
    let id = b.job().await;
    b.save(id, json!({"state": [1, 2]})).await;
    let b = b.reopened().await;
    assert_eq!(b.fetched("w").await["checkpoint"], json!({"state": [1, 2], "sequence": 1}));
}

#[tokio::test]
async fn saves_through_several_nodes_count_one_after_the_other() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    let token = job.row.lease;
    let nodes = [&b, &other];
    let answers = join_all((0..30).map(|n| nodes[n % 2].save(id, json!({"state": n, "lease_token": token})))).await;
    let mut sequences: Vec<i64> = answers.iter().map(|(_, body)| body["sequence"].as_i64().unwrap()).collect();
    sequences.sort_unstable();
    assert_eq!(sequences, (1..=30).collect::<Vec<_>>());
    advance_together(&b, &other, seconds(31)).await;
    let again = other.claim_for(Some("v"), &["q"], 1).await.remove(0);
    assert!(again.delivered.contains(r#""sequence":30"#), "{}", again.delivered);
    assert_eq!(b.save(id, json!({"state": 0, "lease_token": token})).await.0, 409, "the first holder has lost it");
    assert_eq!(b.ack(&again).await.unwrap().row.state, JobState::Completed);
}
