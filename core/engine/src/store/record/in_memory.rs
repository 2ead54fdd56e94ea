//! Records in memory, in the order of their indexes: the memory store's tables, and the caches that
//! connections have of small ones.
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Cells;
use super::cell::Cell;
use super::scan::{Lookup, Scan};
use super::table::{Index, Table};
use crate::error::{Result, StoreError};

/// A value of a column, owned.
#[derive(Debug, Clone)]
pub enum Value {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// Text.
    Text(Box<str>),
    /// Bytes.
    Bytes(Box<[u8]>),
    /// Behind every value: where a range ends that has no end of its own.
    Last,
}

impl Value {
    const fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Integer(_) => 1,
            Self::Real(_) => 2,
            Self::Text(_) => 3,
            Self::Bytes(_) => 4,
            Self::Last => 5,
        }
    }

    /// The value as it is stored.
    #[must_use]
    pub fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null | Self::Last => Cell::Null,
            Self::Integer(number) => Cell::Integer(*number),
            Self::Real(number) => Cell::Real(*number),
            Self::Text(text) => Cell::text(text),
            Self::Bytes(bytes) => Cell::bytes(bytes),
        }
    }
}

impl From<&Cell<'_>> for Value {
    fn from(cell: &Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Integer(number) => Self::Integer(*number),
            Cell::Real(number) => Self::Real(*number),
            Cell::Text(text) => Self::Text((**text).into()),
            Cell::Bytes(bytes) => Self::Bytes((**bytes).into()),
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Real(a), Self::Real(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

/// Values of a record, or of some of its columns.
pub type Values = Vec<Value>;

/// A record that is kept in memory.
struct Kept<'a>(&'a Values);

impl Cells for Kept<'_> {
    fn cell(&self, column: usize) -> Result<Cell<'_>> {
        let value = self.0.get(column);
        value.map(Value::cell).ok_or_else(|| StoreError::Failed(format!("a record has no column {column}")))
    }
}

/// The records of one table.
#[derive(Debug, Clone)]
pub struct InMemory {
    table: &'static Table,
    records: BTreeMap<Values, Values>,
    /// For each index of the table: its columns, then the key; and the key.
    indexes: Vec<BTreeMap<Values, Values>>,
    /// The largest number given out so far: none is given out again.
    last_number: i64,
}

impl InMemory {
    /// No records.
    #[must_use]
    pub fn of(table: &'static Table) -> Self {
        Self { table, records: BTreeMap::new(), indexes: vec![BTreeMap::new(); table.indexes.len()], last_number: 0 }
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn pick(&self, columns: &[&str], record: &Values) -> Values {
        let place = |name: &&str| self.table.column(name).and_then(|(place, _)| record.get(place)).cloned();
        columns.iter().map(|name| place(name).unwrap_or(Value::Null)).collect()
    }

    /// The key of a record.
    #[must_use]
    pub fn key_of(&self, record: &Values) -> Values {
        self.pick(self.table.key.columns, record)
    }

    /// The places of a record in the indexes that hold it.
    fn places(&self, record: &Values) -> Vec<(usize, Values)> {
        let mut places = Vec::new();
        for (number, index) in self.table.indexes.iter().enumerate() {
            let mut place = self.pick(index.columns, record);
            if index.positive && !matches!(place.first(), Some(Value::Integer(1..))) {
                continue;
            }
            place.extend(self.key_of(record));
            places.push((number, place));
        }
        places
    }

    /// Writes a record; returns what was there.
    pub fn put(&mut self, record: Values) -> Option<Values> {
        let key = self.key_of(&record);
        let before = self.remove(&key);
        for (number, place) in self.places(&record) {
            if let Some(index) = self.indexes.get_mut(number) {
                index.insert(place, key.clone());
            }
        }
        self.records.insert(key, record);
        before
    }

    /// Removes a record and returns it.
    pub fn remove(&mut self, key: &Values) -> Option<Values> {
        let record = self.records.remove(key)?;
        for (number, place) in self.places(&record) {
            if let Some(index) = self.indexes.get_mut(number) {
                index.remove(&place);
            }
        }
        Some(record)
    }

    /// A known record with the changes of a put; `None` when a numbered one is not known. Fixed columns stay.
    #[must_use]
    pub fn merged(&self, mut record: Values) -> Option<Values> {
        let Some(known) = self.records.get(&self.key_of(&record)) else {
            return (!self.table.numbered).then_some(record);
        };
        for ((value, old), column) in record.iter_mut().zip(known).zip(self.table.columns) {
            if column.is_fixed {
                value.clone_from(old);
            }
        }
        Some(record)
    }

    /// Takes the number for the next record of a numbered table. The number of a removed record is not used again.
    pub fn take_number(&mut self) -> i64 {
        self.last_number = self.last_number.saturating_add(1);
        self.last_number
    }

    /// Gives the latest number back.
    pub fn return_number(&mut self) {
        self.last_number -= 1;
    }

    /// Whether the key of a record, or its place in a unique index, is taken.
    #[must_use]
    pub fn is_taken(&self, record: &Values) -> bool {
        let unique = self.table.indexes.iter().filter(|index| index.unique);
        self.records.contains_key(&self.key_of(record))
            || unique.into_iter().any(|index| self.at(*index, &self.pick(index.columns, record)).is_some())
    }

    /// The record with these values in a unique index.
    fn at(&self, index: Index, values: &Values) -> Option<&Values> {
        if index == self.table.key {
            return self.records.get(values);
        }
        let place = self.table.indexes.iter().position(|own| *own == index)?;
        let mut end = values.clone();
        end.push(Value::Last);
        let key = self.indexes.get(place)?.range(values.clone()..end).next()?.1;
        self.records.get(key)
    }

    /// Shows the records of a lookup.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn find(&self, lookup: &Lookup<'_>, each: &mut dyn FnMut(&dyn Cells) -> Result<()>) -> Result<()> {
        for key in &lookup.keys {
            let values: Values = key.iter().map(Value::from).collect();
            if let Some(record) = self.at(lookup.index, &values) {
                each(&Kept(record))?;
            }
        }
        Ok(())
    }

