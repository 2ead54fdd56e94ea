//! A JSON object in a column of a record.
use std::sync::Arc;

use ojs_model::OjsError;
use serde_json::{Map, Value};

use super::{Cell, Field, Kind};
use crate::error::{Result, StoreError};

/// What a column keeps as a JSON object.
pub trait Object: Sized {
    /// Reads it. It was checked before it was stored, so a fault means damage.
    ///
    /// # Errors
    /// That it is no such object.
    fn read(object: &Map<String, Value>) -> std::result::Result<Self, OjsError>;

    /// The form that [`read`](Self::read) reads.
    fn written(&self) -> Value;
}

/// A JSON object as a store keeps it: a damaged one is kept as it is, and is not taken for an absent one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Kept<T> {
    /// Nothing was set.
    #[default]
    None,
    /// What was set.
    Set(T),
    /// A text that cannot be read. It stays as it is until something is set anew.
    Unreadable(Arc<str>),
}

impl<T> Kept<T> {
    /// What was set; `None` when nothing was.
    ///
    /// # Errors
    /// [`StoreError::Failed`] with this message when it cannot be read: nothing may be decided as if nothing were set.
    pub fn readable(&self, message: impl FnOnce() -> String) -> Result<Option<&T>> {
        match self {
            Self::None => Ok(None),
            Self::Set(object) => Ok(Some(object)),
            Self::Unreadable(_) => Err(StoreError::Failed(message())),
        }
    }
}

impl<T: Object> Field for Kept<T> {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::None => Cell::text(""),
            Self::Set(object) => Cell::Text(object.written().to_string().into()),
            Self::Unreadable(text) => Cell::text(text),
        }
    }

    fn read(cell: Cell<'_>) -> Option<Self> {
        let Cell::Text(text) = cell else { return None };
        if text.is_empty() {
            return Some(Self::None);
        }
        let object = serde_json::from_str::<Map<String, Value>>(&text).ok();
        Some(match object.and_then(|object| T::read(&object).ok()) {
            Some(object) => Self::Set(object),
            None => Self::Unreadable((*text).into()),
        })
    }
}
