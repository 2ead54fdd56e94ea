//! The train of a job: the jobs of one train run one after another (extensions section 30).
use std::borrow::Cow;

use crate::error::{ErrorCode, OjsError};
use crate::json::{push_member, push_text, string};
use crate::label::is_label;

/// Longest id of a train in bytes.
pub const MAX_TRAIN_ID_BYTES: usize = 255;

/// The members of `meta` that carry a train: its id, the two policies, and what a cancel of a running job does.
pub const META: [&str; 4] = ["train_id", "train_on_cancelled", "train_on_discarded", "train_cancel_active"];

/// The members of `train` in a rendered job that only a server writes. They are passed over, so that a job that was
/// read can be enqueued again.
const WRITTEN_BY_SERVER: [&str; 4] = ["position", "role", "ahead", "state"];

/// What a train does when the job that holds it ends without having completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnEnd {
    /// The next job of the train may run.
    #[default]
    Advance,
    /// The train is held until an operator decides.
    Hold,
}

/// When a job that is cancelled while it runs leaves its train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CancelActive {
    /// When its worker has let go of it: two handlers never work for one train at the same time.
    #[default]
    Drain,
    /// At once, although its handler may still run.
    Immediate,
}

/// The train that a job names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Train {
    /// Jobs with the same id are in the same train.
    pub id: String,
    /// What happens when the job is cancelled.
    pub on_cancelled: OnEnd,
    /// What happens when the job is discarded, or expires.
    pub on_discarded: OnEnd,
    /// When it leaves after it was cancelled while it ran.
    pub cancel_active: CancelActive,
}

/// The four members as one placement has them.
type Given<'a> = [Option<Cow<'a, str>>; 4];

/// Reads the train of a job from the option `train` and from `meta`. Both may name it; they must agree. Returns the
/// train, and `meta` with the members that only the option had.
///
/// ```
/// use ojs_model::train;
/// let (found, meta) = train::read(Some("\"dest_7\""), "{}".into())?;
/// assert_eq!(found.map(|train| train.id).as_deref(), Some("dest_7"));
/// assert_eq!(meta, r#"{"train_id":"dest_7"}"#);
/// # Ok::<(), ojs_model::OjsError>(())
/// ```
///
/// # Errors
/// 400 `invalid_request` with `details.field`.
pub fn read<'a>(option: Option<&'a str>, meta: Cow<'a, str>) -> Result<(Option<Train>, Cow<'a, str>), OjsError> {
    if option.is_none() && !meta.contains("train_id") {
        return Ok((None, meta));
    }
    let in_option = option.map(from_option).transpose()?.unwrap_or_default();
    let known = crate::json::members(&meta).unwrap_or_default();
    let in_meta = from_meta(&known)?;
    let mut wanted: Given<'_> = Default::default();
    let mut missing = Vec::new();
    for (((name, slot), option), meta) in META.into_iter().zip(&mut wanted).zip(in_option).zip(in_meta) {
        match (&option, &meta) {
            (Some(option), Some(meta)) if option != meta => {
                let message = format!("options.train says '{option}' and meta.{name} says '{meta}'; they must be the same.");
                return Err(invalid(if name == "train_id" { "train.id" } else { option_field(name) }, message));
            }
            (Some(option), None) => missing.push((name, option.clone())),
            _ => {}
        }
        *slot = option.or(meta);
    }
    let [id, on_cancelled, on_discarded, cancel_active] = wanted;
    let Some(id) = id else { return Ok((None, meta)) };
    check_train_id("train.id", &id)?;
    let train = Train {
        id: id.into_owned(),
        on_cancelled: policy("train.on_cancelled", on_cancelled.as_deref())?,
        on_discarded: policy("train.on_discarded", on_discarded.as_deref())?,
        cancel_active: match cancel_active.as_deref() {
            None | Some("drain") => CancelActive::Drain,
            Some("immediate") => CancelActive::Immediate,
            Some(other) => return Err(one_of("train.cancel_active", "drain or immediate", other)),
        },
    };
    if missing.is_empty() {
        drop(known);
        return Ok((Some(train), meta));
    }
    let mut named = String::from("{");
    known.iter().for_each(|(name, raw)| push_member(&mut named, name, raw));
    missing.iter().for_each(|(name, value)| push_text(&mut named, name, value));
    named.push('}');
    Ok((Some(train), Cow::Owned(named)))
}

