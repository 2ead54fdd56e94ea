//! Operations: `xtask/operations/<noun>.toml`, one file per noun. Of each operation are made the entry that the router is checked
//! against, the OpenAPI document, the methods of the clients, the reference page, and a vector that all clients are held to.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::schema::Schema;

/// Where the tables are, from the root.
pub const FOLDER: &str = "xtask/operations";

/// Tells the core's client to read all pages; it is not sent. See core/sdk/src/client/pages.rs.
pub const ALL_PAGES: (&str, &str) = ("pages", "all");

/// The operations of one noun.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The name of its file.
    #[serde(skip_deserializing)]
    pub name: String,
    /// In headings.
    pub title: String,
    /// Its place among the groups; no two have the same, or what is generated would follow the order of the folder.
    order: u32,
    /// Clients that group their methods have them in this member (`client.queues`); without it they are the client's own.
    pub part: Option<String>,
    #[serde(default)]
    pub words: Vec<Words>,
    #[serde(default)]
    pub filters: Vec<Filter>,
    pub operations: Vec<Operation>,
}

/// Words that a parameter may be.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub name: String,
    pub values: Vec<String>,
}

/// Parameters that belong together: languages without named arguments have a type for them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    pub name: String,
    doc: String,
    /// The languages in which its type is written by hand.
    #[serde(default)]
    by_hand: BTreeSet<String>,
    /// By language, where its type has another name.
    #[serde(default)]
    names: BTreeMap<String, String>,
    pub fields: Vec<Parameter>,
}

/// One operation of the server.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// In snake case; languages write it in their own case.
    pub name: String,
    /// The name of the method in a part; without it `name`.
    #[serde(default)]
    pub short: String,
    pub method: String,
    /// Relative to `/ojs/v1`; names of path parameters are in braces.
    pub path: String,
    /// It is not below `/ojs/v1`.
    #[serde(default)]
    pub outside: bool,
    /// It is in the router only in test mode.
    #[serde(default)]
    pub test_mode: bool,
    pub permission: Permission,
    /// The conformance level that asks for it, or the extension.
    level: String,
    /// One sentence or two. `[name]` stands for the method of another operation.
    pub doc: String,
    /// More, where it has to be said.
    #[serde(default)]
    pub more: String,
    #[serde(default)]
    pub methods: Methods,
    /// The languages in which the method is written by hand, although others have a generated one.
    #[serde(default)]
    by_hand_in: BTreeSet<String>,
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// The schema of the body, where the parameters do not say it.
    pub body: Option<String>,
    /// Members that the clients always send: in the body, or in the query of a request without one.
    #[serde(default)]
    pub fixed: BTreeMap<String, Value>,
    /// The answer is a page of a list, and the methods of the clients give the whole list.
    #[serde(default)]
    pub all_pages: bool,
    /// The clients do not send it again when there is no answer.
    #[serde(default)]
    sent_once: bool,
    pub reply: Reply,
    /// By language, where the method returns another kind of answer.
    #[serde(default)]
    replies: BTreeMap<String, String>,
    /// The codes of its refusals, beside [`COMMON_ERRORS`] and [`UNREADABLE`]. The tests of the store compare them with
    /// the answers. `invalid_state_transition` stands for the code `conflict` with this word as `reason` in the
    /// details.
    #[serde(default)]
    pub errors: Vec<String>,
    /// The names of the classes of these errors in xtask/schema.toml.
    #[serde(skip_deserializing)]
    classes: Vec<String>,
    /// Other routes that do the same.
    #[serde(default)]
    pub aliases: Vec<Alias>,
    /// Arguments, for documentation and as a vector.
    pub example: Option<Map<String, Value>>,
    /// Code of a language with what comes out of it.
    #[serde(default)]
    examples: BTreeMap<String, String>,
    /// Arguments of more vectors.
    #[serde(default)]
    pub vectors: Vec<Map<String, Value>>,
    /// By language, where the method has another name: in snake case.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// By language, where the method is in another part of the client than those of its group.
    #[serde(default)]
    pub parts: BTreeMap<String, String>,
    /// The path in pieces.
    #[serde(skip_deserializing)]
    pub segments: Vec<Segment>,
    /// A request with a body.
    #[serde(skip_deserializing)]
    pub has_body: bool,
}

