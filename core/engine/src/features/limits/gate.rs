//! A key with limits as one transaction sees it.
use foldhash::HashMap;
use ojs_model::JobId;
use ojs_model::rate_limit::Limits;

use crate::features::limits::records::LimitRow;

/// The keys that a transaction has touched.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// As the transaction found them, and what it has done since.
    pub(super) known: HashMap<i64, Gate>,
    /// Keys that have room again, and the job that made it.
    pub(super) released: Vec<(i64, Option<JobId>)>,
}

/// A key as this transaction found it, and what the transaction has done since.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    pub(super) row: LimitRow,
    pub(super) limits: Limits,
    /// Jobs that may start now.
    pub(super) free: i64,
    /// When time alone lets more start; 0 when it does not.
    pub(super) next_at: i64,
    /// The limit that holds.
    pub(super) strategy: &'static str,
    /// Its size, and how much of it is used.
    pub(super) most: i64,
    pub(super) used: i64,
    /// The transaction has said that the key is full.
    pub(super) told: bool,
}

impl Gate {
    pub(super) fn narrow(&mut self, strategy: &'static str, most: i64, used: i64, next_at: i64) {
        let free = most.saturating_sub(used).max(0);
        if free < self.free {
            (self.free, self.strategy, self.most, self.used) = (free, strategy, most, used);
        }
        if free <= 0 && next_at > 0 {
            self.next_at = self.next_at.max(next_at);
        }
    }
}
