//! Compares a value with a schema, in a bounded number of steps.
use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::compile::{Id, Kind, Rule, Schema};
use super::number::{canonical, compare, is_integer, is_multiple, same};

/// Steps that one validation may take: about 10 ms of the thread that writes. A rule is a step, and so are 8 bytes
/// that a pattern or a comparison looks at.
pub(crate) const MAX_STEPS: u64 = 200_000;
/// Deepest chain of subschemas, so that one that refers to itself ends.
const MAX_DEPTH: usize = 200;
/// Differences that one answer names.
const MAX_DIFFERENCES: usize = 10;
/// Characters of a name or of a list of values that a message shows.
const MAX_SHOWN: usize = 100;

/// Where a value differs from a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The place in the value, as a JSON pointer.
    pub(crate) path: String,
    /// The same for people: `args[0].amount`.
    pub(crate) place: String,
    /// The keyword that is not fulfilled.
    pub(crate) rule: &'static str,
    /// What the value must be. It never shows the value.
    pub(crate) message: String,
}

impl Schema {
    /// How arguments differ from the schema; empty when they match.
    pub(crate) fn differences(&self, args: &Value) -> Vec<Difference> {
        self.differences_within(args, MAX_STEPS)
    }

    pub(super) fn differences_within(&self, args: &Value, steps: u64) -> Vec<Difference> {
        let mut check =
            Check { schema: self, left: steps, depth: 0, quiet: 0, spent: false, path: Vec::new(), found: Vec::new() };
        let matches = check.node(self.root, args);
        if check.spent {
            let message = format!("the comparison with the schema takes more than {MAX_STEPS} steps: simplify the schema");
            return vec![Difference { path: String::new(), place: "args".to_owned(), rule: "maximum of steps", message }];
        }
        if matches { Vec::new() } else { check.found }
    }
}

struct Check<'a> {
    schema: &'a Schema,
    /// Steps that are left.
    left: u64,
    depth: usize,
    /// Above 0 while an alternative is tried: that it does not match is no difference yet.
    quiet: usize,
    /// The steps are used up, or subschemas are nested too deeply: the outcome is not known.
    spent: bool,
    path: Vec<Part<'a>>,
    found: Vec<Difference>,
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Index(usize),
    Name(&'a str),
}