/// What a key must allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    Open,
    Enqueue,
    Work,
    Read,
    Inspect,
    Operate,
    Administer,
}

/// Who writes the methods of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
pub enum Methods {
    #[default]
    #[serde(rename = "generated")]
    Generated,
    #[serde(rename = "by hand")]
    ByHand,
    /// The clients have none.
    #[serde(rename = "none")]
    None,
}

/// A parameter of an operation, or a member of a filter.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub name: String,
    /// On the wire, where that is another name.
    #[serde(default)]
    pub wire: String,
    /// The members of a filter are where the filter is.
    #[serde(rename = "in", default)]
    pub place: Place,
    /// The member of the body that it is a member of.
    pub inside: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub default: Option<Value>,
    /// Parameters in the path always are.
    #[serde(default)]
    pub required: bool,
    /// It is optional, and may be given without its name.
    #[serde(default)]
    positional: bool,
    /// The clients do not offer it.
    #[serde(default)]
    pub only_wire: bool,
    /// The languages whose methods do not offer it.
    #[serde(default)]
    not_in: BTreeSet<String>,
    /// How a filter in Go and in Java has it, where that differs.
    typed: Option<Typed>,
    pub doc: String,
}

/// A member of a filter as languages with declared types have it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Typed {
    name: String,
    /// A type of parameters, or `flag`: true stands for `value`.
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    value: String,
    doc: String,
}

/// Where a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
pub enum Place {
    #[serde(rename = "path")]
    Path,
    #[default]
    #[serde(rename = "query")]
    Query,
    #[serde(rename = "body")]
    Body,
    /// Its members are the body's.
    #[serde(rename = "whole body")]
    WholeBody,
}

/// What the answer is.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub kind: String,
    #[serde(default)]
    pub member: String,
    /// The member that says whether the same request has to be sent again.
    #[serde(default)]
    pub more: String,
    schema: Option<String>,
}

impl Reply {
    /// Its schema in the OpenAPI document.
    pub fn schema(&self) -> &str {
        self.schema.as_deref().unwrap_or(match self.kind.as_str() {
            "job" => "WrappedJob",
            "bare_job" => "Job",
            "jobs" => "Jobs",
            "page" | "job_page" => "Page",
            _ => "Object",
        })
    }
}

/// Another route of the same operation.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    pub method: String,
    pub path: String,
}

/// A piece of a path.
#[derive(Debug, Serialize)]
pub struct Segment {
    /// Itself, or the name of the parameter.
    pub text: String,
    pub is_parameter: bool,
}

/// The codes of refusals that every operation has, so that none declares them.
pub const COMMON_ERRORS: [&str; 5] =
    ["unauthenticated", "permission_denied", "rate_limited", "backend_error", "backend_unavailable"];

/// The codes of refusals that come before any operation begins, because the server cannot read the request.
pub const UNREADABLE: [&str; 5] =
    ["payload_too_large", "request_timeout", "unsupported_compression", "unsupported", "EXTENSION_NOT_SUPPORTED"];

/// The types of parameters that are not names of words or filters.
const TYPES: [&str; 16] = [
    "text",
    "texts",
    "integer",
    "number",
    "page_number",
    "boolean",
    "object",
    "state",
    "states",
    "time",
    "moment",
    "age",
    "period",
    "settings",
    "limits",
    "atomicity",
];

