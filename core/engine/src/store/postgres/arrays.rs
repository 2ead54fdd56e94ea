//! Rows turned into columns: a statement takes each as one array, so a transaction's rows of a table are written
//! at once.
use std::collections::BTreeMap;

use ojs_model::lazy::Lazy;
use uuid::Uuid;

use super::params::{Numbers, Param};
use crate::error::{Result, StoreError};
use crate::kernel::job::{Body, History, JobRow};
use crate::store::record::{Cell, Column, Kind, Table, text};
use crate::store::row::{Row, Section};

/// The place of a row's number among those that a statement is bound to, which are in order. A join with the numbers
/// would say the same, but while a table is small the planner reads all of it for each statement that has such a join.
const PLACE: &str = "width_bucket(seq, $1::bigint[])";

/// Stores the fixed parts of jobs. Bound to numbers, ids and the columns of [`Body`].
pub static INSERT_JOBS: Lazy<String> = Lazy::new(|| {
    let (names, (arrays, _)) = (Body::names(Section::is_any), unnested::<Body>(3));
    format!(
        "INSERT INTO ojs_jobs (seq, id, queue, {names}) SELECT seq, id, NULL, {names} \
         FROM unnest($1::bigint[], $2::uuid[], {arrays}) AS new (seq, id, {names}) ON CONFLICT (id) DO NOTHING"
    )
});
/// Stores the changing parts of jobs. Bound to uniqueness keys and all columns of [`JobRow`].
pub static INSERT_RUNS: Lazy<String> = Lazy::new(|| {
    let names = JobRow::names(Section::is_any);
    let values: Vec<String> = elements::<JobRow>(Section::is_any, 2, "i").map(|(_, element)| element).collect();
    format!(
        "INSERT INTO ojs_runs (ukey, {names}) SELECT ukey, {} FROM unnest($1::bytea[]) WITH ORDINALITY AS new (ukey, i)",
        values.join(", ")
    )
});
/// Writes rows that are still as they were read. Bound to numbers, states, leases and ends of leases as they were, and
/// the columns that may change.
pub static UPDATE_RUNS: Lazy<String> = Lazy::new(|| {
    let elements = elements::<JobRow>(Section::is_changeable, 5, PLACE);
    let sets: Vec<String> = elements.map(|(name, element)| format!("{name} = {element}")).collect();
    format!(
        "UPDATE ojs_runs SET filed = 0, {} WHERE seq = ANY ($1) AND state = ($2::bigint[])[{PLACE}] \
         AND lease = ($3::bigint[])[{PLACE}] AND lease_until = ($4::bigint[])[{PLACE}]",
        sets.join(", ")
    )
});
/// Stores or replaces errors and results of jobs. Bound to numbers and the columns of [`History`].
pub static PUT_HISTORIES: Lazy<String> = Lazy::new(|| {
    let (names, (arrays, sets)) = (History::names(Section::is_any), unnested::<History>(2));
    format!(
        "INSERT INTO ojs_histories (seq, {names}) SELECT * FROM unnest($1::bigint[], {arrays}) \
         ON CONFLICT (seq) DO UPDATE SET {sets}"
    )
});
/// Replaces the fixed part of one job, bound as one of several.
pub static SET_BODY: Lazy<String> = Lazy::new(|| {
    let elements = elements::<Body>(Section::is_any, 2, "1");
    let sets: Vec<String> = elements.map(|(name, element)| format!("{name} = {element}")).collect();
    format!("UPDATE ojs_jobs SET {} WHERE seq = ($1::bigint[])[1]", sets.join(", "))
});

/// The type of a column's array.
pub const fn array_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer | Kind::Count | Kind::Small => "bigint[]",
        Kind::Flag => "boolean[]",
        Kind::Real => "double precision[]",
        Kind::Text => "text[]",
        Kind::Bytes => "bytea[]",
        Kind::Id => "uuid[]",
    }
}

