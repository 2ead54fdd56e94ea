//! What must hold for any input: shared by the fuzz targets and by the test that replays seeds and regressions.
//! Each function panics when it finds a fault.
use ojs_model::duration::{self, IsoDuration};
use ojs_model::envelope::{check_body, split_batch};
use ojs_model::{JobError, NewJob, OjsError, RetryPolicy, Timestamp};
use serde_json::Value;
use serde_json::value::RawValue;

const NOW: Timestamp = Timestamp::from_millis(1_760_000_000_000);

/// The enqueue path: lint, batch split, parse, and the rendered body read again.
pub fn envelope(data: &[u8]) {
    let text = match check_body(data) {
        Ok(text) => text,
        Err(error) => return refusal(&error, &[400]),
    };
    batch(text);
    match NewJob::parse(text, NOW) {
        Ok(job) => accepted(text, &job),
        Err(error) => refusal(&error, &[400, 413, 422]),
    }
}

fn accepted(text: &str, job: &NewJob) {
    assert!(is_json(text), "an accepted request is valid JSON");
    let rendered =
        format!("{{{},\"queue\":\"{}\",\"priority\":{},\"pending\":{}}}", job.body, job.queue, job.priority, job.pending);
    // By text, not by value: a number such as 1e999 is valid JSON that no float holds, and it survives.
    let (sent, kept) = (args(text), args(&rendered));
    assert!(sent.starts_with('[') && sent == kept, "args changed from {sent} to {kept}");
    let text = check_body(rendered.as_bytes()).expect("the rendered body passes the lint");
    let again = NewJob::parse(text, NOW).expect("the rendered body is accepted");
    // What the client left out of a policy is not known any more: the full policy is rendered.
    let stored = |job: &NewJob| NewJob { retry_given: None, ..job.clone() };
    assert_eq!(stored(&again), stored(job), "the rendered body reads back differently");
}

/// Strict JSON, by the opinion of a parser that looks at everything.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The text of `args`.
fn args(text: &str) -> &str {
    let members: std::collections::HashMap<String, &RawValue> = serde_json::from_str(text).expect("a job is an object");
    members.get("args").map_or("", |raw| raw.get())
}

/// The split agrees with serde_json's own reading.
fn batch(text: &str) {
    match split_batch(text) {
        Ok(jobs) => {
            let members: std::collections::HashMap<String, &RawValue> =
                serde_json::from_str(text).expect("an accepted batch is an object");
            let listed: Vec<&RawValue> =
                serde_json::from_str(members.get("jobs").map_or("", |raw| raw.get())).expect("of an array");
            assert_eq!(jobs, listed.into_iter().map(RawValue::get).collect::<Vec<_>>());
        }
        Err(error) => refusal(&error, &[400, 413]),
    }
}

fn refusal(error: &OjsError, statuses: &[u16]) {
    assert!(statuses.contains(&error.status), "{error:?}");
    assert!(!error.message.is_empty() && error.message.len() < 1000, "{error:?}");
    let body = error.to_body();
    let read = OjsError::from_body(error.status, body.as_bytes()).expect("our own error body is readable");
    assert_eq!((&read.code, &read.message, read.retryable), (&error.code, &error.message, error.retryable));
}

/// Policies: what is accepted prints and reads back; delays keep to the cap. The same document as a job error.
pub fn retry(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let policy = match RetryPolicy::parse(&value, &RetryPolicy::default()) {
        Ok(policy) => policy,
        Err(error) => return refusal(&error, &[422]),
    };
    assert_eq!(RetryPolicy::parse(&policy.to_value(), &RetryPolicy::default()).as_ref(), Ok(&policy));
    let mut text = String::new();
    policy.push_json(&mut text);
    assert_eq!(serde_json::from_str::<Value>(&text).expect("a printed policy is valid JSON"), policy.to_value());
    assert!(policy.backoff_coefficient >= 1.0 && !policy.initial_interval.value().is_zero());
    assert!(policy.max_interval.value() >= policy.initial_interval.value());
    // A float of seconds has 53 bits: above that the delay may be rounded up by one part in 2^52.
    let cap = policy.max_interval.as_secs_f64() * (1.0 + f64::EPSILON) + 0.001;
    for n in [0, 1, 2, 3, 10, 1000, u32::MAX] {
        for unit in [0.0, 0.5, 0.999_999] {
            let delay = policy.delay(n, unit).as_secs_f64();
            assert!(delay <= cap, "retry {n}: {delay} s above the cap of {cap} s");
        }
    }
    match JobError::parse(&value) {
        Ok(error) => {
            let _ = policy.judge(&error, 1, 1, 0.5);
            let entry = error.to_entry(1, NOW);
            let again = JobError::parse(&entry).expect("a stored entry is a readable error");
            assert_eq!((&again.code, &again.kind, &again.message), (&error.code, &error.kind, &error.message));
        }
        Err(error) => refusal(&error, &[400]),
    }
}

/// Durations: what is read prints and reads back to the same length.
pub fn duration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let strict = duration::parse(text);
    let lenient = IsoDuration::parse(text);
    if let Ok(value) = strict {
        assert!(text.starts_with('P') && text.is_ascii());
        assert_eq!(lenient.as_ref().map(IsoDuration::value), Ok(value));
        assert_eq!(lenient.as_ref().map(IsoDuration::as_str), Ok(text), "the client's spelling stays");
    }
    if let Ok(lenient) = lenient {
        assert_eq!(duration::parse(lenient.as_str()), Ok(lenient.value()), "what is stored is strict");
        assert_eq!(duration::parse(&duration::format(lenient.value())), Ok(lenient.value()));
    }
}

/// Times: what is read prints and reads back, and jiff agrees wherever both have an opinion.
pub fn time(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(relative) = Timestamp::parse_from(text, NOW) {
        assert!(relative <= Timestamp::MAX);
    }
    let Ok(time) = Timestamp::parse(text) else { return };
    assert_eq!(Timestamp::parse_from(text, NOW), Ok(time));
    let millis = time.as_millis();
    assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
    // Inside this range jiff reads every offset; before 1970 it rounds the other way. It stops at nine digits of a second.
    let digits = text.bytes().skip(20).take_while(u8::is_ascii_digit).count();
    if digits <= 9 && (0..253_000_000_000_000).contains(&millis) {
        // A leap second: jiff folds it back into the second before, we read on.
        let jiff: jiff::Timestamp = text.parse().unwrap_or_else(|e| panic!("jiff refuses {text:?}: {e}"));
        assert!(jiff.as_millisecond() == millis || text.get(17..19) == Some("60"), "{text:?}: jiff says {jiff}, we say {time}");
    }
}
