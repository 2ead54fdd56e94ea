//! How long sending and reading take at present, so that a read ends when the send beside it does.
use std::time::Duration;

/// Moving averages: each sample counts for an eighth.
#[derive(Debug, Default)]
pub(super) struct Pace {
    send: Duration,
    read: Duration,
}

impl Pace {
    pub fn sent(&mut self, took: Duration) {
        self.send = mix(self.send, took);
    }

    pub fn read(&mut self, took: Duration) {
        self.read = mix(self.read, took);
    }

    /// How long a read may still wait in a send that began `elapsed` ago: the later it looks, the more has been committed.
    pub const fn spare(&self, elapsed: Duration) -> Duration {
        self.send.saturating_sub(self.read).saturating_sub(elapsed)
    }
}

fn mix(average: Duration, sample: Duration) -> Duration {
    if average.is_zero() { sample } else { (average * 7 + sample) / 8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_begins_so_that_it_ends_with_the_send() {
        let ms = Duration::from_millis;
        let mut pace = Pace::default();
        assert_eq!(pace.spare(Duration::ZERO), Duration::ZERO);
        pace.sent(ms(10));
        pace.read(ms(2));
        assert_eq!(pace.spare(ms(1)), ms(7));
        assert_eq!(pace.spare(ms(9)), Duration::ZERO);
        pace.sent(ms(18));
        assert_eq!(pace.spare(Duration::ZERO), ms(9));
    }
}
