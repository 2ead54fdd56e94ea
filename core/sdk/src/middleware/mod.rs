//! Two onions: around enqueueing, on the client, and around the handler, in the worker (protocol section 5.11).
//!
//! A layer gets what passes and `next`, the rest of the chain. It may change what it passes on and what comes back, or
//! not call `next` at all. `next` is consumed by its call: no layer can run the rest twice.
mod chain;
mod enqueue;
mod execution;
mod logging;

pub(crate) use chain::ENQUEUE_ORDER;
pub use chain::{Chain, IntoLayer};
pub(crate) use enqueue::Terminal;
pub use enqueue::{EnqueueMiddleware, EnqueueNext};
pub(crate) use execution::Innermost;
pub use execution::{Middleware, Next};
pub use logging::Logging;
