//! Records: small tables that are declared once.
//!
//! A declaration gives the struct, the table in both SQL stores with its indexes, and the statements that read and
//! write it; the memory
//! store keeps the same records in the same orders. A feature that needs a table writes no SQL:
//!
//! ```ignore
//! record! {
//!     /// A train: jobs of one name leave together.
//!     #[derive(Debug, Clone, PartialEq)]
//!     pub struct TrainRow in "trains" {
//!         key ("name");
//!         index DUE = "trains_due" ("leaves_at") positive;
//!         /// Its name.
//!         pub name: String,
//!         /// When it leaves, milliseconds; 0 while it waits for nothing.
//!         pub leaves_at: i64,
//!         /// Added later: older records get the default.
//!         pub note: String = "",
//!     }
//! }
//! let mut trains = Records::<TrainRow, _>::of(tables);
//! trains.put(&train)?;
//! let due = trains.scan(&Scan::over(TrainRow::DUE).to(&now).limit(100))?;
//! ```
//!
//! and names it in `tables` of the `FEATURE` in its `mod.rs`. A file or a database that lacks the table, a column or an
//! index gets it when it is opened; so a new column
//! needs a default, and a column is never renamed. `numbered ("num")` instead of `key` lets the store choose the
//! number; `gathered ("num")` is the same for a table that many jobs write to: a store across a network writes all
//! records that a transaction has put at once, before its commit. `fixed ("a")`
//! names columns that stay as they were inserted; `as "idx"` gives a column another name than the field; `via Codec`
//! another form.
//!
//! A value that cannot be read is a [`StoreError::Failed`] that names table, column and key. Tables that every job
//! goes through (jobs,
//! claims, counts, events) have statements of their own.
mod cell;
pub(crate) mod declare;
mod in_memory;
mod object;
mod scan;
pub mod schema;
mod table;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod text;
mod words;

use std::marker::PhantomData;

pub(crate) use cell::numbered_field;
pub use cell::{Cell, Codec, Field, Key, KeyPart, Kind, Plain};
pub(crate) use declare::record;
pub use in_memory::{InMemory, Value, Values};
pub use object::{Kept, Object};
pub use scan::{Change, End, Lookup, Param, Read, Scan};
pub use table::{Column, Index, Remember, Table, is_listed};
pub(crate) use words::words;

use crate::error::{Result, StoreError};

/// A row of a store.
pub trait Cells {
    /// The value of a column, counted from 0.
    ///
    /// # Errors
    /// When the column is not there, or holds something that no record has.
    fn cell(&self, column: usize) -> Result<Cell<'_>>;

    /// The same for a column of whole numbers, of which a job has many; `None` when there is no such number.
    #[inline]
    fn integer(&self, column: usize) -> Option<i64> {
        match self.cell(column) {
            Ok(Cell::Integer(number)) => Some(number),
            _ => None,
        }
    }
}

/// Reads the columns of a row, one after the other.
#[derive(Debug)]
pub struct Reader<'a, C: Cells + ?Sized> {
    table: &'static Table,
    row: &'a C,
    next: usize,
}

impl<'a, C: Cells + ?Sized> Reader<'a, C> {
    /// At the first column of a row.
    pub fn new(table: &'static Table, row: &'a C) -> Self {
        Self { table, row, next: 0 }
    }

    /// The next value.
    ///
    /// # Errors
    /// When the column does not hold such a value.
    #[inline]
    pub fn take<T, K: Codec<T>>(&mut self) -> Result<T> {
        let place = self.next;
        self.next += 1;
        if K::KIND.is_whole()
            && !K::OPTIONAL
            && let Some(value) = self.row.integer(place).and_then(|number| K::read(Cell::Integer(number)))
        {
            return Ok(value);
        }
        match self.row.cell(place).map(K::read) {
            Ok(Some(value)) => Ok(value),
            _ => Err(self.unreadable(place)),
        }
    }

    #[cold]
    fn unreadable(&self, place: usize) -> StoreError {
        let told = |place: usize| match self.row.cell(place) {
            Ok(cell) => format!("{cell:?}").chars().take(120).collect(),
            Err(fault) => fault.to_string(),
        };
        let column = self.table.columns.get(place).map_or("?", |column| column.name);
        let key = self.table.columns.iter().enumerate().filter(|(_, column)| column.is_key);
        let key: Vec<String> = key.map(|(place, column)| format!("{} = {}", column.name, told(place))).collect();
        let table = self.table.name;
        StoreError::Failed(format!("{table}.{column} of the record with {} cannot be read: {}", key.join(", "), told(place)))
    }
}

/// A struct that is a row of a declared table. Made by `record!`.
pub trait Record: Sized {
    /// Its table.
    const TABLE: &'static Table;

