use ojs_engine::EventFilter;
use ojs_engine::command::{DeleteCron, GetCron, PutCron, RunCron, SwitchCron};
use ojs_engine::cron::{CronRow, Overlap};
use ojs_engine::error::Refusal;
use ojs_engine::job::JobView;
use ojs_model::{JobState, OjsError};
use serde_json::json;

use crate::support::{Bench, START, seconds};

crate::on_every_store!(
    an_entry_fires_once_per_tick,
    after_a_pause_it_fires_once,
    skip_leaves_the_running_job_alone,
    allow_runs_beside,
    cancel_previous_replaces,
    enqueue_waits_for_the_end,
    ei_011_overlap_is_judged_before_uniqueness,
    a_disabled_entry_is_silent,
    registering_again_keeps_the_history,
    of_many_that_register_one_is_the_first,
    deleting_keeps_the_jobs,
    the_clock_of_its_zone,
    coming_runs_follow_the_clock_over_its_change,
    an_operator_runs_an_entry_now,
    a_run_now_follows_the_overlap_policy,
);

fn entry(overlap: Overlap, options: &str) -> CronRow {
    CronRow {
        name: "tick".into(),
        expression: "* * * * *".into(),
        timezone: "UTC".into(),
        overlap,
        enabled: true,
        description: None,
        template: format!(r#"{{"type":"t","args":[1.0],"meta":{{"own":1}},"options":{{"queue":"q"{options}}}}}"#),
        created_at: START,
        next_at: 0,
        last_at: 0,
        run_count: 0,
        last_job: None,
        waiting: 0,
    }
}

async fn put(b: &Bench, row: CronRow) -> (CronRow, bool) {
    b.engine.store().execute(PutCron(row)).await.unwrap()
}

async fn look(b: &Bench) -> CronRow {
    b.engine.store().query(GetCron("tick".into())).await.unwrap()
}

async fn minute(b: &Bench) {
    b.advance(seconds(60)).await;
}

/// Keeps the lease of a job that runs for minutes.
async fn keep(b: &Bench, job: &JobView) {
    b.beat("w", &[(job.row.id, Some(job.row.lease))]).await;
}

async fn run(b: &Bench) -> Result<JobView, OjsError> {
    match b.engine.store().execute(RunCron("tick".into())).await {
        Ok(job) => Ok(job),
        Err(Refusal::Ojs(error)) => Err(*error),
        Err(fault) => panic!("{fault:?}"),
    }
}

async fn an_operator_runs_an_entry_now(b: Bench) {
    assert_eq!(run(&b).await.unwrap_err().status, 404);
    put(&b, CronRow { enabled: false, ..entry(Overlap::Allow, "") }).await;
    let first = run(&b).await.unwrap();
    assert_eq!((first.row.state, &*first.queue), (JobState::Available, "q"));
    assert!(first.body.text.contains("\"cron_name\":\"tick\""), "{}", first.body.text);
    let row = look(&b).await;
    assert_eq!((row.enabled, row.next_at, row.last_at, row.run_count), (false, 0, START, 1), "the schedule stays");
    assert_eq!(row.last_job, Some(first.row.id));
    let (events, _, _) = b.events(EventFilter { types: vec!["cron.triggered".into()], ..EventFilter::default() }).await;
    assert_eq!(events.len(), 1);
    let (status, made) = b.http("POST", "/cron/tick/run", "").await;
    assert_eq!((status, &made["job"]["state"], &made["job"]["meta"]["own"]), (201, &json!("available"), &json!(1)));
    let (status, refused) = b.http("POST", "/cron/none/run", "").await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("not_found")));
    assert_eq!(b.counts("q").await[JobState::Available as usize], 2);
}

