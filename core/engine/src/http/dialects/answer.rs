//! Changes of an answer's text. Values stay as they were written: a result may hold numbers that no float can.
use std::borrow::Cow;

use ojs_model::json::{members, push_member, push_string};
use serde::Deserialize;

use super::Rule;

type Members<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// The text after all rules; `None` when it is no object and stays as it is. `version` is the one of the request.
pub fn reworded(rules: &[&Rule], version: Option<&str>, text: &str) -> Option<String> {
    let own = members(text).ok()?;
    let mut all: Members<'_> = own.into_iter().map(|(name, raw)| (name, Cow::Borrowed(raw))).collect();
    for rule in rules {
        if let Some(inner) = rule.lift.as_deref().and_then(|name| at(text, name)) {
            for (name, raw) in members(inner).unwrap_or_default() {
                if all.iter().all(|(known, _)| *known != name) {
                    all.push((name, Cow::Borrowed(raw)));
                }
            }
        }
        for (name, path) in &rule.set {
            if let Some(raw) = at(text, path) {
                put(&mut all, name, Cow::Borrowed(raw));
            }
        }
        for (name, paths) in &rule.names {
            put(&mut all, name, Cow::Owned(names(text, paths)));
        }
        if let (Some(name), Some(version)) = (&rule.version, version) {
            let mut quoted = String::new();
            push_string(&mut quoted, version);
            put(&mut all, name, Cow::Owned(quoted));
        }
    }
    let mut out = String::with_capacity(text.len() * 2);
    out.push('{');
    for (name, raw) in &all {
        push_member(&mut out, name, raw);
    }
    out.push('}');
    Some(out)
}

/// Sets a member, in the place of the one that has its name.
fn put<'a>(all: &mut Members<'a>, name: &str, raw: Cow<'a, str>) {
    match all.iter_mut().find(|(known, _)| known == name) {
        Some((_, value)) => *value = raw,
        None => all.push((Cow::Owned(name.to_owned()), raw)),
    }
}

/// The value at a path of names, such as `queue/name`.
fn at<'a>(text: &'a str, path: &str) -> Option<&'a str> {
    path.split('/').try_fold(text, |inner, name| ojs_model::json::member(inner, name))
}

/// The names in the lists at some paths, as a JSON array.
fn names(text: &str, paths: &[String]) -> String {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let lists = paths.iter().filter_map(|path| serde_json::from_str::<Vec<Named>>(at(text, path)?).ok());
    let mut out = String::from("[");
    for named in lists.flatten() {
        if out.len() > 1 {
            out.push(',');
        }
        push_string(&mut out, &named.name);
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn members_are_lifted_where_none_has_their_name() {
        let rule = Rule { lift: Some("job".into()), ..Rule::default() };
        let text = r#"{"job":{"id":"a","result":12345678901234567890.10,"warnings":"x"},"warnings":["w"]}"#;
        let lifted = r#"{"job":{"id":"a","result":12345678901234567890.10,"warnings":"x"},"warnings":["w"],"id":"a","result":12345678901234567890.10}"#;
        assert_eq!(reworded(&[&rule], None, text).unwrap(), lifted);
        assert_eq!(reworded(&[&rule], None, r#"{"job":null}"#).unwrap(), r#"{"job":null}"#);
        assert_eq!(reworded(&[&rule], None, "[]"), None);
    }

    #[test]
    fn members_are_set_from_elsewhere_and_lists_become_names() {
        let set = BTreeMap::from([("queue".to_owned(), "queue/name".to_owned()), ("absent".to_owned(), "queue/no".to_owned())]);
        let rule = Rule { set, ..Rule::default() };
        assert_eq!(reworded(&[&rule], None, r#"{"queue":{"name":"mail"},"n":1}"#).unwrap(), r#"{"queue":"mail","n":1}"#);
        let names = BTreeMap::from([("x".to_owned(), vec!["x/a".to_owned(), "x/b".to_owned(), "x/c".to_owned()])]);
        let rule = Rule { names, ..Rule::default() };
        let text = r#"{"x":{"a":[{"name":"one","uri":"u"}],"b":[{"name":"two"}]}}"#;
        assert_eq!(reworded(&[&rule], None, text).unwrap(), r#"{"x":["one","two"]}"#);
    }

    #[test]
    fn the_version_becomes_the_one_that_the_request_names() {
        let rule = Rule { version: Some("version".into()), ..Rule::default() };
        let text = r#"{"status":"ok","version":"1.0"}"#;
        assert_eq!(reworded(&[&rule], Some("1.0.0-rc.1"), text).unwrap(), r#"{"status":"ok","version":"1.0.0-rc.1"}"#);
        assert_eq!(reworded(&[&rule], Some("1\""), text).unwrap(), r#"{"status":"ok","version":"1\""}"#);
        assert_eq!(reworded(&[&rule], None, text).unwrap(), text);
    }
}
