//! Trains as HTTP shows them: the member `train` of jobs, the operations, their errors, the manifest and the figures.
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{FINAL, in_train, join, only, train};
use crate::support::Bench;

crate::on_every_store!(
    answers_say_where_a_job_stands,
    an_operator_lists_holds_and_advances_trains,
    faults_name_field_and_rule,
    jt_29_the_manifest_names_trains_and_metrics_count_them,
);

async fn answers_say_where_a_job_stands(b: Bench) {
    let request = r#"{"type":"t","args":[],"meta":{"train_id":"dest_7"},"options":{"queue":"q"}}"#;
    let (status, first) = b.http("POST", "/jobs", request).await;
    assert_eq!(status, 201);
    let standing =
        |position, role, ahead| json!({"id": "dest_7", "position": position, "role": role, "ahead": ahead, "state": "running"});
    let mut leads = standing(1, "locomotive", 0);
    leads["epoch"] = json!(0);
    assert_eq!(first["job"]["train"], leads);
    let request = r#"{"type":"t","args":[],"options":{"queue":"q","train":{"id":"dest_7","on_discarded":"hold"}}}"#;
    let (_, second) = b.http("POST", "/jobs", request).await;
    assert_eq!((&second["job"]["train"], &second["job"]["state"]), (&standing(2, "car", 1), &json!("pending")));
    assert_eq!(second["job"]["meta"], json!({"train_id": "dest_7", "train_on_discarded": "hold"}));
    let (_, fetched) = b.http("POST", "/workers/fetch", r#"{"queues":["q"],"count":5,"worker_id":"w"}"#).await;
    assert_eq!(fetched["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(fetched["jobs"][0]["train"]["role"], "locomotive");
    let id = fetched["jobs"][0]["id"].as_str().unwrap();
    let (status, acked) = b.http("POST", "/workers/ack", &json!({"job_id": id, "worker_id": "w"}).to_string()).await;
    assert_eq!((status, &acked["job"]["train"]), (200, &json!({"id": "dest_7", "role": "left"})));
    let (_, plain) = b.http("POST", "/jobs", r#"{"type":"t","args":[]}"#).await;
    assert_eq!(plain["job"].get("train"), None);
    // A job that was read can be enqueued again as it is.
    let again = second["job"].as_object().unwrap().clone().into_iter().filter(|(name, _)| name != "id").collect();
    let (status, again) = b.http("POST", "/jobs", &Value::Object(again).to_string()).await;
    assert_eq!((status, &again["job"]["train"]), (201, &standing(3, "car", 1)));
}

async fn an_operator_lists_holds_and_advances_trains(b: Bench) {
    let ids = join(&b, 3).await;
    b.enqueue(&in_train(r#""other""#, "")).await;
    let (_, listed) = b.http("GET", "/trains?limit=1", "").await;
    assert_eq!((listed["count"].as_u64(), listed["trains"][0]["id"].as_str()), (Some(2), Some("other")));
    let (_, listed) = b.http("GET", "/admin/trains?per_page=1&page=2", "").await;
    let first = json!({"id": "t", "state": "running", "locomotive": ids[0], "length": 3});
    assert_eq!((&listed["items"], &listed["pagination"]["total"]), (&json!([first]), &json!(2)));
    let (status, held) = b.http("POST", "/trains/t/hold", "").await;
    assert_eq!((status, &held["state"], &held["held_by"]), (200, &json!("held"), &json!("operator")));
    assert_eq!(held["held_since"], "2026-01-01T00:00:00.000Z");
    let (_, listed) = b.http("GET", "/trains?state=held", "").await;
    assert_eq!((listed["count"].as_u64(), listed["trains"][0]["id"].as_str()), (Some(1), Some("t")));
    let (_, shown) = b.http("GET", "/admin/trains/t?limit=1&after=1", "").await;
    assert_eq!(shown["cars"], json!([{"job_id": ids[1], "position": 2, "state": "pending"}]));
    let confirmed = json!({"confirm": true, "job_id": ids[0]}).to_string();
    let (status, moved) = b.http("POST", "/trains/t/advance", &confirmed).await;
    assert_eq!((status, &moved["state"], &moved["locomotive"]), (200, &json!("running"), &json!(ids[0])));
    let (status, refused) = b.http("POST", "/admin/trains/t/advance", &confirmed).await;
    assert_eq!((status, &refused["error"]["details"]["reason"]), (409, &json!("train_not_held")));
    let (status, _) = b.http("POST", "/admin/trains/none/hold", "").await;
    assert_eq!(status, 404);
}

async fn faults_name_field_and_rule(b: Bench) {
    for (options, field) in [
        (r#"{"train":"a b"}"#, "train.id"),
        (r#"{"train":{"id":"t","on_discarded":"stop"}}"#, "train.on_discarded"),
        (r#"{"train":"t","meta":{"train_id":"u"}}"#, "train.id"),
    ] {
        let (status, refused) = b.http("POST", "/jobs", &format!(r#"{{"type":"t","args":[],"options":{options}}}"#)).await;
        let error = &refused["error"];
        assert_eq!(
            (status, &error["code"], &error["details"]["field"]),
            (400, &json!("invalid_request"), &json!(field)),
            "{refused}"
        );
    }
    assert_eq!(train(&b, "t").await.unwrap_err().code, "not_found");
    join(&b, 1).await;
    for (path, body, field) in [
        ("/trains/t/advance", r#"{}"#, "confirm"),
        ("/trains/t/advance", r#"{"confirm":false}"#, "confirm"),
        ("/trains/t/advance", r#"{"confirm":true,"job_id":"x"}"#, "job_id"),
        ("/trains/t/advance", r#"{"confirm":true,"job_id":7}"#, "job_id"),
    ] {
        let (status, refused) = b.http("POST", path, body).await;
        assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!(field)), "{body}");
    }
    let (status, refused) = b.http("GET", "/trains?state=stopped", "").await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("state")));
    // A job stays in its train when it runs again with other members.
    let job = only(&b).await;
    b.nack(&job, FINAL).await.unwrap();
    let change = r#"{"override":{"meta":{"train_id":"u"}}}"#;
    let (status, refused) = b.http("POST", &format!("/dead-letter/{}/retry", job.row.id), change).await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &json!("override.meta.train_id")), "{refused}");
}

async fn jt_29_the_manifest_names_trains_and_metrics_count_them(b: Bench) {
    let urn = "urn:ojs:ext:x:openjobspec:job-trains";
    let ask =
        |urn: &str| Request::builder().uri("/ojs/v1/health").header("OJS-Requires-Extension", urn).body(Body::empty()).unwrap();
    assert_eq!(b.engine.router().oneshot(ask(urn)).await.unwrap().status(), 200);
    assert_eq!(b.engine.router().oneshot(ask("urn:ojs:ext:x:other:job-trains")).await.unwrap().status(), 422);
    join(&b, 3).await;
    b.ack(&only(&b).await).await.unwrap();
    b.enqueue(&in_train(r#""other""#, "")).await;
    b.http("POST", "/trains/other/hold", "").await;
    let request = Request::builder().uri("/metrics").body(Body::empty()).unwrap();
    let body = b.engine.router().oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    for line in ["ojs_train_active 1", "ojs_train_held 1", "ojs_train_cars 3", "ojs_train_wait_duration_seconds_count 3"] {
        assert!(text.lines().any(|told| told == line), "{line} in\n{text}");
    }
}
