//! Every type of event (extensions section 2), made for real, with the members that the catalogue requires.
use std::collections::BTreeSet;

use ojs_engine::command::{Cancel, CreateWorkflow, DeleteDeadLetter, Heartbeat, Outcome, PutCron, Replay, SetPaused};
use ojs_engine::cron::{CronRow, Overlap};
use ojs_engine::job::JobView;
use ojs_engine::rows::WorkerPhase;
use ojs_engine::{Event, EventFilter};
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobState, Timestamp};
use serde_json::{Value, json};

use crate::support::{Bench, START, seconds};

crate::on_every_store!(
    jobs_that_go_well,
    jobs_that_fail,
    jobs_that_run_out_of_time,
    dead_letters,
    queues_and_workers,
    workflows,
    crons,
    every_event_of_a_traced_job_names_the_trace,
    a_job_without_a_trace_names_none,
    a_change_of_priority_moves_a_waiting_job,
    a_priority_is_changed_only_while_the_job_waits,
);

const JOB: &[&str] = &["job_id", "job_type", "queue"];

/// The required members besides those of every event of a job.
fn required(event: &str) -> (&'static [&'static str], &'static [&'static str]) {
    let more: &[&str] = match event {
        "job.enqueued" | "job.cancelled" | "dead_letter.retried" | "dead_letter.deleted" => &[],
        "job.started" => &["worker_id", "attempt"],
        "job.completed" => &["duration_ms", "attempt"],
        "job.failed" => &["attempt", "error", "duration_ms"],
        "job.discarded" | "dead_letter.added" => &["total_attempts", "last_error"],
        "job.retrying" => &["attempt", "max_attempts", "next_retry_at", "error"],
        "job.heartbeat" => &["worker_id", "attempt", "visible_until"],
        "job.scheduled" => &["scheduled_at"],
        "job.expired" => &["created_at", "expired_at", "ttl_ms"],
        "job.retry_exhausted" => &["attempt", "max_attempts", "error", "reason"],
        "job.dead_lettered" => &["total_attempts", "last_error", "attempt", "error"],
        "job.timeout" | "job.stalled" | "job.ttl_expired" | "job.total_timeout" => {
            &["attempt", "timeout_kind", "limit_seconds", "elapsed_seconds", "error"]
        }
        "dead_letter.pruned" => &["reason"],
        "queue.paused" | "queue.resumed" => return (&[], &["queue"]),
        "worker.started" => return (&[], &["worker_id", "queues", "concurrency"]),
        "worker.quiet" => return (&[], &["worker_id", "active_jobs"]),
        "worker.heartbeat" => return (&[], &["worker_id", "active_jobs", "queues"]),
        "worker.stopped" => return (&[], &["worker_id", "reason"]),
        "workflow.started" => return (&[], &["workflow_id", "workflow_name", "total_steps"]),
        "workflow.completed" | "workflow.cancelled" => {
            return (&[], &["workflow_id", "workflow_name", "total_steps", "duration_ms"]);
        }
        "workflow.step_completed" => {
            return (&[], &["workflow_id", "workflow_name", "step_id", "step_type", "duration_ms", "steps_remaining"]);
        }
        "workflow.failed" => {
            return (&[], &["workflow_id", "workflow_name", "failed_step_id", "failed_step_type", "error"]);
        }
        "workflow.callback_fired" => return (&[], &["workflow_id", "workflow_name", "callback"]),
        "cron.triggered" => return (&[], &["cron_name", "cron_expr", "job_type", "job_id", "scheduled_at", "run_count"]),
        "cron.skipped" => return (&[], &["cron_name", "cron_expr", "job_type", "reason"]),
        other => panic!("{other} is not in the catalogue"),
    };
    (JOB, more)
}

/// All events so far; each has its required members and is rendered as an envelope.
async fn checked(b: &Bench) -> Vec<(Event, Value)> {
    let (events, _, _) = b.events(EventFilter::default()).await;
    let mut all = Vec::new();
    for event in events {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        let (always, more) = required(&event.name);
        for name in always.iter().chain(more) {
            assert!(data.get(name).is_some(), "{} lacks {name}: {data}", event.name);
        }
        let envelope: Value = serde_json::from_str(&event.render()).unwrap();
        for name in ["specversion", "id", "type", "source", "time", "subject", "data"] {
            assert!(envelope.get(name).is_some(), "{name} in {envelope}");
        }
        all.push((event, data));
    }
    all
}

