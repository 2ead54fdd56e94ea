//! A real PostgreSQL server of their own for tests and benchmarks.
//!
//! A test asks for a [`database`]: empty, its own, gone when dropped. All databases of a process are on one server that is
//! started on first use and ends with the process, however that ends. Where `OJS_TEST_POSTGRES` holds the URL of a server,
//! that server is used instead (`postgres-fixture -- command…` starts one for a whole command).
//!
//! A test that stops its server, or wants another configuration, starts a [`Server`] for itself.
//!
//! ```
//! let database = ojs_postgres_fixture::database();
//! assert!(database.url().starts_with("postgres://"));
//! ```
mod binaries;
mod database;
mod server;
mod shared;
mod sql;
pub mod supervisor;

pub use database::Database;
pub use server::{Options, Server, Stop};
pub use shared::{SERVER_VARIABLE, database};

/// Why there is no server, or no database.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// PostgreSQL is not installed.
    #[error(
        "no PostgreSQL server program in /usr/lib/postgresql/*/bin, `pg_config --bindir` or PATH: run `scripts/setup.sh postgresql`"
    )]
    NotInstalled,
    /// As root there must be another user to run the server as: PostgreSQL refuses root.
    #[error("PostgreSQL does not run as root, and there is neither a user `postgres` nor a user `nobody` to run it as")]
    NoUser,
    /// A program of PostgreSQL failed.
    #[error("{program} failed: {message}")]
    Program {
        /// Which.
        program: &'static str,
        /// What it printed.
        message: String,
    },
    /// The server said no, or could not be reached.
    #[error("PostgreSQL: {0}")]
    Sql(String),
    /// A file or process could not be made.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl Error {
    fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
