use std::time::Duration;

use ojs_engine::command::GetJob;
use ojs_model::{JobId, JobState};
use serde_json::json;

use crate::support::Bench;

crate::on_every_store!(finished_jobs_are_pruned_in_their_time, live_jobs_are_never_pruned, an_id_is_known_for_as_long_as_its_job);

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

/// A client whose answer was lost sends the job again under the same id. That makes no second job while the id is
/// known.
async fn an_id_is_known_for_as_long_as_its_job(b: Bench) {
    let job = json!({"id": JobId::now_v7(), "type": "t", "args": [], "options": {"queue": "q"}}).to_string();
    let send = async || b.http("POST", "/jobs", &job).await.0;
    let work = async || b.ack(&b.claim(1).await.remove(0)).await.unwrap();
    assert_eq!((send().await, send().await), (201, 409), "while it waits");
    work().await;
    b.advance(DAY * 6).await;
    assert_eq!(send().await, 409, "for seven days after its end");
    b.advance(DAY * 2).await;
    assert_eq!(send().await, 201, "it was pruned");
    work().await;
    let purge = json!({"states": ["completed"], "confirm": true}).to_string();
    let purge = async || b.http("DELETE", "/admin/queues/q/jobs", &purge).await.0;
    assert_eq!((send().await, purge().await, send().await), (409, 200, 201), "it was purged");
    let short = json!({"retention": {"completed": "PT1H"}}).to_string();
    assert_eq!(b.http("PUT", "/queues/q/config", &short).await.0, 200);
    work().await;
    assert_eq!(send().await, 409);
    b.advance(Duration::from_secs(2 * 3600)).await;
    assert_eq!(send().await, 201, "its queue keeps jobs for an hour");
}
