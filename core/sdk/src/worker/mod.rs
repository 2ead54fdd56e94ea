//! Workers: fetch, run, report (protocol section 5).
mod accept;
mod build;
mod context;
mod drain;
mod driver;
mod durable;
mod event;
mod failures;
mod foreign;
#[cfg(feature = "serverless")]
mod function;
mod handle;
mod handlers;
mod heartbeat;
mod held;
mod options;
#[cfg(feature = "embedded")]
mod perform;
mod prefetch;
#[cfg(any(feature = "embedded", feature = "serverless"))]
mod prepared;
mod report;
mod reports;
mod requests;
mod result;
mod saves;
mod settle;
mod shared;
mod versions;
mod wire;
mod worker_loop;

pub use build::{Worker, WorkerBuilder};
pub use context::JobContext;
pub use driver::WorkerDriver;
pub use event::WorkerEvent;
#[cfg(feature = "serverless")]
pub(crate) use function::Ended;
pub use handle::{Beat, WorkerHandle};
pub use options::{UnknownTypes, WorkerOptions};
pub use reports::Progress;
pub use result::{HandlerError, HandlerResult};
pub use versions::{NoPath, Versions};
