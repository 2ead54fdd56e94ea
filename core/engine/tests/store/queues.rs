//! Settings of queues and bounds.
use std::time::Duration;

use ojs_engine::EventFilter;
use ojs_engine::command::{CloseQueue, Configure, DeleteQueue, Emptied, EmptyQueue, Enqueue, GetQueue, SetDraining, SetPaused};
use ojs_engine::error::Refusal;
use ojs_engine::placed::Placed;
use ojs_engine::queue_config::canonical;
use ojs_engine::rows::{QueuePhase, QueueRow};
use ojs_model::{JobState, NewJob, OjsError};
use serde_json::{Value, json};

use crate::support::Bench;

crate::on_every_store!(
    a_job_wins_over_its_queue_and_that_over_the_template,
    a_setting_changes_no_stored_job,
    a_template_reaches_queues_that_are_there_and_those_to_come,
    null_gives_a_setting_back,
    a_retry_policy_is_merged_member_by_member,
    concurrency_bounds_what_is_active,
    a_rate_over_a_period,
    only_allowed_types_get_in,
    a_draining_queue_takes_nothing_and_hands_out_the_rest,
    retention_is_the_queues_own,
    a_queue_is_deleted_only_when_nothing_is_lost,
    a_queue_is_closed_before_it_is_emptied,
    a_full_queue_refuses_and_stores_nothing,
    a_full_queue_says_whether_producers_wait,
    two_writers_race_for_the_last_place,
    a_batch_is_taken_whole_or_not_at_all,
    the_oldest_makes_room,
    a_refused_job_drops_no_other,
    a_bound_in_bytes,
    a_duplicate_needs_no_place,
    a_refused_enqueue_warns_of_nothing,
    a_warning_comes_once_and_is_taken_back,
);

async fn configure(b: &Bench, queue: &str, settings: Value) -> QueueRow {
    let settings = canonical(settings.as_object().unwrap()).unwrap();
    b.engine.store().execute(Configure { queue: queue.to_owned(), settings }).await.unwrap().0
}

async fn place(b: &Bench, requests: &[&str]) -> Result<Vec<Placed>, OjsError> {
    let jobs =
        requests.iter().map(|text| NewJob::parse(text, ojs_model::Timestamp::from_millis(b.now())).unwrap().into()).collect();
    match b.engine.store().execute(Enqueue(jobs)).await {
        Ok(placed) => Ok(placed),
        Err(refusal) => Err(refusal.into_error().unwrap()),
    }
}

async fn names(b: &Bench, of: &str) -> Vec<String> {
    let (events, _, _) = b.events(EventFilter::default()).await;
    events.into_iter().map(|event| event.name).filter(|name| name.starts_with(of)).collect()
}

const PLAIN: &str = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;

async fn a_job_wins_over_its_queue_and_that_over_the_template(b: Bench) {
    configure(&b, "_default", json!({"default_timeout": 10, "visibility_timeout": 20})).await;
    configure(&b, "q", json!({"default_timeout": "PT5S"})).await;
    let own = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","timeout_ms":1500}}"#).await;
    let queue = b.job().await;
    let template = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    let set = async |id| {
        let body = b.get(id).await.body;
        (body.timeout_ms, body.visibility_ms)
    };
    assert_eq!(set(own).await, (1500, 20_000));
    assert_eq!(set(queue).await, (5000, 20_000));
    assert_eq!(set(template).await, (10_000, 20_000));
    let text = format!("{{{}}}", b.get(queue).await.body.text);
    let printed: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&printed["timeout_ms"], &printed["visibility_timeout_ms"]), (&json!(5000), &json!(20_000)));
}

async fn a_setting_changes_no_stored_job(b: Bench) {
    let before = b.job().await;
    configure(&b, "q", json!({"default_timeout": 5, "default_retry": {"max_attempts": 9}})).await;
    let view = b.get(before).await;
    assert_eq!((view.body.timeout_ms, view.row.max_attempts), (0, 3));
    assert_eq!(b.get(b.job().await).await.row.max_attempts, 9);
}

