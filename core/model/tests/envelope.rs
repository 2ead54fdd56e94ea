//! Enqueue requests: placements, merging, what survives untouched, and every refusal of protocol sections 1.1 to 1.6.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic here is a failed test")]
use ojs_model::envelope::{check_body, check_queue, check_type, split_batch};
use ojs_model::{NewJob, OjsError, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_000);

fn parse(text: &str) -> Result<NewJob, OjsError> {
    NewJob::parse(check_body(text.as_bytes())?, NOW)
}

/// A job with these members beside `type` and `args`.
fn job(more: &str) -> NewJob {
    parse(&format!(r#"{{"type":"a","args":[]{more}}}"#)).unwrap()
}

fn body(job: &NewJob) -> Value {
    serde_json::from_str(&format!("{{{}}}", job.body)).unwrap()
}

fn refused(text: &str, field: &str) {
    let error = parse(text).unwrap_err();
    assert_eq!((error.status, error.code.as_ref(), error.retryable), (400, "invalid_payload", false), "{text}: {error}");
    assert_eq!(error.details.as_ref().unwrap()["field"], field, "{text}");
    assert!(error.message.contains(field), "{text}: '{}' does not name {field}", error.message);
    assert!(error.message.len() < 400, "a refusal does not repeat a long value");
}

#[test]
fn defaults() {
    let job = job("");
    assert_eq!((job.queue.as_str(), job.priority, job.pending), ("default", 0, false));
    assert_eq!((job.scheduled_at, job.expires_at, job.retry.clone()), (None, None, None));
    assert_eq!((job.timeout_ms, job.visibility_timeout_ms, job.grace_period_ms, job.total_timeout_ms), (None, None, None, None));
    let body = body(&job);
    assert_eq!(body, json!({"specversion": "1.0", "id": job.id, "type": "a", "args": [], "meta": {}, "tags": []}));
}

#[test]
fn both_placements_mean_the_same() {
    let options = r#""queue":"mail","priority":-7,"timeout_ms":1500,"visibility_timeout_ms":2000,"scheduled_at":"2030-01-01T00:00:00Z",
        "expires_at":"2031-01-01T00:00:00+01:00","retry":{"max_attempts":5},"tags":["x"],"pending":true,"total_timeout":60,"grace_period":3,
        "unique":{"keys":["type"]},"rate_limit":{"max_per_second":1},"result_ttl":-1,"enqueue_ttl":5,"heartbeat_timeout":9,
        "fairness_key":"user:7""#;
    let id = r#","id":"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f""#;
    let inside = job(&format!(r#"{id},"options":{{{options}}}"#));
    let top = job(&format!("{id},{options}"));
    assert_eq!(inside, top);
    assert_eq!((inside.queue.as_str(), inside.priority, inside.pending), ("mail", -7, true));
    assert_eq!((inside.timeout_ms, inside.visibility_timeout_ms), (Some(1500), Some(2000)));
    assert_eq!((inside.total_timeout_ms, inside.grace_period_ms), (Some(60_000), Some(3_000)));
    assert_eq!(inside.retry.as_ref().unwrap().max_attempts, 5);
    assert_eq!(inside.fairness_key.as_deref(), Some("user:7"));
    let body = body(&inside);
    assert_eq!((&body["timeout_ms"], &body["timeout"]), (&json!(1500), &json!(2)), "seconds are rounded up");
    assert_eq!(body["retry"]["initial_interval"], "PT1S", "a partial policy is stored whole");
    assert_eq!((&body["unique"], &body["result_ttl"], &body["enqueue_ttl"]), (&json!({"keys": ["type"]}), &json!(-1), &json!(5)));
    assert!(body.get("options").is_none(), "nothing unknown was inside options");
}

#[test]
fn options_win_over_the_top_level() {
    let job = job(r#","queue":"top","priority":1,"timeout_ms":1,"retry":{"max_attempts":1},"tags":["top"],
        "options":{"queue":"inside","priority":2,"timeout_ms":2,"retry":{"max_attempts":2},"tags":["inside"]}"#);
    assert_eq!((job.queue.as_str(), job.priority, job.timeout_ms), ("inside", 2, Some(2)));
    assert_eq!(job.retry.as_ref().unwrap().max_attempts, 2);
    assert_eq!(body(&job)["tags"], json!(["inside"]));
}

#[test]
fn the_placement_decides_before_the_alias_does() {
    let later = job(r#","scheduled_at":"2030-01-01T00:00:00Z","options":{"delay_until":"2031-01-01T00:00:00Z"}"#);
    assert_eq!(later.scheduled_at, Some(Timestamp::parse("2031-01-01T00:00:00Z").unwrap()));
    let both = job(r#","options":{"delay_until":"2031-01-01T00:00:00Z","scheduled_at":"2030-01-01T00:00:00Z"}"#);
    assert_eq!(both.scheduled_at, Some(Timestamp::parse("2030-01-01T00:00:00Z").unwrap()));
    let alias = job(r#","retry":{"max_attempts":1},"options":{"retry_policy":{"max_attempts":9}}"#);
    assert_eq!(alias.retry.unwrap().max_attempts, 9);
    assert_eq!(job(r#","delay_until":"2030-01-01T00:00:00Z""#).scheduled_at.unwrap().to_string(), "2030-01-01T00:00:00.000Z");
}

#[test]
fn null_is_absence() {
    let nulls = job(r#","id":null,"specversion":null,"meta":null,"queue":null,"priority":null,"schema":null,"unique":null,
        "options":{"queue":null,"retry":null,"timeout_ms":null,"scheduled_at":null,"tags":null,"pending":null,"metadata":null}"#);
    assert_eq!((nulls.queue.as_str(), nulls.retry.clone(), nulls.pending), ("default", None, false));
    let body = body(&nulls);
    assert!(["schema", "unique", "options"].iter().all(|name| body.get(name).is_none()), "{body}");
    assert_eq!(job(r#","options":null"#).queue, "default");
    assert_eq!(job(r#","queue":"top","options":{"queue":null}"#).queue, "top", "an absent option does not win");
    assert!(job(r#","x_note":null"#).body.contains(r#""x_note":null"#), "of an unknown attribute, null is the value");
}

#[test]
fn meta_is_merged_and_the_top_level_wins() {
    let merged = job(r#","meta":{"a":1.0,"b":{"z":1,"a":2}},"options":{"metadata":{"b":0,"c":[1e3]}}"#);
    assert!(merged.body.contains(r#""meta":{"b":{"z":1,"a":2},"c":[1e3],"a":1.0}"#), "{}", merged.body);
    assert!(job(r#","options":{"metadata":{"c":[1e3]}}"#).body.contains(r#""meta":{"c":[1e3]}"#));
    assert!(job(r#","options":{"meta":{"c":2}}"#).body.contains(r#""meta":{"c":2}"#));
    let escaped = job(r#","meta":{"\u0061\"":1},"options":{"metadata":{"a\"":2}}"#);
    assert!(escaped.body.contains(r#""meta":{"a\"":1}"#), "names are compared, not spellings: {}", escaped.body);
}

#[test]
fn what_is_not_interpreted_survives_byte_for_byte() {
    let args = r#"[1.0, 1e3, -0, 123456789012345678901234567890, {"z":1,"a":{"k":[ ]}}, "\u00e9\ud83d\ude00\/", null]"#;
    let text =
        format!(r#"{{"type":"a","args":{args},"meta":{{"n":1.50}},"ext_x":{{"b":1.00,"a":[1E5]}},"x_y":[ 1 ,2],"version":3}}"#);
    let job = parse(&text).unwrap();
    for kept in [
        format!(r#""args":{args}"#).as_str(),
        r#""meta":{"n":1.50}"#,
        r#""ext_x":{"b":1.00,"a":[1E5]}"#,
        r#""x_y":[ 1 ,2]"#,
        r#""version":3"#,
    ] {
        assert!(job.body.contains(kept), "{kept} in {}", job.body);
    }
    let options = self::job(r#","options":{"queue":"q","x_hint":1.0,"state":"odd","type":"odd"}"#);
    assert!(options.body.contains(r#""options":{"x_hint":1.0,"state":"odd","type":"odd"}"#), "{}", options.body);
}

#[test]
fn of_equal_names_the_last_wins() {
    let text = r#"{"type":"first","type":"last","args":[1],"args":[2],"x":1,"x":2,"options":{"queue":"q1","queue":"q2"}}"#;
    let job = parse(text).unwrap();
    assert_eq!((job.job_type.as_str(), job.queue.as_str()), ("last", "q2"));
    assert!(job.body.contains(r#""args":[2]"#) && job.body.contains(r#""x":2"#) && !job.body.contains(r#""x":1"#));
    assert_eq!(self::job(r#","options":{"queue":"q1"},"options":{}"#).queue, "default");
    assert_eq!(self::job(r#","queue":"q1","queue":null"#).queue, "default");
}

#[test]
fn system_managed_attributes_are_ignored_whatever_they_hold() {
    let names = [
        "state",
        "attempt",
        "max_attempts",
        "created_at",
        "enqueued_at",
        "started_at",
        "completed_at",
        "cancelled_at",
        "discarded_at",
        "activated_at",
        "error",
        "errors",
        "result",
        "worker_id",
        "retry_delay_ms",
        "next_attempt_at",
        "next_retry_at",
        "parent_results",
        "workflow_id",
        "workflow_step",
        "workflow_type",
        "result_stored_at",
        "result_expires_at",
        "result_size_bytes",
        "previous_state",
        "re_enqueued_at",
        "lease_token",
    ];
    for name in names {
        for value in ["\"completed\"", "17", "{\"a\":1}", "null"] {
            let job = job(&format!(",\"{name}\":{value}"));
            assert!(body(&job).get(name).is_none(), "{name}");
        }
    }
}

#[test]
fn ids() {
    let id = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";
    assert_eq!(job(&format!(r#","id":"{id}""#)).id.to_string(), id);
    for bad in [
        "\"019461A8-1A2B-7C3D-8E4F-5A6B7C8D9E0F\"",
        "\"550e8400-e29b-41d4-a716-446655440000\"",
        "\"\"",
        "\"my-job\"",
        "5",
        "[]",
        "true",
        "\"019461a81a2b7c3d8e4f5a6b7c8d9e0f\"",
        "\"{019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f}\"",
        "\"019461a8-1a2b-7c3d-ce4f-5a6b7c8d9e0f\"",
        "\"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0g\"",
        "\"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f \"",
    ] {
        refused(&format!(r#"{{"type":"a","args":[],"id":{bad}}}"#), "id");
    }
    refused(&format!(r#"{{"type":"a","args":[],"id":"{}"}}"#, "x".repeat(100_000)), "id");
    let (first, second) = (job("").id, job("").id);
    assert!(first < second, "made ids sort by the time they were made");
}

#[test]
fn types() {
    for good in ["a", "email.send", "a-b_c.d0", "email.send-now", "dlq.test.list-first", &"a".repeat(255)] {
        assert!(check_type(good).is_ok(), "{good}");
    }
    for bad in [
        "Email.Send",
        "email send",
        "1email.send",
        "",
        "email@send!",
        "INVALID_TYPE_FORMAT!!",
        ".a",
        "a.",
        "a..b",
        "a.1b",
        "_a",
        "-a",
        "é",
        "a\n",
        &"a".repeat(256),
    ] {
        assert!(check_type(bad).is_err(), "{bad}");
        refused(&json!({"type": bad, "args": []}).to_string(), "type");
    }
    for text in [r#"{"args":[]}"#, r#"{"type":null,"args":[]}"#, r#"{"type":5,"args":[]}"#, r#"{"type":["a"],"args":[]}"#] {
        refused(text, "type");
    }
}

#[test]
fn queues() {
    for good in ["default", "0", "a-b.c", "9lives", "a.", "a-", &"q".repeat(128)] {
        assert!(check_queue(good).is_ok(), "{good}");
    }
    for bad in ["", "a_b", "Mail", "a b", "-a", ".a", "é", "a/b", &"q".repeat(129)] {
        assert!(check_queue(bad).is_err(), "{bad}");
        refused(&json!({"type": "a", "args": [], "options": {"queue": bad}}).to_string(), "queue");
    }
    refused(r#"{"type":"a","args":[],"queue":7}"#, "queue");
}

#[test]
fn args() {
    for bad in [r#"{"a":1}"#, "\"x\"", "5", "true", "null"] {
        refused(&format!(r#"{{"type":"a","args":{bad}}}"#), "args");
    }
    refused(r#"{"type":"a"}"#, "args");
}

#[test]
fn options_and_their_ranges() {
    for (more, field) in [
        (r#""specversion":"2.0""#, "specversion"),
        (r#""specversion":1.0"#, "specversion"),
        (r#""options":[]"#, "options"),
        (r#""options":"x""#, "options"),
        (r#""meta":[]"#, "meta"),
        (r#""meta":"x""#, "meta"),
        (r#""options":{"metadata":5}"#, "options.metadata"),
        (r#""priority":101"#, "priority"),
        (r#""priority":-101"#, "priority"),
        (r#""priority":1.5"#, "priority"),
        (r#""priority":"high""#, "priority"),
        (r#""priority":99999999999999999999"#, "priority"),
        (r#""pending":1"#, "pending"),
        (r#""pending":"true""#, "pending"),
        (r#""timeout":-1"#, "timeout"),
        (r#""timeout_ms":1.5"#, "timeout_ms"),
        (r#""timeout_ms":9007199254740992"#, "timeout_ms"),
        (r#""visibility_timeout_ms":999"#, "visibility_timeout_ms"),
        (r#""visibility_timeout":0"#, "visibility_timeout"),
        (r#""visibility_timeout":"PT0.5S""#, "visibility_timeout"),
        (r#""visibility_timeout":"30s""#, "visibility_timeout"),
        (r#""scheduled_at":"tomorrow""#, "scheduled_at"),
        (r#""scheduled_at":"2030-01-01T00:00:00""#, "scheduled_at"),
        (r#""scheduled_at":5"#, "scheduled_at"),
        (r#""delay_until":"-PT5S""#, "delay_until"),
        (r#""delay_until":"+5s""#, "delay_until"),
        (r#""expires_at":"2030-02-30T00:00:00Z""#, "expires_at"),
        (r#""expires_at":"+P99999Y""#, "expires_at"),
        (r#""tags":"x""#, "tags"),
        (r#""tags":[""]"#, "tags"),
        (r#""tags":["a","a"]"#, "tags"),
        (r#""tags":["a","\u0061"]"#, "tags"),
        (r#""tags":[1]"#, "tags"),
        (r#""total_timeout":0"#, "total_timeout"),
        (r#""total_timeout":5,"timeout":6"#, "total_timeout"),
        (r#""enqueue_ttl":0"#, "enqueue_ttl"),
        (r#""heartbeat_timeout":0"#, "heartbeat_timeout"),
        (r#""grace_period":-1"#, "grace_period"),
        (r#""unique":true"#, "unique"),
        (r#""rate_limit":5"#, "rate_limit"),
        (r#""result_ttl":-2"#, "result_ttl"),
        (r#""result_ttl":"P1D""#, "result_ttl"),
        (r#""schema":{}"#, "schema"),
        (r#""fairness_key":7"#, "fairness_key"),
        (r#""fairness_key":"""#, "fairness_key"),
        (r#""fairness_key":"a/b""#, "fairness_key"),
    ] {
        refused(&format!(r#"{{"type":"a","args":[],{more}}}"#), field);
    }
    let edges = [
        ("priority", "100"),
        ("priority", "-100"),
        ("timeout", "0"),
        ("visibility_timeout", "\"PT1S\""),
        ("result_ttl", "0"),
        ("grace_period", "0"),
    ];
    for (name, value) in edges {
        job(&format!(",\"{name}\":{value}"));
    }
    assert_eq!(job(r#","timeout":0"#).timeout_ms, None, "zero asks for the default");
    assert_eq!(job(r#","timeout":5,"timeout_ms":1"#).timeout_ms, Some(1), "milliseconds win");
    assert_eq!(job(r#","visibility_timeout":"PT1M30S""#).visibility_timeout_ms, Some(90_000));
}

#[test]
fn retry_faults_are_422() {
    for retry in [r#"{"max_attempts":-1}"#, r#"{"backoff_coefficient":0.5}"#, "5", "[]"] {
        let error = parse(&format!(r#"{{"type":"a","args":[],"options":{{"retry":{retry}}}}}"#)).unwrap_err();
        assert_eq!((error.status, error.code.as_ref()), (422, "validation_error"), "{retry}");
    }
}

#[test]
fn faults_are_found_in_the_protocols_order() {
    let everything = r#"{"type":"BAD","args":5,"id":"x","queue":"BAD","retry":{"max_attempts":-1}}"#;
    refused(everything, "type");
    refused(&everything.replace("BAD\",\"args", "a\",\"args"), "args");
    refused(r#"{"type":"a","args":[],"id":"x","queue":"BAD"}"#, "id");
    refused(r#"{"type":"a","args":[],"queue":"BAD","retry":{"max_attempts":-1}}"#, "queue");
}

#[test]
fn times_relative_and_absolute() {
    let relative = job(r#","options":{"scheduled_at":"+PT5S","expires_at":"+P1D"}"#);
    assert_eq!(relative.scheduled_at, Some(NOW.plus_millis(5_000)));
    assert_eq!(body(&relative)["scheduled_at"], NOW.plus_millis(5_000).to_string(), "stored absolute");
    for spelling in
        ["2030-03-16T00:00:00Z", "2030-03-16T01:30:00.123456789+01:30", "2030-03-16t00:00:00z", "2030-03-15T23:00:00-01:00"]
    {
        let job = job(&format!(r#","options":{{"expires_at":"{spelling}"}}"#));
        assert_eq!(body(&job)["expires_at"], spelling, "echoed as it came");
    }
    let past = job(r#","scheduled_at":"2001-01-01T00:00:00Z""#);
    assert!(past.scheduled_at.unwrap() < NOW, "a past time is accepted; the engine makes the job available");
}

#[test]
fn the_time_to_live_ends_the_waiting() {
    assert_eq!(job(r#","enqueue_ttl":10"#).expires_at, Some(NOW.plus_millis(10_000)));
    assert_eq!(
        job(r#","enqueue_ttl":10,"expires_at":"+PT5S""#).expires_at,
        Some(NOW.plus_millis(5_000)),
        "the earlier one counts"
    );
    let later = job(r#","enqueue_ttl":10,"scheduled_at":"+PT60S""#);
    assert_eq!(later.expires_at, Some(NOW.plus_millis(70_000)), "it counts from the moment the job may start");
    assert!(body(&later).get("expires_at").is_none(), "what the client did not send is not shown");
}

#[test]
fn sizes() {
    let big = format!(r#"{{"type":"a","args":["{}"]}}"#, "x".repeat(10 * 1024 * 1024));
    let error = parse(&big).unwrap_err();
    assert_eq!((error.status, error.code.as_ref()), (413, "payload_too_large"));
    assert_eq!(error.details.unwrap(), json!({"field": "job", "actual_bytes": big.len(), "max_bytes": 10 * 1024 * 1024}));
    let meta = |n: usize| format!(r#"{{"type":"a","args":[],"meta":{{"k":"{}"}}}}"#, "x".repeat(n));
    assert!(parse(&meta(65_536 - 8)).is_ok(), "exactly the limit");
    let error = parse(&meta(65_536 - 7)).unwrap_err();
    assert_eq!((error.status, error.code.as_ref()), (413, "metadata_too_large"));
    assert!(parse(&format!(r#"{{"type":"a","args":[],"meta":{{{}"k":1}}}}"#, " ".repeat(70_000))).is_ok(), "blanks do not count");
    let half = "x".repeat(40_000);
    let both = format!(r#"{{"type":"a","args":[],"meta":{{"a":"{half}"}},"options":{{"metadata":{{"b":"{half}"}}}}}}"#);
    assert_eq!(parse(&both).unwrap_err().code, "metadata_too_large", "the sum counts");
}

#[test]
fn hostile_documents_stay_cheap() {
    let many: String = (0..60_000).map(|n| format!(",\"unknown{n}\":{n}")).collect();
    assert_eq!(job(&many).job_type, "a");
    let names: String = (0..6_000).map(|n| format!("\"k{n}\":1,")).collect();
    job(&format!(r#","meta":{{{names}"z":1}},"options":{{"metadata":{{{names}"y":1}}}}"#));
    let deep = format!(r#"{{"type":"a","args":{}{}}}"#, "[".repeat(120), "]".repeat(120));
    let error = parse(&deep).unwrap_err();
    assert_eq!((error.status, error.code.as_ref()), (400, "invalid_payload"));
}

#[test]
fn broken_documents_are_400() {
    for text in [
        "",
        " ",
        "null",
        "[]",
        "\"x\"",
        "{",
        r#"{"type":"a","args":[]"#,
        r#"{"type":"a","args":[],}"#,
        r#"{"type":"a","args":[]} x"#,
        r#"{type:"a","args":[]}"#,
        r#"{"type":"a","args":[NaN]}"#,
        r#"{"type":"a","args":[01]}"#,
        r#"{"type":"a","args":["\x"]}"#,
        "{\"type\":\"a\",\"args\":[\"\u{1}\"]}",
        r#"{"type":"a","args":["\ud800"]}"#,
        "\u{feff}{\"type\":\"a\",\"args\":[]}",
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!((error.status, error.code.as_ref(), error.retryable), (400, "invalid_payload", false), "{text}");
    }
    assert_eq!(check_body(b"{\"type\":\"a\xff\"}").unwrap_err().status, 400);
}

#[test]
fn batches_are_split_not_judged() {
    assert_eq!(split_batch(r#" { "x" : [1] , "jobs" : [ {"a":1.0} , 5, "x" ] } "#).unwrap(), [r#"{"a":1.0}"#, "5", "\"x\""]);
    assert_eq!(split_batch(r#"{"jobs":[1],"jobs":[2,3]}"#).unwrap(), ["2", "3"]);
    for text in [
        "",
        "[]",
        "{}",
        r#"{"jobs":null}"#,
        r#"{"jobs":[]}"#,
        r#"{"jobs":{}}"#,
        r#"{"jobs":[1,]}"#,
        r#"{"jobs":[1]} x"#,
        r#"{"JOBS":[1]}"#,
    ] {
        let error = split_batch(text).unwrap_err();
        assert_eq!((error.status, error.code.as_ref()), (400, "invalid_payload"), "{text}");
        assert_eq!(error.details.unwrap()["field"], "jobs");
    }
    let many = format!(r#"{{"jobs":[{}1]}}"#, "1,".repeat(10_000));
    let error = split_batch(&many).unwrap_err();
    assert_eq!((error.status, error.code.as_ref()), (413, "batch_size_exceeded"));
}

/// JSON values with awkward numbers and names, as text.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,10})?([eE][+-]?[0-9]{1,2})?",
        "\\PC{0,12}".prop_map(|s| Value::from(s).to_string()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::vec(("\\PC{0,6}", inner), 0..4).prop_map(|members| {
                let members: Vec<String> = members.into_iter().map(|(k, v)| format!("{}:{v}", Value::from(k))).collect();
                format!("{{{}}}", members.join(", "))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn args_meta_and_strangers_come_out_as_they_went_in(args in prop::collection::vec(json_text(), 0..4), meta in json_text(), x in json_text()) {
        let (args, meta) = (args.join(" ,"), format!("{{\"m\":{meta}}}"));
        let job = parse(&format!(r#"{{"x_own":{x},"type":"a","args":[{args}],"meta":{meta}}}"#)).unwrap();
        let expected = [format!("\"args\":[{args}]"), format!("\"meta\":{meta}"), format!("\"x_own\":{x}")];
        for kept in expected {
            prop_assert!(job.body.contains(&kept), "{} in {}", kept, job.body);
        }
    }

    #[test]
    fn a_rendered_body_reads_back_to_itself(
        args in json_text(), x in json_text(), queue in "[a-z0-9][a-z0-9.-]{0,9}", priority in -100..=100, ms in 1_u64..100_000, attempts in 0_u32..9,
    ) {
        let text = format!(
            r#"{{"type":"a.b-c","args":[{args}],"x_own":{x},"options":{{"queue":"{queue}","priority":{priority},"timeout_ms":{ms},"retry":{{"max_attempts":{attempts}}},"scheduled_at":"+PT1S","x_opt":{x}}}}}"#
        );
        let first = parse(&text).unwrap();
        let rendered = format!("{{{},\"queue\":\"{}\",\"priority\":{}}}", first.body, first.queue, first.priority);
        // The rendered policy is the whole of it: what the client left out cannot be told from it any more.
        let again = NewJob { retry_given: first.retry_given.clone(), ..parse(&rendered).unwrap() };
        prop_assert_eq!(again, first);
    }

    #[test]
    fn nothing_makes_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), text in "[\\[\\]{}:,\"a-z0-9\\\\. -]{0,80}") {
        for candidate in [&bytes[..], text.as_bytes()] {
            if let Ok(text) = check_body(candidate) {
                let _ = NewJob::parse(text, NOW);
                let _ = split_batch(text);
            }
        }
    }
}
