//! PostgreSQL: one connection that finds its way back, and hears of news.
use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::try_join_all;
use ojs_engine::database::{Notes, PostgresTarget};
use tokio::sync::{Mutex, Notify};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::database::{Database, DatabaseError, Rows, Statement, Value};
use super::dialect::Dialect;
use crate::transport::BoxFuture;

/// Relays listen here. One channel for all tables of a database: a relay that looks in vain has made one cheap query.
const LISTEN: &str = "LISTEN ojs_outbox";
const NOTIFY: &str = "NOTIFY ojs_outbox";
/// Longest wait for an answer; the migration's statements and a full batch take less.
const PATIENCE: Duration = Duration::from_secs(20);

struct Connection {
    client: Client,
    /// What was prepared, by its text; `None` behind a pooler, where the next statement may run in another session.
    prepared: Option<HashMap<String, tokio_postgres::Statement>>,
}

/// An application's PostgreSQL database.
pub struct PostgresOutbox {
    target: std::sync::Arc<PostgresTarget>,
    connection: Mutex<Option<Connection>>,
    news: std::sync::Arc<Notify>,
}

impl PostgresOutbox {
    /// By URL, `postgres://user@host/database`, with the parameters that a server's `--store` takes. Connects with the first use.
    ///
    /// # Errors
    /// It is no such URL.
    pub fn new(url: &str) -> Result<Self, DatabaseError> {
        let target = PostgresTarget::new(url).map_err(|e| DatabaseError(e.to_string()))?;
        Ok(Self { target, connection: Mutex::new(None), news: std::sync::Arc::default() })
    }

    async fn connect(&self) -> Result<Connection, DatabaseError> {
        let (notes, mut heard): (Notes, _) = tokio::sync::mpsc::unbounded_channel();
        let (client, direct) = self.target.connect_for_notes(notes).await.map_err(|e| DatabaseError(e.to_string()))?;
        if direct {
            client.batch_execute(LISTEN).await.map_err(|e| fault(&e))?;
        }
        let news = std::sync::Arc::clone(&self.news);
        tokio::spawn(async move {
            while heard.recv().await.is_some() {
                news.notify_one();
            }
        });
        Ok(Connection { client, prepared: direct.then(HashMap::new) })
    }
}

impl Database for PostgresOutbox {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn run(&self, statements: Vec<Statement>) -> BoxFuture<'_, Result<Vec<Rows>, DatabaseError>> {
        Box::pin(async move {
            let mut place = self.connection.lock().await;
            // Taken out: a caller that gives up in the middle leaves no connection with half an answer behind.
            let mut connection = match place.take().filter(|connection| !connection.client.is_closed()) {
                Some(connection) => connection,
                None => self.connect().await?,
            };
            let answers = tokio::time::timeout(PATIENCE, connection.perform(&statements)).await;
            let answers =
                answers.map_err(|_| DatabaseError(format!("PostgreSQL has not answered for {} s", PATIENCE.as_secs())))?;
            if !connection.client.is_closed() {
                *place = Some(connection);
            }
            answers.map_err(|e| fault(&e))
        })
    }

    fn news(&self, limit: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _ = tokio::time::timeout(limit, self.news.notified()).await;
        })
    }

    fn notify(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let statement = Statement { sql: NOTIFY.to_owned(), params: Vec::new() };
            if let Err(error) = self.run(vec![statement]).await {
                // The relay polls: it will find the rows.
                tracing::debug!(%error, "could not notify the relay of new rows");
            }
        })
    }
}

impl Connection {
    async fn perform(&mut self, statements: &[Statement]) -> Result<Vec<Rows>, tokio_postgres::Error> {
        let answers = self.pass(statements).await;
        if let (Err(_), Some(prepared)) = (&answers, &mut self.prepared) {
            // A migration of the application's may have made them useless.
            prepared.clear();
        }
        answers
    }

    /// All of them are on their way before the first is answered; the server takes them in their order.
    async fn pass(&mut self, statements: &[Statement]) -> Result<Vec<Rows>, tokio_postgres::Error> {
        let Some(prepared) = &mut self.prepared else {
            return try_join_all(statements.iter().map(|statement| unprepared(&self.client, statement))).await;
        };
        for statement in statements.iter().filter(|statement| !is_script(statement)) {
            if !prepared.contains_key(&statement.sql) {
                let types: Vec<Type> = statement.params.iter().map(|value| typed(value).1).collect();
                let ready = self.client.prepare_typed(&statement.sql, &types).await?;
                prepared.insert(statement.sql.clone(), ready);
            }
        }
        let (client, prepared) = (&self.client, &*prepared);
        try_join_all(statements.iter().map(|statement| async move {
            let Some(ready) = prepared.get(&statement.sql) else { return unprepared(client, statement).await };
            let params: Vec<&(dyn ToSql + Sync)> = statement.params.iter().map(|value| typed(value).0).collect();
            Ok(client.query(ready, &params).await?.iter().map(columns).collect())
        }))
        .await
    }
}

/// Whether it may be several statements, none of which returns rows.
fn is_script(statement: &Statement) -> bool {
    statement.params.is_empty() && !statement.sql.starts_with("SELECT")
}

async fn unprepared(client: &Client, statement: &Statement) -> Result<Rows, tokio_postgres::Error> {
    if is_script(statement) {
        client.batch_execute(&statement.sql).await?;
        return Ok(Rows::new());
    }
    let params: Vec<(&(dyn ToSql + Sync), Type)> = statement.params.iter().map(typed).collect();
    let rows = client.query_typed(&statement.sql, &params).await?;
    Ok(rows.iter().map(columns).collect())
}

fn typed(value: &Value) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Value::Null => (&None::<String>, Type::TEXT),
        Value::Integer(number) => (number, Type::INT8),
        Value::Text(text) => (text, Type::TEXT),
    }
}

fn columns(row: &Row) -> Vec<Value> {
    let read = |at: usize| {
        if let Ok(number) = row.try_get::<_, Option<i64>>(at) {
            return number.map_or(Value::Null, Value::Integer);
        }
        if let Ok(number) = row.try_get::<_, Option<i32>>(at) {
            return number.map_or(Value::Null, |number| Value::Integer(number.into()));
        }
        row.try_get::<_, Option<String>>(at).ok().flatten().map_or(Value::Null, Value::Text)
    };
    (0..row.len()).map(read).collect()
}

fn fault(error: &tokio_postgres::Error) -> DatabaseError {
    DatabaseError(match error.as_db_error() {
        Some(db) => format!("PostgreSQL: {} ({})", db.message(), db.code().code()),
        None => format!("PostgreSQL: {error}"),
    })
}

impl std::fmt::Debug for PostgresOutbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresOutbox").field("target", &self.target.name).finish_non_exhaustive()
    }
}