/// The option: an id, or an object.
fn from_option(raw: &str) -> Result<Given<'_>, OjsError> {
    if raw.starts_with('"') {
        return Ok([string(raw), None, None, None]);
    }
    let shape = || invalid("train", "train must be the id of a train, or an object {id, on_cancelled, on_discarded}.");
    if !raw.starts_with('{') {
        return Err(shape());
    }
    let mut given: Given<'_> = Default::default();
    for (name, raw) in crate::json::members(raw).map_err(|_| shape())?.into_iter().filter(|(_, raw)| *raw != "null") {
        let place = match &*name {
            "id" => 0,
            "on_cancelled" => 1,
            "on_discarded" => 2,
            "cancel_active" => 3,
            other if WRITTEN_BY_SERVER.contains(&other) => continue,
            other => {
                let known = "id, on_cancelled, on_discarded and cancel_active";
                let message = format!("train.{} is not known; a train has {known}.", crate::envelope::shorten(other));
                return Err(invalid("train", message));
            }
        };
        let text = string(raw).ok_or_else(|| invalid(&format!("train.{name}"), format!("train.{name} must be a string.")))?;
        given.get_mut(place).into_iter().for_each(|slot| *slot = Some(text.clone()));
    }
    if given.first().is_some_and(Option::is_none) {
        return Err(invalid("train.id", "train.id is required: the id of the train, such as dest_7."));
    }
    Ok(given)
}

fn from_meta<'a>(known: &'a [(Cow<'_, str>, &'a str)]) -> Result<Given<'a>, OjsError> {
    let mut given: Given<'a> = Default::default();
    for (slot, wanted) in given.iter_mut().zip(META) {
        let Some((_, raw)) = known.iter().find(|(name, raw)| name == wanted && *raw != "null") else { continue };
        let text = string(raw);
        let field = format!("meta.{wanted}");
        *slot = Some(text.ok_or_else(|| invalid(&field, format!("{field} must be a string: a job with it is in a train.")))?);
    }
    Ok(given)
}

const fn option_field(name: &str) -> &'static str {
    match name.as_bytes() {
        b"train_on_cancelled" => "train.on_cancelled",
        b"train_on_discarded" => "train.on_discarded",
        _ => "train.cancel_active",
    }
}

fn policy(field: &str, word: Option<&str>) -> Result<OnEnd, OjsError> {
    match word {
        None | Some("advance") => Ok(OnEnd::Advance),
        Some("hold") => Ok(OnEnd::Hold),
        Some(other) => Err(one_of(field, "advance or hold", other)),
    }
}

fn one_of(field: &str, words: &str, got: &str) -> OjsError {
    invalid(field, format!("{field} must be {words}, got '{}'.", crate::envelope::shorten(got)))
}

/// Checks the id of a train: a letter or digit, then letters, digits, `.`, `_`, `:` and `-`, at most 255 bytes.
///
/// ```
/// use ojs_model::train::check_train_id;
/// assert!(check_train_id("train.id", "dest_7").is_ok());
/// assert!(check_train_id("train.id", "two words").is_err());
/// ```
///
/// # Errors
/// 400 `invalid_request` with this field.
pub fn check_train_id(field: &str, id: &str) -> Result<(), OjsError> {
    if is_label(id, MAX_TRAIN_ID_BYTES) {
        return Ok(());
    }
    let message = format!(
        "{field} must be letters, digits, '.', '_', ':' and '-', starting with a letter or digit, at most {MAX_TRAIN_ID_BYTES} \
         bytes, got '{}'.",
        crate::envelope::shorten(id)
    );
    Err(invalid(field, message))
}

