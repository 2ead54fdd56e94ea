//! What a server says of itself.
use serde_json::Value;

/// Whether a manifest names an extension, in any of the published forms: an object of lists, or one list, of names or
/// of objects with a name.
pub fn has_extension(manifest: &[u8], wanted: &str) -> bool {
    let manifest: Value = serde_json::from_slice(manifest).unwrap_or_default();
    manifest.get("extensions").is_some_and(|extensions| named(extensions, wanted))
}

fn named(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(name) => name == wanted,
        Value::Array(entries) => entries.iter().any(|entry| named(entry, wanted)),
        Value::Object(object) => match object.get("name") {
            Some(name) => named(name, wanted),
            None => object.values().any(|list| named(list, wanted)),
        },
        _ => false,
    }
}
