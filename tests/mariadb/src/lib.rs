//! A real MariaDB server of their own for tests and benchmarks.
//!
//! A test asks for a [`database`]: empty, its own, gone when dropped. All databases of a process are on one server that is
//! started on first use and ends with the process, however that ends. Where `OJS_TEST_MYSQL` holds the URL of a server,
//! that server is used instead (`mariadb-fixture command…` starts one for a whole command).
//!
//! ```
//! let database = ojs_mariadb_fixture::database();
//! assert!(database.url().starts_with("mysql://"));
//! ```
mod database;
mod server;
mod shared;

pub use database::Database;
pub use ojs_postgres_fixture::Error;
pub use server::{Server, Stop};
pub use shared::{SERVER_VARIABLE, database};
