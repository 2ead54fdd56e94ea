//! Reads the text of a search. What cannot be read is refused with its place: a misspelt filter must not find all jobs.
use ojs_model::duration::length;
use ojs_model::{ErrorCode, OjsError, Timestamp};
use serde_json::json;

use super::{Number, Part, Search, Sign, Term, What};
use crate::http::terms;

/// Names that terms begin with.
const NAMES: &str =
    "state, queue, type, tenant, tag, error, priority, attempt, since, until, args, args.NAME, meta and meta.NAME";
/// Characters of a search.
const MAX_LENGTH: usize = 2_000;
/// Terms of a search.
const MAX_TERMS: usize = 20;

/// One word of the text, without its sign and its quotes.
struct Word<'a> {
    /// The word as the client has written it.
    raw: &'a str,
    /// Where it begins, in characters.
    at: usize,
    not: bool,
    /// What stands before the colon; none for a plain text.
    name: Option<String>,
    value: String,
    /// The value was in quotes: its commas are part of it.
    quoted: bool,
}

impl Word<'_> {
    fn fault(&self, message: impl std::fmt::Display) -> OjsError {
        OjsError::new(ErrorCode::InvalidRequest, format!("In the search, '{}': {message}", self.raw))
            .with_details(json!({"field": "q", "word": self.raw, "at": self.at}))
    }

    fn values(&self) -> Result<Vec<String>, OjsError> {
        let values: Vec<String> = if self.quoted {
            vec![self.value.clone()]
        } else {
            self.value.split(',').filter(|value| !value.is_empty()).map(str::to_owned).collect()
        };
        if values.is_empty() { Err(self.fault("a value is missing after the colon.")) } else { Ok(values) }
    }

    fn lower(&self) -> Result<Vec<String>, OjsError> {
        Ok(self.values()?.iter().map(|value| value.to_lowercase()).collect())
    }

    /// An error of a value, as one of this word.
    fn of<T>(&self, result: Result<T, OjsError>) -> Result<T, OjsError> {
        result.map_err(|error| self.fault(error.message))
    }
}

impl Search {
    /// Reads a search. Durations in it (`since:2h`) end at `now`.
    ///
    /// # Errors
    /// 400 with the word that cannot be used, and its place.
    pub fn read(text: &str, now: Timestamp) -> Result<Self, OjsError> {
        let long = text.chars().count() > MAX_LENGTH;
        let words = words(text)?;
        if long || words.len() > MAX_TERMS {
            let message = format!("A search has at most {MAX_TERMS} terms and {MAX_LENGTH} characters.");
            return Err(terms::invalid("q", message));
        }
        let mut search = Self::default();
        for word in &words {
            search.add(word, now)?;
        }
        Ok(search)
    }

    fn add(&mut self, word: &Word<'_>, now: Timestamp) -> Result<(), OjsError> {
        let what = match word.name.as_deref() {
            None => What::Text(word.value.to_lowercase()),
            Some("state") => {
                let states = word.values()?.iter().map(|value| terms::state(value)).collect();
                What::States(word.of(states)?)
            }
            Some("queue") => What::Queues(word.values()?),
            Some("type") => {
                let types = word.values()?.iter().map(|value| terms::job_type(value)).collect();
                What::Types(word.of(types)?)
            }
            Some("tag") => What::Tags(word.values()?),
            Some("error") => What::Errors(word.lower()?),
            Some("priority") => number(word, Number::Priority)?,
            Some("attempt") => number(word, Number::Attempt)?,
            Some("args") => What::Within(Part::Args, word.lower()?),
            Some("meta") => What::Within(Part::Meta, word.lower()?),
            Some("tenant" | "since" | "until") => return self.bound(word, now),
            Some(name) => match member(name) {
                Some((part, path)) => What::Member(part, path, word.values()?),
                None => {
                    return Err(
                        word.fault(format!("'{name}:' is not a word of the search. Use {NAMES}, or put a text in quotes."))
                    );
                }
            },
        };
        self.terms.push(Term { not: word.not, what });
        Ok(())
    }

