//! What templates can do with names and texts.
use heck::{ToLowerCamelCase, ToPascalCase, ToShoutySnakeCase, ToSnakeCase};
use minijinja::{Environment, Error, ErrorKind};

/// Adds them all.
pub fn register(environment: &mut Environment<'_>) {
    environment.add_filter("snake", |name: String| name.to_snake_case());
    environment.add_filter("screaming", |name: String| name.to_shouty_snake_case());
    environment.add_filter("camel", |name: String| name.to_lower_camel_case());
    environment.add_filter("pascal", |name: String| name.to_pascal_case());
    environment.add_filter("pad", |text: String, width: usize| format!("{text:width$}"));
    environment.add_filter("low", low);
    environment.add_filter("bare", bare);
    environment.add_filter("wrap", wrap);
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
