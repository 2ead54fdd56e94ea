//! tokio-postgres.
use ojs::outbox::{Dialect, Staged, Style, same_database};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Transaction};

use super::{CommitTransaction, JobTransaction, sealed::Sealed};
use crate::AdapterError;

impl Sealed for &Transaction<'_> {}

impl JobTransaction for &Transaction<'_> {
    const DIALECT: Dialect = Dialect::Postgres;

    async fn identity(&mut self) -> Result<Option<String>, String> {
        // A query that fails would end the application's transaction without a savepoint.
        let found = async {
            self.batch_execute("SAVEPOINT ojs_identity").await?;
            let found = self.query_one(same_database::IDENTITY, &[]).await.and_then(|row| row.try_get(0));
            let end = if found.is_ok() { "RELEASE ojs_identity" } else { "ROLLBACK TO ojs_identity; RELEASE ojs_identity" };
            self.batch_execute(end).await?;
            found
        };
        found.await.map_err(|error: Error| error.to_string())
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
