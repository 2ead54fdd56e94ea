use ojs_engine::admin::Maintenance;
use ojs_engine::command::{
    Cancel, Command, CountQueues, DropWorker, FindQueue, GetMaintenance, Heartbeat, ListJobs, ListWorkers, Maintain, Query, Reset,
};
use ojs_engine::error::Refusal;
use ojs_engine::rows::{JobFilter, JobSort, WorkerPhase, WorkerRow};
use ojs_model::{JobId, JobState, OjsError};

use crate::support::{Bench, START, seconds};

crate::on_every_store!(
    jobs_are_listed_by_filter_and_order,
    every_state_is_listed_and_counted,
    queues_come_with_counts_and_the_longest_wait,
    a_heartbeat_tells_who_the_worker_is,
    only_a_silent_worker_can_be_removed,
    nothing_is_handed_out_during_maintenance,
);

async fn ask<Q: Query>(b: &Bench, query: Q) -> Q::Reply {
    b.engine.store().query(query).await.unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

async fn order<C: Command>(b: &Bench, command: C) -> Result<C::Reply, OjsError> {
    match b.engine.store().execute(command).await {
        Ok(reply) => Ok(reply),
        Err(Refusal::Ojs(error)) => Err(*error),
        Err(fault) => panic!("{fault:?}"),
    }
}

/// Ids, the total, whether there is more.
async fn list(b: &Bench, filter: JobFilter) -> (Vec<JobId>, usize, bool) {
    let filter = JobFilter { limit: if filter.limit == 0 { 10 } else { filter.limit }, ..filter };
    let page = ask(b, ListJobs(filter)).await;
    (page.jobs.iter().map(|job| job.row.id).collect(), page.total, page.has_more)
}

async fn workers(b: &Bench) -> Vec<(WorkerRow, usize)> {
    ask(b, ListWorkers).await
}

async fn jobs_are_listed_by_filter_and_order(b: Bench) {
    let first = b.enqueue(r#"{"type":"mail.send","args":[],"options":{"queue":"a","priority":5}}"#).await;
    b.advance(seconds(1)).await;
    let later = b.now();
    let second = b.enqueue(r#"{"type":"mail.receive","args":[],"options":{"queue":"b","delay_until":"+PT1H"}}"#).await;
    let third = b.enqueue(r#"{"type":"other","args":[],"options":{"queue":"a","priority":-5}}"#).await;
    let fourth = b.enqueue(r#"{"type":"other","args":[],"options":{"queue":"b","delay_until":"+PT1M"}}"#).await;
    let all = JobFilter::default;
    assert_eq!(list(&b, all()).await, (vec![fourth, third, second, first], 4, false));
    assert_eq!(list(&b, JobFilter { ascending: true, ..all() }).await.0, [first, second, third, fourth]);
    assert_eq!(list(&b, JobFilter { limit: 2, ..all() }).await, (vec![fourth, third], 4, true));
    assert_eq!(list(&b, JobFilter { limit: 2, offset: 2, ..all() }).await, (vec![second, first], 4, false));
    assert_eq!(list(&b, JobFilter { offset: 4, ..all() }).await, (vec![], 4, false));
    assert_eq!(list(&b, JobFilter { queue: Some("a".into()), ..all() }).await, (vec![third, first], 2, false));
    assert_eq!(list(&b, JobFilter { queue: Some("never".into()), ..all() }).await, (vec![], 0, false));
    assert_eq!(list(&b, JobFilter { job_type: Some("mail.*".into()), ..all() }).await, (vec![second, first], 2, false));
    assert_eq!(list(&b, JobFilter { job_type: Some("mail".into()), ..all() }).await.0, []);
    assert_eq!(list(&b, JobFilter { until: Some(later), ..all() }).await, (vec![first], 1, false));
    assert_eq!(list(&b, JobFilter { since: Some(later), limit: 1, ..all() }).await, (vec![fourth], 3, true));
    let waiting = |sort, ascending| JobFilter { state: Some(JobState::Scheduled), sort, ascending, ..all() };
    assert_eq!(list(&b, waiting(JobSort::Scheduled, true)).await.0, [fourth, second]);
    assert_eq!(list(&b, waiting(JobSort::Scheduled, false)).await.0, [second, fourth]);
    let ready = |ascending| JobFilter { state: Some(JobState::Available), sort: JobSort::Priority, ascending, ..all() };
    assert_eq!(list(&b, ready(false)).await.0, [first, third]);
    assert_eq!(list(&b, ready(true)).await.0, [third, first]);
}

async fn every_state_is_listed_and_counted(b: Bench) {
    for state in JobState::ALL {
        let id = b.job_in(state).await;
        let of = |state| JobFilter { state: Some(state), ..JobFilter::default() };
        assert_eq!(list(&b, of(state)).await, (vec![id], 1, false), "{state}");
        let ascending = JobFilter { ascending: true, queue: Some("q".into()), ..of(state) };
        assert_eq!(list(&b, ascending).await, (vec![id], 1, false), "{state}");
        let typed = JobFilter { job_type: Some("t".into()), ..of(state) };
        assert_eq!(list(&b, typed).await, (vec![id], 1, false), "{state}");
        if state == JobState::Available {
            // Out of the way of the claims that bring jobs into the other states.
            b.claim(1).await;
            b.beat("w", &[(id, None)]).await;
            b.change(Cancel(id)).await.unwrap();
            b.engine.store().execute(Reset).await.unwrap();
        }
    }
}

async fn queues_come_with_counts_and_the_longest_wait(b: Bench) {
    assert!(matches!(b.engine.store().query(FindQueue("q".into())).await, Err(Refusal::Ojs(e)) if e.status == 404));
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","priority":-1}}"#).await;
    b.advance(seconds(5)).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","priority":7}}"#).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"r"}}"#).await;
    let queues = ask(&b, CountQueues).await;
    let told: Vec<_> = queues.iter().map(|(queue, counts)| (&*queue.name, counts[JobState::Available as usize])).collect();
    assert_eq!(told, [("q", 2), ("r", 1)]);
    let (queue, counts, oldest) = ask(&b, FindQueue("q".into())).await;
    assert_eq!((&*queue.name, counts[JobState::Available as usize], oldest), ("q", 2, Some(START)));
    b.claim(2).await;
    let (_, counts, oldest) = ask(&b, FindQueue("q".into())).await;
    assert_eq!((counts[JobState::Active as usize], oldest), (2, None));
}

async fn a_heartbeat_tells_who_the_worker_is(b: Bench) {
    let beat =
        |phase, info: Option<&str>| Heartbeat { worker: "w".into(), phase, info: info.map(Into::into), ..Default::default() };
    b.engine.store().execute(beat(WorkerPhase::Running, Some(r#"{"hostname":"h"}"#))).await.unwrap();
    b.job().await;
    b.claim(1).await;
    b.advance(seconds(5)).await;
    // What it does not repeat stays known.
    b.engine.store().execute(beat(WorkerPhase::Drain, None)).await.unwrap();
    let all = workers(&b).await;
    let (worker, held) = &all[0];
    assert_eq!((all.len(), &*worker.id, worker.phase, *held), (1, "w", WorkerPhase::Drain, 1));
    assert_eq!((worker.first_at, worker.beat_at, &*worker.info), (START, b.now(), r#"{"hostname":"h"}"#));
    b.job().await;
    assert!(b.claim(1).await.is_empty(), "a worker that drains gets nothing");
}

async fn only_a_silent_worker_can_be_removed(b: Bench) {
    let remove = || order(&b, DropWorker("w".into()));
    assert_eq!(remove().await.unwrap_err().status, 404);
    let id = b.job().await;
    b.claim(1).await;
    b.beat("w", &[]).await;
    b.advance(seconds(14)).await;
    let refusal = remove().await.unwrap_err();
    assert_eq!((refusal.status, refusal.code.as_ref()), (409, "conflict"));
    b.advance(seconds(1)).await;
    assert_eq!(b.state(id).await, JobState::Active, "the sweep waits for longer");
    assert_eq!(remove().await.unwrap(), 1);
    assert_eq!(b.state(id).await, JobState::Available);
    assert!(workers(&b).await.is_empty());
    assert_eq!(b.claim_for(Some("v"), &["q"], 1).await[0].row.id, id);
}

async fn nothing_is_handed_out_during_maintenance(b: Bench) {
    let now = b.job().await;
    let later = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","delay_until":"+PT1M"}}"#).await;
    let maintenance = Maintenance { reason: "disk swap".into(), since: b.now(), until: 0 };
    order(&b, Maintain(Some(maintenance.clone()))).await.unwrap();
    assert_eq!(ask(&b, GetMaintenance).await, Some(maintenance));
    b.advance(seconds(120)).await;
    assert!(b.claim(10).await.is_empty());
    assert_eq!(b.state(later).await, JobState::Scheduled, "nothing is promoted");
    let during = b.job().await;
    order(&b, Maintain(None)).await.unwrap();
    b.advance(seconds(1)).await;
    let ids: Vec<_> = b.claim(10).await.iter().map(|job| job.row.id).collect();
    assert_eq!(ids, [now, during, later]);
}
