//! Failures that other queues have had, as rules of the engine: the numbers are those of the project's list. The others of the list
//! stand where their feature is tested, or need real processes.
use ojs_engine::Engine;
use ojs_engine::command::{Cancel, Claim, DeleteCron, Outcome, OutcomeReport, PutCron};
use ojs_engine::cron::{CronRow, Overlap};
use ojs_engine::job::JobView;
use ojs_model::{JobError, JobId, JobState};

use crate::support::{Bench, START, seconds};

crate::on_every_store!(
    scenario_01_a_killed_worker_gives_its_jobs_back_within_the_lease,
    scenario_02_a_paused_worker_is_told_that_it_lost_its_job,
    scenario_04_a_far_schedule_is_delivered_once,
    scenario_05_a_worker_restarted_under_its_name_hides_no_orphans,
    scenario_06_a_dead_worker_is_not_forgotten_before_its_jobs_are_rescued,
    scenario_07_one_job_never_blocks_the_rescue_of_others,
    scenario_10_a_job_fetched_and_never_started_comes_back,
    scenario_13_a_job_changed_in_mid_run_spoils_no_batch,
    scenario_30_summer_time_neither_repeats_nor_loses_a_day,
    scenario_31_a_retry_does_not_conflict_with_itself,
    scenario_33_a_retry_storm_leaves_room_for_new_work,
);

fn ids(jobs: &[JobView]) -> Vec<JobId> {
    jobs.iter().map(|job| job.row.id).collect()
}

fn claim_of(count: usize, lease_s: u64) -> Claim {
    Claim { queues: vec!["q".into()], count, worker: Some("w".into()), visibility_ms: Some(lease_s * 1000), ..Claim::default() }
}

async fn scenario_01_a_killed_worker_gives_its_jobs_back_within_the_lease(b: Bench) {
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(b.job().await);
    }
    assert_eq!(b.claim(5).await.len(), 5);
    b.advance(seconds(31)).await;
    let again = b.claim_for(Some("other"), &["q"], 10).await;
    assert_eq!(ids(&again), all, "in their old order");
    assert!(again.iter().all(|job| job.row.attempt == 2), "the lost attempt counts");
}

async fn scenario_02_a_paused_worker_is_told_that_it_lost_its_job(b: Bench) {
    let id = b.job().await;
    let old = b.claim_for(Some("sleeper"), &["q"], 1).await.remove(0);
    b.advance(seconds(31)).await;
    let new = b.claim(1).await.remove(0);
    b.ack(&new).await.unwrap();
    let (extended, _) = b.beat("sleeper", &[(id, Some(old.row.lease))]).await;
    assert!(extended.is_empty(), "the lease it still claims is not in the answer");
    assert_eq!(b.settle(id, Some(old.row.lease), Outcome::Ack(None)).await.unwrap_err().status, 409);
    assert_eq!(b.get(id).await.row, b.get(new.row.id).await.row);
}

async fn scenario_04_a_far_schedule_is_delivered_once(b: Bench) {
    let id =
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","delay_until":"+PT6H","visibility_timeout_ms":30000}}"#).await;
    for _ in 0..11 {
        b.advance(seconds(1800)).await;
        assert!(b.claim(5).await.is_empty());
    }
    b.advance(seconds(1800)).await;
    let jobs = b.claim(5).await;
    assert_eq!(ids(&jobs), [id]);
    b.ack(&jobs[0]).await.unwrap();
    b.advance(seconds(7200)).await;
    assert!(b.claim(5).await.is_empty());
    assert_eq!(b.story(id).await.iter().filter(|name| *name == "job.started").count(), 1);
}

async fn scenario_05_a_worker_restarted_under_its_name_hides_no_orphans(b: Bench) {
    let orphan = b.job().await;
    let held = b.claim_for(Some("pod-0"), &["q"], 1).await.remove(0);
    b.beat("pod-0", &[(orphan, Some(held.row.lease))]).await;
    // The process dies and its successor beats under the same name, without the job.
    for _ in 0..7 {
        b.advance(seconds(5)).await;
        b.beat("pod-0", &[]).await;
    }
    let again = b.claim_for(Some("pod-0"), &["q"], 1).await;
    assert_eq!((ids(&again), again[0].row.attempt), (vec![orphan], 2));
}

