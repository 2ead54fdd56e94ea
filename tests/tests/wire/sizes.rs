//! Bodies, members and batches beyond the limits.
use ojs_tests::job_id;
use serde_json::{Value, json};

use super::target::{Target, check_refusal, send_and_read};

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn an_announced_body_beyond_the_limit_is_refused_unread() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    for length in ["67108865", "99999999999"] {
        let head = format!(
            "POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        let answer = send_and_read(target.reconnect().await, head.as_bytes()).await;
        check_refusal(&answer, 413, "payload_too_large", length);
    }
    assert_eq!(target.trace().await, before);
}

#[tokio::test]
async fn a_chunked_body_beyond_the_limit_is_refused() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    let wire = target.reconnect().await;
    wire.send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await
        .unwrap();
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; MIB], b"\r\n"].concat();
    for _ in 0..65 {
        // The last ones may meet a closed connection.
        if wire.send(&chunk).await.is_err() {
            break;
        }
    }
    check_refusal(&wire.answer().await.unwrap(), 413, "payload_too_large", "chunked");
    assert_eq!(target.trace().await, before);
}

#[tokio::test]
async fn a_job_beyond_ten_mebibytes_is_refused_and_one_below_is_kept() {
    let mut target = Target::new().await;
    let job = |bytes: usize| json!({"type": "test.plain", "args": ["x".repeat(bytes)]}).to_string();
    let error = target.refuses("/jobs", job(10 * MIB), 413, "payload_too_large").await;
    assert_eq!(error["details"]["max_bytes"], 10 * MIB);
    assert!(error["details"]["actual_bytes"].as_u64().unwrap() > 10 * MIB as u64);
    let batch = format!(r#"{{"jobs":[{},{}]}}"#, job(1), job(10 * MIB));
    target.refuses("/jobs/batch", batch, 413, "payload_too_large").await;

    let id = target.reconnect().await.call("POST", "/jobs", &job(9 * MIB)).await.unwrap().expect(201).job()["id"].clone();
    assert_eq!(target.job(id.as_str().unwrap()).await["args"][0].as_str().unwrap().len(), 9 * MIB);
}

#[tokio::test]
async fn meta_result_and_batch_have_limits_of_their_own() {
    let mut target = Target::new().await;
    let meta = json!({"type": "test.plain", "args": [], "meta": {"x": "y".repeat(65_536)}});
    target.refuses("/jobs", meta.to_string(), 413, "metadata_too_large").await;

    let jobs: Vec<Value> = (0..10_001).map(|n| json!({"type": "test.plain", "args": [n]})).collect();
    target.refuses("/jobs/batch", json!({"jobs": jobs}).to_string(), 413, "batch_size_exceeded").await;

    target.reconnect().await;
    target.enqueue().await;
    let held = target.fetch().await;
    let id = held["id"].as_str().unwrap();
    let ack = json!({"job_id": id, "result": "x".repeat(MIB + 1)});
    target.refuses("/workers/ack", ack.to_string(), 413, "result_too_large").await;
    assert_eq!(target.job(id).await["state"], "active", "a result that is too large must not end the job");
    target.wire.post("/workers/ack", &json!({"job_id": id, "result": "small"})).await.expect(200);
}

#[tokio::test]
async fn the_largest_batch_is_stored_whole() {
    let mut target = Target::new().await;
    let ids: Vec<String> = (0..10_000).map(|_| job_id()).collect();
    let jobs: Vec<Value> = ids.iter().map(|id| json!({"type": "test.plain", "args": [], "id": id})).collect();
    let answer = target.wire.post("/jobs/batch", &json!({"jobs": jobs})).await.expect(201).json();
    assert_eq!(answer["count"], 10_000);
    let order = answer["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap());
    assert!(order.eq(ids.iter().map(String::as_str)), "answers stand in the order of the request");
    assert_eq!(target.wire.get("/queues/default/stats").await.json()["queue"]["available"], 10_000);
}
