use ojs_engine::command::{Command, Query};
use ojs_engine::job::flag;
use ojs_engine::tables::DeadFilter;
use ojs_model::{JobId, JobState};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    listed_only_by_policy,
    newest_first_with_filters,
    a_retry_starts_afresh_and_keeps_the_history,
    a_deleted_entry_is_gone
);

async fn dead(b: &Bench, queue: &str, kind: &str) -> JobId {
    let request = format!(
        r#"{{"type":"{kind}","args":[],"options":{{"queue":"{queue}","retry":{{"max_attempts":1,"on_exhaustion":"dead_letter"}}}}}}"#
    );
    let id = b.enqueue(&request).await;
    let job = b.claim_for(Some("w"), &[queue], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    id
}

async fn listed_only_by_policy(b: Bench) {
    b.job_in(JobState::Discarded).await;
    let id = dead(&b, "q", "t").await;
    assert_eq!(b.dead(DeadFilter::default()).await, (vec![id], 1));
    let story = b.story(id).await;
    assert_eq!(
        story,
        [
            "job.enqueued",
            "job.started",
            "job.failed",
            "job.retry_exhausted",
            "job.discarded",
            "job.dead_lettered",
            "dead_letter.added"
        ]
    );
}

async fn newest_first_with_filters(b: Bench) {
    let old = dead(&b, "a", "x").await;
    b.advance(seconds(60)).await;
    let middle = b.now();
    let new = dead(&b, "b", "y").await;
    assert_eq!(b.dead(DeadFilter::default()).await.0, [new, old]);
    assert_eq!(b.dead(DeadFilter { offset: 1, ..DeadFilter::default() }).await, (vec![old], 2));
    assert_eq!(b.dead(DeadFilter { queue: Some("a".into()), ..DeadFilter::default() }).await, (vec![old], 1));
    assert_eq!(b.dead(DeadFilter { job_type: Some("y".into()), ..DeadFilter::default() }).await.0, [new]);
    assert_eq!(b.dead(DeadFilter { job_type: Some("never".into()), ..DeadFilter::default() }).await.1, 0);
    assert_eq!(b.dead(DeadFilter { since: Some(middle), ..DeadFilter::default() }).await.0, [new]);
    assert_eq!(b.dead(DeadFilter { until: Some(middle), ..DeadFilter::default() }).await.0, [old]);
}

async fn a_retry_starts_afresh_and_keeps_the_history(b: Bench) {
    let id = dead(&b, "q", "t").await;
    let view = b.change(Command::Replay(id)).await.unwrap();
    assert_eq!((view.row.state, view.row.attempt, view.row.started_at, view.row.finished_at), (JobState::Available, 0, 0, 0));
    assert!(!view.row.has(flag::ERROR) && !view.row.has(flag::DEAD) && view.row.has(flag::ERRORS));
    assert_eq!(b.dead(DeadFilter::default()).await.1, 0);
    let job = b.claim(1).await.remove(0);
    assert_eq!((job.row.id, job.row.attempt), (id, 1));
    b.ack(&job).await.unwrap();
}

async fn a_deleted_entry_is_gone(b: Bench) {
    let id = dead(&b, "q", "t").await;
    b.engine.store().execute(Command::Bury(id)).await.unwrap();
    assert!(b.engine.store().query(Query::Job(id)).await.is_err());
    assert!(b.engine.store().execute(Command::Bury(id)).await.is_err());
    assert_eq!(b.counts("q").await, [0; 8]);
    let live = b.job().await;
    assert!(b.engine.store().execute(Command::Bury(live)).await.is_err(), "only dead letters are deleted here");
}
