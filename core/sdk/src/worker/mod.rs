//! Workers: fetch, run, report (protocol section 5).
mod drain;
mod driver;
mod event;
mod handle;
mod heartbeat;
mod held;
mod options;
mod report;
mod settle;
mod shared;
mod turns;
mod wire;

pub use driver::WorkerDriver;
pub use event::WorkerEvent;
pub use handle::{Beat, WorkerHandle};
pub use options::WorkerOptions;
