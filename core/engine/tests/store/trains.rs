//! Job trains (extensions section 30): the jobs of one train run one after another. The tests bear the ids of the
//! specification's table.
use std::time::Duration;

use ojs_engine::command::{Activate, AdvanceTrain, Cancel, Claim, GetTrain, HoldTrain, Outcome, OutcomeReport};
use ojs_engine::error::Refusal;
use ojs_engine::job::JobView;
use ojs_engine::train::{TrainState, TrainView};
use ojs_model::{JobId, JobState, OjsError};

use crate::support::{Bench, seconds};

mod ends;
mod epoch;
mod life;
mod random;
mod wire;

crate::on_every_store!(
    jt_01_only_the_first_job_is_handed_out,
    jt_02_an_ack_hands_out_the_next_job_in_the_same_exchange,
    jt_02_an_ack_hands_out_the_next_job_before_one_of_lower_priority,
    jt_04_a_failed_job_keeps_its_place,
    jt_06_a_discarded_job_advances_its_train_or_holds_it,
    jt_07_a_cancelled_job_advances_its_train_or_holds_it,
    jt_08_a_waiting_job_that_is_cancelled_leaves,
    jt_17_a_waiting_job_cannot_be_activated_and_a_staged_one_can,
    jt_18_a_scheduled_job_blocks_its_train,
    jt_22_a_batch_joins_in_its_order_or_not_at_all,
);

/// A request for a job on queue `q` in a train.
pub fn in_train(train: &str, options: &str) -> String {
    format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","train":{train}{options}}}}}"#)
}

