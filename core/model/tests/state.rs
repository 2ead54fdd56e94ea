//! The state machine against two tables written down independently of the code: the transitions of protocol section 2.2,
//! and its table of operations against states.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic here is a failed test")]
use std::collections::HashSet;

use JobState::{Active, Available, Cancelled, Completed, Discarded, Pending, Retryable, Scheduled};
use ojs_model::JobState;
use ojs_model::state::{TRANSITIONS, Trigger};
use proptest::prelude::*;

const TRIGGERS: [Trigger; 13] = [
    Trigger::Enqueue,
    Trigger::Schedule,
    Trigger::Stage,
    Trigger::Promote,
    Trigger::Activate,
    Trigger::Fetch,
    Trigger::Ack,
    Trigger::Fail,
    Trigger::Exhaust,
    Trigger::Release,
    Trigger::Cancel,
    Trigger::Expire,
    Trigger::Replay,
];

/// Protocol section 2.2, row by row: where a trigger leads from a state. Everything else is 409.
fn protocol(from: JobState, trigger: Trigger) -> &'static [JobState] {
    match (trigger, from) {
        // 4, 12
        (Trigger::Promote, Scheduled | Retryable) => &[Available],
        // 5
        (Trigger::Activate, Pending) => &[Available, Scheduled],
        // 6
        (Trigger::Fetch, Available) => &[Active],
        // Extensions, section 4: a limit with `on_limit: reschedule` puts the job off.
        (Trigger::Schedule, Available) => &[Scheduled],
        // 7
        (Trigger::Ack, Active) => &[Completed],
        // 8
        (Trigger::Fail, Active) => &[Retryable],
        // 9
        (Trigger::Exhaust, Active) => &[Discarded],
        // 10
        (Trigger::Release, Active) => &[Available],
        // 11, 13
        (Trigger::Cancel, Active | Scheduled | Available | Pending | Retryable) => &[Cancelled],
        // 14, 15
        (Trigger::Expire, Scheduled | Available | Pending | Retryable) => &[Discarded],
        // 16
        // Extensions, section 30: a job that left its train joins it again, and waits for those before it.
        (Trigger::Replay, Discarded) => &[Available, Pending],
        // Extensions, section 30: a repair puts a job back that became available before its turn.
        (Trigger::Stage, Available) => &[Pending],
        _ => &[],
    }
}

#[test]
fn every_pair_of_states_and_every_trigger_agree_with_the_protocol() {
    for from in JobState::ALL {
        for trigger in TRIGGERS {
            let allowed = protocol(from, trigger);
            assert_eq!(from.accepts(trigger), !allowed.is_empty(), "{trigger:?} in {from}");
            for to in JobState::ALL {
                let listed = TRANSITIONS.contains(&(Some(from), trigger, to));
                assert_eq!(from.allows(trigger, to), allowed.contains(&to), "{from} -{trigger:?}-> {to}");
                assert_eq!(from.allows(trigger, to), listed, "{from} -{trigger:?}-> {to} against TRANSITIONS");
            }
        }
    }
}

#[test]
fn jobs_begin_in_three_states_only() {
    let births: Vec<_> = TRANSITIONS.iter().filter(|(from, ..)| from.is_none()).map(|(_, by, to)| (*by, *to)).collect();
    assert_eq!(births, [(Trigger::Enqueue, Available), (Trigger::Schedule, Scheduled), (Trigger::Stage, Pending)]);
    let unique: HashSet<String> = TRANSITIONS.iter().map(|t| format!("{t:?}")).collect();
    assert_eq!(unique.len(), TRANSITIONS.len(), "a transition is listed twice");
}

/// The columns of "operation versus state", in the protocol's order.
const COLUMNS: [JobState; 8] = [Scheduled, Available, Pending, Active, Retryable, Completed, Cancelled, Discarded];

#[test]
fn operations_answer_as_the_protocol_tabulates() {
    let table: [(&[Trigger], [u16; 8]); 4] = [
        (&[Trigger::Ack, Trigger::Fail, Trigger::Exhaust, Trigger::Release], [409, 409, 409, 200, 409, 409, 409, 409]),
        (&[Trigger::Cancel], [200, 200, 200, 200, 200, 409, 409, 409]),
        (&[Trigger::Activate], [409, 409, 200, 409, 409, 409, 409, 409]),
        (&[Trigger::Replay], [409, 409, 409, 409, 409, 409, 409, 200]),
    ];
    for (triggers, row) in table {
        for (state, status) in COLUMNS.into_iter().zip(row) {
            for trigger in triggers {
                assert_eq!(state.accepts(*trigger), status == 200, "{trigger:?} in {state}");
            }
        }
    }
}

#[test]
fn words_and_numbers_lead_back() {
    for (number, state) in JobState::ALL.into_iter().enumerate() {
        assert_eq!(JobState::from_number(u8::try_from(number).unwrap()), Some(state));
        assert_eq!(state as usize, number);
        assert_eq!(state.as_str().parse(), Ok(state));
        assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
        assert_eq!(serde_json::from_str::<JobState>(&format!("\"{state}\"")).unwrap(), state);
    }
    assert_eq!(JobState::from_number(8), None);
    assert_eq!("dead".parse(), Ok(Discarded));
    for word in ["", "Active", "running", "queued", "failed"] {
        assert!(word.parse::<JobState>().is_err(), "{word}");
    }
    assert_eq!(JobState::ALL.map(|s| s.is_terminal()).iter().filter(|t| **t).count(), 3);
}

proptest! {
    /// Whatever a client or the clock tries, in whatever order: no illegal step, and terminal states are left by replay only.
    #[test]
    fn no_illegal_transition_is_reachable(
        birth in 0..3_usize, steps in proptest::collection::vec((0..TRIGGERS.len(), 0..JobState::ALL.len()), 0..60),
    ) {
        let mut state = [Available, Scheduled, Pending][birth];
        for (trigger, to) in steps {
            let (trigger, to) = (TRIGGERS[trigger], JobState::ALL[to]);
            if !state.allows(trigger, to) {
                continue;
            }
            prop_assert!(protocol(state, trigger).contains(&to), "{} -{:?}-> {}", state, trigger, to);
            prop_assert!(!state.is_terminal() || (state == Discarded && trigger == Trigger::Replay));
            prop_assert!(to != Active || state == Available, "only a fetch of an available job starts it");
            state = to;
        }
    }
}
