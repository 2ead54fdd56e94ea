//! What a new version of a schema asks that the one before did not: arguments of the old one may not match it.
use serde_json::{Map, Value};

/// Changes that one answer names.
const MAX_CHANGES: usize = 10;
/// Deepest level that is compared.
const MAX_DEPTH: usize = 32;

/// The changes that need a new major version. Subschemas are compared by their place: `properties`, `items`,
/// `prefixItems`.
pub(crate) fn breaking_changes(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("args", before, after, 0, &mut found);
    found.truncate(MAX_CHANGES);
    found
}

fn compare(place: &str, before: &Value, after: &Value, depth: usize, found: &mut Vec<String>) {
    let empty = Map::new();
    if after == &Value::Bool(false) && before != after {
        found.push(format!("{place}: nothing is allowed any more"));
    }
    let (before, after) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    if depth > MAX_DEPTH || found.len() >= MAX_CHANGES {
        return;
    }
    types(place, before, after, found);
    bounds(place, before, after, found);
    members(place, before, after, depth, found);
    elements(place, before, after, depth, found);
}

fn words(schema: &Map<String, Value>, keyword: &str) -> Vec<String> {
    let own = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match schema.get(keyword) {
        Some(Value::Array(values)) => values.iter().map(own).collect(),
        Some(value) => vec![own(value)],
        None => Vec::new(),
    }
}

fn types(place: &str, before: &Map<String, Value>, after: &Map<String, Value>, found: &mut Vec<String>) {
    let (old, new) = (words(before, "type"), words(after, "type"));
    let covered = |kind: &String| new.contains(kind) || (kind == "integer" && new.iter().any(|kind| kind == "number"));
    if !new.is_empty() && (old.is_empty() || !old.iter().all(covered)) {
        let old = if old.is_empty() { "any".to_owned() } else { old.join(" or ") };
        found.push(format!("{place}: type '{old}' was changed to '{}'", new.join(" or ")));
    }
    let new = words(after, "enum");
    let old = words(before, "enum");
    if after.contains_key("enum") && (!before.contains_key("enum") || !old.iter().all(|value| new.contains(value))) {
        found.push(format!("{place}: values were removed from 'enum'"));
    }
    for keyword in ["const", "pattern", "multipleOf"] {
        if after.contains_key(keyword) && before.get(keyword) != after.get(keyword) {
            found.push(format!("{place}: '{keyword}' was added or changed"));
        }
    }
}

fn bounds(place: &str, before: &Map<String, Value>, after: &Map<String, Value>, found: &mut Vec<String>) {
    let number = |schema: &Map<String, Value>, keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    for keyword in ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"] {
        if number(after, keyword).is_some_and(|new| number(before, keyword).is_none_or(|old| new < old)) {
            found.push(format!("{place}: '{keyword}' was narrowed"));
        }
    }
    for keyword in ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"] {
        if number(after, keyword).is_some_and(|new| number(before, keyword).is_none_or(|old| new > old)) {
            found.push(format!("{place}: '{keyword}' was narrowed"));
        }
    }
    if after.get("uniqueItems") == Some(&Value::Bool(true)) && before.get("uniqueItems") != after.get("uniqueItems") {
        found.push(format!("{place}: 'uniqueItems' was added"));
    }
}

fn members(place: &str, before: &Map<String, Value>, after: &Map<String, Value>, depth: usize, found: &mut Vec<String>) {
    let old = words(before, "required");
    for name in words(after, "required").iter().filter(|name| !old.contains(name)) {
        found.push(format!("{place}: required field '{name}' was added"));
    }
    let empty = Map::new();
    let properties = |schema| Map::get(schema, "properties").and_then(Value::as_object).unwrap_or(&empty);
    for (name, schema) in properties(before) {
        match properties(after).get(name) {
            Some(new) => compare(&format!("{place}.{name}"), schema, new, depth + 1, found),
            None => found.push(format!("{place}: field '{name}' was removed")),
        }
    }
    let closed = |schema: &Map<String, Value>| schema.get("additionalProperties") == Some(&Value::Bool(false));
    if closed(after) && !closed(before) {
        found.push(format!("{place}: 'additionalProperties' was set to false"));
    }
}

fn elements(place: &str, before: &Map<String, Value>, after: &Map<String, Value>, depth: usize, found: &mut Vec<String>) {
    let (old, old_rest) = tuple(before);
    let (new, new_rest) = tuple(after);
    for index in 0..old.len().max(new.len()) {
        let (old, new) = (old.get(index).or(old_rest.as_ref()), new.get(index).or(new_rest.as_ref()));
        compare(
            &format!("{place}[{index}]"),
            old.unwrap_or(&Value::Bool(true)),
            new.unwrap_or(&Value::Bool(true)),
            depth + 1,
            found,
        );
    }
    let anything = Value::Bool(true);
    compare(
        &format!("{place}[]"),
        old_rest.as_ref().unwrap_or(&anything),
        new_rest.as_ref().unwrap_or(&anything),
        depth + 1,
        found,
    );
}

/// The schemas of the first elements, and of the others.
fn tuple(schema: &Map<String, Value>) -> (Vec<Value>, Option<Value>) {
    match schema.get("items") {
        Some(Value::Array(first)) => (first.clone(), schema.get("additionalItems").cloned()),
        rest => {
            let first = schema.get("prefixItems").and_then(Value::as_array);
            (first.cloned().unwrap_or_default(), rest.cloned())
        }
    }
}
