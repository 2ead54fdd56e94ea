//! The code that all language bindings share: it passes jobs to a host language, and outcomes back.
//!
//! | module | noun |
//! |---|---|
//! | [`command`] | the command line of the programs that packages bring along |
//! | [`connection`] | a client that connects on first use and follows a fork |
//! | [`defaults`] | options that are set once for a type of jobs |
//! | [`dispatch`] | [`HostDispatch`](dispatch::HostDispatch): the worker's driver on one side, lanes on the other |
//! | [`worker`] | settings and heartbeats of a worker, the same for every host |
//! | [`lane`] | kinds of lanes and how long a pull waits |
//! | [`token`] | the number by which a host names a job |
//! | [`doorbell`] | waking a host without calling into it |
//! | [`pace`] | how fast handlers are, and the batch sizes that follow |
//! | [`follower`] | what a reader of events asks next, and after which pause |
//! | [`frame`] | batches of jobs and outcomes in one block of memory |
//! | [`host_transport`] | a transport written in the host language |
//! | [`replies`] | answers to calls made from an event loop |
//! | [`runtime`] | one tokio runtime per process, rebuilt after a fork |
//! | [`process`] | the process that an object belongs to |
//! | [`fork`] | locks of SQLite that no child may inherit locked |
//! | [`error`], [`guard`] | errors that cross the boundary; panics become such errors |
//! | [`outbox`] | rows for the application's connection, and the relay |
//! | [`same_database`] | whether a server keeps its jobs in the application's database |
//! | [`layered`] | enqueue requests on their way through layers of a host that reads no JSON |
//! | [`fakes`] | what the fakes of all languages record |
//! | [`server`] | an OJS server inside the host process |
//! | [`settings`] | settings of clients and workers, and what the environment says |
//! | [`webhook`] | checks the signature of a webhook request |
//! | [`logs`] | log records on their way to the host's logger |
//!
//! Batches of bytes cross the boundary, not single calls and not trees of objects: the comments of [`dispatch`] say
//! why.
#![deny(unsafe_code)]

pub mod command;
pub mod connection;
pub mod defaults;
pub mod dispatch;
pub mod doorbell;
pub mod error;
pub mod fakes;
pub mod follower;
#[cfg(unix)]
pub mod fork;
pub mod frame;
pub mod guard;
pub mod host_transport;
pub mod lane;
pub mod layered;
pub mod logs;
pub mod outbox;
pub mod pace;
pub mod process;
pub mod replies;
pub mod runtime;
pub mod same_database;
pub mod server;
pub mod settings;
mod sync;
pub mod token;
pub mod versions;
pub mod webhook;
pub mod worker;

pub use ojs_engine::threads::AtEnd;
