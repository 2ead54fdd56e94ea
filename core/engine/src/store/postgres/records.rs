//! Records in PostgreSQL: statements built from the declarations, sent in the open transaction.
use std::error::Error;

use sha2::{Digest, Sha256};
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::PostgresTables;
use super::arrays::Array;
use super::connection::{Answer, Ask};
use super::params;
use super::rows::get;
use crate::error::{Result, StoreError};
use crate::store::names::{NameTables, Names};
use crate::store::record::text::{self, Dialect};
use crate::store::record::{
    Cell, Cells, Change, Each, InMemory, Index, Kind, Lookup, Param, Read, RecordTables, Remember, Scan, Table, vanished,
};

const POSTGRES: Dialect = Dialect::Postgres;

type Fault = Box<dyn Error + Sync + Send>;

impl ToSql for Param<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, Fault> {
        match (&self.cell, self.kind) {
            (Cell::Null, _) => Ok(IsNull::Yes),
            (Cell::Integer(number), Kind::Flag) => (*number != 0).to_sql(&Type::BOOL, out),
            // The bits of a count stand in a signed column.
            (Cell::Integer(number), Kind::Count) => i64::from(u32::try_from(*number)?.cast_signed()).to_sql(&Type::INT8, out),
            (Cell::Integer(number), _) => number.to_sql(&Type::INT8, out),
            (Cell::Real(number), _) => number.to_sql(&Type::FLOAT8, out),
            (Cell::Text(text), _) => (&**text).to_sql(&Type::TEXT, out),
            // The sixteen bytes of an id are its form on the wire, too.
            (Cell::Bytes(bytes), _) => (&**bytes).to_sql(&Type::BYTEA, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl params::Param for Param<'_> {
    fn kind(&self) -> Type {
        match self.kind {
            Kind::Integer | Kind::Count | Kind::Small => Type::INT8,
            Kind::Flag => Type::BOOL,
            Kind::Real => Type::FLOAT8,
            Kind::Text => Type::TEXT,
            Kind::Bytes => Type::BYTEA,
            Kind::Id => Type::UUID,
        }
    }
}

/// A value of a row.
struct ReadCell<'a>(Cell<'a>);

impl<'a> FromSql<'a> for ReadCell<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> std::result::Result<Self, Fault> {
        Ok(Self(match *kind {
            Type::INT2 => Cell::Integer(i16::from_sql(kind, raw)?.into()),
            // Counts only: see `to_sql`.
            Type::INT4 => Cell::Integer(i32::from_sql(kind, raw)?.cast_unsigned().into()),
            Type::INT8 => Cell::Integer(i64::from_sql(kind, raw)?),
            Type::BOOL => Cell::Integer(bool::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => Cell::Real(f64::from_sql(kind, raw)?),
            Type::UUID | Type::BYTEA => Cell::bytes(raw),
            _ => Cell::text(<&str>::from_sql(kind, raw)?),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Fault> {
        Ok(Self(Cell::Null))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(
            *kind,
            Type::INT2
                | Type::INT4
                | Type::INT8
                | Type::BOOL
                | Type::FLOAT8
                | Type::UUID
                | Type::BYTEA
                | Type::TEXT
                | Type::VARCHAR
        )
    }
}

/// A whole number of a row, of any width; `None` for every other value.
struct ReadWhole(Option<i64>);

impl FromSql<'_> for ReadWhole {
    #[inline]
    fn from_sql(kind: &Type, raw: &[u8]) -> std::result::Result<Self, Fault> {
        Ok(Self(match *kind {
            Type::INT8 => raw.try_into().ok().map(i64::from_be_bytes),
            Type::INT2 => raw.try_into().ok().map(|raw| i16::from_be_bytes(raw).into()),
            // Counts only: see `to_sql`.
            Type::INT4 => raw.try_into().ok().map(|raw| u32::from_be_bytes(raw).into()),
            _ => None,
        }))
    }

    #[inline]
    fn from_sql_null(_: &Type) -> std::result::Result<Self, Fault> {
        Ok(Self(None))
    }

    #[inline]
    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A row of an answer, from a column on.
pub(super) struct PostgresRow<'a> {
    pub row: &'a Row,
    pub first: usize,
}

impl Cells for PostgresRow<'_> {
    fn cell(&self, column: usize) -> Result<Cell<'_>> {
        Ok(get::<ReadCell<'_>>(self.row, self.first + column)?.0)
    }

    #[inline]
    fn integer(&self, column: usize) -> Option<i64> {
        get::<ReadWhole>(self.row, self.first + column).ok()?.0
    }
}

fn show(answers: &[Answer], each: Each<'_>) -> Result<usize> {
    let rows = answers.iter().flat_map(|answer| &answer.rows);
    let mut shown = 0;
    for row in rows {
        each(&PostgresRow { row, first: 0 })?;
        shown += 1;
    }
    Ok(shown)
}

fn ask<'a>(sql: &'static str, params: &'a [Param<'a>]) -> Ask<'a> {
    Ask::with(sql, params.iter().map(|param| param as &dyn params::Param).collect())
}