fn invalid(field: &str, message: impl Into<String>) -> OjsError {
    OjsError::new(ErrorCode::InvalidRequest, message).with_details(serde_json::json!({"field": field}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(option: Option<&str>, meta: &str) -> Result<(Option<Train>, String), OjsError> {
        read(option, meta.into()).map(|(train, meta)| (train, meta.into_owned()))
    }

    #[test]
    fn both_spellings_name_the_same_train() {
        let named = |id: &str| Train {
            id: id.into(),
            on_cancelled: OnEnd::Advance,
            on_discarded: OnEnd::Advance,
            cancel_active: CancelActive::Drain,
        };
        assert_eq!(train(None, "{}").unwrap(), (None, "{}".into()));
        for (option, meta) in [
            (Some(r#""t""#), "{}"),
            (Some(r#"{"id":"t"}"#), "{}"),
            (None, r#"{"train_id":"t"}"#),
            (Some(r#""t""#), r#"{"train_id":"t"}"#),
        ] {
            assert_eq!(train(option, meta).unwrap(), (Some(named("t")), r#"{"train_id":"t"}"#.into()), "{option:?} {meta}");
        }
        let rendered = r#"{"id":"t","position":4,"role":"car","ahead":1,"state":"running"}"#;
        assert_eq!(train(Some(rendered), "{}").unwrap().0, Some(named("t")), "a job that was read can be enqueued again");
        let (found, meta) = train(Some(r#"{"id":"t","on_cancelled":"hold","cancel_active":"immediate"}"#), r#"{"a":1}"#).unwrap();
        let found = found.unwrap();
        assert_eq!((found.on_cancelled, found.on_discarded), (OnEnd::Hold, OnEnd::Advance));
        assert_eq!(found.cancel_active, CancelActive::Immediate);
        assert_eq!(meta, r#"{"a":1,"train_id":"t","train_on_cancelled":"hold","train_cancel_active":"immediate"}"#);
        assert_eq!(train(None, &meta).unwrap().0, Some(found));
    }

    #[test]
    fn faults_name_their_field() {
        let long = format!("\"{}\"", "x".repeat(256));
        for (option, meta, field) in [
            (Some("7"), "{}", "train"),
            (Some("{}"), "{}", "train.id"),
            (Some(r#"{"id":7}"#), "{}", "train.id"),
            (Some(r#""""#), "{}", "train.id"),
            (Some(r#""-t""#), "{}", "train.id"),
            (Some(r#""a b""#), "{}", "train.id"),
            (Some(r#""ä""#), "{}", "train.id"),
            (Some(long.as_str()), "{}", "train.id"),
            (Some(r#"{"id":"t","on_canceled":"hold"}"#), "{}", "train"),
            (Some(r#"{"id":"t","on_cancelled":"stop"}"#), "{}", "train.on_cancelled"),
            (Some(r#"{"id":"t","on_discarded":""}"#), "{}", "train.on_discarded"),
            (Some(r#"{"id":"t","cancel_active":"x"}"#), "{}", "train.cancel_active"),
            (Some(r#""t""#), r#"{"train_id":"u"}"#, "train.id"),
            (Some(r#"{"id":"t","on_discarded":"hold"}"#), r#"{"train_on_discarded":"advance"}"#, "train.on_discarded"),
            (None, r#"{"train_id":7}"#, "meta.train_id"),
            (None, r#"{"train_id":"t","train_on_cancelled":true}"#, "meta.train_on_cancelled"),
        ] {
            let error = train(option, meta).unwrap_err();
            let told = error.details.as_ref().map(|details| details["field"].clone());
            assert_eq!((error.code.as_ref(), told), ("invalid_request", Some(field.into())), "{option:?} {meta}");
        }
    }
}
