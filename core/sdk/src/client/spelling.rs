//! The options of a job in one spelling, in jobs that come as text: bindings write the form and the order their language likes.
use std::borrow::Cow;

use ojs_model::json::{members, push_member};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::policy::{complete_retry, complete_unique};

/// Options in the order in which every language sends them: that of [`JobRequest`](crate::JobRequest). Others follow by name.
const ORDER: [&str; 10] = [
    "queue",
    "priority",
    "timeout_ms",
    "delay_until",
    "expires_at",
    "visibility_timeout_ms",
    "pending",
    "tags",
    "retry",
    "unique",
];

/// The job with complete policies and its options in order; `None` when it is so already. `options` is a part of `job`. Policies of the
/// wrong type stay as they are: the server says best what is wrong.
pub(super) fn complete(job: &[u8], options: Option<&RawValue>) -> Option<Vec<u8>> {
    let options = options?.get();
    let given = members(options).ok()?;
    let mut wanted: Vec<(&str, Cow<'_, str>)> = given.iter().map(|(name, value)| (&**name, spelled(name, value))).collect();
    // Stable: a name that comes twice is the server's to judge.
    wanted.sort_by_key(|(name, _)| rank(name));
    if wanted.iter().zip(&given).all(|((name, value), (given_name, given_value))| name == given_name && value == given_value) {
        return None;
    }
    let mut text = String::with_capacity(options.len() + 64);
    text.push('{');
    for (name, value) in &wanted {
        push_member(&mut text, name, value);
    }
    text.push('}');
    // The options borrow from the job: their place is the distance between the two.
    let start = (options.as_ptr() as usize).checked_sub(job.as_ptr() as usize)?;
    let end = start + options.len();
    if job.get(start..end)? != options.as_bytes() {
        return None;
    }
    Some([job.get(..start)?, text.as_bytes(), job.get(end..)?].concat())
}

/// The place of an option: by [`ORDER`], then by name.
fn rank(name: &str) -> (usize, &str) {
    ORDER.iter().position(|known| *known == name).map_or((ORDER.len(), name), |place| (place, ""))
}

/// The value as it is sent: policies in full, anything else as it is.
fn spelled<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    let complete: fn(&mut Map<String, Value>) = match name {
        "retry" => complete_retry,
        "unique" => complete_unique,
        _ => return Cow::Borrowed(value),
    };
    let Ok(mut policy) = serde_json::from_str::<Map<String, Value>>(value) else { return Cow::Borrowed(value) };
    complete(&mut policy);
    Cow::Owned(Value::Object(policy).to_string())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn completed(job: &str) -> Option<String> {
        #[derive(Deserialize)]
        struct Head<'a> {
            #[serde(borrow)]
            options: Option<&'a RawValue>,
        }
        let head: Head<'_> = serde_json::from_str(job).unwrap();
        complete(job.as_bytes(), head.options).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn policies_are_completed_and_options_are_sorted() {
        assert_eq!(
            completed(
                r#"{"args":[1.0], "options": {"b":1e2,"unique":{"keys":["type"]},"a":{"x": 12345678901234567890123},
                    "retry":{"max_interval":"PT1M","backoff_coefficient":2.0},"queue":"q"}, "z":1}"#
            )
            .unwrap(),
            concat!(
                r#"{"args":[1.0], "options": {"queue":"q","retry":{"backoff_coefficient":2,"max_interval":"PT1M","max_interval_ms":60000},"#,
                r#""unique":{"key":["type"],"keys":["type"]},"a":{"x": 12345678901234567890123},"b":1e2}, "z":1}"#
            ),
        );
    }

    #[test]
    fn what_is_complete_or_wrong_is_left_alone() {
        for options in
            ["{}", "null", r#"{"retry":null}"#, r#"{"retry":5,"unique":[]}"#, r#"{"queue":"q","retry":{"max_attempts":3}}"#, "7"]
        {
            assert_eq!(completed(&format!(r#"{{"options":{options}}}"#)), None, "{options}");
        }
    }
}
