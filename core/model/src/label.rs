//! Labels: keys of limits and of shared queues, ids of trains and of tenants.

/// Whether a text is a label: letters, digits, `.`, `_`, `:` and `-` of ASCII, the first one a letter or digit, at most
/// `most` bytes.
///
/// ```
/// use ojs_model::label::is_label;
/// assert!(is_label("dest_123", 255) && is_label("acme:eu-1", 255));
/// assert!(!is_label("", 255) && !is_label("_a", 255) && !is_label("a b", 255) && !is_label("abc", 2));
/// ```
#[must_use]
pub fn is_label(text: &str, most: usize) -> bool {
    text.len() <= most
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'))
}
