//! A refusal leaves no trace, wherever in a group it comes: the group is applied again without it, and the others are
//! carried out.
use std::sync::Arc;

use ojs_engine::command::{Enqueue, GetJob};
use ojs_engine::error::Refusal;
use ojs_model::{JobId, NewJob, Timestamp};
use serde_json::{Value, json};

use crate::on_every_store;
use crate::support::{Bench, START};

on_every_store!(
    a_refused_batch_in_the_middle_of_a_group_leaves_nothing_behind,
    wrong_settings_in_the_middle_of_a_group_leave_nothing_behind,
    a_refused_part_of_a_bulk_request_leaves_nothing_behind,
);

const OTHERS: usize = 199;

fn job(id: JobId) -> Value {
    json!({"id": id, "type": "t", "args": [], "options": {"queue": "q"}})
}

/// Sends a request in the middle of many enqueues, all at the same time; returns its answer.
async fn among_others(b: &Bench, method: &str, path: &str, body: Value) -> (u16, Value) {
    let others: Vec<Value> = (0..OTHERS).map(|_| job(JobId::now_v7())).collect();
    let (before, after) = others.split_at(OTHERS / 2);
    let enqueue = |job: &Value| {
        let text = job.to_string();
        async move { b.http("POST", "/jobs", &text).await }
    };
    let body = body.to_string();
    let (first, answer, last) = tokio::join!(
        futures_util::future::join_all(before.iter().map(enqueue)),
        b.http(method, path, &body),
        futures_util::future::join_all(after.iter().map(enqueue)),
    );
    for (status, body) in first.into_iter().chain(last) {
        assert_eq!(status, 201, "{body}");
    }
    answer
}

async fn a_refused_batch_in_the_middle_of_a_group_leaves_nothing_behind(b: Bench) {
    let known = b.job().await;
    let fresh: Vec<JobId> = (0..3).map(|_| JobId::now_v7()).collect();
    let mut jobs: Vec<Value> = fresh.iter().map(|id| job(*id)).collect();
    jobs.push(job(known));
    let (status, answer) = among_others(&b, "POST", "/jobs/batch", json!({"jobs": jobs})).await;
    assert_eq!((status, &answer["error"]["details"]["index"]), (409, &json!(3)), "{answer}");
    for id in fresh {
        assert!(matches!(b.engine.store().query(GetJob(id)).await, Err(Refusal::Ojs(_))), "{id} is there");
        assert_eq!(b.story(id).await, [""; 0], "no event tells of it");
    }
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 1 + OTHERS as i64);
    let (_, stats) = b.http("GET", "/queues/q/stats", "").await;
    assert_eq!(stats["stats"]["depth"], json!(1 + OTHERS), "{stats}");
    // What is free is still free.
    assert_eq!(b.claim(1000).await.len(), 1 + OTHERS);
}

async fn wrong_settings_in_the_middle_of_a_group_leave_nothing_behind(b: Bench) {
    b.job().await;
    let wrong = json!({"max_size": 5, "retention": {"completed": "soon"}});
    for queue in ["q", "new"] {
        let (status, answer) = among_others(&b, "PUT", &format!("/queues/{queue}/config"), wrong.clone()).await;
        assert_eq!(status, 400, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("retention.completed"), "{answer}");
    }
    assert_eq!(b.http("GET", "/queues/new", "").await.0, 404);
    assert_eq!(b.http("GET", "/queues/q", "").await.1["config"], json!({}));
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 1 + 2 * OTHERS as i64);
}

async fn a_refused_part_of_a_bulk_request_leaves_nothing_behind(b: Bench) {
    let known = b.job().await;
    let fresh: Vec<JobId> = (0..2).map(|_| JobId::now_v7()).collect();
    // Atomic: a refusal inside the command, which itself is carried out.
    let jobs = json!({"jobs": [job(fresh[0]), job(fresh[1]), job(known)], "atomicity": "atomic"});
    let (_, answer) = among_others(&b, "POST", "/jobs/bulk", jobs).await;
    assert_eq!(answer["summary"]["succeeded"].as_u64().unwrap_or(0), 0, "{answer}");
    for id in fresh {
        assert!(matches!(b.engine.store().query(GetJob(id)).await, Err(Refusal::Ojs(_))), "{id} is there: {answer}");
    }
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 1 + OTHERS as i64);
}

#[tokio::test]
async fn many_refusals_with_traces_fall_back_to_transactions_of_their_own() {
    let b = Bench::sqlite().await;
    let known = b.job().await;
    let now = Timestamp::from_millis(START);
    let text = |id: JobId| Arc::new(NewJob::parse(&job(id).to_string(), now).unwrap());
    let refused = || Enqueue(vec![text(JobId::now_v7()), text(known)]);
    let good = || Enqueue(vec![text(JobId::now_v7())]);
    let store = b.engine.store();
    let all = (0..60).map(|place| store.execute(if place % 2 == 0 { refused() } else { good() }));
    for (place, answer) in futures_util::future::join_all(all).await.into_iter().enumerate() {
        assert_eq!(matches!(answer, Err(Refusal::Ojs(_))), place % 2 == 0, "{answer:?}");
    }
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 31);
}
