//! Members of text that is known to be JSON: it is not checked again, and values are skipped without a look into them.
use std::borrow::Cow;

use super::string;

/// The members of an object that is known to be JSON, in their order, values as the text they came in.
///
/// `text` is not checked again, and values are skipped without a look into them. There are none where it is no object.
///
/// ```
/// let members: Vec<_> = ojs_model::json::known_members(r#"{"type": "mail", "args": [1]}"#).collect();
/// assert_eq!(members, [("type".into(), r#""mail""#), ("args".into(), "[1]")]);
/// ```
pub fn known_members(text: &str) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
    let rest = text.trim_ascii_start().strip_prefix('{').unwrap_or_default();
    Members { text: rest, at: 0 }
}

/// One member of an object that is known to be JSON, as the text it came in. `None` when there is none of this name, or
/// `text` is no object. Of equal names the last one counts.
///
/// ```
/// assert_eq!(ojs_model::json::member(r#"{"type": "mail", "args": [1]}"#, "args"), Some("[1]"));
/// ```
#[must_use]
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    known_members(text).filter(|(key, _)| key == name).last().map(|(_, value)| value)
}

/// Members, one after the other.
struct Members<'a> {
    /// An object without its first brace.
    text: &'a str,
    /// Where the next member begins.
    at: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let key = token(bytes, self.at);
        let (key_end, has_escapes) = key_end(bytes, key)?;
        let colon = token(bytes, key_end);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        let value = token(bytes, colon + 1);
        let end = value_end(bytes, value)?;
        let next = token(bytes, end);
        self.at = next + usize::from(bytes.get(next) == Some(&b','));
        let name =
            if has_escapes { string(self.text.get(key..key_end)?)? } else { Cow::Borrowed(self.text.get(key + 1..key_end - 1)?) };
        Some((name, self.text.get(value..end)?))
    }
}

/// Where the next token begins: behind blanks.
fn token(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Where a name ends, quotes included, and whether it has escapes. Names are short, so their bytes are looked at one by
/// one.
fn key_end(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    if bytes.get(start) != Some(&b'"') {
        return None;
    }
    let (mut at, mut has_escapes) = (start + 1, false);
    loop {
        match bytes.get(at)? {
            b'"' => return Some((at + 1, has_escapes)),
            b'\\' => {
                has_escapes = true;
                at += 2;
            }
            _ => at += 1,
        }
    }
}

/// Where a value ends.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => text_end(bytes, start),
        b'[' | b'{' => nested_end(bytes, start),
        // A number, `true`, `false` or `null`.
        _ => {
            let rest = bytes.get(start..)?;
            let length = rest.iter().position(|b| matches!(b, b',' | b']' | b'}') || b.is_ascii_whitespace());
            Some(start + length.unwrap_or(rest.len()))
        }
    }
}

/// Where a text ends, quotes included.
fn text_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Where an array or an object ends.
fn nested_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, start);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = text_end(bytes, at)?;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}
