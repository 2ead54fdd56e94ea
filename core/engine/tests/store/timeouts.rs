//! The four time-outs of protocol section 5.9, each by itself and where they meet.
use std::sync::Arc;
use std::time::Duration;

use ojs_engine::clock::Clock as _;
use ojs_engine::command::{Enqueue, Heartbeat, Outcome, Replay};
use ojs_engine::rows::DeadFilter;
use ojs_model::{JobState, NewJob};
use serde_json::Value;

use crate::support::{Bench, seconds};

crate::on_every_store!(
    an_attempt_has_its_timeout_and_its_grace,
    silence_about_a_job_stalls_it,
    a_heartbeat_cannot_lengthen_the_heartbeat_timeout,
    a_lease_shorter_than_the_heartbeat_timeout_ends_first,
    a_job_not_started_within_its_ttl_is_discarded,
    the_ttl_counts_from_the_time_it_may_start,
    an_explicit_expiry_is_told_apart_from_the_ttl,
    the_total_time_ends_a_running_job,
    the_total_time_ends_a_waiting_job,
    what_ended_the_waiting_is_told_although_the_request_took_a_while,
    a_retry_that_would_come_too_late_is_not_scheduled,
    the_total_time_binds_a_job_that_lost_its_lease,
    the_total_time_makes_a_dead_letter_where_the_policy_says_so,
    a_replayed_job_is_not_bound_by_the_old_times,
    a_job_that_had_expired_when_it_came_is_left_alone,
);

async fn last_error(b: &Bench, id: ojs_model::JobId) -> Value {
    let errors: Vec<Value> = serde_json::from_str(&b.get(id).await.history.errors).unwrap();
    errors.last().unwrap().clone()
}

async fn data(b: &Bench, event: &str) -> Value {
    let (events, _, _) = b.events(Default::default()).await;
    let found: Vec<_> = events.iter().filter(|e| e.name == event).collect();
    assert_eq!(found.len(), 1, "{event} exactly once");
    serde_json::from_str(&found[0].data).unwrap()
}

fn request(options: &str) -> String {
    format!(
        r#"{{"type":"t","args":[],"options":{{"queue":"q","retry":{{"jitter":false,"initial_interval":"PT10S"}},{options}}}}}"#
    )
}

