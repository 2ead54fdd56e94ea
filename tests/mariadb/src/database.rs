//! A database per test.
use std::sync::atomic::{AtomicU32, Ordering};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use crate::Error;

/// An empty database; dropped with this.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
    url: String,
}

impl Database {
    /// On the server behind the URL of one of its databases.
    ///
    /// # Errors
    /// The server does not answer, or its user may not create databases.
    pub fn create(server: &str) -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Several processes may share the server, and process ids come again.
        let second = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |age| age.as_secs());
        let name = format!("ojs_{second}_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        run(server, &format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"))?;
        let url = server.rsplit_once('/').map_or(server, |(address, _)| address);
        Ok(Self { url: format!("{url}/{name}"), server: server.to_owned(), name })
    }

    /// The URL of the database, as a user with all rights.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // DROP waits for open transactions, so sessions that hold one are ended after a second. The server may have been stopped.
        let _ = run(&self.server, &format!("SET SESSION lock_wait_timeout = 1; DROP DATABASE IF EXISTS {}", self.name));
    }
}

/// Runs statements, from code that may or may not run in an async runtime.
pub(crate) fn run(url: &str, statements: &str) -> Result<(), Error> {
    // A thread of its own: a runtime cannot be entered from within another one.
    std::thread::scope(|scope| scope.spawn(|| run_here(url, statements)).join())
        .unwrap_or_else(|_| Err(Error::Program { program: "MariaDB", message: "the connection's thread panicked".to_owned() }))
}

fn run_here(url: &str, statements: &str) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::System { what: "no runtime", source })?;
    runtime.block_on(async {
        let failed = |error: mysql_async::Error| Error::Program { program: "MariaDB", message: error.to_string() };
        let mut connection = Conn::from_url(url).await.map_err(failed)?;
        connection.query_drop(statements).await.map_err(failed)?;
        connection.disconnect().await.map_err(failed)
    })
}