/// Enqueues jobs of train `t`.
pub async fn join(b: &Bench, jobs: usize) -> Vec<JobId> {
    let mut ids = Vec::new();
    for _ in 0..jobs {
        ids.push(b.enqueue(&in_train(r#""t""#, "")).await);
    }
    ids
}

/// What the train of an id looks like.
pub async fn train(b: &Bench, id: &str) -> Result<TrainView, OjsError> {
    let get = GetTrain { id: id.to_owned(), after: 0, limit: 1000 };
    b.engine.store().query(get).await.map_err(|refusal| refusal.into_error().unwrap())
}

/// Id, position, role, ahead and state of a job, as an answer shows them.
pub async fn place(b: &Bench, id: JobId) -> (i64, bool, usize, TrainState) {
    let car = b.get(id).await.train.unwrap().car.unwrap();
    (car.position, car.leads, car.ahead, car.state)
}

/// That a job has left its train.
pub async fn has_left(b: &Bench, id: JobId) -> bool {
    b.get(id).await.train.unwrap().car.is_none()
}

pub async fn states(b: &Bench, ids: &[JobId]) -> Vec<JobState> {
    let mut states = Vec::new();
    for id in ids {
        states.push(b.state(*id).await);
    }
    states
}

/// Names of the events of a train, in order.
pub async fn story(b: &Bench, train: &str) -> Vec<String> {
    let (events, _, _) = b.events(ojs_engine::EventFilter::default()).await;
    events.into_iter().filter(|event| event.subject == train).map(|event| event.name).collect()
}

pub async fn advance_train(b: &Bench, job: Option<JobId>) -> Result<TrainView, OjsError> {
    let advance = AdvanceTrain { id: "t".to_owned(), job, by: "operator".to_owned() };
    b.engine.store().execute(advance).await.map_err(|refusal: Refusal| refusal.into_error().unwrap())
}

pub async fn hold_train(b: &Bench) -> Result<TrainView, OjsError> {
    let hold = HoldTrain { id: "t".to_owned(), by: "operator".to_owned() };
    b.engine.store().execute(hold).await.map_err(|refusal: Refusal| refusal.into_error().unwrap())
}

/// Claims the one job that the queue hands out.
pub async fn only(b: &Bench) -> JobView {
    let mut jobs = b.claim(10).await;
    assert_eq!(jobs.len(), 1, "exactly one job of a train is handed out");
    jobs.remove(0)
}

/// An error after which the job is discarded.
pub const FINAL: &str = r#"{"code":"x","message":"m","retryable":false}"#;

async fn jt_01_only_the_first_job_is_handed_out(b: Bench) {
    let ids = join(&b, 3).await;
    use JobState::{Active, Available, Pending};
    assert_eq!(states(&b, &ids).await, [Available, Pending, Pending]);
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(place(&b, *id).await, (index as i64 + 1, index == 0, index, TrainState::Running));
    }
    let first = only(&b).await;
    assert_eq!(first.row.id, ids[0]);
    assert!(first.train.unwrap().car.unwrap().leads, "the delivery says where the job stands");
    assert_eq!(states(&b, &ids).await, [Active, Pending, Pending]);
    let train = train(&b, "t").await.unwrap();
    assert_eq!((train.row.locomotive, train.total), (Some(ids[0]), 3));
    let cars: Vec<_> = train.cars.iter().map(|(car, state)| (car.job, car.position, state.unwrap())).collect();
    assert_eq!(cars, [(ids[0], 1, Active), (ids[1], 2, Pending), (ids[2], 3, Pending)]);
    assert!(b.story(ids[1]).await.is_empty(), "a job that waits has not been enqueued");
    assert_eq!(story(&b, "t").await, ["train.joined", "train.departed", "train.joined", "train.joined"]);
}

async fn jt_02_an_ack_hands_out_the_next_job_in_the_same_exchange(b: Bench) {
    let ids = join(&b, 3).await;
    let mut job = only(&b).await;
    let mut ran = vec![job.row.id];
    let claim = Claim { queues: vec!["q".to_owned()], count: 5, worker: Some("w".to_owned()), ..Claim::default() };
    for _ in 1..3 {
        let outcome = Outcome::Ack(None);
        let report = OutcomeReport { job: job.row.id, lease: Some(job.row.lease), worker: None, outcome, want_job: true };
        let (results, mut jobs) = b.exchange(vec![report], Some(claim.clone())).await;
        assert!(results[0].as_ref().unwrap().job.as_ref().unwrap().train.as_ref().unwrap().car.is_none(), "it has left");
        assert_eq!(jobs.len(), 1);
        job = jobs.remove(0);
        ran.push(job.row.id);
    }
    b.ack(&job).await.unwrap();
    assert_eq!(ran, ids);
    assert!(has_left(&b, ids[2]).await);
    assert_eq!(train(&b, "t").await.unwrap_err().code, "not_found", "a train without jobs is gone");
    let told = b.story(ids[1]).await;
    assert_eq!(told, ["job.enqueued", "job.started", "job.completed"]);
}

/// The line is read before the acks of the same exchange, and the next job of the train stands before what was read.
async fn jt_02_an_ack_hands_out_the_next_job_before_one_of_lower_priority(b: Bench) {
    let mut urgent = Vec::new();
    for _ in 0..4 {
        urgent.push(b.enqueue(&in_train(r#""t""#, r#","priority":5"#)).await);
    }
    let low = [b.job().await, b.job().await];
    let claim = Claim { queues: vec!["q".to_owned()], count: 1, worker: Some("w".to_owned()), ..Claim::default() };
    let (mut ran, mut outcomes) = (Vec::new(), Vec::new());
    loop {
        let (results, jobs) = b.exchange(std::mem::take(&mut outcomes), Some(claim.clone())).await;
        assert!(results.iter().all(Result::is_ok));
        let Some(job) = jobs.into_iter().next() else { break };
        ran.push(job.row.id);
        let outcome = Outcome::Ack(None);
        outcomes.push(OutcomeReport { job: job.row.id, lease: Some(job.row.lease), worker: None, outcome, want_job: false });
    }
    assert_eq!(ran, [urgent.as_slice(), &low].concat());
}

async fn jt_04_a_failed_job_keeps_its_place(b: Bench) {
    let ids = [b.enqueue(&in_train(r#""t""#, r#","retry":{"max_attempts":3,"jitter":false}"#)).await, join(&b, 1).await[0]];
    let first = only(&b).await;
    b.nack(&first, r#"{"code":"x","message":"m"}"#).await.unwrap();
    assert!(b.claim(10).await.is_empty(), "the job after it waits for the back-off too");
    assert_eq!(states(&b, &ids).await, [JobState::Retryable, JobState::Pending]);
    b.advance(seconds(60)).await;
    let again = only(&b).await;
    assert_eq!((again.row.id, again.row.attempt), (ids[0], 2));
    // Given back without charge, and lost by a worker that is silent: the place is kept (T8).
    b.settle(ids[0], Some(again.row.lease), Outcome::Release(5_000)).await.unwrap();
    assert!(b.claim(10).await.is_empty());
    b.advance(seconds(5)).await;
    assert_eq!(only(&b).await.row.id, ids[0]);
    b.advance(seconds(31)).await;
    let last = only(&b).await;
    assert_eq!(last.row.id, ids[0], "its lease ran out, and it came back before the others");
    assert_eq!(place(&b, ids[1]).await, (2, false, 1, TrainState::Running));
    b.ack(&last).await.unwrap();
    assert_eq!(only(&b).await.row.id, ids[1]);
}

async fn jt_06_a_discarded_job_advances_its_train_or_holds_it(b: Bench) {
    let ids = join(&b, 2).await;
    let first = only(&b).await;
    b.nack(&first, FINAL).await.unwrap();
    let second = only(&b).await;
    assert_eq!(second.row.id, ids[1]);
    b.ack(&second).await.unwrap();

    let holds = b.enqueue(&in_train(r#"{"id":"t","on_discarded":"hold"}"#, "")).await;
    let next = join(&b, 1).await[0];
    let first = only(&b).await;
    assert_eq!(first.row.id, holds);
    b.nack(&first, FINAL).await.unwrap();
    assert!(b.claim(10).await.is_empty());
    assert_eq!(b.state(next).await, JobState::Pending);
    let held = train(&b, "t").await.unwrap();
    assert_eq!((held.row.state, held.row.held_by.as_str(), held.row.held_at), (TrainState::Held, "job.discarded", b.now()));
    assert_eq!(held.row.locomotive, Some(holds));
    assert_eq!(place(&b, next).await.3, TrainState::Held);
    assert_eq!(story(&b, "t").await.last().unwrap(), "train.held");
}

async fn jt_07_a_cancelled_job_advances_its_train_or_holds_it(b: Bench) {
    let ids = [
        b.enqueue(&in_train(r#""t""#, "")).await,
        b.enqueue(&in_train(r#""t""#, r#","retry":{"max_attempts":3,"jitter":false}"#)).await,
        b.enqueue(&in_train(r#"{"id":"t","on_cancelled":"hold"}"#, "")).await,
        join(&b, 1).await[0],
    ];
    b.change(Cancel(ids[0])).await.unwrap();
    let second = only(&b).await;
    assert_eq!(second.row.id, ids[1], "an available job is cancelled: the next one at once");
    b.nack(&second, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.change(Cancel(ids[1])).await.unwrap();
    assert_eq!(b.state(ids[2]).await, JobState::Available, "the same for one that waits for its retry");
    b.change(Cancel(ids[2])).await.unwrap();
    assert!(b.claim(10).await.is_empty());
    let held = train(&b, "t").await.unwrap().row;
    assert_eq!((held.state, held.held_by.as_str()), (TrainState::Held, "job.cancelled"));
    // A cancelled job cannot run again, so an operator must advance.
    advance_train(&b, Some(ids[2])).await.unwrap();
    assert_eq!(only(&b).await.row.id, ids[3]);
}

async fn jt_08_a_waiting_job_that_is_cancelled_leaves(b: Bench) {
    let ids = join(&b, 4).await;
    let first = only(&b).await;
    b.change(Cancel(ids[1])).await.unwrap();
    assert!(has_left(&b, ids[1]).await);
    assert_eq!(place(&b, ids[2]).await, (3, false, 1, TrainState::Running), "positions stay, fewer are ahead");
    b.ack(&first).await.unwrap();
    let third = only(&b).await;
    assert_eq!(third.row.id, ids[2]);
    // The last one that waits goes as well: the train ends with its locomotive.
    b.change(Cancel(ids[3])).await.unwrap();
    b.ack(&third).await.unwrap();
    assert_eq!(train(&b, "t").await.unwrap_err().code, "not_found");
}

async fn jt_17_a_waiting_job_cannot_be_activated_and_a_staged_one_can(b: Bench) {
    let staged = b.enqueue(&in_train(r#""t""#, r#","pending":true"#)).await;
    let waiting = b.enqueue(&in_train(r#""t""#, r#","pending":true"#)).await;
    let error = b.change(Activate(waiting)).await.unwrap_err();
    assert_eq!((error.code.as_ref(), error.details.unwrap()["reason"].as_str()), ("conflict", Some("waits_in_train")));
    assert!(b.claim(10).await.is_empty(), "a staged job blocks its train");
    b.change(Activate(staged)).await.unwrap();
    let first = only(&b).await;
    assert_eq!(first.row.id, staged);
    b.ack(&first).await.unwrap();
    assert!(b.claim(10).await.is_empty(), "its turn has come, and it is staged");
    assert_eq!(place(&b, waiting).await, (2, true, 0, TrainState::Running));
    b.change(Activate(waiting)).await.unwrap();
    assert_eq!(only(&b).await.row.id, waiting);
}

async fn jt_18_a_scheduled_job_blocks_its_train(b: Bench) {
    let later = b.enqueue(&in_train(r#""t""#, r#","delay_until":"+PT2S""#)).await;
    let now = join(&b, 1).await[0];
    let last = b.enqueue(&in_train(r#""t""#, r#","delay_until":"+PT1H""#)).await;
    assert_eq!(states(&b, &[later, now, last]).await, [JobState::Scheduled, JobState::Pending, JobState::Pending]);
    assert!(b.claim(10).await.is_empty());
    b.advance(Duration::from_millis(1999)).await;
    assert!(b.claim(10).await.is_empty());
    b.advance(Duration::from_millis(1)).await;
    b.ack(&only(&b).await).await.unwrap();
    let second = only(&b).await;
    assert_eq!(second.row.id, now);
    b.ack(&second).await.unwrap();
    assert_eq!(b.state(last).await, JobState::Scheduled, "its turn has come, and its time has not");
    b.advance(seconds(3600)).await;
    assert_eq!(only(&b).await.row.id, last);
}

async fn jt_22_a_batch_joins_in_its_order_or_not_at_all(b: Bench) {
    let request = in_train(r#""t""#, "");
    let known = b.job().await;
    b.claim(1).await;
    let twice = format!(r#"{{"id":"{known}","type":"t","args":[],"options":{{"queue":"q"}}}}"#);
    b.try_enqueue(&[&request, &twice]).await.unwrap_err();
    assert_eq!(train(&b, "t").await.unwrap_err().code, "not_found", "nothing has joined");
    let jobs = b.try_enqueue(&[&request, &request, &request]).await.unwrap();
    let places: Vec<_> = jobs.iter().map(|job| job.train.as_ref().unwrap().car.as_ref().unwrap()).collect();
    let told: Vec<_> = places.iter().map(|car| (car.position, car.leads, car.ahead)).collect();
    assert_eq!(told, [(1, true, 0), (2, false, 1), (3, false, 2)], "the answer says where each stands");
    assert_eq!(jobs[0].row.state, JobState::Available);
    assert_eq!(jobs[1].row.state, JobState::Pending);
    for job in jobs {
        let claimed = only(&b).await;
        assert_eq!(claimed.row.id, job.row.id);
        b.ack(&claimed).await.unwrap();
    }
}
