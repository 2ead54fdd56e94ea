//! Checks on raw JSON text, and the writing of fragments.
//!
//! Arguments, metadata and results travel as the text that the client sent: numbers keep their digits, objects their
//! key order. serde_json's `RawValue` skips over that text without looking at nesting or surrogates, so one pass over
//! the body does it here, before anything is parsed.
use std::borrow::Cow;

mod known;

use crate::limits::{MAX_DEPTH, MAX_NUMBER_BYTES};

pub use known::{known_members, member};

/// Why a body is refused before parsing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Bytes that are not UTF-8.
    #[error("body is not valid UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// More than [`MAX_DEPTH`] levels.
    #[error("JSON is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// A number that few parsers read as it is: beyond a double, or with very many digits.
    #[error(
        "JSON has a number at byte {0} that few parsers can read: use at most {MAX_NUMBER_BYTES} characters and a size below 1e308, or send it as a string"
    )]
    Number(usize),
    /// A `\ud800`-style escape without its partner.
    #[error("string with a lone surrogate escape at byte {0}")]
    LoneSurrogate(usize),
}

/// Checks encoding, depth, surrogates and the size of numbers; syntax is left to the parser.
///
/// # Errors
/// The first [`Fault`] found.
pub fn lint(body: &[u8]) -> Result<&str, Fault> {
    let text = std::str::from_utf8(body).map_err(|e| Fault::NotUtf8(e.valid_up_to()))?;
    // Most bodies hold no escape and few brackets: two vectorised counts settle them.
    if !body.contains(&b'\\') && openers(body) <= MAX_DEPTH && !may_have_odd_numbers(body) {
        return Ok(text);
    }
    walk(body)?;
    Ok(text)
}

/// How many `[` and `{` there are; the two differ in one bit.
fn openers(body: &[u8]) -> usize {
    body.iter().filter(|b| **b | 0x20 == b'{').count()
}

/// Whether there may be a number with an exponent, or a long one. Ids with a digit before an `e` do not count.
fn may_have_odd_numbers(body: &[u8]) -> bool {
    // A run of more than twice so many bytes fills one of the chunks, wherever it begins. Long runs come first, because
    // the search for an exponent goes back through a run from each `e` in it.
    body.chunks_exact(MAX_NUMBER_BYTES / 4).any(|chunk| chunk.iter().all(|b| is_of_number(*b)))
        || memchr::memchr2_iter(b'e', b'E', body).any(|at| is_exponent(body, at))
}

/// Whether the `e` at a place may be the one of a number.
fn is_exponent(body: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| body.get(before));
    matches!(before, Some(b'0'..=b'9' | b'.')) && is_number(body, at)
}

/// Whether the run of a number's characters around a byte begins where a value may begin.
fn is_number(body: &[u8], at: usize) -> bool {
    let before = body.get(..at).unwrap_or_default().iter().rev();
    may_precede_value(before.into_iter().find(|b| !is_of_number(**b)).copied())
}

/// Whether a value may follow this byte; nothing is the beginning of the text.
fn may_precede_value(byte: Option<u8>) -> bool {
    matches!(byte, None | Some(b':' | b',' | b'[' | b' ' | b'\t' | b'\r' | b'\n'))
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'+' | b'-' | b'e' | b'E')
}

/// `rest` begins behind the first byte of a number of `body`; returns what follows it.
fn skip_number<'a>(body: &[u8], rest: &'a [u8]) -> Result<&'a [u8], Fault> {
    let length = rest.iter().position(|b| !is_of_number(*b)).unwrap_or(rest.len());
    let start = (body.len() - rest.len()).saturating_sub(1);
    let text = body.get(start..start + 1 + length).unwrap_or_default();
    // Short plain ones are most; what is no number at all is left to the parser.
    let plain = text.len() <= 20 && !text.iter().any(|b| b | 0x20 == b'e');
    if !plain && (text.len() > MAX_NUMBER_BYTES || !fits_double(text)) {
        return Err(Fault::Number(start));
    }
    Ok(rest.get(length..).unwrap_or_default())
}

/// Whether a double comes near it: neither infinite nor, while it is not zero, zero.
fn fits_double(text: &[u8]) -> bool {
    let Some(value) = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) else { return true };
    let mantissa = text.iter().take_while(|b| **b | 0x20 != b'e');
    let is_zero = !mantissa.into_iter().any(|b| matches!(b, b'1'..=b'9'));
    value.is_finite() && (is_zero || value != 0.0)
}

/// Depth and surrogates, byte by byte outside strings, escape by escape inside.
fn walk(body: &[u8]) -> Result<(), Fault> {
    let mut depth = 0_usize;
    let mut rest = body;
    let mut before = None;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        let begins = may_precede_value(before);
        before = Some(*byte);
        match byte {
            b'"' => rest = skip_string(body, rest)?,
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Fault::TooDeep);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            // Elsewhere the parser finds that it is no number.
            b'0'..=b'9' | b'-' if begins => rest = skip_number(body, rest)?,
            _ => {}
        }
    }
    Ok(())
}

