//! The option `train`: the jobs of one train run one after the other, in the order in which they were stored
//! (extensions section 30).
//!
//! It is written as an id, `"dest_123"`, or as an object with `id`, `on_cancelled`, `on_discarded` and `cancel_active`.
//! What the option leaves out comes from the metadata (`train_id`, `train_on_cancelled`, …), then from what is set for
//! the job's type. On the wire it is always the object, and the metadata says the same.
use std::borrow::Cow;

use ojs_model::json::{members, push_string, push_text, string};
use ojs_model::label::is_label;
use ojs_model::train::MAX_TRAIN_ID_BYTES;

use super::names::{self, Kind};
use super::{Member, opened, with_texts};
use crate::error::Error;
use crate::members::{Members, find};

/// The members of the option, and what each is called in the metadata.
const PARTS: [(&str, &str); 4] = [
    ("id", "train_id"),
    ("on_cancelled", "train_on_cancelled"),
    ("on_discarded", "train_on_discarded"),
    ("cancel_active", "train_cancel_active"),
];
const ID_RULE: &str = "must be 1 to 255 letters, digits, '.', '_', ':' or '-', and begin with a letter or a digit";

/// What a job says about its train.
#[derive(Debug, Default, PartialEq, Eq)]
struct Train<'a> {
    /// In the order of [`PARTS`].
    parts: [Option<Cow<'a, str>>; 4],
}

/// The train of a job on its way to the server.
pub(super) struct Joined {
    /// The option, as a JSON object.
    pub option: String,
    /// The job's metadata, where it did not say the same yet.
    pub meta: Option<String>,
}

/// The train of this job, from its options and from those of its type; `None` when it runs in no train.
///
/// # Errors
/// [`Error::Validation`] for a train without an id, an id or policy that breaks its rule, or metadata that says
/// otherwise.
pub(super) fn of(job: &[u8], given: &Members<'_>, of_type: &[(String, String)]) -> Result<Option<Joined>, Error> {
    let option = given.iter().find(|(name, _)| name == "train").map(|(_, value)| *value).filter(|value| *value != "null");
    let of_type = of_type.iter().find(|(name, _)| name == "train").map(|(_, value)| value.as_str());
    if option.is_none_or(|value| value == "false") && (option.is_some() || of_type.is_none()) {
        return Ok(None);
    }
    let (job, meta) = opened(job)?;
    let own = option.map(read).transpose()?;
    let of_type = of_type.map(read).transpose()?;
    let train = merged(own.as_ref(), &meta, of_type.as_ref())?;
    let Some(id) = train.part("id") else {
        let why = "is missing: name the train, such as train: 'dest_123' or {\"id\": \"dest_123\", \"on_cancelled\": \"hold\"}";
        return if own.is_some() { Err(Error::validation("train.id", why)) } else { Ok(None) };
    };
    let id = filled(id, &job)?;
    check_id(&id)?;
    let [_, policies @ ..] = &train.parts;
    let [on_cancelled, on_discarded, cancel_active] = policies.clone();
    let train = Train { parts: [Some(id.as_ref().into()), on_cancelled, on_discarded, cancel_active] };
    Ok(Some(Joined { option: train.option(), meta: train.meta(&meta) }))
}

/// Checks a train that is set for all jobs of a type: it may leave out the id, or name arguments in it.
///
/// # Errors
/// [`Error::Validation`] that names the wrong member.
pub(super) fn checked<'a>(name: &'a str, value: &'a str) -> Result<Option<Member<'a>>, Error> {
    if value == "false" {
        return Ok(None);
    }
    if let Some(id) = read(value)?.part("id") {
        // With an argument in each place, as ids that are filled in have.
        check_id(&replaced(id, |_| Ok("0".to_owned()))?)?;
    }
    Ok(Some((Cow::Borrowed(name), Cow::Borrowed(value))))
}

/// The option as a program has written it.
fn read(value: &str) -> Result<Train<'_>, Error> {
    if let Some(id) = string(value) {
        return Ok(Train { parts: [Some(id), None, None, None] });
    }
    let wrong = || Error::validation("train", "must be the id of a train, or an object with id, on_cancelled and on_discarded");
    let given = members(value).map_err(|_| wrong())?;
    given.iter().try_for_each(|(name, _)| KIND.check("train", name))?;
    let mut train = Train::default();
    for ((name, _), part) in PARTS.iter().zip(&mut train.parts) {
        *part = find(&given, name).map(|value| word(name, value)).transpose()?;
    }
    Ok(train)
}

const KIND: &Kind = &names::TRAIN;