/// Kinds of answers.
const KINDS: [&str; 17] = [
    "job",
    "bare_job",
    "jobs",
    "job_page",
    "page",
    "result",
    "results",
    "workflow",
    "object",
    "member",
    "list",
    "count",
    "crons",
    "cron",
    "nothing",
    "bulk_result",
    "bulk_items",
];

/// All groups of the repository in this folder, in order.
pub fn read(root: &Path, schema: &Schema) -> Result<Vec<Group>, Error> {
    let folder = root.join(FOLDER);
    let entries = std::fs::read_dir(&folder).map_err(|cause| Error::file(&folder, cause))?;
    let mut groups = Vec::new();
    for entry in entries {
        let path = entry.map_err(|cause| Error::file(&folder, cause))?.path();
        let text = std::fs::read_to_string(&path).map_err(|cause| Error::file(&path, cause))?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        groups.push(parse(name, &text)?);
    }
    for operation in groups.iter_mut().flat_map(|group| &mut group.operations) {
        operation.classes = schema.classes_of(&operation.errors);
    }
    groups.sort_by_key(|group| group.order);
    check(&groups)?;
    Ok(groups)
}

fn parse(name: String, text: &str) -> Result<Group, Error> {
    let wrong = |cause| Error::Operations { path: format!("{FOLDER}/{name}.toml"), cause };
    let mut group: Group = toml::from_str(text).map_err(wrong)?;
    for operation in &mut group.operations {
        operation.complete();
    }
    group.filters.iter_mut().flat_map(|filter| &mut filter.fields).for_each(Parameter::complete);
    group.name = name;
    Ok(group)
}

impl Operation {
    /// What follows from the rest.
    fn complete(&mut self) {
        self.parameters.iter_mut().for_each(Parameter::complete);
        if self.short.is_empty() {
            self.short.clone_from(&self.name);
        }
        let segment = |text: &str| match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            Some(wire) => Segment { text: self.named(wire), is_parameter: true },
            None => Segment { text: text.to_owned(), is_parameter: false },
        };
        self.segments = self.path.split('/').filter(|text| !text.is_empty()).map(segment).collect();
        let told = self.parameters.iter().any(|parameter| matches!(parameter.place, Place::Body | Place::WholeBody));
        self.has_body = told || self.body.is_some() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        if self.all_pages {
            self.fixed.insert(ALL_PAGES.0.to_owned(), ALL_PAGES.1.into());
        }
    }

    /// The name of the parameter that is this on the wire.
    fn named(&self, wire: &str) -> String {
        let found = self.parameters.iter().find(|parameter| parameter.place == Place::Path && parameter.wire == wire);
        found.map_or_else(|| wire.to_owned(), |parameter| parameter.name.clone())
    }
}

impl Parameter {
    fn complete(&mut self) {
        if self.wire.is_empty() {
            self.wire.clone_from(&self.name);
        }
        self.required |= self.place == Place::Path;
    }
}

