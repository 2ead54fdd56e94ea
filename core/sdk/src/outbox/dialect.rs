//! The statements of each database, and the ways in which drivers want parameters.
use super::database::{Statement, Value};
use crate::error::Error;

/// Whose SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL 12 or newer.
    Postgres,
    /// SQLite 3.35 or newer.
    Sqlite,
    /// MySQL 8.0.13 or newer, MariaDB 10.6 or newer.
    Mysql,
}

/// How a driver wants parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `?`, one value each.
    Question,
    /// `$1`: one value for each name, however often it is used.
    Dollar,
    /// `%s`, one value each; a percent sign is doubled.
    Percent,
}

/// The name of an outbox table: letters, digits and `_`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table(String);

impl Default for Table {
    fn default() -> Self {
        Self(PLAIN.to_owned())
    }
}

/// The name of the table in "Framework Adapters", which the statements are written with.
pub(super) const PLAIN: &str = "ojs_outbox";

impl Table {
    /// A table of this name, found by the connection's search path.
    ///
    /// # Errors
    /// [`Error::Validation`] for anything that is not a plain identifier of at most 40 characters.
    pub fn new(name: &str) -> Result<Self, Error> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.len() <= 40 && name.chars().all(plain) && name.starts_with(|c: char| !c.is_ascii_digit()) {
            return Ok(Self(name.to_owned()));
        }
        Err(Error::validation("table", format!("'{name}' must be lowercase letters, digits and _, at most 40, no digit first")))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    pub(super) fn within(&self, sql: &str) -> String {
        if self.0 == PLAIN { sql.to_owned() } else { sql.replace(PLAIN, &self.0) }
    }
}

macro_rules! statements {
    ($($name:ident),+ $(,)?) => {
        /// A statement that all dialects have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(non_camel_case_types, reason = "named like their files")]
        pub(super) enum Sql { $($name),+ }

        impl Sql {
            fn text(self, dialect: Dialect) -> &'static str {
                match (self, dialect) {
                    $(
                        (Self::$name, Dialect::Postgres) => include_str!(concat!("sql/postgres/", stringify!($name), ".sql")),
                        (Self::$name, Dialect::Sqlite) => include_str!(concat!("sql/sqlite/", stringify!($name), ".sql")),
                        (Self::$name, Dialect::Mysql) => include_str!(concat!("sql/mysql/", stringify!($name), ".sql")),
                    )+
                }
            }
        }
    };
}
statements!(
    insert,
    claim,
    release,
    read,
    sent,
    waiting,
    refused,
    prune_sent,
    prune_parked,
    lag,
    backlog,
    parked,
    replay,
    drop,
    staged
);

/// The next number of the outbox, as far as given out, in PostgreSQL.
pub(super) const HIGHEST: &str = include_str!("sql/postgres/highest.sql");
/// Transactions in the gate.
pub(super) const HOLDERS: &str = include_str!("sql/postgres/holders.sql");
/// How numbers are given out.
pub(super) const SEQUENCE: &str = include_str!("sql/postgres/sequence.sql");

/// Whether anything is old enough to be pruned, in SQLite, where a DELETE locks the whole file even when it finds no
/// row.
pub(super) const OLD: &str = include_str!("sql/sqlite/old.sql");

/// The number of the last of the next rows, in MySQL.
pub(super) const HIGHEST_MYSQL: &str = include_str!("sql/mysql/highest.sql");
/// The rows from one number to another.
pub(super) const NUMBERS: &str = include_str!("sql/mysql/numbers.sql");
/// The next statement sees rows that are not committed.
pub(super) const UNCOMMITTED: &str = include_str!("sql/mysql/uncommitted.sql");
/// The gate.
pub(super) const SLOTS: &str = include_str!("sql/mysql/slots.sql");
/// Numbers that no open transaction holds.
pub(super) const FREE_SLOTS: &str = include_str!("sql/mysql/free_slots.sql");
/// Makes the gate whole again: some test suites empty all tables.
pub(super) const FILL_SLOTS: &str = include_str!("sql/mysql/8_slots.sql");

