//! Workers: fetch, run, report (protocol section 5).
mod driver;
mod event;
mod handle;
mod heartbeat;
mod held;
mod options;
mod shared;

pub use driver::WorkerDriver;
pub use event::WorkerEvent;
pub use handle::{Beat, WorkerHandle};
pub use options::WorkerOptions;
