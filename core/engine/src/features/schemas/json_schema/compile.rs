//! Reads a schema: every keyword is checked once, here, and references are followed to what they name.
use std::collections::{BTreeMap, HashMap};

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Number, Value};

/// Longest text of a schema, bytes.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// Deepest nesting of a schema.
const MAX_DEPTH: usize = 64;
/// Bytes that one compiled pattern may take.
const MAX_PATTERN: usize = 256 * 1024;
/// Most patterns of a schema.
const MAX_PATTERNS: usize = 100;
/// The drafts whose schemas mean the same here. Of draft 7, `items` as a list is read as `prefixItems`.
const DRAFTS: [&str; 4] = [
    "json-schema.org/draft/2020-12/",
    "json-schema.org/draft/2019-09/",
    "json-schema.org/draft-07/",
    "json-schema.org/draft-06/",
];

/// The number of a subschema.
pub(super) type Id = usize;

/// A schema that has been read.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(super) nodes: Vec<Node>,
    pub(super) root: Id,
}

/// A subschema: all its rules hold.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) rules: Vec<Rule>,
}

/// What a subschema asks of a value. Values of types that a rule does not speak of fulfil it.
#[derive(Debug)]
pub(super) enum Rule {
    Never,
    Type(Vec<Kind>),
    Enum(Vec<Value>),
    Const(Value),
    MultipleOf(Number),
    Maximum(Number),
    ExclusiveMaximum(Number),
    Minimum(Number),
    ExclusiveMinimum(Number),
    MaxLength(u64),
    MinLength(u64),
    Pattern(Regex),
    MaxItems(u64),
    MinItems(u64),
    UniqueItems,
    Contains { item: Id, least: u64, most: Option<u64> },
    Items { first: Vec<Id>, rest: Option<Id> },
    MaxProperties(u64),
    MinProperties(u64),
    Required(Vec<String>),
    Properties { named: BTreeMap<String, Id>, matching: Vec<(Regex, Id)>, others: Option<Id> },
    PropertyNames(Id),
    DependentRequired(BTreeMap<String, Vec<String>>),
    DependentSchemas(BTreeMap<String, Id>),
    AllOf(Vec<Id>),
    AnyOf(Vec<Id>),
    OneOf(Vec<Id>),
    Not(Id),
    If { condition: Id, then: Option<Id>, otherwise: Option<Id> },
    Ref(Id),
    UnevaluatedItems(Id),
    UnevaluatedProperties(Id),
}

/// A type of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    const ALL: [Self; 7] = [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    /// Its name in schemas.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// Why a text is no schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where, as a JSON pointer.
    pub(crate) path: String,
    /// What is wrong there.
    pub(crate) message: String,
}

type Read<T> = Result<T, Fault>;

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// Where it is not valid, or goes beyond what this server supports.
    pub(crate) fn compile(document: &Value) -> Read<Self> {
        let mut compiler = Compiler { document, nodes: Vec::new(), known: HashMap::new(), anchors: HashMap::new(), patterns: 0 };
        compiler.find_anchors(document, "", 0)?;
        let root = compiler.node(document, "")?;
        Ok(Self { nodes: compiler.nodes, root })
    }
}

struct Compiler<'s> {
    document: &'s Value,
    nodes: Vec<Node>,
    /// Subschemas by their place in memory: one that is referred to, perhaps by itself, is read once.
    known: HashMap<*const Value, Id>,
    anchors: HashMap<&'s str, &'s Value>,
    patterns: usize,
}

fn fault<T>(path: &str, keyword: &str, message: impl Into<String>) -> Read<T> {
    let path = if keyword.is_empty() { path.to_owned() } else { below(path, keyword) };
    Err(Fault { path, message: message.into() })
}

