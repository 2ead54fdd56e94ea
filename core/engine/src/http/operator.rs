//! `/admin`: what an operator needs beside the protocol's own calls (extensions section 19).
use ojs_model::{OjsError, Timestamp};
use serde_json::{Value, json};

use crate::http::request::Params;
use crate::http::terms::invalid;

/// Largest page of the admin plane (extensions section 0.3).
pub(crate) const MAX_PAGE: usize = 100;

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

    /// The `pagination` object.
    pub(crate) fn object(self, total: usize) -> Value {
        let has_more = self.offset().saturating_add(self.per_page) < total;
        json!({"total": total, "page": self.page, "per_page": self.per_page, "has_more": has_more})
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
