//! Answers by idempotency key in PostgreSQL.
use super::PostgresTables;
use super::rows::get;
use crate::error::{Result, StoreError};
use crate::features::idempotency::records::{AnswerTables, Remembered};

impl AnswerTables for PostgresTables {
    fn answer_under(&mut self, name: &str) -> Result<Option<Remembered>> {
        if self.writes() {
            self.hold_name(name)?;
        }
        let rows = self.query(sql!("answer"), &[&name])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let status: i16 = get(row, 1)?;
        let status = u16::try_from(status).map_err(|_| StoreError::Failed(format!("an answer has the status {status}")))?;
        Ok(Some(Remembered { digest: get(row, 0)?, status, body: get(row, 2)?, at: get(row, 3)? }))
    }

    fn remember(&mut self, name: &str, answer: &Remembered) -> Result<()> {
        let status = i64::from(answer.status);
        self.execute(sql!("put_answer"), &[&name, &answer.digest, &status, &answer.body, &answer.at]).map(drop)
    }

    fn forget_answers(&mut self, before: i64) -> Result<()> {
        self.execute(sql!("forget_answers"), &[&before]).map(drop)
    }
}