/// The pointer of a member.
fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl<'s> Compiler<'s> {
    /// Notes the names that references may use, and refuses what is nested too deeply.
    fn find_anchors(&mut self, value: &'s Value, path: &str, depth: usize) -> Read<()> {
        if depth > MAX_DEPTH {
            return fault(path, "", format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.find_anchors(item, &below(path, &index.to_string()), depth + 1)?;
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    if let ("$anchor" | "$dynamicAnchor", Value::String(anchor)) = (name.as_str(), member) {
                        self.anchors.insert(anchor, value);
                    }
                    self.find_anchors(member, &below(path, name), depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn node(&mut self, schema: &'s Value, path: &str) -> Read<Id> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(*known);
        }
        let id = self.nodes.len();
        self.known.insert(std::ptr::from_ref(schema), id);
        self.nodes.push(Node::default());
        let rules = match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Rule::Never],
            Value::Object(members) => self.rules(members, path)?,
            _ => return fault(path, "", "a schema must be an object, true or false"),
        };
        if let Some(node) = self.nodes.get_mut(id) {
            node.rules = rules;
        }
        Ok(id)
    }

    fn rules(&mut self, members: &'s Map<String, Value>, path: &str) -> Read<Vec<Rule>> {
        let mut rules = Vec::new();
        let mut late = Vec::new();
        for (keyword, value) in members {
            self.check_identity(keyword, value, path)?;
            let rule = match self.plain_rule(keyword, value, path)? {
                Some(rule) => Some(rule),
                None => self.rule_with_schemas(keyword, value, members, path)?,
            };
            match rule {
                Some(rule @ (Rule::UnevaluatedItems(_) | Rule::UnevaluatedProperties(_))) => late.push(rule),
                Some(rule) => rules.push(rule),
                None => {}
            }
        }
        rules.extend(self.items(members, path)?);
        rules.extend(self.properties(members, path)?);
        rules.append(&mut late);
        Ok(rules)
    }

    /// `$schema` and `$id`: what the schema says that it is.
    fn check_identity(&self, keyword: &str, value: &Value, path: &str) -> Read<()> {
        match (keyword, value) {
            ("$schema", Value::String(draft)) if DRAFTS.iter().any(|known| draft.contains(known)) => Ok(()),
            ("$schema", _) => fault(path, keyword, "it must be https://json-schema.org/draft/2020-12/schema"),
            ("$id", Value::String(_)) if path.is_empty() => Ok(()),
            ("$id", _) => fault(path, keyword, "only the whole schema may have an $id, which is a string"),
            ("$anchor" | "$dynamicAnchor", value) if !value.is_string() => fault(path, keyword, "it must be a string"),
            _ => Ok(()),
        }
    }

    /// Rules without schemas in them.
    fn plain_rule(&mut self, keyword: &str, value: &'s Value, path: &str) -> Read<Option<Rule>> {
        Ok(Some(match keyword {
            "type" => Rule::Type(kinds(value, path)?),
            "enum" => Rule::Enum(list(value, path, keyword)?.clone()),
            "const" => Rule::Const(value.clone()),
            "multipleOf" => match number(value, path, keyword)? {
                of if of.as_f64().is_some_and(|of| of > 0.0) => Rule::MultipleOf(of),
                _ => return fault(path, keyword, "it must be larger than 0"),
            },
            "maximum" => Rule::Maximum(number(value, path, keyword)?),
            "exclusiveMaximum" => Rule::ExclusiveMaximum(number(value, path, keyword)?),
            "minimum" => Rule::Minimum(number(value, path, keyword)?),
            "exclusiveMinimum" => Rule::ExclusiveMinimum(number(value, path, keyword)?),
            "maxLength" => Rule::MaxLength(count(value, path, keyword)?),
            "minLength" => Rule::MinLength(count(value, path, keyword)?),
            "pattern" => Rule::Pattern(self.pattern(value.as_str(), path, keyword)?),
            "maxItems" => Rule::MaxItems(count(value, path, keyword)?),
            "minItems" => Rule::MinItems(count(value, path, keyword)?),
            "uniqueItems" => match value {
                Value::Bool(true) => Rule::UniqueItems,
                Value::Bool(false) => return Ok(None),
                _ => return fault(path, keyword, "it must be true or false"),
            },
            "maxProperties" => Rule::MaxProperties(count(value, path, keyword)?),
            "minProperties" => Rule::MinProperties(count(value, path, keyword)?),
            "required" => Rule::Required(names(value, path, keyword)?),
            "dependentRequired" => {
                let lists = object(value, path, keyword)?.iter();
                let read = |(name, value): (&String, &'s Value)| Ok((name.clone(), names(value, path, keyword)?));
                Rule::DependentRequired(lists.map(read).collect::<Read<_>>()?)
            }
            _ => return Ok(None),
        }))
    }

    fn rule_with_schemas(
        &mut self,
        keyword: &str,
        value: &'s Value,
        members: &'s Map<String, Value>,
        path: &str,
    ) -> Read<Option<Rule>> {
        let own = below(path, keyword);
        Ok(Some(match keyword {
            "allOf" => Rule::AllOf(self.several(value, path, keyword)?),
            "anyOf" => Rule::AnyOf(self.several(value, path, keyword)?),
            "oneOf" => Rule::OneOf(self.several(value, path, keyword)?),
            "not" => Rule::Not(self.node(value, &own)?),
            "if" => Rule::If {
                condition: self.node(value, &own)?,
                then: self.member(members, "then", path)?,
                otherwise: self.member(members, "else", path)?,
            },
            "$ref" | "$dynamicRef" => Rule::Ref(self.target(value.as_str(), path, keyword)?),
            "contains" => Rule::Contains {
                item: self.node(value, &own)?,
                least: members.get("minContains").map_or(Ok(1), |value| count(value, path, "minContains"))?,
                most: members.get("maxContains").map(|value| count(value, path, "maxContains")).transpose()?,
            },
            "propertyNames" => Rule::PropertyNames(self.node(value, &own)?),
            "dependentSchemas" => Rule::DependentSchemas(self.named(value, path, keyword)?),
            "dependencies" => return Ok(Some(self.dependencies(value, path)?)),
            "unevaluatedItems" => Rule::UnevaluatedItems(self.node(value, &own)?),
            "unevaluatedProperties" => Rule::UnevaluatedProperties(self.node(value, &own)?),
            "$defs" | "definitions" => {
                // Read whether referred to or not: what is stored is valid as a whole.
                self.named(value, path, keyword)?;
                return Ok(None);
            }
            _ => return Ok(None),
        }))
    }

    fn member(&mut self, members: &'s Map<String, Value>, keyword: &str, path: &str) -> Read<Option<Id>> {
        members.get(keyword).map(|value| self.node(value, &below(path, keyword))).transpose()
    }

    fn several(&mut self, value: &'s Value, path: &str, keyword: &str) -> Read<Vec<Id>> {
        let own = below(path, keyword);
        let schemas = list(value, path, keyword)?;
        if schemas.is_empty() {
            return fault(path, keyword, "it must have at least one schema");
        }
        schemas.iter().enumerate().map(|(index, schema)| self.node(schema, &below(&own, &index.to_string()))).collect()
    }

    fn named(&mut self, value: &'s Value, path: &str, keyword: &str) -> Read<BTreeMap<String, Id>> {
        let own = below(path, keyword);
        let members = object(value, path, keyword)?.iter();
        members.map(|(name, schema)| Ok((name.clone(), self.node(schema, &below(&own, name))?))).collect()
    }

    /// `dependencies` of draft 7: of each name, either a schema or names.
    fn dependencies(&mut self, value: &'s Value, path: &str) -> Read<Rule> {
        let own = below(path, "dependencies");
        let mut required = Vec::new();
        let mut schemas = BTreeMap::new();
        for (name, value) in object(value, path, "dependencies")? {
            if value.is_array() {
                required.push((name.clone(), names(value, path, "dependencies")?));
            } else {
                schemas.insert(name.clone(), self.node(value, &below(&own, name))?);
            }
        }
        if required.is_empty() {
            return Ok(Rule::DependentSchemas(schemas));
        }
        let mut push = |rules: Vec<Rule>| {
            self.nodes.push(Node { rules });
            self.nodes.len() - 1
        };
        let required = push(vec![Rule::DependentRequired(required.into_iter().collect())]);
        let schemas = push(vec![Rule::DependentSchemas(schemas)]);
        Ok(Rule::AllOf(vec![required, schemas]))
    }

    /// `prefixItems` with `items`; or, as before 2020, `items` as a list with `additionalItems`.
    fn items(&mut self, members: &'s Map<String, Value>, path: &str) -> Read<Option<Rule>> {
        let (first, rest) = match members.get("items") {
            Some(Value::Array(_)) => ("items", "additionalItems"),
            _ => ("prefixItems", "items"),
        };
        let rest = self.member(members, rest, path)?;
        let first = members.get(first).map(|value| self.several(value, path, first)).transpose()?.unwrap_or_default();
        Ok((!first.is_empty() || rest.is_some()).then_some(Rule::Items { first, rest }))
    }

    fn properties(&mut self, members: &'s Map<String, Value>, path: &str) -> Read<Option<Rule>> {
        let named = members.get("properties").map(|value| self.named(value, path, "properties")).transpose()?;
        let mut matching = Vec::new();
        if let Some(value) = members.get("patternProperties") {
            let own = below(path, "patternProperties");
            for (pattern, schema) in object(value, path, "patternProperties")? {
                let regex = self.pattern(Some(pattern), path, "patternProperties")?;
                matching.push((regex, self.node(schema, &below(&own, pattern))?));
            }
        }
        let others = self.member(members, "additionalProperties", path)?;
        let none = named.is_none() && matching.is_empty() && others.is_none();
        Ok((!none).then(|| Rule::Properties { named: named.unwrap_or_default(), matching, others }))
    }

    fn pattern(&mut self, pattern: Option<&str>, path: &str, keyword: &str) -> Read<Regex> {
        let Some(pattern) = pattern else { return fault(path, keyword, "it must be a string") };
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            return fault(path, keyword, format!("a schema may have at most {MAX_PATTERNS} patterns"));
        }
        RegexBuilder::new(pattern).size_limit(MAX_PATTERN).build().or_else(|error| {
            let advice = "lookaround, backreferences and \\p{…} are not supported, because matching must take linear time";
            fault(path, keyword, format!("the pattern cannot be read: {error}; {advice}"))
        })
    }

    /// What a reference names: the whole schema, a part of it by JSON pointer, or an anchor.
    fn target(&mut self, reference: Option<&str>, path: &str, keyword: &str) -> Read<Id> {
        let Some(reference) = reference else { return fault(path, keyword, "it must be a string") };
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.document.get("$id").and_then(Value::as_str).unwrap_or_default();
        if !base.is_empty() && base != own.trim_end_matches('#') {
            return fault(
                path,
                keyword,
                format!("'{base}' lies outside of the schema; only parts of the schema itself are read"),
            );
        }
        let fragment = decoded(fragment);
        let found = match fragment.as_str() {
            "" => Some(self.document),
            pointer if pointer.starts_with('/') => self.document.pointer(pointer),
            anchor => self.anchors.get(anchor).copied(),
        };
        match found {
            Some(schema) => self.node(schema, &fragment),
            None => fault(path, keyword, format!("the schema has no part '{fragment}'")),
        }
    }
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        let code = match (first, more) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).and_then(|(high, low)| u8::try_from(high * 16 + low).ok()),
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { more.get(2..).unwrap_or_default() } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn kinds(value: &Value, path: &str) -> Read<Vec<Kind>> {
    let kind = |value: &Value| {
        let word = value.as_str().unwrap_or_default();
        let known = Kind::ALL.into_iter().find(|kind| kind.as_str() == word);
        known.map_or_else(
            || fault(path, "type", "it must be null, boolean, integer, number, string, array or object, or a list of these"),
            Ok,
        )
    };
    match value {
        Value::Array(several) if !several.is_empty() => several.iter().map(kind).collect(),
        one => Ok(vec![kind(one)?]),
    }
}

fn number(value: &Value, path: &str, keyword: &str) -> Read<Number> {
    value.as_number().cloned().map_or_else(|| fault(path, keyword, "it must be a number"), Ok)
}

fn count(value: &Value, path: &str, keyword: &str) -> Read<u64> {
    // 2.0 is a whole number as well.
    let whole =
        value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0 && *n < 1e18).map(|n| n as u64));
    whole.map_or_else(|| fault(path, keyword, "it must be a whole number, 0 or more"), Ok)
}

fn list<'v>(value: &'v Value, path: &str, keyword: &str) -> Read<&'v Vec<Value>> {
    value.as_array().map_or_else(|| fault(path, keyword, "it must be a list"), Ok)
}

fn object<'v>(value: &'v Value, path: &str, keyword: &str) -> Read<&'v Map<String, Value>> {
    value.as_object().map_or_else(|| fault(path, keyword, "it must be an object"), Ok)
}

fn names(value: &Value, path: &str, keyword: &str) -> Read<Vec<String>> {
    let names: Option<Vec<String>> =
        value.as_array().and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    names.map_or_else(|| fault(path, keyword, "it must be a list of strings"), Ok)
}
