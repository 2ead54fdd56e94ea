//! The statements of an audit of the file.
use rusqlite::Row;

use super::SqliteTables;
use crate::error::Result;
use crate::kernel::finding::{AuditTables, Finding, SAME_KEY, StoreAudit, statements};

fn texts(row: &Row<'_>) -> rusqlite::Result<[String; 3]> {
    Ok([row.get(0)?, row.get(1)?, row.get(2)?])
}

impl AuditTables for SqliteTables {
    fn audit(&mut self, most: usize) -> Result<StoreAudit> {
        let mut said = StoreAudit::default();
        for statement in statements(include_str!("sql/audit.sql")) {
            let mut prepared = self.connection.prepare(statement.sql)?;
            for row in prepared.query_map([most], texts)? {
                let [subject, expected, found] = row?;
                if statement.check == SAME_KEY {
                    said.same_key.extend(subject.parse().ok().zip(expected.parse().ok()));
                } else {
                    let (check, what) = (statement.check, statement.what.to_owned());
                    said.findings.push(Finding { check, subject, what, expected, found });
                }
            }
        }
        // Every entry of every index against its row, in the same snapshot.
        let mut prepared = self.connection.prepare(&format!("PRAGMA integrity_check({most})"))?;
        for line in prepared.query_map([], |row| row.get::<_, String>(0))? {
            let found = line?;
            if found != "ok" {
                let (subject, what) = ("the file".to_owned(), "pages and indexes".to_owned());
                said.findings.push(Finding { check: "integrity", subject, what, expected: "ok".to_owned(), found });
            }
        }
        Ok(said)
    }
}
