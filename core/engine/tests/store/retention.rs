use std::time::Duration;

use ojs_engine::command::GetJob;
use ojs_model::JobState;

use crate::support::Bench;

crate::on_every_store!(finished_jobs_are_pruned_in_their_time, live_jobs_are_never_pruned);

const DAY: Duration = Duration::from_secs(86_400);

async fn finished_jobs_are_pruned_in_their_time(b: Bench) {
    let completed = b.job_in(JobState::Completed).await;
    let discarded = b.job_in(JobState::Discarded).await;
    let known = |id| {
        let store = b.engine.store().clone();
        async move { store.query(GetJob(id)).await.is_ok() }
    };
    b.advance(DAY * 6).await;
    assert!(known(completed).await);
    b.advance(DAY * 2).await;
    assert!(!known(completed).await && known(discarded).await);
    assert_eq!(b.counts("q").await[JobState::Completed as usize], 0);
    b.advance(DAY * 30).await;
    assert!(!known(discarded).await);
    assert!(b.events(Default::default()).await.0.is_empty(), "events are kept for a week");
}

async fn live_jobs_are_never_pruned(b: Bench) {
    let mut ids = Vec::new();
    for _ in 0..1200 {
        ids.push(b.job().await);
    }
    b.advance(DAY * 365).await;
    assert_eq!(b.counts("q").await[JobState::Available as usize], 1200);
    assert_eq!(b.state(ids[600]).await, JobState::Available);
}
