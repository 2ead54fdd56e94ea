//! A command that is refused leaves the store as it was: names, settings, jobs, counts, limits.
use std::sync::Arc;

use ojs_engine::bulk::Batch;
use ojs_engine::command::{
    Activate, Cancel, CancelWorkflow, Command, Configure, CreateQueue, DeleteDeadLetter, DeleteQueue, Direct, Enqueue, GetQueue,
    ListCrons, ListJobs, ListLimits, ListQueues, ListTrains, ListWorkers, Replay, SetDraining, SetPriority, SwitchCron,
};
use ojs_engine::error::Refusal;
use ojs_engine::job::JobView;
use ojs_engine::limit::LimitPage;
use ojs_engine::rows::{Directive, JobFilter, QueueRow};
use ojs_engine::typed::{Submission, Submitted};
use ojs_model::{JobId, JobState, NewJob, Timestamp};
use serde_json::json;

use crate::contents::{Contents, contents};
use crate::on_every_store;
use crate::support::Bench;

on_every_store!(a_refused_command_changes_nothing);

/// What a client can find out about a store, and the rows of its database. Events are left out: they say that something
/// was refused.
#[derive(Debug, PartialEq)]
pub struct Digest {
    queues: Vec<QueueRow>,
    counts: Vec<[i64; 8]>,
    jobs: Vec<JobView>,
    limits: String,
    crons: String,
    trains: String,
    workers: usize,
    contents: Contents,
}

pub async fn digest(b: &Bench) -> Digest {
    let store = b.engine.store();
    let queues = store.query(ListQueues).await.unwrap();
    let mut counts = Vec::new();
    for queue in &queues {
        let (_, of) = store.query(GetQueue(queue.name.to_string())).await.unwrap();
        counts.push(of);
    }
    let filter = JobFilter { limit: 1000, ascending: true, ..JobFilter::default() };
    let jobs = store.query(ListJobs(filter)).await.unwrap().jobs;
    let at = Timestamp::from_millis(b.now());
    let page = LimitPage { limit: 100, ..LimitPage::default() };
    let limits = format!("{:?}", store.query(ListLimits { key: None, page, at }).await.unwrap());
    let crons = format!("{:?}", store.query(ListCrons).await.unwrap());
    let workers = store.query(ListWorkers).await.unwrap();
    let all = ListTrains { state: None, limit: 100, offset: 0, behind: None };
    let trains = format!("{:?}", store.query(all).await.unwrap());
    Digest { trains, queues, counts, jobs, limits, crons, workers: workers.len(), contents: contents(b).await }
}

/// A command on its way to the store.
fn submitted<C: Command>(command: C) -> Arc<dyn Submitted> {
    Arc::new(Submission::new(command))
}

