//! Execution history (extensions section 23): read from what the store has anyway.
use std::time::Duration;

use ojs_engine::command::Cancel;
use ojs_engine::{Engine, EngineOptions, HistoryOptions};
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::admin_http::get;
use crate::support::{Bench, seconds};
use crate::tenants::ask;

crate::on_every_store!(
    a_history_names_every_event_that_the_document_asks_for,
    an_attempt_has_its_wait_its_worker_its_duration_and_its_error,
    a_lost_lease_is_an_attempt_that_failed,
    a_job_that_was_given_back_says_so,
    a_cancelled_job_says_in_which_state_it_was,
    a_scheduled_job_becomes_available_in_its_history,
    a_replayed_job_has_both_of_its_lives,
    a_job_that_expired_had_no_attempt,
    a_history_outlives_the_event_log,
    pages_follow_each_other_without_a_gap,
    the_history_of_a_job_with_very_many_failures_is_bounded,
    errors_that_differ_in_numbers_have_one_fingerprint,
    the_lineage_of_a_step_is_its_whole_workflow,
    what_is_not_there_has_no_history,
    a_search_finds_the_newest_first_and_goes_back_page_by_page,
    a_search_is_narrowed_by_type_queue_actor_and_time,
    a_deleted_history_is_not_shown_and_its_job_stays,
    a_history_reaches_back_thirty_days,
    figures_of_events_are_grouped_by_periods,
);

const RETRIED: &str = r#"{"type":"t","args":[{"n":1}],"options":{"queue":"q","retry":{"max_attempts":3,"initial_interval":"PT2S","jitter":false}}}"#;

impl Bench {
    async fn history(&self, id: JobId) -> Value {
        get(self, &format!("/jobs/{id}/history?limit=1000")).await
    }
}

/// Types of events with what they say, as short texts: `created`, `>active` for a change of state.
fn told(history: &Value) -> Vec<String> {
    let short = |event: &Value| match event["event_type"].as_str().unwrap() {
        "job.state_changed" => format!(">{}", event["data"]["to"].as_str().unwrap()),
        name => name.strip_prefix("job.").unwrap().to_owned(),
    };
    history["events"].as_array().unwrap().iter().map(short).collect()
}