/// The named events have happened, in good form; returns the data of the latest of each.
async fn happened<const N: usize>(b: &Bench, names: [&str; N]) -> [Value; N] {
    let all = checked(b).await;
    names.map(|name| {
        let found = all.iter().rfind(|(event, _)| event.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).1.clone()
    })
}

async fn start(b: &Bench, options: &str) -> JobView {
    b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{{"queue":"q"{options}}}}}"#)).await;
    b.claim(1).await.remove(0)
}

async fn jobs_that_go_well(b: Bench) {
    let job = start(&b, r#","priority":3"#).await;
    b.beat("w", &[(job.row.id, Some(job.row.lease))]).await;
    b.advance(seconds(2)).await;
    b.ack(&job).await.unwrap();
    b.job_in(JobState::Scheduled).await;
    let names = ["job.enqueued", "job.started", "job.heartbeat", "job.completed", "job.scheduled"];
    let [enqueued, started, heartbeat, completed, scheduled] = happened(&b, names).await;
    assert_eq!((&enqueued["priority"], &started["worker_id"], &started["attempt"]), (&json!(3), &json!("w"), &json!(1)));
    assert_eq!(heartbeat["visible_until"], Timestamp::from_millis(START + 30_000).to_string());
    assert_eq!((&completed["duration_ms"], &completed["attempt"]), (&json!(2000), &json!(1)));
    assert_eq!(scheduled["scheduled_at"], Timestamp::from_millis(b.now() + 3_600_000).to_string());
}

async fn jobs_that_fail(b: Bench) {
    let retry = r#","retry":{"max_attempts":2,"jitter":false}"#;
    let id = start(&b, retry).await.row.id;
    let job = b.get(id).await;
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let [failed, retrying] = happened(&b, ["job.failed", "job.retrying"]).await;
    assert_eq!(failed["error"], json!({"code": "x", "message": "m", "type": "x", "retryable": true}));
    assert_eq!(retrying["next_retry_at"], Timestamp::from_millis(b.now() + 1000).to_string());
    b.advance(seconds(1)).await;
    let job = b.claim(1).await.remove(0);
    b.settle(id, Some(job.row.lease), Outcome::Release(5000)).await.unwrap();
    assert_eq!(b.story(id).await.last().unwrap(), "job.scheduled", "given back for later");
    b.advance(seconds(5)).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let [exhausted, discarded] = happened(&b, ["job.retry_exhausted", "job.discarded"]).await;
    assert_eq!((&exhausted["reason"], &exhausted["max_attempts"]), (&json!("max_attempts"), &json!(2)));
    assert_eq!((&discarded["last_error"]["code"], &discarded["total_attempts"]), (&json!("x"), &json!(3)));
    b.job_in(JobState::Cancelled).await;
    happened(&b, ["job.cancelled"]).await;
}

async fn jobs_that_run_out_of_time(b: Bench) {
    for options in [r#","timeout_ms":1000"#, r#","heartbeat_timeout":1"#, r#","total_timeout":1"#] {
        start(&b, options).await;
    }
    for options in [r#","enqueue_ttl":1"#, r#","expires_at":"+PT1S""#] {
        b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{{"queue":"other"{options}}}}}"#)).await;
    }
    b.advance(seconds(1)).await;
    let names = ["job.timeout", "job.stalled", "job.total_timeout", "job.ttl_expired"];
    let kinds = happened(&b, names).await.map(|data| data["timeout_kind"].clone());
    assert_eq!(kinds, ["execution", "stalled", "total", "enqueue_ttl"]);
    let [expired] = happened(&b, ["job.expired"]).await;
    assert_eq!(expired["ttl_ms"], 1000);
}

async fn dead_letters(b: Bench) {
    let b = b.with_retention(|keep| keep.max_dead_letters = 1).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let job = start(&b, r#","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}"#).await;
        b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
        b.clock.advance(seconds(1));
        ids.push(job.row.id);
    }
    b.change(Replay(ids[3])).await.unwrap();
    b.engine.store().execute(DeleteDeadLetter(ids[2])).await.unwrap();
    b.advance(seconds(300)).await;
    let names = ["dead_letter.added", "dead_letter.retried", "dead_letter.deleted", "dead_letter.pruned", "job.dead_lettered"];
    let [added, retried, deleted, pruned, _] = happened(&b, names).await;
    assert_eq!((&added["job_id"], &retried["job_id"]), (&json!(ids[3].to_string()), &json!(ids[3].to_string())));
    assert_eq!((&deleted["job_id"], &pruned["job_id"]), (&json!(ids[2].to_string()), &json!(ids[0].to_string())));
}

