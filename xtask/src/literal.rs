//! Values of examples as code of a language.
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

/// The value as a program in this language would write it.
pub fn of(value: &Value, language: &str) -> Result<String, Error> {
    let items = || value.try_iter()?.map(|item| of(&item, language)).collect::<Result<Vec<_>, _>>();
    Ok(match value.kind() {
        ValueKind::None | ValueKind::Undefined => nothing(language).to_owned(),
        ValueKind::Bool if language == "python" => if value.is_true() { "True" } else { "False" }.to_owned(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number => value.to_string(),
        ValueKind::String => text(value.as_str().unwrap_or_default(), language),
        ValueKind::Seq | ValueKind::Iterable => list(&items()?, language),
        ValueKind::Map => map(value, language)?,
        kind => return Err(Error::new(ErrorKind::InvalidOperation, format!("an example holds {kind}"))),
    })
}

fn nothing(language: &str) -> &'static str {
    match language {
        "python" => "None",
        "ruby" | "go" => "nil",
        _ => "null",
    }
}

/// Text in quotes. No example holds a quote or a backslash.
fn text(text: &str, language: &str) -> String {
    let quote = if language == "node" { '\'' } else { '"' };
    format!("{quote}{text}{quote}")
}

fn list(items: &[String], language: &str) -> String {
    let items = items.join(", ");
    match language {
        "go" => format!("[]string{{{items}}}"),
        "java" => format!("List.of({items})"),
        "kotlin" => format!("listOf({items})"),
        _ => format!("[{items}]"),
    }
}

fn map(value: &Value, language: &str) -> Result<String, Error> {
    let mut members = Vec::new();
    for name in value.try_iter()? {
        let member = of(&value.get_item(&name)?, language)?;
        let name = name.as_str().unwrap_or_default();
        members.push(match language {
            "node" | "ruby" => format!("{name}: {member}"),
            "java" => format!("\"{name}\", {member}"),
            "kotlin" => format!("\"{name}\" to {member}"),
            _ => format!("\"{name}\": {member}"),
        });
    }
    let members = members.join(", ");
    Ok(match language {
        "node" | "ruby" => format!("{{ {members} }}"),
        "go" => format!("ojs.Obj{{{members}}}"),
        "java" => format!("Map.of({members})"),
        "kotlin" => format!("mapOf({members})"),
        "rust" => format!("json!({{{members}}})"),
        _ => format!("{{{members}}}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_each_language() {
        let value = Value::from_serialize(serde_json::json!({"a": [1, "x"], "b": true}));
        let written = |language| of(&value, language).unwrap();
        assert_eq!(written("python"), r#"{"a": [1, "x"], "b": True}"#);
        assert_eq!(written("ruby"), r#"{ a: [1, "x"], b: true }"#);
        assert_eq!(written("node"), "{ a: [1, 'x'], b: true }");
        assert_eq!(written("go"), r#"ojs.Obj{"a": []string{1, "x"}, "b": true}"#);
        assert_eq!(written("kotlin"), r#"mapOf("a" to listOf(1, "x"), "b" to true)"#);
        assert_eq!(written("java"), r#"Map.of("a", List.of(1, "x"), "b", true)"#);
    }
}
