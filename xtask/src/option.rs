//! Options of jobs and members of policies.
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Words that one member may hold.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub name: String,
    doc: String,
    pub values: Vec<String>,
}

/// Members that belong together.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub name: String,
    /// Its name among the options.
    word: String,
    doc: String,
    pub fields: Vec<Member>,
}

/// A member of a policy, or an option.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    pub name: String,
    /// On the wire, where that is another name.
    pub wire: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    /// What is not sent; none: there is nothing to leave out but nothing.
    default: Option<String>,
    /// What a value has to be, where the server would say no more than that it is wrong.
    must: Option<Must>,
    doc: String,
    /// A member of the job itself.
    #[serde(default)]
    in_envelope: bool,
    /// In Go, where that is not the name in its case.
    go: Option<String>,
}

/// What a value has to be.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Must {
    /// Text that is not empty.
    Text,
    /// A whole number.
    Whole,
    /// A whole number, zero or more.
    Counted,
    /// More than zero whole milliseconds.
    Length,
}

/// The types that are not names of words or policies.
const TYPES: [&str; 12] =
    ["text", "texts", "integer", "number", "boolean", "states", "object", "duration", "millis", "seconds", "time", "delay"];

/// The first member whose type there is not, if any.
pub fn of_unknown_type<'a>(words: &[Words], policies: &'a [Policy], options: &'a [Member]) -> Option<&'a Member> {
    let mut known: BTreeSet<&str> = TYPES.into_iter().collect();
    known.extend(words.iter().map(|words| words.name.as_str()));
    known.extend(policies.iter().map(|policy| policy.name.as_str()));
    policies.iter().flat_map(|policy| &policy.fields).chain(options).find(|member| !known.contains(member.kind.as_str()))
}

/// What follows from the rest.
pub fn complete(members: &mut [Member]) {
    for member in members {
        member.wire.get_or_insert_with(|| member.name.clone());
    }
}
