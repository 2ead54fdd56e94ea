//! Numbers that are missing in the event log: whether their events may still come.
//!
//! Transactions take the number of their events before they commit, so a larger number can be there before a smaller
//! one. A reader that went past the smaller one would never see its events. So a reader that finds numbers missing
//! takes a transaction number of its own: whoever has taken a missing number had a smaller one by then (events are the
//! last that a transaction writes). When all transactions with smaller numbers have ended, the numbers stay missing.

/// Milliseconds within which our transactions end: the limit of a statement, with room. Transactions of other programs
/// may last longer, and nothing waits for those.
const LONGEST_TRANSACTION_MS: i64 = 60_000;

/// What one connection knows of missing numbers.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// Numbers up to this one that are missing stay missing.
    settled: i64,
    /// Those that were missing at the latest look.
    open: Option<Open>,
}

/// Missing numbers whose events may still come.
#[derive(Debug)]
struct Open {
    /// All of them are smaller.
    below: i64,
    /// Larger than the number of any transaction that has taken one of them.
    transaction: i64,
    /// When they were noticed, milliseconds.
    since: i64,
}

impl Gaps {
    /// Whether a missing number stays missing. `oldest` is the smallest number of a transaction that has not ended.
    pub(super) fn is_settled(&mut self, number: i64, oldest: i64, now: i64) -> bool {
        let ended = |open: &Open| open.transaction < oldest || now.saturating_sub(open.since) > LONGEST_TRANSACTION_MS;
        if let Some(open) = self.open.take_if(|open| ended(open)) {
            self.settled = self.settled.max(open.below - 1);
        }
        number <= self.settled
    }

    /// Whether numbers that were just found missing are to be noted.
    pub(super) fn wants_note(&self) -> bool {
        self.open.is_none()
    }

    /// Numbers below one that is there are missing; `transaction` was taken since.
    pub(super) fn note(&mut self, below: i64, transaction: i64, now: i64) {
        self.open = Some(Open { below, transaction, since: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_missing_when_all_older_transactions_have_ended() {
        let mut gaps = Gaps::default();
        assert!(!gaps.is_settled(9, 100, 0) && gaps.wants_note());
        gaps.note(12, 105, 0);
        assert!(!gaps.is_settled(9, 105, 1) && !gaps.wants_note(), "105 itself has not ended");
        assert!(gaps.is_settled(9, 106, 1) && gaps.is_settled(11, 106, 1));
        assert!(!gaps.is_settled(12, 106, 1), "it was there, and is none of them");
    }

    #[test]
    fn nothing_waits_for_transactions_of_other_programs() {
        let mut gaps = Gaps::default();
        gaps.note(12, 105, 1_000);
        assert!(!gaps.is_settled(9, 7, 61_000));
        assert!(gaps.is_settled(9, 7, 61_001));
    }
}