async fn a_template_reaches_queues_that_are_there_and_those_to_come(b: Bench) {
    b.job().await;
    configure(&b, "_default", json!({"concurrency": 1})).await;
    b.job().await;
    assert_eq!(b.claim(5).await.len(), 1);
    let new = r#"{"type":"t","args":[],"options":{"queue":"new"}}"#;
    b.try_enqueue(&[new, new]).await.unwrap();
    assert_eq!(b.claim_for(None, &["new"], 5).await.len(), 1);
    configure(&b, "new", json!({"concurrency": 3})).await;
    assert_eq!(b.claim_for(None, &["new"], 5).await.len(), 1, "its own setting stands over the template");
}

async fn null_gives_a_setting_back(b: Bench) {
    configure(&b, "_default", json!({"max_size": 5})).await;
    configure(&b, "q", json!({"max_size": 1, "concurrency": 2})).await;
    let queue = configure(&b, "q", json!({"max_size": null})).await;
    let settings = queue.settings().unwrap().unwrap();
    assert_eq!((settings.own.max_size, settings.config.max_size, settings.own.concurrency), (None, Some(5), Some(2)));
    let queue = configure(&b, "q", json!({"concurrency": null})).await;
    assert_eq!(queue.settings().unwrap().unwrap().config.concurrency, None);
}

async fn a_retry_policy_is_merged_member_by_member(b: Bench) {
    configure(&b, "q", json!({"default_retry": {"max_attempts": 7, "jitter": false, "on_exhaustion": "dead_letter"}})).await;
    let id = b.enqueue(r#"{"type":"t","args":[{"retry":1}],"options":{"queue":"q","retry":{"max_attempts":1}}}"#).await;
    let job = b.claim(1).await.remove(0);
    let printed: Value = serde_json::from_str(&format!("{{{}}}", job.body.text)).unwrap();
    assert_eq!(printed["retry"]["jitter"], false);
    assert_eq!((&printed["retry"]["max_attempts"], &printed["args"]), (&json!(1), &json!([{"retry": 1}])));
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    assert!(b.get(id).await.row.has(ojs_engine::job::flag::DEAD), "the queue's on_exhaustion holds");
}

async fn concurrency_bounds_what_is_active(b: Bench) {
    configure(&b, "q", json!({"concurrency": 2})).await;
    for _ in 0..5 {
        b.job().await;
    }
    let first = b.claim(5).await;
    assert_eq!(first.len(), 2);
    assert!(b.claim(5).await.is_empty());
    b.ack(&first[0]).await.unwrap();
    assert_eq!(b.claim(5).await.len(), 1);
    configure(&b, "q", json!({"concurrency": 4})).await;
    assert_eq!(b.claim(5).await.len(), 2, "a wider limit counts at once");
    configure(&b, "q", json!({"concurrency": 1})).await;
    assert_eq!(b.counts("q").await[JobState::Active as usize], 4, "what runs goes on");
}

async fn a_rate_over_a_period(b: Bench) {
    configure(&b, "q", json!({"rate_limit": {"limit": 3, "period": "PT1M"}})).await;
    for _ in 0..6 {
        b.job().await;
    }
    assert_eq!(b.claim(5).await.len(), 3);
    assert!(b.claim(5).await.is_empty());
    b.advance(Duration::from_secs(20)).await;
    assert_eq!(b.claim(5).await.len(), 1);
}

async fn only_allowed_types_get_in(b: Bench) {
    configure(&b, "q", json!({"allowed_job_types": ["mail.*", "ping"]})).await;
    let error = place(&b, &[PLAIN]).await.unwrap_err();
    assert_eq!((error.status, error.details.unwrap()["field"].clone()), (400, json!("type")));
    for job_type in ["mail.send", "ping"] {
        place(&b, &[&PLAIN.replace("\"t\"", &format!("\"{job_type}\""))]).await.unwrap();
    }
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 2);
}

