//! The SQL of records, built once from the declaration and kept: a statement is prepared once per connection, like
//! one of a file.
use std::fmt::Write;

use super::cell::Kind;
use super::scan::{Read, Scan};
use super::table::{Column, Index, Table};
use crate::store::texts::Texts;

/// Whose SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite's.
    Sqlite,
    /// PostgreSQL's.
    Postgres,
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Find(Read),
    FindMany,
    Rows(Read),
    Count,
    Take,
    Remove,
    Insert,
    Put,
    PutMany,
}

/// Everything that the text of a statement hangs on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Form {
    dialect: Dialect,
    action: Action,
    table: &'static str,
    index: &'static str,
    prefix: usize,
    /// Whether each end is part of the range.
    from: Option<bool>,
    to: Option<bool>,
    only: Vec<&'static str>,
    after: usize,
    descending: bool,
    limited: bool,
    skips: bool,
}

impl Form {
    const fn of(dialect: Dialect, action: Action, table: &Table, index: Index) -> Self {
        Self {
            dialect,
            action,
            table: table.name,
            index: index.name,
            prefix: 0,
            from: None,
            to: None,
            only: Vec::new(),
            after: 0,
            descending: false,
            limited: false,
            skips: false,
        }
    }

    fn scan(dialect: Dialect, action: Action, table: &Table, scan: &Scan<'_>) -> Self {
        Self {
            prefix: scan.prefix.len(),
            from: scan.from.as_ref().map(|end| end.included),
            to: scan.to.as_ref().map(|end| end.included),
            only: scan.only.iter().map(|(name, _)| *name).collect(),
            after: scan.after.len(),
            descending: scan.descending,
            limited: scan.limit != usize::MAX || scan.skip > 0,
            skips: scan.skip > 0,
            ..Self::of(dialect, action, table, scan.index)
        }
    }

    /// The text, built when it is asked for the first time.
    fn text(self, build: impl FnOnce(&mut Text)) -> &'static str {
        static TEXTS: Texts<Form> = Texts::new();
        let dialect = self.dialect;
        TEXTS.get(self, || {
            let mut text = Text { dialect, sql: String::new(), params: 0 };
            build(&mut text);
            text.sql
        })
    }
}

/// Reads the record of a unique index. Bound to the values of its columns.
#[must_use]
pub fn find(dialect: Dialect, table: &'static Table, index: Index, read: Read) -> &'static str {
    Form::of(dialect, Action::Find(read), table, index).text(|text| {
        text.select(table);
        text.push(" WHERE ");
        text.equal(index.columns, " AND ");
        text.hold(read);
    })
}

/// Reads the records of several values of a unique index of one column, in no order. Bound to their array; PostgreSQL
/// only.
#[must_use]
pub fn find_many(table: &'static Table, index: Index) -> &'static str {
    Form::of(Dialect::Postgres, Action::FindMany, table, index).text(|text| {
        text.select(table);
        let _ = write!(text.sql, " WHERE {} = ANY ($1)", index.columns.join(", "));
    })
}

/// Reads the records of a stretch. Bound to [`Scan::params`], as all statements of a stretch.
#[must_use]
pub fn rows(dialect: Dialect, table: &'static Table, scan: &Scan<'_>) -> &'static str {
    let form = Form::scan(dialect, Action::Rows(scan.read), table, scan);
    form.text(|text| {
        text.select(table);
        text.stretch(table, scan);
        text.hold(scan.read);
    })
}

/// Counts the records of a stretch.
#[must_use]
pub fn count(dialect: Dialect, table: &'static Table, scan: &Scan<'_>) -> &'static str {
    let form = Form::scan(dialect, Action::Count, table, scan);
    let limited = form.limited;
    form.text(|text| {
        text.push("SELECT count(*) FROM ");
        if limited {
            text.push("(SELECT 1 FROM ");
            text.name(table.name);
            text.stretch(table, scan);
            text.push(") AS counted");
        } else {
            text.name(table.name);
            text.conditions(table, scan);
        }
    })
}

