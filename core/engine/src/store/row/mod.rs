//! Rows of the tables that every job goes through: their columns are declared once, their statements are written by
//! hand.
//!
//! A declaration gives the struct, the reader and the values that statements are bound to, in one order for both SQL
//! stores:
//!
//! ```ignore
//! row! {
//!     /// The part of a job that changes.
//!     #[derive(Debug, Clone, PartialEq)]
//!     pub struct JobRow in "jobs" {
//!         key {
//!             /// Insertion number within the store.
//!             pub seq: i64,
//!         }
//!         changing {
//!             /// What the index of the state is ordered by.
//!             pub sort_key: i64 as "pos",
//!         }
//!     }
//! }
//! ```
//!
//! The sections say when a column is written: see [`Section`]. `as "pos"` gives a column another name than the field;
//! `from rank to priority_of` stores what the method `rank` returns and reads it with the function `priority_of`.
//! Fields without a column of their own follow in `and { pub holds: Holds = holds_of(priority) }`, which reads
//! the column of another field.
//!
//! Statements in `.sql` files name all columns by a placeholder, `{JOB}` or with an alias `{r.JOB}`, which the
//! compiler fills in ([`fill`]). Inserts and updates are built from the declaration when the program starts.
pub(crate) mod declare;
pub mod fill;

pub(crate) use declare::row;

use crate::error::Result;
use crate::store::record::{Cell, Cells, Column, Reader, Table};

/// When the columns of a section are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Identifies the row; chosen by the store or by the row that it belongs to.
    Key,
    /// When the row is inserted, never again.
    Fixed,
    /// When the row is inserted, and in the few updates that change one of them: indexes hang on them.
    Moved,
    /// When the row is inserted, and in every update.
    Changing,
    /// When the row is inserted, and in the updates that change one of them: a claim changes none, and then SQLite need
    /// not look at their indexes.
    Ending,
    /// In the updates that change one of them: a job that ends changes none. 0 in a fresh row.
    Later,
}

impl Section {
    /// Whether an insert has a value to write.
    #[must_use]
    pub const fn is_inserted(self) -> bool {
        !matches!(self, Self::Key | Self::Later)
    }

    /// Whether an update that moves nothing may write it.
    #[must_use]
    pub const fn is_updated(self) -> bool {
        matches!(self, Self::Changing | Self::Ending | Self::Later)
    }

    /// Whether an update may write it.
    #[must_use]
    pub const fn is_changeable(self) -> bool {
        self.is_updated() || self.is_moved()
    }

    /// Whether only updates that change one of these columns write them.
    #[must_use]
    pub const fn is_moved(self) -> bool {
        matches!(self, Self::Moved)
    }

    /// All columns.
    #[must_use]
    pub const fn is_any(self) -> bool {
        true
    }
}

/// A struct that is a row of a table with statements of its own. Made by `row!`.
pub trait Row: Sized {
    /// Its columns.
    const TABLE: &'static Table;
    /// The section of each column.
    const SECTIONS: &'static [Section];

    /// Hands over the values of the columns of some sections, in order.
    ///
    /// # Errors
    /// Those of `take`.
    fn each<E>(
        &self,
        wanted: impl Fn(Section) -> bool,
        take: impl FnMut(Cell<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E>;

    /// Whether a column of a section has another value than before.
    fn differs(&self, before: &Self, section: Section) -> bool;

    /// Reads all columns, in order.
    ///
    /// # Errors
    /// When a column does not hold such a value.
    fn read<C: Cells + ?Sized>(row: &mut Reader<'_, C>) -> Result<Self>;

    /// The columns of some sections, in order.
    fn columns(wanted: impl Fn(Section) -> bool) -> impl Iterator<Item = &'static Column> {
        let all = Self::TABLE.columns.iter().zip(Self::SECTIONS);
        all.filter(move |(_, section)| wanted(**section)).map(|(column, _)| column)
    }

    /// The names of these columns, in order, as a list of SQL.
    fn names(wanted: impl Fn(Section) -> bool) -> String {
        Self::columns(wanted).map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::store::record::Value;

    row! {
        /// A probe.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Probe in "probes" {
            key {
                /// Number.
                pub seq: i64,
            }
            moved {
                /// Stored as its negative.
                pub height: i32 as "depth" from depth to negative,
            }
            changing {
                /// Text.
                pub note: String as "remark",
            }
            later {
                /// Count.
                pub count: u32,
            }
        } and {
            /// Whether it is under the ground.
            pub hidden: bool = is_positive(height),
        }
    }

    impl Probe {
        fn depth(&self) -> i32 {
            -self.height
        }
    }

    fn negative(depth: i32) -> i32 {
        -depth
    }

    fn is_positive(depth: i32) -> bool {
        depth > 0
    }

    struct Stored(Vec<Value>);

    impl Cells for Stored {
        fn cell(&self, column: usize) -> Result<Cell<'_>> {
            self.0.get(column).map(Value::cell).ok_or_else(|| StoreError::Failed("no such column".into()))
        }
    }

    fn values(probe: &Probe, wanted: impl Fn(Section) -> bool) -> Vec<Value> {
        let mut values = Vec::new();
        let read = probe.each(wanted, |cell| {
            values.push(Value::from(&cell));
            Ok::<(), StoreError>(())
        });
        read.unwrap();
        values
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let probe = Probe { seq: 1, height: -7, note: "n".into(), count: 3, hidden: true };
        let stored = Stored(values(&probe, Section::is_any));
        assert_eq!(Probe::read(&mut Reader::new(Probe::TABLE, &stored)).unwrap(), probe);
        assert_eq!(Probe::names(Section::is_any), "seq, depth, remark, count");
        assert_eq!(Probe::names(Section::is_inserted), "depth, remark");
        assert_eq!(values(&probe, Section::is_inserted), [Value::Integer(7), Value::Text("n".into())]);
        assert_eq!(Probe::names(Section::is_updated), "remark, count");
        assert!(probe.differs(&Probe { height: 1, ..probe.clone() }, Section::Moved));
        let other = Probe { count: 4, note: String::new(), ..probe.clone() };
        assert!(!probe.differs(&other, Section::Moved));
        assert!(probe.differs(&other, Section::Later) && probe.differs(&other, Section::Changing));
    }

    #[test]
    fn a_value_that_cannot_be_read_is_named_with_its_row() {
        let stored = Stored(vec![Value::Integer(5), Value::Text("x".into())]);
        let fault = Probe::read(&mut Reader::new(Probe::TABLE, &stored)).unwrap_err().to_string();
        assert!(fault.contains("probes.depth of the record with seq = Integer(5) cannot be read"), "{fault}");
    }
}
