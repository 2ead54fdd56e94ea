//! The time by which a run must have ended.
use std::time::{Duration, Instant, SystemTime};

/// A platform's limit less a margin for the report. Of a short limit at most half is the margin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    /// So long from now; `None` is no limit.
    pub(super) fn within(left: Option<Duration>, margin: Duration) -> Self {
        Self(left.and_then(|left| Instant::now().checked_add(left.saturating_sub(margin.min(left / 2)))))
    }

    /// Before a time that the platform has given.
    pub(super) fn before(end: SystemTime, margin: Duration) -> Self {
        Self::within(Some(end.duration_since(SystemTime::now()).unwrap_or_default()), margin)
    }

    /// What is left; `None` without a limit.
    pub(super) fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether there is no time left to begin a job.
    pub(super) fn has_passed(self) -> bool {
        self.left() == Some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_five_seconds_and_at_most_half_of_the_time() {
        let margin = Duration::from_secs(5);
        let left = |seconds| Deadline::within(Some(Duration::from_secs(seconds)), margin).left().unwrap();
        assert!((Duration::from_secs(24)..=Duration::from_secs(25)).contains(&left(30)));
        assert!((Duration::from_secs(1)..=Duration::from_millis(1_500)).contains(&left(3)));
        assert!(Deadline::before(SystemTime::UNIX_EPOCH, margin).has_passed());
        assert_eq!((Deadline::within(None, margin).left(), Deadline::within(None, margin).has_passed()), (None, false));
    }
}