async fn an_attempt_has_its_timeout_and_its_grace(b: Bench) {
    let id = b.enqueue(&request(r#""timeout_ms":2000,"grace_period":3"#)).await;
    b.claim(1).await;
    b.advance(seconds(4)).await;
    assert_eq!(b.state(id).await, JobState::Active, "the worker gets its grace");
    b.advance(seconds(1)).await;
    assert_eq!(b.state(id).await, JobState::Retryable);
    let error = last_error(&b, id).await;
    assert_eq!((&error["type"], &error["timeout_kind"]), (&"timeout".into(), &"execution".into()));
    assert_eq!((&error["limit_seconds"], &error["elapsed_seconds"]), (&2.into(), &5.into()), "the limit is the job's own");
    let event = data(&b, "job.timeout").await;
    assert_eq!((&event["timeout_kind"], &event["limit_seconds"], &event["attempt"]), (&"execution".into(), &2.into(), &1.into()));
}

async fn silence_about_a_job_stalls_it(b: Bench) {
    let id = b.enqueue(&request(r#""heartbeat_timeout":5"#)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(4)).await;
    b.beat("w", &[(id, Some(job.row.lease))]).await;
    b.advance(seconds(4)).await;
    assert_eq!(b.state(id).await, JobState::Active, "a heartbeat counts afresh");
    b.advance(seconds(1)).await;
    assert_eq!(b.state(id).await, JobState::Retryable, "through the retry policy, unlike a lease that ran out");
    let error = last_error(&b, id).await;
    assert_eq!(
        (&error["type"], &error["timeout_kind"], &error["limit_seconds"]),
        (&"stalled".into(), &"stalled".into(), &5.into())
    );
    assert_eq!(data(&b, "job.stalled").await["elapsed_seconds"], 5);
    assert_eq!(b.story(id).await.last().unwrap(), "job.retrying");
}

async fn a_heartbeat_cannot_lengthen_the_heartbeat_timeout(b: Bench) {
    let id = b.enqueue(&request(r#""heartbeat_timeout":5"#)).await;
    let job = b.claim(1).await.remove(0);
    let jobs = vec![(id, Some(job.row.lease))];
    let beat = Heartbeat {
        worker: "w".into(),
        jobs,
        visibility_ms: Some(60_000),
        test_directives: false,
        info: None,
        ..Default::default()
    };
    b.engine.store().execute(beat).await.unwrap();
    b.advance(seconds(5)).await;
    assert_eq!(last_error(&b, id).await["type"], "stalled");
}

async fn a_lease_shorter_than_the_heartbeat_timeout_ends_first(b: Bench) {
    let id = b.enqueue(&request(r#""heartbeat_timeout":60"#)).await;
    b.claim(1).await;
    b.advance(seconds(30)).await;
    assert_eq!((b.state(id).await, &last_error(&b, id).await["type"]), (JobState::Available, &"visibility_timeout".into()));
}

async fn a_job_not_started_within_its_ttl_is_discarded(b: Bench) {
    let late = b.enqueue(&request(r#""enqueue_ttl":5"#)).await;
    b.advance(seconds(4)).await;
    assert_eq!(b.state(late).await, JobState::Available);
    b.advance(seconds(1)).await;
    let view = b.get(late).await;
    assert_eq!(view.row.state, JobState::Discarded);
    let error = last_error(&b, late).await;
    assert_eq!(
        (&error["type"], &error["timeout_kind"], &error["limit_seconds"]),
        (&"enqueue_ttl_expired".into(), &"enqueue_ttl".into(), &5.into())
    );
    assert_eq!(error["retryable"], false);
    assert_eq!(data(&b, "job.ttl_expired").await["limit_seconds"], 5);
    assert_eq!(b.story(late).await, ["job.enqueued", "job.ttl_expired", "job.discarded"]);

    let started = b.enqueue(&request(r#""enqueue_ttl":5"#)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(6)).await;
    assert_eq!(b.state(started).await, JobState::Active, "once started it no longer counts");
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(10)).await;
    assert_eq!(b.state(started).await, JobState::Available, "not for retries either");
}

async fn the_ttl_counts_from_the_time_it_may_start(b: Bench) {
    let id = b.enqueue(&request(r#""enqueue_ttl":5,"scheduled_at":"+PT60S""#)).await;
    b.advance(seconds(64)).await;
    assert_eq!(b.state(id).await, JobState::Available);
    b.advance(seconds(1)).await;
    assert_eq!(last_error(&b, id).await["elapsed_seconds"], 5);
}

async fn an_explicit_expiry_is_told_apart_from_the_ttl(b: Bench) {
    let id = b.enqueue(&request(r#""enqueue_ttl":9,"expires_at":"+PT5S""#)).await;
    b.advance(seconds(5)).await;
    assert_eq!(last_error(&b, id).await["type"], "expired");
    assert_eq!(b.story(id).await, ["job.enqueued", "job.expired", "job.discarded"]);
    assert_eq!(data(&b, "job.expired").await["ttl_ms"], 5000);
}

async fn the_total_time_ends_a_running_job(b: Bench) {
    let id = b.enqueue(&request(r#""total_timeout":10"#)).await;
    b.advance(seconds(6)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(4)).await;
    assert_eq!(b.state(id).await, JobState::Discarded, "not retried though attempts are left");
    let error = last_error(&b, id).await;
    assert_eq!((&error["type"], &error["timeout_kind"]), (&"total_timeout".into(), &"total".into()));
    assert_eq!((&error["limit_seconds"], &error["elapsed_seconds"]), (&10.into(), &10.into()));
    assert_eq!(b.story(id).await, ["job.enqueued", "job.started", "job.total_timeout", "job.failed", "job.discarded"]);
    assert_eq!(b.ack(&job).await.unwrap_err().status, 409);
}

async fn the_total_time_ends_a_waiting_job(b: Bench) {
    let available = b.enqueue(&request(r#""total_timeout":10"#)).await;
    let scheduled = b.enqueue(&request(r#""total_timeout":10,"scheduled_at":"+PT60S""#)).await;
    b.advance(seconds(10)).await;
    for id in [available, scheduled] {
        assert_eq!(b.state(id).await, JobState::Discarded);
        assert_eq!(last_error(&b, id).await["timeout_kind"], "total");
    }
    // The engine does not wait for a sweep to notice: a claim passes over what is too late.
    let id = b.enqueue(&request(r#""total_timeout":10"#)).await;
    b.clock.advance(seconds(10));
    assert!(b.claim(1).await.is_empty());
    // A sweep under way has locked it: the claim passes over it all the same, and the sweep is about to commit.
    let discarded = async {
        while b.state(id).await != JobState::Discarded {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(seconds(60), discarded).await.expect("discarded without a sweep that a test asks for");
}

/// The end of waiting counts from the moment at which a request was read, and a job is stored some milliseconds later.
async fn what_ended_the_waiting_is_told_although_the_request_took_a_while(b: Bench) {
    let mut ids = Vec::new();
    for (options, expected) in [
        (r#""total_timeout":10"#, "total_timeout"),
        (r#""enqueue_ttl":10"#, "enqueue_ttl_expired"),
        (r#""total_timeout":10,"enqueue_ttl":20"#, "total_timeout"),
        (r#""total_timeout":20,"enqueue_ttl":10"#, "enqueue_ttl_expired"),
        (r#""total_timeout":10,"enqueue_ttl":5,"scheduled_at":"+PT8S""#, "total_timeout"),
        (r#""total_timeout":20,"enqueue_ttl":5,"scheduled_at":"+PT5S""#, "enqueue_ttl_expired"),
        (r#""total_timeout":20,"enqueue_ttl":20,"expires_at":"+PT10S""#, "expired"),
    ] {
        let job = Arc::new(NewJob::parse(&request(options), b.clock.now()).unwrap());
        b.clock.advance(Duration::from_millis(3));
        let placed = b.engine.store().execute(Enqueue(vec![job])).await.unwrap();
        ids.push((placed[0].job.row.id, options, expected));
    }
    b.advance(seconds(10)).await;
    for (id, options, expected) in ids {
        assert_eq!(last_error(&b, id).await["type"], expected, "{options}");
    }
}

async fn a_retry_that_would_come_too_late_is_not_scheduled(b: Bench) {
    let id = b.enqueue(&request(r#""total_timeout":25"#)).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"first"}"#).await.unwrap();
    assert_eq!(b.state(id).await, JobState::Retryable, "after 10 s there are 15 left");
    b.advance(seconds(10)).await;
    let job = b.claim(1).await.remove(0);
    let finished = b.nack(&job, r#"{"code":"x","message":"second"}"#).await.unwrap();
    assert_eq!(finished.row.state, JobState::Discarded, "20 s more would be too late");
    assert_eq!(last_error(&b, id).await["message"], "second", "the cause stays visible");
    let story = b.story(id).await;
    assert_eq!(story[story.len() - 3..], ["job.failed", "job.total_timeout", "job.discarded"]);
}

async fn the_total_time_binds_a_job_that_lost_its_lease(b: Bench) {
    let id = b.enqueue(&request(r#""total_timeout":40"#)).await;
    b.claim(1).await;
    b.advance(seconds(30)).await;
    assert_eq!(b.state(id).await, JobState::Available);
    let job = b.claim(1).await.remove(0);
    b.settle(id, Some(job.row.lease), Outcome::Release(60_000)).await.unwrap();
    assert_eq!(b.state(id).await, JobState::Retryable);
    b.advance(seconds(10)).await;
    assert_eq!(b.state(id).await, JobState::Discarded);
}

async fn the_total_time_makes_a_dead_letter_where_the_policy_says_so(b: Bench) {
    let retry = r#"{"type":"t","args":[],"total_timeout":10,"options":{"queue":"q","retry":{"on_exhaustion":"dead_letter"}}}"#;
    let id = b.enqueue(retry).await;
    b.claim(1).await;
    b.advance(seconds(10)).await;
    assert_eq!(b.dead(DeadFilter::default()).await, (vec![id], 1));
    assert_eq!(data(&b, "job.retry_exhausted").await["reason"], "total_timeout");
}

async fn a_replayed_job_is_not_bound_by_the_old_times(b: Bench) {
    let id = b.enqueue(&request(r#""total_timeout":10,"enqueue_ttl":5"#)).await;
    b.advance(seconds(5)).await;
    assert_eq!(b.state(id).await, JobState::Discarded);
    b.change(Replay(id)).await.unwrap();
    b.advance(seconds(60)).await;
    assert_eq!(b.state(id).await, JobState::Available);
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(20)).await;
    b.ack(&job).await.unwrap();
}

async fn a_job_that_had_expired_when_it_came_is_left_alone(b: Bench) {
    let id = b.enqueue(&request(r#""expires_at":"2020-01-01T00:00:00Z""#)).await;
    b.advance(seconds(5)).await;
    assert_eq!(b.state(id).await, JobState::Discarded);
    assert_eq!(b.story(id).await, ["job.expired", "job.discarded"]);
}