/// Jobs that are refused, each with what is wrong with them.
fn refused_jobs(known: JobId) -> Vec<(&'static str, Vec<Arc<NewJob>>)> {
    let now = Timestamp::from_millis(crate::support::START);
    let enqueue = |texts: &[String]| texts.iter().map(|text| Arc::new(NewJob::parse(text, now).unwrap())).collect();
    let twice = |options: &str| format!(r#"{{"id":"{known}","type":"t","args":[],"options":{options}}}"#);
    let fresh = |options: &str| format!(r#"{{"type":"t","args":[],"options":{options}}}"#);
    vec![
        ("a rate", enqueue(&[twice(r#"{"queue":"q","rate_limit":{"max_per_second":9}}"#)])),
        ("a rate in a batch", enqueue(&[fresh(r#"{"queue":"q","rate_limit":{"max_per_second":9}}"#), twice(r#"{"queue":"q"}"#)])),
        ("a limit", enqueue(&[twice(r#"{"queue":"q","rate_limit":{"key":"k","concurrency":9}}"#)])),
        ("a new limit", enqueue(&[twice(r#"{"queue":"q","rate_limit":{"key":"new","concurrency":9}}"#)])),
        ("a train", enqueue(&[twice(r#"{"queue":"q","train":"t"}"#)])),
        ("a train in a batch", enqueue(&[fresh(r#"{"queue":"q","train":"t"}"#), twice(r#"{"queue":"q"}"#)])),
        ("a new queue", enqueue(&[twice(r#"{"queue":"new"}"#)])),
        ("a new queue in a batch", enqueue(&[fresh(r#"{"queue":"new"}"#), twice(r#"{"queue":"q"}"#)])),
        ("a replacement", enqueue(&[twice(r#"{"queue":"q","unique":{"keys":["type"],"on_conflict":"replace"}}"#)])),
        ("a full queue and a new one", enqueue(&[fresh(r#"{"queue":"new"}"#), fresh(r#"{"queue":"full"}"#)])),
        ("a draining queue and a new one", enqueue(&[fresh(r#"{"queue":"new"}"#), fresh(r#"{"queue":"draining"}"#)])),
        ("a type that is not allowed", enqueue(&[fresh(r#"{"queue":"new"}"#), fresh(r#"{"queue":"typed"}"#)])),
    ]
}

/// Other commands that are refused, each with what it is called.
fn refused(known: JobId, ended: JobId) -> Vec<(&'static str, Arc<dyn Submitted>)> {
    let config = |value: serde_json::Value| value.as_object().unwrap().clone();
    let bad_limits = json!({"bound": 5, "max_depth": "many"});
    vec![
        ("settings of a new queue", submitted(Configure { queue: "new".into(), settings: config(bad_limits.clone()) })),
        ("a queue with bad settings", submitted(CreateQueue { queue: "new".into(), settings: config(bad_limits) })),
        ("a queue that exists", submitted(CreateQueue { queue: "q".into(), settings: config(json!({"max_size": 1})) })),
        ("the deletion of a queue in use", submitted(DeleteQueue("q".into()))),
        ("a cancellation", submitted(Cancel(ended))),
        ("an activation", submitted(Activate(known))),
        ("a priority", submitted(SetPriority(ended, 5))),
        ("a replay", submitted(Replay(known))),
        ("a burial", submitted(DeleteDeadLetter(known))),
        ("a directive", submitted(Direct { worker: "nobody".into(), directive: Directive::Quiet })),
        ("a workflow", submitted(CancelWorkflow(known))),
        ("a cron entry", submitted(SwitchCron { name: "none".into(), enabled: true })),
    ]
}

async fn set(b: &Bench, queue: &str, settings: serde_json::Value) {
    let settings = settings.as_object().unwrap().clone();
    b.engine.store().execute(Configure { queue: queue.into(), settings }).await.unwrap();
}

async fn a_refused_command_changes_nothing(b: Bench) {
    let ended = b.job_in(JobState::Cancelled).await;
    let known = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","rate_limit":{"max_per_second":5}}}"#).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"k","rate_limit":{"key":"k","concurrency":1}}}"#).await;
    // What a replacement would withdraw.
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","unique":{"keys":["type"],"on_conflict":"replace"}}}"#).await;
    set(&b, "full", json!({"max_size": 1})).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"full"}}"#).await;
    set(&b, "typed", json!({"allowed_job_types": ["other"]})).await;
    b.engine.store().execute(SetDraining { queue: "draining".into(), draining: true }).await.unwrap();
    let before = digest(&b).await;
    for (what, jobs) in refused_jobs(known) {
        let answer = b.engine.store().execute(Enqueue(jobs.clone())).await;
        assert!(matches!(answer, Err(Refusal::Ojs(_))), "{what}: {answer:?}");
        assert_eq!(digest(&b).await, before, "{what}");
        // Each on its own, and all or none: what is refused there is refused as here.
        let batch = Batch { jobs: jobs.into_iter().map(Ok).collect(), atomic: true, key: None };
        b.engine.store().execute(batch).await.unwrap();
        assert_eq!(digest(&b).await, before, "{what}, atomic");
    }
    for (what, command) in refused(known, ended) {
        let answer = b.engine.store().submit(command).await;
        assert!(matches!(answer, Err(Refusal::Ojs(_))), "{what}: {answer:?}");
        assert_eq!(digest(&b).await, before, "{what}");
    }
}
