//! Pools: a fetch of several queues is divided among them by the strategy of their pool (extensions section 22).
use std::collections::BTreeMap;

use ojs_engine::EventFilter;
use ojs_engine::command::{Exchange, Outcome, OutcomeReport};
use ojs_engine::job::JobView;
use ojs_model::JobState;
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};

crate::on_every_store!(
    fs_001_a_fetch_of_two_queues_is_divided_in_turn,
    fs_002_weights_are_kept_within_five_per_cent,
    fs_002_every_queue_with_a_weight_is_served,
    fs_003_the_deepest_queue_gives_first,
    fs_004_strict_keeps_the_order_of_the_pool,
    a_share_of_each_queue_can_be_guaranteed,
    without_a_pool_the_order_of_the_fetch_counts,
    queues_outside_the_pool_come_where_the_fetch_names_them,
    an_isolated_pool_is_closed_to_other_fetches,
    a_pool_has_a_limit_of_active_jobs,
    a_waiting_fetch_gets_the_place_that_becomes_free,
    empty_and_paused_queues_are_passed_over,
    pools_are_registered_replaced_listed_and_deleted,
    what_is_no_pool_is_refused_and_not_stored,
    a_queue_belongs_to_one_pool,
    the_figures_say_what_each_queue_has_handed_out,
    events_and_metrics_say_what_pools_do,
    pools_are_there_after_a_restart,
);

async fn put(b: &Bench, name: &str, body: Value) -> (u16, Value) {
    b.http("PUT", &format!("/admin/pools/{name}"), &body.to_string()).await
}

