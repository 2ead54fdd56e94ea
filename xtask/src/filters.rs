//! What templates can do with names and texts.
use std::collections::BTreeMap;

use heck::{ToLowerCamelCase, ToPascalCase, ToShoutySnakeCase, ToSnakeCase};
use minijinja::{Environment, Error, ErrorKind};

use crate::literal;
use crate::operation::Group;

/// Adds them all.
pub fn register(environment: &mut Environment<'_>, groups: &[Group]) {
    let methods = method_names(groups);
    environment.add_filter("said", move |text: String, language: String| said(&text, &language, &methods));
    environment.add_filter("literal", |value: minijinja::Value, language: String| literal::of(&value, &language));
    environment.add_filter("snake", |name: String| name.to_snake_case());
    environment.add_filter("screaming", |name: String| name.to_shouty_snake_case());
    environment.add_filter("camel", |name: String| name.to_lower_camel_case());
    environment.add_filter("pascal", |name: String| name.to_pascal_case());
    environment.add_filter("pad", |text: String, width: usize| format!("{text:width$}"));
    environment.add_filter("low", low);
    environment.add_filter("bare", bare);
    environment.add_filter("wrap", wrap);
    environment.add_filter("text_of_kind", text_of_kind);
}

/// The methods of operations: by the operation's name, the part that they are in, the short name, and names by language.
type MethodNames = BTreeMap<String, (Option<String>, String, BTreeMap<String, String>)>;

fn method_names(groups: &[Group]) -> MethodNames {
    let all = groups.iter().flat_map(|group| group.operations.iter().map(move |operation| (group, operation)));
    all.map(|(group, operation)| (operation.name.clone(), (group.part.clone(), operation.short.clone(), operation.names.clone())))
        .collect()
}

/// A text of the tables in the notation of a language: `` `words` `` of the wire, and `[names]` of operations.
fn said(text: &str, language: &str, methods: &MethodNames) -> Result<String, Error> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '[']) {
        let (before, from) = rest.split_at(at);
        let end = if from.starts_with('`') { '`' } else { ']' };
        let missing = || Error::new(ErrorKind::InvalidOperation, format!("no {end} in: {text}"));
        let (inside, after) = from.get(1..).and_then(|from| from.split_once(end)).ok_or_else(missing)?;
        out.push_str(before);
        if end == '`' {
            out.push_str(&word(inside, language));
        } else {
            let unknown = || Error::new(ErrorKind::InvalidOperation, format!("[{inside}] is no operation: {text}"));
            out.push_str(&method(inside, language, methods.get(inside).ok_or_else(unknown)?));
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// A word of the wire.
fn word(text: &str, language: &str) -> String {
    match language {
        "python" => format!("``{text}``"),
        "ruby" => format!("<tt>{text}</tt>"),
        "go" | "c" => format!("\"{text}\""),
        "java" => format!("{{@code {text}}}"),
        _ => format!("`{text}`"),
    }
}

/// The method of another operation.
fn method(name: &str, language: &str, (part, short, names): &(Option<String>, String, BTreeMap<String, String>)) -> String {
    let own = names.get(language).map_or(name, String::as_str);
    match language {
        "python" => format!(":meth:`{own}`"),
        "ruby" => own.to_owned(),
        "go" => format!("[Client.{}]", own.to_pascal_case()),
        "rust" => format!("[`{own}`](Self::{own})"),
        "java" => format!("{{@link #{}}}", short.to_lower_camel_case()),
        "node" => match part {
            Some(part) => format!("`{}.{}()`", part.to_lower_camel_case(), short.to_lower_camel_case()),
            None => format!("`{}()`", name.to_lower_camel_case()),
        },
        "c" => format!("ojs_{name}()"),
        _ => format!("`{name}`"),
    }
}

/// The text with a small first letter, unless its first word is a name in capitals (`URI`).
fn low(text: String) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(_), Some(second)) if second.is_uppercase() => text,
        (Some(first), _) => first.to_lowercase().chain(text.chars().skip(1)).collect(),
        _ => text,
    }
}

/// How the text of a variable of this kind looks, for the documentation.
fn text_of_kind(kind: String) -> &'static str {
    match kind.as_str() {
        "names" => "names with commas between them",
        "count" => "a whole number of at least 1",
        "bytes" => "a number of at least 1",
        "length" => "seconds, or `PT25S`, or `25s`",
        "proxy" => "`environment` or `none`",
        "keys" => "`name:key,name:key`",
        _ => "text",
    }
}

/// The text without its final stop.
fn bare(text: String) -> String {
    text.trim_end_matches('.').to_owned()
}

/// Lines of at most `width` characters, each but the first beginning with `prefix`.
fn wrap(text: String, width: usize, prefix: String) -> Result<String, Error> {
    if width == 0 {
        return Err(Error::new(ErrorKind::InvalidOperation, "a width of 0"));
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    Ok(lines.join(&format!("\n{prefix}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_letters() {
        assert_eq!(low("The queue.".into()), "the queue.");
        assert_eq!(low("URI of it.".into()), "URI of it.");
        assert_eq!(low(String::new()), "");
    }

    #[test]
    fn long_texts_are_broken() {
        assert_eq!(wrap("one two three".into(), 7, "// ".into()).unwrap(), "one two\n// three");
        assert_eq!(wrap("unbreakable x".into(), 3, "# ".into()).unwrap(), "unbreakable\n# x");
    }
}