/// `rest` begins inside a string of `body`; returns what follows its closing quote.
fn skip_string<'a>(body: &[u8], mut rest: &'a [u8]) -> Result<&'a [u8], Fault> {
    loop {
        let Some(stop) = memchr::memchr2(b'"', b'\\', rest) else { return Ok(&[]) };
        let (stopper, tail) = rest.split_at_checked(stop).and_then(|(_, tail)| tail.split_first()).unwrap_or((&b'"', &[]));
        if *stopper == b'"' {
            return Ok(tail);
        }
        let skip = match tail {
            [b'u', digits @ ..] => 1 + surrogate_escape(digits).ok_or(Fault::LoneSurrogate(body.len() - tail.len() - 1))?,
            _ => 1,
        };
        rest = tail.get(skip..).unwrap_or_default();
    }
}

/// Looks at what follows `\u`; returns how many bytes behind the `u` belong to the escape, `None` for a lone surrogate.
fn surrogate_escape(digits: &[u8]) -> Option<usize> {
    match hex4(digits) {
        Some(0xDC00..=0xDFFF) => None,
        Some(0xD800..=0xDBFF) => {
            let partner = digits.get(4..).and_then(|rest| rest.strip_prefix(b"\\u")).and_then(hex4);
            matches!(partner, Some(0xDC00..=0xDFFF)).then_some(10)
        }
        Some(_) => Some(4),
        // Not four hex digits: the parser says so with a better message.
        None => Some(0),
    }
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.get(..4)?.iter().try_fold(0, |n, b| Some(n * 16 + char::from(*b).to_digit(16)?))
}

/// What the parser says, short: its messages quote the value they met, however long it is.
#[must_use]
pub fn describe(error: &serde_json::Error) -> String {
    const LONGEST: usize = 200;
    let message = error.to_string();
    match message.char_indices().nth(LONGEST) {
        None => message,
        Some((cut, _)) => {
            format!("{}… at line {} column {}", message.get(..cut).unwrap_or_default(), error.line(), error.column())
        }
    }
}