async fn a_draining_queue_takes_nothing_and_hands_out_the_rest(b: Bench) {
    let id = b.job().await;
    b.engine.store().execute(SetDraining { queue: "q".into(), draining: true }).await.unwrap();
    let error = place(&b, &[PLAIN]).await.unwrap_err();
    assert_eq!((error.status, error.code.as_ref()), (422, "queue_paused"));
    assert_eq!(b.claim(5).await[0].row.id, id);
    b.engine.store().execute(SetPaused { queue: "q".into(), paused: false }).await.unwrap();
    place(&b, &[PLAIN]).await.unwrap();
}

async fn retention_is_the_queues_own(b: Bench) {
    configure(&b, "q", json!({"retention": {"completed": "PT1H", "cancelled": "P60D"}})).await;
    let completed = b.job_in(JobState::Completed).await;
    let cancelled = b.job_in(JobState::Cancelled).await;
    b.advance(Duration::from_secs(2 * 3600)).await;
    let gone = async |id| b.engine.store().query(ojs_engine::command::GetJob(id)).await.is_err();
    assert!(gone(completed).await);
    b.advance(Duration::from_secs(8 * 86_400)).await;
    assert!(!gone(cancelled).await, "the system's seven days do not count here");
    configure(&b, "q", json!({"dead_letter_ttl": "P1D"})).await;
    let dead = r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#;
    let dead = b.enqueue(dead).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(Duration::from_secs(2 * 86_400)).await;
    assert!(gone(dead).await);
    assert_eq!(b.story(dead).await.last().map(String::as_str), Some("dead_letter.pruned"));
}

async fn a_queue_is_deleted_only_when_nothing_is_lost(b: Bench) {
    let store = b.engine.store();
    let ended = b.job_in(JobState::Completed).await;
    let waiting = b.job_in(JobState::Scheduled).await;
    let delete = || store.execute(DeleteQueue("q".into()));
    let Err(Refusal::Ojs(error)) = delete().await else { panic!("deleted") };
    assert_eq!(error.details.unwrap()["jobs"], json!({"scheduled": 1}));
    let moved = store.execute(EmptyQueue { queue: "q".into(), target: Some("r".into()) }).await.unwrap();
    assert_eq!(moved, Emptied { jobs: 1, has_more: false });
    assert_eq!((&*b.get(waiting).await.queue, b.counts("r").await[JobState::Scheduled as usize]), ("r", 1));
    delete().await.unwrap();
    assert_eq!(&*b.get(ended).await.queue, "q", "an ended job still knows where it ran");
    let (queue, _) = store.query(GetQueue("q".into())).await.unwrap();
    assert_eq!(queue.phase, QueuePhase::Deleted);
    store.execute(EmptyQueue { queue: "r".into(), target: None }).await.unwrap();
    assert_eq!(b.state(waiting).await, JobState::Discarded);
    b.job().await;
    assert_eq!(b.claim(1).await.len(), 1, "a name can be used again");
}

async fn a_queue_is_closed_before_it_is_emptied(b: Bench) {
    let active = b.job_in(JobState::Active).await;
    let waiting = b.job().await;
    let (status, refused) = b.http("DELETE", "/queues/q?strategy=discard", "").await;
    assert_eq!((status, &refused["error"]["details"]["jobs"]), (409, &json!({"active": 1})), "{refused}");
    let (queue, _) = b.engine.store().query(GetQueue("q".into())).await.unwrap();
    assert_eq!((queue.phase, queue.paused), (QueuePhase::Open, false), "nothing has changed");
    assert_eq!(b.state(waiting).await, JobState::Available);
    assert_eq!(b.http("DELETE", &format!("/jobs/{active}"), "").await.0, 200);
    b.engine.store().execute(CloseQueue("q".into())).await.unwrap();
    assert!(b.claim(5).await.is_empty(), "no job starts while the queue is emptied");
    assert!(place(&b, &[PLAIN]).await.is_err(), "and none comes in");
    let (status, deleted) = b.http("DELETE", "/queues/q?strategy=discard", "").await;
    assert_eq!((status, &deleted["jobs_discarded"]), (200, &json!(1)), "{deleted}");
    assert_eq!(b.state(waiting).await, JobState::Discarded);
    b.job().await;
    assert_eq!(b.claim(1).await.len(), 1, "a name that is used again is not paused");
}

