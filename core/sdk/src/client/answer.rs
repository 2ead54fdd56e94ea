//! What the answers of operations hold. Servers use several names for one member.
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::strict;

/// An argument as JSON; `what` names it in the error.
pub(super) fn value(what: &'static str, given: &impl Serialize) -> Result<Value, Error> {
    strict::check(given).map_err(|unfit| Error::json(what, unfit))?;
    serde_json::to_value(given).map_err(|e| Error::json(what, e))
}

/// The whole answer.
pub(super) fn object(answer: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(answer).map_err(|e| Error::json("answer", e))
}

/// The first of these members that the answer has; the whole answer when it has none of them.
pub(super) fn member(answer: &[u8], names: &[&str]) -> Result<Value, Error> {
    let mut answer = object(answer)?;
    Ok(names.iter().find_map(|name| answer.get_mut(*name).map(Value::take)).unwrap_or(answer))
}

/// The entries of the first of these members that the answer has; none when it is no list.
pub(super) fn list(answer: &[u8], names: &[&str]) -> Result<Vec<Value>, Error> {
    Ok(match member(answer, names)? {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    })
}

/// A number; 0 when the answer has none.
pub(super) fn count(answer: &[u8], name: &str) -> Result<u64, Error> {
    Ok(object(answer)?.get(name).and_then(Value::as_u64).unwrap_or(0))
}
