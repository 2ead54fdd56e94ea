//! Parts of a command, each in a transaction of its own.
use super::thread::WriterThread;
use crate::error::{Applied, StoreError};
use crate::kernel::typed::{Apart, Submitted};

impl Apart for WriterThread {
    fn apply_alone(&mut self, part: &dyn Submitted) -> Applied<()> {
        let outcomes = self.guarded("a command", |this| this.apply_group(&[part]))?;
        let none = || Err(StoreError::Failed("a command without an answer".into()).into());
        outcomes.into_iter().next().unwrap_or_else(none)
    }
}
