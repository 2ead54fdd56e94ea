//! The catalogue of error codes against the tables of protocol sections 4.2 and 4.7, and the error object of section 4.6.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic here is a failed test")]
use ojs_model::{ErrorCode, JobError, OjsError, TimeoutKind, Timestamp};
use serde_json::{Value, json};

/// Section 4.2: code, HTTP status, retryable.
const EMITTED: &[(&str, u16, bool)] = &[
    ("invalid_payload", 400, false),
    ("invalid_request", 400, false),
    ("validation_error", 422, false),
    ("schema_validation", 400, false),
    ("not_found", 404, false),
    ("method_not_allowed", 405, false),
    ("conflict", 409, false),
    ("duplicate", 409, false),
    ("result_pruned", 410, false),
    ("payload_too_large", 413, false),
    ("metadata_too_large", 413, false),
    ("result_too_large", 413, false),
    ("batch_size_exceeded", 413, false),
    ("unsupported_compression", 415, false),
    ("unsupported", 422, false),
    ("queue_paused", 422, true),
    ("rate_limited", 429, true),
    ("queue_full", 429, true),
    ("internal_error", 500, true),
    ("backend_error", 500, true),
    ("backend_unavailable", 503, true),
    ("backend_timeout", 504, true),
    ("unauthenticated", 401, false),
    ("permission_denied", 403, false),
];

#[test]
fn emitted_codes_have_the_protocols_status() {
    for (word, status, retryable) in EMITTED {
        let entry = ErrorCode::recognise(word).unwrap_or_else(|| panic!("{word} is missing")).entry();
        assert_eq!((entry.wire, entry.status, entry.retryable), (*word, *status, *retryable));
        let error = OjsError::new(entry.code, "m");
        assert_eq!((error.status, error.retryable), (*status, *retryable));
    }
}

/// Section 4.7: number, canonical name, HTTP status (`None` where the wire differs or there is none), retryable
/// (`None` where it is "by policy").
const CATALOGUE: &[(&str, &str, Option<u16>, Option<bool>)] = &[
    ("OJS-1000", "INVALID_PAYLOAD", Some(400), Some(false)),
    ("OJS-1001", "INVALID_JOB_TYPE", Some(400), Some(false)),
    ("OJS-1002", "INVALID_QUEUE", Some(400), Some(false)),
    ("OJS-1003", "INVALID_ARGS", Some(400), Some(false)),
    ("OJS-1004", "INVALID_METADATA", Some(400), Some(false)),
    ("OJS-1005", "INVALID_STATE_TRANSITION", Some(409), Some(false)),
    ("OJS-1006", "INVALID_RETRY_POLICY", Some(422), Some(false)),
    ("OJS-1007", "INVALID_CRON_EXPRESSION", Some(400), Some(false)),
    ("OJS-1008", "SCHEMA_VALIDATION_FAILED", Some(400), Some(false)),
    ("OJS-1009", "PAYLOAD_TOO_LARGE", Some(413), Some(false)),
    ("OJS-1010", "METADATA_TOO_LARGE", Some(413), Some(false)),
    ("OJS-1011", "ConnectionError", None, Some(true)),
    ("OJS-1012", "RequestTimeout", None, Some(true)),
    ("OJS-1013", "SerializationError", None, Some(false)),
    ("OJS-1014", "QUEUE_NAME_TOO_LONG", Some(400), Some(false)),
    ("OJS-1015", "JOB_TYPE_TOO_LONG", Some(400), Some(false)),
    ("OJS-1016", "CHECKSUM_MISMATCH", Some(400), Some(false)),
    ("OJS-1017", "UNSUPPORTED_COMPRESSION", Some(415), Some(false)),
    ("OJS-2000", "BACKEND_ERROR", Some(500), Some(true)),
    ("OJS-2001", "BACKEND_UNAVAILABLE", Some(503), Some(true)),
    ("OJS-2002", "BACKEND_TIMEOUT", Some(504), Some(true)),
    ("OJS-2003", "REPLICATION_LAG", Some(500), Some(true)),
    ("OJS-2004", "InternalServerError", Some(500), Some(true)),
    ("OJS-3000", "NOT_FOUND", Some(404), Some(false)),
    ("OJS-3001", "DUPLICATE_JOB", Some(409), Some(false)),
    ("OJS-3002", "JOB_ALREADY_COMPLETED", Some(409), Some(false)),
    ("OJS-3003", "JOB_ALREADY_CANCELLED", Some(409), Some(false)),
    ("OJS-3004", "QUEUE_PAUSED", Some(422), Some(true)),
    ("OJS-3005", "HANDLER_ERROR", None, None),
    ("OJS-3006", "HANDLER_TIMEOUT", None, None),
    ("OJS-3007", "HANDLER_PANIC", None, None),
    ("OJS-3008", "NON_RETRYABLE_ERROR", None, Some(false)),
    ("OJS-3009", "JOB_CANCELLED", None, Some(false)),
    ("OJS-3010", "NoHandlerRegistered", None, Some(false)),
    ("OJS-4000", "WorkflowNotFound", Some(404), Some(false)),
    ("OJS-4001", "ChainStepFailed", Some(422), Some(false)),
    ("OJS-4002", "GroupTimeout", Some(504), Some(true)),
    ("OJS-4003", "DependencyFailed", Some(422), Some(false)),
    ("OJS-4004", "CyclicDependency", Some(400), Some(false)),
    ("OJS-4005", "BatchCallbackFailed", Some(422), None),
    ("OJS-4006", "WorkflowCancelled", Some(409), Some(false)),
    ("OJS-5000", "UNAUTHENTICATED", Some(401), Some(false)),
    ("OJS-5001", "PERMISSION_DENIED", Some(403), Some(false)),
    ("OJS-5002", "TOKEN_EXPIRED", Some(401), Some(false)),
    ("OJS-5003", "TENANT_ACCESS_DENIED", Some(403), Some(false)),
    ("OJS-6000", "RATE_LIMITED", Some(429), Some(true)),
    ("OJS-6001", "QUEUE_FULL", Some(429), Some(true)),
    ("OJS-6002", "ConcurrencyLimited", Some(429), Some(true)),
    ("OJS-6003", "BackpressureApplied", Some(429), Some(true)),
    ("OJS-7000", "UNSUPPORTED_FEATURE", Some(422), Some(false)),
    ("OJS-7001", "CronScheduleConflict", Some(409), Some(false)),
    ("OJS-7002", "UniqueKeyInvalid", Some(400), Some(false)),
    ("OJS-7003", "MiddlewareError", Some(500), Some(true)),
    ("OJS-7004", "MiddlewareTimeout", Some(504), Some(true)),
];

