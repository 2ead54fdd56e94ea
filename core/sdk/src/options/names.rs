//! The names of options, and of the members of policies. A wrong one would be ignored by most servers: it is refused here.
use ojs_model::spelling;

use crate::error::Error;

/// The options that a program should use.
const OPTIONS: &[&str] = &[
    "queue",
    "priority",
    "timeout",
    "delay",
    "delay_until",
    "expires_at",
    "visibility_timeout",
    "result_ttl",
    "total_timeout",
    "retry",
    "unique",
    "rate_limit",
    "train",
    "tags",
    "pending",
    "version",
    "tenant",
    "fairness_key",
];

/// Others with a meaning: spellings of the wire, and of older clients.
const MORE_OPTIONS: &[&str] = &[
    "timeout_ms",
    "visibility_timeout_ms",
    "scheduled_at",
    "retry_policy",
    "enqueue_ttl",
    "grace_period",
    "heartbeat_timeout",
    "metadata",
];

pub(super) const RETRY: Kind = Kind {
    names: &[
        "max_attempts",
        "initial_interval",
        "backoff_coefficient",
        "max_interval",
        "jitter",
        "non_retryable_errors",
        "on_exhaustion",
        "backoff_strategy",
    ],
    also: &[
        "max_retries",
        "initial_interval_ms",
        "base_delay_ms",
        "initial_delay_ms",
        "multiplier",
        "max_interval_ms",
        "backoff_type",
        "backoff",
        "strategy",
    ],
};

pub(super) const UNIQUE: Kind = Kind {
    names: &["keys", "args_keys", "meta_keys", "period", "states", "on_conflict"],
    also: &["key", "period_ms", "onConflict"],
};

pub(super) const RATE_LIMIT: Kind = Kind {
    names: &["key", "rate", "concurrency", "throttle", "on_limit", "retry_priority", "scope", "max_per_second"],
    also: &["limit", "period"],
};

pub(super) const TRAIN: Kind = Kind {
    names: &["id", "on_cancelled", "on_discarded", "cancel_active"],
    // What a server adds: a job that was read can be enqueued again.
    also: &["position", "role", "ahead", "state"],
};

/// Objects of one kind, and the names that their members may have.
pub(super) struct Kind {
    names: &'static [&'static str],
    /// Understood too, but not offered.
    also: &'static [&'static str],
}

impl Kind {
    /// # Errors
    /// [`Error::Validation`]: `field.name` is no member of such an object; with the nearest one that is, and all.
    pub fn check(&self, field: &str, name: &str) -> Result<(), Error> {
        if self.names.contains(&name) || self.also.contains(&name) || is_own(name) {
            return Ok(());
        }
        Err(Error::validation(format!("{field}.{name}"), spelling::unknown("option", name, &format!(" of {field}"), self.names)))
    }
}

/// # Errors
/// [`Error::Validation`]: there is no such option; with the nearest one, and all.
pub(super) fn check(name: &str) -> Result<(), Error> {
    if OPTIONS.contains(&name) || MORE_OPTIONS.contains(&name) || is_own(name) {
        return Ok(());
    }
    Err(Error::validation(format!("options.{name}"), spelling::unknown("option", name, "", OPTIONS)))
}

/// Options of the program's own, which no server reads.
fn is_own(name: &str) -> bool {
    name.starts_with("x_") || name.starts_with("x-")
}

/// What an option is about: of the spellings of one thing, one may be given.
pub(super) fn subject(name: &str) -> &str {
    match name {
        "timeout_ms" => "timeout",
        "visibility_timeout_ms" => "visibility_timeout",
        "delay" | "scheduled_at" => "delay_until",
        "retry_policy" => "retry",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::spelling::nearest;

    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        for (wrong, near) in [
            ("retries", Some("retry")),
            ("que", Some("queue")),
            ("Queue", Some("queue")),
            ("delayUntil", Some("delay_until")),
            ("timeot", Some("timeout")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, OPTIONS.iter().copied()), near, "{wrong}");
        }
        assert_eq!(nearest("max_attemps", RETRY.names.iter().copied()), Some("max_attempts"));
        assert_eq!(nearest("maxAttempts", RETRY.names.iter().copied()), Some("max_attempts"));
    }
}
