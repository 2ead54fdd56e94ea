//! JSON kept as the text it came in: numbers keep their digits, objects their order, and only what is asked for is
//! parsed.
use std::fmt;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::strict;

/// JSON text. Cheap to clone: clones share their bytes.
///
/// ```
/// use ojs::Json;
/// let args = Json::new(&("a@example.com", 1.5))?;
/// assert_eq!(args.as_str(), r#"["a@example.com",1.5]"#);
/// let (to, factor): (String, f64) = args.parse()?;
/// # Ok::<(), ojs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Bytes);

impl Json {
    /// Writes a value as JSON.
    ///
    /// # Errors
    /// [`Error::Serialization`] for what JSON cannot hold, with its place: NaN and infinities, maps with keys that are
    /// no text, a failing `Serialize`.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        Self::named("value", value)
    }

    /// The same of a value that errors name so.
    pub(crate) fn named<T: Serialize + ?Sized>(what: &'static str, value: &T) -> Result<Self, Error> {
        strict::check(value).map_err(|unfit| Error::json(what, unfit))?;
        Self::written(what, value)
    }

    /// The same of a value that has been checked.
    pub(crate) fn written<T: Serialize + ?Sized>(what: &'static str, value: &T) -> Result<Self, Error> {
        serde_json::to_vec(value).map(|text| Self(text.into())).map_err(|e| Error::json(what, e))
    }

    /// Takes JSON text.
    ///
    /// # Errors
    /// [`Error::Serialization`] when it is not JSON.
    pub fn from_text(text: impl Into<Bytes>) -> Result<Self, Error> {
        let text = text.into();
        serde_json::from_slice::<&RawValue>(&text).map_err(|e| Error::json("JSON text", e))?;
        Ok(Self(text))
    }

    /// Text that a JSON parser has seen.
    pub(crate) fn parsed(text: Bytes) -> Self {
        Self(text)
    }

    /// A part of a document that has been parsed: known to be JSON.
    pub(crate) fn part(document: &Bytes, raw: &RawValue) -> Self {
        Self(document.slice_ref(raw.get().as_bytes()))
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    /// `[]`.
    #[must_use]
    pub fn empty_array() -> Self {
        Self(Bytes::from_static(b"[]"))
    }

    /// `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Always UTF-8: a JSON parser has seen it.
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    /// The text as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// True for `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.as_ref() == b"null"
    }

    /// True for an array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        self.0.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[')
    }

    /// Reads the text into a type.
    ///
    /// # Errors
    /// [`Error::Serialization`] when it does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.0).map_err(|e| Error::json("JSON value", e))
    }

    /// Reads the text into a tree. Numbers beyond 64 bits lose digits there.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Json {
    /// The size only: arguments and results must not slip into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({} bytes)", self.0.len())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(value.to_string().into())
    }
}

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
