//! Figures on their way to the store.
use ojs_model::Timestamp;

use crate::error::{Result, StoreError};
use crate::features::errors::pending::Batch;
use crate::features::statistics::records::StatRow;
use crate::features::statistics::types::TypeTables as _;
use crate::metrics::{Metrics, lock};
use crate::store::tables::Tables;

/// What the store does not have yet.
#[derive(Debug)]
pub struct Unwritten {
    minutes: Vec<StatRow>,
    types: Vec<StatRow>,
    errors: Batch,
}

impl Unwritten {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.minutes.is_empty() && self.types.is_empty() && self.errors.rows().is_empty()
    }

    /// Writes all of it.
    pub fn write(&self, tables: &mut dyn Tables) -> Result<()> {
        tables.put_stats(&self.minutes)?;
        tables.put_type_stats(self.types.clone())?;
        tables.add_errors(self.errors.rows())
    }
}

impl Metrics {
    /// What is to be written now. The caller says by [`written`](Self::written) what came of it.
    pub fn take_unwritten(&self, now: Timestamp) -> Unwritten {
        let (minutes, types) = (&self.minutes, &self.type_minutes);
        let [minutes, types] = [minutes, types].map(|minutes| lock(minutes).take_changed(now.as_millis()));
        Unwritten { minutes, types, errors: self.errors.take() }
    }

    /// A write has ended, or failed: then it is tried again.
    pub fn written(&self, Unwritten { minutes, types, errors }: Unwritten, fault: Option<StoreError>) {
        match fault {
            Some(fault) => {
                tracing::warn!(error = %fault, "figures were not written; they are tried again");
                lock(&self.minutes).put_back(&minutes);
                lock(&self.type_minutes).put_back(&types);
            }
            None => errors.done(),
        }
    }

    /// The store was emptied (test mode).
    pub fn forget_unwritten(&self) {
        lock(&self.minutes).clear();
        lock(&self.type_minutes).clear();
        self.errors.clear();
    }
}