/// The values of an index as parameters.
fn key_params<'a>(table: &'static Table, index: Index, key: &[Cell<'a>]) -> Vec<Param<'a>> {
    let kind = |name: &str| table.column(name).map_or(Kind::Text, |(_, column)| column.kind);
    index.columns.iter().zip(key).map(|(name, cell)| Param { kind: kind(name), cell: cell.clone() }).collect()
}

impl PostgresTables {
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
            let answers = self.ask(&[ask(text::rows(POSTGRES, table, &wanted), &wanted.params(table))])?;
            show(&answers, &mut |row| records.keep(row))?;
            self.names.remembered.insert(table.name, records);
        }
        let kept = self.names.remembered.get(table.name);
        Ok(kept.filter(|records| records.is_empty() || table.remember == Remember::Everything))
    }

    /// Whether this connection knows that a table has no records.
    pub(super) fn is_known_empty(&self, table: &'static Table) -> bool {
        self.names.remembered.get(table.name).is_some_and(InMemory::is_empty)
    }

    /// Writes what a query of the table would otherwise miss.
    fn flush_gathered(&mut self, table: &'static Table) -> Result<()> {
        if self.unit_of_work.has_gathered(table) { self.flush() } else { Ok(()) }
    }

    /// What connections keep in memory of a table is no longer right.
    fn announce(&mut self, table: &'static Table) -> Result<()> {
        self.names.remembered.remove(table.name);
        self.new_epoch()
    }
}

impl NameTables for PostgresTables {
    fn names(&mut self) -> &mut Names {
        &mut self.names
    }
}

impl RecordTables for PostgresTables {
    fn find_records(&mut self, table: &'static Table, lookup: &Lookup<'_>, each: Each<'_>) -> Result<()> {
        // What is held is decided upon, or written again with some of its columns changed: what this connection keeps
        // in memory may be older, and locks nothing.
        if lookup.read != Read::Held
            && let Some(records) = self.remembered(table)?
        {
            return records.find(lookup, each);
        }
        self.flush_gathered(table)?;
        let read = if self.writes() { lookup.read } else { Read::Plain };
        if let ([name], [_, _, ..], Read::Plain) = (lookup.index.columns, lookup.keys.as_slice(), read)
            && let Some((_, column)) = table.column(name)
        {
            let mut values = Array::of(column);
            lookup.keys.iter().flatten().try_for_each(|cell| values.push(column, cell.clone()))?;
            let answers = self.ask(&[Ask::new(text::find_many(table, lookup.index), &[values.param()])])?;
            return show(&answers, each).map(drop);
        }
        let sql = text::find(POSTGRES, table, lookup.index, read);
        let keys: Vec<Vec<Param<'_>>> = lookup.keys.iter().map(|key| key_params(table, lookup.index, key)).collect();
        let asks: Vec<Ask<'_>> = keys.iter().map(|params| ask(sql, params)).collect();
        let answers = self.ask(&asks)?;
        if show(&answers, each)? > 0 || read != Read::Reserved {
            return Ok(());
        }
        // There is no row to lock: of several that want to insert it, one is the first, and the others see what it
        // has stored.
        let name = format!("{}:{:?}", table.name, lookup.keys);
        let lock = Sha256::digest(name.as_bytes()).iter().take(8).fold(0_i64, |lock, byte| lock << 8 | i64::from(*byte));
        let again: Vec<Ask<'_>> = std::iter::once(Ask::new(sql!("lock_key"), &[&lock])).chain(asks).collect();
        let answers = self.ask(&again)?;
        show(answers.get(1..).unwrap_or_default(), each).map(drop)
    }

