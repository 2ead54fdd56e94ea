//! Lists: fetched page by page as far as they were asked for, shown as a table, or as JSON in one form for all of them:
//! `{"items": […], "total": 120, "next": 2}`, where `next` is what `--page` takes, and null at the end.
use std::collections::HashSet;

use clap::Args;
use ojs_model::json::{members, push_member};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::output::{Output, print, rows, text};
use crate::remote::{Remote, segment};

/// How many jobs, dead letters and workflows are listed when nothing else is asked for.
pub const FEW: usize = 50;
/// The same for what there are few of: queues, workers, keys with limits, cron entries.
pub const MANY: usize = 1_000;

/// How much of a list.
#[derive(Debug, Args)]
pub struct Cut {
    /// How many at most; 0 is all of them. [default: 50 jobs, dead letters or workflows; 1000 of everything else]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Which page of that size, from 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    page: usize,
}

/// How a server is asked for a part of a list.
#[derive(Debug, Clone, Copy)]
pub enum Paging {
    /// `page` and `per_page`, at most 100: the admin calls.
    Numbered,
    /// `per_page` and cursors from the beginning on: pages have no numbers.
    Cursors,
    /// `limit` and `offset`, at most this many.
    Offset(usize),
    /// There is no part: the answer has all of them.
    Whole,
}

/// Where a list comes from.
#[derive(Debug)]
pub struct Source {
    /// Path and filter.
    pub path: String,
    /// Names that servers give the list in their answers.
    pub members: &'static [&'static str],
    /// How parts are asked for.
    pub paging: Paging,
}

/// One thing of a list.
#[derive(Debug)]
pub struct Entry {
    /// As the server wrote it.
    raw: Box<RawValue>,
    /// The same, read.
    pub value: Value,
}

/// How many there are in all, as far as the server has counted.
#[derive(Debug, Clone, Copy)]
pub struct Total {
    number: u64,
    /// There may be more: the server counted among a part of them.
    is_least: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Listed {
    /// The part that was asked for.
    pub entries: Vec<Entry>,
    /// How many there are in all, when the server says so. Servers may stop counting somewhere.
    pub total: Option<Total>,
    /// Entries that were left out before the first.
    skipped: usize,
    /// The next page.
    pub next: Option<usize>,
    /// Whether the table says how many there are, also when nothing was left out.
    counted: bool,
}

/// One answer of the server.
struct Part {
    entries: Vec<Entry>,
    total: Option<Total>,
    more: bool,
    /// Where the list goes on, when the server has cursors. A part may be empty and have one.
    cursor: Option<String>,
}

impl Cut {
    /// Fetches this part of a list.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn of(&self, remote: &Remote, source: &Source, by_default: usize) -> Result<Listed, Failure> {
        let most = self.limit.unwrap_or(by_default);
        let skipped = self.skipped(most);
        let (entries, total, more) = source.take(remote, skipped, most).await?;
        Ok(Listed { entries, total, skipped, next: more.then_some(self.page.saturating_add(1)), counted: false })
    }

    /// Fetches this part of several lists put together, in the order of `before`.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn of_several(
        &self,
        remote: &Remote,
        sources: &[Source],
        before: fn(&Entry, &Entry) -> std::cmp::Ordering,
    ) -> Result<Listed, Failure> {
        let most = self.limit.unwrap_or(FEW);
        let skipped = self.skipped(most);
        let wanted = if most == 0 { 0 } else { skipped.saturating_add(most) };
        let (mut entries, mut total, mut more) = (Vec::new(), Some(Total::from(0)), false);
        for source in sources {
            let (found, counted, further) = source.take(remote, 0, wanted).await?;
            entries.extend(found);
            total = total.zip(counted).map(|(sum, more)| sum.plus(more));
            more |= further;
        }
        entries.sort_by(before);
        let mut entries: Vec<Entry> = entries.into_iter().skip(skipped).collect();
        if most > 0 && entries.len() > most {
            entries.truncate(most);
            more = true;
        }
        Ok(Listed { entries, total, skipped, next: more.then_some(self.page.saturating_add(1)), counted: false })
    }

    fn skipped(&self, most: usize) -> usize {
        most.saturating_mul(self.page.saturating_sub(1))
    }
}

impl From<u64> for Total {
    fn from(number: u64) -> Self {
        Self { number, is_least: false }
    }
}