#[test]
fn canonical_names_are_recognised_with_number_status_and_retryability() {
    for (number, name, status, retryable) in CATALOGUE {
        assert_eq!(ErrorCode::numeric(name), Some(*number), "{name}");
        let entry = ErrorCode::recognise(name).unwrap_or_else(|| panic!("{name} is missing")).entry();
        if let Some(status) = status {
            assert_eq!(entry.status, *status, "{name}");
        }
        if let Some(retryable) = retryable {
            assert_eq!(entry.retryable, *retryable, "{name}");
        }
        let body = json!({"error": {"code": name, "message": "m"}}).to_string();
        let read = OjsError::from_body(status.unwrap_or(500), body.as_bytes()).unwrap();
        assert_eq!((read.code.as_ref(), read.retryable), (*name, entry.retryable), "the code stays as it was sent");
    }
}

#[test]
fn other_spellings_met_in_documents_are_recognised() {
    for (word, code) in [
        ("VALIDATION_ERROR", ErrorCode::InvalidPayload),
        ("VALIDATION_FAILED", ErrorCode::InvalidPayload),
        ("QUEUE_NOT_FOUND", ErrorCode::NotFound),
        ("RATE_LIMIT_EXCEEDED", ErrorCode::RateLimited),
        ("RESULT_TOO_LARGE", ErrorCode::ResultTooLarge),
        ("RESULT_PRUNED", ErrorCode::ResultPruned),
        ("BATCH_SIZE_EXCEEDED", ErrorCode::BatchSizeExceeded),
        ("JOB_TYPE_NOT_ALLOWED", ErrorCode::PermissionDenied),
        ("PayloadChecksumMismatch", ErrorCode::ChecksumMismatch),
        ("PayloadTooLarge", ErrorCode::PayloadTooLarge),
        ("envelope_too_large", ErrorCode::PayloadTooLarge),
        ("invalid_state_transition", ErrorCode::Conflict),
    ] {
        assert_eq!(ErrorCode::recognise(word), Some(code), "{word}");
    }
    for word in ["", "x_custom", "Not_Found", "OJS-1000"] {
        assert_eq!(ErrorCode::recognise(word), None, "{word}");
    }
}

#[test]
fn job_level_codes_are_known() {
    for (word, retryable) in [
        ("handler_error", true),
        ("timeout", true),
        ("cancelled", false),
        ("visibility_timeout", true),
        ("worker_death", true),
        ("shutdown", true),
        ("no_handler", false),
        ("enqueue_ttl_expired", false),
        ("expired", false),
    ] {
        let entry = ErrorCode::recognise(word).unwrap_or_else(|| panic!("{word} is missing")).entry();
        assert_eq!((entry.status, entry.retryable), (0, retryable), "{word}");
    }
}

#[test]
fn every_spelling_of_a_wrong_state_is_one_error() {
    for body in [
        json!({"error": {"code": "conflict", "message": "m", "details": {"reason": "invalid_state_transition"}}}),
        json!({"error": {"code": "conflict", "message": "m"}}),
        json!({"error": {"code": "invalid_state_transition", "message": "m"}}),
        json!({"error": {"code": "INVALID_STATE_TRANSITION", "message": "m"}}),
        json!({"error": {"code": "invalid_request", "message": "m"}}),
        json!({"code": "JOB_ALREADY_COMPLETED", "message": "m"}),
    ] {
        let error = OjsError::from_body(409, body.to_string().as_bytes()).unwrap();
        assert!(error.is_invalid_state_transition(), "{body}");
    }
    let duplicate = json!({"error": {"code": "duplicate", "message": "m"}}).to_string();
    assert!(!OjsError::from_body(409, duplicate.as_bytes()).unwrap().is_invalid_state_transition());
    let request = json!({"error": {"code": "invalid_request", "message": "m"}}).to_string();
    assert!(!OjsError::from_body(400, request.as_bytes()).unwrap().is_invalid_state_transition());
}

