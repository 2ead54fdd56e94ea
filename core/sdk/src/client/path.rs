//! Encodes text as a part of a URL.

/// One segment of a path: whatever the name holds, it stays one segment.
pub(crate) fn segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// `?name=value&…` of those that are there; nothing when none is.
pub(super) fn query(parameters: &[(&str, Option<&str>)]) -> String {
    let pairs: Vec<_> = parameters.iter().filter_map(|(name, value)| Some(format!("{name}={}", segment((*value)?)))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_segment() {
        assert_eq!(segment("019461a8-1a2b"), "019461a8-1a2b");
        assert_eq!(segment("a/b?c d%"), "a%2Fb%3Fc%20d%25");
        assert_eq!(query(&[("queue", Some("a&b")), ("limit", None)]), "?queue=a%26b");
        assert_eq!(query(&[("queue", None)]), "");
    }
}
