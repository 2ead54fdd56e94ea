//! Fetches that name job types get jobs of these types only, however long the line of others is.
use std::sync::Arc;
use std::time::Duration;

use ojs_engine::command::{Claim, Enqueue, Exchange};
use ojs_model::{JobId, NewJob, Timestamp};

use crate::on_every_store;
use crate::support::Bench;

on_every_store!(
    only_jobs_of_the_types_come,
    jobs_behind_a_long_line_of_others_are_found,
    claims_with_and_without_types_do_not_share_a_job,
);

fn claim_of(types: &[&str], count: usize) -> Claim {
    let types = types.iter().map(|name| (*name).to_owned()).collect();
    Claim { queues: vec!["q".into()], count, worker: Some("w".into()), types, ..Claim::default() }
}

async fn claimed(b: &Bench, types: &[&str], count: usize) -> Vec<JobId> {
    b.exchange(Vec::new(), Some(claim_of(types, count))).await.1.iter().map(|job| job.row.id).collect()
}

async fn add(b: &Bench, kind: &str) -> JobId {
    b.enqueue(&format!(r#"{{"type":"{kind}","args":[],"options":{{"queue":"q"}}}}"#)).await
}

async fn only_jobs_of_the_types_come(b: Bench) {
    let (a1, _, a2, c) = (add(&b, "a").await, add(&b, "b").await, add(&b, "a").await, add(&b, "c").await);
    assert!(claimed(&b, &["nobody.has.it"], 5).await.is_empty());
    assert_eq!(claimed(&b, &["a", "nobody.has.it"], 1).await, [a1]);
    assert_eq!(claimed(&b, &["c", "a"], 5).await, [a2, c]);
    assert!(claimed(&b, &["a", "c"], 5).await.is_empty());
    assert_eq!(b.claim(5).await.len(), 1, "the one whose type was not asked for");
}

async fn jobs_behind_a_long_line_of_others_are_found(b: Bench) {
    let foreign: Vec<Arc<NewJob>> = (0..9_000)
        .map(|_| {
            let text = r#"{"type":"other","args":[],"options":{"queue":"q"}}"#;
            Arc::new(NewJob::parse(text, Timestamp::from_millis(b.now())).unwrap())
        })
        .collect();
    b.engine.store().execute(Enqueue(foreign)).await.unwrap();
    let mut wanted = vec![add(&b, "mine").await];
    // One claim looks at a slice, the next goes on: this line takes three.
    let mut looks = 0;
    while claimed(&b, &["mine"], 5).await != wanted {
        looks += 1;
        assert!(looks < 4, "the line was not passed");
    }
    assert!(looks > 0, "the line is longer than what one claim looks at");
    // What comes behind the place that was reached is found at once.
    for _ in 0..3 {
        wanted = vec![add(&b, "mine").await];
        assert_eq!(claimed(&b, &["mine"], 5).await, wanted);
    }
    assert!(claimed(&b, &["mine"], 5).await.is_empty());
    // Into the middle of the line, behind its front: found by the next pass.
    for _ in 0..200 {
        b.enqueue(r#"{"type":"other","args":[],"options":{"queue":"q","priority":5}}"#).await;
    }
    let late = b.enqueue(r#"{"type":"mine","args":[],"options":{"queue":"q","priority":3}}"#).await;
    let mut found = Vec::new();
    for _ in 0..4 {
        b.advance(Duration::from_secs(60)).await;
        found.extend(claimed(&b, &["mine"], 5).await);
    }
    assert_eq!(found, [late]);
}

async fn claims_with_and_without_types_do_not_share_a_job(b: Bench) {
    for _ in 0..20 {
        add(&b, "a").await;
        add(&b, "b").await;
    }
    let store = Arc::clone(b.engine.store());
    let claims: Vec<_> = (0..16)
        .map(|n| {
            let claim = if n % 2 == 0 { claim_of(&["a"], 2) } else { claim_of(&[], 2) };
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.execute(Exchange { outcomes: Vec::new(), claim: Some(claim) }).await })
        })
        .collect();
    let mut all = Vec::new();
    for claim in claims {
        let jobs = claim.await.unwrap().unwrap().jobs;
        all.extend(jobs.iter().map(|job| job.row.id));
    }
    all.extend(b.claim(100).await.iter().map(|job| job.row.id));
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!((count, all.len()), (40, 40));
}