#[test]
fn bodies_survive_a_round_trip() {
    let mut error = OjsError::invalid_field("queue", "queue must be a string.").with_kind("custom").with_hint("Do this.");
    error.request_id = Some("req_1".to_owned());
    assert_eq!(OjsError::from_body(400, error.to_body().as_bytes()).unwrap(), error);
}

#[test]
fn explicit_retryability_wins_over_the_catalogue() {
    let error = OjsError::from_body(400, br#"{"error":{"code":"invalid_payload","message":"m","retryable":true}}"#).unwrap();
    assert!(error.retryable);
    let custom = OjsError::from_body(503, br#"{"error":{"code":"x_mine","message":"m","retryable":true}}"#).unwrap();
    assert!(custom.retryable);
}

#[test]
fn foreign_bodies_are_no_ojs_errors() {
    for body in ["", "<html>", "[]", "null", "{}", r#"{"error":{}}"#, r#"{"error":{"code":5}}"#, r#"{"code":5}"#, r#""x""#] {
        assert_eq!(OjsError::from_body(502, body.as_bytes()), None, "{body}");
    }
}

fn read(value: Value) -> JobError {
    JobError::parse(&value).unwrap()
}

#[test]
fn job_errors_derive_their_type() {
    let kinds = [
        (json!({"code": "c", "message": "m", "type": "T", "details": {"error_class": "D"}}), "T"),
        (json!({"code": "c", "message": "m", "details": {"error_class": "D"}}), "D"),
        (json!({"code": "c", "message": "m"}), "c"),
        (json!({"message": "m"}), "handler_error"),
    ];
    for (value, kind) in kinds {
        assert_eq!(read(value.clone()).kind, kind, "{value}");
    }
    let bare = read(json!({"type": "SmtpError", "message": "m"}));
    assert_eq!((bare.code.as_str(), bare.kind.as_str(), bare.retryable), ("handler_error", "SmtpError", true));
}

#[test]
fn an_empty_message_is_replaced_not_refused() {
    assert_eq!(read(json!({"code": "c", "message": "", "type": "ValueError"})).message, "ValueError");
    assert_eq!(read(json!({"code": "c", "details": {"error_class": "KeyError"}})).message, "KeyError");
    assert_eq!(read(json!({"code": "c"})).message, "c");
}

#[test]
fn unusable_job_errors_are_400() {
    for (value, field) in [
        (json!(null), "error"),
        (json!("boom"), "error"),
        (json!([]), "error"),
        (json!({}), "error.message"),
        (json!({"message": 5}), "error.message"),
        (json!({"code": "c", "message": "m", "retryable": "no"}), "error.retryable"),
    ] {
        let error = JobError::parse(&value).unwrap_err();
        assert_eq!((error.status, error.code.as_ref()), (400, "invalid_payload"), "{value}");
        assert_eq!(error.details.unwrap()["field"], field, "{value}");
    }
}

#[test]
fn backtraces_come_as_frames_or_text_and_are_cut() {
    assert_eq!(read(json!({"code": "c", "message": "m", "backtrace": ["a", "b"]})).backtrace, ["a", "b"]);
    assert_eq!(read(json!({"code": "c", "message": "m", "stack_trace": "a\nb\n"})).backtrace, ["a", "b"]);
    let frames: Vec<String> = (0..80).map(|n| format!("frame {n}")).collect();
    assert_eq!(read(json!({"code": "c", "message": "m", "backtrace": frames})).backtrace.len(), 50);
    let long: Vec<String> = (0..20).map(|_| "é".repeat(900)).collect();
    let kept = read(json!({"code": "c", "message": "m", "backtrace": long})).backtrace;
    assert_eq!(kept.iter().map(|f| f.chars().count()).sum::<usize>(), 10_000);
}

#[test]
fn history_entries_carry_what_the_suite_reads() {
    let entry = read(json!({"code": "c", "message": "m", "details": {"a": 1}, "retryable": false}))
        .to_entry(2, Timestamp::from_millis(0));
    assert_eq!(
        entry,
        json!({"attempt": 2, "type": "c", "code": "c", "message": "m", "retryable": false, "occurred_at": "1970-01-01T00:00:00.000Z", "details": {"a": 1}})
    );
    let timeout = JobError::timed_out(TimeoutKind::Execution, 2000, 2345).to_entry(1, Timestamp::from_millis(0));
    assert_eq!(
        (&timeout["type"], &timeout["timeout_kind"], &timeout["limit_seconds"], &timeout["elapsed_seconds"]),
        (&json!("timeout"), &json!("execution"), &json!(2), &json!(2.345))
    );
}
