use ojs_engine::command::{Cancel, CountDead, DeleteDeadLetter, GetJob, ListDead, Outcome, OutcomeReport, Replay};
use ojs_engine::job::{JobView, flag};
use ojs_engine::rows::DeadFilter;
use ojs_model::{ErrorCode, JobError, JobId, JobState, Timestamp};
use serde_json::{Value, json};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    listed_only_by_policy,
    newest_first_with_filters,
    ei_r003_a_retry_starts_afresh_and_keeps_the_history,
    a_deleted_entry_is_gone,
    ei_007_only_after_all_attempts,
    ei_008_events_in_their_order,
    the_latest_error_is_a_filter,
    many_changes_answer_in_the_forms_of_both_planes,
    counted_by_queue_and_error,
    a_filter_is_compared_with_a_bounded_number_of_them,
    a_retry_may_change_the_job,
    an_override_is_checked_like_an_enqueue,
    many_are_retried_when_confirmed,
    many_are_deleted_when_confirmed,
    pruned_by_age_then_by_number,
    their_number_is_kept_as_they_come_and_go,
    their_number_is_counted_anew_where_it_is_missing,
);

async fn dead(b: &Bench, queue: &str, kind: &str) -> JobId {
    let request = format!(
        r#"{{"type":"{kind}","args":[],"options":{{"queue":"{queue}","retry":{{"max_attempts":1,"on_exhaustion":"dead_letter"}}}}}}"#
    );
    let id = b.enqueue(&request).await;
    let job = b.claim_for(Some("w"), &[queue], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    id
}

async fn listed_only_by_policy(b: Bench) {
    b.job_in(JobState::Discarded).await;
    let id = dead(&b, "q", "t").await;
    assert_eq!(b.dead(DeadFilter::default()).await, (vec![id], 1));
    let story = b.story(id).await;
    assert_eq!(
        story,
        [
            "job.enqueued",
            "job.started",
            "job.failed",
            "job.retry_exhausted",
            "job.discarded",
            "job.dead_lettered",
            "dead_letter.added"
        ]
    );
}

async fn newest_first_with_filters(b: Bench) {
    let old = dead(&b, "a", "x").await;
    b.advance(seconds(60)).await;
    let middle = b.now();
    let new = dead(&b, "b", "y").await;
    assert_eq!(b.dead(DeadFilter::default()).await.0, [new, old]);
    assert_eq!(b.dead(DeadFilter { offset: 1, ..DeadFilter::default() }).await, (vec![old], 2));
    assert_eq!(b.dead(DeadFilter { queue: Some("a".into()), ..DeadFilter::default() }).await, (vec![old], 1));
    assert_eq!(b.dead(DeadFilter { job_type: Some("y".into()), ..DeadFilter::default() }).await.0, [new]);
    assert_eq!(b.dead(DeadFilter { job_type: Some("never".into()), ..DeadFilter::default() }).await.1, 0);
    assert_eq!(b.dead(DeadFilter { since: Some(middle), ..DeadFilter::default() }).await.0, [new]);
    assert_eq!(b.dead(DeadFilter { until: Some(middle), ..DeadFilter::default() }).await.0, [old]);
}

async fn ei_r003_a_retry_starts_afresh_and_keeps_the_history(b: Bench) {
    let id = dead(&b, "q", "t").await;
    let view = b.change(Replay(id)).await.unwrap();
    assert_eq!((view.row.state, view.row.attempt, view.row.started_at, view.row.finished_at), (JobState::Available, 0, 0, 0));
    assert!(!view.row.has(flag::ERROR) && !view.row.has(flag::DEAD) && view.row.has(flag::ERRORS));
    assert_eq!(b.dead(DeadFilter::default()).await.1, 0);
    let job = b.claim(1).await.remove(0);
    assert_eq!((job.row.id, job.row.attempt), (id, 1));
    b.ack(&job).await.unwrap();
}

async fn a_deleted_entry_is_gone(b: Bench) {
    let id = dead(&b, "q", "t").await;
    b.engine.store().execute(DeleteDeadLetter(id)).await.unwrap();
    assert!(b.engine.store().query(GetJob(id)).await.is_err());
    assert!(b.engine.store().execute(DeleteDeadLetter(id)).await.is_err());
    assert_eq!(b.counts("q").await, [0; 8]);
    let live = b.job().await;
    assert!(b.engine.store().execute(DeleteDeadLetter(live)).await.is_err(), "only dead letters are deleted here");
}

async fn ei_007_only_after_all_attempts(b: Bench) {
    let retry = |more: &str| {
        format!(
            r#"{{"type":"t","args":[],"options":{{"queue":"q","retry":{{"max_attempts":3,"initial_interval":"PT1S","backoff_strategy":"constant","jitter":false{more}}}}}}}"#
        )
    };
    for (more, listed) in [(r#","on_exhaustion":"dead_letter""#, true), (r#","on_exhaustion":"discard""#, false)] {
        let id = b.enqueue(&retry(more)).await;
        for attempt in 1..=3 {
            let job = b.claim(1).await.remove(0);
            assert_eq!(b.dead(DeadFilter::default()).await.1, 0, "not before attempt {attempt} has failed");
            b.nack(&job, &format!(r#"{{"code":"x","message":"failure {attempt}"}}"#)).await.unwrap();
            b.advance(seconds(1)).await;
        }
        assert_eq!(b.state(id).await, JobState::Discarded);
        let (_, page) = b.http("GET", "/dead-letter", "").await;
        assert_eq!(page["pagination"]["total"], usize::from(listed));
        if listed {
            let errors: Vec<&Value> = page["jobs"][0]["errors"].as_array().unwrap().iter().map(|e| &e["message"]).collect();
            assert_eq!(errors, ["failure 1", "failure 2", "failure 3"], "the whole history, oldest first");
            b.engine.store().execute(DeleteDeadLetter(id)).await.unwrap();
        }
    }
    // An error declared final forfeits the attempts that are left, and says so.
    let id = b.enqueue(&retry(r#","on_exhaustion":"dead_letter""#)).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m","retryable":false}"#).await.unwrap();
    assert_eq!(b.dead(DeadFilter::default()).await.0, [id]);
    assert_eq!(data(&b, id, "job.retry_exhausted").await["reason"], "non_retryable");
}

/// The latest event of a name about a job.
async fn data(b: &Bench, id: JobId, name: &str) -> Value {
    let (events, _, _) = b.events(Default::default()).await;
    let found = events.into_iter().rfind(|event| event.name == name && event.subject == id.to_string());
    serde_json::from_str(&found.unwrap().data).unwrap()
}

async fn ei_008_events_in_their_order(b: Bench) {
    let id = dead(&b, "q", "t").await;
    let story = b.story(id).await;
    assert_eq!(story[2..], ["job.failed", "job.retry_exhausted", "job.discarded", "job.dead_lettered", "dead_letter.added"]);
    let exhausted = data(&b, id, "job.retry_exhausted").await;
    assert_eq!(
        (&exhausted["attempt"], &exhausted["max_attempts"], &exhausted["reason"]),
        (&json!(1), &json!(1), &json!("max_attempts"))
    );
    let lettered = data(&b, id, "job.dead_lettered").await;
    assert_eq!((&lettered["total_attempts"], &lettered["last_error"]["message"]), (&json!(1), &json!("m")));
}

async fn fail_with(b: &Bench, kind: &str) -> JobId {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":2,"on_exhaustion":"dead_letter","jitter":false}}}"#).await;
    for kind in ["first", kind] {
        let job = b.claim(1).await.remove(0);
        b.nack(&job, &format!(r#"{{"code":"c","type":"{kind}","message":"m"}}"#)).await.unwrap();
        b.advance(seconds(1)).await;
    }
    id
}

async fn the_latest_error_is_a_filter(b: Bench) {
    let io = fail_with(&b, "io.timeout").await;
    fail_with(&b, "first").await;
    let list = |path: &'static str| b.http("GET", path, "");
    let (_, page) = list("/dead-letter?error_type=io.timeout").await;
    assert_eq!((&page["pagination"]["total"], &page["jobs"][0]["id"]), (&json!(1), &json!(io.to_string())));
    assert_eq!(list("/dead-letter?error_type=first").await.1["pagination"]["total"], 1, "the latest, not any");
    assert_eq!(list("/dead-letter?error_type=never").await.1["pagination"]["total"], 0);
    assert_eq!(list("/admin/dead-letter?error_type=first").await.1["pagination"]["total"], 1);
    assert_eq!(list("/dead-letter?since=yesterday").await.0, 400);
    for (kind, found) in [("t", 2), ("t*", 2), ("*", 2), ("tt*", 0), ("u", 0)] {
        for path in [format!("/dead-letter?type={kind}"), format!("/admin/dead-letter?type={kind}")] {
            assert_eq!(b.http("GET", &path, "").await.1["pagination"]["total"], found, "{path}");
        }
    }
}

/// Beside the answer of the data plane, what operators' tools read; and an age where a time may stand.
async fn many_changes_answer_in_the_forms_of_both_planes(b: Bench) {
    let id = dead(&b, "q", "t").await;
    let (_, retried) = b.http("POST", "/admin/dead-letter/retry", r#"{"filter":{"type":"t*"},"confirm":true}"#).await;
    let expected = json!({"action": "retry", "matched": 1, "succeeded": 1, "failed": 0, "errors": [], "retried": 1, "job_ids": [id.to_string()]});
    assert_eq!(retried, expected);
    b.change(Cancel(id)).await.unwrap();
    dead(&b, "q", "t").await;
    b.advance(seconds(3_600)).await;
    dead(&b, "q", "t").await;
    let (_, deleted) = b.http("DELETE", "/admin/dead-letter", r#"{"older_than":"PT30M","confirm":true}"#).await;
    assert_eq!(deleted, json!({"action": "delete", "matched": 1, "succeeded": 1, "failed": 0, "errors": [], "deleted": 1}));
    assert_eq!(b.http("DELETE", "/admin/dead-letter", r#"{"older_than":"soon","confirm":true}"#).await.0, 400);
}

/// What lies behind the bound is found by the cursor, and the answer says that its number is a lower bound.
async fn a_filter_is_compared_with_a_bounded_number_of_them(b: Bench) {
    let oldest = dead(&b, "a", "x").await;
    let oldest_at = b.now();
    for _ in 0..3 {
        b.advance(seconds(1)).await;
        dead(&b, "b", "x").await;
    }
    b.advance(seconds(1)).await;
    let newest = dead(&b, "a", "x").await;
    let of_a = DeadFilter { queue: Some("a".into()), look: 2, limit: 10, ..DeadFilter::default() };
    let (mut pages, mut behind) = (Vec::new(), None);
    loop {
        let page = b.engine.store().query(ListDead(DeadFilter { behind, ..of_a.clone() })).await.unwrap();
        assert_eq!((page.total, page.is_partial), (1, true));
        pages.push(page.jobs.iter().map(|job| job.row.id).collect::<Vec<_>>());
        behind = page.next;
        if behind.is_none() {
            break;
        }
    }
    assert_eq!(pages, [vec![newest], vec![], vec![oldest]]);
    let full = b.engine.store().query(ListDead(DeadFilter { limit: 1, look: 5, ..of_a.clone() })).await.unwrap();
    assert_eq!((full.total, full.is_partial, full.next.is_some()), (2, false, true), "no more than are compared");
    let all = b.engine.store().query(ListDead(DeadFilter { queue: None, ..of_a })).await.unwrap();
    assert_eq!((all.jobs.len(), all.total, all.is_partial, all.next), (5, 5, false, None), "without a filter");
    let stats = b.engine.store().query(CountDead(2)).await.unwrap();
    let by_queue: Vec<_> = stats.by_queue.into_iter().collect();
    assert_eq!((stats.total, by_queue), (5, vec![("a".to_owned(), 2), ("b".to_owned(), 3)]));
    assert_eq!((stats.by_error_type["x"], stats.is_partial, stats.oldest_at), (2, true, Some(oldest_at)));
    assert!(!b.engine.store().query(CountDead(5)).await.unwrap().is_partial);
    let (_, answer) = b.http("GET", "/dead-letter?queue=a", "").await;
    assert_eq!((&answer["pagination"]["total"], &answer["pagination"]["total_relation"]), (&json!(2), &Value::Null));
}

async fn counted_by_queue_and_error(b: Bench) {
    let (status, empty) = b.http("GET", "/dead-letter/stats", "").await;
    assert_eq!((status, &empty["total"], &empty["oldest_at"]), (200, &json!(0), &Value::Null));
    dead(&b, "a", "t").await;
    let first = b.now();
    b.advance(seconds(60)).await;
    dead(&b, "a", "t").await;
    dead(&b, "b", "t").await;
    let (_, stats) = b.http("GET", "/dead-letter/stats", "").await;
    assert_eq!((&stats["total"], &stats["by_queue"]), (&json!(3), &json!({"a": 2, "b": 1})));
    assert_eq!(stats["by_error_type"], json!({"x": 3}));
    assert_eq!(stats["oldest_at"], Timestamp::from_millis(first).to_string());
    assert_eq!(stats["newest_at"], Timestamp::from_millis(b.now()).to_string());
    assert_eq!((&stats["retention"]["max_age"], &stats["retention"]["max_count"]), (&json!("P180D"), &json!(10_000)));
    assert_eq!(stats["retention"]["next_prune_at"], "2026-01-01T00:05:00.000Z");
    assert_eq!(b.http("GET", "/admin/dead-letter/stats", "").await.1, stats);
}

async fn a_retry_may_change_the_job(b: Bench) {
    let request = r#"{"type":"t","args":[1],"meta":{"a":1,"b":1.0},"x_own":true,"options":{"queue":"q","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#;
    let id = b.enqueue(request).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let change = r#"{"override":{"queue":"other","priority":7,"args":["new",1.0],"meta":{"a":2},"retry":{"max_attempts":4}}}"#;
    let (status, body) = b.http("POST", &format!("/dead-letter/{id}/retry"), change).await;
    assert_eq!(status, 200, "{body}");
    let job = &body["job"];
    assert_eq!(
        (&job["state"], &job["attempt"], &job["queue"], &job["priority"]),
        (&json!("available"), &json!(0), &json!("other"), &json!(7))
    );
    assert_eq!((job["args"].to_string().as_str(), &job["meta"]), (r#"["new",1.0]"#, &json!({"a": 2, "b": 1.0})));
    assert_eq!((&job["max_attempts"], &job["retry"]["max_attempts"]), (&json!(4), &json!(4)));
    assert_eq!(job["retry"]["on_exhaustion"], "dead_letter", "fields that are not named stay");
    assert_eq!((&job["x_own"], &job["id"]), (&json!(true), &json!(id.to_string())));
    assert_eq!(b.http("GET", &format!("/jobs/{id}"), "").await.1["job"]["args"], job["args"]);
    let claimed = b.claim_for(None, &["other"], 1).await.remove(0);
    b.nack(&claimed, r#"{"code":"x","message":"m"}"#).await.unwrap();
    assert_eq!(b.state(id).await, JobState::Retryable, "the new policy counts");
    assert_eq!((b.counts("q").await, b.counts("other").await[JobState::Retryable as usize]), ([0; 8], 1));
}

async fn an_override_is_checked_like_an_enqueue(b: Bench) {
    let id = dead(&b, "q", "t").await;
    let path = format!("/dead-letter/{id}/retry");
    for (change, status) in [
        (r#"{"override":{"queue":"No Such Name"}}"#, 400),
        (r#"{"override":{"args":{}}}"#, 400),
        (r#"{"override":{"priority":101}}"#, 400),
        (r#"{"override":{"type":"other"}}"#, 400),
        (r#"{"override":[]}"#, 400),
        (r#"{"override":{"retry":{"max_attempts":-1}}}"#, 422),
        (r#"{"override":{"retry":{"max_interval":"PT0.5S"}}}"#, 422),
    ] {
        let (answered, body) = b.http("POST", &path, change).await;
        assert_eq!(answered, status, "{change}: {body}");
    }
    let big = json!({"override": {"meta": {"x": "y".repeat(70_000)}}}).to_string();
    assert_eq!(b.http("POST", &path, &big).await.0, 413);
    assert_eq!(b.dead(DeadFilter::default()).await.0, [id], "nothing was changed");
    assert_eq!(b.http("POST", &path, r#"{"override":null}"#).await.0, 200);
}

async fn many_are_retried_when_confirmed(b: Bench) {
    for _ in 0..3 {
        dead(&b, "a", "t").await;
    }
    let other = dead(&b, "b", "t").await;
    let retry = |body: &'static str| b.http("POST", "/dead-letter/retry", body);
    for unconfirmed in ["{}", r#"{"filter":{"queue":"a"}}"#, r#"{"filter":{"queue":"a"},"confirm":false}"#] {
        assert_eq!(retry(unconfirmed).await.0, 400);
    }
    assert_eq!(retry(r#"{"filter":{"que":"a"},"confirm":true}"#).await.0, 400, "a misspelt filter is not no filter");
    let (status, body) = retry(r#"{"filter":{"queue":"a"},"confirm":true}"#).await;
    assert_eq!((status, &body["retried"], body["job_ids"].as_array().unwrap().len()), (200, &json!(3), 3));
    assert_eq!(b.dead(DeadFilter::default()).await, (vec![other], 1));
    assert_eq!(b.counts("a").await[JobState::Available as usize], 3);
    assert_eq!(retry(r#"{"filter":{"queue":"a"},"confirm":true}"#).await.1["retried"], 0);
    let request = r#"{"type":"t","args":[],"options":{"queue":"many","retry":{"max_attempts":0,"on_exhaustion":"dead_letter"}}}"#;
    b.try_enqueue(&[request; 600]).await.unwrap();
    let error = Box::new(JobError::engine(ErrorCode::Timeout, "m"));
    let fail = |job: JobView| OutcomeReport {
        job: job.row.id,
        lease: Some(job.row.lease),
        worker: None,
        outcome: Outcome::Nack(error.clone()),
        want_job: false,
    };
    let jobs = b.claim_for(None, &["many"], 600).await;
    b.exchange(jobs.into_iter().map(fail).collect(), None).await;
    assert_eq!(retry(r#"{"confirm":true,"filter":{"error_type":"timeout"}}"#).await.1["retried"], 600, "more than one slice");
}

async fn many_are_deleted_when_confirmed(b: Bench) {
    let old = dead(&b, "a", "x").await;
    b.advance(seconds(60)).await;
    let since = Timestamp::from_millis(b.now());
    let kept = dead(&b, "a", "y").await;
    assert_eq!(b.http("DELETE", "/dead-letter?queue=a", "").await.0, 400);
    let (status, body) = b.http("DELETE", &format!("/admin/dead-letter?confirm=true&until={since}"), "").await;
    assert_eq!((status, &body["deleted"]), (200, &json!(1)));
    assert!(b.engine.store().query(GetJob(old)).await.is_err());
    assert_eq!(b.dead(DeadFilter::default()).await.0, [kept]);
    assert_eq!(b.story(old).await.last().unwrap(), "dead_letter.deleted");
    assert_eq!(b.http("DELETE", "/dead-letter", r#"{"confirm":true,"filter":{"type":"y"}}"#).await.1["deleted"], 1);
    assert_eq!(b.counts("a").await, [0; 8]);
}

async fn pruned_by_age_then_by_number(b: Bench) {
    let b = b.with_retention(|keep| keep.max_dead_letters = 2).await;
    let days = |n: u64| seconds(n * 86_400);
    let old = dead(&b, "q", "t").await;
    b.advance(days(179)).await;
    let mut younger = Vec::new();
    for _ in 0..3 {
        younger.push(dead(&b, "q", "t").await);
        b.advance(seconds(1)).await;
    }
    b.advance(days(2)).await;
    assert_eq!(b.dead(DeadFilter::default()).await.0, [younger[2], younger[1]], "the newest two");
    assert_eq!(data(&b, old, "dead_letter.pruned").await["reason"], "max_age");
    assert_eq!(data(&b, younger[0], "dead_letter.pruned").await["reason"], "max_count");
}

/// How many `/admin/stats` says there are, and the list.
async fn numbers(b: &Bench) -> (u64, u64) {
    let (_, stats) = b.http("GET", "/admin/stats", "").await;
    let (_, list) = b.http("GET", "/dead-letter?limit=1", "").await;
    (stats["dead_letters"].as_u64().unwrap(), list["pagination"]["total"].as_u64().unwrap())
}

async fn their_number_is_kept_as_they_come_and_go(b: Bench) {
    b.job_in(JobState::Discarded).await;
    assert_eq!(numbers(&b).await, (0, 0), "a discarded job alone is no dead letter");
    let mut ids = Vec::new();
    for queue in ["a", "a", "b", "c"] {
        ids.push(dead(&b, queue, "t").await);
    }
    assert_eq!(numbers(&b).await, (4, 4));
    // In one transaction it leaves the one queue and joins the other.
    let moved = json!({"override": {"queue": "b"}}).to_string();
    assert_eq!(b.http("POST", &format!("/dead-letter/{}/retry", ids[0]), &moved).await.0, 200);
    assert_eq!(numbers(&b).await, (3, 3));
    b.engine.store().execute(DeleteDeadLetter(ids[2])).await.unwrap();
    assert_eq!(numbers(&b).await, (2, 2));
    let job = b.claim_for(Some("w"), &["b"], 1).await.remove(0);
    assert_eq!(job.row.id, ids[0]);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    assert_eq!(numbers(&b).await, (3, 3));
    assert_eq!(b.http("DELETE", "/dead-letter", r#"{"confirm":true}"#).await.1["deleted"], 3);
    assert_eq!(numbers(&b).await, (0, 0));
}

/// As in a file of an earlier version, which has no such numbers, and in a database that a node of one has written to.
async fn their_number_is_counted_anew_where_it_is_missing(b: Bench) {
    for queue in ["a", "a", "b"] {
        dead(&b, queue, "t").await;
    }
    // The first sweep counts them, too.
    b.engine.store().sweep().await.unwrap();
    if b.database.is_some() {
        let lose = "DELETE FROM ojs_counts WHERE state = 8; INSERT INTO ojs_counts VALUES (1, 8, 0, 7)";
        crate::nodes::application(&b).await.batch_execute(lose).await.unwrap();
    } else if b.engine.options().store.to_string() != "memory:" {
        let file = rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap();
        file.execute_batch("DELETE FROM counts WHERE state = 8; INSERT INTO counts VALUES (1, 8, 7)").unwrap();
    } else {
        return;
    }
    assert_eq!(numbers(&b).await, (7, 7));
    let b = b.reopened().await;
    b.engine.store().sweep().await.unwrap();
    assert_eq!(numbers(&b).await, (3, 3));
    dead(&b, "b", "t").await;
    assert_eq!(numbers(&b).await, (4, 4));
}
