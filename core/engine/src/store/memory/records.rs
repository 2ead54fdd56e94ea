//! Records in memory.
use super::MemoryTables;
use crate::error::{Result, StoreError};
use crate::store::names::{NameTables, Names};
use crate::store::record::{Cell, Change, Each, InMemory, Lookup, RecordTables, Scan, Table, Value, Values, vanished};

impl MemoryTables {
    /// The records of a table.
    pub(super) fn table(&mut self, table: &'static Table) -> &mut InMemory {
        self.records.entry(table.name).or_insert_with(|| InMemory::of(table))
    }

    fn put_values(&mut self, table: &'static Table, record: Values) {
        let records = self.table(table);
        let key = records.key_of(&record);
        let before = records.put(record);
        self.undo_by(move |tables| match before {
            Some(before) => _ = tables.table(table).put(before),
            None => _ = tables.table(table).remove(&key),
        });
    }

    fn remove_values(&mut self, table: &'static Table, scan: &Scan<'_>) -> Vec<Values> {
        let records = self.table(table);
        let keys: Vec<Values> = records.stretch(scan).into_iter().map(|record| records.key_of(record)).collect();
        let gone: Vec<Values> = keys.iter().filter_map(|key| records.remove(key)).collect();
        let again = gone.clone();
        if !again.is_empty() {
            self.undo_by(move |tables| {
                for record in again {
                    tables.table(table).put(record);
                }
            });
        }
        gone
    }
}

impl NameTables for MemoryTables {
    fn names(&mut self) -> &mut Names {
        &mut self.names
    }
}

impl RecordTables for MemoryTables {
    fn find_records(&mut self, table: &'static Table, lookup: &Lookup<'_>, each: Each<'_>) -> Result<()> {
        self.table(table).find(lookup, each)
    }

    fn scan_records(&mut self, table: &'static Table, scan: &Scan<'_>, take: bool, each: Each<'_>) -> Result<()> {
        if take {
            let gone = self.remove_values(table, scan);
            return gone.iter().try_for_each(|record| InMemory::show(record, each));
        }
        self.table(table).scan(scan, each)
    }

    fn count_records(&mut self, table: &'static Table, scan: &Scan<'_>) -> Result<usize> {
        Ok(self.table(table).stretch(scan).len())
    }

    fn insert_record(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<Option<i64>> {
        let mut record: Values = cells.iter().map(Value::from).collect();
        let records = self.table(table);
        let mut number = 0;
        if table.numbered {
            number = records.take_number();
            let key = table.columns.iter().position(|column| column.is_key);
            let place = key.and_then(|place| record.get_mut(place));
            *place.ok_or_else(|| StoreError::Failed(format!("{} has no key", table.name)))? = Value::Integer(number);
        }
        if records.is_taken(&record) {
            if table.numbered {
                records.return_number();
            }
            return Ok(None);
        }
        if table.numbered {
            self.undo_by(move |tables| tables.table(table).return_number());
        }
        self.put_values(table, record);
        Ok(Some(number))
    }

    fn change_records(&mut self, table: &'static Table, changes: &[Change<'_>]) -> Result<()> {
        for change in changes {
            match change {
                Change::Put(cells) => {
                    let record = self.table(table).merged(cells.iter().map(Value::from).collect());
                    self.put_values(table, record.ok_or_else(|| vanished(table))?);
                }
                Change::Remove(scan) => drop(self.remove_values(table, scan)),
            }
        }
        Ok(())
    }
}
