//! Answers by idempotency key in SQLite.
use rusqlite::{OptionalExtension, params};

use super::SqliteTables;
use crate::error::Result;
use crate::features::idempotency::records::{AnswerTables, Remembered};

impl AnswerTables for SqliteTables {
    fn answer_under(&mut self, name: &str) -> Result<Option<Remembered>> {
        let mut statement = self.statement(include_str!("sql/answer.sql"))?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Remembered { digest: row.get(0)?, status: row.get(1)?, body: row.get(2)?, at: row.get(3)? })
        };
        Ok(statement.query_row([name], read).optional()?)
    }

    fn remember(&mut self, name: &str, answer: &Remembered) -> Result<()> {
        let params = params![name, answer.digest, answer.status, answer.body, answer.at];
        self.execute(include_str!("sql/put_answer.sql"), params).map(drop)
    }

    fn forget_answers(&mut self, before: i64) -> Result<()> {
        self.execute(include_str!("sql/forget_answers.sql"), [before]).map(drop)
    }
}