/// The lock of migrations in PostgreSQL. The number is the same in all languages and releases.
const MIGRATION_LOCK: &str = "pg_advisory_xact_lock(1869247233)";
/// The lock of migrations in MySQL, one for each database: how to take it and how to release it. The lock ends with
/// its connection at the latest. A process that does not get it within a minute continues without it, because a
/// failed migration leaves the lock with its connection, which may stay in a pool. `DO` returns no rows, which some
/// drivers would want to be read.
const MIGRATION_LOCK_MYSQL: [&str; 2] =
    ["DO GET_LOCK(CONCAT('ojs_outbox ', MD5(DATABASE())), 60)", "DO RELEASE_LOCK(CONCAT('ojs_outbox ', MD5(DATABASE())))"];

impl Dialect {
    /// The statements that make the tables, or add what a table lacks that was made by the specification's DDL. Run
    /// them one after the other on one connection. They may be run again, and by many processes at the same time: `IF
    /// NOT EXISTS` alone does not make processes take turns, so the statements take a lock that is the same in all
    /// languages. In PostgreSQL they are one statement, which holds the lock to its end even where each statement is
    /// a transaction. In MySQL the first and the last statement take and release the lock. SQLite locks the whole
    /// file for each statement; the connection needs a busy time-out, which drivers set by default.
    #[must_use]
    pub fn migration(self, table: &Table) -> Vec<String> {
        let statements: &[&str] = match self {
            Self::Postgres => &[
                include_str!("sql/postgres/1_table.sql"),
                include_str!("sql/postgres/2_columns.sql"),
                include_str!("sql/postgres/3_due.sql"),
                include_str!("sql/postgres/4_parked.sql"),
                include_str!("sql/postgres/5_relay.sql"),
                include_str!("sql/postgres/6_number.sql"),
                include_str!("sql/postgres/7_gate.sql"),
            ],
            Self::Sqlite => &[
                include_str!("sql/sqlite/1_table.sql"),
                include_str!("sql/sqlite/2_due.sql"),
                include_str!("sql/sqlite/3_parked.sql"),
                include_str!("sql/sqlite/4_relay.sql"),
            ],
            Self::Mysql => &[
                include_str!("sql/mysql/1_table.sql"),
                include_str!("sql/mysql/2_columns.sql"),
                include_str!("sql/mysql/3_prepare.sql"),
                include_str!("sql/mysql/4_execute.sql"),
                include_str!("sql/mysql/5_deallocate.sql"),
                include_str!("sql/mysql/6_relay.sql"),
                include_str!("sql/mysql/7_gate.sql"),
                FILL_SLOTS,
            ],
        };
        let statements: Vec<String> = statements.iter().map(|sql| table.within(sql.trim_end())).collect();
        match self {
            Self::Postgres => {
                let all = statements.join(";\n");
                vec![format!("DO $ojs_migration$\nBEGIN\nPERFORM {MIGRATION_LOCK};\n{all};\nEND\n$ojs_migration$")]
            }
            Self::Sqlite => statements,
            Self::Mysql => {
                let [take, release] = MIGRATION_LOCK_MYSQL.map(str::to_owned);
                std::iter::once(take).chain(statements).chain([release]).collect()
            }
        }
    }

    /// The query that lists the jobs which are not sent yet, in the order of their rows: id, type, arguments and
    /// options, each as text, under the names `id`, `type`, `args` and `options`. Arguments and options are JSON. It
    /// has no parameters. For tests, which ask inside their transaction.
    #[must_use]
    pub fn staged(self, table: &Table) -> String {
        table.within(Sql::staged.text(self).trim_end())
    }

    /// The style of the drivers that the relay uses.
    pub(super) const fn style(self) -> Style {
        match self {
            Self::Postgres => Style::Dollar,
            Self::Sqlite | Self::Mysql => Style::Question,
        }
    }

    /// A statement before its parameters are bound.
    pub(super) fn template(self, sql: Sql, table: &Table) -> String {
        table.within(sql.text(self))
    }

    /// A statement of MySQL with its parameters by name.
    pub(super) fn bound(sql: &str, table: &Table, named: &[(&str, Value)]) -> Statement {
        bind(&table.within(sql), Style::Question, named)
    }

    /// A statement without parameters.
    pub(super) fn plain(sql: &str, table: &Table) -> Statement {
        Statement { sql: table.within(sql.trim_end()), params: Vec::new() }
    }
}

