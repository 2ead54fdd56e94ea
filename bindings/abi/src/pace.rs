//! Measures how long handlers take, and computes from it how many jobs a lane takes at a time and how many are fetched
//! ahead.
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One batch is about this much handler time: long enough to pay for the hand-over, short enough not to be noticed.
const BATCH_NANOS: u64 = 2_000_000;
/// Work below this much is not worth another thread.
const SPLIT_NANOS: u64 = 200_000;
/// Jobs fetched ahead wait for a handler about this long.
const AHEAD_NANOS: u64 = 10_000_000;
/// Assumed before the first job has been measured: a batch of one, nothing fetched ahead.
const UNKNOWN_NANOS: u64 = 20_000_000;
/// The most jobs one lane takes at a time.
pub const MAX_BATCH: usize = 256;
/// The most jobs fetched ahead of free handlers.
pub const MAX_AHEAD: usize = 1_024;

/// A moving average of the time one handler takes.
#[derive(Debug)]
pub struct Pace {
    mean_nanos: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { mean_nanos: AtomicU64::new(UNKNOWN_NANOS) }
    }
}

impl Pace {
    /// `jobs` handlers took `busy` together, one after the other.
    pub fn observe(&self, jobs: usize, busy: Duration) {
        let Ok(jobs) = u64::try_from(jobs) else { return };
        let nanos = u64::try_from(busy.as_nanos()).unwrap_or(u64::MAX);
        let Some(sample) = nanos.checked_div(jobs) else { return };
        let mean = self.mean_nanos.load(Ordering::Relaxed);
        // Slower counts at once for half, faster for a quarter: it is worse to sit on jobs than to take too few.
        let next = if sample > mean { mean / 2 + sample / 2 } else { mean.saturating_mul(3).saturating_add(sample) / 4 };
        self.mean_nanos.store(next.max(1), Ordering::Relaxed);
    }

    /// Jobs to hand to one lane when `queued` wait and `idle` lanes (this one included) could take some.
    #[must_use]
    pub fn batch(&self, queued: usize, idle: usize, max: usize) -> usize {
        let mean = self.mean_nanos.load(Ordering::Relaxed).max(1);
        let fits = to_usize(BATCH_NANOS / mean).max(1);
        let share = queued.div_ceil(idle.max(1)).max(to_usize(SPLIT_NANOS / mean));
        share.min(fits).min(max).clamp(1, MAX_BATCH)
    }

    /// Jobs to hold beyond the `concurrency` that run.
    #[must_use]
    pub fn ahead(&self, concurrency: usize) -> usize {
        let mean = self.mean_nanos.load(Ordering::Relaxed).max(1);
        // Below one job per handler and waiting time there is no point: a free slot wakes the driver.
        to_usize(AHEAD_NANOS / mean).saturating_mul(concurrency).min(MAX_AHEAD)
    }
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(nanos: u64) -> Pace {
        let pace = Pace::default();
        for _ in 0..200 {
            pace.observe(1, Duration::from_nanos(nanos));
        }
        pace
    }

    #[test]
    fn slow_handlers_get_one_job_and_nothing_ahead() {
        for pace in [settled(20_000_000), Pace::default()] {
            assert_eq!(pace.batch(1000, 10, 256), 1);
            assert_eq!(pace.ahead(10), 0);
        }
    }

    #[test]
    fn fast_handlers_get_batches() {
        let pace = settled(2_000);
        assert_eq!(pace.batch(1000, 1, 256), 256);
        assert_eq!(pace.batch(64, 10, 256), 100, "a little work is not split over threads");
        assert_eq!(pace.ahead(10), MAX_AHEAD);
    }

    #[test]
    fn middling_handlers_share() {
        let pace = settled(200_000);
        assert_eq!(pace.batch(40, 10, 256), 4);
        assert_eq!(pace.batch(400, 10, 256), 10, "two milliseconds at most");
    }

    #[test]
    fn one_slow_job_ends_the_batches_at_once() {
        let pace = settled(2_000);
        pace.observe(1, Duration::from_secs(1));
        assert_eq!(pace.batch(1000, 1, 256), 1);
    }

    #[test]
    fn no_jobs_say_nothing() {
        let pace = settled(2_000);
        pace.observe(0, Duration::from_secs(1));
        assert_eq!(pace.batch(1000, 1, 256), 256);
    }
}