async fn a_full_queue_refuses_and_stores_nothing(b: Bench) {
    configure(&b, "q", json!({"backpressure": {"max_depth": 2}})).await;
    place(&b, &[PLAIN]).await.unwrap();
    place(&b, &[&PLAIN.replace("\"queue\"", "\"delay_until\":\"+PT1H\",\"queue\"")]).await.unwrap();
    let error = place(&b, &[PLAIN]).await.unwrap_err();
    assert_eq!((error.status, error.code.as_ref(), error.retryable), (429, "QUEUE_FULL", true));
    let details = error.details.unwrap();
    assert_eq!((&details["depth"], &details["bound"], &details["strategy"]), (&json!(2), &json!(2), &json!("reject")));
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 2);
    assert_eq!(names(&b, "backpressure.rejected").await.len(), 1);
    let job = b.claim(1).await.remove(0);
    place(&b, &[PLAIN]).await.expect("a running job has left its place");
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    assert_eq!(b.state(job.row.id).await, JobState::Retryable, "a retry is never turned away");
    assert_eq!(place(&b, &[PLAIN]).await.unwrap_err().status, 429);
}

async fn a_full_queue_says_whether_producers_wait(b: Bench) {
    let request = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;
    let job = || vec![NewJob::parse(request, ojs_model::Timestamp::from_millis(b.now())).unwrap().into()];
    configure(&b, "q", json!({"max_size": 1, "overflow_policy": "block"})).await;
    b.job().await;
    let refusal = b.engine.store().execute(Enqueue(job())).await.unwrap_err();
    let Refusal::Blocked(blocked) = refusal else { panic!("{refusal:?}") };
    assert_eq!((blocked.queue.as_str(), blocked.error.status, &*blocked.error.code), ("q", 429, "QUEUE_FULL"));
    configure(&b, "q", json!({"overflow_policy": "reject"})).await;
    let refusal = b.engine.store().execute(Enqueue(job())).await.unwrap_err();
    assert!(matches!(&refusal, Refusal::Ojs(error) if error.code == "QUEUE_FULL"), "{refusal:?}");
}

async fn two_writers_race_for_the_last_place(b: Bench) {
    configure(&b, "q", json!({"max_size": 10})).await;
    let tries = (0..40).map(|_| place(&b, &[PLAIN]));
    let stored = futures_util::future::join_all(tries).await.into_iter().filter(Result::is_ok).count();
    assert_eq!((stored, b.counts("q").await[JobState::Available as usize]), (10, 10));
}

async fn a_batch_is_taken_whole_or_not_at_all(b: Bench) {
    configure(&b, "q", json!({"max_size": 3})).await;
    place(&b, &[PLAIN, PLAIN]).await.unwrap();
    let other = PLAIN.replace("\"q\"", "\"free\"");
    assert_eq!(place(&b, &[&other, PLAIN, PLAIN]).await.unwrap_err().status, 429);
    assert_eq!(b.counts("free").await.iter().sum::<i64>(), 0);
    let error = place(&b, &[PLAIN; 4]).await.unwrap_err();
    assert!(error.message.contains("never fit"), "{error}");
    place(&b, &[&other, PLAIN]).await.unwrap();
}

