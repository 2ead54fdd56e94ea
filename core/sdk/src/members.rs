//! Objects of JSON text as their members: looked at, and written again, without a tree of values.
use std::borrow::Cow;

/// Members of an object, in order, values as they are written ([`ojs_model::json::members`]).
pub(crate) type Members<'a> = Vec<(Cow<'a, str>, &'a str)>;

/// The value of a member. One that is null counts as missing.
pub(crate) fn find<'a>(members: &Members<'a>, wanted: &str) -> Option<&'a str> {
    members.iter().find(|(name, value)| name == wanted && *value != "null").map(|(_, value)| *value)
}