/// Stores so many jobs in each queue.
async fn fill(b: &Bench, queues: &[(&str, usize)]) {
    for (queue, count) in queues {
        let job = format!(r#"{{"type":"t","args":[],"options":{{"queue":"{queue}"}}}}"#);
        for slice in vec![job.as_str(); *count].chunks(500) {
            b.try_enqueue(slice).await.unwrap();
        }
    }
}

/// How many jobs each queue has given.
fn by_queue(jobs: &[JobView]) -> BTreeMap<String, usize> {
    let mut given = BTreeMap::new();
    for job in jobs {
        *given.entry(job.queue.to_string()).or_default() += 1;
    }
    given
}

fn given(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    pairs.iter().map(|(queue, count)| ((*queue).to_owned(), *count)).collect()
}

async fn fs_001_a_fetch_of_two_queues_is_divided_in_turn(b: Bench) {
    assert_eq!(put(&b, "p", json!({"queues": ["a", "b"]})).await.0, 201);
    fill(&b, &[("a", 3), ("b", 3)]).await;
    let jobs = b.claim_for(Some("w"), &["a", "b"], 4).await;
    assert_eq!(by_queue(&jobs), given(&[("a", 2), ("b", 2)]));
    let jobs = b.claim_for(Some("w"), &["a", "b"], 9).await;
    assert_eq!(by_queue(&jobs), given(&[("a", 1), ("b", 1)]));
    fill(&b, &[("a", 5), ("b", 5)]).await;
    let mut one_by_one = Vec::new();
    for _ in 0..6 {
        one_by_one.extend(b.claim_for(Some("w"), &["a", "b"], 1).await);
    }
    assert_eq!(by_queue(&one_by_one), given(&[("a", 3), ("b", 3)]), "the turn goes on from claim to claim");
}

async fn fs_002_weights_are_kept_within_five_per_cent(b: Bench) {
    let pool = json!({"strategy": "weighted", "queues": {"a": {"weight": 1}, "b": {"weight": 2}, "c": {"weight": 4}}});
    assert_eq!(put(&b, "p", pool).await.0, 201);
    fill(&b, &[("a", 400), ("b", 400), ("c", 400)]).await;
    let mut jobs = Vec::new();
    for count in [1, 2, 5, 10, 30, 52, 100, 150] {
        jobs.extend(b.claim_for(Some("w"), &["c", "a", "b"], count).await);
    }
    let found = by_queue(&jobs);
    assert_eq!(jobs.len(), 350);
    for (queue, wanted) in [("a", 50.0), ("b", 100.0), ("c", 200.0)] {
        let share = found[queue] as f64 / wanted;
        assert!((0.95..=1.05).contains(&share), "{found:?}");
    }
}

async fn fs_002_every_queue_with_a_weight_is_served(b: Bench) {
    put(&b, "p", json!({"strategy": "weighted", "queues": {"a": {"weight": 1}, "b": {"weight": 99}}})).await;
    fill(&b, &[("a", 3), ("b", 300)]).await;
    let mut jobs = Vec::new();
    for _ in 0..20 {
        jobs.extend(b.claim_for(Some("w"), &["a", "b"], 10).await);
    }
    assert_eq!(by_queue(&jobs), given(&[("a", 2), ("b", 198)]));
    let rest = b.claim_for(Some("w"), &["a", "b"], 1_000).await;
    assert_eq!(by_queue(&rest), given(&[("a", 1), ("b", 102)]), "what one has not, the other gives");
}

async fn fs_003_the_deepest_queue_gives_first(b: Bench) {
    put(&b, "p", json!({"strategy": "least-loaded", "queues": ["a", "b"]})).await;
    fill(&b, &[("a", 2), ("b", 6)]).await;
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a", "b"], 4).await), given(&[("b", 4)]));
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a", "b"], 4).await), given(&[("a", 2), ("b", 2)]));
}

async fn fs_004_strict_keeps_the_order_of_the_pool(b: Bench) {
    put(&b, "p", json!({"strategy": "strict", "queues": ["b", "a"]})).await;
    fill(&b, &[("a", 5), ("b", 3)]).await;
    let jobs = b.claim_for(Some("w"), &["a", "b"], 4).await;
    assert_eq!(jobs.iter().map(|job| &*job.queue).collect::<Vec<_>>(), ["b", "b", "b", "a"], "not that of the fetch");
}

async fn a_share_of_each_queue_can_be_guaranteed(b: Bench) {
    let starvation = json!({"enabled": true, "rotation_interval": "PT30S", "min_dispatch_ratio": 0.1});
    put(&b, "p", json!({"strategy": "strict", "queues": ["a", "b"], "starvation_prevention": starvation})).await;
    fill(&b, &[("a", 200), ("b", 200)]).await;
    let mut jobs = Vec::new();
    for _ in 0..20 {
        jobs.extend(b.claim_for(Some("w"), &["a", "b"], 5).await);
    }
    assert_eq!(by_queue(&jobs), given(&[("a", 90), ("b", 10)]));
    b.clock.advance(seconds(31));
    let again = b.claim_for(Some("w"), &["a", "b"], 10).await;
    assert_eq!(by_queue(&again), given(&[("a", 9), ("b", 1)]), "a new period");
}

async fn without_a_pool_the_order_of_the_fetch_counts(b: Bench) {
    put(&b, "other", json!({"queues": ["x", "y"]})).await;
    fill(&b, &[("a", 3), ("b", 3)]).await;
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["b", "a"], 4).await), given(&[("b", 3), ("a", 1)]));
}

async fn queues_outside_the_pool_come_where_the_fetch_names_them(b: Bench) {
    put(&b, "p", json!({"queues": ["a", "b"]})).await;
    fill(&b, &[("a", 2), ("b", 2), ("first", 1), ("last", 5)]).await;
    let jobs = b.claim_for(Some("w"), &["first", "a", "last", "b"], 6).await;
    assert_eq!(by_queue(&jobs), given(&[("first", 1), ("a", 2), ("b", 2), ("last", 1)]));
}

