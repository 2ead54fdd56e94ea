//! The epoch of a train: a number that grows with every delivery of any of its jobs, so that a resource can refuse what
//! the handler of an earlier delivery still sends (extensions section 30.5, "fencing").
use ojs_engine::command::{Cancel, HoldTrain, Outcome, Replay, Reset};
use ojs_engine::job::JobView;
use ojs_model::JobId;
use serde_json::json;

use super::{FINAL, in_train, join, only};
use crate::nodes::second_node;
use crate::support::{Bench, seconds};

crate::on_every_store!(
    every_delivery_has_a_larger_epoch,
    a_train_that_begins_anew_goes_on_behind_the_one_before,
    a_train_that_ends_and_begins_in_one_group_goes_on,
    a_resource_refuses_the_handler_of_an_earlier_delivery,
    answers_show_the_epoch_of_the_locomotive_only,
);

fn epoch(job: &JobView) -> i64 {
    job.train.as_ref().unwrap().car.as_ref().unwrap().epoch.unwrap()
}

/// What a handler writes to. It remembers the largest epoch and refuses smaller ones.
#[derive(Default)]
struct Resource {
    latest: i64,
    written: Vec<JobId>,
}

impl Resource {
    fn write(&mut self, job: &JobView) -> bool {
        let passes = epoch(job) >= self.latest;
        if passes {
            self.latest = epoch(job);
            self.written.push(job.row.id);
        }
        passes
    }
}

async fn every_delivery_has_a_larger_epoch(b: Bench) {
    let retry = r#","retry":{"max_attempts":9,"initial_interval":"PT1S","backoff_strategy":"constant","jitter":false}"#;
    let first = b.enqueue(&in_train(r#"{"id":"t","on_discarded":"hold"}"#, retry)).await;
    let rest = join(&b, 2).await;
    let mut epochs = Vec::new();
    let mut deliver = async || {
        let job = only(&b).await;
        epochs.push(epoch(&job));
        job
    };
    // It fails, is given back, loses its worker, is discarded and holds the train, and runs again in its place.
    let job = deliver().await;
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(1)).await;
    let job = deliver().await;
    b.settle(first, Some(job.row.lease), Outcome::Release(0)).await.unwrap();
    deliver().await;
    b.advance(seconds(31)).await;
    let job = deliver().await;
    b.nack(&job, FINAL).await.unwrap();
    b.change(Replay(first)).await.unwrap();
    let job = deliver().await;
    assert_eq!((job.row.id, job.row.attempt), (first, 1), "its attempts begin anew, the epoch does not");
    b.ack(&job).await.unwrap();
    // The next job is cancelled while it runs. The job after it runs once the worker has reported the end.
    let job = deliver().await;
    b.change(Cancel(rest[0])).await.unwrap();
    b.ack(&job).await.unwrap_err();
    assert_eq!(deliver().await.row.id, rest[1]);
    assert_eq!(epochs, [1, 2, 3, 4, 5, 6, 7]);
}

async fn a_train_that_begins_anew_goes_on_behind_the_one_before(b: Bench) {
    let mut latest = 0;
    for life in 0..200 {
        join(&b, 1 + life % 2).await;
        for _ in 0..=life % 2 {
            let job = only(&b).await;
            assert!(epoch(&job) > latest, "{} after {latest}", epoch(&job));
            latest = epoch(&job);
            b.ack(&job).await.unwrap();
        }
        assert!(super::train(&b, "t").await.is_err(), "a train without jobs is gone");
    }
    // A train takes 64 numbers when it ends, so 2^53 of them last.
    assert!(latest < 200 * 64 * 2, "{latest}");
    b.engine.store().execute(Reset).await.unwrap();
    join(&b, 1).await;
    assert_eq!(epoch(&only(&b).await), 1);
}

/// The writer collects commands that arrive together into one transaction.
async fn a_train_that_ends_and_begins_in_one_group_goes_on(b: Bench) {
    join(&b, 1).await;
    let mut latest = 0;
    for _ in 0..50 {
        let job = only(&b).await;
        assert!(epoch(&job) > latest, "{} after {latest}", epoch(&job));
        latest = epoch(&job);
        let (acked, _) = tokio::join!(b.ack(&job), join(&b, 1));
        acked.unwrap();
    }
}

async fn a_resource_refuses_the_handler_of_an_earlier_delivery(b: Bench) {
    let ids = join(&b, 2).await;
    let mut resource = Resource::default();
    let stalled = only(&b).await;
    assert!(resource.write(&stalled));
    // The worker stands still until its lease is over. Another one runs the job, and then the next.
    b.advance(seconds(31)).await;
    let again = only(&b).await;
    assert!(resource.write(&again));
    assert!(!resource.write(&stalled), "the first worker goes on, and its write comes too late");
    b.ack(&stalled).await.unwrap_err();
    b.ack(&again).await.unwrap();
    let next = only(&b).await;
    assert!(resource.write(&next));
    assert!(!resource.write(&stalled) && !resource.write(&again));
    b.ack(&next).await.unwrap();
    // A new train of this id: its job is not taken for an old one.
    let later = join(&b, 1).await;
    assert!(resource.write(&only(&b).await));
    assert_eq!(resource.written, [ids[0], ids[0], ids[1], later[0]]);
}

async fn answers_show_the_epoch_of_the_locomotive_only(b: Bench) {
    let ids = join(&b, 2).await;
    let shown = async |id: JobId| b.http("GET", &format!("/jobs/{id}"), "").await.1["job"]["train"]["epoch"].clone();
    assert_eq!((shown(ids[0]).await, shown(ids[1]).await), (json!(0), json!(null)));
    let (_, fetched) = b.http("POST", "/workers/fetch", r#"{"queues":["q"],"worker_id":"w"}"#).await;
    assert_eq!(fetched["jobs"][0]["train"]["epoch"], 1, "{fetched}");
    assert_eq!(shown(ids[0]).await, json!(1));
    let ack = json!({"job_id": ids[0], "worker_id": "w"}).to_string();
    b.http("POST", "/workers/ack", &ack).await;
    assert_eq!((shown(ids[0]).await, shown(ids[1]).await), (json!(null), json!(1)), "its turn has come");
    // A job that holds the train was counted when it ended.
    b.engine.store().execute(HoldTrain { id: "t".to_owned(), by: "operator".to_owned() }).await.unwrap();
    assert_eq!(shown(ids[1]).await, json!(1));
}

#[tokio::test]
async fn epochs_grow_on_two_nodes() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let mut latest = 0;
    for turn in 0..40 {
        // Enqueued by one node, handed out by the other, and the other way round; the train ends each time.
        let (producer, worker) = if turn % 2 == 0 { (&b, &other) } else { (&other, &b) };
        join(producer, 1).await;
        let job = only(worker).await;
        assert!(epoch(&job) > latest, "{} after {latest}", epoch(&job));
        latest = epoch(&job);
        worker.ack(&job).await.unwrap();
    }
}