async fn a_history_names_every_event_that_the_document_asks_for(b: Bench) {
    let id = b.enqueue(RETRIED).await;
    b.advance(seconds(5)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(Duration::from_millis(1500)).await;
    b.nack(&job, r#"{"code":"timeout","type":"Timeout","message":"no answer"}"#).await.unwrap();
    b.advance(seconds(2)).await;
    b.advance(seconds(1)).await;
    let job = b.claim_for(Some("v"), &["q"], 1).await.remove(0);
    b.advance(seconds(3)).await;
    b.ack(&job).await.unwrap();
    let history = b.history(id).await;
    let first = [">available", ">active", "attempt_started", "attempt_failed", ">retryable"];
    let second = [">available", ">active", "attempt_started", "attempt_completed", ">completed"];
    assert_eq!(told(&history), [&["created"][..], &first, &second].concat(), "{history}");
    let events = history["events"].as_array().unwrap();
    assert_eq!(events[0]["data"], json!({"queue": "q", "type": "t", "args_size_bytes": 9}));
    assert_eq!(events[0]["actor"], json!({"type": "client", "id": null}));
    assert_eq!((&events[0]["job_id"], &events[0]["metadata"]), (&json!(id.to_string()), &json!({})));
    assert_eq!(events[1]["data"], json!({"from": null, "to": "available"}));
    assert_eq!(events[3]["data"], json!({"worker_id": "w", "attempt": 1}));
    assert_eq!(events[3]["actor"], json!({"type": "worker", "id": "w"}));
    let failed = &events[4]["data"];
    assert_eq!((&failed["attempt"], &failed["will_retry"], &failed["duration_ms"]), (&json!(1), &json!(true), &json!(1500)));
    assert_eq!((&failed["error"]["code"], &failed["error"]["message"]), (&json!("timeout"), &json!("no answer")));
    assert_eq!(events[8]["data"], json!({"worker_id": "v", "attempt": 2}), "the log names the worker of an ended job");
    assert_eq!(events[9]["data"], json!({"attempt": 2, "duration_ms": 3000}));
    assert_eq!((&history["total"], &history["next_cursor"]), (&json!(11), &Value::Null));
    let times: Vec<&str> = events.iter().map(|event| event["timestamp"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let mut ids: Vec<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), events.len());
}

async fn an_attempt_has_its_wait_its_worker_its_duration_and_its_error(b: Bench) {
    let id = b.enqueue(RETRIED).await;
    b.advance(seconds(5)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(Duration::from_millis(1500)).await;
    b.nack(&job, r#"{"code":"timeout","message":"no answer"}"#).await.unwrap();
    b.advance(seconds(2)).await;
    b.advance(seconds(4)).await;
    b.claim(1).await;
    let history = b.history(id).await;
    let attempts = history["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    let brief = |n: usize| ["attempt", "state", "worker_id", "wait_ms", "duration_ms"].map(|name| attempts[n][name].clone());
    assert_eq!(brief(0), [json!(1), json!("failed"), json!("w"), json!(5000), json!(1500)]);
    assert_eq!(brief(1), [json!(2), json!("running"), json!("w"), json!(4000), Value::Null]);
    assert_eq!(attempts[0]["error"]["message"], "no answer");
    assert_eq!(attempts[0]["fingerprint"].as_str().unwrap().len(), 16);
    assert_eq!((&attempts[1]["error"], &attempts[1]["ended_at"]), (&Value::Null, &Value::Null));
    let entry = &get(&b, &format!("/jobs/{id}")).await["job"]["errors"][0];
    assert_eq!((&entry["worker_id"], &entry["wait_ms"]), (&json!("w"), &json!(5000)));
    assert_eq!(entry["started_at"], attempts[0]["started_at"]);
}

async fn a_lost_lease_is_an_attempt_that_failed(b: Bench) {
    let id = b.job().await;
    b.claim(1).await;
    b.advance(seconds(31)).await;
    let history = b.history(id).await;
    let expected = ["created", ">available", ">active", "attempt_started", "attempt_failed", ">available"];
    assert_eq!(told(&history), expected, "the job went back to its line at once");
    assert_eq!(history["events"][4]["data"]["will_retry"], true);
    assert_eq!(history["attempts"][0]["worker_id"], "w");
}

async fn a_job_that_was_given_back_says_so(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(1)).await;
    b.settle(id, Some(job.row.lease), ojs_engine::command::Outcome::Release(0)).await.unwrap();
    let history = b.history(id).await;
    assert_eq!(told(&history), ["created", ">available", ">active", "attempt_started", ">available"]);
    assert_eq!((&history["attempts"][0]["state"], &history["releases"]), (&json!("released"), &json!(1)));
}

async fn a_cancelled_job_says_in_which_state_it_was(b: Bench) {
    let waiting = b.job().await;
    b.advance(seconds(1)).await;
    b.change(Cancel(waiting)).await.unwrap();
    let history = b.history(waiting).await;
    assert_eq!(told(&history), ["created", ">available", ">cancelled", "cancelled"]);
    assert_eq!(history["events"][2]["data"]["from"], "available");
    let running = b.job().await;
    b.claim(1).await;
    b.advance(seconds(1)).await;
    b.change(Cancel(running)).await.unwrap();
    let history = b.history(running).await;
    assert_eq!(told(&history), ["created", ">available", ">active", "attempt_started", ">cancelled", "cancelled"]);
    assert_eq!((&history["attempts"][0]["state"], &history["attempts"][0]["worker_id"]), (&json!("cancelled"), &json!("w")));
}

async fn a_scheduled_job_becomes_available_in_its_history(b: Bench) {
    let id = b.job_in(JobState::Scheduled).await;
    assert_eq!(told(&b.history(id).await), ["created", ">scheduled"]);
    b.advance(seconds(3600)).await;
    let history = b.history(id).await;
    assert_eq!(told(&history), ["created", ">scheduled", ">available"]);
    assert_eq!(history["events"][2]["timestamp"], "2026-01-01T01:00:00.000Z");
    let staged = b.job_in(JobState::Pending).await;
    assert_eq!(told(&b.history(staged).await), ["created", ">pending"]);
}

async fn a_replayed_job_has_both_of_its_lives(b: Bench) {
    let id = b.job_in(JobState::Discarded).await;
    let first = ["created", ">available", ">active", "attempt_started", "attempt_failed", ">discarded", "discarded"];
    let history = b.history(id).await;
    assert_eq!(told(&history), first);
    assert_eq!(history["events"][6]["data"]["total_attempts"], 1);
    assert_eq!(history["events"][6]["data"]["last_error"]["code"], "x");
    assert_eq!(history["events"][4]["data"]["will_retry"], false);
    b.advance(seconds(60)).await;
    assert_eq!(crate::admin_http::post(&b, &format!("/admin/jobs/{id}/retry"), json!({})).await.0, 200);
    assert_eq!(told(&b.history(id).await), [&first[..], &[">available"]].concat());
    b.advance(seconds(1)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(1)).await;
    b.ack(&job).await.unwrap();
    let second = [">available", ">active", "attempt_started", "attempt_completed", ">completed"];
    let history = b.history(id).await;
    assert_eq!(told(&history), [&first[..], &second].concat());
    assert_eq!(history["attempts"][1]["wait_ms"], 1000);
}

async fn a_job_that_expired_had_no_attempt(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","expires_at":"2026-01-01T00:00:10Z"}}"#).await;
    b.advance(seconds(11)).await;
    let history = b.history(id).await;
    assert_eq!(history["attempts"], json!([]), "{history}");
    assert_eq!(told(&history), ["created", ">available", ">discarded", "discarded"]);
}

async fn a_history_outlives_the_event_log(b: Bench) {
    // Events are kept for 7 days, discarded jobs for 30.
    let id = b.job_in(JobState::Discarded).await;
    let before = b.history(id).await;
    b.advance(seconds(8 * 86_400)).await;
    b.advance(seconds(1)).await;
    assert!(b.story(id).await.is_empty(), "the log must be empty for this test to show anything");
    assert_eq!(b.history(id).await, before);
}

async fn pages_follow_each_other_without_a_gap(b: Bench) {
    // All in one millisecond: the cursor tells them apart.
    let id = b.job_in(JobState::Discarded).await;
    let whole = b.history(id).await;
    let mut events = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = get(&b, &format!("/jobs/{id}/history?limit=2{cursor}")).await;
        assert_eq!(page["total"], whole["total"]);
        events.extend(page["events"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(json!(events), whole["events"]);
    let (status, body) = b.http("GET", &format!("/jobs/{id}/history?cursor=nonsense"), "").await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("cursor")));
}

async fn the_history_of_a_job_with_very_many_failures_is_bounded(b: Bench) {
    let id = b
        .enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":90,"initial_interval":"PT1S","backoff_coefficient":1.0,"jitter":false}}}"#)
        .await;
    for _ in 0..60 {
        let job = b.claim(1).await.remove(0);
        b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
        b.advance(seconds(1)).await;
    }
    let history = b.history(id).await;
    let attempts = history["attempts"].as_array().unwrap();
    assert_eq!((attempts.len(), &attempts[0]["attempt"], &attempts[49]["attempt"]), (50, &json!(11), &json!(60)));
    assert!(history["total"].as_u64().unwrap() <= 1000, "OJS_HISTORY_MAX_EVENTS_PER_JOB of the document");
}

async fn errors_that_differ_in_numbers_have_one_fingerprint(b: Bench) {
    let id = b.enqueue(RETRIED).await;
    for message in ["order 17 is gone", "order 4711 is gone", "the disk is full"] {
        let job = b.claim(1).await.remove(0);
        b.nack(&job, &json!({"code": "x", "message": message}).to_string()).await.unwrap();
        b.advance(seconds(60)).await;
    }
    let history = b.history(id).await;
    let prints: Vec<&Value> = history["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["fingerprint"]).collect();
    assert_eq!(prints[0], prints[1]);
    assert_ne!(prints[1], prints[2]);
}

async fn the_lineage_of_a_step_is_its_whole_workflow(b: Bench) {
    let step = |name: &str| json!({"name": name, "type": "t", "args": [], "options": {"queue": "q"}});
    let flow = json!({"type": "chain", "name": "nightly", "steps": [step("one"), step("two")]});
    let flow = crate::admin_http::post(&b, "/workflows", flow).await.1["workflow"]["id"].clone();
    let job = b.claim(1).await.remove(0);
    let lineage = get(&b, &format!("/jobs/{}/lineage", job.row.id)).await;
    assert_eq!((&lineage["workflow_id"], &lineage["root_id"], &lineage["truncated"]), (&flow, &flow, &json!(false)), "{lineage}");
    let tree = &lineage["tree"];
    assert_eq!((&tree["kind"], &tree["name"], &tree["state"]), (&json!("workflow"), &json!("nightly"), &json!("running")));
    let children = tree["children"].as_array().unwrap();
    assert_eq!((&children[0]["id"], &children[0]["step_name"]), (&json!(job.row.id.to_string()), &json!("one")));
    assert_eq!((&children[1]["id"], &children[1]["type"]), (&Value::Null, &json!("t")), "it has no job yet");
    let alone = b.enqueue(r#"{"type":"t","args":[],"parent_id":"p","root_id":"r"}"#).await;
    let lineage = get(&b, &format!("/jobs/{alone}/lineage")).await;
    assert_eq!((&lineage["parent_id"], &lineage["root_id"], &lineage["workflow_id"]), (&json!("p"), &json!("r"), &Value::Null));
    assert_eq!(lineage["tree"]["id"], json!(alone.to_string()));
}

async fn what_is_not_there_has_no_history(b: Bench) {
    for path in [
        format!("/jobs/{}/history", JobId::now_v7()),
        "/jobs/nonsense/history".into(),
        format!("/jobs/{}/lineage", JobId::now_v7()),
    ] {
        let (status, body) = b.http("GET", &path, "").await;
        assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")), "{path}");
    }
}

async fn a_search_finds_the_newest_first_and_goes_back_page_by_page(b: Bench) {
    for _ in 0..3 {
        b.job_in(JobState::Completed).await;
        b.advance(seconds(1)).await;
    }
    let whole = get(&b, "/history?limit=1000").await;
    let events = whole["events"].as_array().unwrap();
    assert_eq!((events.len(), &whole["total_estimate"], &whole["next_cursor"]), (18, &json!(18), &Value::Null), "{whole}");
    let expected = [">available", "created", ">active", "attempt_started", ">completed", "attempt_completed"];
    let mut one: Vec<String> = told(&whole)[..6].to_vec();
    one.sort();
    let mut wanted = expected.map(str::to_owned).to_vec();
    wanted.sort();
    assert_eq!(one, wanted);
    assert_eq!(told(&whole)[0], "attempt_completed", "the newest first");
    let times: Vec<&str> = events.iter().map(|event| event["timestamp"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(&b, &format!("/history?limit=4{cursor}")).await;
        paged.extend(page["events"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(json!(paged), whole["events"]);
}

async fn a_search_is_narrowed_by_type_queue_actor_and_time(b: Bench) {
    b.job_in(JobState::Discarded).await;
    b.advance(seconds(60)).await;
    b.enqueue(r#"{"type":"other","args":["secret"],"options":{"queue":"r"}}"#).await;
    let found = async |query: &str| told(&get(&b, &format!("/history?{query}")).await);
    assert_eq!(found("event_types=job.attempt_failed,job.discarded").await, ["discarded", "attempt_failed"]);
    assert_eq!(found("queues=r").await, [">available", "created"]);
    assert_eq!(found("job_types=other&actor_type=client").await, ["created"]);
    assert_eq!(found("start=2026-01-01T00:00:30Z").await, [">available", "created"]);
    assert_eq!(found("end=2026-01-01T00:00:30Z&actor_type=client").await, ["created"]);
    assert_eq!(found("queues=never").await, Vec::<String>::new());
    assert_eq!(found("actor_type=user").await, Vec::<String>::new(), "no event here has a person as its actor");
    assert!(!get(&b, "/history").await.to_string().contains("secret"), "arguments are no part of a history");
    for (query, status, field) in [
        ("query=timeout", 501, "query"),
        ("actor_type=robot", 400, "actor_type"),
        ("cursor=nonsense", 400, "cursor"),
        ("start=yesterday", 400, "start"),
    ] {
        let (got, body) = b.http("GET", &format!("/history?{query}"), "").await;
        assert_eq!((got, &body["error"]["details"]["field"]), (status, &json!(field)), "{query}: {body}");
    }
    let (_, headers, _) = crate::tenants::ask(b.engine.router(), &[], "GET", "/history?limit=5000", &Value::Null).await;
    assert_eq!(headers["x-ojs-limit-clamped"], "true");
}

async fn a_deleted_history_is_not_shown_and_its_job_stays(b: Bench) {
    let (id, other) = (b.enqueue(RETRIED).await, b.enqueue(RETRIED).await);
    let job = b.claim(1).await.remove(0);
    assert_eq!(job.row.id, id);
    b.advance(seconds(1)).await;
    b.nack(&job, r#"{"code":"timeout","type":"Timeout","message":"no answer"}"#).await.unwrap();
    let path = format!("/jobs/{id}/history");
    let events = b.history(id).await["total"].as_u64().unwrap();
    assert!(events >= 6, "{events}");
    let (status, deleted) = b.http("DELETE", &path, "").await;
    assert_eq!((status, &deleted["deleted"], &deleted["events_deleted"]), (200, &json!(true), &json!(events)));
    let history = b.history(id).await;
    assert_eq!((&history["events"], &history["attempts"], &history["total"]), (&json!([]), &json!([]), &json!(0)));
    let (_, found) = b.http("GET", "/history?limit=1000", "").await;
    let of =
        |wanted: JobId| found["events"].as_array().unwrap().iter().filter(|event| event["job_id"] == wanted.to_string()).count();
    assert_eq!((of(id), of(other) > 0), (0, true), "the search over all jobs does not find it, and finds others: {found}");
    let (_, seen) = b.http("GET", &format!("/jobs/{id}"), "").await;
    assert_eq!(
        (&seen["job"]["state"], &seen["job"]["errors"][0]["message"]),
        (&json!("retryable"), &json!("no answer")),
        "{seen}"
    );
    // What happens from now on is shown; then it is deleted as well.
    b.advance(seconds(3)).await;
    let job = loop {
        let job = b.claim(1).await.remove(0);
        if job.row.id == id {
            break job;
        }
    };
    b.advance(seconds(1)).await;
    b.ack(&job).await.unwrap();
    let history = b.history(id).await;
    let told = told(&history);
    assert!(told.contains(&"attempt_completed".to_owned()) && !told.contains(&"attempt_failed".to_owned()), "{told:?}");
    let attempts: Vec<&Value> = history["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["attempt"]).collect();
    assert_eq!(attempts, [&json!(2)]);
    assert_eq!(b.http("DELETE", &path, "").await.1["events_deleted"], history["total"]);
    assert_eq!(b.http("DELETE", &path, "").await.1["events_deleted"], 0);
    assert_eq!(b.http("DELETE", &format!("/jobs/{}/history", JobId::now_v7()), "").await.0, 404);
    // The record goes with the job: the audit at the end of the test would find it.
    let delete = json!({"job_ids": [id.to_string()]}).to_string();
    assert_eq!(b.http("POST", "/jobs/bulk/delete", &delete).await.0, 200);
    assert_eq!(b.http("GET", &path, "").await.0, 404);
}

async fn a_history_reaches_back_thirty_days(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","pending":true}}"#).await;
    b.advance(seconds(29 * 86_400)).await;
    assert_eq!(b.history(id).await["total"], 2, "created, and pending");
    b.advance(seconds(2 * 86_400)).await;
    assert_eq!(b.history(id).await["total"], 0);
    assert_eq!(b.http("POST", &format!("/jobs/{id}/activate"), "{}").await.0, 200);
    assert_eq!(told(&b.history(id).await), [">available"]);
}

#[tokio::test]
async fn the_options_of_the_server_bound_histories() {
    let b = Bench::memory().await;
    let open =
        async |history: HistoryOptions| Engine::open(EngineOptions { history, ..b.engine.options().clone() }).await.unwrap();
    let few = open(HistoryOptions { max_events: 1, ..HistoryOptions::default() }).await;
    let off = open(HistoryOptions { enabled: false, ..HistoryOptions::default() }).await;
    let job = json!({"type": "t", "args": []});
    for (engine, status) in [(few, 200), (off, 422)] {
        let made = ask(engine.router(), &[], "POST", "/jobs", &job).await.2;
        let path = format!("/jobs/{}/history", made["job"]["id"].as_str().unwrap());
        let (answered, _, history) = ask(engine.router(), &[], "GET", &path, &Value::Null).await;
        assert_eq!(answered, status, "{history}");
        match status {
            200 => assert_eq!(told(&history), [">available"], "the newest"),
            _ => assert_eq!(history["error"]["code"], "unsupported"),
        }
        for path in ["/history", "/history/stats"] {
            assert_eq!(ask(engine.router(), &[], "GET", path, &Value::Null).await.0, status, "{path}");
        }
    }
}

async fn figures_of_events_are_grouped_by_periods(b: Bench) {
    for _ in 0..2 {
        b.job().await;
    }
    b.advance(seconds(1)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(2)).await;
    b.ack(&job).await.unwrap();
    b.advance(seconds(3_600)).await;
    b.http("POST", "/jobs", r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    let (_, hours) = b.http("GET", "/history/stats", "").await;
    let [first, second] = [0, 1].map(|n| hours["buckets"][n].clone());
    assert_eq!((&hours["group_by"], hours["buckets"].as_array().unwrap().len()), (&json!("hour"), 2), "{hours}");
    assert_eq!(
        (&first["timestamp"], &second["timestamp"]),
        (&json!("2026-01-01T00:00:00.000Z"), &json!("2026-01-01T01:00:00.000Z"))
    );
    let events = json!({"job.created": 2, "job.attempt_completed": 1, "job.attempt_failed": 0, "job.discarded": 0});
    assert_eq!((&first["events"], &second["events"]["job.created"]), (&events, &json!(1)));
    for member in ["avg_duration_ms", "p95_duration_ms"] {
        assert!((1_700.0..2_300.0).contains(&first[member].as_f64().unwrap()), "{member}: {first}");
        assert_eq!(second[member], Value::Null);
    }
    let (_, day) = b.http("GET", "/history/stats?group_by=day&queues=other", "").await;
    assert_eq!((&day["buckets"][0]["events"]["job.created"], day["buckets"].as_array().unwrap().len()), (&json!(1), 1), "{day}");
    let (_, minutes) = b.http("GET", "/history/stats?group_by=minute&end=2026-01-01T00:30:00Z", "").await;
    assert_eq!(minutes["buckets"].as_array().unwrap().len(), 1, "{minutes}");
    for (query, status) in
        [("group_by=week", 400), ("queues=none", 404), ("job_types=t", 501), ("group_by=minute&start=2025-12-20T00:00:00Z", 400)]
    {
        assert_eq!(b.http("GET", &format!("/history/stats?{query}"), "").await.0, status, "{query}");
    }
}
