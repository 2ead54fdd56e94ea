//! Shared queues: keys get jobs handed out in turn, in proportion to their weights (extensions sections 10 and 22).
use std::collections::BTreeMap;
use std::sync::Arc;

use ojs_engine::Handlers;
use ojs_engine::command::{Claim, EmptyQueue, Outcome, SetPriority};
use ojs_engine::job::JobView;
use ojs_engine::{EventFilter, holds::Holds};
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};

crate::on_every_store!(
    weights_of_1_2_4_give_shares_within_five_per_cent,
    a_heavy_tenant_delays_the_others_by_no_more_than_its_share,
    a_tenant_that_was_idle_gains_nothing_by_it,
    the_weight_of_a_tenant_stands_in_its_limits_and_the_queue_overrides_it,
    a_change_of_weights_counts_for_jobs_that_wait,
    the_figures_of_a_tenant_say_its_share,
    the_highest_priority_comes_first_and_keys_take_turns_within_it,
    keys_of_jobs_share_a_queue_that_is_shared_by_keys,
    a_retried_or_scheduled_job_stands_in_the_line_of_its_key_again,
    jobs_that_wait_when_sharing_begins_or_ends_are_brought_into_their_lines,
    many_jobs_are_brought_into_their_lines_in_slices_and_none_is_passed_over,
    limits_hold_jobs_of_a_shared_queue_and_let_them_go,
    versions_and_job_types_are_kept_in_a_shared_queue,
    a_worker_of_one_tenant_takes_no_turn_of_the_others,
    jobs_that_move_to_a_shared_queue_join_the_lines_there,
    a_queue_that_is_deleted_and_made_again_is_not_shared,
    a_pool_divides_a_claim_and_a_shared_queue_its_part,
    what_is_no_sharing_is_refused_and_not_stored,
    a_shared_queue_is_shown_changed_and_there_after_a_restart,
);

impl Bench {
    /// Shares queue `q`.
    pub async fn share(&self, settings: Value) {
        let (status, body) = self.http("PUT", "/admin/queues/q/fairness", &settings.to_string()).await;
        assert!(matches!(status, 200 | 201), "{body}");
    }

    /// Stores so many jobs of a tenant in queue `q`, with these options.
    pub async fn fill(&self, tenant: &str, count: usize, mut options: Value) -> Vec<JobId> {
        options["queue"] = json!("q");
        let meta = if tenant.is_empty() { json!({}) } else { json!({"tenant_id": tenant}) };
        let job = json!({"type": "t", "args": [], "meta": meta, "options": options}).to_string();
        let mut ids = Vec::with_capacity(count);
        for slice in vec![job.as_str(); count].chunks(1_000) {
            ids.extend(self.try_enqueue(slice).await.unwrap().iter().map(|job| job.row.id));
        }
        ids
    }

    /// Claims all jobs one by one, and acks each.
    async fn drain(&self) -> Vec<JobView> {
        let mut all = Vec::new();
        while let Some(job) = self.claim(1).await.pop() {
            self.ack(&job).await.unwrap();
            all.push(job);
        }
        all
    }
}

/// The tenant of a job; empty for the default one.
pub fn tenant(job: &JobView) -> String {
    let envelope: Value = serde_json::from_str(&format!("{{{}}}", job.body.text)).unwrap();
    envelope["meta"]["tenant_id"].as_str().unwrap_or_default().to_owned()
}

fn key(job: &JobView) -> String {
    let envelope: Value = serde_json::from_str(&format!("{{{}}}", job.body.text)).unwrap();
    envelope["fairness_key"].as_str().unwrap_or_default().to_owned()
}

pub fn counted(names: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for name in names {
        *found.entry(name).or_default() += 1;
    }
    found
}

