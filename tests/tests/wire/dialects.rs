//! Wire forms of published SDKs that differ from ours, and must work unchanged.
use serde_json::{Value, json};

use super::target::Target;

/// Enqueues in some dialect and shows what was stored.
async fn stored(target: &mut Target, job: Value) -> Value {
    let id = target.wire.post("/jobs", &job).await.expect(201).job()["id"].clone();
    target.job(id.as_str().unwrap()).await
}

#[tokio::test]
async fn heartbeats_carry_ids_as_a_list_or_a_count() {
    let mut target = Target::new().await;
    for beat in [
        |id: &str| json!({"worker_id": "w", "state": "running", "active_jobs": 1, "active_job_ids": [id]}),
        |id: &str| json!({"worker_id": "w", "active_jobs": [id]}),
        |id: &str| json!({"worker_id": "w", "active_jobs": [id], "active_job_ids": [id], "hostname": "h", "pid": 1, "queues": ["default"], "concurrency": 5}),
        |id: &str| json!({"worker_id": "w", "job_id": id}),
    ] {
        target.enqueue().await;
        let id = target.fetch().await["id"].as_str().unwrap().to_owned();
        for path in ["/workers/heartbeat", "/workers/beat"] {
            let answer = target.wire.post(path, &beat(&id)).await.expect(200).json();
            assert_eq!(answer["jobs_extended"], json!([id]), "{answer}");
            assert_eq!((&answer["state"], &answer["directive"]), (&json!("running"), &json!("running")));
        }
        target.wire.post("/workers/ack", &json!({"job_id": id})).await.expect(200);
    }
    let answer = target.wire.post("/workers/heartbeat", &json!({"worker_id": "w", "active_jobs": 0})).await.expect(200).json();
    assert_eq!(answer["jobs_extended"], json!([]));
}

#[tokio::test]
async fn fetch_takes_count_or_batch_size_and_needs_no_worker() {
    let mut target = Target::new().await;
    for size in ["count", "batch_size"] {
        for _ in 0..3 {
            target.enqueue().await;
        }
        let jobs = target.wire.post("/workers/fetch", &json!({"queues": ["other", "default"], size: 3})).await.expect(200).json();
        assert_eq!(jobs["jobs"].as_array().unwrap().len(), 3, "{size}");
        assert_eq!(jobs["job"]["id"], jobs["jobs"][0]["id"]);
        assert_eq!(jobs["jobs"][0]["attempt"], 1);
    }
}

#[tokio::test]
async fn options_stand_inside_or_at_the_top_and_inside_wins() {
    let mut target = Target::new().await;
    let options = json!({"queue": "mail", "priority": 7, "tags": ["a"], "timeout_ms": 5000});
    let mut top = options.clone();
    top["type"] = json!("test.plain");
    top["args"] = json!([]);
    let inside = json!({"type": "test.plain", "args": [], "options": options});
    for job in [top, inside] {
        let stored = stored(&mut target, job).await;
        assert_eq!((&stored["queue"], &stored["priority"], &stored["tags"]), (&json!("mail"), &json!(7), &json!(["a"])));
        assert_eq!(stored["timeout_ms"], 5000);
    }
    let both = json!({"type": "test.plain", "args": [], "queue": "top", "meta": {"a": 1, "b": 1}, "options": {"queue": "inside", "metadata": {"b": 2, "c": 2}}});
    let stored = stored(&mut target, both).await;
    assert_eq!(stored["queue"], "inside");
    assert_eq!(stored["meta"], json!({"a": 1, "b": 1, "c": 2}), "meta and options.metadata merge, meta wins");
}

#[tokio::test]
async fn retry_intervals_come_as_iso_text_or_milliseconds() {
    let mut target = Target::new().await;
    for retry in [
        json!({"max_attempts": 5, "initial_interval": "PT2S", "max_interval": "PT1M", "jitter": false}),
        json!({"max_attempts": 5, "initial_interval": "2s", "max_interval": "1m", "jitter": false}),
        json!({"max_attempts": 5, "initial_interval_ms": 2000, "max_interval_ms": 60000, "jitter": false}),
        json!({"max_attempts": 5, "initial_interval_ms": 2000, "initial_interval": "PT2S", "max_interval": "PT1M", "jitter": false}),
    ] {
        for name in ["retry", "retry_policy"] {
            let stored = stored(&mut target, json!({"type": "test.plain", "args": [], "options": {name: retry}})).await;
            assert_eq!(stored["max_attempts"], 5, "{retry}");
            assert_eq!(
                (&stored["retry"]["initial_interval"], &stored["retry"]["max_interval"]),
                (&json!("PT2S"), &json!("PT1M")),
                "{retry}"
            );
            let fetched = target.fetch().await;
            let nack = json!({"job_id": fetched["id"], "error": {"code": "handler_error", "message": "no"}});
            assert_eq!(target.wire.post("/workers/nack", &nack).await.expect(200).json()["retry_delay_ms"], 2000, "{retry}");
        }
    }
}

#[tokio::test]
async fn timeouts_come_in_seconds_or_milliseconds() {
    let mut target = Target::new().await;
    for job in [
        json!({"type": "test.plain", "args": [], "timeout": 5}),
        json!({"type": "test.plain", "args": [], "timeout_ms": 5000}),
        json!({"type": "test.plain", "args": [], "timeout": 9, "timeout_ms": 5000}),
        json!({"type": "test.plain", "args": [], "options": {"timeout_ms": 5000}}),
    ] {
        assert_eq!(stored(&mut target, job.clone()).await["timeout_ms"], 5000, "{job}");
    }
}