/// Arrays for `unnest`, and what sets the columns to them when a row is there already.
fn unnested<R: Row>(first: usize) -> (String, String) {
    let columns = || (first..).zip(R::columns(Section::is_any));
    let arrays: Vec<String> = columns().map(|(number, column)| format!("${number}::{}", array_type(column.kind))).collect();
    let sets: Vec<String> = columns().map(|(_, column)| format!("{0} = excluded.{0}", column.name)).collect();
    (arrays.join(", "), sets.join(", "))
}

/// Names of columns, and the element at a place of the array of each.
fn elements<R: Row>(
    wanted: impl Fn(Section) -> bool,
    first: usize,
    place: &'static str,
) -> impl Iterator<Item = (&'static str, String)> {
    (first..)
        .zip(R::columns(wanted))
        .map(move |(number, column)| (column.name, format!("(${number}::{})[{place}]", array_type(column.kind))))
}

/// The values of one column.
#[derive(Debug)]
pub enum Array {
    Numbers(Numbers),
    /// The same for a column that may be empty.
    Integers(Vec<Option<i64>>),
    Flags(Vec<Option<bool>>),
    Reals(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Ids(Vec<Option<Uuid>>),
}

impl Array {
    /// No values.
    pub fn of(column: &Column) -> Self {
        match column.kind {
            Kind::Integer | Kind::Count | Kind::Small if column.optional => Self::Integers(Vec::new()),
            Kind::Integer | Kind::Count | Kind::Small => Self::Numbers(Numbers::default()),
            Kind::Flag => Self::Flags(Vec::new()),
            Kind::Real => Self::Reals(Vec::new()),
            Kind::Text => Self::Texts(Vec::new()),
            Kind::Bytes => Self::Bytes(Vec::new()),
            Kind::Id => Self::Ids(Vec::new()),
        }
    }

    /// Adds a value.
    ///
    /// # Errors
    /// When the column cannot hold it.
    #[inline]
    pub fn push(&mut self, column: &Column, cell: Cell<'_>) -> Result<()> {
        match (&mut *self, cell) {
            (Self::Numbers(Numbers(values)), Cell::Integer(number)) => values.push(signed(column, number)),
            (Self::Integers(values), Cell::Integer(number)) => values.push(Some(signed(column, number))),
            (Self::Integers(values), Cell::Null) => values.push(None),
            (Self::Flags(values), Cell::Integer(number)) => values.push(Some(number != 0)),
            (Self::Flags(values), Cell::Null) => values.push(None),
            (Self::Reals(values), Cell::Real(number)) => values.push(Some(number)),
            (Self::Reals(values), Cell::Null) => values.push(None),
            (Self::Texts(values), Cell::Text(text)) => values.push(Some(text.into_owned())),
            (Self::Texts(values), Cell::Null) => values.push(None),
            (Self::Bytes(values), Cell::Bytes(bytes)) => values.push(Some(bytes.into_owned())),
            (Self::Bytes(values), Cell::Null) => values.push(None),
            (Self::Ids(values), Cell::Bytes(bytes)) => {
                let id = Uuid::from_slice(&bytes);
                values.push(Some(id.map_err(|_| StoreError::Failed(format!("{} is no id", column.name)))?));
            }
            (Self::Ids(values), Cell::Null) => values.push(None),
            (_, cell) => return Err(StoreError::Failed(format!("{} cannot hold {cell:?}", column.name))),
        }
        Ok(())
    }

