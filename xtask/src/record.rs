//! Records: objects that the server answers with, `xtask/records.toml`. Of each record are made the types of Go and
//! Java with their fields or accessors, and what reads them; in Python, Node.js and Ruby accessors over the decoded
//! object.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Where the records are, from the root.
pub const PATH: &str = "xtask/records.toml";

/// One of them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    name: String,
    doc: String,
    /// It keeps the whole object, with members that the package does not know.
    #[serde(default)]
    whole: bool,
    /// The languages that do not have it.
    #[serde(default)]
    not_in: BTreeSet<String>,
    /// The languages in which the code that reads it is written by hand.
    #[serde(default)]
    read_by_hand: BTreeSet<String>,
    /// By language, where it has another name.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// Code of a language with what comes out of it.
    #[serde(default)]
    examples: BTreeMap<String, String>,
    /// By language, methods that follow from no field.
    #[serde(default)]
    methods: BTreeMap<String, String>,
    fields: Vec<Field>,
}

/// A member of the object.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Field {
    name: String,
    /// On the wire, where that is another name.
    #[serde(default)]
    wire: String,
    #[serde(rename = "type")]
    kind: String,
    /// By language, where the type is another one.
    #[serde(default)]
    types: BTreeMap<String, String>,
    /// By language, where the name is another one, as the language writes it.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// What it is when the object does not have it.
    default: Option<String>,
    /// In languages whose accessors have types and a value for nothing: it may be nothing.
    #[serde(default)]
    optional: bool,
    /// Another name on the wire, which some servers write.
    #[serde(default)]
    fallback: String,
    /// The text that a field of the type `is` compares with.
    #[serde(default)]
    value: String,
    #[serde(default)]
    not_in: BTreeSet<String>,
    doc: String,
}

/// The types of fields, `long` for an integer that needs 64 bits where a language asks;
/// beside them `list NAME`, a list of records.
const TYPES: [&str; 19] = [
    "text", "integer", "long", "boolean", "truth", "state", "texts", "object", "value", "values", "args", "time", "failure",
    "failures", "job", "error", "is", "request", "train",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    records: Vec<Record>,
}

/// All records of the repository in this folder.
pub fn read(root: &Path) -> Result<Vec<Record>, Error> {
    let path = root.join(PATH);
    parse(&std::fs::read_to_string(&path).map_err(|cause| Error::file(&path, cause))?)
}

fn parse(text: &str) -> Result<Vec<Record>, Error> {
    let wrong = |cause| Error::Operations { path: PATH.to_owned(), cause };
    let mut records = toml::from_str::<File>(text).map_err(wrong)?.records;
    let names: BTreeSet<String> = records.iter().map(|record| record.name.clone()).collect();
    for record in &mut records {
        for field in &mut record.fields {
            if field.wire.is_empty() {
                field.wire.clone_from(&field.name);
            }
            let known = |kind: &str| TYPES.contains(&kind) || kind.strip_prefix("list ").is_some_and(|name| names.contains(name));
            if !known(&field.kind) || !field.types.values().all(|kind| known(kind)) {
                return Err(Error::Contradiction(format!("the type of {} of the record {} is unknown", field.name, record.name)));
            }
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_and_wire_names_follow() {
        let record = |kind: &str| {
            parse(&format!("[[records]]\nname = 'Page'\ndoc = ''\nfields = [{{ name = 'items', type = '{kind}', doc = '' }}]\n"))
        };
        assert_eq!(record("list Page").unwrap()[0].fields[0].wire, "items");
        for unknown in ["texd", "list Pages"] {
            let wrong = record(unknown).unwrap_err().to_string();
            assert!(wrong.contains("the type of items of the record Page is unknown"), "{wrong}");
        }
    }
}