    fn scan_records(&mut self, table: &'static Table, scan: &Scan<'_>, take: bool, each: Each<'_>) -> Result<()> {
        if let Some(records) = self.remembered(table)?.filter(|records| !take || records.is_empty()) {
            return records.scan(scan, each);
        }
        self.flush_gathered(table)?;
        let sql = match (take, self.writes()) {
            (true, _) => text::remove(POSTGRES, table, scan, true),
            (false, true) => text::rows(POSTGRES, table, scan),
            (false, false) => text::rows(POSTGRES, table, &Scan { read: Read::Plain, ..scan.clone() }),
        };
        let answers = self.ask(&[ask(sql, &scan.params(table))])?;
        show(&answers, each)?;
        if take && table.remember == Remember::Everything { self.announce(table) } else { Ok(()) }
    }

    fn count_records(&mut self, table: &'static Table, scan: &Scan<'_>) -> Result<usize> {
        if let Some(records) = self.remembered(table)? {
            return Ok(records.stretch(scan).len());
        }
        self.flush_gathered(table)?;
        let answers = self.ask(&[ask(text::count(POSTGRES, table, scan), &scan.params(table))])?;
        let row = answers.iter().flat_map(|answer| &answer.rows).next();
        let count: i64 = row.map_or(Ok(0), |row| get(row, 0))?;
        usize::try_from(count).map_err(|_| StoreError::Failed(format!("{} has {count} records", table.name)))
    }

