//! Answers by idempotency key in memory.
use super::MemoryTables;
use crate::idempotency::{AnswerTables, Remembered};
use crate::tables::Result;

impl AnswerTables for MemoryTables {
    fn answer_under(&mut self, name: &str) -> Result<Option<Remembered>> {
        Ok(self.answers.get(name).cloned())
    }

    fn remember(&mut self, name: &str, answer: &Remembered) -> Result<()> {
        self.answers.insert(name.to_owned(), answer.clone());
        Ok(())
    }

    fn forget_answers(&mut self, before: i64) -> Result<()> {
        self.answers.retain(|_, answer| answer.at >= before);
        Ok(())
    }
}
