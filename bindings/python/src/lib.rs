//! Python glue: convert and delegate. No policy lives here; the package users see is `/python/openjobspec`.
//!
//! Two rules, kept in [`gate`]: nothing that can wait is entered with the GIL held, and no thread of the core ever
//! attaches to the interpreter. Python threads come and pull.
#![forbid(unsafe_code)]

use pyo3::prelude::*;

mod connection;
mod convert;
mod gate;
mod logs;
mod outbox;
mod replies;
mod server;
mod text;
mod transport;
mod worker;

/// The native half of `openjobspec`. Private: use the package.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::connection::Connection;
    #[pymodule_export]
    use super::connection::{environment, follow_events};
    #[pymodule_export]
    use super::logs::{pull_logs, set_log_level};
    #[pymodule_export]
    use super::outbox::{
        Relay, fake_matching, fake_recorded, outbox_identity, outbox_migration, outbox_notify, outbox_same_database,
        outbox_stage, outbox_stage_in_engine, outbox_staged_query,
    };
    #[pymodule_export]
    use super::replies::Replies;
    #[pymodule_export]
    use super::server::{Server, read_command};
    #[pymodule_export]
    use super::text::{
        completed_job, duration_seconds, duration_text, error_of, item_error, set_job_defaults, time_after, unknown_name,
        verify_webhook, version_changes,
    };
    #[pymodule_export]
    use super::transport::HostTransport;
    #[pymodule_export]
    use super::worker::Worker;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
