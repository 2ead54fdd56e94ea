//! Policies in every spelling in use, in jobs that come as text: bindings write the form their language likes.
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::policy::{complete_retry, complete_unique};

#[derive(Deserialize)]
struct Policies<'a> {
    #[serde(borrow, default)]
    retry: Option<&'a RawValue>,
    #[serde(borrow, default)]
    unique: Option<&'a RawValue>,
}

/// The job with complete policies; `None` when there is nothing to add. `options` is a part of `job`. Policies of the
/// wrong type stay as they are: the server says best what is wrong.
pub(super) fn complete(job: &[u8], options: Option<&RawValue>) -> Option<Vec<u8>> {
    let policies: Policies<'_> = serde_json::from_str(options?.get()).ok()?;
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    changes.extend(policies.retry.and_then(|raw| change(job, raw, complete_retry)));
    changes.extend(policies.unique.and_then(|raw| change(job, raw, complete_unique)));
    if changes.is_empty() {
        return None;
    }
    // From the end, so that earlier places stay where they are.
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut out = job.to_vec();
    for (place, text) in changes {
        out.splice(place, text.into_bytes());
    }
    Some(out)
}

/// Where the policy stands in the job, and what belongs there.
fn change(job: &[u8], raw: &RawValue, complete: fn(&mut Map<String, Value>)) -> Option<(Range<usize>, String)> {
    let before: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    let mut after = before.clone();
    complete(&mut after);
    if after == before {
        return None;
    }
    // The raw value borrows from the job: its place is the distance between the two.
    let start = (raw.get().as_ptr() as usize).checked_sub(job.as_ptr() as usize)?;
    let place = start..start + raw.get().len();
    (job.get(place.clone())? == raw.get().as_bytes()).then(|| (place, Value::Object(after).to_string()))
}

#[cfg(test)]
mod tests {
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
    fn both_policies_are_completed_in_place() {
        assert_eq!(
            completed(r#"{"args":[1.0],"options":{"unique":{"keys":["type"]},"retry":{"max_interval":"PT1M"},"queue":"q"}}"#)
                .unwrap(),
            r#"{"args":[1.0],"options":{"unique":{"key":["type"],"keys":["type"]},"retry":{"max_interval":"PT1M","max_interval_ms":60000},"queue":"q"}}"#,
        );
    }

    #[test]
    fn what_is_complete_or_wrong_is_left_alone() {
        for options in ["{}", "null", r#"{"retry":null}"#, r#"{"retry":5,"unique":[]}"#, r#"{"retry":{"max_attempts":3}}"#, "7"] {
            assert_eq!(completed(&format!(r#"{{"options":{options}}}"#)), None, "{options}");
        }
    }
}