/// The text of a member; all but the id are one of two words.
fn word<'a>(name: &'static str, value: &'a str) -> Result<Cow<'a, str>, Error> {
    let text = string(value);
    let words = if name == "cancel_active" { ["drain", "immediate"] } else { ["advance", "hold"] };
    let [first, second] = words;
    match (name, text) {
        ("id", Some(text)) => Ok(text),
        ("id", None) => Err(Error::validation("train.id", format!("{ID_RULE}; got {}", shown(value)))),
        (_, Some(text)) if words.contains(&text.as_ref()) => Ok(text),
        _ => {
            let why = format!("must be \"{first}\" or \"{second}\", got {}", shown(value));
            Err(Error::validation(format!("train.{name}"), why))
        }
    }
}

/// The beginning of a value, for messages.
fn shown(value: &str) -> String {
    value.chars().take(40).collect()
}

/// Option, metadata, type: the first that names a member decides, but option and metadata must not contradict each
/// other.
fn merged<'a>(own: Option<&Train<'a>>, meta: &Members<'a>, of_type: Option<&Train<'a>>) -> Result<Train<'a>, Error> {
    let mut train = Train::default();
    for (index, ((name, in_meta), part)) in PARTS.iter().zip(&mut train.parts).enumerate() {
        let of = |train: Option<&Train<'a>>| train.and_then(|train| train.parts.get(index).cloned().flatten());
        let noted = find(meta, in_meta).map(|value| word(name, value)).transpose()?;
        *part = match (of(own), noted) {
            (Some(own), Some(noted)) if own != noted && !own.contains('{') => {
                let why = format!("is '{own}', but meta.{in_meta} is '{noted}': say it once");
                return Err(Error::validation(format!("train.{name}"), why));
            }
            (_, Some(noted)) => Some(noted),
            (Some(own), None) => Some(own),
            (None, None) => of(of_type),
        };
    }
    Ok(train)
}

impl Train<'_> {
    fn part(&self, wanted: &str) -> Option<&str> {
        PARTS.iter().zip(&self.parts).find(|((name, _), _)| *name == wanted).and_then(|(_, part)| part.as_deref())
    }

    /// As it is sent.
    fn option(&self) -> String {
        let mut out = String::from("{");
        for ((name, _), part) in PARTS.iter().zip(&self.parts) {
            if let Some(text) = part {
                push_text(&mut out, name, text);
            }
        }
        out.push('}');
        out
    }

    /// The metadata with what the option says; `None` when it is there already.
    fn meta(&self, given: &Members<'_>) -> Option<String> {
        let said = PARTS.iter().zip(&self.parts).filter_map(|((_, in_meta), part)| Some((*in_meta, part.as_deref()?)));
        let missing: Vec<_> = said.filter(|(name, _)| find(given, name).is_none()).collect();
        (!missing.is_empty()).then(|| with_texts(given, &missing))
    }
}

fn check_id(id: &str) -> Result<(), Error> {
    if is_label(id, MAX_TRAIN_ID_BYTES) {
        return Ok(());
    }
    let mut got = String::new();
    push_string(&mut got, &shown(id));
    Err(Error::validation("train.id", format!("{ID_RULE}; got {got}")))
}

/// The id with arguments in the places that it names: `dest_{destination_id}` takes the member of the first argument,
/// `dest_{0}` the first argument itself.
fn filled<'a>(id: &'a str, job: &Members<'_>) -> Result<Cow<'a, str>, Error> {
    if !id.contains(['{', '}']) {
        return Ok(Cow::Borrowed(id));
    }
    let args: Vec<&serde_json::value::RawValue> =
        find(job, "args").and_then(|args| serde_json::from_str(args).ok()).unwrap_or_default();
    let argument = |name: &str| match name.parse::<usize>() {
        Ok(place) => args.get(place).map(|value| value.get()),
        Err(_) => args.first().and_then(|first| find(&members(first.get()).ok()?, name)),
    };
    let text = |name: &str| {
        let value = argument(name).filter(|value| !value.starts_with(['{', '[', 'n', 't', 'f']));
        let value = value.map(|value| string(value).map_or_else(|| value.to_owned(), Cow::into_owned));
        value.ok_or_else(|| {
            Error::validation("train.id", format!("names the argument '{name}', which must be there and a text or a number"))
        })
    };
    replaced(id, text).map(Cow::Owned)
}

/// The id with what each pair of braces stands for.
fn replaced(id: &str, mut value: impl FnMut(&str) -> Result<String, Error>) -> Result<String, Error> {
    let (mut out, mut rest) = (String::with_capacity(id.len()), id);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
            Error::validation("train.id", "has a brace without its pair: an argument is named as in 'dest_{destination_id}'")
        })?;
        out.push_str(before);
        out.push_str(&value(name)?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}