    fn insert_record(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<Option<i64>> {
        let columns = text::inserted(table).filter_map(|(place, column)| Some((column.kind, cells.get(place)?)));
        let params: Vec<Param<'_>> = columns.map(|(kind, cell)| Param { kind, cell: cell.clone() }).collect();
        let answers = self.ask(&[ask(text::insert(POSTGRES, table), &params)])?;
        let Some(answer) = answers.first() else { return Ok(None) };
        let number = match answer.rows.first() {
            Some(row) => Some(get(row, 0)?),
            None => (answer.changed > 0 && !table.numbered).then_some(0),
        };
        if number.is_some() && table.remember != Remember::Nothing {
            self.announce(table)?;
        }
        Ok(number)
    }

    fn change_records(&mut self, table: &'static Table, changes: &[Change<'_>]) -> Result<()> {
        let mut bound: Vec<(&'static str, Vec<Param<'_>>, bool)> = Vec::with_capacity(changes.len());
        for change in changes {
            bound.push(match change {
                Change::Put(cells) if table.gathered => {
                    let key = table.columns.iter().zip(cells).find(|(column, _)| column.is_key);
                    let Some((_, Cell::Integer(number))) = key else { return Err(vanished(table)) };
                    self.unit_of_work.gather(table, *number, cells);
                    continue;
                }
                Change::Put(cells) => {
                    let columns = text::put(table).filter_map(|(place, column)| Some((column.kind, cells.get(place)?)));
                    let params = columns.map(|(kind, cell)| Param { kind, cell: cell.clone() }).collect();
                    (text::put_text(POSTGRES, table), params, table.numbered)
                }
                Change::Remove(scan) => (text::remove(POSTGRES, table, scan, false), scan.params(table), false),
            });
        }
        if bound.is_empty() {
            return Ok(());
        }
        self.flush_gathered(table)?;
        let asks: Vec<Ask<'_>> = bound.iter().map(|(sql, params, _)| ask(sql, params)).collect();
        let answers = self.ask(&asks)?;
        if answers.iter().zip(&bound).any(|(answer, (_, _, must_exist))| *must_exist && answer.changed == 0) {
            return self.noted(|_| Err(vanished(table)));
        }
        let may_insert = !table.numbered && table.remember == Remember::Emptiness;
        if may_insert || table.remember == Remember::Everything { self.announce(table) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::memory::MemoryTables;
    use crate::store::postgres::{Node, Role, declared};
    use crate::store::record::schema::{Found, differences, missing};
    use crate::store::record::tests::{PROBES, exercise};
    use crate::store::tables::Tables;

    proptest! {
        #[test]
        fn whole_numbers_are_read_as_their_cells(
            kind in prop::sample::select(vec![Type::INT2, Type::INT4, Type::INT8, Type::FLOAT8, Type::TEXT, Type::UUID]),
            raw in prop::sample::select(vec![0_usize, 1, 2, 3, 4, 8, 9, 16]).prop_flat_map(|len| prop::collection::vec(any::<u8>(), len)),
        ) {
            let of_cell = match ReadCell::from_sql(&kind, &raw) {
                Ok(ReadCell(Cell::Integer(number))) => Some(number),
                _ => None,
            };
            prop_assert_eq!(ReadWhole::from_sql(&kind, &raw).unwrap().0, of_cell);
        }
    }

    #[test]
    fn records_are_the_same_as_in_memory() {
        let database = ojs_postgres_fixture::database();
        let node = Node::open(database.url()).unwrap();
        let mut tables = PostgresTables::open(&node, Role::Writer).unwrap();
        for statement in PROBES.iter().flat_map(|table| missing(POSTGRES, table, &Found::default())) {
            tables.db.run(&statement).unwrap();
        }
        let found = declared::found(&mut tables.db, PROBES).unwrap();
        let other: Vec<String> =
            PROBES.iter().zip(&found).flat_map(|(table, found)| differences(POSTGRES, table, found)).collect();
        assert_eq!(other, Vec::<String>::new());
        let wanted = exercise(&mut MemoryTables::default());
        for _ in 0..2 {
            tables.begin(true).unwrap();
            tables.prepare(&crate::store::wanted::Wanted::default()).unwrap();
            assert_eq!(exercise(&mut tables), wanted);
            tables.rollback();
        }
    }

    #[test]
    fn connections_that_write_keep_their_plans() {
        let database = ojs_postgres_fixture::database();
        let node = Node::open(database.url()).unwrap();
        let anew = |role| {
            let mut tables = PostgresTables::open(&node, role).unwrap();
            tables.begin(true).unwrap();
            for _ in 0..3 {
                tables.row(ojs_model::JobId::now_v7()).unwrap();
            }
            let planned =
                Ask::once("SELECT sum(custom_plans)::bigint, sum(generic_plans)::bigint FROM pg_prepared_statements", &[]);
            let answers = tables.ask(&[planned]).unwrap();
            let row = &answers[0].rows[0];
            (get::<i64>(row, 0).unwrap() > 0, get::<i64>(row, 1).unwrap() > 0)
        };
        assert_eq!(anew(Role::Writer), (false, true));
        assert_eq!(anew(Role::Maintenance), (false, true));
        assert!(anew(Role::Reader).0, "what is asked there has conditions that may be absent");
    }

    #[test]
    fn two_reasons_hold_a_job() {
        let database = ojs_postgres_fixture::database();
        let node = Node::open(database.url()).unwrap();
        crate::kernel::transition::tests::exercise(&mut PostgresTables::open(&node, Role::Writer).unwrap());
    }

    #[test]
    fn declared_tables_are_as_declared_in_a_new_database_and_in_one_that_lacks_some() {
        let database = ojs_postgres_fixture::database();
        for damage in ["", "ALTER TABLE ojs_limits DROP COLUMN held_until; DROP INDEX ojs_crons_waiting; DROP TABLE ojs_answers"]
        {
            let node = Node::open(database.url()).unwrap();
            let mut db = crate::store::postgres::connection::Db::open(std::sync::Arc::clone(&node.target)).unwrap();
            let tables = &*crate::features::TABLES;
            let found = declared::found(&mut db, tables).unwrap();
            let other = tables.iter().zip(&found).flat_map(|(table, found)| differences(POSTGRES, table, found));
            assert_eq!(other.collect::<Vec<_>>(), Vec::<String>::new());
            if !damage.is_empty() {
                db.run(damage).unwrap();
                assert_eq!(declared::lacking(&mut db).unwrap().len(), 4);
                drop(Node::open(database.url()).unwrap());
                assert_eq!(declared::lacking(&mut db).unwrap(), Vec::<String>::new());
            }
        }
    }
}
