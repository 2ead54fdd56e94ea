//! CloudEvents 1.0 (extensions section 24): events as CloudEvents, and CloudEvents that enqueue jobs.
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use ojs_model::{JobState, Timestamp};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::endpoint::Endpoint;
use crate::streams::listen;
use crate::support::{Bench, seconds};
use crate::webhooks::SECRET;

crate::on_every_store!(
    ce_events_are_listed_in_batches,
    ce_events_are_streamed,
    ce_webhooks_have_them_structured_or_binary_and_signed,
    ce_an_event_enqueues_a_job_in_both_modes,
    ce_the_same_event_enqueues_one_job_a_day,
    ce_events_of_two_tenants_are_two_events,
    ce_what_is_no_trigger_is_refused_and_enqueues_nothing,
    ce_a_job_that_is_refused_is_not_remembered,
    ce_a_batch_enqueues_all_of_its_events_or_none,
    ce_data_that_is_no_json_is_an_argument_in_both_modes,
);

const SOURCE: &str = "ojs://ojs/engine/local";
const STRUCTURED: &str = "application/cloudevents+json; charset=utf-8";

/// What the JSON schema of CloudEvents 1.0 and the rules on attributes ask of an event in structured mode.
fn check(event: &Value) {
    let members = event.as_object().expect("an object");
    for required in ["id", "source", "specversion", "type"] {
        let text = members.get(required).and_then(Value::as_str);
        assert!(text.is_some_and(|text| !text.is_empty()), "{required}: {event}");
    }
    assert_eq!(event["specversion"], "1.0");
    for (name, value) in members {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "the name {name}");
        assert!(name == "data" || value.as_str().is_some_and(|text| !text.is_empty()), "{name} is a text that is not empty");
    }
    assert!(Timestamp::parse(event["time"].as_str().unwrap()).is_ok(), "{event}");
    // A reference to a URI: no spaces, and a scheme here.
    let source = event["source"].as_str().unwrap();
    assert!(source.contains("://") && source.bytes().all(|byte| byte.is_ascii_graphic()), "{source}");
    assert_eq!(event["datacontenttype"], "application/json");
    assert!(event["type"].as_str().unwrap().starts_with("org.openjobspec."), "{event}");
    assert!(event["data"].is_object());
}

async fn get(b: &Bench, path: &str) -> (HeaderMap, Value) {
    let request = Request::get(format!("/ojs/v1{path}")).body(Body::empty()).unwrap();
    let response = b.engine.router().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    let (parts, body) = response.into_parts();
    (parts.headers, serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap())
}

async fn post(b: &Bench, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
    let mut request = Request::post("/ojs/v1/jobs");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = b.engine.router().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap())
}

fn trigger(id: &str) -> Value {
    json!({"specversion": "1.0", "id": id, "source": "/shop/orders", "type": "org.openjobspec.trigger.mail.send",
        "subject": "order-7", "time": "2026-01-01T00:00:00Z", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "data": {"to": "a@example.com"}})
}

async fn ce_events_are_listed_in_batches(b: Bench) {
    let id = b.job_in(JobState::Completed).await;
    let (headers, events) = get(&b, "/events?format=cloudevents").await;
    assert_eq!(headers["content-type"], "application/cloudevents-batch+json");
    assert_eq!((&headers["x-ojs-has-more"], headers["x-ojs-cursor"].is_empty()), (&"false".parse().unwrap(), false));
    let events = events.as_array().unwrap();
    events.iter().for_each(check);
    let plain = get(&b, "/events").await.1["events"].clone();
    for (cloud, plain) in events.iter().zip(plain.as_array().unwrap()) {
        assert_eq!(cloud["type"], format!("org.openjobspec.{}", plain["type"].as_str().unwrap()));
        for same in ["id", "time", "subject", "data"] {
            assert_eq!(cloud[same], plain[same], "{same}");
        }
    }
    assert_eq!((&events[0]["subject"], &events[0]["source"]), (&json!(id.to_string()), &json!(SOURCE)));
    for _ in 0..120 {
        b.job().await;
    }
    let (headers, first) = get(&b, "/events?format=cloudevents&limit=1000").await;
    assert_eq!((first.as_array().unwrap().len(), &headers["x-ojs-has-more"]), (100, &"true".parse().unwrap()));
    let after = headers["x-ojs-cursor"].to_str().unwrap();
    let (headers, second) = get(&b, &format!("/events?format=cloudevents&limit=1000&after={after}")).await;
    assert_eq!(&headers["x-ojs-has-more"], "false");
    assert_eq!(second.as_array().unwrap().len(), events.len() + 20, "none is missing, and none comes twice");
    let (_, newest) = get(&b, "/events?format=cloudevents&newest=true&limit=1").await;
    assert_eq!(newest[0]["id"], second.as_array().unwrap().last().unwrap()["id"]);
    let (status, body) = b.http("GET", "/events?format=xml", "").await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("format")));
}