    /// The records of a stretch, in order.
    #[must_use]
    pub fn stretch(&self, scan: &Scan<'_>) -> Vec<&Values> {
        if self.records.is_empty() {
            // Features ask on the way of every job whether there is anything for them.
            return Vec::new();
        }
        let (low, high) = ends(scan);
        if low > high {
            return Vec::new();
        }
        let number = self.table.indexes.iter().position(|own| *own == scan.index);
        let found: Box<dyn DoubleEndedIterator<Item = &Values>> = match number.and_then(|number| self.indexes.get(number)) {
            Some(index) => Box::new(index.range(low..high).filter_map(|(_, key)| self.records.get(key))),
            None => Box::new(self.records.range(low..high).map(|(_, record)| record)),
        };
        let only: Vec<(usize, Value)> = scan
            .only
            .iter()
            .filter_map(|(name, cell)| self.table.column(name).map(|(place, _)| (place, Value::from(cell))))
            .collect();
        let wanted = |record: &&Values| only.iter().all(|(place, value)| record.get(*place) == Some(value));
        let found: Box<dyn Iterator<Item = &Values>> = if scan.descending { Box::new(found.rev()) } else { found };
        found.filter(wanted).skip(scan.skip).take(scan.limit).collect()
    }

    /// Shows the records of a stretch.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn scan(&self, scan: &Scan<'_>, each: &mut dyn FnMut(&dyn Cells) -> Result<()>) -> Result<()> {
        self.stretch(scan).into_iter().try_for_each(|record| each(&Kept(record)))
    }

    /// Shows a record.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn show(record: &Values, each: &mut dyn FnMut(&dyn Cells) -> Result<()>) -> Result<()> {
        each(&Kept(record))
    }

    /// Keeps a row that was read from the store.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn keep(&mut self, row: &dyn Cells) -> Result<()> {
        let values = (0..self.table.columns.len()).map(|place| row.cell(place).map(|cell| Value::from(&cell)));
        let record = values.collect::<Result<Values>>()?;
        self.put(record);
        Ok(())
    }
}

/// Where a stretch begins, and before which place it ends.
fn ends(scan: &Scan<'_>) -> (Values, Values) {
    let prefix: Values = scan.prefix.iter().map(Value::from).collect();
    let (mut low, mut high) = (prefix.clone(), prefix.clone());
    if let Some(from) = &scan.from {
        low.push(Value::from(&from.value));
        low.extend((!from.included).then_some(Value::Last));
    }
    match &scan.to {
        Some(to) => {
            high.push(Value::from(&to.value));
            high.extend(to.included.then_some(Value::Last));
        }
        None => high.push(Value::Last),
    }
    if !scan.after.is_empty() {
        let place: Values = prefix.into_iter().chain(scan.after.iter().map(Value::from)).collect();
        if scan.descending {
            high = high.min(place);
        } else {
            low = low.max(place.into_iter().chain([Value::Last]).collect());
        }
    }
    (low, high)
}
