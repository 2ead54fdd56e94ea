//! The trace that a job belongs to (extensions section 12): W3C `traceparent`, or the plain `trace_id` beside it.
use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    traceparent: Option<Text<'a>>,
    #[serde(borrow)]
    trace_id: Option<Text<'a>>,
}

/// A string; anything else counts as absent.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text<'a> {
    Is(#[serde(borrow)] Cow<'a, str>),
    Other(serde::de::IgnoredAny),
}

impl<'a> Text<'a> {
    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Is(text) if !text.is_empty() => Some(text),
            Self::Is(_) | Self::Other(_) => None,
        }
    }
}

/// The trace id in a `meta` object, JSON text.
///
/// ```
/// use ojs_model::trace;
/// let meta = r#"{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","trace_id":"other"}"#;
/// assert_eq!(trace::id_of(meta).as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
/// assert_eq!(trace::id_of(r#"{"trace_id":"t1"}"#).as_deref(), Some("t1"));
/// assert_eq!(trace::id_of("{}"), None);
/// ```
#[must_use]
pub fn id_of(meta: &str) -> Option<String> {
    // Both names start so: a job without a trace costs one search.
    if !meta.contains("\"trace") {
        return None;
    }
    let meta: Meta<'_> = serde_json::from_str(meta).ok()?;
    let parent = meta.traceparent.and_then(Text::text);
    let parent = parent.as_deref().and_then(trace_of);
    parent.map(str::to_owned).or_else(|| meta.trace_id.and_then(Text::text).map(Cow::into_owned))
}

/// `version-traceid-parentid-flags`: the second part, when it is 32 hex digits and not all zero.
fn trace_of(parent: &str) -> Option<&str> {
    let id = parent.split('-').nth(1)?;
    let valid = id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) && id.bytes().any(|b| b != b'0');
    valid.then_some(id)
}