impl<'a> Check<'a> {
    fn take(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps as u64);
        self.spent |= self.left == 0;
    }

    /// Whether a value fulfils all rules of a subschema.
    fn node(&mut self, id: Id, value: &'a Value) -> bool {
        let schema = self.schema;
        let Some(node) = schema.nodes.get(id) else { return true };
        self.take(1);
        self.spent |= self.depth >= MAX_DEPTH;
        self.depth += 1;
        let mut matches = true;
        for rule in &node.rules {
            self.take(1);
            if self.spent || (self.quiet > 0 && !matches) {
                break;
            }
            matches &= self.rule(rule, id, value);
        }
        self.depth -= 1;
        matches
    }

    /// The same, without noting differences.
    fn tries(&mut self, id: Id, value: &'a Value) -> bool {
        self.quiet += 1;
        let matches = self.node(id, value);
        self.quiet -= 1;
        matches
    }

    fn below(&mut self, part: Part<'a>, id: Id, value: &'a Value) -> bool {
        self.path.push(part);
        let matches = self.node(id, value);
        self.path.pop();
        matches
    }

    fn rule(&mut self, rule: &'a Rule, id: Id, value: &'a Value) -> bool {
        match (rule, value) {
            (Rule::Never, _) => self.differs("false", || "must not be there".to_owned()),
            (Rule::Type(kinds), value) => kinds.iter().any(|kind| is_a(value, *kind)) || self.wrong_type(kinds, value),
            (Rule::Enum(values), value) => self.is_one_of(values, value),
            (Rule::Const(only), value) => {
                self.take(cost(only));
                same(only, value) || self.differs("const", || format!("must be {}", shown(&only.to_string())))
            }
            (rule, Value::Number(_)) if self.number(rule, value) == Some(false) => false,
            (rule, Value::String(text)) => self.text(rule, text) && self.applies(rule, id, value),
            (rule, Value::Array(items)) => self.items(rule, items) && self.applies(rule, id, value),
            (rule, Value::Object(members)) => self.members(rule, members) && self.applies(rule, id, value),
            (rule, value) => self.applies(rule, id, value),
        }
    }

    fn number(&mut self, rule: &Rule, value: &Value) -> Option<bool> {
        let number = value.as_number()?;
        let (keyword, fits, bound, words) = match rule {
            Rule::MultipleOf(of) => ("multipleOf", is_multiple(number, of), of, "a multiple of"),
            Rule::Maximum(most) => ("maximum", compare(number, most) != Ordering::Greater, most, "at most"),
            Rule::ExclusiveMaximum(most) => ("exclusiveMaximum", compare(number, most) == Ordering::Less, most, "less than"),
            Rule::Minimum(least) => ("minimum", compare(number, least) != Ordering::Less, least, "at least"),
            Rule::ExclusiveMinimum(least) => {
                ("exclusiveMinimum", compare(number, least) == Ordering::Greater, least, "more than")
            }
            _ => return None,
        };
        Some(fits || self.differs(keyword, || format!("must be {words} {bound}")))
    }

    fn text(&mut self, rule: &Rule, text: &str) -> bool {
        match rule {
            Rule::MaxLength(most) => {
                self.take(text.len() / 8);
                !longer(text, most.saturating_add(1)) || self.differs("maxLength", || size("at most", *most, "character"))
            }
            Rule::MinLength(least) => {
                self.take(text.len() / 8);
                longer(text, *least) || self.differs("minLength", || size("at least", *least, "character"))
            }
            Rule::Pattern(pattern) => {
                self.take(text.len() / 8);
                pattern.is_match(text)
                    || self.differs("pattern", || format!("must match the pattern {}", shown(pattern.as_str())))
            }
            _ => true,
        }
    }

    fn items(&mut self, rule: &Rule, items: &[Value]) -> bool {
        let count = items.len() as u64;
        match rule {
            Rule::MaxItems(most) => count <= *most || self.differs("maxItems", || size("at most", *most, "element")),
            Rule::MinItems(least) => count >= *least || self.differs("minItems", || size("at least", *least, "element")),
            Rule::UniqueItems => {
                let mut seen = HashSet::with_capacity(items.len());
                for item in items {
                    let mut text = String::new();
                    canonical(item, &mut text);
                    self.take(1 + text.len() / 8);
                    if self.spent {
                        return true;
                    }
                    if !seen.insert(text) {
                        return self.differs("uniqueItems", || "must not have the same element twice".to_owned());
                    }
                }
                true
            }
            _ => true,
        }
    }

    fn members(&mut self, rule: &Rule, members: &Map<String, Value>) -> bool {
        let count = members.len() as u64;
        match rule {
            Rule::MaxProperties(most) => count <= *most || self.differs("maxProperties", || size("at most", *most, "member")),
            Rule::MinProperties(least) => count >= *least || self.differs("minProperties", || size("at least", *least, "member")),
            Rule::Required(names) => self.has_all("required", names, members),
            Rule::DependentRequired(lists) => {
                let wanted: Vec<_> = lists.iter().filter(|(name, _)| members.contains_key(*name)).collect();
                wanted.iter().fold(true, |fits, (_, names)| self.has_all("dependentRequired", names, members) && fits)
            }
            _ => true,
        }
    }

    fn has_all(&mut self, keyword: &'static str, names: &[String], members: &Map<String, Value>) -> bool {
        self.take(names.len());
        let mut fits = true;
        for name in names.iter().filter(|name| !members.contains_key(*name)) {
            fits = self.differs(keyword, || format!("required property '{}' is missing", shown(name)));
        }
        fits
    }

    /// Compares a value with all of these, also after one that it does not match: every difference is reported.
    fn each(&mut self, ids: &[Id], value: &'a Value) -> bool {
        let mut fits = true;
        for id in ids {
            fits &= self.node(*id, value);
        }
        fits
    }

    /// Rules that hand the value, or parts of it, to subschemas.
    fn applies(&mut self, rule: &'a Rule, id: Id, value: &'a Value) -> bool {
        match (rule, value) {
            (Rule::Ref(target), value) => self.node(*target, value),
            (Rule::AllOf(all), value) => self.each(all, value),
            (Rule::AnyOf(some), value) => {
                some.iter().any(|id| self.tries(*id, value))
                    || self.differs("anyOf", || "must match one of the alternatives of the schema".to_owned())
            }
            (Rule::OneOf(some), value) => {
                let matching = some.iter().filter(|id| self.tries(**id, value)).take(2).count();
                matching == 1
                    || self.differs("oneOf", || {
                        let found = if matching == 0 { "none" } else { "more than one" };
                        format!("must match exactly one of the alternatives of the schema, and matches {found}")
                    })
            }
            (Rule::Not(other), value) => {
                !self.tries(*other, value)
                    || self.differs("not", || "must not match what the schema excludes by 'not'".to_owned())
            }
            (Rule::If { condition, then, otherwise }, value) => {
                let branch = if self.tries(*condition, value) { then } else { otherwise };
                branch.is_none_or(|branch| self.node(branch, value))
            }
            (_, Value::Array(items)) => self.applies_to_items(rule, id, items, value),
            (_, Value::Object(members)) => self.applies_to_members(rule, id, members, value),
            _ => true,
        }
    }

    fn applies_to_items(&mut self, rule: &'a Rule, id: Id, items: &'a [Value], value: &'a Value) -> bool {
        match rule {
            Rule::Items { first, rest } => {
                let mut fits = true;
                for (index, item) in items.iter().enumerate() {
                    if let Some(schema) = first.get(index).or(rest.as_ref()) {
                        fits &= self.below(Part::Index(index), *schema, item);
                    }
                }
                fits
            }
            Rule::Contains { item, least, most } => {
                let count = items.iter().filter(|value| self.tries(*item, value)).count() as u64;
                if count < *least {
                    return self
                        .differs("contains", || size("with the form that 'contains' describes at least", *least, "element"));
                }
                most.is_none_or(|most| count <= most)
                    || self.differs("maxContains", || "must have fewer elements of the form that 'contains' describes".to_owned())
            }
            Rule::UnevaluatedItems(schema) => {
                let seen = self.evaluated(id, value);
                let mut fits = true;
                for (index, item) in items.iter().enumerate().filter(|(index, _)| !seen.items.contains(index)) {
                    fits &= self.below(Part::Index(index), *schema, item);
                }
                fits
            }
            _ => true,
        }
    }

    fn applies_to_members(&mut self, rule: &'a Rule, id: Id, members: &'a Map<String, Value>, value: &'a Value) -> bool {
        match rule {
            Rule::Properties { named, matching, others } => {
                let mut fits = true;
                for (name, member) in members {
                    let mut known = false;
                    for schema in named.get(name).into_iter().chain(self.matching(matching, name).iter()) {
                        known = true;
                        fits &= self.below(Part::Name(name), *schema, member);
                    }
                    if let (false, Some(schema)) = (known, others) {
                        fits &= self.below(Part::Name(name), *schema, member);
                    }
                }
                fits
            }
            Rule::PropertyNames(schema) => {
                for name in members.keys() {
                    let text = Value::String(name.clone());
                    let mut inner = Check {
                        schema: self.schema,
                        left: self.left,
                        depth: self.depth,
                        quiet: 1,
                        spent: self.spent,
                        path: Vec::new(),
                        found: Vec::new(),
                    };
                    let matches = inner.node(*schema, &text);
                    (self.left, self.spent) = (inner.left, inner.spent);
                    if !matches {
                        return self.differs("propertyNames", || format!("must not have a member '{}'", shown(name)));
                    }
                }
                true
            }
            Rule::DependentSchemas(schemas) => {
                let wanted: Vec<Id> = schemas.iter().filter(|(name, _)| members.contains_key(*name)).map(|(_, id)| *id).collect();
                self.each(&wanted, value)
            }
            Rule::UnevaluatedProperties(schema) => {
                let seen = self.evaluated(id, value);
                let mut fits = true;
                for (name, member) in members.iter().filter(|(name, _)| !seen.members.contains(name.as_str())) {
                    fits &= self.below(Part::Name(name), *schema, member);
                }
                fits
            }
            _ => true,
        }
    }

    /// The schemas of `patternProperties` for a name.
    fn matching(&mut self, patterns: &[(regex_lite::Regex, Id)], name: &str) -> Vec<Id> {
        self.take(patterns.len() * (1 + name.len() / 8));
        patterns.iter().filter(|(pattern, _)| pattern.is_match(name)).map(|(_, id)| *id).collect()
    }

    fn is_one_of(&mut self, values: &[Value], value: &Value) -> bool {
        self.take(values.iter().map(cost).sum());
        values.iter().any(|known| same(known, value))
            || self.differs("enum", || {
                let known: Vec<String> = values.iter().map(Value::to_string).collect();
                format!("must be one of {}", shown(&known.join(", ")))
            })
    }

    fn wrong_type(&mut self, kinds: &[Kind], value: &Value) -> bool {
        self.differs("type", || {
            let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            format!("must be {}, got {}", names.join(" or "), name_of(value))
        })
    }

    /// Notes a difference; always false.
    fn differs(&mut self, rule: &'static str, message: impl FnOnce() -> String) -> bool {
        if self.quiet == 0 && self.found.len() < MAX_DIFFERENCES {
            let (mut path, mut place) = (String::new(), "args".to_owned());
            for part in &self.path {
                match part {
                    Part::Index(index) => {
                        path.push_str(&format!("/{index}"));
                        place.push_str(&format!("[{index}]"));
                    }
                    Part::Name(name) => {
                        path.push_str(&format!("/{}", name.replace('~', "~0").replace('/', "~1")));
                        place.push_str(&format!(".{}", shown(name)));
                    }
                }
            }
            self.found.push(Difference { path, place, rule, message: message() });
        }
        false
    }

    /// The parts of a value that the other rules of a subschema, and of those that it hands the whole value to, speak
    /// of.
    fn evaluated(&mut self, id: Id, value: &'a Value) -> Evaluated<'a> {
        let mut seen = Evaluated::default();
        self.collect(id, value, true, &mut seen);
        seen
    }

    fn collect(&mut self, id: Id, value: &'a Value, is_first: bool, seen: &mut Evaluated<'a>) {
        let schema = self.schema;
        self.take(1);
        self.spent |= self.depth >= MAX_DEPTH;
        let Some(node) = schema.nodes.get(id).filter(|_| !self.spent) else { return };
        self.depth += 1;
        for rule in &node.rules {
            let mut inside: Vec<Id> = Vec::new();
            match rule {
                Rule::Ref(target) => inside.push(*target),
                Rule::AllOf(all) => inside.extend(all),
                Rule::AnyOf(some) | Rule::OneOf(some) => inside.extend(some.iter().filter(|id| self.tries(**id, value))),
                Rule::If { condition, then, otherwise } => {
                    let holds = self.tries(*condition, value);
                    inside.extend(holds.then_some(*condition));
                    inside.extend(if holds { *then } else { *otherwise });
                }
                Rule::DependentSchemas(schemas) => {
                    inside.extend(schemas.iter().filter(|(name, _)| value.get(name).is_some()).map(|(_, id)| *id));
                }
                own => self.collect_own(own, value, is_first, seen),
            }
            for id in inside {
                self.collect(id, value, false, seen);
            }
        }
        self.depth -= 1;
    }

    fn collect_own(&mut self, rule: &Rule, value: &'a Value, is_first: bool, seen: &mut Evaluated<'a>) {
        match (rule, value) {
            (Rule::Items { first, rest }, Value::Array(items)) => {
                seen.items.extend(0..if rest.is_some() { items.len() } else { first.len().min(items.len()) });
            }
            (Rule::Contains { item, .. }, Value::Array(items)) => {
                for (index, value) in items.iter().enumerate() {
                    if self.tries(*item, value) {
                        seen.items.insert(index);
                    }
                }
            }
            (Rule::UnevaluatedItems(_), Value::Array(items)) if !is_first => seen.items.extend(0..items.len()),
            (Rule::Properties { named, matching, others }, Value::Object(members)) => {
                for name in members.keys() {
                    if others.is_some() || named.contains_key(name) || !self.matching(matching, name).is_empty() {
                        seen.members.insert(name);
                    }
                }
            }
            (Rule::UnevaluatedProperties(_), Value::Object(members)) if !is_first => {
                seen.members.extend(members.keys().map(String::as_str));
            }
            _ => {}
        }
    }
}