/// Replaces `:name` outside of quotes.
pub(super) fn bind(sql: &str, style: Style, named: &[(&str, Value)]) -> Statement {
    let mut out = String::with_capacity(sql.len());
    let mut params: Vec<Value> = Vec::new();
    let mut order: Vec<&str> = Vec::new();
    let mut rest = sql.trim_end();
    let mut quoted = false;
    while let Some(character) = rest.chars().next() {
        let tail = rest.get(character.len_utf8()..).unwrap_or_default();
        let length = tail.bytes().take_while(|b| b.is_ascii_lowercase() || *b == b'_').count();
        match character {
            ':' if !quoted && tail.starts_with(':') => {
                out.push_str("::");
                rest = tail.get(1..).unwrap_or_default();
                continue;
            }
            ':' if !quoted && length > 0 => {
                let (name, after) = tail.split_at(length);
                rest = after;
                let value = || named.iter().find(|(known, _)| *known == name).map_or(Value::Null, |(_, value)| value.clone());
                match style {
                    Style::Question | Style::Percent => {
                        out.push_str(if style == Style::Question { "?" } else { "%s" });
                        params.push(value());
                    }
                    Style::Dollar => {
                        let known = order.iter().position(|known| *known == name);
                        let at = known.unwrap_or_else(|| {
                            order.push(name);
                            params.push(value());
                            order.len() - 1
                        });
                        out.push_str(&format!("${}", at + 1));
                    }
                }
                continue;
            }
            '%' if style == Style::Percent => out.push('%'),
            '\'' => quoted = !quoted,
            _ => {}
        }
        out.push(character);
        rest = tail;
    }
    Statement { sql: out, params }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_every_style() {
        let sql = "SELECT ':a', '%', x::text FROM t WHERE a = :a OR a = :b OR :a = 0";
        let named = [("a", Value::from(1)), ("b", Value::from("x"))];
        let dollar = bind(sql, Style::Dollar, &named);
        assert_eq!(dollar.sql, "SELECT ':a', '%', x::text FROM t WHERE a = $1 OR a = $2 OR $1 = 0");
        assert_eq!(dollar.params, [Value::from(1), Value::from("x")]);
        let percent = bind(sql, Style::Percent, &named);
        assert_eq!(percent.sql, "SELECT ':a', '%%', x::text FROM t WHERE a = %s OR a = %s OR %s = 0");
        assert_eq!(bind(sql, Style::Question, &named).params, [Value::from(1), Value::from("x"), Value::from(1)]);
    }

    #[test]
    fn migrations_take_the_lock_that_all_languages_share() {
        let table = Table::new("app_outbox").unwrap();
        let postgres = Dialect::Postgres.migration(&table);
        assert_eq!(postgres.len(), 1, "the lock of a transaction would be released before the next statement");
        assert!(postgres[0].starts_with("DO $ojs_migration$\nBEGIN\nPERFORM pg_advisory_xact_lock(1869247233);\nCREATE TABLE"));
        assert!(postgres[0].ends_with("$$;\nEND\n$ojs_migration$") && postgres[0].contains("app_outbox_relay"));
        let mysql = Dialect::Mysql.migration(&table);
        assert!(mysql[0].starts_with("DO GET_LOCK(") && mysql[mysql.len() - 1].starts_with("DO RELEASE_LOCK("));
        assert!(Dialect::Sqlite.migration(&table)[0].starts_with("CREATE TABLE IF NOT EXISTS app_outbox"));
    }

    #[test]
    fn the_query_for_staged_jobs_names_the_table() {
        for dialect in [Dialect::Postgres, Dialect::Sqlite, Dialect::Mysql] {
            let sql = dialect.staged(&Table::new("app_outbox").unwrap());
            assert!(
                sql.starts_with("SELECT job_id AS id, job_type AS type, ") && sql.ends_with("ORDER BY app_outbox.id"),
                "{sql}"
            );
        }
    }

    #[test]
    fn a_table_is_a_plain_name() {
        assert_eq!(Table::new("app_outbox").unwrap().within("ojs_outbox ojs_outbox_relay"), "app_outbox app_outbox_relay");
        for bad in ["", "1a", "a-b", "a;drop table x", "A", "ä"] {
            assert!(Table::new(bad).is_err(), "{bad}");
        }
    }
}
