//! `/admin`: what an operator needs beside the protocol's own calls (extensions section 19).
use ojs_model::{OjsError, Timestamp};
use serde_json::{Value, json};

use crate::http::request::Params;
use crate::http::terms::invalid;

/// Largest page of the admin plane (extensions section 0.3).
pub(crate) const MAX_PAGE: usize = 100;

/// What the cursors of lists begin with that go on behind a name: a number is the place of an older list.
const NAME_CURSOR: &str = "n.";

/// The name behind which a list goes on: `cursor`, which is the `next_cursor` of the page before.
fn name_cursor(params: &Params) -> Result<Option<&str>, OjsError> {
    let Some(text) = params.get("cursor") else { return Ok(None) };
    text.strip_prefix(NAME_CURSOR).ok_or_else(wrong_cursor).map(Some)
}

/// A cursor that no list has given out.
pub(crate) fn wrong_cursor() -> OjsError {
    invalid("cursor", "cursor must be the next_cursor of the page before.".to_owned())
}

/// Cuts off the record that shows that there are more than `most`, which is at least 1. Returns the cursor of the next
/// page, when there is one.
fn cut_off<T>(rows: &mut Vec<T>, most: usize, name: impl Fn(&T) -> String) -> Option<String> {
    if rows.len() <= most {
        return None;
    }
    rows.truncate(most);
    rows.last().map(|last| format!("{NAME_CURSOR}{}", name(last)))
}

/// `limit`, and where a page of a list in the order of names begins: behind the name in `cursor`, or at `offset`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedPage<'a> {
    pub(crate) limit: usize,
    pub(crate) offset: usize,
    pub(crate) behind: Option<&'a str>,
}

impl<'a> NamedPage<'a> {
    pub(crate) fn of(params: &'a Params, max: usize) -> Result<Self, OjsError> {
        if let Some(name) = params.get("cursor").and_then(|text| text.strip_prefix(NAME_CURSOR)) {
            return Ok(Self { limit: params.limit(max)?, offset: 0, behind: Some(name) });
        }
        let (limit, offset) = params.page(max)?;
        Ok(Self { limit, offset, behind: None })
    }

    /// Cuts off the record that shows that there are more; the `pagination` object.
    pub(crate) fn cut<T>(self, rows: &mut Vec<T>, total: usize, name: impl Fn(&T) -> String) -> Value {
        let next = cut_off(rows, self.limit, name);
        let mut object = json!({"total": total, "limit": self.limit, "offset": self.offset, "has_more": next.is_some()});
        if let (Some(next), Some(object)) = (next, object.as_object_mut()) {
            object.insert("next_cursor".into(), json!(next));
        }
        object
    }
}

/// `page` and `per_page` of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paging {
    pub(crate) page: usize,
    pub(crate) per_page: usize,
}

impl Paging {
    pub(crate) fn of(params: &Params) -> Result<Self, OjsError> {
        let per_page = params.number("per_page", 20, MAX_PAGE)?.max(1);
        Ok(Self { page: params.number("page", 1, usize::MAX / MAX_PAGE)?.max(1), per_page })
    }

    pub(crate) fn offset(self) -> usize {
        (self.page - 1) * self.per_page
    }

    /// Where a page of a list in the order of names begins: behind the name in `cursor`, else so many records on.
    pub(crate) fn start(self, params: &Params) -> Result<(Option<String>, usize), OjsError> {
        let behind = name_cursor(params)?.map(str::to_owned);
        let offset = if behind.is_some() { 0 } else { self.offset() };
        Ok((behind, offset))
    }

    /// The `pagination` object.
    pub(crate) fn object(self, total: usize) -> Value {
        let has_more = self.offset().saturating_add(self.per_page) < total;
        json!({"total": total, "page": self.page, "per_page": self.per_page, "has_more": has_more})
    }

    /// A page of a list in the order of names, and its `pagination` object. `rows` begin where the page does, and are
    /// one more than it has where there are more.
    pub(crate) fn of_names<T>(self, mut rows: Vec<T>, total: usize, name: impl Fn(&T) -> &str) -> (Vec<T>, Value) {
        let next = cut_off(&mut rows, self.per_page, |row| name(row).to_owned());
        let pagination = json!({
            "total": total, "page": self.page, "per_page": self.per_page, "has_more": next.is_some(), "next_cursor": next,
        });
        (rows, pagination)
    }

    /// The same of a list that is at hand as a whole, in any order.
    pub(crate) fn of_all<T>(
        self,
        params: &Params,
        mut all: Vec<T>,
        name: impl Fn(&T) -> &str,
    ) -> Result<(Vec<T>, Value), OjsError> {
        let (total, behind) = (all.len(), name_cursor(params)?);
        all.sort_by(|one, other| name(one).cmp(name(other)));
        let first = behind.map_or(self.offset(), |behind| all.partition_point(|item| name(item) <= behind));
        Ok(self.of_names(all.into_iter().skip(first).take(self.per_page + 1).collect(), total, name))
    }

    /// One page of a short list.
    pub(crate) fn cut<T>(self, items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        items.into_iter().skip(self.offset()).take(self.per_page)
    }
}

/// A time in a parameter, milliseconds.
pub(crate) fn time(params: &Params, name: &str) -> Result<Option<i64>, OjsError> {
    let Some(text) = params.get(name) else { return Ok(None) };
    let at = Timestamp::parse(text).map_err(|error| invalid(name, format!("{name} is {error}.")))?;
    Ok(Some(at.as_millis()))
}
