//! Patterns of names: `*` stands for any characters, also none.

/// Whether a pattern has a `*`: without one it is a name.
pub(crate) fn is_glob(pattern: &str) -> bool {
    pattern.contains('*')
}

/// Whether a name fits a pattern. The time is bounded by the product of both lengths.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, mut rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    // Each part behind a `*` is taken where it comes first: what follows has the most room then.
    while let Some((part, after)) = rest.split_once('*') {
        let Some(at) = left.find(part) else { return false };
        left = left.get(at + part.len()..).unwrap_or_default();
        rest = after;
    }
    left.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a.b"),
            ("email.send", "email.send"),
            ("email.*", "email.send.now"),
            ("*.send", "email.send"),
            ("e*l.*d", "email.send"),
            ("**", "x"),
            ("a*a", "aa"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("email.*", "email"), ("email.send", "email.sends"), ("a*a", "a"), ("*b*", "ac"), ("a*b*c", "acb")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
