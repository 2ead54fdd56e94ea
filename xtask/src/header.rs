//! The functions and structures of `include/ojs.h`, which cbindgen writes: Java links them by name and type.
use std::path::Path;

use serde::Serialize;

use crate::error::Error;

/// Where the header is, from the root.
pub const PATH: &str = "include/ojs.h";

/// What the header declares.
#[derive(Debug, Serialize)]
pub struct Header {
    functions: Vec<Function>,
    structures: Vec<Structure>,
}

#[derive(Debug, Serialize)]
struct Function {
    name: String,
    /// `void` where it returns nothing.
    result: String,
    arguments: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Structure {
    name: String,
    members: Vec<Member>,
}

/// A member of a structure.
#[derive(Debug, Serialize)]
struct Member {
    name: String,
    kind: String,
    /// Bytes that are empty behind the member.
    padding: usize,
}

/// The header of the repository in this folder.
pub fn read(root: &Path) -> Result<Header, Error> {
    let path = root.join(PATH);
    Ok(parse(&std::fs::read_to_string(&path).map_err(|cause| Error::file(&path, cause))?))
}

fn parse(text: &str) -> Header {
    let code = |line: &&str| !line.trim_start().starts_with(['/', '#']);
    let text: Vec<&str> = text.lines().filter(code).flat_map(str::split_whitespace).collect();
    let text = text.join(" ").replace("OJS_MUST_USE ", "");
    let structures = text.split("typedef struct {").skip(1).filter_map(structure).collect();
    let functions = text.split(';').filter_map(function).collect();
    Header { functions, structures }
}

/// A pointer is a pointer, whatever it points to; types of functions end in `_fn`.
fn kind(words: &str) -> String {
    let pointer = words.contains('*') || words.trim().ends_with("_fn");
    if pointer { "pointer".to_owned() } else { words.trim().to_owned() }
}

/// The type and the name of what is declared.
fn declared(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let at = text.rfind([' ', '*'])? + 1;
    Some((kind(text.get(..at)?), text.get(at..)?.to_owned()))
}

fn function(text: &str) -> Option<Function> {
    let (before, arguments) = text.rsplit(['{', '}']).next()?.split_once('(')?;
    if before.contains("typedef") || arguments.contains('(') {
        return None;
    }
    let (result, name) = declared(before)?;
    let arguments = arguments.trim_end_matches(')').split(',').filter(|one| one.trim() != "void");
    let arguments = arguments.filter_map(|one| Some(declared(one)?.0)).collect();
    name.starts_with("ojs_").then_some(Function { name, result, arguments })
}

/// Bytes of a type; each is aligned to itself, but a slice to its pointer.
fn size(kind: &str) -> usize {
    match kind {
        "bool" | "uint8_t" => 1,
        "uint16_t" => 2,
        "pointer" | "uint64_t" | "int64_t" | "size_t" => 8,
        "ojs_slice" => 16,
        _ => 4,
    }
}

fn structure(text: &str) -> Option<Structure> {
    let (members, rest) = text.split_once('}')?;
    let name = rest.split(';').next()?.trim().to_owned();
    let found: Vec<(String, String)> = members.split(';').filter_map(declared).collect();
    let align = |kind: &str| size(kind).min(8);
    let largest = found.iter().map(|(kind, _)| align(kind)).max().unwrap_or(1);
    let (mut at, mut members) = (0, Vec::new());
    for (index, (kind, name)) in found.iter().enumerate() {
        at += size(kind);
        let next = found.get(index + 1).map_or(largest, |(next, _)| align(next));
        let padding = at.next_multiple_of(next) - at;
        at += padding;
        members.push(Member { name: name.clone(), kind: kind.clone(), padding });
    }
    Some(Structure { name, members })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_structures_are_read() {
        let header = parse(
            "// About.\ntypedef struct {\n    // It.\n    uint32_t size;\n    bool on;\n    const ojs_slice *queues;\n} ojs_options;\n\
             OJS_MUST_USE\nojs *ojs_new(ojs_slice url,\n   ojs **out);\nvoid ojs_level(uint8_t level, ojs_fn done);\ntypedef void (*ojs_fn)(void *x);\n\
             uint32_t ojs_version(void);\n",
        );
        let told: Vec<String> =
            header.functions.iter().map(|one| format!("{} {} {:?}", one.result, one.name, one.arguments)).collect();
        let wanted = [
            "pointer ojs_new [\"ojs_slice\", \"pointer\"]",
            "void ojs_level [\"uint8_t\", \"pointer\"]",
            "uint32_t ojs_version []",
        ];
        assert_eq!(told, wanted);
        let members = &header.structures[0].members;
        let told: Vec<_> = members.iter().map(|one| (one.name.as_str(), one.kind.as_str(), one.padding)).collect();
        assert_eq!(told, [("size", "uint32_t", 0), ("on", "bool", 3), ("queues", "pointer", 0)]);
    }
}
