//! The outbox: a job is sent if and only if the transaction that staged it commits ("Framework Adapters").
//!
//! The core *prepares* ([`stage`]), the application's own connection *writes*, the relay *sends* ([`Relay`]):
//!
//! ```
//! # #[cfg(all(feature = "embedded", feature = "outbox-sqlite"))]
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use ojs::outbox::{Dialect, Relay, RelayOptions, SqliteOutbox, Store, Style, Table};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("app.db");
//! let client = ojs::Client::connect("memory:").await?;
//! let store = Store::new(Table::default(), SqliteOutbox::open(&path)?);
//! store.migrate().await?;
//! let relay = Relay::start(client.clone(), store, RelayOptions::default());
//!
//! let mut app = rusqlite::Connection::open(&path)?;
//! let transaction = app.transaction()?;
//! // … what the job is about …
//! let request = ojs::JobRequest::new("email.welcome", ["a@example.com"]);
//! let staged = client.stage(request, Dialect::Sqlite, &Table::default()).await?.expect("no middleware drops it");
//! let (sql, values) = staged.statement(Style::Question);
//! transaction.execute(&sql, rusqlite::params_from_iter(values))?;
//! transaction.commit()?;
//! relay.wake(); // or wait for the next poll
//! # while relay.status().sent < 1 { tokio::task::yield_now().await; }
//! assert_eq!(client.get_job(&staged.job_id).await?.job_type, "email.welcome");
//! relay.stop(std::time::Duration::from_secs(5)).await;
//! # Ok(()) }
//! # #[cfg(not(all(feature = "embedded", feature = "outbox-sqlite")))] fn main() {}
//! ```
//!
//! | module | noun |
//! |---|---|
//! | `dialect` | the statements of a database, and how their parameters are written |
//! | `stage` | a job as a row to be written |
//! | [`same_database`] | a job as a row of the engine's own table, where both share a PostgreSQL |
//! | `row` | a row as a job to be sent |
//! | `database` | the seam to whatever runs statements: a driver of ours, or the host's |
//! | `store` | lease, reading, marking, pruning |
//! | `gate` | which rows may be sent without overtaking one that is not committed yet |
//! | `in_flight` | the same in MySQL, which does not list its open transactions |
//! | `deliver` | a batch on its way to the server |
//! | `relay`, `rounds` | the relay and its loop |
//! | `report` | what the relay tells the server of itself |

mod database;
mod deliver;
mod dialect;
mod gate;
mod host;
mod in_flight;
#[cfg(feature = "outbox-mysql")]
mod mysql;
mod pace;
#[cfg(feature = "outbox-postgres")]
mod postgres;
mod relay;
mod report;
mod rounds;
mod row;
pub mod same_database;
#[cfg(feature = "outbox-sqlite")]
mod sqlite;
mod stage;
mod store;

pub use database::{Database, DatabaseError, Rows, Statement, Value};
pub use dialect::{Dialect, Style, Table};
pub use host::HostDatabase;
#[cfg(feature = "outbox-mysql")]
pub use mysql::MysqlOutbox;
#[cfg(feature = "outbox-postgres")]
pub use postgres::PostgresOutbox;
pub use relay::{Relay, RelayOptions, RelayStatus};
#[cfg(feature = "outbox-sqlite")]
pub use sqlite::SqliteOutbox;
pub use stage::{Staged, encrypted, stage};
pub use store::{Lag, Parked, Store};