async fn an_isolated_pool_is_closed_to_other_fetches(b: Bench) {
    put(&b, "p", json!({"queues": ["a", "b"], "isolated": true})).await;
    fill(&b, &[("a", 2), ("b", 2), ("c", 2)]).await;
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a", "b", "c"], 9).await), given(&[("c", 2)]));
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a"], 1).await), given(&[("a", 1)]));
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a", "b"], 9).await), given(&[("a", 1), ("b", 2)]));
}

async fn a_pool_has_a_limit_of_active_jobs(b: Bench) {
    put(&b, "p", json!({"queues": ["a", "b"], "concurrency": 3})).await;
    fill(&b, &[("a", 4), ("b", 4)]).await;
    let jobs = b.claim_for(Some("w"), &["a", "b"], 9).await;
    assert_eq!(jobs.len(), 3);
    assert_eq!(b.claim_for(Some("w"), &["a"], 9).await, [], "a fetch of one queue counts as well");
    b.ack(&jobs[0]).await.unwrap();
    let report = OutcomeReport {
        job: jobs[1].row.id,
        lease: Some(jobs[1].row.lease),
        worker: None,
        outcome: Outcome::Ack(None),
        want_job: false,
    };
    let claim = ojs_engine::command::Claim {
        queues: vec!["a".to_owned(), "b".to_owned()],
        count: 9,
        worker: Some("w".to_owned()),
        ..ojs_engine::command::Claim::default()
    };
    assert_eq!(b.exchange(vec![report], Some(claim)).await.1.len(), 2, "the job that this request ends counts as ended");
}

async fn a_waiting_fetch_gets_the_place_that_becomes_free(b: Bench) {
    put(&b, "p", json!({"queues": ["a", "b"], "concurrency": 1})).await;
    fill(&b, &[("a", 1), ("b", 1)]).await;
    let first = b.claim_for(Some("w"), &["a", "b"], 1).await.remove(0);
    let wanted = if &*first.queue == "a" { "b" } else { "a" };
    let body = json!({"queues": ["a", "b"], "worker_id": "v", "wait_ms": 60_000}).to_string();
    let (fetched, ended) = tokio::join!(b.http("POST", "/workers/fetch", &body), b.ack(&first));
    ended.unwrap();
    assert_eq!(fetched.1["jobs"][0]["queue"], wanted, "{}", fetched.1);
}

async fn empty_and_paused_queues_are_passed_over(b: Bench) {
    put(&b, "p", json!({"strategy": "weighted", "queues": {"a": 50, "b": 1, "never.used": 50}})).await;
    fill(&b, &[("a", 2), ("b", 5)]).await;
    assert_eq!(b.http("POST", "/queues/a/pause", "").await.0, 200);
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a", "b", "never.used"], 3).await), given(&[("b", 3)]));
    assert_eq!(b.http("POST", "/queues/a/resume", "").await.0, 200);
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a", "b", "never.used"], 9).await), given(&[("a", 2), ("b", 2)]));
}

async fn pools_are_registered_replaced_listed_and_deleted(b: Bench) {
    let (status, made) =
        put(&b, "p", json!({"name": "p", "strategy": "weighted", "queues": {"a": {"weight": 70}, "b": {"weight": 30}}})).await;
    assert_eq!((status, &made["pool"]["name"], &made["pool"]["strategy"]), (201, &json!("p"), &json!("weighted")));
    assert_eq!((&made["pool"]["queues"], &made["pool"]["weights"]), (&json!(["a", "b"]), &json!({"a": 70, "b": 30})));
    b.clock.advance(seconds(5));
    let body = json!({"queues": ["c", "b"], "weights": {"c": 3}, "strategy": "round_robin", "concurrency": 4, "isolated": true});
    let (status, replaced) = put(&b, "p", body).await;
    let pool = &replaced["pool"];
    assert_eq!((status, &pool["queues"], &pool["weights"]), (200, &json!(["c", "b"]), &json!({"b": 1, "c": 3})));
    assert_eq!((&pool["concurrency"], &pool["isolated"], &pool["strategy"]), (&json!(4), &json!(true), &json!("round-robin")));
    assert_eq!(pool["created_at"], made["pool"]["created_at"]);
    assert_ne!(pool["updated_at"], made["pool"]["updated_at"]);
    put(&b, "o", json!({"queues": ["a"]})).await;
    let (_, all) = b.http("GET", "/admin/pools", "").await;
    assert_eq!(all["pools"].as_array().unwrap().iter().map(|pool| &pool["name"]).collect::<Vec<_>>(), ["o", "p"]);
    assert_eq!(b.http("DELETE", "/admin/pools/p", "").await.0, 200);
    assert_eq!(b.http("DELETE", "/admin/pools/p", "").await.0, 404);
    fill(&b, &[("b", 1), ("c", 3)]).await;
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["c", "b"], 3).await), given(&[("c", 3)]), "the order of the fetch again");
}

