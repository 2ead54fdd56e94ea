//! Trains beside everything else: other trains, queues, limits, uniqueness, workflows, cron, restarts and faults.
use std::collections::BTreeSet;

use futures_util::future::join_all;
use ojs_engine::command::{Claim, CountTrains, CreateWorkflow, Outcome, OutcomeReport, PutCron, SetPaused};
use ojs_engine::cron::{CronRow, Overlap};
use ojs_engine::train::TrainState;
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobState, Timestamp};

use super::{in_train, join, only, place, states, story, train};
use crate::faults::spoil;
use crate::nodes::{advance_together, application, second_node};
use crate::support::{Bench, START, seconds};

crate::on_every_store!(
    jt_12_a_job_of_a_dead_worker_comes_back_before_the_others,
    jt_20_trains_do_not_delay_each_other,
    jt_21_a_duplicate_does_not_join_and_a_replacement_joins_at_the_end,
    jt_25_a_paused_queue_stops_the_whole_train,
    jt_26_a_limited_locomotive_waits_as_available,
    jt_27_steps_and_cron_runs_join_their_trains,
    jt_28_trains_without_jobs_leave_no_records,
);

async fn jt_12_a_job_of_a_dead_worker_comes_back_before_the_others(b: Bench) {
    let ids = join(&b, 2).await;
    b.beat("w", &[]).await;
    only(&b).await;
    b.advance(seconds(31)).await;
    assert_eq!(states(&b, &ids).await, [JobState::Available, JobState::Pending]);
    let again = b.claim_for(Some("other"), &["q"], 10).await;
    assert_eq!((again.len(), again[0].row.id), (1, ids[0]));
}