async fn scenario_06_a_dead_worker_is_not_forgotten_before_its_jobs_are_rescued(b: Bench) {
    // More jobs than one slice of the rescue holds, under a lease far longer than the worker lives.
    let many = 1200;
    let request = r#"{"type":"t","args":[],"options":{"queue":"q","timeout_ms":864000000}}"#;
    b.try_enqueue(&[request; 1200]).await.unwrap();
    let jobs = b.exchange(vec![], Some(claim_of(many, 86_400))).await.1;
    assert_eq!(jobs.len(), many);
    b.beat("w", &[(jobs[0].row.id, Some(jobs[0].row.lease))]).await;
    // Silent for longer than its time, and pruning is due in the same sweep.
    b.advance(seconds(3600)).await;
    let counts = b.counts("q").await;
    assert_eq!((counts[JobState::Available as usize], counts[JobState::Active as usize]), (many as i64, 0));

    // One that never sent a heartbeat is known as long as it holds something.
    let holder = Claim { worker: Some("silent".into()), ..claim_of(1, 86_400) };
    let job = b.exchange(vec![], Some(holder)).await.1.remove(0);
    b.advance(seconds(3600)).await;
    assert_eq!(b.get(job.row.id).await.worker.as_deref(), Some("silent"));
    b.advance(seconds(86_400)).await;
    assert_eq!(b.state(job.row.id).await, JobState::Available);
}

async fn scenario_07_one_job_never_blocks_the_rescue_of_others(b: Bench) {
    let unique = r#"{"type":"t","args":[],"options":{"queue":"q","unique":{"states":["available"]}}}"#;
    let first = b.enqueue(unique).await;
    b.claim(1).await;
    // Its twin is accepted while the first runs; both are available after the rescue, and nothing is refused.
    let twin = b.enqueue(unique).await;
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(b.enqueue(r#"{"type":"u","args":[],"options":{"queue":"q2"}}"#).await);
    }
    b.claim_for(Some("w"), &["q2"], 3).await;
    b.advance(seconds(31)).await;
    for id in others.into_iter().chain([first, twin]) {
        assert_eq!(b.state(id).await, JobState::Available);
    }
}

async fn scenario_10_a_job_fetched_and_never_started_comes_back(b: Bench) {
    let id = b.job().await;
    // A worker without a name that is never heard of again.
    assert_eq!(b.claim_for(None, &["q"], 1).await.len(), 1);
    b.advance(seconds(31)).await;
    assert_eq!(ids(&b.claim(1).await), [id]);
}

async fn scenario_13_a_job_changed_in_mid_run_spoils_no_batch(b: Bench) {
    for _ in 0..4 {
        b.job().await;
    }
    let jobs = b.claim(4).await;
    b.change(Cancel(jobs[1].row.id)).await.unwrap();
    let ack = |job: JobId, lease: i64| OutcomeReport {
        job,
        lease: Some(lease),
        worker: Some("w".into()),
        outcome: Outcome::Ack(None),
        want_job: false,
    };
    let mut outcomes: Vec<_> = jobs.iter().map(|job| ack(job.row.id, job.row.lease)).collect();
    outcomes.insert(2, ack(JobId::now_v7(), 1));
    let results = b.exchange(outcomes, None).await.0;
    let status: Vec<u16> = results.iter().map(|result| result.as_ref().err().map_or(200, |error| error.status)).collect();
    assert_eq!(status, [200, 409, 404, 200, 200]);
    assert_eq!(b.counts("q").await[JobState::Completed as usize], 3);
}

fn nightly(expression: &str, zone: &str) -> CronRow {
    CronRow {
        name: "tick".into(),
        expression: expression.into(),
        timezone: zone.into(),
        overlap: Overlap::Allow,
        enabled: true,
        description: None,
        template: r#"{"type":"t","args":[],"options":{"queue":"q"}}"#.into(),
        created_at: START,
        next_at: 0,
        last_at: 0,
        run_count: 0,
        last_job: None,
        waiting: 0,
    }
}

async fn scenario_30_summer_time_neither_repeats_nor_loses_a_day(b: Bench) {
    let hour = 3600;
    // 3:30 exists on every day in Berlin; 2:30 does not on 29 March 2026, and comes twice on 25 October.
    for (day, expression, runs) in [(86, "30 3 * * *", 3), (296, "30 2 * * *", 3), (86 + 365, "30 3 * * *", 3)] {
        let start = START + day * 86_400_000 + 12 * 3_600_000;
        b.advance(seconds(((start - b.now()) / 1000) as u64)).await;
        b.engine.store().execute(PutCron(nightly(expression, "Europe/Berlin"))).await.unwrap();
        for _ in 0..3 * 24 {
            b.advance(seconds(hour / 2)).await;
            b.advance(seconds(hour / 2)).await;
        }
        let jobs = b.claim(100).await;
        assert_eq!(jobs.len(), runs, "{expression} from day {day}");
        for job in jobs {
            b.ack(&job).await.unwrap();
        }
        b.engine.store().execute(DeleteCron("tick".into())).await.unwrap();
    }
}

async fn scenario_31_a_retry_does_not_conflict_with_itself(b: Bench) {
    let unique = |states: &str| {
        format!(
            r#"{{"type":"t","args":[],"options":{{"queue":"q","unique":{{"states":{states}}},"retry":{{"max_attempts":5,"jitter":false}}}}}}"#
        )
    };
    let all = unique(r#"["available","active","scheduled","pending","retryable"]"#);
    let id = b.enqueue(&all).await;
    for _ in 0..3 {
        let job = b.claim(1).await.remove(0);
        assert_eq!(job.row.id, id);
        b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
        assert!(b.try_enqueue(&[&all]).await.is_err(), "unique while it waits for its retry");
        b.advance(seconds(8)).await;
    }
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    // A twin that came between two states blocks no promotion.
    let open = unique(r#"["available"]"#).replace("\"t\"", "\"v\"");
    let first = b.enqueue(&open).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let twin = b.enqueue(&open).await;
    b.advance(seconds(2)).await;
    let mut found = ids(&b.claim(5).await);
    found.sort();
    assert_eq!(found, [first, twin]);
}

async fn scenario_33_a_retry_storm_leaves_room_for_new_work(b: Bench) {
    let storm = 1000;
    let request = r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"initial_interval":"PT10S","max_attempts":9}}}"#;
    b.try_enqueue(&[request; 1000]).await.unwrap();
    let error = Box::new(JobError::engine(ojs_model::ErrorCode::Timeout, "m"));
    let fail = |job: JobView| OutcomeReport {
        job: job.row.id,
        lease: Some(job.row.lease),
        worker: None,
        outcome: Outcome::Nack(error.clone()),
        want_job: false,
    };
    let jobs = b.claim(storm).await;
    b.exchange(jobs.into_iter().map(fail).collect(), None).await;
    let new = b.job().await;
    assert_eq!(ids(&b.claim(10).await), [new], "new work does not stand behind what waits for its retry");
    // Jitter spreads the retries over the interval instead of bringing them back at once.
    let mut due = Vec::new();
    for _ in 0..10 {
        b.advance(seconds(1)).await;
        due.push(b.counts("q").await[JobState::Available as usize]);
    }
    assert_eq!(due[..4], [0, 0, 0, 0], "none earlier than half the interval");
    let steps: Vec<i64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| *step < storm as i64 / 4), "{due:?}");
    assert!(due[9] > 0);
    // The limiter of the queue counts retries like everything else.
    let limited =
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","priority":9,"rate_limit":{"max_per_second":5}}}"#).await;
    let got = ids(&b.claim(storm).await);
    assert_eq!((got.len(), got[0]), (5, limited));
    assert!(b.claim(storm).await.is_empty());
}