    pub fn param(&self) -> &dyn Param {
        match self {
            Self::Numbers(values) => values,
            Self::Integers(values) => values,
            Self::Flags(values) => values,
            Self::Reals(values) => values,
            Self::Texts(values) => values,
            Self::Bytes(values) => values,
            Self::Ids(values) => values,
        }
    }
}

/// A number as its column has it: the bits of a count stand in a signed one.
#[inline]
fn signed(column: &Column, number: i64) -> i64 {
    if column.kind == Kind::Count { i64::from((number as u32).cast_signed()) } else { number }
}

/// Numbered records that the open transaction has put, by table and number: always the same order of locks.
pub type Gathered = BTreeMap<&'static str, (&'static Table, BTreeMap<i64, Vec<Cell<'static>>>)>;

/// Records of one table that are written at once.
#[derive(Debug)]
pub struct Puts {
    pub sql: &'static str,
    pub rows: usize,
    columns: Vec<Array>,
}

impl Puts {
    /// Of the records that a transaction has gathered of a table.
    ///
    /// # Errors
    /// When a column cannot hold its value.
    pub fn of(table: &'static Table, records: BTreeMap<i64, Vec<Cell<'static>>>) -> Result<Self> {
        let mut columns: Vec<Array> = text::put(table).map(|(_, column)| Array::of(column)).collect();
        let rows = records.len();
        for record in records.into_values() {
            for (array, (place, column)) in columns.iter_mut().zip(text::put(table)) {
                array.push(column, record.get(place).cloned().unwrap_or(Cell::Null))?;
            }
        }
        Ok(Self { sql: text::put_many(table, array_type), rows, columns })
    }

    /// The arrays, in the order of the columns.
    pub fn params(&self) -> Vec<&dyn Param> {
        self.columns.iter().map(Array::param).collect()
    }
}

/// Rows of one type, column by column: those of some sections.
#[derive(Debug)]
pub struct Arrays {
    wanted: fn(Section) -> bool,
    columns: Vec<(&'static Column, Array)>,
    rows: usize,
}

impl Arrays {
    /// No rows.
    pub fn of<R: Row>(wanted: fn(Section) -> bool) -> Self {
        Self { wanted, columns: R::columns(wanted).map(|column| (column, Array::of(column))).collect(), rows: 0 }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When a column cannot hold its value.
    pub fn push<R: Row>(&mut self, row: &R) -> Result<()> {
        self.rows += 1;
        let mut columns = self.columns.iter_mut();
        row.each(self.wanted, |cell| match columns.next() {
            Some((column, array)) => array.push(column, cell),
            None => Ok(()),
        })
    }

    pub fn len(&self) -> usize {
        self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The arrays, in the order of the columns.
    pub fn params(&self) -> impl Iterator<Item = &dyn Param> {
        self.columns.iter().map(|(_, array)| array.param())
    }

    /// The array of a column.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn param(&self, name: &str) -> Result<&dyn Param> {
        let found = self.columns.iter().find(|(column, _)| column.name == name);
        found.map(|(_, array)| array.param()).ok_or_else(|| StoreError::Failed(format!("no column {name} is written")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::postgres::connection::Db;
    use crate::store::postgres::{Node, declared};
    use crate::store::record::schema::differences;
    use crate::store::record::text::Dialect;
    use crate::store::rows::EventBatch;

    #[test]
    fn rows_with_statements_of_their_own_are_as_declared_in_a_database() {
        let database = ojs_postgres_fixture::database();
        let node = Node::open(database.url()).unwrap();
        let mut db = Db::open(std::sync::Arc::clone(&node.target)).unwrap();
        for (name, row) in
            [("runs", JobRow::TABLE), ("jobs", Body::TABLE), ("histories", History::TABLE), ("events", EventBatch::TABLE)]
        {
            let table: &'static Table = Box::leak(Box::new(Table { name, columns: row.columns, ..*row }));
            let found = declared::found(&mut db, &[table]).unwrap().remove(0);
            let mut other = differences(Dialect::Postgres, table, &found);
            // The number of the job, and what the log writes itself.
            other.retain(|difference| !["histories.seq ", "events.count "].iter().any(|known| difference.starts_with(known)));
            // A row that an application has inserted has no body yet.
            other.retain(|difference| difference != "jobs.body may be empty: true, declared: false");
            assert_eq!(other, Vec::<String>::new());
        }
    }
}
