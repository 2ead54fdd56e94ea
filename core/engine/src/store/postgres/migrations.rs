//! The schema and its versions. Nodes of the previous version keep working while and after a migration is applied.
use super::connection::{Ask, Db};
use super::declared;
use super::rows::get;
use crate::error::{Result, StoreError};

/// Every version's statements, the first first.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
];
/// What a new database gets after all of them.
const ORDER: &str = include_str!("migrations/order.sql");
/// Held while migrating: two nodes that start at once must not both do it. The number is arbitrary.
const LOCK: i64 = 0x6f6a_735f_6d69;

/// The version that this program writes.
pub const fn newest() -> i64 {
    MIGRATIONS.len() as i64
}

/// The version that a database has; 0 for none.
///
/// # Errors
/// When it cannot be read.
pub fn current(db: &mut Db) -> Result<i64> {
    let known = db.ask(None, &[Ask::new("SELECT to_regclass('ojs_schema') IS NOT NULL", &[])])?;
    let known: bool = known.first().and_then(|answer| answer.rows.first()).map(|row| get(row, 0)).transpose()?.unwrap_or(false);
    if !known {
        return Ok(0);
    }
    let found = db.ask(None, &[Ask::new("SELECT coalesce(max(version), 0) FROM ojs_schema", &[])])?;
    found.first().and_then(|answer| answer.rows.first()).map(|row| get(row, 0)).transpose().map(Option::unwrap_or_default)
}

/// Every statement of the migrations, in order, without comments. A body between `$$` is part of its statement.
pub fn statements() -> Vec<String> {
    let lines = MIGRATIONS.iter().flat_map(|text| text.lines()).map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut statements = vec![String::new()];
    for (number, part) in text.split("$$").enumerate() {
        let mut pieces = if number % 2 == 1 { vec![part] } else { part.split(';').collect() }.into_iter();
        if let (Some(first), Some(last)) = (pieces.next(), statements.last_mut()) {
            last.push_str(if number == 0 { "" } else { "$$" });
            last.push_str(first);
        }
        statements.extend(pieces.map(str::to_owned));
    }
    statements.iter().map(|statement| statement.trim().to_owned()).filter(|statement| !statement.is_empty()).collect()
}

/// Brings a database to the newest version; returns the one it had. A database from a newer program is used as it is, as long as its
/// migrations only added: that is their rule.
///
/// # Errors
/// When a statement fails; the version before stands then.
pub fn migrate(db: &mut Db) -> Result<i64> {
    let had = current(db)?;
    if had == 0 {
        create(db)?;
    }
    for (index, statements) in (1_i64..).zip(MIGRATIONS) {
        if index > had {
            apply(db, index, statements)?;
        }
    }
    if had <= newest() && !declared::lacking(db)?.is_empty() {
        under_lock(db, "the declared tables", |db| {
            // Another node may have been faster.
            declared::lacking(db)?.iter().try_for_each(|statement| db.run(statement))
        })?;
    }
    Ok(had)
}

/// Runs statements in a transaction that no other node migrates beside.
fn under_lock(db: &mut Db, what: &str, work: impl FnOnce(&mut Db) -> Result<()>) -> Result<()> {
    let open = format!(
        "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({LOCK}); \
         CREATE TABLE IF NOT EXISTS ojs_schema (version bigint PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
    );
    match db.run(&open).and_then(|()| work(db)) {
        Ok(()) => db.run("COMMIT"),
        Err(fault) => {
            let _ = db.run("ROLLBACK");
            Err(StoreError::Failed(format!("{what} failed: {fault}")))
        }
    }
}

/// Makes a new database, in one transaction: no node sees it half made.
fn create(db: &mut Db) -> Result<()> {
    under_lock(db, "the first migration", |db| {
        // Another node may have been faster, or is of an earlier version and has begun.
        if current(db)? > 0 {
            return Ok(());
        }
        for (version, statements) in (1_i64..).zip(MIGRATIONS) {
            db.run(statements)?;
            db.run(&format!("INSERT INTO ojs_schema (version) VALUES ({version})"))?;
        }
        db.run(ORDER)
    })
}

fn apply(db: &mut Db, version: i64, statements: &str) -> Result<()> {
    under_lock(db, &format!("migration {version}"), |db| {
        // Another node may have been faster.
        if current(db)? >= version {
            return Ok(());
        }
        db.run(statements)?;
        db.run(&format!("INSERT INTO ojs_schema (version) VALUES ({version})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::postgres::target::Target;

    /// Columns, indexes and the view of a database, as PostgreSQL writes them.
    const DEFINED: &str = "SELECT array_agg(what ORDER BY what) FROM (
        SELECT concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, attgenerated,
          pg_get_expr(adbin, adrelid)) AS what
        FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid = 'ojs_runs'::regclass AND attnum > 0 AND NOT attisdropped
        UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'ojs_runs'::regclass
        UNION ALL SELECT pg_get_viewdef('ojs_active'::regclass)
        UNION ALL SELECT unnest(reloptions) FROM pg_class WHERE oid = 'ojs_runs'::regclass) AS defined";
    const COLUMNS: &str = "SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 'ojs_runs'::regclass AND attnum > 0 AND NOT attisdropped";

    fn texts(db: &mut Db, sql: &'static str) -> Vec<String> {
        get(&db.ask(None, &[Ask::new(sql, &[])]).unwrap()[0].rows[0], 0).unwrap()
    }

    #[test]
    fn a_new_database_differs_from_an_old_one_in_the_order_of_columns_alone() {
        let (old, new) = (ojs_postgres_fixture::database(), ojs_postgres_fixture::database());
        let [mut old, mut new] = [&old, &new].map(|database| Db::open(Target::new(database.url()).unwrap()).unwrap());
        for (version, statements) in (1_i64..).zip(MIGRATIONS) {
            apply(&mut old, version, statements).unwrap();
        }
        assert_eq!(migrate(&mut old).unwrap(), newest());
        assert_eq!((migrate(&mut new).unwrap(), migrate(&mut new).unwrap()), (0, newest()));
        let defined = texts(&mut new, DEFINED);
        assert!(defined.len() > 40, "{defined:?}");
        assert_eq!(defined, texts(&mut old, DEFINED));
        let columns = texts(&mut new, COLUMNS);
        assert_eq!((columns.first(), columns.last()), (Some(&"seq".to_owned()), Some(&"ukey".to_owned())));
        assert_ne!(columns, texts(&mut old, COLUMNS));
    }
}
