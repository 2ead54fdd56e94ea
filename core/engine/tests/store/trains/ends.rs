//! How jobs end in a train, and how a hold ends.
use ojs_engine::bulk::{Action, Order};
use ojs_engine::command::{Cancel, DeleteDeadLetter, Outcome, Replay};
use ojs_engine::train::TrainState;
use ojs_model::JobState;

use super::{FINAL, advance_train, has_left, hold_train, in_train, join, only, place, states, story, train};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    jt_07b_a_cancelled_job_that_runs_keeps_its_train_until_its_worker_reports,
    jt_07b_a_cancelled_job_keeps_its_train_while_heartbeats_name_it,
    jt_07b_a_cancelled_job_of_a_silent_worker_keeps_its_train_until_its_lease_is_over,
    jt_07b_a_cancelled_job_leaves_at_once_when_it_says_so,
    jt_09_a_discarded_job_that_holds_its_train_runs_again_in_its_place,
    jt_10_an_operator_advances_a_held_train_once,
    jt_11_a_discarded_job_that_left_joins_again_at_the_end,
    jt_14_a_late_ack_moves_nothing,
    jt_19_an_expired_job_counts_as_discarded_and_one_that_waits_just_leaves,
    a_train_that_an_operator_holds_waits_for_nothing_but_the_operator,
    deleting_a_job_that_holds_its_train_lets_the_train_go_on,
);

