//! Options that have no meaning: kept, as extensions may give them one, and told to the client, as most are misspelt.
use std::borrow::Cow;

/// The options that exist, and `meta` under both its names.
const KNOWN: &[&str] = &[
    "queue",
    "priority",
    "timeout",
    "timeout_ms",
    "scheduled_at",
    "delay_until",
    "expires_at",
    "retry",
    "retry_policy",
    "unique",
    "tags",
    "visibility_timeout",
    "visibility_timeout_ms",
    "pending",
    "rate_limit",
    "result_ttl",
    "total_timeout",
    "enqueue_ttl",
    "grace_period",
    "heartbeat_timeout",
    "meta",
    "metadata",
];
/// What users of other libraries write, and its name here.
const OTHERWISE: &[(&str, &str)] = &[
    ("attempts", "retry"),
    ("retries", "retry"),
    ("maxattempts", "retry"),
    ("maxretries", "retry"),
    ("backoff", "retry"),
    ("delay", "delay_until"),
    ("runat", "scheduled_at"),
    ("eta", "scheduled_at"),
    ("countdown", "delay_until"),
    ("expires", "expires_at"),
    ("ttl", "enqueue_ttl"),
    ("uniquefor", "unique"),
    ("dedupe", "unique"),
    ("jobtimeout", "timeout"),
];
/// Largest number of letters that may differ.
const FAR: usize = 3;
/// Warnings that one job gets.
const MOST: usize = 10;

/// A warning for each member, with the nearest option that exists.
pub(super) fn unknown(members: &[(Cow<'_, str>, &str)]) -> Vec<String> {
    members.iter().take(MOST).map(|(name, _)| warning(name)).collect()
}

fn warning(name: &str) -> String {
    let shown = super::shorten(name);
    match nearest(name) {
        Some(known) => format!("options.{shown} is not known and has no effect; did you mean {known}?"),
        None => format!("options.{shown} is not known and has no effect."),
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    // Names that are no longer than a name could be: the comparison is quadratic.
    if name.len() > 40 {
        return None;
    }
    let plain = plain(name);
    let other = OTHERWISE.iter().find(|(foreign, _)| *foreign == plain).map(|(_, known)| *known);
    let (far, known) = KNOWN.iter().map(|known| (distance(&plain, &self::plain(known)), *known)).min()?;
    other.or((far <= FAR && far * 2 <= known.len()).then_some(known))
}

/// Letters only: `maxAttempts` and `max_attempts` are the same.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Letters to add, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let changed = corner + usize::from(x != *y);
            corner = *cell;
            left = changed.min(left + 1).min(corner + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_option_is_named() {
        for (name, known) in [
            ("retries", Some("retry")),
            ("maxAttempts", Some("retry")),
            ("max_attempts", Some("retry")),
            ("Queue", Some("queue")),
            ("prioritiy", Some("priority")),
            ("timeoutMs", Some("timeout_ms")),
            ("delay", Some("delay_until")),
            ("x-vendor-colour", None),
        ] {
            assert_eq!(nearest(name), known, "{name}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