async fn the_oldest_makes_room(b: Bench) {
    configure(&b, "q", json!({"max_size": 2, "overflow_policy": "drop_oldest"})).await;
    let urgent = b.enqueue(&PLAIN.replace("\"queue\"", "\"priority\":50,\"queue\"")).await;
    let second = b.job().await;
    let third = b.job().await;
    assert_eq!(b.state(urgent).await, JobState::Discarded, "age counts, not priority");
    assert_eq!((b.state(second).await, b.state(third).await), (JobState::Available, JobState::Available));
    let history = b.get(urgent).await.history;
    assert!(history.errors.contains("\"overflow\""), "{}", history.errors);
    assert_eq!(names(&b, "backpressure.dropped").await.len(), 1);
    assert_eq!(place(&b, &[PLAIN; 3]).await.unwrap_err().status, 429, "more than it ever holds");
}

async fn a_refused_job_drops_no_other(b: Bench) {
    configure(&b, "q", json!({"max_size": 1, "overflow_policy": "drop_oldest"})).await;
    let id = b.job().await;
    let again = format!(r#"{{"type":"t","args":[],"id":"{id}","options":{{"queue":"q"}}}}"#);
    assert_eq!(place(&b, &[&again]).await.unwrap_err().status, 409);
    assert_eq!(b.state(id).await, JobState::Available);
}

async fn a_bound_in_bytes(b: Bench) {
    configure(&b, "q", json!({"max_size_bytes": 2000})).await;
    let large = format!(r#"{{"type":"t","args":["{}"],"options":{{"queue":"q"}}}}"#, "x".repeat(1500));
    place(&b, &[&large]).await.unwrap();
    assert_eq!(place(&b, &[&large]).await.unwrap_err().status, 429);
    place(&b, &[PLAIN]).await.expect("a small one still fits");
    configure(&b, "q", json!({"overflow_policy": "drop_oldest"})).await;
    place(&b, &[&large]).await.unwrap();
    assert_eq!(b.counts("q").await[JobState::Available as usize], 2);
}

async fn a_duplicate_needs_no_place(b: Bench) {
    configure(&b, "q", json!({"max_size": 1})).await;
    let unique = r#"{"type":"t","args":[],"options":{"queue":"q","unique":{"keys":["type"],"on_conflict":"ignore"}}}"#;
    place(&b, &[unique]).await.unwrap();
    assert!(place(&b, &[unique]).await.unwrap()[0].deduplicated);
    place(&b, &[&unique.replace("ignore", "replace")]).await.expect("it takes the place of the other");
    assert_eq!(place(&b, &[PLAIN]).await.unwrap_err().status, 429);
}

async fn a_refused_enqueue_warns_of_nothing(b: Bench) {
    configure(&b, "q", json!({"max_size": 4, "warning_threshold": 0.5})).await;
    let named = PLAIN.replacen('{', r#"{"id":"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f","#, 1);
    place(&b, &[&named]).await.unwrap();
    assert_eq!(place(&b, &[&named]).await.unwrap_err().status, 409, "the id is taken");
    assert_eq!(names(&b, "backpressure").await, Vec::<String>::new());
    place(&b, &[PLAIN]).await.unwrap();
    assert_eq!(names(&b, "backpressure").await, ["backpressure.warning"]);
}

async fn a_warning_comes_once_and_is_taken_back(b: Bench) {
    configure(&b, "q", json!({"max_size": 4, "warning_threshold": 0.5})).await;
    assert_eq!(place(&b, &[PLAIN]).await.unwrap()[0].pressure, None);
    let pressure = place(&b, &[PLAIN]).await.unwrap()[0].pressure.unwrap();
    assert_eq!((pressure.depth, pressure.bound), (2, 4));
    place(&b, &[PLAIN]).await.unwrap();
    assert_eq!(names(&b, "backpressure").await, ["backpressure.warning"]);
    b.claim(3).await;
    assert_eq!(names(&b, "backpressure").await, ["backpressure.warning", "backpressure.cleared"]);
}
