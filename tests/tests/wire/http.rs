//! HTTP itself: methods, paths, headers, versions, pipelines.
use serde_json::json;

use super::target::{Target, check_refusal, send_and_read};

const JOB: &str = r#"{"type":"test.plain","args":[]}"#;

/// `POST /jobs` with further header lines.
fn post(headers: &str, body: &str) -> Vec<u8> {
    format!("POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn unknown_paths_are_not_found_and_likely_ones_are_named() {
    let mut target = Target::new().await;
    for path in
        ["/ojs", "/ojs/v2/jobs", "/api/v1/jobs", "/v1/agents/x", "/ojs/v1/nothing", "/ojs/v1//jobs", "/%2e%2e/x", "/ojs/v1/ack"]
    {
        let request = format!("POST {path} HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{{}}");
        let answer = send_and_read(target.reconnect().await, request.as_bytes()).await;
        let error = check_refusal(&answer, 404, "not_found", path);
        if path == "/api/v1/jobs" {
            assert!(error["hint"].as_str().unwrap().contains("/ojs/v1/jobs"), "{error}");
        }
        if path.ends_with("/ack") {
            assert!(error["hint"].as_str().unwrap().contains("/ojs/v1/workers/ack"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_answer_repeats_no_more_than_the_beginning_of_a_name_that_cannot_be() {
    let mut target = Target::new().await;
    let long = "x".repeat(10_000);
    for path in [
        format!("/{long}"),
        format!("/ojs/v1/{long}"),
        format!("/ojs/v1/jobs/{long}"),
        format!("/ojs/v1/workflows/{long}"),
        format!("/ojs/v1/workers/{long}/health"),
        format!("/ojs/v1/cron/{long}"),
        format!("/ojs/v1/admin/workers/{long}"),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n");
        let answer = send_and_read(target.reconnect().await, request.as_bytes()).await;
        check_refusal(&answer, 404, "not_found", &path[..20]);
        assert!(answer.body.len() < 2_000, "{}: {} bytes", &path[..20], answer.body.len());
    }
}

#[tokio::test]
async fn wrong_methods_say_which_are_right() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    for (method, path) in [
        ("PUT", "/jobs"),
        ("DELETE", "/workers/fetch"),
        ("GET", "/workers/ack"),
        ("TRACE", "/jobs"),
        ("ASSERT", "/jobs"),
        ("post", "/jobs"),
    ] {
        let answer = target.reconnect().await.call(method, path, "").await.unwrap();
        check_refusal(&answer, 405, "method_not_allowed", method);
        assert!(answer.header("allow").is_some_and(|allowed| !allowed.is_empty()), "{method} {path}: {:?}", answer.headers);
    }
    // The root leads browsers to the dashboard and takes nothing.
    let request = b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}";
    let answer = send_and_read(target.reconnect().await, request).await;
    check_refusal(&answer, 405, "method_not_allowed", "POST /");
    assert!(answer.header("allow").is_some_and(|allowed| allowed.contains("GET")), "{:?}", answer.headers);
    assert_eq!(target.trace().await, before);
}

#[tokio::test]
async fn media_types_codecs_and_versions_are_checked() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    for (headers, status, code) in [
        ("Content-Type: text/plain\r\n", 400, "invalid_request"),
        ("Content-Type: application/x-www-form-urlencoded\r\n", 400, "invalid_request"),
        ("Content-Type: application/jsonp\r\n", 400, "invalid_request"),
        ("Content-Type: \r\n", 400, "invalid_request"),
        ("Content-Encoding: gzip\r\n", 415, "unsupported_compression"),
        ("Content-Encoding: br\r\n", 415, "unsupported_compression"),
        ("OJS-Version: 2.0\r\n", 422, "unsupported"),
        ("OJS-Version: one\r\n", 422, "unsupported"),
    ] {
        let answer = send_and_read(target.reconnect().await, &post(headers, JOB)).await;
        check_refusal(&answer, status, code, headers);
    }
    assert_eq!(target.trace().await, before);
    for headers in [
        "",
        "Content-Type: application/json\r\n",
        "Content-Type: application/openjobspec+json\r\n",
        "Content-Type: Application/JSON; charset=utf-8\r\n",
        "Content-Encoding: identity\r\n",
        "OJS-Version: 1.0\r\n",
        "OJS-Version: 1.7\r\n",
        "Accept: text/html\r\n",
    ] {
        let answer = send_and_read(target.reconnect().await, &post(headers, JOB)).await.expect(201);
        assert_eq!(answer.header("content-type"), Some("application/openjobspec+json"), "{headers}");
    }
}

#[tokio::test]
async fn request_ids_are_echoed_or_made() {
    let mut target = Target::new().await;
    let answer = send_and_read(target.reconnect().await, &post("X-Request-Id: mine-1\r\n", "{")).await;
    assert_eq!(check_refusal(&answer, 400, "invalid_payload", "own id")["request_id"], "mine-1");
    let answer = send_and_read(target.reconnect().await, &post("", JOB)).await.expect(201);
    assert!(answer.header("x-request-id").unwrap().starts_with("req_"));
}

/// EXT-MW-003: a job says which request brought it, when the client gave that a name; what the client wrote itself stays.
#[tokio::test]
async fn a_job_carries_the_name_of_its_request() {
    let mut target = Target::new().await;
    let named = "X-Request-ID: req-\"7\"\r\n";
    for (headers, path, body, meta) in [
        (named, "jobs", r#"{"type":"t","args":[]}"#, json!({"request_id": "req-\"7\""})),
        (named, "jobs", r#"{"type":"t","args":[],"meta":{"a.b":[1.0]}}"#, json!({"request_id": "req-\"7\"", "a.b": [1.0]})),
        (named, "jobs", r#"{"type":"t","args":[],"meta":{"request_id":null}}"#, json!({"request_id": null})),
        ("", "jobs", r#"{"type":"t","args":[]}"#, json!({})),
        (named, "jobs/batch", r#"{"jobs":[{"type":"t","args":[]}]}"#, json!({"request_id": "req-\"7\""})),
        (named, "jobs/bulk", r#"{"jobs":[{"type":"t","args":[]}]}"#, json!({"request_id": "req-\"7\""})),
    ] {
        let head = format!("POST /ojs/v1/{path} HTTP/1.1\r\nHost: test\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        let answer = send_and_read(target.reconnect().await, format!("{head}{body}").as_bytes()).await;
        assert!(matches!(answer.status, 200 | 201), "{path} {body}: {}", answer.status);
        assert_eq!(
            target.reconnect().await.get("/admin/jobs?per_page=1").await.json()["items"][0]["meta"],
            meta,
            "{path} {body}"
        );
    }
}

#[tokio::test]
async fn extensions_that_a_client_requires_are_there_or_the_request_is_refused() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    for (required, missing) in [
        ("urn:ojs:ext:x:acme:job-trains", "urn:ojs:ext:x:acme:job-trains"),
        ("urn:ojs:ext:dead-letter, urn:ojs:ext:nothing", "urn:ojs:ext:nothing"),
        ("dead-letter", "dead-letter"),
    ] {
        let headers = format!("OJS-Requires-Extension: {required}\r\n");
        let answer = send_and_read(target.reconnect().await, &post(&headers, JOB)).await;
        let error = check_refusal(&answer, 422, "EXTENSION_NOT_SUPPORTED", required);
        assert_eq!((&error["extension"], &error["details"]["extension"]), (&json!(missing), &json!(missing)));
    }
    assert_eq!(target.trace().await, before);
    let manifest = send_and_read(target.reconnect().await, b"GET /ojs/manifest HTTP/1.1\r\nHost: test\r\n\r\n").await;
    let extensions = &manifest.expect(200).json()["extensions"];
    let all = ["official", "experimental"].map(|tier| extensions[tier].as_array().unwrap().clone()).concat();
    assert!(all.len() > 5, "{extensions}");
    for extension in all {
        let headers = format!("OJS-Requires-Extension: {}\r\n", extension["uri"].as_str().unwrap());
        send_and_read(target.reconnect().await, &post(&headers, JOB)).await.expect(201);
    }
}

#[tokio::test]
async fn heads_that_are_too_large_end_the_connection() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    let one_huge = format!("X-Huge: {}\r\n", "x".repeat(2 * 1024 * 1024));
    let many: String = (0..5_000).map(|n| format!("X-{n}: x\r\n")).collect();
    for headers in [one_huge, many] {
        let answer = send_and_read(target.reconnect().await, &post(&headers, JOB)).await;
        assert_eq!(answer.status, 431);
        assert!(target.wire.is_closed_by_server().await);
    }
    let request = format!("GET /ojs/v1/jobs/{} HTTP/1.1\r\nHost: test\r\n\r\n", "x".repeat(200_000));
    let status = send_and_read(target.reconnect().await, request.as_bytes()).await.status;
    // Which of the two depends on how many of its bytes have arrived when the server gives up.
    assert!(matches!(status, 414 | 431), "{status}");
    assert_eq!(target.trace().await, before);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let mut target = Target::new().await;
    let requests: Vec<u8> = (0..20).flat_map(|n| post("", &json!({"type": "test.plain", "args": [n]}).to_string())).collect();
    target.wire.send(requests).await.unwrap();
    for n in 0..20 {
        assert_eq!(target.wire.answer().await.unwrap().expect(201).job()["args"], json!([n]));
    }
    // A refusal in the middle does not stop those behind it.
    let requests = [post("", JOB), post("", "{"), post("", JOB)].concat();
    target.wire.send(requests).await.unwrap();
    for status in [201, 400, 201] {
        assert_eq!(target.wire.answer().await.unwrap().status, status);
    }
}

/// The first answer must not wait for the rest of a second request.
#[tokio::test]
async fn half_a_pipelined_request_delays_nothing() {
    let mut target = Target::new().await;
    target.wire.send([post("", JOB), b"POST /ojs/v1/jo".to_vec()].concat()).await.unwrap();
    target.wire.answer().await.unwrap().expect(201);
}

#[tokio::test]
async fn expect_continue_is_answered_before_the_body() {
    let mut target = Target::new().await;
    let head = |length: usize| {
        format!("POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n")
    };
    target.wire.send(head(JOB.len())).await.unwrap();
    assert_eq!(target.wire.answer().await.unwrap().status, 100);
    target.wire.send(JOB).await.unwrap();
    assert_eq!(target.wire.answer().await.unwrap().status, 201);
    // A body that would be refused is not even asked for.
    let answer = send_and_read(target.reconnect().await, head(100_000_000).as_bytes()).await;
    check_refusal(&answer, 413, "payload_too_large", "expect");
}

#[tokio::test]
async fn http_1_0_is_answered_and_closed() {
    let mut target = Target::new().await;
    target.wire.send("GET /ojs/v1/health HTTP/1.0\r\n\r\n").await.unwrap();
    let answer = target.wire.answer().await.unwrap().expect(200);
    assert_eq!(answer.json()["status"], "ok");
    assert!(target.wire.is_closed_by_server().await);
}

#[tokio::test]
async fn what_is_no_http_ends_the_connection_and_nothing_else() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    let tls_hello = b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03".as_slice();
    let two_lengths = b"POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 31\r\n\r\n{}";
    for bytes in [
        tls_hello,
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"hello there\r\n\r\n",
        two_lengths,
        b"POST /ojs/v1/jobs HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /ojs/v1/jobs HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n",
    ] {
        let wire = target.reconnect().await;
        wire.send(bytes).await.unwrap();
        // A refusal without a body, or a closed connection: both are answers to noise.
        if let Ok(answer) = wire.answer().await {
            assert!((400..600).contains(&answer.status), "{}", answer.status);
        }
        assert!(wire.is_closed_by_server().await, "{bytes:?}");
        assert_eq!(target.trace().await, before);
    }
}
