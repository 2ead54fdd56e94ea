use ojs_engine::command::{Cancel, CancelWorkflow, CreateWorkflow, GetWorkflow, Outcome, Replay};
use ojs_engine::error::Refusal;
use ojs_engine::job::JobView;
use ojs_engine::workflow::{StepState, WorkflowState, WorkflowView};
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobId, JobState, Timestamp};
use serde_json::Value;

use crate::support::{Bench, seconds};

crate::on_every_store!(
    a_chain_runs_step_by_step_with_results,
    a_chain_stops_at_a_failure,
    a_group_ends_when_all_have_ended,
    a_failure_leaves_its_siblings_alone,
    callbacks_fire_once_by_outcome,
    a_failed_callback_fails_the_batch,
    a_graph_waits_for_what_it_names,
    workflows_nest,
    cancelling_stops_what_has_not_started,
    a_cancelled_step_fails_its_chain,
    a_cancellation_and_the_last_ack_have_one_order,
    a_replayed_step_does_not_move_an_ended_workflow,
    a_retried_step_keeps_the_chain_waiting,
    the_story_of_a_workflow,
);

async fn create(b: &Bench, text: &str) -> WorkflowView {
    let new = NewWorkflow::parse(text, Timestamp::from_millis(b.now())).unwrap();
    b.engine.store().execute(CreateWorkflow(new)).await.unwrap()
}

async fn look(b: &Bench, id: JobId) -> WorkflowView {
    b.engine.store().query(GetWorkflow(id)).await.unwrap()
}

