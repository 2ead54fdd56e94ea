//! Options that have no meaning: kept, as extensions may give them one, and told to the client, as most are misspelt.
use std::borrow::Cow;

use crate::spelling::{self, plain};

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
    "train",
    "version",
    "fairness_key",
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
    let other = OTHERWISE.iter().find(|(foreign, _)| plain(foreign) == plain(name)).map(|(_, known)| *known);
    other.or_else(|| spelling::nearest(name, KNOWN.iter().copied()))
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
    }
}
