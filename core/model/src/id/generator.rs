//! Makes new identifiers, ordered over all threads, without a lock.
//!
//! A fork copies the memory of a process at any moment. A lock that another thread holds at that moment stays locked in
//! the child, and the generator of the crate `uuid` has one. So the newest time and number are one atomic integer here.
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rand::RngCore;
use uuid::Uuid;

/// Bits of the number that orders the identifiers of one millisecond.
const NUMBER_BITS: u32 = 16;
/// The bits of a millisecond's first number. The highest one is 0, so at least 32,768 numbers follow.
const FIRST_NUMBER: u64 = 0x7fff;
const MILLIS: u64 = 0xffff_ffff_ffff;
/// The random bits at the end of an identifier.
const RANDOM: u64 = (1 << 58) - 1;

/// 48 bits of milliseconds since 1970, then 16 bits of number: those of the newest identifier of this process.
static NEWEST: AtomicU64 = AtomicU64::new(0);

/// A new identifier, larger than any made before in this process.
pub(super) fn next() -> Uuid {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let millis = u64::try_from(millis).unwrap_or(MILLIS);
    let [number, rest] = random();
    compose(advance(&NEWEST, millis, number), rest)
}

/// The next time and number; `first` gives the first number of a millisecond. When the clock stands still or goes back,
/// the number is counted up, beyond its end into the time.
fn advance(newest: &AtomicU64, millis: u64, first: u64) -> u64 {
    let fresh = ((millis & MILLIS) << NUMBER_BITS) | (first & FIRST_NUMBER);
    let after = |last: u64| if fresh >> NUMBER_BITS > last >> NUMBER_BITS { fresh } else { last.wrapping_add(1) };
    let mut last = newest.load(Ordering::Relaxed);
    loop {
        match newest.compare_exchange_weak(last, after(last), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return after(last),
            Err(seen) => last = seen,
        }
    }
}

/// RFC 9562, section 5.7: the time, the version, 12 bits of the number, the variant, the other 4 bits of the number,
/// random bits.
fn compose(stamp: u64, random: u64) -> Uuid {
    let (millis, number) = (u128::from(stamp >> NUMBER_BITS), u128::from(stamp & 0xffff));
    let (high, low) = (number >> 4, number & 0xf);
    Uuid::from_u128((millis << 80) | (0x7 << 76) | (high << 64) | (0b10 << 62) | (low << 58) | u128::from(random & RANDOM))
}

thread_local! {
    /// The process in which this thread last seeded its generator of random numbers.
    static SEEDED_IN: Cell<u32> = const { Cell::new(0) };
}

/// Random bits that no other process draws.
fn random() -> [u64; 2] {
    let (mut generator, process) = (rand::rng(), std::process::id());
    if SEEDED_IN.replace(process) != process && generator.reseed().is_err() {
        // The system gave no seed. The next call asks again; until then the process id makes the bits differ.
        SEEDED_IN.set(0);
    }
    [generator.next_u64() ^ u64::from(process), generator.next_u64() ^ u64::from(process)]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const NOON: u64 = 1_764_000_000_000;

    fn millis(stamp: u64) -> u64 {
        stamp >> NUMBER_BITS
    }

    #[test]
    fn identifiers_have_the_form_of_version_7() {
        let id = compose((NOON << NUMBER_BITS) | 0x1234, u64::MAX);
        assert_eq!(id.to_string(), "019ab697-e800-7123-93ff-ffffffffffff");
        assert_eq!(id.get_version_num(), 7);
        assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
        let made = next();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        assert_eq!((made.get_version_num(), made.get_variant()), (7, uuid::Variant::RFC4122));
        assert!(now - (made.as_u128() >> 80) < 60_000, "{made}");
    }

    #[test]
    fn identifiers_of_all_threads_are_unique_and_each_thread_sees_them_grow() {
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| (0..20_000).map(|_| next()).collect::<Vec<_>>())).collect();
        let made: Vec<Vec<Uuid>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(made.iter().all(|made| made.is_sorted_by(|a, b| a < b)));
        assert_eq!(made.iter().flatten().collect::<HashSet<_>>().len(), 8 * 20_000);
        // The order holds across threads too: what is made after all of them is larger than all of them.
        assert!(next() > made.into_iter().flatten().max().unwrap());
    }

    #[test]
    fn a_clock_that_goes_back_makes_no_smaller_identifier() {
        let newest = AtomicU64::new(0);
        let first = advance(&newest, NOON, 5);
        assert_eq!((millis(first), first & 0xffff), (NOON, 5));
        assert_eq!(advance(&newest, NOON - 3_600_000, 9), first + 1);
        assert_eq!(advance(&newest, NOON, 9), first + 2);
        assert_eq!(advance(&newest, NOON + 1, 9), ((NOON + 1) << NUMBER_BITS) | 9);
    }

    #[test]
    fn numbers_beyond_those_of_a_millisecond_borrow_the_next_one() {
        let newest = AtomicU64::new((NOON << NUMBER_BITS) | 0xffff);
        let next = advance(&newest, NOON, 7);
        assert_eq!((millis(next), next & 0xffff), (NOON + 1, 0));
        assert_eq!(advance(&newest, NOON + 1, 7), next + 1);
    }

    #[test]
    fn a_first_number_leaves_half_of_them() {
        assert_eq!(advance(&AtomicU64::new(0), NOON, u64::MAX) & 0xffff, 0x7fff);
    }
}
