//! mysql_async.
use mysql_async::prelude::Queryable;
use mysql_async::{Error, Params, Transaction};
use ojs::outbox::{Dialect, Staged, Style};

use super::{CommitTransaction, JobTransaction, sealed::Sealed};
use crate::AdapterError;

impl Sealed for &mut Transaction<'_> {}

impl JobTransaction for &mut Transaction<'_> {
    const DIALECT: Dialect = Dialect::Mysql;

    async fn identity(&mut self) -> Result<Option<String>, String> {
        // No server keeps its jobs in such a database.
        Ok(None)
    }

    async fn write(&mut self, staged: &Staged) -> Result<(), AdapterError> {
        let (sql, texts) = staged.texts(Style::Question);
        let values = texts.into_iter().map(mysql_async::Value::from).collect();
        Ok(self.exec_drop(sql, Params::Positional(values)).await?)
    }
}

impl Sealed for Transaction<'_> {}

impl CommitTransaction for Transaction<'_> {
    type Error = Error;

    async fn commit(self) -> Result<(), Error> {
        Transaction::commit(self).await
    }
}
