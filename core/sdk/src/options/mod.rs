//! The options of a job, as every language hands them over: JSON text. Names are checked, shorthands are written out, defaults of the
//! type are filled in, and the order is the same for all.
//!
//! | module | noun |
//! |---|---|
//! | [`names`] | the names that exist, and the nearest to a wrong one |
//! | [`values`] | shorthands, lengths of time, and values that mean nothing |
//! | [`tenant`] | the tenant of a job |
//! | [`train`] | the train of a job, from its options, its metadata and its type |
//! | [`defaults`] | what is set for a type of jobs once |
use std::borrow::Cow;

use ojs_model::json::{members, push_member, push_text};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::members::{Members, find};

pub mod defaults;
mod names;
mod tenant;
mod train;
mod values;

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

/// The job with its options checked, written out and in order; `None` when there is nothing to change. `options` is a part of `job`.
///
/// # Errors
/// [`Error::Validation`] that names the wrong option and says what is right.
pub(crate) fn complete(job: &[u8], job_type: &str, options: Option<&RawValue>) -> Result<Option<Vec<u8>>, Error> {
    let defaults = defaults::of(job_type);
    let given = match options.map(RawValue::get).filter(|text| *text != "null") {
        Some(text) => members(text).map_err(|_| Error::validation("options", "must be a JSON object of options"))?,
        None => Vec::new(),
    };
    if given.is_empty() && defaults.is_none() {
        return Ok(None);
    }
    let train = train::of(job, &given, defaults.as_deref().unwrap_or_default())?;
    let tenant = tenant::of(&given, defaults.as_deref().unwrap_or_default())?;
    let own = |name: &str| matches!(name, "train" | tenant::OPTION);
    let mut wanted = Vec::with_capacity(given.len());
    for (name, value) in given.iter().filter(|(name, _)| !own(name)) {
        wanted.extend(written(name, value)?);
    }
    wanted.extend(train.as_ref().map(|train| ("train".into(), train.option.as_str().into())));
    for (name, value) in defaults.iter().flat_map(|defaults| defaults.iter()).filter(|(name, _)| !own(name)) {
        let same = |other: &str| names::subject(other) == names::subject(name);
        if !given.iter().any(|(other, value)| *value != "null" && same(other)) {
            wanted.retain(|(other, _)| !same(other));
            wanted.extend(written(name, value)?);
        }
    }
    // Stable: a name that comes twice is the server's to judge.
    wanted.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)));
    if wanted.iter().zip(&given).all(|((name, value), (given_name, given_value))| name == given_name && value == given_value)
        && wanted.len() == given.len()
        && train.as_ref().is_none_or(|train| train.meta.is_none())
        && tenant.is_none()
    {
        return Ok(None);
    }
    let mut text = String::from("{");
    for (name, value) in &wanted {
        push_member(&mut text, name, value);
    }
    text.push('}');
    let mut job = put(job, options, &text)?;
    if let Some(meta) = train.as_ref().and_then(|train| train.meta.as_deref()) {
        job = with_meta(&job, meta)?;
    }
    if let Some(meta) = tenant.map(|tenant| tenant::noted(&job, &tenant)).transpose()?.flatten() {
        job = with_meta(&job, &meta)?;
    }
    Ok(Some(job))
}

/// Name and JSON text of an option.
type Member<'a> = (Cow<'a, str>, Cow<'a, str>);

/// One option as it is sent, under the name it has on the wire; nothing where the value says "none".
fn written<'a>(name: &'a str, value: &'a str) -> Result<Option<Member<'a>>, Error> {
    names::check(name)?;
    if value == "null" {
        return Ok(Some((Cow::Borrowed(name), Cow::Borrowed(value))));
    }
    values::written(name, value)
}

/// The job with these options in the place of its own, or in front where it has none.
fn put(job: &[u8], options: Option<&RawValue>, text: &str) -> Result<Vec<u8>, Error> {
    let wrong = || Error::validation("job", "must be a JSON object");
    let Some(options) = options.map(RawValue::get) else {
        let close = job.iter().rposition(|byte| *byte == b'}').ok_or_else(wrong)?;
        let before = job.get(..close).ok_or_else(wrong)?;
        let empty = before.iter().rev().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let comma: &[u8] = if empty { b"" } else { b"," };
        return Ok([before, comma, b"\"options\":", text.as_bytes(), b"}"].concat());
    };
    // The options borrow from the job: their place is the distance between the two.
    let start = (options.as_ptr() as usize).checked_sub(job.as_ptr() as usize).ok_or_else(wrong)?;
    let end = start + options.len();
    match (job.get(..start), job.get(start..end), job.get(end..)) {
        (Some(before), Some(own), Some(after)) if own == options.as_bytes() => Ok([before, text.as_bytes(), after].concat()),
        _ => Err(wrong()),
    }
}