/// Every place, operation and route once; every type, kind and name of a parameter is known.
fn check(groups: &[Group]) -> Result<(), Error> {
    let mut places = BTreeMap::new();
    for group in groups {
        if let Some(other) = places.insert(group.order, &group.name) {
            let message = format!("{other}.toml and {}.toml have the same order, {}", group.name, group.order);
            return Err(Error::Contradiction(message));
        }
    }
    let wrong = |what: &str, operation: &Operation, why: &str| {
        Err(Error::Contradiction(format!("{what} of the operation {} {why}", operation.name)))
    };
    let mut types: BTreeSet<&str> = TYPES.into_iter().collect();
    types.extend(groups.iter().flat_map(|group| &group.words).map(|words| words.name.as_str()));
    types.extend(groups.iter().flat_map(|group| &group.filters).map(|filter| filter.name.as_str()));
    let (mut names, mut routes) = (BTreeSet::new(), BTreeSet::new());
    for operation in groups.iter().flat_map(|group| &group.operations) {
        if !names.insert(&operation.name) {
            return wrong("the name", operation, "is there twice");
        }
        let own = std::iter::once((&operation.method, &operation.path));
        for route in own.chain(operation.aliases.iter().map(|alias| (&alias.method, &alias.path))) {
            if !routes.insert(route) {
                return wrong("a route", operation, "is there twice");
            }
        }
        if !KINDS.contains(&operation.reply.kind.as_str()) && !matches!(operation.reply.kind.as_str(), "stream" | "events") {
            return wrong("the reply", operation, "is of an unknown kind");
        }
        if let Some(parameter) = operation.parameters.iter().find(|parameter| !types.contains(parameter.kind.as_str())) {
            return wrong(&format!("the type of {}", parameter.name), operation, "is unknown");
        }
        let has = |segment: &Segment| operation.parameters.iter().any(|parameter| parameter.name == segment.text);
        if operation.segments.iter().any(|segment| segment.is_parameter && !has(segment)) {
            return wrong("a parameter in the path", operation, "is not described");
        }
        if operation.methods == Methods::Generated && operation.example.is_none() {
            return wrong("the example", operation, "is missing: the clients are held to it");
        }
        if operation.methods == Methods::Generated && !operation.examples.contains_key("python") {
            return wrong("the example of Python", operation, "is missing: give it one that runs as examples.python");
        }
    }
    Ok(())
}

/// All filters by name.
pub fn filters(groups: &[Group]) -> BTreeMap<&str, &Filter> {
    groups.iter().flat_map(|group| &group.filters).map(|filter| (filter.name.as_str(), filter)).collect()
}

/// The words of parameters by name.
pub fn words(groups: &[Group]) -> BTreeMap<&str, &[String]> {
    groups.iter().flat_map(|group| &group.words).map(|words| (words.name.as_str(), words.values.as_slice())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "title = 'Jobs'\norder = 1\n";

    fn one(more: &str) -> Result<(), Error> {
        let operation =
            "[[operations]]\nname = 'get'\nmethod = 'GET'\npath = '/jobs/{id}'\npermission = 'read'\nlevel = '0'\ndoc = ''\n";
        check(&[parse("jobs".to_owned(), &format!("{HEAD}{operation}{more}"))?])
    }

    const ID: &str = "parameters = [{ name = 'job_id', in = 'path', wire = 'id', type = 'text', doc = '' }]\n";

    #[test]
    fn contradictions_are_refused() {
        let shown = "example = {}\nexamples.python = '>>> 1'\n";
        let reply = &format!("reply = {{ kind = 'job' }}\n{shown}");
        one(&format!("{ID}{reply}")).unwrap();
        let wrong = |text: &str| one(text).unwrap_err().to_string();
        assert!(wrong(reply).contains("a parameter in the path of the operation get is not described"));
        assert!(wrong(&format!("{ID}reply = {{ kind = 'jop' }}\n{shown}")).contains("unknown kind"));
        let unshown = wrong(&format!("{ID}reply = {{ kind = 'job' }}\nexample = {{}}"));
        assert!(unshown.contains("the example of Python of the operation get is missing"), "{unshown}");
        assert!(wrong(&format!("{ID}reply = {{ kind = 'job' }}")).contains("the example of the operation get is missing"));
        let alias = format!("{ID}{reply}aliases = [{{ method = 'GET', path = '/jobs/{{id}}' }}]");
        assert!(wrong(&alias).contains("a route of the operation get is there twice"));
        assert!(wrong(&format!("{}{reply}", ID.replace("'text'", "'texd'"))).contains("the type of job_id"));
        assert!(wrong("unknown = 1").contains("jobs.toml"));
        let group = |name: &str| parse(name.to_owned(), &format!("{HEAD}operations = []\n")).unwrap();
        let same = check(&[group("jobs"), group("queues")]).unwrap_err().to_string();
        assert!(same.contains("jobs.toml and queues.toml have the same order, 1"), "{same}");
    }
}
