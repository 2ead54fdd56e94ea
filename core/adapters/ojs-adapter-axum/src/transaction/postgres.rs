//! tokio-postgres.
use ojs::outbox::{Dialect, Staged, Style, same_database};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Transaction};

use super::{CommitTransaction, JobTransaction, sealed::Sealed};
use crate::AdapterError;

impl Sealed for &Transaction<'_> {}

impl JobTransaction for &Transaction<'_> {
    const DIALECT: Dialect = Dialect::Postgres;

    async fn identity(&mut self) -> Option<String> {
        // NULL, and no error, where there is no such table: the transaction stays usable.
        self.query_one(same_database::IDENTITY, &[]).await.ok()?.try_get(0).ok()?
    }

    async fn write(&mut self, staged: &Staged) -> Result<(), AdapterError> {
        let (sql, texts) = staged.texts(Style::Dollar);
        let typed: Vec<(&(dyn ToSql + Sync), Type)> = texts.iter().map(|text| (text as _, Type::TEXT)).collect();
        self.query_typed(&sql, &typed).await?;
        Ok(())
    }
}

impl Sealed for Transaction<'_> {}

impl CommitTransaction for Transaction<'_> {
    type Error = Error;

    async fn commit(self) -> Result<(), Error> {
        Transaction::commit(self).await
    }
}
