//! Answers by idempotency key in memory.
use super::MemoryTables;
use crate::error::Result;
use crate::features::idempotency::records::{AnswerTables, Remembered};

impl AnswerTables for MemoryTables {
    fn answer_under(&mut self, name: &str) -> Result<Option<Remembered>> {
        Ok(self.answers.get(name).cloned())
    }

    fn remember(&mut self, name: &str, answer: &Remembered) -> Result<()> {
        let before = self.answers.insert(name.to_owned(), answer.clone());
        let name = name.to_owned();
        self.undo_by(move |tables| match before {
            Some(before) => _ = tables.answers.insert(name, before),
            None => _ = tables.answers.remove(&name),
        });
        Ok(())
    }

    fn forget_answers(&mut self, before: i64) -> Result<()> {
        let gone: Vec<_> = self.answers.extract_if(|_, answer| answer.at < before).collect();
        if !gone.is_empty() {
            self.undo_by(move |tables| tables.answers.extend(gone));
        }
        Ok(())
    }
}
