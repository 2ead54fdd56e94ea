//! Keys with limits.
use std::time::Duration;

use ojs_engine::EventFilter;
use ojs_engine::command::{Cancel, ListLimits, OverrideLimit};
use ojs_engine::job::JobView;
use ojs_engine::limit::{LimitPage, LimitView};
use ojs_model::rate_limit::{Limits, OnLimit};
use ojs_model::{JobId, JobState, Timestamp};
use serde_json::{Value, json};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    one_fetch_of_two_gets_one,
    a_full_key_hides_no_job_behind_it,
    whatever_ends_an_attempt_frees_its_slot,
    two_writers_race_for_the_last_slot,
    a_window_slides,
    retries_consume_slots,
    a_throttle_keeps_starts_apart,
    nothing_runs_at_zero,
    reschedule_and_drop,
    ei_r002_retried_or_new_jobs_first,
    a_better_job_passes_those_that_wait,
    ei_003_keys_of_tenants_are_apart,
    ei_r006_a_policy_has_the_scope_tenant_or_global,
    a_worker_closes_a_key_for_a_while,
    an_override_holds_until_it_ends,
    new_limits_count_at_once,
    a_key_spans_queues,
    the_events_of_a_key,
    a_cancelled_head_lets_the_next_come_up,
    one_job_behind_a_crowd,
);

async fn keyed(b: &Bench, policy: &str) -> JobId {
    b.enqueue(&request(policy, "")).await
}

fn request(policy: &str, more: &str) -> String {
    format!(
        r#"{{"type":"t","args":[],"options":{{"queue":"q",{more}"retry":{{"initial_interval":"PT0.05S","jitter":false}},"rate_limit":{policy}}}}}"#
    )
}

fn ids(jobs: &[JobView]) -> Vec<JobId> {
    jobs.iter().map(|job| job.row.id).collect()
}

async fn keys(b: &Bench, key: &str) -> Vec<LimitView> {
    let at = Timestamp::from_millis(b.now());
    let page = LimitPage { limit: 10, ..LimitPage::default() };
    b.engine.store().query(ListLimits { key: Some(key.to_owned()), page, at }).await.unwrap().0
}

const ONE: &str = r#"{"key":"k","concurrency":1}"#;

async fn one_fetch_of_two_gets_one(b: Bench) {
    let first = keyed(&b, ONE).await;
    keyed(&b, ONE).await;
    assert_eq!(ids(&b.claim(2).await), [first]);
    assert!(b.claim(2).await.is_empty());
    let view = &keys(&b, "k").await[0];
    assert_eq!((view.active, view.waiting), (1, 1));
}