async fn a_run_now_follows_the_overlap_policy(b: Bench) {
    put(&b, entry(Overlap::Skip, "")).await;
    let first = run(&b).await.unwrap();
    let refused = run(&b).await.unwrap_err();
    assert_eq!((refused.status, refused.details.unwrap()["existing_job_id"].clone()), (409, json!(first.row.id.to_string())));
    put(&b, entry(Overlap::CancelPrevious, r#","unique":{"keys":["type"],"on_conflict":"reject"}"#)).await;
    let second = run(&b).await.unwrap();
    assert_eq!((b.state(first.row.id).await, b.state(second.row.id).await), (JobState::Cancelled, JobState::Available));
    put(&b, entry(Overlap::Allow, r#","unique":{"keys":["type"],"on_conflict":"reject"}"#)).await;
    let third = run(&b).await.unwrap();
    let refused = run(&b).await.unwrap_err();
    assert_eq!((refused.status, &*refused.code), (409, "duplicate"), "the third is unique, the second took the place of another");
    let row = look(&b).await;
    assert_eq!((row.run_count, row.last_job), (3, Some(third.row.id)), "a refused run leaves nothing behind");
}

async fn an_entry_fires_once_per_tick(b: Bench) {
    let (row, known) = put(&b, entry(Overlap::Allow, "")).await;
    assert_eq!((row.next_at, known), (START + 60_000, false));
    b.advance(seconds(59)).await;
    assert!(b.claim(5).await.is_empty());
    b.advance(seconds(1)).await;
    b.advance(seconds(30)).await;
    let jobs = b.claim(5).await;
    assert_eq!(jobs.len(), 1);
    let text = &jobs[0].body.text;
    assert!(text.contains(r#""args":[1.0]"#) && text.contains(r#""cron_name":"tick""#) && text.contains(r#""own":1"#), "{text}");
    assert!(text.contains(r#""cron_triggered_at":"2026-01-01T00:01:00.000Z""#), "{text}");
    let row = look(&b).await;
    assert_eq!((row.run_count, row.last_at, row.next_at), (1, START + 60_000, START + 120_000));
}

async fn after_a_pause_it_fires_once(b: Bench) {
    put(&b, entry(Overlap::Allow, "")).await;
    b.advance(seconds(3600)).await;
    assert_eq!(b.claim(100).await.len(), 1, "one catch-up");
    assert_eq!(look(&b).await.next_at, START + 3_660_000);
}

async fn skip_leaves_the_running_job_alone(b: Bench) {
    put(&b, entry(Overlap::Skip, "")).await;
    minute(&b).await;
    minute(&b).await;
    assert_eq!(b.counts("q").await[JobState::Available as usize], 1, "not started counts as going on");
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(20)).await;
    keep(&b, &job).await;
    b.advance(seconds(25)).await;
    keep(&b, &job).await;
    b.advance(seconds(15)).await;
    assert!(b.claim(5).await.is_empty());
    let (events, _, _) = b.events(Default::default()).await;
    assert!(events.iter().any(|event| event.name == "cron.skipped" && event.data.contains("overlap_skip")));
    b.ack(&job).await.unwrap();
    minute(&b).await;
    assert_eq!(b.claim(5).await.len(), 1);
}

async fn allow_runs_beside(b: Bench) {
    put(&b, entry(Overlap::Allow, "")).await;
    for _ in 0..3 {
        minute(&b).await;
    }
    assert_eq!(b.claim(5).await.len(), 3);
}

async fn cancel_previous_replaces(b: Bench) {
    put(&b, entry(Overlap::CancelPrevious, r#","unique":{}"#)).await;
    minute(&b).await;
    let first = look(&b).await.last_job.unwrap();
    minute(&b).await;
    assert_eq!(b.state(first).await, JobState::Cancelled);
    assert_eq!(b.counts("q").await[JobState::Available as usize], 1);
}

async fn enqueue_waits_for_the_end(b: Bench) {
    put(&b, entry(Overlap::Enqueue, "")).await;
    for _ in 0..3 {
        minute(&b).await;
    }
    for n in 0..3 {
        let job = b.claim(5).await;
        assert_eq!(job.len(), 1, "run {n}");
        b.ack(&job[0]).await.unwrap();
        b.advance(seconds(0)).await;
    }
    assert!(b.claim(5).await.is_empty());
    assert_eq!(look(&b).await.run_count, 3);
}

/// EI-011: `skip` speaks first; uniqueness is asked only when a job would be made.
async fn ei_011_overlap_is_judged_before_uniqueness(b: Bench) {
    put(&b, entry(Overlap::Skip, r#","unique":{"on_conflict":"replace"}"#)).await;
    minute(&b).await;
    let first = look(&b).await.last_job.unwrap();
    minute(&b).await;
    assert_eq!(b.state(first).await, JobState::Available, "skipped, not replaced");
    put(&b, entry(Overlap::Allow, r#","unique":{}"#)).await;
    minute(&b).await;
    let row = look(&b).await;
    assert_eq!((row.run_count, row.last_job), (1, Some(first)), "refused as a duplicate");
    let (events, _, _) = b.events(Default::default()).await;
    let skipped: Vec<_> = events.iter().filter(|event| event.name == "cron.skipped").map(|event| &event.data).collect();
    assert!(skipped[0].contains("overlap_skip") && skipped[1].contains("unique_conflict"), "{skipped:?}");
    put(&b, entry(Overlap::CancelPrevious, r#","unique":{}"#)).await;
    minute(&b).await;
    assert_eq!(b.state(first).await, JobState::Cancelled, "replacing passes uniqueness by");
    assert_eq!(look(&b).await.run_count, 2);
}

async fn a_disabled_entry_is_silent(b: Bench) {
    put(&b, entry(Overlap::Allow, "")).await;
    let switch = |enabled| b.engine.store().execute(SwitchCron { name: "tick".into(), enabled });
    switch(false).await.unwrap();
    assert_eq!(look(&b).await.next_at, 0);
    minute(&b).await;
    assert!(b.claim(5).await.is_empty());
    switch(true).await.unwrap();
    minute(&b).await;
    assert_eq!(b.claim(5).await.len(), 1);
}

async fn registering_again_keeps_the_history(b: Bench) {
    put(&b, entry(Overlap::Allow, "")).await;
    minute(&b).await;
    let (row, known) = put(&b, CronRow { expression: "@daily".into(), created_at: b.now(), ..entry(Overlap::Skip, "") }).await;
    assert!(known);
    assert_eq!((row.run_count, row.created_at, row.next_at), (1, START, START + 86_400_000));
}

async fn of_many_that_register_one_is_the_first(b: Bench) {
    let known = futures_util::future::join_all((0..20).map(|_| put(&b, entry(Overlap::Skip, "")))).await;
    assert_eq!(known.iter().filter(|(_, known)| !known).count(), 1);
}

async fn deleting_keeps_the_jobs(b: Bench) {
    put(&b, entry(Overlap::Allow, "")).await;
    minute(&b).await;
    b.engine.store().execute(DeleteCron("tick".into())).await.unwrap();
    minute(&b).await;
    assert_eq!(b.claim(5).await.len(), 1);
    assert!(b.engine.store().execute(DeleteCron("tick".into())).await.is_err());
}

async fn the_clock_of_its_zone(b: Bench) {
    let tokyo = CronRow { expression: "0 9 * * *".into(), timezone: "Asia/Tokyo".into(), ..entry(Overlap::Skip, "") };
    // It is 09:00 in Tokyo at midnight UTC: the next one is a day away.
    assert_eq!(put(&b, tokyo).await.0.next_at, START + 86_400_000);
}

async fn coming_runs_follow_the_clock_over_its_change(b: Bench) {
    // In Auckland the clock goes back on 5 April 2026.
    let body = r#"{"name":"nightly","cron":"0 3 1,15 4 *","timezone":"Pacific/Auckland","job_template":{"type":"t","args":[]}}"#;
    let (status, made) = b.http("POST", "/cron", body).await;
    assert_eq!(status, 201, "{made}");
    let (_, plain) = b.http("GET", "/cron/nightly", "").await;
    assert_eq!(plain.get("next_runs"), None);
    let (_, answer) = b.http("GET", "/cron/nightly?next=4", "").await;
    let runs: Vec<&str> = answer["next_runs"].as_array().unwrap().iter().map(|run| run.as_str().unwrap()).collect();
    assert_eq!(runs[0], answer["cron"]["next_run_at"], "{answer}");
    let clocks: Vec<&str> = runs.iter().map(|run| &run[11..19]).collect();
    // Three in the morning is 14:00 UTC of the day before in summer time, and 15:00 after it.
    assert_eq!(clocks, ["14:00:00", "15:00:00", "14:00:00", "15:00:00"], "{runs:?}");
    let (status, refused) = b.http("GET", "/cron/nightly?next=x", "").await;
    assert_eq!(status, 400, "{refused}");
    let (_, off) = b.http("PATCH", "/cron/nightly", r#"{"enabled":false}"#).await;
    assert_eq!(off["cron"]["enabled"], false, "{off}");
    let (_, answer) = b.http("GET", "/cron/nightly?next=1000", "").await;
    assert_eq!(answer["next_runs"].as_array().unwrap().len(), 100);
}