/// A step of a type on queue `q`, tried once.
fn step(kind: &str) -> String {
    format!(r#"{{"type":"{kind}","args":[],"options":{{"queue":"q","retry":{{"max_attempts":1}}}}}}"#)
}

fn kinds(jobs: &[JobView]) -> Vec<String> {
    jobs.iter().map(|job| envelope(job)["type"].as_str().unwrap().to_owned()).collect()
}

fn envelope(job: &JobView) -> Value {
    serde_json::from_str(&format!("{{{}}}", job.body.text)).unwrap()
}

async fn succeed(b: &Bench, job: &JobView, result: &str) {
    b.settle(job.row.id, Some(job.row.lease), Outcome::Ack(Some(result.to_owned().into()))).await.unwrap();
}

async fn fail(b: &Bench, job: &JobView) {
    b.nack(job, r#"{"code":"boom","message":"m"}"#).await.unwrap();
}

async fn a_chain_runs_step_by_step_with_results(b: Bench) {
    let flow =
        create(&b, &format!(r#"{{"type":"chain","name":"etl","steps":[{},{},{}]}}"#, step("a"), step("b"), step("c"))).await;
    assert_eq!((flow.row.state, flow.row.total, flow.steps[1].row.state), (WorkflowState::Running, 3, StepState::Waiting));
    for (kind, result, parents) in [("a", "1.50", "[]"), ("b", r#"{"x":1}"#, "[1.50]"), ("c", "null", r#"[1.50,{"x":1}]"#)] {
        let jobs = b.claim(5).await;
        assert_eq!(kinds(&jobs), [kind]);
        assert!(jobs[0].body.text.contains(&format!("\"parent_results\":{parents}")), "{}", jobs[0].body.text);
        assert_eq!(envelope(&jobs[0])["workflow_id"], flow.row.id.to_string());
        succeed(&b, &jobs[0], result).await;
    }
    let flow = look(&b, flow.row.id).await;
    assert_eq!((flow.row.state, flow.row.completed, flow.row.finished_at), (WorkflowState::Completed, 3, b.now()));
}

async fn a_chain_stops_at_a_failure(b: Bench) {
    let flow = create(&b, &format!(r#"{{"type":"chain","steps":[{},{},{}]}}"#, step("a"), step("b"), step("c"))).await;
    let jobs = b.claim(1).await;
    succeed(&b, &jobs[0], "1").await;
    let jobs = b.claim(1).await;
    fail(&b, &jobs[0]).await;
    assert!(b.claim(1).await.is_empty());
    let flow = look(&b, flow.row.id).await;
    let states: Vec<StepState> = flow.steps.iter().map(|step| step.row.state).collect();
    assert_eq!((flow.row.state, flow.row.completed), (WorkflowState::Failed, 1));
    assert_eq!(states, [StepState::Completed, StepState::Failed, StepState::Cancelled]);
    assert!(flow.steps[1].row.result.contains("boom"));
}

async fn a_group_ends_when_all_have_ended(b: Bench) {
    let flow = create(&b, &format!(r#"{{"type":"group","jobs":[{},{}]}}"#, step("a"), step("b"))).await;
    let jobs = b.claim(5).await;
    assert_eq!(kinds(&jobs), ["a", "b"]);
    succeed(&b, &jobs[1], "2").await;
    assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Running);
    succeed(&b, &jobs[0], "1").await;
    assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Completed);
}

async fn a_failure_leaves_its_siblings_alone(b: Bench) {
    let flow = create(&b, &format!(r#"{{"type":"group","jobs":[{},{}]}}"#, step("a"), step("b"))).await;
    let jobs = b.claim(5).await;
    fail(&b, &jobs[0]).await;
    assert_eq!(b.state(jobs[1].row.id).await, JobState::Active);
    succeed(&b, &jobs[1], "2").await;
    let flow = look(&b, flow.row.id).await;
    assert_eq!((flow.row.state, flow.row.completed), (WorkflowState::Failed, 1));
}

fn batch() -> String {
    let callbacks = format!(r#"{{"on_complete":{},"on_success":{},"on_failure":{}}}"#, step("done"), step("good"), step("bad"));
    format!(r#"{{"type":"batch","jobs":[{},{}],"callbacks":{callbacks}}}"#, step("a"), step("b"))
}

async fn callbacks_fire_once_by_outcome(b: Bench) {
    for (breaks, expected) in [(false, "good"), (true, "bad")] {
        let flow = create(&b, &batch()).await;
        let jobs = b.claim(5).await;
        succeed(&b, &jobs[0], "1").await;
        assert!(b.claim(5).await.is_empty(), "not before the last job");
        if breaks {
            fail(&b, &jobs[1]).await
        } else {
            succeed(&b, &jobs[1], "2").await
        }
        let mut callbacks = b.claim(5).await;
        callbacks.sort_by_key(|job| envelope(job)["type"].as_str().unwrap() != "done");
        assert_eq!(kinds(&callbacks), ["done", expected]);
        let results = &envelope(&callbacks[0])["parent_results"];
        assert_eq!(results[0], 1);
        assert_eq!(results[1].get("error").is_some(), breaks);
        for callback in &callbacks {
            assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Running);
            succeed(&b, callback, "null").await;
        }
        assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Completed, "the callbacks decide");
    }
}

async fn a_failed_callback_fails_the_batch(b: Bench) {
    let flow = create(&b, &batch()).await;
    for job in b.claim(5).await {
        succeed(&b, &job, "1").await;
    }
    let callbacks = b.claim(5).await;
    fail(&b, &callbacks[0]).await;
    succeed(&b, &callbacks[1], "1").await;
    assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Failed);
}

async fn a_graph_waits_for_what_it_names(b: Bench) {
    let node = |id: &str, after: &str| {
        format!(
            r#"{{"id":"{id}","type":"{id}","args":[],"options":{{"queue":"q","retry":{{"max_attempts":1}}}},"depends_on":{after}}}"#
        )
    };
    let steps = [
        node("join", r#"["left","right"]"#),
        node("left", r#"["root"]"#),
        node("right", r#"["root"]"#),
        node("root", "[]"),
        node("other", "[]"),
    ];
    let flow = create(&b, &format!(r#"{{"name":"g","steps":[{}]}}"#, steps.join(","))).await;
    let first = b.claim(5).await;
    assert_eq!(kinds(&first), ["root", "other"]);
    succeed(&b, &first[0], "0").await;
    let second = b.claim(5).await;
    assert_eq!(kinds(&second), ["left", "right"]);
    succeed(&b, &second[1], r#""r""#).await;
    succeed(&b, &second[0], r#""l""#).await;
    let third = b.claim(5).await;
    assert_eq!(envelope(&third[0])["parent_results"], serde_json::json!(["l", "r"]), "in the order of depends_on");
    fail(&b, &first[1]).await;
    succeed(&b, &third[0], "1").await;
    assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Failed);
}

async fn workflows_nest(b: Bench) {
    let inner = format!(r#"{{"type":"group","jobs":[{},{}]}}"#, step("b1"), step("b2"));
    let flow = create(&b, &format!(r#"{{"type":"chain","steps":[{},{inner},{}]}}"#, step("a"), step("c"))).await;
    succeed(&b, &b.claim(5).await[0], r#""a""#).await;
    let middle = b.claim(5).await;
    assert_eq!(kinds(&middle), ["b1", "b2"]);
    assert_eq!(envelope(&middle[1])["parent_results"], serde_json::json!(["a"]));
    succeed(&b, &middle[1], "2").await;
    succeed(&b, &middle[0], "1").await;
    let last = b.claim(5).await;
    assert_eq!(envelope(&last[0])["parent_results"], serde_json::json!(["a", [1, 2]]));
    succeed(&b, &last[0], "null").await;
    assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Completed);
}

async fn cancelling_stops_what_has_not_started(b: Bench) {
    let flow = create(&b, &format!(r#"{{"type":"group","jobs":[{},{},{}]}}"#, step("a"), step("b"), step("c"))).await;
    let jobs = b.claim(2).await;
    succeed(&b, &jobs[0], "1").await;
    let view = b.engine.store().execute(CancelWorkflow(flow.row.id)).await.unwrap();
    assert_eq!(view.row.state, WorkflowState::Cancelled);
    assert!(b.claim(5).await.is_empty());
    // What runs may finish; it starts nothing.
    succeed(&b, &jobs[1], "2").await;
    let view = look(&b, flow.row.id).await;
    assert_eq!(view.row.state, WorkflowState::Cancelled);
    assert_eq!(b.state(view.steps[2].row.job.unwrap()).await, JobState::Cancelled);
    let again = b.engine.store().execute(CancelWorkflow(flow.row.id)).await;
    assert!(matches!(again, Err(Refusal::Ojs(error)) if error.status == 409));
}

/// A workflow is cancelled at one node while its last step is acked at another: either the ack came first, the workflow is completed and the
/// cancellation is refused, or the workflow is cancelled for good, and the running step may finish, as the protocol says.
async fn raced(b: &Bench, other: &Bench, rounds: usize) {
    for round in 0..rounds {
        let flow = create(b, &format!(r#"{{"type":"chain","steps":[{}]}}"#, step("a"))).await;
        let job = b.claim(1).await.remove(0);
        let cancel = b.engine.store().execute(CancelWorkflow(flow.row.id));
        let ack = other.settle(job.row.id, Some(job.row.lease), Outcome::Ack(None));
        let (cancelled, acked) = if round % 2 == 0 {
            tokio::join!(cancel, ack)
        } else {
            let (acked, cancelled) = tokio::join!(ack, cancel);
            (cancelled, acked)
        };
        acked.unwrap();
        let view = look(b, flow.row.id).await;
        let (events, _, _) = b.events(ojs_engine::EventFilter::default()).await;
        let ends = ["workflow.completed", "workflow.cancelled", "workflow.step_completed"];
        let story: Vec<&str> = events
            .iter()
            .filter(|event| event.subject == flow.row.id.to_string())
            .filter_map(|event| ends.into_iter().find(|name| *name == event.name))
            .collect();
        assert_eq!(view.steps[0].row.state, StepState::Completed);
        match cancelled {
            Ok(_) => {
                assert_eq!(view.row.state, WorkflowState::Cancelled);
                assert_eq!(story, ["workflow.cancelled", "workflow.step_completed"]);
                assert!(view.steps[0].row.finished_at >= view.row.finished_at);
            }
            Err(Refusal::Ojs(error)) => {
                assert_eq!((error.status, view.row.state), (409, WorkflowState::Completed));
                assert_eq!(story, ["workflow.step_completed", "workflow.completed"]);
            }
            Err(fault) => panic!("{fault:?}"),
        }
    }
}

async fn a_cancellation_and_the_last_ack_have_one_order(b: Bench) {
    raced(&b, &b, 6).await;
}

#[tokio::test]
async fn a_cancellation_and_the_last_ack_at_two_nodes_have_one_order() {
    let b = Bench::postgres().await;
    let other = crate::nodes::second_node(&b).await;
    raced(&b, &other, 12).await;
}

async fn a_cancelled_step_fails_its_chain(b: Bench) {
    let flow = create(&b, &format!(r#"{{"type":"chain","steps":[{},{}]}}"#, step("a"), step("b"))).await;
    b.change(Cancel(flow.steps[0].row.job.unwrap())).await.unwrap();
    let view = look(&b, flow.row.id).await;
    assert_eq!((view.row.state, view.steps[1].row.state), (WorkflowState::Failed, StepState::Cancelled));
    assert!(b.claim(5).await.is_empty());
}

async fn a_replayed_step_does_not_move_an_ended_workflow(b: Bench) {
    let flow = create(&b, &format!(r#"{{"type":"chain","steps":[{},{}]}}"#, step("a"), step("b"))).await;
    let job = b.claim(1).await.remove(0);
    fail(&b, &job).await;
    b.change(Replay(job.row.id)).await.unwrap();
    succeed(&b, &b.claim(1).await[0], "1").await;
    assert!(b.claim(5).await.is_empty());
    assert_eq!(look(&b, flow.row.id).await.row.state, WorkflowState::Failed);
}

async fn a_retried_step_keeps_the_chain_waiting(b: Bench) {
    let retried =
        r#"{"type":"a","args":[],"options":{"queue":"q","retry":{"max_attempts":2,"initial_interval":"PT1S","jitter":false}}}"#;
    let flow = create(&b, &format!(r#"{{"type":"chain","steps":[{retried},{}]}}"#, step("b"))).await;
    fail(&b, &b.claim(1).await[0]).await;
    assert!(b.claim(5).await.is_empty());
    b.advance(seconds(1)).await;
    succeed(&b, &b.claim(1).await[0], "1").await;
    assert_eq!(kinds(&b.claim(5).await), ["b"]);
    assert_eq!(look(&b, flow.row.id).await.row.completed, 1);
}

async fn the_story_of_a_workflow(b: Bench) {
    let flow = create(&b, &format!(r#"{{"type":"chain","steps":[{}]}}"#, step("a"))).await;
    succeed(&b, &b.claim(1).await[0], "1").await;
    let (events, _, _) = b.events(Default::default()).await;
    let names: Vec<&str> =
        events.iter().filter(|event| event.subject == flow.row.id.to_string()).map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["workflow.started", "workflow.step_completed", "workflow.completed"]);
}
