//! Bodies that are no JSON, or JSON of the wrong shape.
use ojs_tests::job_id;
use serde_json::json;

use super::target::Target;

#[tokio::test]
async fn what_is_no_json_object_is_refused() {
    let mut target = Target::new().await;
    let job = |args: &str| format!(r#"{{"type":"test.plain","args":{args}}}"#);
    let bodies: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b" ".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"5".to_vec(),
        b"\"text\"".to_vec(),
        b"{".to_vec(),
        b"{}".to_vec(),
        b"{'type':'test.plain','args':[]}".to_vec(),
        b"{\"type\":\"test.plain\",\"args\":[],}".to_vec(),
        [job("[]").as_bytes(), b"x"].concat(),
        [job("[]").as_bytes(), job("[]").as_bytes()].concat(),
        job("[NaN]").into_bytes(),
        job("[Infinity]").into_bytes(),
        job("[1.]").into_bytes(),
        job("[01]").into_bytes(),
        job("[\"\t\"]").into_bytes(),
        job("[\"\\x\"]").into_bytes(),
        // Half a character: no text that could be stored and read back.
        job("[\"\\ud800\"]").into_bytes(),
        b"{\"type\":\"test.plain\",\"args\":[\"\xff\xfe\"]}".to_vec(),
        b"{\"type\":\"test.plain\",\"args\":[\"\xc3\"]}".to_vec(),
        // Over-long encoding of '/'.
        b"{\"type\":\"test.plain\",\"args\":[\"\xc0\xaf\"]}".to_vec(),
        // UTF-16.
        job("[]").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        vec![0; 100],
    ];
    for body in bodies {
        target.refuses("/jobs", body, 400, "invalid_payload").await;
    }
}

#[tokio::test]
async fn worker_calls_refuse_what_is_no_json_object() {
    let mut target = Target::new().await;
    for path in ["/jobs/batch", "/workers/fetch", "/workers/ack", "/workers/nack", "/workers/heartbeat"] {
        for body in ["", "{", "[]", "null", "{\"x\":\"\u{0}\"}", "{}"] {
            target.refuses(path, body, 400, "invalid_payload").await;
        }
    }
    for body in ["{", "[]", "null"] {
        target.refuses("/workers/exchange", body, 400, "invalid_payload").await;
    }
}

#[tokio::test]
async fn nesting_is_bounded() {
    let mut target = Target::new().await;
    let nested = |depth: usize| format!(r#"{{"type":"test.plain","args":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    for depth in [200, 5_000, 1_000_000] {
        target.refuses("/jobs", nested(depth), 400, "invalid_payload").await;
        target
            .refuses(
                "/jobs",
                format!(r#"{{"type":"test.plain","args":[],"x":{}"#, "{\"a\":".repeat(depth)),
                400,
                "invalid_payload",
            )
            .await;
        target
            .refuses(
                "/workers/ack",
                format!(r#"{{"job_id":"{}","result":{}"#, job_id(), "[".repeat(depth)),
                400,
                "invalid_payload",
            )
            .await;
    }
    // What is accepted can be read by a client whose parser stops at 128 levels, fetch answer included.
    let deep = nested(100);
    let sent: serde_json::Value = serde_json::from_str(&deep).unwrap();
    let wire = target.reconnect().await;
    wire.call("POST", "/jobs", &deep).await.unwrap().expect(201);
    assert_eq!(target.fetch().await["args"], sent["args"]);
}

#[tokio::test]
async fn duplicate_keys_mean_the_last_one() {
    let mut target = Target::new().await;
    let body = r#"{"type":"test.first","type":"test.last","args":[1],"args":[2]}"#;
    let job = target.wire.call("POST", "/jobs", body).await.unwrap().expect(201).job();
    assert_eq!((&job["type"], &job["args"]), (&json!("test.last"), &json!([2])));
}

#[tokio::test]
async fn unknown_members_and_numbers_survive_as_they_came() {
    let mut target = Target::new().await;
    let args = r#"[1.0,1e3,123456789012345678901234567890,-0,0.1000000000000000055511151231257827,"\u00e9\ud83d\ude00/",{"b":1,"a":null}]"#;
    let body = format!(r#"{{"type":"test.plain","args":{args},"x_vendor":{{"z":1.50,"a":[1e-7]}},"ext_list":[3,2,1]}}"#);
    let id = target.wire.call("POST", "/jobs", &body).await.unwrap().expect(201).job()["id"].as_str().unwrap().to_owned();
    let shown = target.wire.get(&format!("/jobs/{id}")).await.expect(200);
    let fetched = target.wire.call("POST", "/workers/fetch", r#"{"queues":["default"]}"#).await.unwrap().expect(200);
    for answer in [shown, fetched] {
        let text = String::from_utf8(answer.body).unwrap();
        for part in [&format!("\"args\":{args}"), r#""x_vendor":{"z":1.50,"a":[1e-7]}"#, r#""ext_list":[3,2,1]"#] {
            assert!(text.contains(part), "{part} is missing or changed in {text}");
        }
    }
}

#[tokio::test]
async fn a_known_id_is_a_duplicate_and_stores_nothing() {
    let mut target = Target::new().await;
    let (old, new) = (job_id(), job_id());
    let job = |id: &str| json!({"type": "test.plain", "args": [], "id": id});
    target.wire.post("/jobs", &job(&old)).await.expect(201);
    let error = target.refuses("/jobs", job(&old).to_string(), 409, "duplicate").await;
    assert_eq!(error["details"]["existing_job_id"], old.as_str());

    // One bad element, and none of the batch is stored.
    let batch = json!({"jobs": [job(&new), job(&old)]}).to_string();
    assert_eq!(target.refuses("/jobs/batch", batch, 409, "duplicate").await["details"]["index"], 1);
    let batch = json!({"jobs": [job(&new), job(&new)]}).to_string();
    assert_eq!(target.refuses("/jobs/batch", batch, 409, "duplicate").await["details"]["index"], 1);
    target.reconnect().await.get(&format!("/jobs/{new}")).await.expect(404);
}

#[tokio::test]
async fn ids_that_are_no_uuid_v7_are_refused() {
    let mut target = Target::new().await;
    let upper = job_id().to_uppercase();
    let v4 = "936da01f-9abd-4d9d-80c7-02af85c822a8";
    for id in [
        "",
        "1",
        v4,
        &upper,
        "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0",
        "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0g",
        "'; DROP TABLE ojs_jobs; --",
    ] {
        let body = json!({"type": "test.plain", "args": [], "id": id}).to_string();
        let error = target.refuses("/jobs", body, 400, "invalid_payload").await;
        assert_eq!(error["details"]["field"], "id");
    }
}