async fn ce_events_are_streamed(b: Bench) {
    let mut stream = listen(&b, "/events/stream?format=cloudevents&types=job.*", None).await;
    let id = b.job().await;
    let frame = stream.next().await.unwrap();
    check(&frame.data);
    assert_eq!((frame.event.as_str(), &frame.data["type"]), ("job.enqueued", &json!("org.openjobspec.job.enqueued")));
    assert_eq!((&frame.data["id"], &frame.data["subject"]), (&json!(frame.id), &json!(id.to_string())));
    let (status, body) = b.http("GET", "/events/stream?format=cloudevents&channel=all", "").await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("format")), "channels have a form of their own");
}

async fn ce_webhooks_have_them_structured_or_binary_and_signed(b: Bench) {
    let (mut structured, mut binary) = (Endpoint::answering(204).await, Endpoint::answering(204).await);
    for (endpoint, format) in [(&structured, "cloudevents"), (&binary, "cloudevents-binary")] {
        let body = json!({"url": endpoint.url(), "events": ["job.enqueued"], "secret": SECRET, "format": format});
        let (status, answer) = b.http("POST", "/webhooks/subscriptions", &body.to_string()).await;
        assert_eq!((status, &answer["format"]), (201, &json!(format)), "{answer}");
    }
    let id = b.job().await;
    let request = structured.next().await;
    assert_eq!(request.header("content-type"), STRUCTURED);
    check(&request.json());
    assert_eq!((&request.json()["subject"], &request.json()["source"]), (&json!(id.to_string()), &json!(SOURCE)));
    assert!(request.is_signed_by(SECRET, b.now()), "the signature is of the body that is sent");
    assert_eq!(request.header("x-ojs-event-type"), "job.enqueued");
    let request = binary.next().await;
    assert!(request.is_signed_by(SECRET, b.now()));
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!((request.header("ce-specversion"), request.header("ce-type")), ("1.0", "org.openjobspec.job.enqueued"));
    assert_eq!((request.header("ce-source"), request.header("ce-subject")), (SOURCE, id.to_string().as_str()));
    assert!(request.header("ce-id").starts_with("evt_") && !request.header("ce-time").is_empty());
    assert_eq!((&request.json()["job_type"], request.json().get("specversion")), (&json!("t"), None), "the body is the data");
    let list = b.http("GET", "/webhooks/subscriptions", "").await.1;
    assert_eq!(list["subscriptions"][1]["format"], "cloudevents-binary");
    let id = list["subscriptions"][1]["id"].as_str().unwrap();
    let (_, changed) = b.http("PATCH", &format!("/webhooks/subscriptions/{id}"), r#"{"format":"ojs"}"#).await;
    assert_eq!(changed["format"], "ojs");
    b.job().await;
    let request = binary.next().await;
    assert_eq!((request.header("content-type"), &request.json()["type"]), ("application/json", &json!("job.enqueued")));
    let (status, body) = b.http("PATCH", &format!("/webhooks/subscriptions/{id}"), r#"{"format":"xml"}"#).await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("format")));
}

async fn ce_an_event_enqueues_a_job_in_both_modes(b: Bench) {
    let (status, body) = post(&b, &[("content-type", STRUCTURED)], &trigger("e1").to_string()).await;
    assert_eq!(status, 201, "{body}");
    let job = &body["job"];
    assert_eq!(
        (&job["type"], &job["args"], &job["state"]),
        (&json!("mail.send"), &json!([{"to": "a@example.com"}]), &json!("available"))
    );
    let meta = &job["meta"];
    let told = ["trigger_event_id", "trigger_source", "trigger_subject", "trigger_time"].map(|name| meta[name].clone());
    assert_eq!(told, ["e1", "/shop/orders", "order-7", "2026-01-01T00:00:00Z"]);
    assert!(meta["traceparent"].as_str().unwrap().starts_with("00-4bf9"));
    let headers = [
        ("content-type", "application/json"),
        ("ce-specversion", "1.0"),
        ("ce-id", "e2"),
        ("ce-source", "/shop/orders"),
        ("ce-type", "org.openjobspec.trigger.mail.send"),
        ("ce-subject", "order%20n%C2%B0%208"),
    ];
    let (status, body) = post(&b, &headers, r#"["a@example.com",2]"#).await;
    assert_eq!((status, &body["job"]["args"]), (201, &json!(["a@example.com", 2])), "{body}");
    assert_eq!(body["job"]["meta"]["trigger_subject"], "order n° 8");
    let (status, body) = post(&b, &headers.map(|(name, value)| (name, if name == "ce-id" { "e3" } else { value })), "").await;
    assert_eq!((status, &body["job"]["args"]), (201, &json!([])));
}

async fn ce_the_same_event_enqueues_one_job_a_day(b: Bench) {
    let send = async |id: &str| post(&b, &[("content-type", STRUCTURED)], &trigger(id).to_string()).await;
    let (status, first) = send("e1").await;
    assert_eq!(status, 201);
    let (status, again) = send("e1").await;
    assert_eq!((status, &again["deduplicated"]), (200, &json!(true)), "{again}");
    assert_eq!(again["job"]["id"], first["job"]["id"]);
    assert_ne!(send("e2").await.1["job"]["id"], first["job"]["id"]);
    let other = post(
        &b,
        &[("content-type", STRUCTURED)],
        &json!({"source": "/other", "id": "e1", "specversion": "1.0",
        "type": "org.openjobspec.trigger.mail.send"})
        .to_string(),
    )
    .await;
    assert_eq!(other.0, 201, "an id is one of its source");
    b.advance(seconds(24 * 3600 + 1)).await;
    let (status, later) = send("e1").await;
    assert_eq!(status, 201, "{later}");
    assert_ne!(later["job"]["id"], first["job"]["id"]);
    assert_eq!(b.counts("default").await[JobState::Available as usize], 4);
}

async fn ce_events_of_two_tenants_are_two_events(b: Bench) {
    let send = async |tenant: &str| {
        post(&b, &[("content-type", STRUCTURED), ("x-ojs-tenant", tenant)], &trigger("e1").to_string()).await
    };
    let (one, other) = (send("one").await, send("other").await);
    assert_eq!((one.0, other.0), (201, 201));
    assert_eq!((&one.1["job"]["meta"]["tenant_id"], &other.1["job"]["meta"]["tenant_id"]), (&json!("one"), &json!("other")));
    assert_eq!(send("one").await.1["job"]["id"], one.1["job"]["id"]);
}

async fn ce_what_is_no_trigger_is_refused_and_enqueues_nothing(b: Bench) {
    let own = {
        b.job().await;
        get(&b, "/events?format=cloudevents").await.1[0].clone()
    };
    let without = |name: &str| {
        let mut event = trigger("e1");
        event.as_object_mut().unwrap().remove(name);
        event
    };
    let mut cases = vec![("type", own)];
    cases.extend(["specversion", "id", "source", "type"].map(|name| (name, without(name))));
    for (field, event) in cases {
        let (status, body) = post(&b, &[("content-type", STRUCTURED)], &event.to_string()).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!(field)), "{body}");
    }
    let (status, body) = post(&b, &[("content-type", STRUCTURED)], "nonsense").await;
    assert_eq!(status, 400, "{body}");
    let (status, _) = post(&b, &[("content-type", "application/cloudevents-batch+json")], "[]").await;
    assert_eq!(status, 400, "an empty batch says nothing");
    let mut bad_type = trigger("e1");
    bad_type["type"] = json!("org.openjobspec.trigger.Not A Type");
    assert_eq!(post(&b, &[("content-type", STRUCTURED)], &bad_type.to_string()).await.0, 400);
    assert_eq!(b.counts("default").await.iter().sum::<i64>(), 0);
}

async fn ce_a_job_that_is_refused_is_not_remembered(b: Bench) {
    let bound = r#"{"backpressure":{"max_depth":1,"strategy":"reject"}}"#;
    assert_eq!(b.http("PUT", "/admin/queues/default/config", bound).await.0, 200);
    let send = async |id: &str| post(&b, &[("content-type", STRUCTURED)], &trigger(id).to_string()).await;
    assert_eq!(send("e1").await.0, 201);
    let (status, body) = send("e2").await;
    assert_eq!(status, 429, "{body}");
    let claimed = b.claim_for(Some("w"), &["default"], 1).await.remove(0);
    b.ack(&claimed).await.unwrap();
    assert_eq!(send("e2").await.0, 201, "the sender tries again");
}

const BATCH: &str = "application/cloudevents-batch+json";

async fn ce_a_batch_enqueues_all_of_its_events_or_none(b: Bench) {
    let send = async |events: &Value| post(&b, &[("content-type", BATCH)], &events.to_string()).await;
    let (status, first) = send(&json!([trigger("e1"), trigger("e2"), trigger("e1")])).await;
    assert_eq!((status, &first["count"], &first["deduplicated"]), (201, &json!(3), &json!(1)), "{first}");
    let id = |answer: &Value, index: usize| answer["jobs"][index]["id"].clone();
    assert_eq!((id(&first, 0), id(&first, 0) != id(&first, 1)), (id(&first, 2), true), "one event twice is one job");
    let (status, second) = send(&json!([trigger("e2"), trigger("e3")])).await;
    assert_eq!((status, &second["deduplicated"], id(&second, 0)), (201, &json!(1), id(&first, 1)));
    let (status, again) = send(&json!([trigger("e3"), trigger("e1")])).await;
    assert_eq!((status, &again["deduplicated"], id(&again, 0)), (200, &json!(2), id(&second, 1)));
    assert_eq!(b.counts("default").await[JobState::Available as usize], 3);
    // What the list of events gives out is a batch; its events are no triggers.
    let mut wrong = trigger("e5");
    wrong["type"] = json!("org.openjobspec.job.completed");
    let (status, body) = send(&json!([trigger("e4"), wrong])).await;
    let details = &body["error"]["details"];
    assert_eq!((status, &details["index"], &details["field"]), (400, &json!(1), &json!("type")), "{body}");
    the_place_of_a_refused_event_is_that_in_its_batch(&b).await;
    let bound = r#"{"backpressure":{"max_depth":4,"strategy":"reject"}}"#;
    assert_eq!(b.http("PUT", "/admin/queues/default/config", bound).await.0, 200);
    assert_eq!(send(&json!([trigger("e4"), trigger("e5")])).await.0, 429, "there is room for one");
    assert_eq!(b.counts("default").await[JobState::Available as usize], 3, "none of a refused batch is stored");
    assert_eq!(send(&json!([trigger("e4")])).await.0, 201, "nor is one remembered");
    let many: Vec<Value> = (0..101).map(|number| trigger(&format!("m{number}"))).collect();
    let (status, body) = send(&json!(many)).await;
    assert_eq!((status, &body["error"]["code"]), (413, &json!("batch_size_exceeded")), "{body}");
    assert_eq!(post(&b, &[("content-type", BATCH)], "{}").await.0, 400);
}

/// The events before it have jobs already, so its job is not at the same place among the new ones.
async fn the_place_of_a_refused_event_is_that_in_its_batch(b: &Bench) {
    let strict = |id: &str, data: Value| {
        let mut event = trigger(id);
        event["type"] = json!("org.openjobspec.trigger.strict.job");
        event["data"] = data;
        event
    };
    let schema = json!({"job_type": "strict.job", "version": "1.0.0", "mode": "strict", "schema": {"items": {"type": "object"}}});
    let (status, body) = b.http("POST", "/schemas", &schema.to_string()).await;
    assert_eq!(status, 201, "{body}");
    for batch in
        [json!([trigger("e1"), strict("p1", json!("text"))]), json!([trigger("e1"), trigger("p2"), strict("p1", json!(1))])]
    {
        let (status, body) = post(b, &[("content-type", BATCH)], &batch.to_string()).await;
        let (details, place) = (&body["error"]["details"], batch.as_array().unwrap().len() - 1);
        let field = format!("events[{place}].args");
        assert_eq!((status, &details["index"], &details["field"]), (400, &json!(place), &json!(field)), "{body}");
    }
}

async fn ce_data_that_is_no_json_is_an_argument_in_both_modes(b: Bench) {
    let structured = async |id: &str, media: Option<&str>, encoded: &str| {
        let mut event = trigger(id);
        let members = event.as_object_mut().unwrap();
        members.remove("data");
        members.insert("data_base64".to_owned(), json!(encoded));
        members.extend(media.map(|media| ("datacontenttype".to_owned(), json!(media))));
        post(&b, &[("content-type", STRUCTURED)], &event.to_string()).await
    };
    let binary = async |id: &str, media: &str, body: &str| {
        let event = [("ce-specversion", "1.0"), ("ce-id", id), ("ce-source", "/shop")];
        let more = [("ce-type", "org.openjobspec.trigger.mail.send"), ("content-type", media)];
        post(&b, &[event.as_slice(), more.as_slice()].concat(), body).await
    };
    // {"a":1}, hello, and the bytes of hello as no text.
    for (number, (media, encoded, body, args)) in [
        ("application/json", "eyJhIjoxfQ==", "{\"a\":1}", json!([{"a": 1}])),
        ("text/plain; charset=utf-8", "aGVsbG8=", "hello", json!(["hello"])),
        ("image/png", "aGVsbG8=", "hello", json!(["aGVsbG8="])),
    ]
    .into_iter()
    .enumerate()
    {
        let one = structured(&format!("s{number}"), Some(media), encoded).await;
        let other = binary(&format!("b{number}"), media, body).await;
        for (status, answer) in [one, other] {
            assert_eq!((status, &answer["job"]["args"]), (201, &args), "{media}: {answer}");
            let told = &answer["job"]["meta"]["trigger_datacontenttype"];
            assert_eq!(told, &(if number == 0 { Value::Null } else { json!(media) }));
        }
    }
    let (status, body) = structured("wrong", None, "aGVsbG8=").await;
    assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("data_base64")), "without a type it is JSON");
    assert_eq!(structured("wrong", Some("image/png"), "%").await.0, 400);
}