async fn queues_and_workers(b: Bench) {
    for paused in [true, false] {
        b.engine.store().execute(SetPaused { queue: "q".into(), paused }).await.unwrap();
    }
    let beat = |phase, jobs| Heartbeat {
        worker: "w".into(),
        phase,
        jobs,
        visibility_ms: None,
        test_directives: false,
        info: Some(r#"{"queues":["q"],"concurrency":4}"#.into()),
        key: None,
    };
    let job = start(&b, "").await;
    let held = vec![(job.row.id, Some(job.row.lease))];
    let (running, quiet) = (WorkerPhase::Running, WorkerPhase::Quiet);
    for (after, phase) in [(0, running), (5, running), (5, quiet), (20, quiet), (25, quiet), (5, quiet)] {
        b.advance(seconds(after)).await;
        b.engine.store().execute(beat(phase, held.clone())).await.unwrap();
    }
    b.advance(seconds(31)).await;
    let names = ["queue.paused", "queue.resumed", "worker.started", "worker.quiet", "worker.heartbeat", "worker.stopped"];
    let [paused, _, started, quiet, heartbeat, stopped] = happened(&b, names).await;
    assert_eq!(paused["queue"], "q");
    assert_eq!((&started["queues"], &started["concurrency"]), (&json!(["q"]), &json!(4)));
    assert_eq!((&quiet["active_jobs"], &heartbeat["active_jobs"], &heartbeat["queues"]), (&json!(1), &json!(1), &json!(["q"])));
    assert_eq!((&stopped["reason"], &stopped["uptime_ms"]), (&json!("shutdown"), &json!(60_000)));
    let all = checked(&b).await;
    let count = |name: &str| all.iter().filter(|(event, _)| event.name == name).count();
    assert_eq!((count("worker.quiet"), count("worker.heartbeat")), (1, 1), "once, and once a minute");

    b.beat("crashes", &[]).await;
    b.advance(seconds(30)).await;
    assert_eq!(happened(&b, ["worker.stopped"]).await[0]["reason"], "error");
}

async fn create(b: &Bench, text: &str) {
    let new = NewWorkflow::parse(text, Timestamp::from_millis(b.now())).unwrap();
    b.engine.store().execute(CreateWorkflow(new)).await.unwrap();
}

async fn workflows(b: Bench) {
    let step = r#"{"type":"step","args":[],"options":{"queue":"q","retry":{"max_attempts":1}}}"#;
    create(&b, &format!(r#"{{"type":"chain","name":"good","steps":[{step},{step}]}}"#)).await;
    for _ in 0..2 {
        let job = b.claim(1).await.remove(0);
        b.advance(seconds(1)).await;
        b.ack(&job).await.unwrap();
    }
    let names = ["workflow.started", "workflow.step_completed", "workflow.completed"];
    let [started, done, completed] = happened(&b, names).await;
    assert_eq!((&started["workflow_name"], &started["total_steps"]), (&json!("good"), &json!(2)));
    assert_eq!((&done["step_type"], &done["duration_ms"], &done["steps_remaining"]), (&json!("step"), &json!(1000), &json!(0)));
    assert_eq!(completed["duration_ms"], 2000);

    let callback = r#"{"type":"after","args":[],"options":{"queue":"cb"}}"#;
    create(&b, &format!(r#"{{"type":"batch","name":"bad","jobs":[{step}],"callbacks":{{"on_failure":{callback}}}}}"#)).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"broken","message":"m"}"#).await.unwrap();
    let job = b.claim_for(None, &["cb"], 1).await.remove(0);
    b.ack(&job).await.unwrap();
    create(&b, &format!(r#"{{"type":"chain","name":"worse","steps":[{step},{step}]}}"#)).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"broken","message":"m"}"#).await.unwrap();
    let [fired, failed] = happened(&b, ["workflow.callback_fired", "workflow.failed"]).await;
    assert_eq!(fired["callback"], "on_failure");
    assert_eq!((&failed["workflow_name"], &failed["failed_step_type"]), (&json!("worse"), &json!("step")));
    assert_eq!(failed["error"]["code"], "broken", "what went wrong in the step, not that the next was cancelled");
}

async fn crons(b: Bench) {
    let entry = |name: &str, overlap| CronRow {
        name: name.into(),
        expression: "* * * * *".into(),
        timezone: "UTC".into(),
        overlap,
        enabled: true,
        description: None,
        template: r#"{"type":"report.build","args":[],"options":{"queue":"q"}}"#.into(),
        created_at: START,
        next_at: 0,
        last_at: 0,
        run_count: 0,
        last_job: None,
        waiting: 0,
    };
    b.engine.store().execute(PutCron(entry("nightly", Overlap::Skip))).await.unwrap();
    b.advance(seconds(60)).await;
    let [triggered] = happened(&b, ["cron.triggered"]).await;
    assert_eq!((&triggered["job_type"], &triggered["run_count"]), (&json!("report.build"), &json!(1)));
    b.advance(seconds(60)).await;
    let [skipped] = happened(&b, ["cron.skipped"]).await;
    assert_eq!((&skipped["job_type"], &skipped["reason"]), (&json!("report.build"), &json!("overlap_skip")));
    assert_eq!(skipped["existing_job_id"], triggered["job_id"]);
}

async fn every_event_of_a_traced_job_names_the_trace(b: Bench) {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let request = |meta: Value, options: Value| json!({"type": "t", "args": [], "meta": meta, "options": options}).to_string();
    let dead = json!({"queue": "q", "retry": {"max_attempts": 2, "jitter": false, "on_exhaustion": "dead_letter"}});
    let id = b.enqueue(&request(json!({"traceparent": parent, "trace_id": "plain"}), dead)).await;
    let job = b.claim(1).await.remove(0);
    b.beat("w", &[(id, Some(job.row.lease))]).await;
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(1)).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.change(Replay(id)).await.unwrap();
    b.change(Cancel(id)).await.unwrap();
    let later = b
        .enqueue(&request(json!({"trace_id": "t1"}), json!({"queue": "q", "expires_at": "+PT5S", "delay_until": "+PT1S"})))
        .await;
    b.advance(seconds(1)).await;
    b.advance(seconds(4)).await;
    let mut told: BTreeSet<(String, String)> = BTreeSet::new();
    for (event, data) in checked(&b).await {
        let trace = if event.subject == id.to_string() { "4bf92f3577b34da6a3ce929d0e0e4736" } else { "t1" };
        if [id, later].iter().any(|id| event.subject == id.to_string()) {
            assert_eq!(data["trace_id"], trace, "{}", event.name);
            told.insert((event.subject, event.name));
        }
    }
    assert_eq!(told.len(), 11 + 4, "{told:?}");
}

async fn a_job_without_a_trace_names_none(b: Bench) {
    b.enqueue(r#"{"type":"t","args":["trace_id"],"meta":{"own":"traceparent"},"options":{"queue":"q"}}"#).await;
    let [enqueued] = happened(&b, ["job.enqueued"]).await;
    assert_eq!(enqueued.get("trace_id"), None);
}

async fn a_change_of_priority_moves_a_waiting_job(b: Bench) {
    let (first, second) = (b.job().await, b.job().await);
    let (status, body) = b.http("PATCH", &format!("/jobs/{second}"), r#"{"priority":5}"#).await;
    assert_eq!((status, &body["job"]["priority"], &body["job"]["state"]), (200, &json!(5), &json!("available")));
    let order: Vec<_> = b.claim(2).await.iter().map(|job| job.row.id).collect();
    assert_eq!(order, [second, first]);
    let later = b.job_in(JobState::Scheduled).await;
    assert_eq!(b.http("PATCH", &format!("/jobs/{later}"), r#"{"priority":-7}"#).await.0, 200);
    assert_eq!(b.get(later).await.row.priority, -7);
}

async fn a_priority_is_changed_only_while_the_job_waits(b: Bench) {
    for state in JobState::ALL {
        let id = b.job_in(state).await;
        let (status, body) = b.http("PATCH", &format!("/jobs/{id}"), r#"{"priority":5}"#).await;
        let waits = matches!(state, JobState::Available | JobState::Scheduled);
        assert_eq!(status, if waits { 200 } else { 409 }, "{state}");
        if !waits {
            assert_eq!(body["error"]["details"]["current_state"], state.as_str());
        }
        if state == JobState::Available {
            b.change(Cancel(id)).await.unwrap();
        }
    }
    let id = b.job_in(JobState::Scheduled).await;
    for body in ["{}", r#"{"priority":101}"#, r#"{"priority":"high"}"#, r#"{"priority":1.5}"#] {
        assert_eq!(b.http("PATCH", &format!("/jobs/{id}"), body).await.0, 400, "{body}");
    }
    let unknown = ojs_model::JobId::now_v7();
    assert_eq!(b.http("PATCH", &format!("/jobs/{unknown}"), r#"{"priority":1}"#).await.0, 404);
}
