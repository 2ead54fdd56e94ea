//! Checks on raw JSON text, and the writing of fragments.
//!
//! Arguments, metadata and results travel as the text that the client sent: numbers keep their digits, objects their
//! key order. serde_json's `RawValue` skips over that text without looking at nesting or surrogates, so one pass over
//! the body does it here, before anything is parsed.
use crate::limits::MAX_DEPTH;

/// Why a body is refused before parsing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Bytes that are not UTF-8.
    #[error("body is not valid UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// More than [`MAX_DEPTH`] levels.
    #[error("JSON is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// A `\ud800`-style escape without its partner.
    #[error("string with a lone surrogate escape at byte {0}")]
    LoneSurrogate(usize),
}

/// Checks encoding, depth and surrogates; syntax is left to the parser.
///
/// # Errors
/// The first [`Fault`] found.
pub fn lint(body: &[u8]) -> Result<&str, Fault> {
    let text = std::str::from_utf8(body).map_err(|e| Fault::NotUtf8(e.valid_up_to()))?;
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut bytes = body.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                if let Some((_, b'u')) = bytes.next() {
                    let skip = surrogate_escape(body, at)?;
                    for _ in 0..skip {
                        bytes.next();
                    }
                }
            }
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Fault::TooDeep);
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(text)
}

/// Looks at the `\uXXXX` at `at`; returns how many bytes behind the `u` belong to it.
fn surrogate_escape(body: &[u8], at: usize) -> Result<usize, Fault> {
    match hex4(body, at + 2) {
        Some(0xDC00..=0xDFFF) => Err(Fault::LoneSurrogate(at)),
        Some(0xD800..=0xDBFF) => {
            let partner = body.get(at + 6..at + 8) == Some(b"\\u") && matches!(hex4(body, at + 8), Some(0xDC00..=0xDFFF));
            if partner { Ok(10) } else { Err(Fault::LoneSurrogate(at)) }
        }
        // Not four hex digits: the parser says so with a better message.
        Some(_) | None => Ok(0),
    }
}

fn hex4(body: &[u8], from: usize) -> Option<u32> {
    let digits = std::str::from_utf8(body.get(from..from + 4)?).ok()?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Appends `"text"` with the escapes that JSON needs.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    if text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        out.push_str(text);
    } else {
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
    }
    out.push('"');
}

/// Appends `,"name":raw`, without the comma at the start of a fragment.
pub fn push_member(out: &mut String, name: &str, raw: &str) {
    if !out.is_empty() && !out.ends_with('{') {
        out.push(',');
    }
    push_string(out, name);
    out.push(':');
    out.push_str(raw);
}

/// Appends `,"name":"text"`.
pub fn push_text(out: &mut String, name: &str, text: &str) {
    push_member(out, name, "");
    push_string(out, text);
}

/// Appends `,"name":value` for anything that prints as bare JSON: numbers, booleans.
pub fn push_bare(out: &mut String, name: &str, value: impl std::fmt::Display) {
    use std::fmt::Write;
    push_member(out, name, "");
    // Writing to a String cannot fail.
    let _ = write!(out, "{value}");
}

/// Appends `,"name":"2026-02-12T10:30:00.000Z"`.
pub fn push_time(out: &mut String, name: &str, time: crate::Timestamp) {
    use std::fmt::Write;
    push_member(out, name, "\"");
    let _ = write!(out, "{time}");
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn depth_counts_outside_strings_only() {
        let ok = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(lint(ok.as_bytes()).is_ok());
        let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1));
        assert_eq!(lint(deep.as_bytes()), Err(Fault::TooDeep));
        let quoted = format!("\"{}\"", "[".repeat(1000));
        assert!(lint(quoted.as_bytes()).is_ok());
        assert!(lint(br#"["\"[[[", "\\"]"#).is_ok());
    }

    #[test]
    fn surrogates_come_in_pairs() {
        assert!(lint(br#""\ud83d\ude00""#).is_ok());
        for lone in [&br#""\ud83d""#[..], br#""\ude00""#, br#""\ud83dx""#, br#""\ud83d\u0041""#, br#"{"\ud800":1}"#] {
            assert!(matches!(lint(lone), Err(Fault::LoneSurrogate(_))), "{lone:?}");
        }
        assert!(lint(br#""\\ud83d""#).is_ok(), "an escaped backslash is not an escape");
        assert_eq!(lint(b"\"\xff\""), Err(Fault::NotUtf8(1)));
    }

    proptest! {
        #[test]
        fn strings_survive(text in "\\PC*|[\\x00-\\x1f\"\\\\]*") {
            let mut out = String::new();
            push_string(&mut out, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }

        #[test]
        fn lint_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = lint(&bytes);
        }
    }
}