/// One row that cannot be read any more must not keep the others from workers, nor from their rescue.
#[tokio::test]
async fn scenario_14_one_undecodable_job_stops_no_other() {
    let b = Bench::sqlite().await;
    let request = r#"{"type":"t","args":[],"options":{"queue":"q","total_timeout":3600,"heartbeat_timeout":60,"result_ttl":5}}"#;
    let all = ids(&b.try_enqueue(&[request; 3]).await.unwrap());
    let file = rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap();
    file.execute("UPDATE bodies SET body = '\"args\":[', retry = '{' WHERE seq = 2", []).unwrap();
    let jobs = b.claim(5).await;
    assert_eq!(ids(&jobs), all);
    file.execute("UPDATE histories SET errors = '[' WHERE seq = 2", []).unwrap();
    b.advance(seconds(31)).await;
    let jobs = b.claim(5).await;
    assert_eq!(ids(&jobs), all, "rescued together");
    // A failure of the job whose policy cannot be read is refused (faults.rs); it must not keep those of the others.
    for job in jobs.iter().filter(|job| job.row.id != all[1]) {
        b.nack(job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    }
    assert_eq!(b.counts("q").await[JobState::Retryable as usize], 2);
    assert_eq!(b.state(all[1]).await, JobState::Active);
}

/// Two processes on one file both think that it is time: the tick fires once.
#[tokio::test]
async fn scenario_29_two_leaders_fire_a_tick_once() {
    let b = Bench::sqlite().await;
    let other = Engine::open(b.engine.options().clone()).await.unwrap();
    b.engine.store().execute(PutCron(nightly("* * * * *", "UTC"))).await.unwrap();
    for tick in 1..=20 {
        b.clock.advance(seconds(60));
        let (one, two) = tokio::join!(b.engine.store().sweep(), other.store().sweep());
        one.unwrap();
        two.unwrap();
        assert_eq!(b.counts("q").await[JobState::Available as usize], tick);
    }
}
