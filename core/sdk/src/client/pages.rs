//! Lists that come in pages, read to their end: what a client gives as a list has all of its entries.
use bytes::Bytes;
use ojs_model::json::{known_members, push_member};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Client;
use super::path::segment;
use crate::error::Error;
use crate::transport::Method;

/// What the query of a path says when all pages are wanted. It is not sent.
const ALL: &str = "pages=all";

/// The path without the wish for all pages; `None` when it has no such wish.
pub(super) fn without_wish(path: &str) -> Option<String> {
    let (place, query) = path.split_once('?')?;
    let sent: Vec<_> = query.split('&').filter(|pair| *pair != ALL).collect();
    match sent.len() == query.split('&').count() {
        true => None,
        false if sent.is_empty() => Some(place.to_owned()),
        false => Some(format!("{place}?{}", sent.join("&"))),
    }
}

/// How a list goes on.
#[derive(Default, Deserialize)]
struct Pagination {
    #[serde(default)]
    has_more: bool,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// The list of one answer.
struct Page {
    member: String,
    entries: Vec<Box<RawValue>>,
    pagination: Pagination,
}

impl Page {
    /// `None` for an answer that is no object with a list in it.
    fn read(answer: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(answer).ok()?;
        let (member, list) = known_members(text).find(|(_, value)| value.starts_with('['))?;
        let pagination = known_members(text).find(|(name, _)| name == "pagination");
        Some(Self {
            member: member.into_owned(),
            entries: serde_json::from_str(list).ok()?,
            pagination: pagination.and_then(|(_, value)| serde_json::from_str(value).ok()).unwrap_or_default(),
        })
    }

    /// Where the next page is, when so many entries have been read; `None` behind the last page.
    fn next(&self, path: &str, read: usize) -> Option<String> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let place = self
            .pagination
            .next_cursor
            .as_deref()
            .map_or_else(|| format!("offset={read}"), |cursor| format!("cursor={}", segment(cursor)));
        self.pagination.has_more.then(|| format!("{path}{sign}{place}"))
    }

    /// Whether it is another page than `before`: servers that know neither cursors nor offsets repeat their first page.
    fn follows(&self, before: &Self) -> bool {
        let repeats = |first: &RawValue| before.entries.first().is_some_and(|known| known.get() == first.get());
        self.entries.first().is_some_and(|first| !repeats(first))
    }
}

impl Client {
    /// The answer to a request for a list: of one page as it is, of several pages an object with the whole list.
    pub(super) async fn all_pages(&self, path: &str) -> Result<Bytes, Error> {
        let first = self.call_once(Method::GET, path, None).await?;
        let Some(mut page) = Page::read(&first) else { return Ok(first) };
        let mut list = Vec::new();
        while let Some(place) = page.next(path, list.len() + page.entries.len()) {
            let answer = self.call_once(Method::GET, &place, None).await?;
            let Some(next) = Page::read(&answer).filter(|next| next.follows(&page)) else { break };
            list.append(&mut page.entries);
            page = next;
        }
        if list.is_empty() {
            return Ok(first);
        }
        list.append(&mut page.entries);
        let list: Vec<_> = list.iter().map(|entry| entry.get()).collect();
        let mut answer = String::from("{");
        push_member(&mut answer, &page.member, &format!("[{}]", list.join(",")));
        answer.push('}');
        Ok(answer.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_is_taken_out_of_the_query() {
        assert_eq!(without_wish("/queues?pages=all").as_deref(), Some("/queues"));
        assert_eq!(without_wish("/trains?pages=all&state=held").as_deref(), Some("/trains?state=held"));
        assert_eq!(without_wish("/trains?limit=200&pages=all").as_deref(), Some("/trains?limit=200"));
        for path in ["/queues", "/queues?limit=2", "/queues?note=pages%3Dall", "/pages=all"] {
            assert_eq!(without_wish(path), None, "{path}");
        }
    }
}
