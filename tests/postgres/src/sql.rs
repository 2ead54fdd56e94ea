//! Statements on the server, from code that may or may not run in an async runtime.
use tokio_postgres::NoTls;

use crate::Error;

/// Runs statements, one after the other, on a connection of their own.
pub(crate) fn run(url: &str, statements: &str) -> Result<(), Error> {
    // A thread of its own: a runtime cannot be entered from within another one.
    std::thread::scope(|scope| scope.spawn(|| run_here(url, statements)).join())
        .unwrap_or_else(|_| Err(Error::Sql("the connection's thread panicked".to_owned())))
}

fn run_here(url: &str, statements: &str) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Error::system("no runtime"))?.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(explain)?;
        let connection = tokio::spawn(connection);
        let result = client.batch_execute(statements).await.map_err(explain);
        drop(client);
        // Ends as soon as the goodbye is sent.
        let _ = connection.await;
        result
    })
}

/// The server's own words: the error itself says only "db error".
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn explain(error: tokio_postgres::Error) -> Error {
    Error::Sql(error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string))
}