#[tokio::test]
async fn times_are_absolute_or_relative_and_have_two_names() {
    let mut target = Target::new().await;
    for options in
        [json!({"scheduled_at": "+PT1H"}), json!({"delay_until": "+PT1H"}), json!({"delay_until": "2199-01-01T00:00:00+02:00"})]
    {
        let stored = stored(&mut target, json!({"type": "test.plain", "args": [], "options": options})).await;
        assert_eq!(stored["state"], "scheduled", "{options}");
        assert!(stored["scheduled_at"].is_string(), "{stored}");
    }
    let past =
        stored(&mut target, json!({"type": "test.plain", "args": [], "options": {"delay_until": "2020-01-01T00:00:00Z"}})).await;
    assert_eq!(past["state"], "available");
}

#[tokio::test]
async fn results_of_any_shape_come_back_as_they_were() {
    let mut target = Target::new().await;
    for result in [json!(5), json!("text"), json!([1, 2]), json!({"a": 1}), json!(false)] {
        target.enqueue().await;
        let id = target.fetch().await["id"].as_str().unwrap().to_owned();
        let answer = target.wire.post("/workers/ack", &json!({"job_id": id, "result": result})).await.expect(200).json();
        assert_eq!((&answer["acknowledged"], &answer["id"], &answer["state"]), (&json!(true), &json!(id), &json!("completed")));
        assert_eq!(target.job(&id).await["result"], result);
    }
}

#[tokio::test]
async fn a_queue_is_described_in_every_published_form() {
    let mut target = Target::new().await;
    target.enqueue().await;
    let stats = target.wire.get("/queues/default/stats").await.expect(200).json();
    assert_eq!((&stats["queue"]["name"], &stats["queue"]["available"]), (&json!("default"), &json!(1)));
    assert_eq!(
        (&stats["stats"]["queue"], &stats["stats"]["depth"], &stats["stats"]["available"]),
        (&json!("default"), &json!(1), &json!(1))
    );
    assert!(stats["computed_at"].is_string());
}

#[tokio::test]
async fn unique_policies_are_spelt_in_many_ways() {
    let mut target = Target::new().await;
    for (n, unique) in [
        json!({"keys": ["type", "args"], "period": "PT1H", "on_conflict": "reject"}),
        json!({"key": ["report_id"], "period": "PT1H"}),
        json!({"keys": ["type", "args"], "period_ms": 3_600_000}),
        json!({"keys": ["type", "args"], "period": "PT1H", "onConflict": "reject"}),
    ]
    .into_iter()
    .enumerate()
    {
        let job = json!({"type": "test.unique", "args": [{"report_id": n}], "options": {"unique": unique}});
        let first = target.wire.post("/jobs", &job).await.expect(201).job()["id"].clone();
        let refusal = target.wire.post("/jobs", &job).await.expect(409);
        assert_eq!(refusal.json()["error"]["details"]["existing_job_id"], first, "{job}");
    }
}

#[tokio::test]
async fn cron_entries_are_flat_or_have_a_template() {
    let mut target = Target::new().await;
    for (name, entry) in [
        (
            "suite",
            json!({"expression": "0 9 * * *", "job_template": {"type": "report.build", "args": [1], "options": {"queue": "slow"}}}),
        ),
        ("binding", json!({"cron": "0 9 * * *", "type": "report.build", "args": [1], "options": {"queue": "slow"}})),
        (
            "union",
            json!({"cron": "0 9 * * *", "expression": "0 9 * * *", "type": "report.build", "args": [1], "options": {"queue": "slow"},
            "job_template": {"type": "report.build", "args": [1], "options": {"queue": "slow"}}}),
        ),
    ] {
        let mut body = entry;
        body["name"] = json!(name);
        target.wire.post("/cron", &body).await.expect(201);
    }
    let list = target.wire.get("/cron").await.expect(200).json();
    assert_eq!((list["crons"].as_array().unwrap().len(), &list["crons"]), (3, &list["cron_jobs"]));
    for entry in list["crons"].as_array().unwrap() {
        assert_eq!(
            (&entry["expression"], &entry["job_template"]["type"]),
            (&json!("0 9 * * *"), &json!("report.build")),
            "{entry}"
        );
    }
}

#[tokio::test]
async fn workflows_are_steps_by_name_or_by_type() {
    let mut target = Target::new().await;
    for body in [
        json!({"type": "chain", "steps": [{"type": "a.first", "args": []}, {"type": "a.second", "args": []}]}),
        json!({"name": "etl", "type": "chain", "steps": [{"id": "1", "type": "a.first", "args": []}, {"id": "2", "type": "a.second", "args": [], "depends_on": ["1"]}]}),
        json!({"type": "group", "jobs": [{"type": "a.first", "args": []}, {"type": "a.second", "args": []}]}),
    ] {
        let workflow = target.wire.post("/workflows", &body).await.expect(201).json()["workflow"].clone();
        assert_eq!(workflow["state"], "running", "{body}");
        let id = workflow["id"].as_str().unwrap();
        assert_eq!(target.wire.get(&format!("/workflows/{id}")).await.expect(200).json()["workflow"]["id"], id);
    }
}
