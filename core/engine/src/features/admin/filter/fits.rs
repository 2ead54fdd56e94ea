//! Compares jobs with a search.
use ojs_model::json::{member, object};
use serde_json::Value;

use super::{Number, Part, Search, Sign, Term, What};
use crate::error::StoreError;
use crate::kernel::job::{Body, History, JobRow, flag};
use crate::store::tables::Tables;

/// Jobs whose contents are read at a time.
const CHUNK: usize = 100;

impl Search {
    /// Those of these rows that match, in their order: at most `wanted` of them, found in at most `bytes` bytes of what
    /// clients have sent. Where that ends before the last row, the second value is the number of rows that were looked
    /// at.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn sift(
        &self,
        tables: &mut dyn Tables,
        rows: Vec<JobRow>,
        wanted: usize,
        mut bytes: usize,
    ) -> Result<(Vec<JobRow>, Option<usize>), StoreError> {
        let (mut found, mut seen) = (Vec::new(), 0);
        let all = rows.len();
        let mut rows = rows.into_iter();
        loop {
            let chunk: Vec<JobRow> = rows.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return Ok((found, None));
            }
            let contents = self.contents(tables, &chunk)?;
            for (row, (body, history)) in chunk.into_iter().zip(contents) {
                seen += 1;
                bytes = bytes.saturating_sub(body.text.len() + history.errors.len());
                if self.fits(tables, &row, &body, &history)? {
                    found.push(row);
                }
                if (found.len() >= wanted || bytes == 0) && seen < all {
                    return Ok((found, Some(seen)));
                }
            }
        }
    }

    /// What the terms are compared with beside the rows: empty where it is not needed.
    fn contents(&self, tables: &mut dyn Tables, rows: &[JobRow]) -> Result<Vec<(Body, History)>, StoreError> {
        let may = |row: &&JobRow| self.terms.iter().all(|term| term.fits_row(row) != Some(false));
        let needs = |test: fn(&What) -> bool| self.terms.iter().any(|term| test(&term.what));
        let numbers = |wanted: bool, test: &dyn Fn(&JobRow) -> bool| -> Vec<i64> {
            rows.iter().filter(|row| wanted && test(row)).filter(may).map(|row| row.seq).collect()
        };
        let of_bodies = numbers(needs(What::needs_body), &|_| true);
        let of_errors = numbers(needs(What::needs_errors), &|row| row.has(flag::ERRORS));
        let mut bodies = tables.bodies(&of_bodies)?;
        let mut histories = tables.histories(&of_errors)?;
        let contents =
            |row: &JobRow| (bodies.remove(&row.seq).unwrap_or_default(), histories.remove(&row.seq).unwrap_or_default());
        Ok(rows.iter().map(contents).collect())
    }

    fn fits(&self, tables: &mut dyn Tables, row: &JobRow, body: &Body, history: &History) -> Result<bool, StoreError> {
        let whole = object(&body.text);
        for term in &self.terms {
            let fits = match (term.fits_row(row), &term.what) {
                (Some(fits), _) => fits,
                (None, What::Queues(names)) => {
                    let queue = tables.queue_by_num(row.queue)?.name;
                    names.iter().any(|name| *name == *queue) != term.not
                }
                (None, What::Types(patterns)) => {
                    let job_type = tables.job_type_name(row.job_type_id)?;
                    patterns.iter().any(|pattern| is_type(pattern, &job_type)) != term.not
                }
                (None, What::Text(text)) => {
                    let job_type = tables.job_type_name(row.job_type_id)?;
                    let found = job_type.contains(text)
                        || [Part::Args, Part::Meta].iter().any(|part| has_text(&whole, *part, text))
                        || latest_error(history).contains(text);
                    found != term.not
                }
                (None, what) => what.fits_contents(&whole, history) != term.not,
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Term {
    /// Whether the row alone matches; `None` where the row does not tell.
    fn fits_row(&self, row: &JobRow) -> Option<bool> {
        let fits = match &self.what {
            What::States(states) => states.contains(&row.state),
            What::Number(Number::Priority, sign, number) => sign.compare(i64::from(row.priority), *number),
            What::Number(Number::Attempt, sign, number) => sign.compare(i64::from(row.attempt), *number),
            What::Errors(_) if !row.has(flag::ERRORS) => false,
            _ => return None,
        };
        Some(fits != self.not)
    }
}

impl What {
    fn fits_contents(&self, whole: &str, history: &History) -> bool {
        match self {
            Self::Tags(tags) => {
                let own: Vec<String> = read(whole, "tags");
                tags.iter().any(|tag| own.contains(tag))
            }
            Self::Errors(texts) => {
                let error = latest_error(history);
                texts.iter().any(|text| error.contains(text))
            }
            Self::Within(part, texts) => texts.iter().any(|text| has_text(whole, *part, text)),
            Self::Member(part, path, values) => {
                let value: Value = read(whole, part.name());
                values.iter().any(|wanted| has_value(&value, path, wanted))
            }
            _ => false,
        }
    }
}

impl Sign {
    const fn compare(self, left: i64, right: i64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::More => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

/// A member of what the client sent; its default where it is missing or of another kind.
fn read<T: serde::de::DeserializeOwned + Default>(whole: &str, name: &str) -> T {
    member(whole, name).and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default()
}

fn is_type(pattern: &str, job_type: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == job_type, |start| job_type.starts_with(start))
}

/// Whether the JSON of a part contains a text in lower case. Strings with escapes are compared without them as well.
fn has_text(whole: &str, part: Part, text: &str) -> bool {
    let Some(raw) = member(whole, part.name()) else { return false };
    raw.to_lowercase().contains(text) || (raw.contains('\\') && strings_have(&read(whole, part.name()), text))
}

fn strings_have(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own.to_lowercase().contains(text),
        Value::Array(items) => items.iter().any(|item| strings_have(item, text)),
        Value::Object(members) => {
            members.iter().any(|(name, item)| name.to_lowercase().contains(text) || strings_have(item, text))
        }
        _ => false,
    }
}

/// Whether the value at a path is the wanted one. In a list, a number is a place, and any other name is looked for in
/// each item. The last step finds the items of a list as well.
fn has_value(value: &Value, path: &[String], wanted: &str) -> bool {
    let Some((step, rest)) = path.split_first() else {
        return match value {
            Value::String(own) => own == wanted,
            Value::Array(items) => items.iter().any(|item| !item.is_array() && has_value(item, path, wanted)),
            Value::Object(_) => false,
            Value::Null => wanted == "null",
            Value::Bool(own) => wanted == if *own { "true" } else { "false" },
            Value::Number(own) => own.to_string() == wanted,
        };
    };
    match value {
        Value::Object(members) => members.get(step).is_some_and(|inner| has_value(inner, rest, wanted)),
        Value::Array(items) => match step.parse::<usize>() {
            Ok(place) => items.get(place).is_some_and(|inner| has_value(inner, rest, wanted)),
            Err(_) => items.iter().any(|item| item.is_object() && has_value(item, path, wanted)),
        },
        _ => false,
    }
}

/// Type, code and message of the latest error, in lower case.
fn latest_error(history: &History) -> String {
    let errors: Vec<Value> = serde_json::from_str(&history.errors).unwrap_or_default();
    let text = |name: &str| errors.last().and_then(|error| error.get(name)?.as_str()).unwrap_or_default().to_lowercase();
    format!("{}\n{}\n{}", text("type"), text("code"), text("message"))
}
