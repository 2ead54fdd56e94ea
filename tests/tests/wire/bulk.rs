//! Requests about many jobs: what each answer looks like, what is refused, what a client that leaves has done.
use ojs_tests::{Answer, Wire, job_id, until};
use serde_json::{Value, json};

use super::target::{Target, check_refusal};

fn job(n: usize) -> Value {
    json!({"type": "test.plain", "args": [n]})
}

async fn keyed(target: &mut Target, path: &str, key: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let head = format!(
        "POST /ojs/v1{path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/openjobspec+json\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let wire = target.reconnect().await;
    wire.send(head + &body).await.unwrap();
    wire.answer().await.unwrap()
}

async fn stored(target: &mut Target) -> Value {
    target.reconnect().await.get("/queues/default/stats").await.expect(200).json()["queue"]["available"].clone()
}

#[tokio::test]
async fn the_status_says_whether_all_some_or_none_were_stored() {
    let mut target = Target::new().await;
    let bad = json!({"type": "BAD", "args": []});
    for (jobs, atomicity, status, succeeded) in [
        (json!([job(1), job(2)]), "partial", 200, 2),
        (json!([job(1), job(2)]), "atomic", 201, 2),
        (json!([job(1), bad]), "partial", 207, 1),
        (json!([bad]), "partial", 422, 0),
        (json!([job(1), bad]), "atomic", 422, 0),
    ] {
        let total = jobs.as_array().unwrap().len();
        let answer = target.wire.post("/jobs/bulk", &json!({"jobs": jobs, "atomicity": atomicity})).await.expect(status);
        assert_eq!(answer.header("x-ojs-batch-size"), Some(total.to_string().as_str()));
        let answer = answer.json();
        assert_eq!(
            (&answer["total"], &answer["succeeded"], &answer["failed"]),
            (&json!(total), &json!(succeeded), &json!(total - succeeded))
        );
        for (index, item) in answer["items"].as_array().unwrap().iter().enumerate() {
            assert_eq!(item["index"], index, "{item}");
            match item["status"].as_str().unwrap() {
                "created" => assert!(item["job"]["id"].is_string() && item["error"].is_null(), "{item}"),
                "failed" => assert!(item["error"]["code"].is_string() && item["job"].is_null(), "{item}"),
                other => panic!("{other}"),
            }
        }
    }
    assert_eq!(stored(&mut target).await, 5);
}

#[tokio::test]
async fn a_repeated_request_gets_its_first_answer_byte_for_byte() {
    let mut target = Target::new().await;
    let request = json!({"jobs": [job(1), {"type": "BAD", "args": []}]});
    let first = keyed(&mut target, "/jobs/bulk", "import 42/u", &request).await.expect(207);
    let again = keyed(&mut target, "/jobs/bulk", "import 42/u", &request).await.expect(207);
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));
    assert_eq!(first.body, again.body);
    assert_eq!(stored(&mut target).await, 1);
    let other = keyed(&mut target, "/jobs/bulk", "import 42/u", &json!({"jobs": [job(9)]})).await;
    let error = check_refusal(&other, 409, "conflict", "another request");
    assert_eq!(error["details"]["reason"], "idempotency_key_reused");
}

#[tokio::test]
async fn keys_that_are_none_are_refused() {
    let mut target = Target::new().await;
    let request = json!({"jobs": [job(1)]});
    for key in ["", &"k".repeat(257)] {
        check_refusal(&keyed(&mut target, "/jobs/bulk", key, &request).await, 400, "invalid_payload", key);
    }
    for key in [json!(""), json!("k".repeat(257)), json!(7), json!(["k"])] {
        let body = json!({"jobs": [job(1)], "idempotency_key": key}).to_string();
        target.refuses("/jobs/bulk", body, 400, "invalid_payload").await;
    }
    assert_eq!(stored(&mut target).await, 0);
}

#[tokio::test]
async fn bodies_of_the_wrong_form_leave_no_trace() {
    let mut target = Target::new().await;
    target.enqueue().await;
    for body in
        ["", "null", "[]", "{", "{}", r#"{"jobs":{}}"#, r#"{"jobs":"x"}"#, r#"{"jobs":[]}"#, r#"{"jobs":[{}],"atomicity":7}"#]
    {
        target.refuses("/jobs/bulk", body, 400, "invalid_payload").await;
    }
    for path in ["/jobs/bulk/cancel", "/jobs/bulk/retry", "/jobs/bulk/delete"] {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"job_ids":"x"}"#,
            r#"{"job_ids":[1]}"#,
            r#"{"job_ids":[]}"#,
            r#"{"filter":[]}"#,
            r#"{"filter":{}}"#,
            r#"{"job_ids":["x"],"filter":{"queue":"default"}}"#,
        ] {
            target.refuses(path, body, 400, "invalid_payload").await;
        }
    }
}

#[tokio::test]
async fn ten_thousand_go_through_and_one_more_does_not() {
    let mut target = Target::new().await;
    let mut jobs: Vec<Value> = (0..10_000).map(job).collect();
    let answer = target.wire.post("/jobs/bulk", &json!({"jobs": jobs})).await.expect(200).json();
    assert_eq!((&answer["succeeded"], answer["items"].as_array().unwrap().len()), (&json!(10_000), 10_000));
    jobs.push(job(10_000));
    let error = target.refuses("/jobs/bulk", json!({"jobs": jobs}).to_string(), 413, "batch_size_exceeded").await;
    assert_eq!((&error["max_batch_size"], &error["details"]["field"]), (&json!(10_000), &json!("jobs")));
    let ids: Vec<String> = (0..10_001).map(|_| job_id()).collect();
    target.refuses("/jobs/bulk/cancel", json!({"job_ids": ids}).to_string(), 413, "batch_size_exceeded").await;
    assert_eq!(stored(&mut target).await, 10_000);
}

#[tokio::test]
async fn others_are_served_while_many_are_changed_and_whoever_hangs_up_stops_it() {
    let mut target = Target::new().await;
    for _ in 0..2 {
        target.wire.post("/jobs/bulk", &json!({"jobs": (0..10_000).map(job).collect::<Vec<_>>()})).await.expect(200);
    }
    let body = json!({"filter": {"queue": "default"}}).to_string();
    let head = format!(
        "POST /ojs/v1/jobs/bulk/cancel HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut leaving = target.server.connect().await;
    leaving.send(head + &body).await.unwrap();
    let mut wire = target.server.connect().await;
    let left = async |wire: &mut Wire| {
        let queue = wire.get("/queues/default/stats").await.expect(200).json()["queue"].clone();
        queue["available"].as_u64().unwrap()
    };
    // Served meanwhile: what is seen is the middle of the change.
    let mut seen = 20_000;
    while seen == 20_000 {
        seen = left(&mut wire).await;
    }
    wire.post("/jobs", &json!({"type": "test.other", "args": [], "options": {"queue": "other"}})).await.expect(201);
    drop(leaving);
    // It stops between two slices, or was done before. The same request sent again does the rest; nothing is done twice.
    let again = wire.post("/jobs/bulk/cancel", &json!({"filter": {"queue": "default"}})).await;
    assert!([200, 207, 422].contains(&again.status), "{}", again.status);
    assert_eq!(left(&mut wire).await, 0);
    let figure = r#"ojs_job_cancelled_total{queue="default",type="test.plain"} 20000"#;
    let server = &target.server;
    until("each was cancelled once", || async move { server.metrics().await.lines().any(|line| line == figure).then_some(()) })
        .await;
}