/// The text of a JSON string, borrowed where it holds no escapes. `None` when `raw`, one valid JSON value, is not a string.
#[must_use]
pub fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.as_bytes().contains(&b'\\') { serde_json::from_str(raw).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// The members of an object in their order, values as the text they came in. Of equal names the last one counts.
///
/// # Errors
/// When `text` is no JSON object.
pub fn members(text: &str) -> Result<Vec<(Cow<'_, str>, &str)>, serde_json::Error> {
    crate::envelope::members(text)
}

/// The object of members that are written without braces, as stored jobs and the extras of events are.
///
/// ```
/// assert_eq!(ojs_model::json::object(r#""attempt":2"#), r#"{"attempt":2}"#);
/// ```
#[must_use]
pub fn object(members: &str) -> String {
    let mut out = String::with_capacity(members.len() + 2);
    out.push('{');
    out.push_str(members);
    out.push('}');
    out
}

/// Length of a JSON text without the blanks between its tokens.
#[must_use]
pub fn compact_len(text: &str) -> usize {
    let mut inside = false;
    let mut escaped = false;
    let counted = text.bytes().filter(|b| {
        if inside {
            inside = escaped || *b != b'"';
            escaped = !escaped && *b == b'\\';
            return true;
        }
        inside = *b == b'"';
        !matches!(b, b' ' | b'\t' | b'\n' | b'\r')
    });
    counted.count()
}

/// Appends `"text"` with the escapes that JSON needs.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    // Without an early exit this loop is vectorised.
    if !text.bytes().fold(false, |found, b| found | (b < 0x20) | (b == b'"') | (b == b'\\')) {
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

/// Appends a whole number.
pub fn push_integer(out: &mut String, value: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Appends `,"name":number`: as [`push_bare`], around the formatter.
pub fn push_whole(out: &mut String, name: &str, value: impl itoa::Integer) {
    push_member(out, name, "");
    push_integer(out, value);
}

/// Appends `,"name":"2026-02-12T10:30:00.000Z"`.
pub fn push_time(out: &mut String, name: &str, time: crate::Timestamp) {
    push_member(out, name, "\"");
    time.push(out);
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
    fn a_member_is_found_wherever_it_stands() {
        let text = r#" { "a" : 1 , "b\\":"\"}" ,"c":[{"d":"]"}, 2 ],"d\u0065":null, "a":{"x":"\\\\"},"e":"" }"#;
        for (name, found) in
            [("a", r#"{"x":"\\\\"}"#), ("b\\", r#""\"}""#), ("c", r#"[{"d":"]"}, 2 ]"#), ("de", "null"), ("e", r#""""#)]
        {
            assert_eq!(member(text, name), Some(found), "{name}");
        }
        assert_eq!((member(text, "d"), member(text, "x"), member("{}", "a")), (None, None, None));
        for no_object in ["", "[]", "1", "\"a\"", "null", "{", "{\"a\"", "{\"a\":", "{\"a\":[", "{\"a\":\"", "{\"a\":\"\\"] {
            assert_eq!(member(no_object, "a"), None, "{no_object}");
        }
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::Value;
        let text = r#"[ab"\\\[\]{}:, \u{e9}\u{1}]{0,6}"#;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            text.prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::hash_map(text, inner, 0..5).prop_map(|members| members.into_iter().collect())
            ]
        })
    }

    proptest! {
        #[test]
        fn a_member_is_what_a_parser_finds(object in any_json(), spaced: bool) {
            let text = if spaced { format!("{object:#}") } else { object.to_string() };
            for (name, value) in object.as_object().into_iter().flatten() {
                let found: serde_json::Value = serde_json::from_str(member(&text, name).unwrap()).unwrap();
                prop_assert_eq!(&found, value);
            }
            prop_assert_eq!(member(&text, "not there"), None);
        }
    }

    #[test]
    fn surrogates_come_in_pairs() {
        assert!(lint(br#""\ud83d\ude00""#).is_ok());
        for lone in [&br#""\ud83d""#[..], br#""\ude00""#, br#""\ud83dx""#, br#""\ud83d\u0041""#, br#"{"\ud800":1}"#] {
            assert!(matches!(lint(lone), Err(Fault::LoneSurrogate(_))), "{lone:?}");
        }
        assert!(lint(br#""\\ud83d""#).is_ok(), "an escaped backslash is not an escape");
        assert!(lint(br#"["\ud83d\ude00","\u00e9\"[","\u12"]"#).is_ok());
        assert_eq!(lint(br#"["ab\n\udc00"]"#), Err(Fault::LoneSurrogate(6)));
        assert_eq!(lint(b"\"\xff\""), Err(Fault::NotUtf8(1)));
    }

    #[test]
    fn numbers_that_few_parsers_read_are_refused() {
        let digits = |n: usize| "7".repeat(n);
        for bad in
            ["1e400", "-1E+999", "1e-400", "0.5e99999999999", &digits(100_000), &digits(310), &format!("0.{}", digits(100_000))]
        {
            for text in [format!("[{bad}]"), format!(r#"{{"a":"\\","b":[{bad},1]}}"#)] {
                assert!(matches!(lint(text.as_bytes()), Err(Fault::Number(_))), "{}", text.get(..40).unwrap_or(&text));
            }
        }
        for good in
            ["1e308", "0", "-0.0", "0e999", "1e-300", "12345678901234567890123", &digits(300), "3.141592653589793238462643"]
        {
            assert!(lint(format!("[{good}]").as_bytes()).is_ok(), "{good}");
        }
        // Texts may hold anything.
        assert!(lint(format!(r#"["1e400","{}"]"#, digits(100_000)).as_bytes()).is_ok());
        assert_eq!(lint(b"[1, 1e400]"), Err(Fault::Number(4)));
    }

    #[test]
    fn a_text_full_of_exponents_is_read_once() {
        // With a search through the whole text for each exponent, this test would take hours.
        let text = "1e".repeat(8 << 20);
        assert!(lint(format!("[\"{text}\"]").as_bytes()).is_ok());
        let runs = format!("{}x", "1e".repeat(MAX_NUMBER_BYTES / 8)).repeat(20_000);
        assert!(lint(format!("[\"{runs}\"]").as_bytes()).is_ok());
    }

    #[test]
    fn messages_of_the_parser_are_cut() {
        let long = format!("\"{}\"", "\u{7f}é".repeat(100_000));
        let error = serde_json::from_str::<u8>(&long).unwrap_err();
        assert!(describe(&error).chars().count() < 250 && describe(&error).contains("line 1"));
        let error = serde_json::from_str::<u8>("[]").unwrap_err();
        assert_eq!(describe(&error), error.to_string());
    }

    #[test]
    fn strings_are_borrowed_where_they_can_be() {
        assert!(matches!(string("\"plain\""), Some(Cow::Borrowed("plain"))));
        assert_eq!(string(r#""a\u0041\n""#).as_deref(), Some("aA\n"));
        for other in ["1", "null", "[]", "{}", "true", "\""] {
            assert_eq!(string(other), None, "{other}");
        }
    }

    #[test]
    fn compact_length_leaves_out_blanks_between_tokens() {
        assert_eq!(compact_len(r#" { "a b" : [ 1 , "\" ] " ] } "#), r#"{"a b":[1,"\" ] "]}"#.len());
    }

    proptest! {
        #[test]
        fn the_fast_path_agrees_with_the_walk(text in r#"([\[\]{}" ,:a\-.+]|\\["u]|\\ud83d|\\ude00|\[{130}|[0-9a-f]{1,8}|[0-9]{1,3}[eE][+\-]?[0-9]{1,4}|7{300,900}|[0-9.eE+\-]{80,230}|[\t\n\r]){0,40}"#) {
            prop_assert_eq!(lint(text.as_bytes()).map(|_| ()), walk(text.as_bytes()));
        }

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