impl Total {
    fn plus(self, other: Self) -> Self {
        Self { number: self.number + other.number, is_least: self.is_least || other.is_least }
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}{}", self.number, if self.is_least { " or more" } else { "" })
    }
}

impl Source {
    /// All entries.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn all(&self, remote: &Remote) -> Result<Vec<Entry>, Failure> {
        Ok(self.take(remote, 0, 0).await?.0)
    }

    /// The first entries, at most this many.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn first(&self, remote: &Remote, most: usize) -> Result<Vec<Entry>, Failure> {
        Ok(self.take(remote, 0, most).await?.0)
    }

    /// At most `most` entries (0 is all) after the first `skip`; how many there are in all, and whether some are left.
    async fn take(&self, remote: &Remote, skip: usize, most: usize) -> Result<(Vec<Entry>, Option<Total>, bool), Failure> {
        let largest = match self.paging {
            Paging::Numbered | Paging::Cursors => 100,
            Paging::Offset(largest) => largest,
            Paging::Whole => usize::MAX,
        };
        let size = if most == 0 { largest } else { most.min(largest) };
        let (mut number, mut drop) = if let Paging::Cursors = self.paging { (0, skip) } else { (skip / size, skip % size) };
        let (mut found, mut seen, mut total) = (Vec::new(), HashSet::new(), None);
        let mut cursor = None;
        loop {
            let part = self.part(remote, size, number, cursor.as_deref()).await?;
            total = part.total.or(total);
            // An empty part with a new cursor is not the end. A part that only repeats entries comes from a server
            // without cursors.
            let goes_on = part.entries.is_empty() && part.cursor.is_some() && part.cursor != cursor;
            cursor = part.cursor;
            // New entries push others to the next page while this walk goes on; and some servers know no pages, and answer with all again.
            let fresh: Vec<Entry> = part.entries.into_iter().filter(|entry| seen.insert(entry.name())).collect();
            let idle = fresh.is_empty() && !goes_on;
            let dropped = drop.min(fresh.len());
            found.extend(fresh.into_iter().skip(dropped));
            (number, drop) = (number + 1, drop - dropped);
            if most > 0 && found.len() >= most {
                let more = part.more || found.len() > most;
                found.truncate(most);
                return Ok((found, total, more));
            }
            if idle || !part.more {
                return Ok((found, total, false));
            }
        }
    }

    async fn part(&self, remote: &Remote, size: usize, number: usize, cursor: Option<&str>) -> Result<Part, Failure> {
        let sign = if self.path.contains('?') { '&' } else { '?' };
        let path = match (self.paging, cursor) {
            (Paging::Numbered | Paging::Cursors, Some(cursor)) => {
                format!("{}{sign}per_page={size}&cursor={}", self.path, segment(cursor))
            }
            (Paging::Offset(_), Some(cursor)) => format!("{}{sign}limit={size}&cursor={}", self.path, segment(cursor)),
            (Paging::Cursors, None) => format!("{}{sign}per_page={size}", self.path),
            (Paging::Numbered, None) => format!("{}{sign}per_page={size}&page={}", self.path, number + 1),
            (Paging::Offset(_), None) => format!("{}{sign}limit={size}&offset={}", self.path, number.saturating_mul(size)),
            (Paging::Whole, None) => self.path.clone(),
            (Paging::Whole, Some(cursor)) => format!("{}{sign}cursor={}", self.path, segment(cursor)),
        };
        let answer = remote.get(path).await?;
        let strange = |error: serde_json::Error| Failure::foreign(format!("the answer has no list that can be read: {error}"));
        let given = members(&answer.text).map_err(strange)?;
        let list = self.members.iter().find_map(|name| given.iter().find(|(member, raw)| member == name && *raw != "null"));
        let raw: Vec<Box<RawValue>> = match list {
            Some((_, raw)) => serde_json::from_str(raw).map_err(strange)?,
            None => Vec::new(),
        };
        let read = |raw: Box<RawValue>| Ok(Entry { value: serde_json::from_str(raw.get())?, raw });
        let entries = raw.into_iter().map(read).collect::<Result<Vec<_>, serde_json::Error>>().map_err(strange)?;
        let said = |name: &str| answer.value.pointer(&format!("/pagination/{name}"));
        let more = match said("has_more").and_then(Value::as_bool) {
            Some(more) => more,
            None => !matches!(self.paging, Paging::Whole) && entries.len() >= size,
        };
        let cursor = said("next_cursor").and_then(Value::as_str).map(str::to_owned);
        let more = more || cursor.is_some();
        let is_least = said("total_relation").is_some_and(|relation| relation == "gte");
        let total = said("total").and_then(Value::as_u64).map(|number| Total { number, is_least });
        Ok(Part { entries, total, more, cursor })
    }
}

