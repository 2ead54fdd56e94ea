//! Retry policies: the check values, aliases, faults, matching and verdicts of protocol section 7.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic here is a failed test")]
use ojs_model::retry::{BackoffStrategy, OnExhaustion, Verdict};
use ojs_model::{JobError, RetryPolicy};
use proptest::prelude::*;
use serde_json::{Value, json};

fn policy(value: Value) -> RetryPolicy {
    RetryPolicy::parse(&value, &RetryPolicy::default()).unwrap()
}

/// Delays of the first retries in milliseconds, without jitter.
fn delays(mut value: Value, count: u32) -> Vec<u128> {
    value["jitter"] = false.into();
    let policy = policy(value);
    (1..=count).map(|n| policy.delay(n, 0.9).as_millis()).collect()
}

fn seconds(value: Value, expected: &[u128]) {
    let wanted: Vec<u128> = expected.iter().map(|s| s * 1000).collect();
    assert_eq!(delays(value.clone(), u32::try_from(expected.len()).unwrap()), wanted, "{value}");
}

#[test]
fn check_values_of_the_protocol() {
    seconds(json!({}), &[1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    seconds(json!({"backoff_strategy": "linear", "backoff_coefficient": 1.0}), &[1, 2, 3]);
    seconds(json!({"backoff_coefficient": 1.0}), &[1, 1, 1]);
    seconds(json!({"backoff_strategy": "constant", "backoff_coefficient": 3.0}), &[1, 1, 1]);
    seconds(json!({"backoff_strategy": "none"}), &[1, 1, 1]);
    seconds(json!({"backoff_coefficient": 10.0, "max_interval": "PT2S"}), &[1, 2, 2]);
    let polynomial = json!({
        "backoff_strategy": "polynomial", "initial_interval": "PT15S", "backoff_coefficient": 4.0, "max_interval": "PT1H",
    });
    seconds(polynomial, &[15, 240, 1215, 3600, 3600]);
}

#[test]
fn retry_zero_is_treated_as_the_first() {
    let plain = policy(json!({"jitter": false}));
    assert_eq!(plain.delay(0, 0.0), plain.delay(1, 0.0));
}

#[test]
fn huge_numbers_saturate_at_the_cap() {
    let wild = policy(json!({"backoff_coefficient": 1e308, "jitter": false}));
    assert_eq!(wild.delay(u32::MAX, 0.0).as_secs(), 300);
    let linear = policy(json!({"backoff_strategy": "linear", "initial_interval": "P1000000D", "jitter": false}));
    assert_eq!(linear.delay(u32::MAX, 0.0).as_secs(), 86_400_000_000);
}

#[test]
fn every_alias_is_read_and_the_official_name_wins() {
    let short = policy(
        json!({"max_retries": 7, "initial_interval_ms": 250, "multiplier": 3, "max_interval_ms": 9000, "backoff_type": "linear"}),
    );
    assert_eq!(short.max_attempts, 7);
    assert_eq!(short.initial_interval.to_string(), "PT0.25S");
    assert_eq!(short.max_interval.to_string(), "PT9S");
    assert_eq!(short.backoff_strategy, BackoffStrategy::Linear);
    assert!((short.backoff_coefficient - 3.0).abs() < f64::EPSILON);
    assert_eq!(policy(json!({"base_delay_ms": 1500})).initial_interval.to_string(), "PT1.5S");
    let short = policy(json!({"strategy": "constant", "initial_delay_ms": 100}));
    assert_eq!((short.initial_interval.to_string().as_str(), short.backoff_strategy), ("PT0.1S", BackoffStrategy::Constant));
    assert_eq!(policy(json!({"backoff": "constant"})).backoff_strategy, BackoffStrategy::Constant);
    let both = policy(json!({
        "max_attempts": 2, "max_retries": 9, "initial_interval": "PT3S", "initial_interval_ms": 1, "base_delay_ms": 2,
        "max_interval": "PT4S", "max_interval_ms": 1, "backoff_coefficient": 1.5, "multiplier": 9,
        "backoff_strategy": "none", "backoff_type": "linear", "backoff": "constant",
    }));
    assert_eq!((both.max_attempts, both.backoff_strategy), (2, BackoffStrategy::None));
    assert_eq!((both.initial_interval.as_str(), both.max_interval.as_str()), ("PT3S", "PT4S"));
    assert!((both.backoff_coefficient - 1.5).abs() < f64::EPSILON);
}

#[test]
fn short_durations_are_stored_as_iso() {
    let lenient = policy(json!({"initial_interval": "2s", "max_interval": "5m"}));
    assert_eq!((lenient.initial_interval.as_str(), lenient.max_interval.as_str()), ("PT2S", "PT5M"));
    assert_eq!(
        policy(json!({"initial_interval": "PT60S"})).initial_interval.as_str(),
        "PT60S",
        "the client's own ISO spelling stays"
    );
}

#[test]
fn partial_policies_merge_field_by_field() {
    let queue = policy(json!({"max_attempts": 9, "initial_interval": "PT7S", "on_exhaustion": "dead_letter", "jitter": false}));
    let job = RetryPolicy::parse(&json!({"max_attempts": 2, "jitter": null}), &queue).unwrap();
    assert_eq!(job, RetryPolicy { max_attempts: 2, ..queue });
    assert_eq!(policy(json!({})), RetryPolicy::default());
    assert_eq!(policy(json!({"unknown": {"kept": "out"}})), RetryPolicy::default());
}

#[test]
fn a_first_interval_above_the_default_cap_raises_the_cap() {
    assert_eq!(policy(json!({"initial_interval": "PT10M"})).max_interval.as_str(), "PT10M");
    refused(json!({"initial_interval": "PT10M", "max_interval": "PT5M"}), "max_interval");
    refused(json!({"max_interval": "PT0.5S"}), "max_interval");
}

#[test]
fn defaults_of_the_protocol() {
    assert_eq!(
        RetryPolicy::default().to_value(),
        json!({"max_attempts": 3, "initial_interval": "PT1S", "backoff_coefficient": 2.0, "max_interval": "PT5M", "jitter": true,
               "non_retryable_errors": [], "on_exhaustion": "discard", "backoff_strategy": "exponential"})
    );
}

fn refused(value: Value, field: &str) {
    let error = RetryPolicy::parse(&value, &RetryPolicy::default()).unwrap_err();
    assert_eq!(error.status, 422, "{value}");
    let body: Value = serde_json::from_str(&error.to_body()).unwrap();
    assert_eq!(body["error"]["type"], "validation_error", "{value}");
    assert_eq!(body["error"]["retryable"], false);
    assert_eq!(body["error"]["details"]["rule"], "validation.retry_policy_invalid");
    assert!(error.message.contains(field), "'{}' does not name {field}", error.message);
    assert!(error.message.len() < 300, "a refusal does not repeat a long value");
}

#[test]
fn faults_are_422_and_name_the_field() {
    let long = "x".repeat(10_000);
    for (value, field) in [
        (json!({"max_attempts": -1}), "max_attempts"),
        (json!({"max_attempts": 1.5}), "max_attempts"),
        (json!({"max_attempts": "3"}), "max_attempts"),
        (json!({"max_attempts": 4_294_967_296_u64}), "max_attempts"),
        (json!({"max_retries": -1}), "max_attempts"),
        (json!({"initial_interval": "1 second"}), "initial_interval"),
        (json!({"initial_interval": "PT0S"}), "initial_interval"),
        (json!({"initial_interval": "-PT1S"}), "initial_interval"),
        (json!({"initial_interval": 1000}), "initial_interval"),
        (json!({"initial_interval": long}), "initial_interval"),
        (json!({"initial_interval_ms": 0}), "initial_interval"),
        (json!({"initial_interval_ms": -5}), "initial_interval"),
        (json!({"initial_interval_ms": 0.5}), "initial_interval"),
        (json!({"base_delay_ms": "1000"}), "initial_interval"),
        (json!({"max_interval": ""}), "max_interval"),
        (json!({"max_interval_ms": 10}), "max_interval"),
        (json!({"backoff_coefficient": 0.5}), "backoff_coefficient"),
        (json!({"backoff_coefficient": "2"}), "backoff_coefficient"),
        (json!({"multiplier": 0}), "backoff_coefficient"),
        (json!({"jitter": "yes"}), "jitter"),
        (json!({"jitter": 1}), "jitter"),
        (json!({"non_retryable_errors": "auth.*"}), "non_retryable_errors"),
        (json!({"non_retryable_errors": ["a", 1]}), "non_retryable_errors"),
        (json!({"on_exhaustion": "explode"}), "on_exhaustion"),
        (json!({"on_exhaustion": true}), "on_exhaustion"),
        (json!({"backoff_strategy": "fibonacci"}), "backoff_strategy"),
        (json!({"backoff_type": 2}), "backoff_strategy"),
        (json!("exponential"), "retry"),
        (json!([]), "retry"),
    ] {
        refused(value, field);
    }
}

fn error(value: Value) -> JobError {
    JobError::parse(&value).unwrap()
}

#[test]
fn matching_is_exact_or_by_dotted_prefix() {
    let forbids = |entry: &str, name: &str| {
        let policy = policy(json!({"non_retryable_errors": [entry]}));
        policy.forbids(&error(json!({"code": "handler_error", "type": name, "message": "x"})))
    };
    assert!(forbids("auth.*", "auth.token_expired"));
    assert!(forbids("Auth.*", "Auth.TokenExpired"));
    assert!(forbids("ValueError", "ValueError"));
    for name in ["auth", "authx", "external.auth.x", "AuthenticationError"] {
        assert!(!forbids("auth.*", name), "{name}");
        assert!(!forbids("Auth.*", name), "{name}");
    }
    assert!(!forbids("*", "anything"), "a bare star is a name like any other");
    assert!(!forbids("auth*", "authx"), "a prefix ends with a dot");
    assert!(!forbids("ValueError", "ValueErrorX"));
    let by_class = policy(json!({"non_retryable_errors": ["billing.*"]}));
    assert!(by_class.forbids(&error(
        json!({"code": "handler_error", "type": "X", "message": "x", "details": {"error_class": "billing.Declined"}})
    )));
    assert!(by_class.forbids(&error(json!({"code": "billing.declined", "type": "X", "message": "x"}))));
}

#[test]
fn verdicts_come_in_the_order_of_the_protocol() {
    let keep = Verdict::Discard { dead_letter: true };
    let drop = Verdict::Discard { dead_letter: false };
    let dead = policy(json!({"on_exhaustion": "dead_letter", "non_retryable_errors": ["fatal"], "jitter": false}));
    let plain = policy(json!({"non_retryable_errors": ["fatal"], "jitter": false}));
    let judge = |policy: &RetryPolicy, value: Value, attempt| policy.judge(&error(value), attempt, attempt, 0.5);
    let second = std::time::Duration::from_secs(1);
    // The handler's own word comes first: it overrides the policy's choice of dead letters …
    for code in ["DISCARD", "FAIL"] {
        assert_eq!(judge(&dead, json!({"code": code, "message": "x"}), 1), drop, "{code}");
    }
    assert_eq!(judge(&plain, json!({"code": "DEAD_LETTER", "message": "x"}), 1), keep);
    // … and RETRY overrides both `retryable: false` and the list, but not the count of attempts.
    let stubborn = json!({"code": "RETRY", "type": "fatal", "message": "x", "retryable": false});
    assert_eq!(judge(&plain, stubborn.clone(), 1), Verdict::Retry(second));
    assert_eq!(judge(&dead, stubborn, 3), keep);
    // Then `retryable`, then the list, then the attempts.
    assert_eq!(judge(&plain, json!({"code": "x", "message": "x", "retryable": false}), 1), drop);
    assert_eq!(judge(&dead, json!({"code": "x", "message": "x", "retryable": false}), 1), keep);
    assert_eq!(judge(&dead, json!({"code": "fatal", "message": "x"}), 1), keep);
    let stopped = json!({"code": "fatal", "type": "ShutdownError", "message": "x", "retryable": false});
    assert_eq!(judge(&dead, stopped.clone(), 1), Verdict::Retry(second), "the worker was stopped, the job did not fail");
    assert_eq!(judge(&dead, stopped, 3), keep);
    assert_eq!(judge(&plain, json!({"code": "x", "message": "x"}), 1), Verdict::Retry(second));
    assert_eq!(judge(&plain, json!({"code": "x", "message": "x"}), 2), Verdict::Retry(second * 2));
    assert_eq!(judge(&plain, json!({"code": "x", "message": "x"}), 3), drop);
    assert_eq!(judge(&dead, json!({"code": "x", "message": "x"}), 3), keep);
}

#[test]
fn zero_and_one_attempt_both_run_once_and_releases_are_free() {
    let fault = error(json!({"code": "x", "message": "x"}));
    for max in [0, 1] {
        let once = policy(json!({"max_attempts": max}));
        assert_eq!(once.judge(&fault, 1, 1, 0.5), Verdict::Discard { dead_letter: false }, "{max}");
    }
    let three = policy(json!({"jitter": false}));
    // Five starts, three of them released without charge: one attempt is left.
    assert!(matches!(three.judge(&fault, 5, 2, 0.5), Verdict::Retry(_)));
    assert_eq!(OnExhaustion::DeadLetter.as_str(), "dead_letter");
}

fn any_policy() -> impl Strategy<Value = Value> {
    let strategy = prop::sample::select(vec!["exponential", "linear", "constant", "none", "polynomial"]);
    (0_u32..50, 1_u64..100_000, 1.0_f64..20.0, 0_u64..10_000_000, any::<bool>(), strategy, prop::collection::vec("\\PC{0,12}", 0..4)).prop_map(
        |(max, initial, coefficient, more, jitter, strategy, names)| {
            json!({"max_attempts": max, "initial_interval_ms": initial, "max_interval_ms": initial + more, "backoff_coefficient": coefficient,
                   "jitter": jitter, "backoff_strategy": strategy, "non_retryable_errors": names})
        },
    )
}

proptest! {
    #[test]
    fn jitter_stays_in_its_bounds_and_below_the_cap(value in any_policy(), n in 1_u32..200, unit in 0.0_f64..1.0) {
        let policy = policy(value);
        let cap = policy.max_interval.value();
        let exact = RetryPolicy { jitter: false, ..policy.clone() }.delay(n, unit).as_secs_f64();
        let got = policy.delay(n, unit);
        prop_assert!(got <= cap);
        if policy.jitter {
            // Rounding to milliseconds moves each end by at most one.
            prop_assert!(got.as_secs_f64() >= exact * 0.5 - 0.001 && got.as_secs_f64() <= exact * 1.5 + 0.001);
        }
    }

    #[test]
    fn delays_never_shrink_without_jitter(value in any_policy(), n in 1_u32..100) {
        let policy = RetryPolicy { jitter: false, ..policy(value) };
        prop_assert!(policy.delay(n + 1, 0.0) >= policy.delay(n, 0.0));
    }

    #[test]
    fn two_seconds_with_jitter_is_one_to_three(unit in 0.0_f64..1.0) {
        let two = policy(json!({"initial_interval": "PT2S", "backoff_coefficient": 1.0, "jitter": true}));
        let ms = two.delay(1, unit).as_millis();
        prop_assert!((1000..=3000).contains(&ms), "{}", ms);
    }

    #[test]
    fn printed_policies_read_back(value in any_policy()) {
        let first = policy(value);
        let again = RetryPolicy::parse(&first.to_value(), &RetryPolicy::default()).unwrap();
        prop_assert_eq!(&again, &first);
        let mut text = String::new();
        first.push_json(&mut text);
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), first.to_value());
    }

    #[test]
    fn no_value_makes_the_parser_panic(text in "\\PC{0,20}", number in any::<f64>(), field in 0_usize..8) {
        let name = ["max_attempts", "initial_interval", "max_interval", "backoff_coefficient", "jitter", "on_exhaustion", "backoff", "initial_interval_ms"][field];
        for value in [json!({name: text}), json!({name: number}), json!({name: [number]}), json!({name: {"a": 1}})] {
            if let Err(error) = RetryPolicy::parse(&value, &RetryPolicy::default()) {
                prop_assert_eq!(error.status, 422);
            }
        }
    }
}
