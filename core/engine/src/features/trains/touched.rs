//! Trains that one transaction has locked.
use std::collections::BTreeSet;

use foldhash::HashMap;

use crate::features::trains::records::TrainRow;

/// What a transaction keeps of trains until its end.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Trains as this transaction sees them. Their rows are locked.
    pub(super) known: HashMap<i64, TrainRow>,
    /// Trains whose next car is chosen at the end of the command, by number.
    pub(super) open: BTreeSet<i64>,
    /// The largest epoch of a train that has ended; 0 while none has.
    pub(super) ended: i64,
    /// Milliseconds that jobs waited for their turn.
    pub(super) waited: Vec<i64>,
}
