//! The declaration of a table.
use super::cell::Kind;

/// A small table: its columns, its key and its indexes.
#[derive(Debug)]
pub struct Table {
    /// Its name in SQLite; in PostgreSQL `ojs_` stands before it.
    pub name: &'static str,
    /// Its columns, in the order of the fields.
    pub columns: &'static [Column],
    /// What identifies a record.
    pub key: Index,
    /// Whether the key is one number that the store chooses.
    pub numbered: bool,
    /// Whether a store across a network writes all records that a transaction has put at once, before its commit.
    pub gathered: bool,
    /// Further orders.
    pub indexes: &'static [Index],
    /// What a connection keeps in memory of it.
    pub remember: Remember,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it may be empty.
    pub optional: bool,
    /// What records get that were stored before there was this column, as a Rust literal.
    pub default: Option<&'static str>,
    /// Whether it is part of the key.
    pub is_key: bool,
    /// Whether it stays as it was inserted. It is not written again, so indexes on it are left alone.
    pub is_fixed: bool,
}

/// An order of the records of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// Its name in SQLite; in PostgreSQL `ojs_` stands before it.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [&'static str],
    /// Whether two records may not have the same values there.
    pub unique: bool,
    /// Whether it holds only records whose first column is above 0.
    pub positive: bool,
}

/// What a connection keeps in memory of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    /// Nothing: every read asks the store.
    Nothing,
    /// That there is no record. On PostgreSQL an insert is announced to all connections.
    Emptiness,
    /// All records: few, and seldom changed. On PostgreSQL each change is announced to all connections.
    Everything,
}

impl Table {
    /// The column of a name, and its place.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<(usize, &'static Column)> {
        self.columns.iter().enumerate().find(|(_, column)| column.name == name)
    }

    /// The columns that records of an index are in order of, behind `prefix` columns that are equal.
    pub fn order_of(&self, index: Index, prefix: usize) -> impl Iterator<Item = &'static str> + use<> {
        let key = if index.unique { &[] } else { self.key.columns };
        let own = index.columns.iter();
        own.chain(key.iter().filter(move |name| !index.columns.contains(name))).skip(prefix).copied()
    }
}

/// Whether a name is in a list. For declarations, which are constant.
#[must_use]
pub const fn is_listed(mut list: &[&str], name: &str) -> bool {
    while let [first, rest @ ..] = list {
        if is_equal(first.as_bytes(), name.as_bytes()) {
            return true;
        }
        list = rest;
    }
    false
}

const fn is_equal(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, left @ ..], [y, right @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (left, right);
    }
    a.is_empty() && b.is_empty()
}