    /// Hands over the values of all columns, in order.
    ///
    /// # Errors
    /// Those of `take`.
    fn each<E>(&self, take: &mut impl FnMut(Cell<'_>) -> std::result::Result<(), E>) -> std::result::Result<(), E>;

    /// The values of all columns, in order.
    fn cells(&self) -> Vec<Cell<'_>>;

    /// Reads all columns, in order.
    ///
    /// # Errors
    /// When a column does not hold such a value.
    fn read<C: Cells + ?Sized>(row: &mut Reader<'_, C>) -> Result<Self>;
}

/// Called with each row that is found.
pub type Each<'a> = &'a mut dyn FnMut(&dyn Cells) -> Result<()>;

/// What a store does with records. Part of [`Tables`](crate::store::tables::Tables); features use [`Records`].
pub trait RecordTables {
    /// Shows the records of a lookup.
    fn find_records(&mut self, table: &'static Table, lookup: &Lookup<'_>, each: Each<'_>) -> Result<()>;
    /// Shows the records of a stretch, in order; with `take` it removes them and shows them in no order.
    fn scan_records(&mut self, table: &'static Table, scan: &Scan<'_>, take: bool, each: Each<'_>) -> Result<()>;
    /// Counts the records of a stretch.
    fn count_records(&mut self, table: &'static Table, scan: &Scan<'_>) -> Result<usize>;
    /// Inserts a record; returns its number, or 0 where it has none; `None` when its key or another unique index is
    /// taken.
    fn insert_record(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<Option<i64>>;
    /// Changes a table, in this order.
    fn change_records(&mut self, table: &'static Table, changes: &[Change<'_>]) -> Result<()>;
}

/// The records of one type.
pub struct Records<'a, R, T: RecordTables + ?Sized> {
    tables: &'a mut T,
    record: PhantomData<fn() -> R>,
}

impl<R, T: RecordTables + ?Sized> std::fmt::Debug for Records<'_, R, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Records")
    }
}

impl<'a, R: Record, T: RecordTables + ?Sized> Records<'a, R, T> {
    /// The records that a store has.
    pub fn of(tables: &'a mut T) -> Self {
        Self { tables, record: PhantomData }
    }

    /// The record of a key.
    ///
    /// # Errors
    /// When the store cannot be read, as everywhere here.
    pub fn get(&mut self, key: &impl Key) -> Result<Option<R>> {
        self.find(R::TABLE.key, key, Read::Plain)
    }

    /// The record of a key or another unique index.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn find(&mut self, index: Index, key: &impl Key, read: Read) -> Result<Option<R>> {
        let mut found = self.collect(&Lookup { index, keys: vec![key.parts()], read })?;
        Ok(found.pop())
    }

    /// The records of several keys, in no order; a key without a record is left out.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn find_all<K: Key>(&mut self, index: Index, keys: &[K]) -> Result<Vec<R>> {
        self.collect(&Lookup { index, keys: keys.iter().map(Key::parts).collect(), read: Read::Plain })
    }

    fn collect(&mut self, lookup: &Lookup<'_>) -> Result<Vec<R>> {
        let mut found = Vec::new();
        self.tables.find_records(R::TABLE, lookup, &mut |row| read_into(&mut found, row))?;
        Ok(found)
    }

    /// The records of a stretch, in order.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn scan(&mut self, scan: &Scan<'_>) -> Result<Vec<R>> {
        let mut found = Vec::new();
        self.tables.scan_records(R::TABLE, scan, false, &mut |row| read_into(&mut found, row))?;
        Ok(found)
    }

    /// The first record of a stretch.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn first(&mut self, scan: Scan<'_>) -> Result<Option<R>> {
        Ok(self.scan(&scan.limit(1))?.pop())
    }

    /// Removes the records of a stretch and returns them, in no order.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn take(&mut self, scan: &Scan<'_>) -> Result<Vec<R>> {
        let mut found = Vec::new();
        self.tables.scan_records(R::TABLE, scan, true, &mut |row| read_into(&mut found, row))?;
        Ok(found)
    }

    /// How many records a stretch has.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn count(&mut self, scan: &Scan<'_>) -> Result<usize> {
        self.tables.count_records(R::TABLE, scan)
    }

    /// Whether there are any records.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn has_any(&mut self) -> Result<bool> {
        Ok(self.count(&Scan::over(R::TABLE.key).limit(1))? > 0)
    }

    /// Inserts a record; returns its number, 0 where it has none, and `None` when its key or another unique value of
    /// it is taken.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn insert(&mut self, record: &R) -> Result<Option<i64>> {
        self.tables.insert_record(R::TABLE, &record.cells())
    }

    /// Writes a record, new or known; a numbered one must be known. Fixed columns stay as they were inserted.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when a numbered record is gone. See [`get`](Self::get) for others.
    pub fn put(&mut self, record: &R) -> Result<()> {
        self.change(&[Change::Put(record.cells())])
    }

    /// The same for several, in one exchange with the store.
    ///
    /// # Errors
    /// See [`put`](Self::put).
    pub fn put_all(&mut self, records: &[R]) -> Result<()> {
        let changes: Vec<Change<'_>> = records.iter().map(|record| Change::Put(record.cells())).collect();
        self.change(&changes)
    }

    /// Removes the record of a key, if there is one.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn delete(&mut self, key: &impl Key) -> Result<()> {
        self.change(&[Change::Remove(Scan::over(R::TABLE.key).under(key))])
    }

    /// Several changes, in one exchange with the store.
    ///
    /// # Errors
    /// See [`put`](Self::put).
    pub fn change(&mut self, changes: &[Change<'_>]) -> Result<()> {
        if changes.is_empty() { Ok(()) } else { self.tables.change_records(R::TABLE, changes) }
    }
}

fn read_into<R: Record>(found: &mut Vec<R>, row: &dyn Cells) -> Result<()> {
    found.push(R::read(&mut Reader::new(R::TABLE, row))?);
    Ok(())
}

/// That a numbered record which was to be written is not there.
pub(crate) fn vanished(table: &Table) -> StoreError {
    StoreError::Conflict(format!("a record of {} was removed meanwhile", table.name))
}
