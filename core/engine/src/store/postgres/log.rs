//! The event log in PostgreSQL: its extent, and which of its numbers may still come.
//!
//! A transaction takes the number of its events before it commits, so a larger number can be there before a smaller
//! one. A reader that has passed the smaller number never sees its events. Therefore a transaction takes a shared
//! advisory lock before it takes a number, and holds the lock until it ends. The key of the lock is the latest number
//! at that time. Numbers up to the smallest key are settled: they are there, or will never come.
//!
//! A reader reads the locks before it takes its snapshot. Transactions that had ended by then are in the snapshot, and
//! those that begin later take larger numbers. It reads the locks only when a number is missing: a page without gaps
//! costs nothing, nor does a gap that was settled when another page was read. Transactions of applications have no
//! effect, however long they are: they take no number. The lock of a lost connection ends with the connection.
use super::connection::Ask;
use super::rows::{get, read};
use super::{PostgresTables, limit};
use crate::error::{Result, StoreError};
use crate::kernel::log::LogTables;
use crate::store::rows::EventBatch;

/// What the open transaction knows of numbers that may still come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Look {
    /// What the connection had learnt before.
    #[default]
    Before,
    /// It turned out to be too little: the next transaction begins with a look.
    Wanted,
    /// It has begun with a look.
    Taken,
}

impl PostgresTables {
    /// Looks which numbers may still come. Call it before a snapshot is taken.
    pub(super) fn look_at_numbers(&mut self) -> Result<()> {
        // In this order: what takes its lock after the second statement takes a number above the answer of the first.
        let answers = self.db.ask(None, &[Ask::new(sql!("event_number"), &[]), Ask::new(sql!("event_locks"), &[])])?;
        let [number, locks] = answers.as_slice() else { return Ok(()) };
        let latest = number.rows.first().map_or(Ok(0), |row| get(row, 0))?;
        let keys = locks.rows.iter().map(|row| get(row, 0)).collect::<Result<Vec<i64>>>()?;
        self.db.settled = self.db.settled.max(settled(latest, &keys));
        self.look = Look::Taken;
        Ok(())
    }

    pub(super) fn read_events(&mut self, seq: i64, count: usize) -> Result<Vec<EventBatch>> {
        let rows = self.query(sql!("events_from"), &[&seq, &limit(count)])?;
        let (mut batches, mut expected) = (Vec::with_capacity(rows.len()), seq.max(1));
        for row in rows {
            let batch: EventBatch = read(&row, 0)?;
            if batch.seq > expected && batch.seq - 1 > self.db.settled {
                // A number in between may still come.
                self.need_look()?;
                break;
            }
            expected = batch.seq + 1;
            batches.push(batch);
        }
        Ok(batches)
    }

    /// # Errors
    /// [`StoreError::Conflict`] when this transaction has not begun with a look: the next try does.
    fn need_look(&mut self) -> Result<()> {
        if self.look == Look::Taken {
            return Ok(());
        }
        self.look = Look::Wanted;
        Err(StoreError::Conflict("numbers of the event log are missing, which may have come by now".into()))
    }
}

impl LogTables for PostgresTables {
    fn log_span(&mut self) -> Result<(i64, i64)> {
        let rows = self.query(sql!("log_span"), &[])?;
        rows.first().map_or(Ok((0, 0)), |row| Ok((get(row, 0)?, get(row, 1)?)))
    }

    fn log_end(&mut self) -> Result<i64> {
        self.need_look()?;
        Ok(self.log_span()?.1.min(self.db.settled))
    }
}

/// The number up to which all are settled, by the latest number and the keys of locks: low halves of numbers near it.
fn settled(latest: i64, keys: &[i64]) -> i64 {
    let whole = |key: &i64| latest + i64::from((*key as u32).wrapping_sub(latest as u32).cast_signed());
    keys.iter().map(whole).min().map_or(latest, |key| key.min(latest))
}

#[cfg(test)]
mod tests {
    use super::settled;

    #[test]
    fn numbers_are_settled_up_to_the_smallest_key() {
        assert_eq!(settled(0, &[]), 0);
        assert_eq!(settled(9, &[]), 9);
        assert_eq!(settled(9, &[7, 8, 9]), 7);
        assert_eq!(settled(9, &[12]), 9, "it took its lock after the latest number was asked for");
    }

    #[test]
    fn keys_are_low_halves_of_numbers() {
        let turn = 1_i64 << 32;
        assert_eq!(settled(turn + 2, &[turn - 1, 1]), turn - 1);
        assert_eq!(settled(turn - 2, &[0, 5]), turn - 2);
        assert_eq!(settled(5 * turn + 7, &[3]), 5 * turn + 3);
        assert_eq!(settled(turn / 2 + 1, &[turn / 2 - 1]), turn / 2 - 1);
    }
}
