use ojs_engine::command::{Activate, Cancel, Direct, Heartbeat, Outcome, Replay, Reset};
use ojs_engine::rows::Directive;
use ojs_model::{JobError, JobState};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    operations_against_states,
    activation_remembers_a_schedule,
    unknown_jobs_are_not_found,
    a_directive_reaches_the_worker
);

/// The table of protocol section 2.2, cell by cell.
async fn operations_against_states(b: Bench) {
    use JobState::{Active, Available, Discarded, Pending, Retryable, Scheduled};
    let allowed: [(&str, &[JobState]); 5] = [
        ("ack", &[Active]),
        ("nack", &[Active]),
        ("cancel", &[Scheduled, Available, Pending, Active, Retryable]),
        ("activate", &[Pending]),
        ("replay", &[Discarded]),
    ];
    for (operation, states) in allowed {
        for state in JobState::ALL {
            // An available leftover of an earlier cell would be claimed first.
            b.engine.store().execute(Reset).await.unwrap();
            let id = b.job_in(state).await;
            assert_eq!(b.state(id).await, state);
            let error = JobError::engine(ojs_model::ErrorCode::HandlerError, "m");
            let refused = match operation {
                "ack" => b.settle(id, None, Outcome::Ack(None)).await.err(),
                "nack" => b.settle(id, None, Outcome::Nack(Box::new(error))).await.err(),
                "cancel" => b.change(Cancel(id)).await.err(),
                "activate" => b.change(Activate(id)).await.err(),
                _ => b.change(Replay(id)).await.err(),
            };
            match refused {
                None => assert!(states.contains(&state), "{operation} on {state} was accepted"),
                Some(error) => {
                    assert!(!states.contains(&state), "{operation} on {state}: {error}");
                    assert_eq!((error.status, error.code.as_ref()), (409, "conflict"));
                    assert_eq!(error.details.unwrap()["current_state"], state.as_str());
                    assert_eq!(b.state(id).await, state, "a refusal changes nothing");
                }
            }
        }
    }
}

async fn activation_remembers_a_schedule(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","pending":true,"delay_until":"+PT10S"}}"#).await;
    let view = b.change(Activate(id)).await.unwrap();
    assert_eq!((view.row.state, view.row.activated_at), (JobState::Scheduled, b.now()));
    b.advance(seconds(10)).await;
    assert_eq!(b.state(id).await, JobState::Available);
}

async fn unknown_jobs_are_not_found(b: Bench) {
    let id = ojs_model::JobId::now_v7();
    for answer in [b.change(Cancel(id)).await, b.change(Activate(id)).await, b.change(Replay(id)).await] {
        assert_eq!(answer.unwrap_err().status, 404);
    }
    assert_eq!(b.settle(id, Some(1), Outcome::Ack(None)).await.unwrap_err().status, 404);
}

async fn a_directive_reaches_the_worker(b: Bench) {
    let direct = || b.engine.store().execute(Direct { worker: "w".into(), directive: Directive::Quiet });
    assert!(direct().await.is_err(), "a worker that never beats would not hear of it");
    b.beat("w", &[]).await;
    direct().await.unwrap();
    let beat = Heartbeat {
        worker: "w".into(),
        jobs: vec![],
        visibility_ms: None,
        test_directives: false,
        info: None,
        ..Default::default()
    };
    assert_eq!(b.engine.store().execute(beat).await.unwrap().directive, Directive::Quiet);
}
