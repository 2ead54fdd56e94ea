//! Searches: queries that may read many rows have connections of their own, so that a slow one delays only other
//! searches.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Pool;
use crate::error::StoreError;

/// Most searches that wait or run at a time. A further one is refused at once: it would be answered long after its
/// client has gone.
const MAX_SEARCHES: usize = 64;

/// The threads that answer searches, and the number of searches that wait or run.
pub(super) struct Searchers {
    pub(super) pool: Pool,
    taken: Arc<AtomicUsize>,
}

/// The place of one search; given back when dropped.
#[derive(Debug)]
pub(super) struct Place(Arc<AtomicUsize>);

impl Searchers {
    pub(super) fn of(pool: Pool) -> Self {
        Self { pool, taken: Arc::default() }
    }

    /// Takes a place.
    pub(super) fn enter(&self) -> Result<Place, StoreError> {
        let place = Place(Arc::clone(&self.taken));
        if self.taken.fetch_add(1, Ordering::Relaxed) < MAX_SEARCHES {
            return Ok(place);
        }
        Err(StoreError::Unavailable(format!("{MAX_SEARCHES} lists and searches wait already; ask again in a moment")))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
