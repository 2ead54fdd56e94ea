//! The heads of lines, which claims read.
use crate::kernel::job::Line;

/// Available jobs of which a claim reads the first ones.
#[derive(Debug, Clone, Copy)]
pub enum Heads<'a> {
    /// The line of a queue, best first.
    Queue {
        /// Number of the queue.
        queue: i64,
        /// How many at most.
        limit: usize,
    },
    /// The lines of keys in a queue: jobs of one rank. Those of one key are in their order.
    Keys {
        /// Number of the queue.
        queue: i64,
        /// The rank.
        rank: i32,
        /// The keys, and how many jobs of each at most.
        wanted: &'a [(i64, usize)],
    },
    /// The lines of versions: jobs that are free to start, in no order.
    Versions {
        /// The lines.
        lines: &'a [Line],
        /// How many of each line at most.
        limit: usize,
    },
}