/// Removes the records of a stretch; with `taken` it returns them, in no order.
#[must_use]
pub fn remove(dialect: Dialect, table: &'static Table, scan: &Scan<'_>, taken: bool) -> &'static str {
    let form = Form::scan(dialect, if taken { Action::Take } else { Action::Remove }, table, scan);
    let limited = form.limited;
    form.text(|text| {
        text.push("DELETE FROM ");
        text.name(table.name);
        if limited {
            let key = table.key.columns.join(", ");
            let _ = write!(text.sql, " WHERE ({key}) IN (SELECT {key} FROM ");
            text.name(table.name);
            text.stretch(table, scan);
            text.push(")");
        } else {
            text.conditions(table, scan);
        }
        if taken {
            text.push(" RETURNING ");
            text.list(table.columns.iter());
        }
    })
}

/// Inserts a record; changes nothing where its key, or another unique index, is taken. Bound to [`inserted`].
#[must_use]
pub fn insert(dialect: Dialect, table: &'static Table) -> &'static str {
    Form::of(dialect, Action::Insert, table, table.key).text(|text| {
        text.insert(table);
        text.push(" ON CONFLICT DO NOTHING");
        if table.numbered && dialect == Dialect::Postgres {
            text.push(" RETURNING ");
            text.push(&table.key.columns.join(", "));
        }
    })
}

/// Columns that an insert is bound to.
pub fn inserted(table: &'static Table) -> impl Iterator<Item = (usize, &'static Column)> {
    table.columns.iter().enumerate().filter(move |(_, column)| !(table.numbered && column.is_key))
}

/// Writes a record, new or known; a numbered one that is known. Bound to [`put`].
#[must_use]
pub fn put_text(dialect: Dialect, table: &'static Table) -> &'static str {
    Form::of(dialect, Action::Put, table, table.key).text(|text| {
        let changing = || table.columns.iter().filter(|column| !column.is_key && !column.is_fixed);
        if table.numbered {
            text.push("UPDATE ");
            text.name(table.name);
            text.push(" SET ");
            // The key comes first in `put`, so that its number is 1.
            text.params = 1;
            let names: Vec<&str> = changing().map(|column| column.name).collect();
            text.equal(&names, ", ");
            text.params = 0;
            text.push(" WHERE ");
            text.equal(table.key.columns, " AND ");
            return;
        }
        text.insert(table);
        let _ = write!(text.sql, " ON CONFLICT ({}) DO ", table.key.columns.join(", "));
        let sets: Vec<String> = changing().map(|column| format!("{0} = excluded.{0}", column.name)).collect();
        if sets.is_empty() {
            text.push("NOTHING");
        } else {
            let _ = write!(text.sql, "UPDATE SET {}", sets.join(", "));
        }
    })
}

/// Writes several numbered records that are known. Bound to an array for each column of [`put`], whose types are given;
/// PostgreSQL only.
#[must_use]
pub fn put_many(table: &'static Table, array_type: impl Fn(Kind) -> &'static str) -> &'static str {
    Form::of(Dialect::Postgres, Action::PutMany, table, table.key).text(|text| {
        text.push("UPDATE ");
        text.name(table.name);
        let key = table.key.columns.join(", ");
        // The numbers are in order, so this is the place of each. A join with them would be planned as a walk through
        // the whole table while it is small.
        let place = format!("width_bucket({key}, $1::bigint[])");
        let columns = (1..).zip(put(table)).filter(|(_, (_, column))| !column.is_key);
        let sets =
            columns.map(|(number, (_, column))| format!("{} = (${number}::{})[{place}]", column.name, array_type(column.kind)));
        let _ = write!(text.sql, " SET {} WHERE {key} = ANY ($1::bigint[])", sets.collect::<Vec<_>>().join(", "));
    })
}

/// Columns that a put is bound to, in order.
pub fn put(table: &'static Table) -> impl Iterator<Item = (usize, &'static Column)> {
    let all = || table.columns.iter().enumerate();
    let key = all().filter(|(_, column)| table.numbered && column.is_key);
    key.chain(all().filter(|(_, column)| !table.numbered || !column.is_key && !column.is_fixed))
}

/// A statement that is being built.
struct Text {
    dialect: Dialect,
    sql: String,
    params: usize,
}

impl Text {
    fn push(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    /// The name of a table or an index in this store.
    fn name(&mut self, name: &str) {
        self.sql.push_str(prefix(self.dialect));
        self.sql.push_str(name);
    }

    fn param(&mut self) {
        self.params += 1;
        let sign = match self.dialect {
            Dialect::Sqlite => '?',
            Dialect::Postgres => '$',
        };
        let _ = write!(self.sql, "{sign}{}", self.params);
    }

    fn list<'a>(&mut self, columns: impl Iterator<Item = &'a Column>) {
        for (index, column) in columns.enumerate() {
            self.push(if index == 0 { "" } else { ", " });
            self.push(column.name);
        }
    }

    fn select(&mut self, table: &'static Table) {
        self.push("SELECT ");
        self.list(table.columns.iter());
        self.push(" FROM ");
        self.name(table.name);
    }

    fn insert(&mut self, table: &'static Table) {
        self.push("INSERT INTO ");
        self.name(table.name);
        self.push(" (");
        self.list(inserted(table).map(|(_, column)| column));
        self.push(") VALUES (");
        for index in 0..inserted(table).count() {
            self.push(if index == 0 { "" } else { ", " });
            self.param();
        }
        self.push(")");
    }

    /// `a = ?1 AND b = ?2`
    fn equal(&mut self, columns: &[&str], between: &str) {
        for (index, column) in columns.iter().enumerate() {
            let before = if index == 0 { "" } else { between };
            let _ = write!(self.sql, "{before}{column} = ");
            self.param();
        }
    }

    fn conditions(&mut self, table: &'static Table, scan: &Scan<'_>) {
        let index = scan.index;
        let mut word = " WHERE ";
        let mut and = |text: &mut Self| text.push(std::mem::replace(&mut word, " AND "));
        let mut columns = index.columns.iter();
        for column in columns.by_ref().take(scan.prefix.len()) {
            and(self);
            self.equal(&[column], "");
        }
        if let Some(column) = columns.next() {
            let ends = [(&scan.from, ">", ">="), (&scan.to, "<", "<=")];
            for (end, without, with) in ends {
                if let Some(end) = end {
                    and(self);
                    let _ = write!(self.sql, "{column} {} ", if end.included { with } else { without });
                    self.param();
                }
            }
        }
        for (column, _) in &scan.only {
            and(self);
            self.equal(&[column], "");
        }
        if !scan.after.is_empty() {
            and(self);
            let order: Vec<&str> = table.order_of(index, scan.prefix.len()).take(scan.after.len()).collect();
            let _ = write!(self.sql, "({}) {} (", order.join(", "), if scan.descending { '<' } else { '>' });
            for place in 0..order.len() {
                self.push(if place == 0 { "" } else { ", " });
                self.param();
            }
            self.push(")");
        }
        if let Some(first) = index.columns.first().filter(|_| index.positive) {
            // The planner takes a partial index only where the statement says the same.
            and(self);
            let _ = write!(self.sql, "{first} > 0");
        }
    }

    fn stretch(&mut self, table: &'static Table, scan: &Scan<'_>) {
        self.conditions(table, scan);
        let direction = if scan.descending { " DESC" } else { "" };
        for (place, column) in table.order_of(scan.index, scan.prefix.len()).enumerate() {
            let before = if place == 0 { " ORDER BY " } else { ", " };
            let _ = write!(self.sql, "{before}{column}{direction}");
        }
        if scan.limit != usize::MAX || scan.skip > 0 {
            self.push(" LIMIT ");
            self.param();
        }
        if scan.skip > 0 {
            self.push(" OFFSET ");
            self.param();
        }
    }

    fn hold(&mut self, read: Read) {
        // SQLite has one writer at a time.
        if self.dialect == Dialect::Postgres {
            self.push(match read {
                Read::Plain => "",
                Read::Held | Read::Reserved => " FOR UPDATE",
                Read::HeldIfFree => " FOR UPDATE SKIP LOCKED",
            });
        }
    }
}

/// What stands before names.
#[must_use]
pub const fn prefix(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "",
        Dialect::Postgres => "ojs_",
    }
}