    /// A term that bounds the whole list: it cannot be negated, and is allowed once.
    fn bound(&mut self, word: &Word<'_>, now: Timestamp) -> Result<(), OjsError> {
        let name = word.name.as_deref().unwrap_or_default();
        if word.not {
            return Err(word.fault(format!("'{name}:' cannot be excluded.")));
        }
        let [value] = &*word.values()? else { return Err(word.fault(format!("'{name}:' has one value."))) };
        let is_first = match name {
            "tenant" => self.tenant.replace(value.clone()).is_none(),
            "since" => self.since.replace(moment(word, value, now)?).is_none(),
            _ => self.until.replace(moment(word, value, now)?).is_none(),
        };
        if is_first { Ok(()) } else { Err(word.fault(format!("'{name}:' is there twice."))) }
    }
}

/// The words of a text. Blanks within quotes do not end one.
fn words(text: &str) -> Result<Vec<Word<'_>>, OjsError> {
    let (mut found, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(found);
        }
        let mut in_quotes = false;
        let end = rest.find(|c: char| {
            in_quotes ^= c == '"';
            c.is_whitespace() && !in_quotes
        });
        let (raw, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let at = text.chars().count() - rest.chars().count();
        found.push(word(raw, at)?);
        rest = behind;
    }
}

fn word(raw: &str, at: usize) -> Result<Word<'_>, OjsError> {
    let (not, plain) = raw.strip_prefix('-').filter(|plain| !plain.is_empty()).map_or((false, raw), |plain| (true, plain));
    let is_name = |name: &str| !name.is_empty() && !name.contains('"') && name.starts_with(|c: char| c.is_ascii_lowercase());
    let (name, value) = match plain.split_once(':').filter(|(name, _)| is_name(name)) {
        Some((name, value)) => (Some(name.to_owned()), value),
        None => (None, plain),
    };
    let quoted = value.starts_with('"');
    let inner = value.strip_prefix('"').map_or(Some(value), |inner| inner.strip_suffix('"'));
    let mut word = Word { raw, at, not, name, value: value.to_owned(), quoted };
    match inner.filter(|inner| !inner.contains('"')) {
        Some(inner) if !inner.is_empty() => word.value = inner.to_owned(),
        Some(_) => return Err(word.fault("a value is missing.")),
        None => return Err(word.fault("quotes stand around a whole value.")),
    }
    Ok(word)
}

/// `args.0.email` as a part of the job and a path in it.
fn member(name: &str) -> Option<(Part, Vec<String>)> {
    let (part, path) = name.split_once('.')?;
    let part = [Part::Args, Part::Meta].into_iter().find(|known| known.name() == part)?;
    let path: Vec<String> = path.split('.').map(str::to_owned).collect();
    path.iter().all(|step| !step.is_empty()).then_some((part, path))
}

/// `>3`, `<=-5` or `7`.
fn number(word: &Word<'_>, of: Number) -> Result<What, OjsError> {
    let signs = [(">=", Sign::AtLeast), ("<=", Sign::AtMost), (">", Sign::More), ("<", Sign::Less), ("", Sign::Equal)];
    let found = signs.iter().find_map(|(text, sign)| Some((word.value.strip_prefix(text)?, *sign)));
    let read = found.and_then(|(number, sign)| Some(What::Number(of, sign, number.parse().ok()?)));
    read.ok_or_else(|| word.fault("a whole number belongs here, such as 3 or >=3."))
}

/// A time, or how long before now: `2026-11-24T03:00:00Z`, `90s`, `2h`, `7d`, `PT2H`.
fn moment(word: &Word<'_>, value: &str, now: Timestamp) -> Result<i64, OjsError> {
    if let Ok(ago) = length(value) {
        return Ok(now.as_millis().saturating_sub(i64::try_from(ago.as_millis()).unwrap_or(i64::MAX)));
    }
    let fault = |_| word.fault("a time belongs here (2026-01-31T00:00:00Z), or a length such as 90s, 2h or 7d.");
    Timestamp::parse(value).map(Timestamp::as_millis).map_err(fault)
}