/// The members of a job, and those of its metadata.
fn opened(job: &[u8]) -> Result<(Members<'_>, Members<'_>), Error> {
    let job = std::str::from_utf8(job).map_err(|_| Error::validation("job", "must be UTF-8"))?;
    let job = members(job).map_err(|_| Error::validation("job", "must be a JSON object"))?;
    // The server refuses metadata that is no object, and says why.
    let meta = find(&job, "meta").map_or_else(|| Ok(Vec::new()), members).unwrap_or_default();
    Ok((job, meta))
}

/// The metadata with these texts, each in the place of the member of its name, as a JSON object.
fn with_texts(meta: &Members<'_>, texts: &[(&str, &str)]) -> String {
    let mut out = String::from("{");
    for (name, value) in meta.iter().filter(|(name, _)| !texts.iter().any(|(other, _)| name == other)) {
        push_member(&mut out, name, value);
    }
    for (name, text) in texts {
        push_text(&mut out, name, text);
    }
    out.push('}');
    out
}

/// The job with this metadata, in the place of its own or behind the arguments.
fn with_meta(job: &[u8], meta: &str) -> Result<Vec<u8>, Error> {
    let wrong = || Error::validation("job", "must be a JSON object");
    let job = members(std::str::from_utf8(job).map_err(|_| wrong())?).map_err(|_| wrong())?;
    let has_meta = job.iter().any(|(name, _)| name == "meta");
    let mut out = String::from("{");
    let mut missing = !has_meta;
    for (name, value) in &job {
        if missing && matches!(name.as_ref(), "schema" | "options") {
            push_member(&mut out, "meta", meta);
            missing = false;
        }
        push_member(&mut out, name, if name == "meta" { meta } else { value });
    }
    out.push('}');
    Ok(out.into_bytes())
}

