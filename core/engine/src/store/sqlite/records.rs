//! Records in SQLite: statements built from the declarations, prepared once per connection.
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Row, ToSql};

use super::SqliteTables;
use crate::error::{Result, StoreError};
use crate::store::names::{NameTables, Names};
use crate::store::record::text::{self, Dialect};
use crate::store::record::{Cell, Cells, Change, Each, InMemory, Lookup, Read, RecordTables, Remember, Scan, Table, vanished};

const SQLITE: Dialect = Dialect::Sqlite;

impl ToSql for Cell<'_> {
    #[inline]
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Cell::Null => ValueRef::Null,
            Cell::Integer(number) => ValueRef::Integer(*number),
            Cell::Real(number) => ValueRef::Real(*number),
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
            Cell::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// A row of a statement, from a column on.
pub(super) struct SqliteRow<'a> {
    pub row: &'a Row<'a>,
    pub first: usize,
}

impl Cells for SqliteRow<'_> {
    #[inline]
    fn cell(&self, column: usize) -> Result<Cell<'_>> {
        Ok(match self.row.get_ref(self.first + column)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text);
                Cell::text(text.map_err(|_| StoreError::Failed("a text in the file is not UTF-8".into()))?)
            }
            ValueRef::Blob(bytes) => Cell::bytes(bytes),
        })
    }

    #[inline]
    fn integer(&self, column: usize) -> Option<i64> {
        match self.row.get_ref(self.first + column) {
            Ok(ValueRef::Integer(number)) => Some(number),
            _ => None,
        }
    }
}

/// Binds values in order.
fn bind<'a>(statement: &mut CachedStatement<'_>, cells: impl IntoIterator<Item = &'a Cell<'a>>) -> Result<()> {
    for (place, cell) in (1..).zip(cells) {
        statement.raw_bind_parameter(place, cell)?;
    }
    Ok(())
}

/// Runs a statement that is bound, and shows its rows.
fn show(statement: &mut CachedStatement<'_>, each: Each<'_>) -> Result<()> {
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        each(&SqliteRow { row, first: 0 })?;
    }
    Ok(())
}

impl SqliteTables {
    fn bound(&self, sql: &str, table: &'static Table, scan: &Scan<'_>) -> Result<CachedStatement<'_>> {
        let mut statement = self.statement(sql)?;
        let params = scan.params(table);
        bind(&mut statement, params.iter().map(|param| &param.cell))?;
        Ok(statement)
    }

    /// The records of a table that this connection keeps in memory, as far as they answer a question.
    fn remembered(&mut self, table: &'static Table) -> Result<Option<&InMemory>> {
        if table.remember == Remember::Nothing {
            return Ok(None);
        }
        if !self.names.remembered.contains_key(table.name) {
            let all = Scan::over(table.key);
            // One record shows that a table is not empty.
            let wanted = if table.remember == Remember::Everything { all } else { all.limit(1) };
            let mut records = InMemory::of(table);
            show(&mut self.bound(text::rows(SQLITE, table, &wanted), table, &wanted)?, &mut |row| records.keep(row))?;
            self.names.remembered.insert(table.name, records);
        }
        let kept = self.names.remembered.get(table.name);
        Ok(kept.filter(|records| records.is_empty() || table.remember == Remember::Everything))
    }
}

impl NameTables for SqliteTables {
    fn names(&mut self) -> &mut Names {
        &mut self.names
    }
}

impl RecordTables for SqliteTables {
    fn find_records(&mut self, table: &'static Table, lookup: &Lookup<'_>, each: Each<'_>) -> Result<()> {
        if let Some(records) = self.remembered(table)? {
            return records.find(lookup, each);
        }
        let mut statement = self.statement(text::find(SQLITE, table, lookup.index, Read::Plain))?;
        for key in &lookup.keys {
            bind(&mut statement, key)?;
            show(&mut statement, each)?;
        }
        Ok(())
    }

    fn scan_records(&mut self, table: &'static Table, scan: &Scan<'_>, take: bool, each: Each<'_>) -> Result<()> {
        if take {
            self.names.remembered.remove(table.name);
        } else if let Some(records) = self.remembered(table)? {
            return records.scan(scan, each);
        }
        let sql = if take { text::remove(SQLITE, table, scan, true) } else { text::rows(SQLITE, table, scan) };
        show(&mut self.bound(sql, table, scan)?, each)
    }

    fn count_records(&mut self, table: &'static Table, scan: &Scan<'_>) -> Result<usize> {
        if let Some(records) = self.remembered(table)? {
            return Ok(records.stretch(scan).len());
        }
        let mut statement = self.bound(text::count(SQLITE, table, scan), table, scan)?;
        let mut rows = statement.raw_query();
        let row = rows.next()?.ok_or_else(|| StoreError::Failed("a count gave no row".into()))?;
        Ok(row.get(0)?)
    }

    fn insert_record(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<Option<i64>> {
        self.names.remembered.remove(table.name);
        let mut statement = self.statement(text::insert(SQLITE, table))?;
        bind(&mut statement, text::inserted(table).filter_map(|(place, _)| cells.get(place)))?;
        let inserted = statement.raw_execute()? > 0;
        Ok(inserted.then(|| if table.numbered { self.connection.last_insert_rowid() } else { 0 }))
    }

    fn change_records(&mut self, table: &'static Table, changes: &[Change<'_>]) -> Result<()> {
        if table.remember != Remember::Nothing {
            self.names.remembered.remove(table.name);
        }
        for change in changes {
            match change {
                Change::Put(cells) => {
                    let mut statement = self.statement(text::put_text(SQLITE, table))?;
                    bind(&mut statement, text::put(table).filter_map(|(place, _)| cells.get(place)))?;
                    if statement.raw_execute()? == 0 && table.numbered {
                        return Err(vanished(table));
                    }
                }
                Change::Remove(scan) => _ = self.bound(text::remove(SQLITE, table, scan, false), table, scan)?.raw_execute()?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;
    use rusqlite::types::Value;

    use super::*;
    use crate::options::Durability;
    use crate::store::memory::MemoryTables;
    use crate::store::record::schema::{Found, missing};
    use crate::store::record::tests::{PROBES, exercise, reads_its_cell, whole};
    use crate::store::tables::Tables;

    #[test]
    fn records_are_the_same_as_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let mut tables = SqliteTables::open(&directory.path().join("jobs.db"), Durability::Full).unwrap();
        for statement in PROBES.iter().flat_map(|table| missing(SQLITE, table, &Found::default())) {
            tables.connection.execute_batch(&statement).unwrap();
        }
        let wanted = exercise(&mut MemoryTables::default());
        for _ in 0..2 {
            tables.begin(true).unwrap();
            assert_eq!(exercise(&mut tables), wanted);
            tables.rollback();
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            whole().prop_map(Value::Integer),
            any::<f64>().prop_map(Value::Real),
            "[0-9]{1,20}|\\PC{0,8}".prop_map(Value::Text),
            prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Blob),
        ]
    }

    proptest! {
        #[test]
        fn a_column_is_read_as_its_cell(value in values()) {
            let connection = Connection::open_in_memory().unwrap();
            let read = |row: &Row<'_>| {
                reads_its_cell(&SqliteRow { row, first: 0 });
                Ok(())
            };
            connection.query_row("SELECT ?1", [value], read).unwrap();
        }
    }

    #[test]
    fn two_reasons_hold_a_job() {
        let directory = tempfile::tempdir().unwrap();
        let mut tables = SqliteTables::open(&directory.path().join("jobs.db"), Durability::Full).unwrap();
        crate::kernel::transition::tests::exercise(&mut tables);
    }
}
