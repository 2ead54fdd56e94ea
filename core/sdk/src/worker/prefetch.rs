//! How many jobs may wait in the worker for a free slot: so many that short handlers do not idle while the next request
//! is under way, so few that none waits longer than [`WorkerOptions::prefetch`](super::WorkerOptions::prefetch).
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Most jobs that wait, however short the handlers are: a crashed worker has charged each an attempt. They fill the requests that are under way
/// at the same time.
const MOST: u64 = 4_096;
/// Weight of the newest run in the average: one in this many.
const SMOOTHING: u64 = 16;

/// The average run time of the handlers, and what follows from it.
#[derive(Debug)]
pub(super) struct Prefetch {
    slots: u64,
    /// Longest wait for a slot, in nanoseconds.
    wait: u64,
    /// Nanoseconds; 0 before the first run.
    average: AtomicU64,
}

impl Prefetch {
    pub fn new(slots: usize, wait: Duration) -> Self {
        Self { slots: slots as u64, wait: nanos(wait), average: AtomicU64::new(0) }
    }

    /// A handler has run for this long. Runs that end at the same moment may lose one another's sample: it is an average.
    pub fn learn(&self, run: Duration) {
        let run = nanos(run).max(1);
        let average = self.average.load(Ordering::Relaxed);
        let next = if average == 0 { run } else { average - average / SMOOTHING + run / SMOOTHING };
        self.average.store(next.max(1), Ordering::Relaxed);
    }

    /// Jobs have waited far too long: nothing waits until handlers are fast again.
    pub fn stalled(&self) {
        self.average.store(self.wait.saturating_mul(self.slots).max(1), Ordering::Relaxed);
    }

    /// How many jobs may wait now.
    pub fn target(&self) -> usize {
        match self.average.load(Ordering::Relaxed) {
            0 => 0,
            // All slots together free one place every average / slots.
            average => usize::try_from((self.wait.saturating_mul(self.slots) / average).min(MOST)).unwrap_or(0),
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_handlers_are_fed_ahead_long_ones_are_not() {
        for (slots, run_micros, waiting) in [
            (10, 10, 4096),
            (10, 1000, 200),
            (10, 20_000, 10),
            (10, 1_000_000, 0),
            (1, 15_000, 1),
            (1, 25_000, 0),
            (100, 5000, 400),
        ] {
            let prefetch = Prefetch::new(slots, Duration::from_millis(20));
            assert_eq!(prefetch.target(), 0, "nothing is known yet");
            prefetch.learn(Duration::from_micros(run_micros));
            assert_eq!(prefetch.target(), waiting, "{slots} slots, {run_micros} µs");
        }
    }

    #[test]
    fn a_stall_ends_it_until_handlers_are_fast_again() {
        let prefetch = Prefetch::new(4, Duration::from_millis(20));
        prefetch.learn(Duration::from_micros(10));
        prefetch.stalled();
        assert_eq!(prefetch.target(), 1);
        for _ in 0..200 {
            prefetch.learn(Duration::from_micros(10));
        }
        assert_eq!(prefetch.target(), 4096);
        assert_eq!(Prefetch::new(4, Duration::ZERO).target(), 0);
    }
}