/// The place of an option: by [`ORDER`], then by name.
fn rank(name: &str) -> (usize, &str) {
    ORDER.iter().position(|known| *known == name).map_or((ORDER.len(), name), |place| (place, ""))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn completed(job: &str) -> Result<Option<String>, Error> {
        #[derive(Deserialize)]
        struct Head<'a> {
            #[serde(borrow)]
            options: Option<&'a RawValue>,
        }
        let head: Head<'_> = serde_json::from_str(job).unwrap();
        Ok(complete(job.as_bytes(), "", head.options)?.map(|text| String::from_utf8(text).unwrap()))
    }

    fn options(text: &str) -> String {
        let job = completed(&format!(r#"{{"options":{text}}}"#)).unwrap().unwrap();
        job.strip_prefix(r#"{"options":"#).unwrap().strip_suffix('}').unwrap().to_owned()
    }

    #[test]
    fn policies_are_completed_and_options_are_sorted() {
        assert_eq!(
            completed(
                r#"{"args":[1.0], "options": {"x_b":1e2,"unique":{"keys":["type"]},"x_a":{"x": 12345678901234567890123},
                    "retry":{"max_interval":"PT1M","backoff_coefficient":2.0},"queue":"q"}, "z":1}"#
            )
            .unwrap()
            .unwrap(),
            concat!(
                r#"{"args":[1.0], "options": {"queue":"q","retry":{"backoff_coefficient":2,"max_interval":"PT1M","max_interval_ms":60000},"#,
                r#""unique":{"key":["type"],"keys":["type"]},"x_a":{"x": 12345678901234567890123},"x_b":1e2}, "z":1}"#
            ),
        );
    }

    #[test]
    fn what_is_complete_is_left_alone() {
        for options in ["{}", "null", r#"{"retry":null}"#, r#"{"queue":"q","retry":{"max_attempts":3}}"#] {
            assert_eq!(completed(&format!(r#"{{"options":{options}}}"#)).unwrap(), None, "{options}");
        }
    }

    #[test]
    fn a_tenant_goes_into_the_metadata() {
        for (given, sent) in [
            (r#"{"args":[],"options":{"tenant":"acme"}}"#, r#"{"args":[],"meta":{"tenant_id":"acme"},"options":{}}"#),
            (
                r#"{"args":[],"meta":{"a":1e2},"options":{"queue":"q","tenant":"acme","train":"x"}}"#,
                concat!(
                    r#"{"args":[],"meta":{"a":1e2,"train_id":"x","tenant_id":"acme"},"#,
                    r#""options":{"queue":"q","train":{"id":"x"}}}"#
                ),
            ),
            (r#"{"meta":{"tenant_id":"a"},"options":{"tenant":"a"}}"#, r#"{"meta":{"tenant_id":"a"},"options":{}}"#),
        ] {
            assert_eq!(completed(given).unwrap().as_deref(), Some(sent));
        }
        for (given, part) in [
            (r#"{"options":{"tenant":"_acme"}}"#, "tenant"),
            (r#"{"options":{"tenant":7}}"#, "must be the id of a tenant"),
            (r#"{"meta":{"tenant_id":"b"},"options":{"tenant":"a"}}"#, "is 'a', but meta.tenant_id is \"b\""),
        ] {
            let error = completed(given).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_train_is_written_out_and_its_metadata_says_the_same() {
        for (given, sent) in [
            (
                r#"{"args":[],"options":{"train":"dest_123"}}"#,
                r#"{"args":[],"meta":{"train_id":"dest_123"},"options":{"train":{"id":"dest_123"}}}"#,
            ),
            (
                r#"{"args":[1.0],"meta":{"a":1e2,"train_id":"x"},"options":{"train":{"on_cancelled":"hold"},"queue":"q"}}"#,
                concat!(
                    r#"{"args":[1.0],"meta":{"a":1e2,"train_id":"x","train_on_cancelled":"hold"},"#,
                    r#""options":{"queue":"q","train":{"id":"x","on_cancelled":"hold"}}}"#
                ),
            ),
            (
                r#"{"args":[{"to":7}, "b"],"options":{"train":{"id":"dest_{to}.{1}","on_discarded":"advance"}}}"#,
                concat!(
                    r#"{"args":[{"to":7}, "b"],"meta":{"train_id":"dest_7.b","train_on_discarded":"advance"},"#,
                    r#""options":{"train":{"id":"dest_7.b","on_discarded":"advance"}}}"#
                ),
            ),
            (
                r#"{"args":[],"options":{"train":{"id":"x","cancel_active":"immediate","position":4,"role":"car"}}}"#,
                concat!(
                    r#"{"args":[],"meta":{"train_id":"x","train_cancel_active":"immediate"},"#,
                    r#""options":{"train":{"id":"x","cancel_active":"immediate"}}}"#
                ),
            ),
            (r#"{"args":[],"options":{"train":false}}"#, r#"{"args":[],"options":{}}"#),
        ] {
            let once = completed(given).unwrap().unwrap();
            assert_eq!(once, sent);
            assert_eq!(completed(&once).unwrap(), None, "{given}: what is complete stays as it is");
        }
    }

    #[test]
    fn a_train_that_is_wrong_is_refused_by_field_and_rule() {
        let long = format!("\"{}\"", "a".repeat(256));
        for (train, field, rule) in [
            (r#""""#, "train.id", "must be 1 to 255 letters"),
            (r#""_a""#, "train.id", "begin with a letter or a digit; got \"_a\""),
            (r#""a b""#, "train.id", "must be 1 to 255 letters"),
            (long.as_str(), "train.id", "must be 1 to 255 letters"),
            (r#""dest_{x}""#, "train.id", "names the argument 'x'"),
            (r#""dest_{x""#, "train.id", "brace without its pair"),
            ("{}", "train.id", "is missing"),
            ("7", "train", "must be the id of a train"),
            ("true", "train", "must be the id of a train"),
            (r#"{"id":7}"#, "train.id", "must be 1 to 255 letters"),
            (r#"{"id":"a","on_cancelled":"stop"}"#, "train.on_cancelled", "must be \"advance\" or \"hold\", got \"stop\""),
            (r#"{"id":"a","cancel_active":"hold"}"#, "train.cancel_active", "must be \"drain\" or \"immediate\", got \"hold\""),
            (r#"{"id":"a","on_discarded":true}"#, "train.on_discarded", "must be \"advance\" or \"hold\", got true"),
            (r#"{"id":"a","on_canceled":"hold"}"#, "train.on_canceled", "did you mean 'on_cancelled'?"),
            (r#"{"id":"b"}"#, "train.id", "is 'b', but meta.train_id is 'a'"),
        ] {
            let meta = if rule.contains("meta") { r#""meta":{"train_id":"a"},"# } else { "" };
            let error = completed(&format!(r#"{{"args":[],{meta}"options":{{"train":{train}}}}}"#)).unwrap_err();
            let Error::Validation { field: found, message } = error else { panic!("{train}: {error}") };
            assert!(found == field && message.contains(rule), "{train}: {found}: {message}");
        }
    }

    #[test]
    fn shorthands_are_written_out() {
        for (given, sent) in [
            (r#"{"retry":5}"#, r#"{"retry":{"max_attempts":5}}"#),
            (r#"{"unique":true}"#, r#"{"unique":{"key":["type","args"],"keys":["type","args"]}}"#),
            (r#"{"unique":false}"#, "{}"),
            (r#"{"timeout":"1h30m"}"#, r#"{"timeout_ms":5400000}"#),
            (r#"{"timeout_ms":"PT5M"}"#, r#"{"timeout_ms":300000}"#),
            (r#"{"visibility_timeout":"90s"}"#, r#"{"visibility_timeout_ms":90000}"#),
            (r#"{"result_ttl":"1h"}"#, r#"{"result_ttl":3600}"#),
            (r#"{"total_timeout":"PT1.5S"}"#, r#"{"total_timeout":2}"#),
            (r#"{"retry":{"initial_interval":"5m"}}"#, r#"{"retry":{"initial_interval":"PT5M","initial_interval_ms":300000}}"#),
            (r#"{"unique":{"period":"1h30m"}}"#, r#"{"unique":{"period":"PT1H30M","period_ms":5400000}}"#),
        ] {
            assert_eq!(options(given), sent, "{given}");
        }
        assert!(options(r#"{"delay":"5m"}"#).starts_with(r#"{"delay_until":"20"#));
    }
}