async fn jt_07b_a_cancelled_job_that_runs_keeps_its_train_until_its_worker_reports(b: Bench) {
    let ids = join(&b, 3).await;
    let first = only(&b).await;
    b.change(Cancel(ids[0])).await.unwrap();
    assert!(b.claim(10).await.is_empty(), "its handler may still run");
    assert_eq!(place(&b, ids[0]).await, (1, true, 0, TrainState::Draining));
    let error = b.ack(&first).await.unwrap_err();
    assert_eq!(error.code, "conflict");
    let second = only(&b).await;
    assert_eq!(second.row.id, ids[1]);
    assert!(has_left(&b, ids[0]).await);
    // Told again, it moves nothing: another job holds the train now.
    b.ack(&first).await.unwrap_err();
    assert!(b.claim(10).await.is_empty());
    // The same by a failure, with the policy to hold.
    b.ack(&second).await.unwrap();
    b.ack(&only(&b).await).await.unwrap();
    b.enqueue(&in_train(r#"{"id":"t","on_cancelled":"hold"}"#, "")).await;
    let held = only(&b).await;
    b.change(Cancel(held.row.id)).await.unwrap();
    assert_eq!(train(&b, "t").await.unwrap().row.state, TrainState::Draining);
    b.nack(&held, FINAL).await.unwrap_err();
    assert_eq!(train(&b, "t").await.unwrap().row.state, TrainState::Held);
}

async fn jt_07b_a_cancelled_job_keeps_its_train_while_heartbeats_name_it(b: Bench) {
    let ids = join(&b, 2).await;
    b.beat("w", &[]).await;
    let first = only(&b).await;
    let named = [(ids[0], Some(first.row.lease))];
    b.change(Cancel(ids[0])).await.unwrap();
    for _ in 0..6 {
        b.advance(seconds(20)).await;
        let (_, cancelled) = b.beat("w", &named).await;
        assert_eq!(cancelled, [ids[0]]);
        assert!(b.claim(10).await.is_empty(), "the worker says that it still runs, for longer than the lease was");
    }
    b.beat("w", &[]).await;
    assert_eq!(only(&b).await.row.id, ids[1], "a heartbeat that does not name it ends the drain");
}

async fn jt_07b_a_cancelled_job_of_a_silent_worker_keeps_its_train_until_its_lease_is_over(b: Bench) {
    let ids = join(&b, 3).await;
    only(&b).await;
    b.change(Cancel(ids[0])).await.unwrap();
    b.advance(seconds(29)).await;
    assert!(b.claim(10).await.is_empty());
    b.advance(seconds(1)).await;
    let second = only(&b).await;
    assert_eq!(second.row.id, ids[1]);
    // A worker that sent heartbeats and is dead: its drain ends with it, before the lease is over.
    b.beat("w", &[(ids[1], Some(second.row.lease))]).await;
    b.settle(ids[1], Some(second.row.lease), Outcome::Release(0)).await.unwrap();
    let claim = ojs_engine::command::Claim {
        queues: vec!["q".to_owned()],
        count: 1,
        worker: Some("w".to_owned()),
        visibility_ms: Some(3_600_000),
        ..Default::default()
    };
    assert_eq!(b.exchange(Vec::new(), Some(claim)).await.1[0].row.id, ids[1]);
    b.change(Cancel(ids[1])).await.unwrap();
    b.advance(seconds(20)).await;
    assert!(b.claim_for(Some("other"), &["q"], 1).await.is_empty());
    b.advance(seconds(300)).await;
    assert_eq!(b.claim_for(Some("other"), &["q"], 1).await[0].row.id, ids[2]);
}

async fn jt_07b_a_cancelled_job_leaves_at_once_when_it_says_so(b: Bench) {
    let first = b.enqueue(&in_train(r#"{"id":"t","cancel_active":"immediate"}"#, "")).await;
    let next = join(&b, 1).await[0];
    only(&b).await;
    b.change(Cancel(first)).await.unwrap();
    assert_eq!(only(&b).await.row.id, next);
}

async fn jt_09_a_discarded_job_that_holds_its_train_runs_again_in_its_place(b: Bench) {
    let first = b.enqueue(&in_train(r#"{"id":"t","on_discarded":"hold"}"#, "")).await;
    let next = join(&b, 1).await[0];
    b.nack(&only(&b).await, FINAL).await.unwrap();
    let again = b.change(Replay(first)).await.unwrap();
    assert_eq!((again.row.state, again.row.attempt), (JobState::Available, 0));
    assert_eq!(place(&b, first).await, (1, true, 0, TrainState::Running));
    assert_eq!(place(&b, next).await.2, 1);
    let claimed = only(&b).await;
    assert_eq!(claimed.row.id, first);
    b.ack(&claimed).await.unwrap();
    assert_eq!(only(&b).await.row.id, next);
    let told = story(&b, "t").await;
    assert!(told.contains(&"train.released".to_owned()), "{told:?}");
}

async fn jt_10_an_operator_advances_a_held_train_once(b: Bench) {
    let first = b.enqueue(&in_train(r#"{"id":"t","on_discarded":"hold"}"#, "")).await;
    let ids = join(&b, 2).await;
    assert_eq!(advance_train(&b, Some(first)).await.unwrap_err().code, "conflict", "it is not held");
    b.nack(&only(&b).await, FINAL).await.unwrap();
    let wrong = advance_train(&b, Some(ids[0])).await.unwrap_err();
    assert_eq!((wrong.code.as_ref(), wrong.details.unwrap()["reason"].as_str()), ("conflict", Some("other_locomotive")));
    let moved = advance_train(&b, Some(first)).await.unwrap();
    assert_eq!((moved.row.state, moved.row.locomotive), (TrainState::Running, Some(ids[0])));
    assert_eq!(states(&b, &ids).await, [JobState::Available, JobState::Pending]);
    assert_eq!(advance_train(&b, Some(first)).await.unwrap_err().code, "conflict");
    assert_eq!(advance_train(&b, None).await.unwrap_err().code, "conflict");
    assert_eq!(states(&b, &ids).await, [JobState::Available, JobState::Pending], "the third still waits (T6)");
    assert!(has_left(&b, first).await);
}

async fn jt_11_a_discarded_job_that_left_joins_again_at_the_end(b: Bench) {
    let ids = join(&b, 3).await;
    b.nack(&only(&b).await, FINAL).await.unwrap();
    let second = only(&b).await;
    let again = b.change(Replay(ids[0])).await.unwrap();
    assert_eq!(again.row.state, JobState::Pending, "never straight to available");
    assert_eq!(place(&b, ids[0]).await, (4, false, 2, TrainState::Running));
    b.ack(&second).await.unwrap();
    for id in [ids[2], ids[0]] {
        let job = only(&b).await;
        assert_eq!(job.row.id, id);
        b.ack(&job).await.unwrap();
    }
    // Into a train that is empty: at once.
    let last = join(&b, 1).await[0];
    b.nack(&only(&b).await, FINAL).await.unwrap();
    assert_eq!(b.change(Replay(last)).await.unwrap().row.state, JobState::Available);
    assert_eq!(only(&b).await.row.id, last);
}

async fn jt_14_a_late_ack_moves_nothing(b: Bench) {
    let ids = join(&b, 3).await;
    let first = only(&b).await;
    b.advance(seconds(31)).await;
    let again = only(&b).await;
    assert_eq!(again.row.id, ids[0]);
    b.ack(&first).await.unwrap_err();
    assert!(b.claim(10).await.is_empty());
    b.ack(&again).await.unwrap();
    b.ack(&again).await.unwrap();
    assert_eq!(only(&b).await.row.id, ids[1], "told twice, it moved once");
    assert!(b.claim(10).await.is_empty());
}

async fn jt_19_an_expired_job_counts_as_discarded_and_one_that_waits_just_leaves(b: Bench) {
    let expires = r#","delay_until":"+PT1H","expires_at":"+PT1M""#;
    let first = b.enqueue(&in_train(r#"{"id":"t","on_discarded":"hold"}"#, expires)).await;
    let second = b.enqueue(&in_train(r#"{"id":"t","on_discarded":"hold"}"#, r#","expires_at":"+PT30S""#)).await;
    let third = join(&b, 1).await[0];
    b.advance(seconds(30)).await;
    assert_eq!(states(&b, &[first, second]).await, [JobState::Scheduled, JobState::Discarded]);
    assert!(has_left(&b, second).await, "it was not its turn, so it holds nothing");
    b.advance(seconds(30)).await;
    assert_eq!(states(&b, &[first, third]).await, [JobState::Discarded, JobState::Pending]);
    assert_eq!(train(&b, "t").await.unwrap().row.held_by, "job.discarded");
    advance_train(&b, None).await.unwrap();
    assert_eq!(only(&b).await.row.id, third);
    // One that is over before it comes never joins.
    let over = b.enqueue(&in_train(r#""u""#, r#","expires_at":"2020-01-01T00:00:00Z""#)).await;
    assert!(has_left(&b, over).await && train(&b, "u").await.is_err());
}

async fn a_train_that_an_operator_holds_waits_for_nothing_but_the_operator(b: Bench) {
    assert_eq!(hold_train(&b).await.unwrap_err().code, "not_found");
    let ids = join(&b, 3).await;
    let first = only(&b).await;
    let held = hold_train(&b).await.unwrap();
    assert_eq!((held.row.state, held.row.held_by.as_str()), (TrainState::Held, "operator"));
    assert_eq!(hold_train(&b).await.unwrap(), held, "held again is held");
    b.ack(&first).await.unwrap();
    assert!(b.claim(10).await.is_empty(), "the locomotive may finish, no other starts");
    assert_eq!(train(&b, "t").await.unwrap().row.locomotive, None);
    assert_eq!(advance_train(&b, Some(ids[0])).await.unwrap_err().code, "conflict");
    assert_eq!(advance_train(&b, None).await.unwrap().row.locomotive, Some(ids[1]));
    // Held while it drains, and advanced before it has drained.
    let second = only(&b).await;
    b.change(Cancel(ids[1])).await.unwrap();
    hold_train(&b).await.unwrap();
    assert_eq!(advance_train(&b, None).await.unwrap().row.state, TrainState::Draining);
    assert!(b.claim(10).await.is_empty());
    hold_train(&b).await.unwrap();
    b.ack(&second).await.unwrap_err();
    assert!(b.claim(10).await.is_empty(), "drained, and still held");
    advance_train(&b, None).await.unwrap();
    assert_eq!(only(&b).await.row.id, ids[2]);
}

async fn deleting_a_job_that_holds_its_train_lets_the_train_go_on(b: Bench) {
    let dead = r#","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}"#;
    for by_dead_letter in [true, false] {
        let first = b.enqueue(&in_train(r#"{"id":"t","on_discarded":"hold"}"#, dead)).await;
        let next = join(&b, 1).await[0];
        b.nack(&only(&b).await, r#"{"code":"x","message":"m"}"#).await.unwrap();
        assert!(b.claim(10).await.is_empty());
        if by_dead_letter {
            b.engine.store().execute(DeleteDeadLetter(first)).await.unwrap();
        } else {
            let order = Order { action: Action::Delete, ids: vec![first], states: Vec::new(), atomic: true };
            b.engine.store().execute(order).await.unwrap().remove(0).unwrap();
        }
        let job = only(&b).await;
        assert_eq!(job.row.id, next);
        b.ack(&job).await.unwrap();
    }
}