#[cfg(test)]
impl From<Value> for Entry {
    fn from(value: Value) -> Self {
        Self { raw: serde_json::value::to_raw_value(&value).unwrap(), value }
    }
}

impl Entry {
    /// What distinguishes it from the others.
    fn name(&self) -> String {
        let named = ["/id", "/name", "/key", "/fingerprint"]
            .map(|path| text(&self.value, path))
            .into_iter()
            .find(|name| !name.is_empty());
        // Two tenants may give the same id.
        let tenant = text(&self.value, "/tenant_id");
        named.map_or_else(|| self.raw.get().to_owned(), |name| format!("{name}\n{tenant}"))
    }
}

impl Listed {
    /// The table says how many there are, also when nothing was left out.
    pub fn counted(self) -> Self {
        Self { counted: true, ..self }
    }

    /// Prints the list, and below the table what was left out and how to see it.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn show<const N: usize>(
        &self,
        output: Output,
        heading: &[&str; N],
        line: impl Fn(&Value) -> [String; N],
    ) -> Result<(), Failure> {
        if output.json {
            return print(&envelope(self.entries.iter().map(|entry| entry.raw.get()), self.total, self.next));
        }
        let mut table = rows(heading, self.entries.iter().map(|entry| line(&entry.value).to_vec()));
        if let Some(note) = self.note() {
            table.push('\n');
            table.push_str(&note);
        }
        print(&table)
    }

    /// What was left out.
    fn note(&self) -> Option<String> {
        if self.next.is_none() && self.skipped == 0 {
            let shown = self.entries.len();
            return self.counted.then(|| format!("{shown} of {}", self.total.unwrap_or_else(|| Total::from(shown as u64))));
        }
        let (first, last) = (self.skipped + 1, self.skipped + self.entries.len());
        let total = match self.total {
            // Counting stops somewhere, and jobs come and go meanwhile.
            Some(total) if self.next.is_some() && total.number <= last as u64 => format!("{last} or more"),
            Some(total) => total.to_string(),
            None if self.next.is_some() => "more".to_owned(),
            None => last.to_string(),
        };
        let shown = if self.entries.is_empty() { "none".to_owned() } else { format!("{first} to {last}") };
        let more = self.next.map(|page| format!("; all: --limit 0; more: --page {page}"));
        Some(format!("{shown} of {total}{}", more.unwrap_or_default()))
    }
}

/// The one JSON form of lists.
pub fn envelope<'a>(items: impl Iterator<Item = &'a str>, total: Option<Total>, next: Option<impl Into<Value>>) -> String {
    let mut out = String::from("{");
    push_member(&mut out, "items", &format!("[{}]", items.collect::<Vec<_>>().join(",")));
    if let Some(total) = total {
        push_member(&mut out, "total", &total.number.to_string());
        if total.is_least {
            push_member(&mut out, "total_relation", "\"gte\"");
        }
    }
    push_member(&mut out, "next", &next.map_or(Value::Null, Into::into).to_string());
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_a_lower_bound_says_so() {
        let total = Total { number: 120, is_least: true };
        let entries = vec![Entry::from(serde_json::json!({"id": "a"}))];
        let listed = Listed { entries, total: Some(total.plus(Total::from(3))), skipped: 0, next: Some(2), counted: false };
        assert_eq!(listed.note().as_deref(), Some("1 to 1 of 123 or more; all: --limit 0; more: --page 2"));
        let text = envelope(["{}"].into_iter(), Some(total), Some(2_u64));
        assert_eq!(text, r#"{"items":[{}],"total":120,"total_relation":"gte","next":2}"#);
        assert_eq!(envelope([].into_iter(), Some(Total::from(0)), None::<u64>), r#"{"items":[],"total":0,"next":null}"#);
    }
}