pub fn given(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

fn ids(jobs: &[JobView]) -> Vec<JobId> {
    jobs.iter().map(|job| job.row.id).collect()
}

async fn weights_of_1_2_4_give_shares_within_five_per_cent(b: Bench) {
    b.share(json!({"strategy": "fair-share", "weights": {"a": 1, "b": 2, "c": 4}})).await;
    for name in ["c", "a", "b"] {
        b.fill(name, 500, json!({})).await;
    }
    let mut jobs = Vec::new();
    for count in [1, 1, 2, 3, 5, 10, 30, 48, 100, 150] {
        let claimed = b.claim(count).await;
        assert_eq!(claimed.len(), count);
        jobs.extend(claimed);
    }
    let found = counted(jobs.iter().map(tenant));
    for (name, wanted) in [("a", 50.0), ("b", 100.0), ("c", 200.0)] {
        let share = found[name] as f64 / wanted;
        assert!((0.95..=1.05).contains(&share), "{found:?}");
    }
}

async fn a_heavy_tenant_delays_the_others_by_no_more_than_its_share(b: Bench) {
    const HEAVY: usize = 20_000;
    b.share(json!({})).await;
    let mut medians = Vec::new();
    for heavy in [0, HEAVY] {
        b.fill("heavy", heavy, json!({})).await;
        for number in 0..9 {
            b.fill(&format!("t{number}"), 20, json!({})).await;
        }
        let mut waits = Vec::new();
        for at in 1_usize.. {
            let job = b.claim(1).await.pop().unwrap();
            b.ack(&job).await.unwrap();
            if tenant(&job) != "heavy" {
                waits.push(at);
            }
            if waits.len() == 9 * 20 {
                break;
            }
        }
        medians.push(waits[waits.len() / 2]);
    }
    assert!(medians[1] <= 2 * medians[0], "{medians:?}");
    assert!(b.counts("q").await[JobState::Available as usize] > 19_000, "the heavy tenant has most of its jobs left");
}

async fn a_tenant_that_was_idle_gains_nothing_by_it(b: Bench) {
    b.share(json!({})).await;
    b.fill("a", 60, json!({})).await;
    b.claim(20).await;
    b.fill("b", 30, json!({})).await;
    assert_eq!(counted(b.claim(20).await.iter().map(tenant)), given(&[("a", 10), ("b", 10)]));
    assert_eq!(counted(b.claim(20).await.iter().map(tenant)), given(&[("a", 10), ("b", 10)]));
}

async fn the_weight_of_a_tenant_stands_in_its_limits_and_the_queue_overrides_it(b: Bench) {
    let limits = json!({"fairness_weight": 3}).to_string();
    let (_, shown) = b.http("PUT", "/admin/tenants/a/limits", &limits).await;
    assert_eq!(shown["limits"]["fairness_weight"], 3);
    b.share(json!({})).await;
    for name in ["a", "b", ""] {
        b.fill(name, 40, json!({})).await;
    }
    assert_eq!(counted(b.claim(20).await.iter().map(tenant)), given(&[("", 4), ("a", 12), ("b", 4)]));
    b.share(json!({"weights": {"a": 1, "_default": 2}, "default_weight": 2})).await;
    assert_eq!(counted(b.claim(20).await.iter().map(tenant)), given(&[("", 8), ("a", 4), ("b", 8)]));
}

async fn a_change_of_weights_counts_for_jobs_that_wait(b: Bench) {
    b.share(json!({})).await;
    for name in ["a", "b"] {
        b.fill(name, 60, json!({})).await;
    }
    assert_eq!(counted(b.claim(20).await.iter().map(tenant)), given(&[("a", 10), ("b", 10)]));
    b.share(json!({"weights": {"b": 4}})).await;
    assert_eq!(counted(b.claim(20).await.iter().map(tenant)), given(&[("a", 4), ("b", 16)]));
    let (events, _, _) =
        b.events(EventFilter { types: vec!["scheduling.rebalanced".into()], limit: 10, ..EventFilter::default() }).await;
    assert_eq!(events.len(), 2);
}

async fn the_figures_of_a_tenant_say_its_share(b: Bench) {
    b.http("PUT", "/admin/tenants/a/limits", r#"{"fairness_weight":3}"#).await;
    b.share(json!({})).await;
    for name in ["a", "b", ""] {
        b.fill(name, 20, json!({})).await;
    }
    let shares = async |name: &str| b.http("GET", &format!("/admin/tenants/{name}/stats"), "").await.1["fairness"].clone();
    assert_eq!(shares("a").await, json!({"weight": 3, "effective_share": 0.75, "actual_share": 0.0}));
    b.claim(10).await;
    assert_eq!(shares("a").await, json!({"weight": 3, "effective_share": 0.75, "actual_share": 0.75}));
    assert_eq!(shares("b").await, json!({"weight": 1, "effective_share": 0.25, "actual_share": 0.25}));
    assert_eq!(shares("_default").await, Value::Null);
}

async fn the_highest_priority_comes_first_and_keys_take_turns_within_it(b: Bench) {
    b.share(json!({})).await;
    b.fill("a", 6, json!({})).await;
    b.fill("a", 2, json!({"priority": 10})).await;
    b.fill("b", 3, json!({"priority": 10})).await;
    let raised = b.fill("b", 3, json!({"priority": -5})).await.remove(2);
    b.change(SetPriority(raised, 10)).await.unwrap();
    let order: Vec<(String, i32)> = b.drain().await.iter().map(|job| (tenant(job), job.row.priority)).collect();
    let wanted: Vec<(String, i32)> = [("a", 10), ("b", 10), ("a", 10), ("b", 10), ("b", 10), ("b", 10)]
        .into_iter()
        .chain([("a", 0); 6])
        .chain([("b", -5); 2])
        .map(|(name, priority)| (name.to_owned(), priority))
        .collect();
    assert_eq!(order, wanted);
}

async fn keys_of_jobs_share_a_queue_that_is_shared_by_keys(b: Bench) {
    b.share(json!({"by": "key", "weights": {"user:7": 2}})).await;
    b.fill("", 50, json!({"fairness_key": "user:7"})).await;
    b.fill("", 50, json!({"fairness_key": "user:8"})).await;
    // The same key of another tenant is another key; jobs without one share that of their tenant.
    b.fill("acme", 50, json!({"fairness_key": "user:7"})).await;
    b.fill("acme", 50, json!({})).await;
    let jobs = b.claim(60).await;
    let names = jobs.iter().map(|job| format!("{}/{}", tenant(job), key(job)));
    assert_eq!(counted(names), given(&[("/user:7", 20), ("/user:8", 10), ("acme/", 10), ("acme/user:7", 20)]));
    let named = jobs.iter().filter(|job| !key(job).is_empty()).count();
    assert_eq!(named, 50, "the key comes back with the job");
}

async fn a_retried_or_scheduled_job_stands_in_the_line_of_its_key_again(b: Bench) {
    b.share(json!({"by": "key"})).await;
    let retry = json!({"initial_interval": "PT1S", "jitter": false});
    let later = b.fill("", 1, json!({"fairness_key": "late", "delay_until": "+PT1S"})).await.remove(0);
    let failed = b.fill("", 1, json!({"fairness_key": "light", "retry": retry})).await.remove(0);
    let job = b.claim(1).await.remove(0);
    assert_eq!(job.row.id, failed);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.fill("", 30, json!({"fairness_key": "heavy"})).await;
    b.advance(seconds(2)).await;
    let first: Vec<JobId> = ids(&b.claim(3).await);
    assert!(first.contains(&failed) && first.contains(&later), "each key has its turn");
    let released = b.claim(1).await.remove(0);
    let outcome = Outcome::Release(0);
    b.settle(released.row.id, Some(released.row.lease), outcome).await.unwrap();
    assert_eq!(b.get(released.row.id).await.row.holds, Holds::FAIR_SHARE);
    assert_eq!(b.drain().await.len(), 29);
}

async fn jobs_that_wait_when_sharing_begins_or_ends_are_brought_into_their_lines(b: Bench) {
    let mut order = b.fill("a", 5, json!({})).await;
    order.extend(b.fill("b", 5, json!({})).await);
    b.share(json!({})).await;
    assert_eq!(b.claim(4).await.iter().map(tenant).collect::<Vec<_>>(), ["a", "b", "a", "b"]);
    assert_eq!(b.http("DELETE", "/admin/queues/q/fairness", "").await.0, 200);
    order.extend(b.fill("c", 1, json!({})).await);
    let rest = ids(&b.drain().await);
    let wanted: Vec<JobId> = [2, 3, 4, 7, 8, 9, 10].map(|at| order[at]).to_vec();
    assert_eq!(rest, wanted, "in the order of the queue");
    assert_eq!(b.http("DELETE", "/admin/queues/q/fairness", "").await.0, 404);
}

async fn many_jobs_are_brought_into_their_lines_in_slices_and_none_is_passed_over(b: Bench) {
    b.fill("a", 1_200, json!({})).await;
    b.fill("b", 30, json!({})).await;
    b.share(json!({})).await;
    // The request has sorted a slice, and so does each claim. On PostgreSQL a sweep in the background may hold the last
    // slice, which has the jobs of `b`, while claims go on with others.
    let most = if b.database.is_some() { 1_000 } else { 3 };
    let mut early = Vec::new();
    while early.last() != Some(&"b".to_owned()) {
        early.extend(b.claim(1).await.iter().map(tenant));
        assert!(early.len() <= most, "{:?}", counted(early));
    }
    assert_eq!(counted(b.claim(20).await.iter().map(tenant)), given(&[("a", 10), ("b", 10)]));
    let mut rest = Vec::new();
    for _ in 0..4 {
        // When this has been answered, the slice that a sweep in the background has held is in its lines.
        b.engine.store().sweep().await.unwrap();
        rest.extend(ids(&b.claim(2_000).await));
    }
    rest.sort();
    rest.dedup();
    assert_eq!(rest.len(), 1_210 - early.len());
    assert!(b.claim(1).await.is_empty());
}

async fn limits_hold_jobs_of_a_shared_queue_and_let_them_go(b: Bench) {
    b.share(json!({})).await;
    let (status, _) = b.http("PUT", "/admin/tenants/slow/limits", r#"{"max_concurrency":1}"#).await;
    assert_eq!(status, 200);
    b.fill("slow", 3, json!({})).await;
    b.fill("a", 3, json!({"rate_limit": {"key": "k", "concurrency": 1}})).await;
    b.fill("b", 2, json!({})).await;
    let first = b.claim(10).await;
    assert_eq!(counted(first.iter().map(tenant)), given(&[("a", 1), ("b", 2), ("slow", 1)]));
    let mut active = first;
    let mut done = 0;
    while let Some(job) = active.pop() {
        b.ack(&job).await.unwrap();
        done += 1;
        active.extend(b.claim(10).await);
        assert!(counted(active.iter().map(tenant)).values().all(|count| *count <= 2));
    }
    assert_eq!(done, 8);
}

async fn versions_and_job_types_are_kept_in_a_shared_queue(b: Bench) {
    b.share(json!({})).await;
    for (job_type, version, meta) in [("mail", "1.0", "a"), ("mail", "2.0", "a"), ("mail", "2.0", "b"), ("sms", "1.0", "b")] {
        let job = json!({
            "type": job_type, "args": [], "version": version, "meta": {"tenant_id": meta}, "options": {"queue": "q"},
        });
        b.enqueue(&job.to_string()).await;
        b.enqueue(&json!({"type": job_type, "args": [], "meta": {"tenant_id": meta}, "options": {"queue": "q"}}).to_string())
            .await;
    }
    let handlers = Handlers::parse(&json!([{"type": "mail", "versions": ">=2.0 <3.0"}])).unwrap();
    let base = Claim { queues: vec!["q".into()], count: 10, worker: Some("w".into()), ..Claim::default() };
    let claim = Claim { handlers: Some(Arc::new(handlers)), types: vec!["mail".into()], ..base.clone() };
    let jobs = b.exchange(Vec::new(), Some(claim)).await.1;
    let versions = jobs.iter().filter(|job| job.row.version > 0).count();
    assert_eq!((jobs.len(), versions), (5, 2), "three without a version, two of 2.0");
    let sms = b.exchange(Vec::new(), Some(Claim { types: vec!["sms".into()], ..base })).await.1;
    assert_eq!(sms.len(), 2);
    assert_eq!(b.drain().await.len(), 1);
}

async fn a_worker_of_one_tenant_takes_no_turn_of_the_others(b: Bench) {
    b.share(json!({"by": "key"})).await;
    for (name, key) in [("a", "x"), ("a", "y"), ("b", "x"), ("c", "x")] {
        b.fill(name, 20, json!({"fairness_key": key})).await;
    }
    for _ in 0..4 {
        assert_eq!(counted(b.fetch_of(Some("a"), 2).await.iter().map(|job| job["fairness_key"].to_string())).len(), 2);
        b.claim(2).await;
    }
    let left = counted(b.claim(100).await.iter().map(tenant));
    assert_eq!(left, given(&[("a", 28), ("b", 18), ("c", 18)]), "the other claims have gone round all four keys twice");
}

async fn jobs_that_move_to_a_shared_queue_join_the_lines_there(b: Bench) {
    b.share(json!({})).await;
    for name in ["a", "a", "b"] {
        b.enqueue(&format!(r#"{{"type":"t","args":[],"meta":{{"tenant_id":"{name}"}},"options":{{"queue":"old"}}}}"#)).await;
    }
    let empty = |from: &str, to: &str| EmptyQueue { queue: from.into(), target: Some(to.into()) };
    b.engine.store().execute(empty("old", "q")).await.unwrap();
    assert_eq!(b.claim(2).await.iter().map(tenant).collect::<Vec<_>>(), ["a", "b"]);
    b.engine.store().execute(empty("q", "old")).await.unwrap();
    assert_eq!(b.claim_for(Some("w"), &["old"], 9).await.len(), 1);
}

async fn a_queue_that_is_deleted_and_made_again_is_not_shared(b: Bench) {
    b.share(json!({})).await;
    assert_eq!(b.http("DELETE", "/queues/q", "").await.0, 200);
    b.fill("a", 2, json!({})).await;
    b.fill("b", 1, json!({})).await;
    assert_eq!(b.http("GET", "/admin/queues/q/fairness", "").await.0, 404);
    assert_eq!(b.drain().await.iter().map(tenant).collect::<Vec<_>>(), ["a", "a", "b"]);
}

async fn a_pool_divides_a_claim_and_a_shared_queue_its_part(b: Bench) {
    assert_eq!(b.http("PUT", "/admin/pools/p", r#"{"queues":["q","other"]}"#).await.0, 201);
    b.share(json!({})).await;
    b.fill("a", 20, json!({})).await;
    b.fill("b", 20, json!({})).await;
    for _ in 0..20 {
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    }
    let jobs = b.claim_for(Some("w"), &["q", "other"], 12).await;
    assert_eq!(
        counted(jobs.iter().map(|job| format!("{}{}", job.queue, tenant(job)))),
        given(&[("other", 6), ("qa", 3), ("qb", 3)])
    );
}

async fn what_is_no_sharing_is_refused_and_not_stored(b: Bench) {
    for (body, field) in [
        (json!({"by": "colour"}), "by"),
        (json!({"strategy": "strict"}), "strategy"),
        (json!({"default_weight": 0}), "default_weight"),
        (json!({"weights": []}), "weights"),
        (json!({"weights": {"a": 1001}}), "weights.a"),
        (json!({"weights": {"a/b": 1}}), "weights.a/b"),
        (json!({"enabled": 1}), "enabled"),
        (json!({"weight": {}}), "weight"),
    ] {
        let (status, answer) = b.http("PUT", "/admin/queues/q/fairness", &body.to_string()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{answer}");
    }
    assert_eq!(b.http("PUT", "/admin/queues/Q!/fairness", "{}").await.0, 400);
    assert_eq!(b.http("GET", "/admin/queues/q/fairness", "").await.0, 404);
    assert_eq!(b.http("GET", "/queues/q", "").await.0, 404, "no queue was made");
    let wrong = json!({"type": "t", "args": [], "options": {"queue": "q", "fairness_key": "a b"}}).to_string();
    let (status, answer) = b.http("POST", "/jobs", &wrong).await;
    assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!("fairness_key")));
    let (status, answer) = b.http("PUT", "/admin/tenants/a/limits", r#"{"fairness_weight":0.5}"#).await;
    assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!("fairness_weight")));
}

async fn a_shared_queue_is_shown_changed_and_there_after_a_restart(b: Bench) {
    let (status, made) = b.http("PUT", "/admin/queues/q/fairness", r#"{"by":"key","weights":{"vip":5}}"#).await;
    assert_eq!(
        (status, &made["by"], &made["weights"], &made["default_weight"]),
        (201, &json!("key"), &json!({"vip": 5}), &json!(1))
    );
    assert_eq!((&made["strategy"], &made["enabled"], &made["queue"]), (&json!("fair-share"), &json!(true), &json!("q")));
    b.advance(seconds(5)).await;
    let (status, changed) = b.http("PUT", "/admin/queues/q/fairness", r#"{"by":"tenant"}"#).await;
    assert_eq!((status, &changed["weights"], &changed["created_at"]), (200, &json!({}), &made["created_at"]));
    assert_ne!(changed["updated_at"], made["updated_at"]);
    for name in ["a", "b"] {
        b.fill(name, 4, json!({})).await;
    }
    let b = if b.engine.options().store.to_string().starts_with("memory") { b } else { b.reopened().await };
    assert_eq!(b.http("GET", "/admin/queues/q/fairness", "").await.1, changed);
    assert_eq!(b.claim(3).await.iter().map(tenant).collect::<Vec<_>>(), ["a", "b", "a"]);
    assert_eq!(b.http("PUT", "/admin/queues/q/fairness", r#"{"enabled":false}"#).await.0, 200);
    assert_eq!(b.http("GET", "/admin/queues/q/fairness", "").await.0, 404);
}

#[tokio::test]
async fn two_nodes_share_a_queue_and_change_it_together() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    b.share(json!({"weights": {"b": 3}})).await;
    for name in ["a", "b"] {
        b.fill(name, 100, json!({})).await;
        other.fill(name, 100, json!({})).await;
    }
    let mut jobs = Vec::new();
    for _ in 0..10 {
        jobs.extend(b.claim(4).await);
        jobs.extend(other.claim(4).await);
    }
    assert_eq!(counted(jobs.iter().map(tenant)), given(&[("a", 20), ("b", 60)]));
    assert_eq!(other.http("DELETE", "/admin/queues/q/fairness", "").await.0, 200);
    let (mine, theirs) = tokio::join!(b.claim(400), other.claim(400));
    let mut rest = ids(&mine);
    rest.extend(ids(&theirs));
    while let [job, ..] = b.claim(400).await.as_slice() {
        rest.push(job.row.id);
    }
    rest.sort();
    rest.dedup();
    assert_eq!(rest.len(), 320, "none is lost and none is handed out twice");
}
