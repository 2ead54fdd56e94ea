//! The schema of declared tables: compares a file or a database with the declarations.
use super::cell::Kind;
use super::table::{Column, Index, Table};
use super::text::{Dialect, prefix};

/// A table as a store has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Its columns; none when there is no such table.
    pub columns: Vec<FoundColumn>,
    /// Its indexes, the key aside.
    pub indexes: Vec<FoundIndex>,
}

/// A column as a store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundColumn {
    /// Its name.
    pub name: String,
    /// Its type, as the store names it.
    pub kind: String,
    /// Whether it may be empty.
    pub optional: bool,
    /// Whether an insert may leave it out.
    pub has_default: bool,
}

/// An index as a store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundIndex {
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// Whether it allows no two equal rows.
    pub unique: bool,
    /// Whether it leaves rows out.
    pub partial: bool,
}

/// The type of a column.
#[must_use]
pub const fn type_of(dialect: Dialect, kind: Kind) -> &'static str {
    match (dialect, kind) {
        (Dialect::Sqlite, Kind::Integer | Kind::Count | Kind::Small | Kind::Flag) => "INTEGER",
        (Dialect::Sqlite, Kind::Real) => "REAL",
        (Dialect::Sqlite, Kind::Text) => "TEXT",
        (Dialect::Sqlite, Kind::Bytes | Kind::Id) => "BLOB",
        (Dialect::Postgres, Kind::Integer) => "bigint",
        (Dialect::Postgres, Kind::Count) => "integer",
        (Dialect::Postgres, Kind::Small) => "smallint",
        (Dialect::Postgres, Kind::Flag) => "boolean",
        (Dialect::Postgres, Kind::Real) => "double precision",
        (Dialect::Postgres, Kind::Text) => "text",
        (Dialect::Postgres, Kind::Bytes) => "bytea",
        (Dialect::Postgres, Kind::Id) => "uuid",
    }
}

/// Statements that bring a table to its declaration: they add what is missing, and change nothing that is there.
#[must_use]
pub fn missing(dialect: Dialect, table: &Table, found: &Found) -> Vec<String> {
    let mut statements = Vec::new();
    if found.columns.is_empty() {
        statements.push(create(dialect, table));
    }
    for column in table.columns.iter().filter(|_| !found.columns.is_empty()) {
        if !found.columns.iter().any(|there| there.name == column.name) {
            let definition = definition(dialect, column);
            statements.push(format!("ALTER TABLE {}{} ADD COLUMN {definition}", prefix(dialect), table.name));
        }
    }
    let absent = table.indexes.iter().filter(|index| !found.indexes.iter().any(|there| there.is(**index)));
    statements.extend(absent.map(|index| create_index(dialect, table, *index)));
    statements
}

/// What is otherwise in a table than declared, in words; empty when it is as declared.
#[must_use]
pub fn differences(dialect: Dialect, table: &Table, found: &Found) -> Vec<String> {
    let mut differences: Vec<String> = missing(dialect, table, found);
    for there in &found.columns {
        let Some((_, column)) = table.column(&there.name) else {
            if !there.optional && !there.has_default {
                differences.push(format!("{}.{} is not declared, and an insert needs it", table.name, there.name));
            }
            continue;
        };
        let wanted = type_of(dialect, column.kind);
        if there.kind != wanted {
            differences.push(format!("{}.{} is {}, declared as {wanted}", table.name, there.name, there.kind));
        }
        // A key is never empty, even where SQLite does not say so.
        if there.optional != column.optional && !column.is_key {
            differences
                .push(format!("{}.{} may be empty: {}, declared: {}", table.name, there.name, there.optional, column.optional));
        }
    }
    differences
}

impl FoundIndex {
    fn is(&self, index: Index) -> bool {
        self.columns == index.columns && self.unique == index.unique && self.partial == index.positive
    }
}

fn create(dialect: Dialect, table: &Table) -> String {
    let number = |column: &Column| table.numbered && column.is_key;
    let mut parts: Vec<String> = Vec::new();
    for column in table.columns {
        parts.push(match dialect {
            Dialect::Sqlite if number(column) => format!("{} INTEGER PRIMARY KEY", column.name),
            Dialect::Postgres if number(column) => format!("{} bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", column.name),
            _ => definition(dialect, column),
        });
    }
    if !table.numbered {
        parts.push(format!("PRIMARY KEY ({})", table.key.columns.join(", ")));
    }
    let tail = if dialect == Dialect::Sqlite && !table.numbered { " WITHOUT ROWID" } else { "" };
    format!("CREATE TABLE {}{} ({}){tail}", prefix(dialect), table.name, parts.join(", "))
}

fn definition(dialect: Dialect, column: &Column) -> String {
    let mut text = format!("{} {}", column.name, type_of(dialect, column.kind));
    if !column.optional {
        text.push_str(" NOT NULL");
    }
    if let Some(literal) = column.default {
        let value = match (literal, dialect) {
            ("true", Dialect::Sqlite) => "1".to_owned(),
            ("false", Dialect::Sqlite) => "0".to_owned(),
            _ => match literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some(text) => format!("'{}'", text.replace('\'', "''")),
                None => literal.to_owned(),
            },
        };
        text.push_str(" DEFAULT ");
        text.push_str(&value);
    }
    text
}

fn create_index(dialect: Dialect, table: &Table, index: Index) -> String {
    let (unique, columns) = (if index.unique { "UNIQUE " } else { "" }, index.columns.join(", "));
    let partial = match index.columns.first() {
        Some(first) if index.positive => format!(" WHERE {first} > 0"),
        _ => String::new(),
    };
    let prefix = prefix(dialect);
    format!("CREATE {unique}INDEX {prefix}{} ON {prefix}{} ({columns}){partial}", index.name, table.name)
}