async fn jt_20_trains_do_not_delay_each_other(b: Bench) {
    let low = b.enqueue(&in_train(r#""low""#, "")).await;
    let after_low = b.enqueue(&in_train(r#""low""#, r#","priority":100"#)).await;
    let high = b.enqueue(&in_train(r#""high""#, r#","priority":5"#)).await;
    let plain = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","priority":3}}"#).await;
    let jobs = b.claim(10).await;
    let ids: Vec<_> = jobs.iter().map(|job| job.row.id).collect();
    assert_eq!(ids, [high, plain, low], "priority chooses among the heads; inside a train only the position counts");
    b.ack(&jobs[2]).await.unwrap();
    assert_eq!(only(&b).await.row.id, after_low);
}

async fn jt_21_a_duplicate_does_not_join_and_a_replacement_joins_at_the_end(b: Bench) {
    let request = |arg: u8, on_conflict: &str| {
        let unique = format!(r#"{{"keys":["type","args"],"on_conflict":"{on_conflict}"}}"#);
        format!(r#"{{"type":"t","args":[{arg}],"options":{{"queue":"q","train":"t","unique":{unique}}}}}"#)
    };
    let first = b.enqueue(&request(1, "reject")).await;
    let second = b.enqueue(&request(2, "replace")).await;
    b.try_enqueue(&[&request(1, "reject")]).await.unwrap_err();
    let third = b.enqueue(&request(3, "ignore")).await;
    assert_eq!(b.enqueue(&request(3, "ignore")).await, third);
    assert_eq!(place(&b, third).await.0, 3, "what was refused or found has not joined");
    let replacement = b.enqueue(&request(2, "replace")).await;
    assert_eq!(b.state(second).await, JobState::Cancelled);
    assert_eq!(place(&b, replacement).await.0, 4);
    // The locomotive is replaced: the next one runs, and the replacement comes last.
    b.enqueue(&request(1, "replace")).await;
    assert_eq!(b.state(first).await, JobState::Cancelled);
    let mut ran = Vec::new();
    while let Some(job) = b.claim(1).await.pop() {
        ran.push(job.body.text.split("\"args\":[").nth(1).unwrap()[..1].to_owned());
        b.ack(&job).await.unwrap();
    }
    assert_eq!(ran, ["3", "2", "1"]);
}

async fn jt_25_a_paused_queue_stops_the_whole_train(b: Bench) {
    let first = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"p","train":"t"}}"#).await;
    let second = join(&b, 1).await[0];
    let pause = |paused| b.engine.store().execute(SetPaused { queue: "p".to_owned(), paused });
    pause(true).await.unwrap();
    assert!(b.claim_for(Some("w"), &["p", "q"], 10).await.is_empty());
    pause(false).await.unwrap();
    for id in [first, second] {
        let job = b.claim_for(Some("w"), &["p", "q"], 10).await.remove(0);
        assert_eq!(job.row.id, id);
        b.ack(&job).await.unwrap();
    }
}

async fn jt_26_a_limited_locomotive_waits_as_available(b: Bench) {
    let limit = r#","rate_limit":{"key":"k","concurrency":1}"#;
    let holder = b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{{"queue":"q"{limit}}}}}"#)).await;
    let running = only(&b).await;
    let first = b.enqueue(&in_train(r#""t""#, limit)).await;
    let second = join(&b, 1).await[0];
    let other = b.enqueue(&in_train(r#""u""#, "")).await;
    assert_eq!(only(&b).await.row.id, other, "others run");
    assert_eq!(states(&b, &[holder, first, second]).await, [JobState::Active, JobState::Available, JobState::Pending]);
    b.ack(&running).await.unwrap();
    assert_eq!(only(&b).await.row.id, first);
}

async fn jt_27_steps_and_cron_runs_join_their_trains(b: Bench) {
    let before = join(&b, 1).await[0];
    let step = r#"{"type":"s","args":[],"options":{"queue":"q","train":"t"}}"#;
    let chain = format!(r#"{{"type":"chain","steps":[{step},{step}]}}"#);
    let workflow = NewWorkflow::parse(&chain, Timestamp::from_millis(START)).unwrap();
    drop(b.engine.store().execute(CreateWorkflow(workflow)).await.unwrap());
    let row = CronRow {
        name: "c".into(),
        expression: "* * * * *".into(),
        timezone: "UTC".into(),
        overlap: Overlap::Skip,
        enabled: true,
        description: None,
        template: r#"{"type":"c","args":[],"meta":{"train_id":"t"},"options":{"queue":"q"}}"#.into(),
        created_at: START,
        next_at: 0,
        last_at: 0,
        run_count: 0,
        last_job: None,
        waiting: 0,
    };
    drop(b.engine.store().execute(PutCron(row)).await.unwrap());
    // Due twice: the second run is skipped, because the first one still waits in its train.
    b.advance(seconds(60)).await;
    b.advance(seconds(60)).await;
    assert_eq!(train(&b, "t").await.unwrap().total, 3, "a job, the first step and one cron run");
    let mut ran = Vec::new();
    while let Some(job) = b.claim(10).await.pop() {
        ran.push((job.row.id == before, job.body.text.split("\"type\":\"").nth(1).unwrap()[..1].to_owned()));
        b.ack(&job).await.unwrap();
    }
    let told: Vec<_> = ran.iter().map(|(first, kind)| (*first, kind.as_str())).collect();
    assert_eq!(told, [(true, "t"), (false, "s"), (false, "c"), (false, "s")], "the second step joins when the first has ended");
}

async fn jt_28_trains_without_jobs_leave_no_records(b: Bench) {
    let requests: Vec<String> = (0..200).map(|n| in_train(&format!("\"dest_{}\"", n % 100), "")).collect();
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    b.try_enqueue(&requests).await.unwrap();
    assert_eq!(b.engine.store().query(CountTrains).await.unwrap(), [100, 0, 200]);
    for _ in 0..2 {
        let jobs = b.claim(1000).await;
        assert_eq!(jobs.len(), 100);
        let report = |job: &ojs_engine::job::JobView| OutcomeReport {
            job: job.row.id,
            lease: Some(job.row.lease),
            worker: None,
            outcome: Outcome::Ack(None),
            want_job: false,
        };
        let (results, _) = b.exchange(jobs.iter().map(report).collect(), None).await;
        assert!(results.iter().all(Result::is_ok));
    }
    assert_eq!(b.engine.store().query(CountTrains).await.unwrap(), [0, 0, 0]);
}

/// JT-30: the same order and the same holder after a restart.
async fn jt_30_a_restart_changes_nothing(b: Bench) {
    let ids = join(&b, 3).await;
    let first = only(&b).await;
    let b = b.reopened().await;
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(place(&b, *id).await.0, index as i64 + 1);
    }
    b.ack(&first).await.unwrap();
    let b = b.reopened().await;
    for id in &ids[1..] {
        let job = only(&b).await;
        assert_eq!(job.row.id, *id);
        b.ack(&job).await.unwrap();
    }
}

/// JT-15: the row of the locomotive is deleted behind the engine's back.
async fn jt_15_a_locomotive_without_a_row_is_replaced(b: Bench) {
    let ids = join(&b, 2).await;
    let (sqlite, postgres) = (
        "DELETE FROM jobs WHERE seq = (SELECT min(seq) FROM jobs)",
        "DELETE FROM ojs_jobs WHERE seq = (SELECT min(seq) FROM ojs_jobs)",
    );
    spoil(&b, sqlite, postgres).await;
    let b = b.reopened().await;
    b.advance(seconds(61)).await;
    assert_eq!(only(&b).await.row.id, ids[1]);
    assert!(story(&b, "t").await.contains(&"train.repaired".to_owned()));
    assert_eq!(b.engine.store().query(CountTrains).await.unwrap(), [1, 0, 1]);
}

/// JT-16: a train has cars and no locomotive.
async fn jt_16_a_train_without_a_locomotive_gets_its_lowest_car(b: Bench) {
    let ids = join(&b, 3).await;
    let job = only(&b).await;
    spoil(&b, "UPDATE trains SET locomotive = NULL", "UPDATE ojs_trains SET locomotive = NULL").await;
    let b = b.reopened().await;
    // The first sweep of a start repairs.
    b.advance(seconds(1)).await;
    assert_eq!(place(&b, ids[0]).await, (1, true, 0, TrainState::Running), "it is under way already");
    b.ack(&job).await.unwrap();
    assert_eq!(only(&b).await.row.id, ids[1]);
    assert_eq!(b.state(ids[2]).await, JobState::Pending);
    assert_eq!(b.engine.audit().await.unwrap().findings, []);
}

/// The sweep puts a job back that became available before its turn, and lets one that already runs finish first.
async fn a_job_before_its_turn_is_put_back_or_waited_for(b: Bench) {
    let ids = join(&b, 2).await;
    // The second becomes available although the first is.
    let flags = 1 << 13;
    spoil(
        &b,
        &format!("UPDATE jobs SET state = 1, pos = 7, enqueued_at = 7, flags = flags & ~{flags} WHERE flags & {flags} <> 0"),
        &format!("UPDATE ojs_runs SET state = 1, pos = 7, enqueued_at = 7, flags = flags & ~{flags} WHERE flags & {flags} <> 0"),
    )
    .await;
    let b = b.reopened().await;
    b.advance(seconds(61)).await;
    assert_eq!(states(&b, &ids).await, [JobState::Available, JobState::Pending]);
    for id in ids {
        let job = only(&b).await;
        assert_eq!(job.row.id, id);
        b.ack(&job).await.unwrap();
    }
}

macro_rules! on_both {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #[tokio::test]
            async fn sqlite() { super::$name(crate::support::Bench::sqlite().await).await }
            #[tokio::test]
            async fn postgres() { super::$name(crate::support::Bench::postgres().await).await }
        }
    )*};
}

on_both!(
    jt_15_a_locomotive_without_a_row_is_replaced,
    jt_16_a_train_without_a_locomotive_gets_its_lowest_car,
    jt_30_a_restart_changes_nothing,
    a_job_before_its_turn_is_put_back_or_waited_for,
);

#[tokio::test]
async fn jt_03_jobs_join_through_two_nodes_and_never_run_side_by_side() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let request = in_train(r#""t""#, "");
    let requests = [request.as_str()];
    let joins = (0..50).map(|n| if n % 2 == 0 { b.try_enqueue(&requests) } else { other.try_enqueue(&requests) });
    let joined = join_all(joins).await;
    let ids: Vec<_> = joined.into_iter().map(|jobs| jobs.unwrap().remove(0).row.id).collect();
    let mut positions = BTreeSet::new();
    for id in &ids {
        positions.insert(place(&b, *id).await.0);
    }
    assert_eq!(positions, (1..=50).collect(), "positions are dense");
    let available = states(&b, &ids).await.into_iter().filter(|state| *state == JobState::Available).count();
    assert_eq!(available, 1);
    let mut last = 0;
    for _ in 0..50 {
        let (one, two) = tokio::join!(b.claim_for(Some("one"), &["q"], 10), other.claim_for(Some("two"), &["q"], 10));
        let jobs: Vec<_> = one.into_iter().chain(two).collect();
        assert_eq!(jobs.len(), 1, "at most one job of a train is active on all nodes together (T1, T2)");
        let position = jobs[0].train.as_ref().unwrap().car.as_ref().unwrap().position;
        assert!(position > last, "in the order of positions (T4)");
        last = position;
        // Through the node that did not claim it, while the other one enqueues.
        let (acked, more) = tokio::join!(other.ack(&jobs[0]), b.try_enqueue(&[r#"{"type":"t","args":[]}"#]));
        acked.unwrap();
        more.unwrap();
    }
    assert_eq!(b.engine.store().query(CountTrains).await.unwrap(), [0, 0, 0]);
}

/// A node that has not claimed for a while, or never, reads the line of the queue before the acks of the same exchange.
#[tokio::test]
async fn jt_02_an_ack_through_a_node_that_has_claimed_nothing_hands_out_the_next_job() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let ids = join(&b, 2).await;
    let job = only(&b).await;
    let outcome = Outcome::Ack(None);
    let report = OutcomeReport { job: job.row.id, lease: Some(job.row.lease), worker: None, outcome, want_job: false };
    let claim = Claim { queues: vec!["q".to_owned()], count: 5, worker: Some("w".to_owned()), ..Claim::default() };
    let (results, jobs) = other.exchange(vec![report], Some(claim)).await;
    results[0].as_ref().unwrap();
    assert_eq!(jobs.iter().map(|job| job.row.id).collect::<Vec<_>>(), ids[1..]);
}

/// The job ends and the next job of its train becomes available in one transaction: PostgreSQL shows which transaction
/// wrote a row.
#[tokio::test]
async fn an_ack_and_the_advance_of_its_train_are_one_transaction() {
    let b = Bench::postgres().await;
    let ids = join(&b, 3).await;
    let client = application(&b).await;
    let written = async |job: usize| -> String {
        let asked = format!("SELECT xmin::text FROM ojs_runs WHERE id = '{}'", ids[job]);
        client.query_one(&asked, &[]).await.unwrap().get(0)
    };
    let first = only(&b).await;
    assert_ne!(written(0).await, written(1).await, "nothing has written both yet");
    b.ack(&first).await.unwrap();
    assert_eq!(written(0).await, written(1).await, "the ack, and the next job that becomes available");
    assert_ne!(written(1).await, written(2).await, "the one after it still waits");
    b.nack(&only(&b).await, super::FINAL).await.unwrap();
    assert_eq!(written(1).await, written(2).await, "a job that is discarded lets the next one go in the same way");
}

#[tokio::test]
async fn groups_of_two_nodes_enqueue_into_many_trains() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let requests: Vec<String> = (0..40).map(|n| in_train(&format!("\"dest_{}\"", n % 8), "")).collect();
    let forward: Vec<&str> = requests.iter().map(String::as_str).collect();
    let backward: Vec<&str> = requests.iter().rev().map(String::as_str).collect();
    for _ in 0..5 {
        let (one, two) = tokio::join!(b.try_enqueue(&forward), other.try_enqueue(&backward));
        one.unwrap();
        two.unwrap();
    }
    assert_eq!(b.engine.store().query(CountTrains).await.unwrap(), [8, 0, 400]);
}

#[tokio::test]
async fn rows_that_plain_sql_inserts_join_their_train() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let first = join(&b, 1).await[0];
    let client = application(&b).await;
    let insert = r#"INSERT INTO ojs_jobs (type, args, queue, meta) VALUES ('t', '[]', 'q', '{"train_id":"t"}')"#;
    client.batch_execute(insert).await.unwrap();
    advance_together(&b, &other, seconds(1)).await;
    let job = only(&b).await;
    assert_eq!(job.row.id, first);
    b.ack(&job).await.unwrap();
    assert_eq!(only(&b).await.train.unwrap().car.unwrap().position, 2);
}