/// Parts of a value that rules have spoken of.
#[derive(Default)]
struct Evaluated<'a> {
    items: HashSet<usize>,
    members: HashSet<&'a str>,
}

/// Whether a text has at least so many characters.
fn longer(text: &str, characters: u64) -> bool {
    let Some(last) = characters.checked_sub(1) else { return true };
    usize::try_from(last).is_ok_and(|last| text.chars().nth(last).is_some())
}

fn is_a(value: &Value, kind: Kind) -> bool {
    match value {
        Value::Null => kind == Kind::Null,
        Value::Bool(_) => kind == Kind::Boolean,
        Value::Number(number) => kind == Kind::Number || (kind == Kind::Integer && is_integer(number)),
        Value::String(_) => kind == Kind::String,
        Value::Array(_) => kind == Kind::Array,
        Value::Object(_) => kind == Kind::Object,
    }
}

fn name_of(value: &Value) -> &'static str {
    let kinds = [Kind::Null, Kind::Boolean, Kind::Integer, Kind::Number, Kind::String, Kind::Array, Kind::Object];
    kinds.into_iter().find(|kind| is_a(value, *kind)).map_or("?", Kind::as_str)
}

/// Steps that a comparison with a value of the schema takes.
fn cost(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(cost).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(cost).sum::<usize>(),
        _ => 1,
    }
}

fn shown(text: &str) -> String {
    if text.chars().count() <= MAX_SHOWN { text.to_owned() } else { text.chars().take(MAX_SHOWN).chain(['…']).collect() }
}

fn size(words: &str, count: u64, noun: &str) -> String {
    format!("must have {words} {count} {noun}{}", if count == 1 { "" } else { "s" })
}