async fn a_full_key_hides_no_job_behind_it(b: Bench) {
    for _ in 0..5 {
        keyed(&b, ONE).await;
    }
    let other = keyed(&b, r#"{"key":"l","concurrency":1}"#).await;
    let plain = b.job().await;
    let got = ids(&b.claim(10).await);
    assert_eq!(got.len(), 3);
    assert!(got.contains(&other) && got.contains(&plain));
}

async fn whatever_ends_an_attempt_frees_its_slot(b: Bench) {
    let claim_one = async || {
        let mut jobs = b.claim(5).await;
        assert_eq!(jobs.len(), 1, "the slot is free");
        jobs.remove(0)
    };
    for _ in 0..7 {
        keyed(&b, ONE).await;
    }
    b.ack(&claim_one().await).await.unwrap();
    b.nack(&claim_one().await, r#"{"code":"x","message":"m","retryable":false}"#).await.unwrap();
    b.change(Cancel(claim_one().await.row.id)).await.unwrap();
    let job = claim_one().await;
    b.settle(job.row.id, Some(job.row.lease), ojs_engine::command::Outcome::Release(60_000)).await.unwrap();
    claim_one().await;
    b.advance(seconds(31)).await;
    assert_eq!(b.counts("q").await[JobState::Active as usize], 0, "its lease ran out");
    let job = claim_one().await;
    b.beat("w", &[(job.row.id, Some(job.row.lease))]).await;
    for _ in 0..4 {
        // The lease is not extended, and its worker is silent.
        b.advance(seconds(10)).await;
    }
    claim_one().await;
}

async fn two_writers_race_for_the_last_slot(b: Bench) {
    for _ in 0..40 {
        keyed(&b, r#"{"key":"k","concurrency":3}"#).await;
    }
    let claims = (0..20).map(|_| b.claim(2));
    let got: usize = futures_util::future::join_all(claims).await.iter().map(Vec::len).sum();
    assert_eq!((got, keys(&b, "k").await[0].active), (3, 3));
}

async fn a_window_slides(b: Bench) {
    for _ in 0..8 {
        keyed(&b, r#"{"key":"k","rate":{"limit":2,"period":"PT10S"}}"#).await;
    }
    assert_eq!(b.claim(1).await.len(), 1);
    b.advance(seconds(6)).await;
    assert_eq!(b.claim(5).await.len(), 1);
    assert!(b.claim(5).await.is_empty());
    b.advance(seconds(4)).await;
    assert_eq!(b.claim(5).await.len(), 1, "the first start has left the window, the second has not");
    b.advance(Duration::from_millis(5_999)).await;
    assert!(b.claim(5).await.is_empty());
    b.advance(Duration::from_millis(1)).await;
    assert_eq!(b.claim(5).await.len(), 1);
    assert_eq!(keys(&b, "k").await[0].used, 2);
    b.advance(seconds(60)).await;
    assert_eq!(b.claim(5).await.len(), 2, "unused starts are not saved up");
}

/// EI-006.
async fn retries_consume_slots(b: Bench) {
    let policy = r#"{"key":"k","rate":{"limit":2,"period":"PT2S"}}"#;
    let first = keyed(&b, policy).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(Duration::from_millis(60)).await;
    let second = keyed(&b, policy).await;
    assert_eq!(ids(&b.claim(1).await), [first]);
    assert!(b.claim(1).await.is_empty());
    assert_eq!(keys(&b, "k").await[0].used, 2);
    b.advance(seconds(2)).await;
    assert_eq!(ids(&b.claim(1).await), [second]);
}

async fn a_throttle_keeps_starts_apart(b: Bench) {
    for _ in 0..4 {
        keyed(&b, r#"{"key":"k","throttle":{"limit":4,"period":"PT1S"}}"#).await;
    }
    assert_eq!(b.claim(5).await.len(), 1);
    assert!(b.claim(5).await.is_empty());
    b.advance(Duration::from_millis(249)).await;
    assert!(b.claim(5).await.is_empty());
    b.advance(Duration::from_millis(1)).await;
    assert_eq!(b.claim(5).await.len(), 1);
    b.advance(seconds(10)).await;
    assert_eq!(b.claim(5).await.len(), 1);
}

async fn nothing_runs_at_zero(b: Bench) {
    let id = keyed(&b, r#"{"key":"k","concurrency":0}"#).await;
    assert!(b.claim(5).await.is_empty());
    keyed(&b, ONE).await;
    assert_eq!(ids(&b.claim(5).await), [id]);
}

async fn reschedule_and_drop(b: Bench) {
    let policy = r#"{"key":"k","rate":{"limit":1,"period":"PT10S"},"on_limit":"reschedule"}"#;
    keyed(&b, policy).await;
    let late = keyed(&b, policy).await;
    assert_eq!(b.claim(5).await.len(), 1);
    let row = b.get(late).await.row;
    assert_eq!((row.state, row.sort_key), (JobState::Scheduled, b.now() + 10_000));
    let (_, shown) = b.http("GET", &format!("/jobs/{late}"), "").await;
    assert_eq!(shown["job"]["scheduled_at"], Timestamp::from_millis(row.sort_key).to_string());
    b.advance(seconds(10)).await;
    assert_eq!(ids(&b.claim(5).await), [late]);
    let policy = r#"{"key":"d","concurrency":1,"on_limit":"drop"}"#;
    keyed(&b, policy).await;
    let dropped = keyed(&b, policy).await;
    assert_eq!(b.claim(5).await.len(), 1);
    assert_eq!(b.state(dropped).await, JobState::Discarded);
    assert!(b.story(dropped).await.contains(&"rate_limit.dropped".to_owned()));
}

/// A node that has never seen a key claims a job of the first one, which another node has just stored.
#[tokio::test]
async fn a_node_claims_jobs_of_a_key_that_it_has_not_heard_of() {
    for _ in 0..20 {
        let b = Bench::postgres().await;
        let other = crate::nodes::second_node(&b).await;
        // The second node has asked for keys, and found none.
        assert!(other.claim(1).await.is_empty());
        let request = request(ONE, "");
        let requests = [request.as_str()];
        let (stored, mut claimed) = tokio::join!(b.try_enqueue(&requests), other.claim(1));
        if claimed.is_empty() {
            claimed = other.claim(1).await;
        }
        assert_eq!(ids(&claimed), [stored.unwrap()[0].row.id]);
        other.engine.close().await;
    }
}

async fn ei_r002_retried_or_new_jobs_first(b: Bench) {
    for (priority, retried_first) in [("equal", false), ("prefer_retry", true), ("prefer_new", false)] {
        let policy = format!(r#"{{"key":"{priority}","concurrency":1,"retry_priority":"{priority}"}}"#);
        let old = keyed(&b, &policy).await;
        let job = b.claim(1).await.remove(0);
        let new = keyed(&b, &policy).await;
        b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
        b.advance(Duration::from_millis(60)).await;
        let first = b.claim(5).await.remove(0);
        assert_eq!(first.row.id, if retried_first { old } else { new }, "{priority}");
        b.ack(&first).await.unwrap();
        let second = b.claim(5).await.remove(0);
        b.ack(&second).await.unwrap();
    }
    let policy = r#"{"key":"late","concurrency":1,"retry_priority":"prefer_new"}"#;
    let job = {
        keyed(&b, policy).await;
        b.claim(1).await.remove(0)
    };
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(Duration::from_millis(60)).await;
    let new = keyed(&b, policy).await;
    assert_eq!(ids(&b.claim(1).await), [new], "though it came later");
}

async fn a_better_job_passes_those_that_wait(b: Bench) {
    for _ in 0..3 {
        keyed(&b, ONE).await;
    }
    let urgent = b.enqueue(&request(ONE, r#""priority":10,"#)).await;
    assert_eq!(ids(&b.claim(5).await), [urgent]);
}

/// EI-003 and EI-R006, with the tenant in `meta`.
async fn ei_r006_a_policy_has_the_scope_tenant_or_global(b: Bench) {
    let job = |scope: &str| {
        format!(
            r#"{{"type":"t","args":[],"options":{{"queue":"q","rate_limit":{{"key":"k","concurrency":1,"scope":{scope}}}}}}}"#
        )
    };
    for scope in ["tenant", "global"] {
        let (status, answer) = b.http("POST", "/jobs", &job(&format!("\"{scope}\""))).await;
        assert_eq!((status, &answer["job"]["rate_limit"]["scope"]), (201, &serde_json::json!(scope)), "{answer}");
    }
    for wrong in ["\"queue\"", "7", "{}"] {
        let (status, answer) = b.http("POST", "/jobs", &job(wrong)).await;
        assert_eq!(status, 400, "{answer}");
        let field = answer["error"]["details"]["field"].as_str().unwrap_or_default();
        assert!(field.ends_with("scope"), "{answer}");
    }
}

async fn ei_003_keys_of_tenants_are_apart(b: Bench) {
    let of = |tenant: &str, scope: &str| {
        format!(
            r#"{{"type":"t","args":[],"meta":{{"tenant_id":"{tenant}"}},"options":{{"queue":"q","rate_limit":{{"key":"api:x","concurrency":1,"scope":"{scope}"}}}}}}"#
        )
    };
    for tenant in ["a", "a", "b", "b"] {
        b.enqueue(&of(tenant, "tenant")).await;
    }
    assert_eq!(b.claim(10).await.len(), 2);
    assert_eq!(keys(&b, "api:x").await.iter().map(|view| view.active).collect::<Vec<_>>(), [1, 1]);
    for tenant in ["a", "b"] {
        b.enqueue(&of(tenant, "global")).await;
    }
    assert_eq!(b.claim(10).await.len(), 1);
    let (status, refused) = b.http("POST", "/jobs", &of("a", "planet")).await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("rate_limit.scope")));
    let (_, shown) = b.http("GET", "/rate-limits/api:x", "").await;
    let scopes: Vec<_> = shown["partitions"].as_array().unwrap().iter().map(|one| (&one["scope"], &one["tenant_id"])).collect();
    let (tenant, global) = (json!("tenant"), json!("global"));
    assert_eq!(scopes, [(&global, &Value::Null), (&tenant, &json!("a")), (&tenant, &json!("b"))]);
}

async fn a_worker_closes_a_key_for_a_while(b: Bench) {
    let policy = r#"{"key":"k","concurrency":5}"#;
    for _ in 0..3 {
        keyed(&b, policy).await;
    }
    let job = b.claim(1).await.remove(0);
    let until = Timestamp::from_millis(b.now() + 5_000);
    b.nack(&job, &format!(r#"{{"code":"429","message":"slow down","rate_limit_until":"{until}"}}"#)).await.unwrap();
    b.advance(seconds(4)).await;
    assert!(b.claim(5).await.is_empty());
    b.advance(seconds(1)).await;
    assert_eq!(b.claim(5).await.len(), 3);
}

async fn an_override_holds_until_it_ends(b: Bench) {
    for _ in 0..4 {
        keyed(&b, ONE).await;
    }
    let command = |most, until| OverrideLimit {
        tenant: String::new(),
        key: "k".to_owned(),
        limits: Some(Limits { concurrency: Some(most), on_limit: OnLimit::Wait, ..Limits::default() }),
        until: Timestamp::from_millis(until),
    };
    b.engine.store().execute(command(0, b.now() + 60_000)).await.unwrap();
    assert!(b.claim(5).await.is_empty());
    b.advance(seconds(60)).await;
    let job = b.claim(5).await.remove(0);
    // What a key is shown as can be sent back.
    let until = Timestamp::from_millis(b.now() + 10_000);
    let shown = format!(r#"{{"concurrency":{{"limit":3,"active":1,"available":0}},"expires_at":"{until}"}}"#);
    assert_eq!(b.http("PUT", "/rate-limits/k", &shown).await.0, 200);
    assert_eq!(b.claim(5).await.len(), 2);
    b.ack(&job).await.unwrap();
    b.advance(seconds(10)).await;
    assert!(b.claim(5).await.is_empty(), "two run, one may");
    assert!(
        b.engine
            .store()
            .execute(OverrideLimit {
                tenant: String::new(),
                key: "nobody".into(),
                limits: None,
                until: Timestamp::from_millis(0)
            })
            .await
            .is_err()
    );
}

async fn new_limits_count_at_once(b: Bench) {
    for _ in 0..5 {
        keyed(&b, ONE).await;
    }
    assert_eq!(b.claim(9).await.len(), 1);
    keyed(&b, r#"{"key":"k","concurrency":4}"#).await;
    assert_eq!(b.claim(9).await.len(), 3);
    keyed(&b, r#"{"key":"k"}"#).await;
    assert!(b.claim(9).await.is_empty(), "a job that only names the key changes nothing");
}

async fn a_key_spans_queues(b: Bench) {
    let elsewhere = request(ONE, "").replace("\"q\"", "\"r\"");
    b.enqueue(&elsewhere).await;
    b.enqueue(&elsewhere).await;
    keyed(&b, ONE).await;
    let job = b.claim(5).await.remove(0);
    assert!(b.claim_for(Some("w"), &["r"], 5).await.is_empty());
    b.ack(&job).await.unwrap();
    assert_eq!(b.claim_for(Some("w"), &["r"], 5).await.len(), 1, "a claim on another queue does not hold up a key");
}

async fn the_events_of_a_key(b: Bench) {
    for _ in 0..3 {
        keyed(&b, ONE).await;
    }
    let job = b.claim(5).await.remove(0);
    b.ack(&job).await.unwrap();
    let (events, _, _) = b.events(EventFilter::default()).await;
    let events: Vec<_> = events.iter().filter(|event| event.name.starts_with("rate_limit.")).collect();
    assert_eq!(
        events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(),
        ["rate_limit.exceeded", "rate_limit.released"]
    );
    assert_eq!(events[0].data, r#"{"key":"k","strategy":"concurrency","limit":1,"current":1}"#);
    assert!(events[1].data.contains(&job.row.id.to_string()));
}

async fn a_cancelled_head_lets_the_next_come_up(b: Bench) {
    let head = keyed(&b, ONE).await;
    let next = keyed(&b, ONE).await;
    b.change(Cancel(head)).await.unwrap();
    assert_eq!(ids(&b.claim(5).await), [next]);
}

async fn one_job_behind_a_crowd(b: Bench) {
    const CROWD: usize = 5_000;
    let crowded = request(ONE, r#""priority":50,"#);
    for _ in 0..CROWD / 500 {
        b.try_enqueue(&vec![crowded.as_str(); 500]).await.unwrap();
    }
    let alone = b.job().await;
    assert_eq!(b.claim(1).await.len(), 1);
    assert_eq!(ids(&b.claim(1).await), [alone]);
    assert!(b.claim(1).await.is_empty());
    let view = &keys(&b, "k").await[0];
    assert_eq!((view.active, view.waiting), (1, CROWD as i64 - 1));
}
