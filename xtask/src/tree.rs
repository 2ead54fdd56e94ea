//! The classes of errors as a picture, for the documentation of a language.
use crate::schema::{Class, Language};

/// One line per class, in the order of the tree: branches, name, a few words about it.
pub fn drawn(classes: &[Class], language: Language) -> Vec<String> {
    let mut found = Vec::new();
    branch(classes, language, None, "", &mut found);
    let width = found.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    found.iter().map(|(name, short)| format!("{name:width$} {short}")).collect()
}

fn branch(classes: &[Class], language: Language, parent: Option<&str>, before: &str, found: &mut Vec<(String, String)>) {
    let children = classes.iter().filter(|class| class.parent.as_deref() == parent && !class.not_in.contains(&language));
    let mut children = children.peekable();
    while let Some(class) = children.next() {
        let (here, below) = if children.peek().is_some() { ("├── ", "│   ") } else { ("└── ", "    ") };
        let name = class.names.get(&language).map_or(class.name.as_str(), String::as_str);
        found.push((format!("{before}{here}{name}"), class.short.clone()));
        branch(classes, language, Some(&class.name), &format!("{before}{below}"), found);
    }
}