async fn what_is_no_pool_is_refused_and_not_stored(b: Bench) {
    for (body, field) in [
        (json!({}), "queues"),
        (json!({"queues": []}), "queues"),
        (json!({"queues": ["A"]}), "queues"),
        (json!({"queues": ["a", "a"]}), "queues"),
        (json!({"queues": [7]}), "queues"),
        (json!({"queues": ["a"], "strategy": "random"}), "strategy"),
        (json!({"queues": {"a": {"weight": 0}}}), "weights"),
        (json!({"queues": ["a"], "weights": {"a": 1.5}}), "weights"),
        (json!({"queues": ["a"], "weights": {"b": 1}}), "weights"),
        (json!({"queues": ["a"], "concurrency": 0}), "concurrency"),
        (json!({"queues": ["a"], "isolated": "yes"}), "isolated"),
        (json!({"queues": ["a"], "name": "q"}), "name"),
        (json!({"queues": ["a"], "starvation_prevention": true}), "starvation_prevention"),
        (
            json!({"queues": ["a"], "starvation_prevention": {"rotation_interval": "soon"}}),
            "starvation_prevention.rotation_interval",
        ),
        (
            json!({"queues": ["a", "b"], "starvation_prevention": {"min_dispatch_ratio": 0.6}}),
            "starvation_prevention.min_dispatch_ratio",
        ),
    ] {
        let (status, answer) = put(&b, "p", body.clone()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{body}: {answer}");
    }
    assert_eq!(put(&b, "Pool", json!({"queues": ["a"]})).await.1["error"]["details"]["field"], "name");
    assert_eq!(b.http("GET", "/admin/pools", "").await.1["pools"], json!([]));
}

async fn a_queue_belongs_to_one_pool(b: Bench) {
    put(&b, "p", json!({"queues": ["a", "b"]})).await;
    let (status, answer) = put(&b, "o", json!({"queues": ["c", "b"]})).await;
    assert_eq!((status, &answer["error"]["details"]["pool"]), (409, &json!("p")), "{answer}");
    assert_eq!(b.http("GET", "/admin/pools", "").await.1["pools"].as_array().unwrap().len(), 1);
    put(&b, "p", json!({"queues": ["a"]})).await;
    assert_eq!(put(&b, "o", json!({"queues": ["c", "b"]})).await.0, 201);
}

async fn the_figures_say_what_each_queue_has_handed_out(b: Bench) {
    let (_, none) = b.http("GET", "/admin/scheduling/stats", "").await;
    assert_eq!((&none["stats"]["pools"], &none["window"]), (&json!([]), &json!("PT5M")));
    put(&b, "p", json!({"strategy": "weighted", "queues": {"a": {"weight": 1}, "b": {"weight": 3}}, "concurrency": 10})).await;
    fill(&b, &[("a", 10), ("b", 10)]).await;
    b.claim_for(Some("w"), &["a", "b"], 8).await;
    let (_, stats) = b.http("GET", "/admin/scheduling/stats", "").await;
    let pool = &stats["stats"]["pools"][0];
    assert_eq!((&pool["dispatched"], &pool["active"], &pool["utilization"]), (&json!(8), &json!(8), &json!(0.8)), "{stats}");
    let queues: Vec<(&Value, &Value, &Value)> = stats["queues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|queue| (&queue["queue"], &queue["dispatched"], &queue["dispatch_ratio"]))
        .collect();
    assert_eq!(queues, [(&json!("a"), &json!(2), &json!(0.25)), (&json!("b"), &json!(6), &json!(0.75))]);
    assert_eq!((&stats["queues"][1]["available"], &stats["queues"][1]["active"]), (&json!(4), &json!(6)));
}

async fn events_and_metrics_say_what_pools_do(b: Bench) {
    let guarantee = json!({"enabled": true, "min_dispatch_ratio": 0.1});
    let pool = json!({"strategy": "strict", "queues": ["a", "b"], "concurrency": 40, "starvation_prevention": guarantee});
    put(&b, "p", pool).await;
    fill(&b, &[("a", 60), ("b", 60)]).await;
    assert_eq!(b.claim_for(Some("w"), &["a", "b"], 100).await.len(), 40);
    for _ in 0..2 {
        assert!(b.claim_for(Some("w"), &["a", "b"], 1).await.is_empty());
    }
    let filter = EventFilter { types: vec!["scheduling.*".into()], limit: 100, ..EventFilter::default() };
    let (events, _, _) = b.events(filter).await;
    let names: Vec<String> = events.iter().map(|event| event.name.to_string()).collect();
    assert_eq!(names, ["scheduling.rebalanced", "scheduling.queue_starved", "scheduling.pool_overloaded"]);
    let (_, text) = crate::figures::scrape(&b, "application/openmetrics-text").await;
    for line in [
        r#"ojs_scheduling_dispatch_total{pool="p",queue="a"} 36"#,
        r#"ojs_scheduling_dispatch_ratio{pool="p",queue="b"} 0.1"#,
        r#"ojs_scheduling_pool_utilization{pool="p"} 1.0"#,
        "ojs_scheduling_starvation_events_total 1",
        r#"ojs_scheduling_queue_wait_duration_seconds_count{pool="p",queue="a"} 36"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
}

async fn pools_are_there_after_a_restart(b: Bench) {
    put(&b, "p", json!({"queues": ["a", "b"]})).await;
    fill(&b, &[("a", 3), ("b", 3)]).await;
    let b = if b.engine.options().store.to_string().starts_with("memory") { b } else { b.reopened().await };
    assert_eq!(by_queue(&b.claim_for(Some("w"), &["a", "b"], 4).await), given(&[("a", 2), ("b", 2)]));
    assert_eq!(b.counts("a").await[JobState::Active as usize], 2);
}

#[tokio::test]
async fn two_nodes_know_a_pool_and_keep_its_limit_together() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    // The second node has claimed before there was a pool.
    assert_eq!(other.claim_for(Some("v"), &["a", "b"], 1).await, []);
    put(&b, "p", json!({"queues": ["a", "b"], "concurrency": 5})).await;
    fill(&b, &[("a", 50), ("b", 50)]).await;
    let take = |b: &Bench| {
        let engine = b.engine.clone();
        async move {
            let claim = ojs_engine::command::Claim {
                queues: vec!["a".to_owned(), "b".to_owned()],
                count: 2,
                worker: Some("w".to_owned()),
                ..ojs_engine::command::Claim::default()
            };
            let exchange = Exchange { outcomes: Vec::new(), claim: Some(claim) };
            engine.store().execute(exchange).await.unwrap().jobs
        }
    };
    let taken = tokio::join!(take(&b), take(&other), take(&b), take(&other), take(&b), take(&other));
    let taken = [taken.0, taken.1, taken.2, taken.3, taken.4, taken.5].concat();
    assert_eq!(taken.len(), 5, "no more than the pool allows, however the nodes race");
    let found = by_queue(&taken);
    assert!(found.len() == 2, "{found:?}");
}
