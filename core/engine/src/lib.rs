//! A durable job engine that speaks Open Job Spec over HTTP: embedded in a process, or behind the `ojs` server.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use ojs_engine::{Engine, EngineOptions, Server};
//! let engine = Engine::open(EngineOptions::new("sqlite:jobs.db".parse()?)).await?;
//! let server = Server::bind(engine, "127.0.0.1:8080").await?;
//! println!("listening on http://{}", server.local_addr());
//! server.run(std::future::pending()).await;
//! # Ok(()) }
//! ```
//!
//! | where | what lives there |
//! |---|---|
//! | `kernel/` | commands and queries, [`command`]; a transaction, its transitions, events and counters; wake-ups; jobs as rows, [`job`] |
//! | `store/` | the seam ([`Store`](store::seam::Store), [`rows`]), group commit (`writer`), and the stores `memory`, `sqlite`, `postgres` |
//! | `features/<name>/` | what one feature needs: `records` (rows and their tables), `commands`, `rules`, `routes`, `metrics` |
//! | `http/` | the HTTP binding as an axum router: routes, requests, answers, streams; keys ([`access`]); the listener with its limits |
//! | [`outgoing`] | requests to addresses that clients have chosen: a guard, a client with limits |
//! | [`error`] | errors and results that all of these share |
//! | `engine`, `options`, `stream`, `metrics` | [`Engine`] opens a store, waits for jobs, closes; its options; those who follow the event log; figures for Prometheus |
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "what only the store in PostgreSQL asks for"))]

/// The cookie of a session, for a program that keeps sessions of its own.
pub mod session_cookie {
    pub use crate::features::sessions::cookie::{begin_as, end_as, id_of, shown_as};
    pub use crate::features::sessions::records::LASTS_MS;
}

/// Connections to PostgreSQL by the rules of `--store`: for programs that keep other tables there.
#[cfg(feature = "postgres")]
pub mod database {
    pub use crate::store::postgres::{Notes, PostgresTarget};
}
/// Commands and queries of the engine, one type each.
pub mod command {
    pub use crate::features::admin::commands::*;
    pub use crate::features::bulk::commands::*;
    pub use crate::features::bulk_operations::commands::*;
    pub use crate::features::bulk_operations::plan::{Found, Place};
    pub use crate::features::bulk_operations::slices::RunSlice;
    pub use crate::features::checkpoints::commands::*;
    pub use crate::features::crons::commands::*;
    pub use crate::features::dead_letters::commands::*;
    pub use crate::features::errors::commands::*;
    pub use crate::features::explain::commands::*;
    pub use crate::features::fair::commands::*;
    pub use crate::features::history::commands::*;
    pub use crate::features::limits::commands::*;
    pub use crate::features::pools::commands::*;
    pub use crate::features::progress::commands::*;
    pub use crate::features::queue_config::commands::*;
    pub use crate::features::relays::commands::*;
    pub use crate::features::results::commands::*;
    pub use crate::features::sessions::commands::*;
    pub use crate::features::sessions::cookie::id_of as session_id;
    pub use crate::features::statistics::commands::*;
    pub use crate::features::tenants::commands::*;
    pub use crate::features::tenants::noisy::{FindNoisyTenants, GetTenantPace};
    pub use crate::features::trains::commands::*;
    pub use crate::features::versions::routing::*;
    pub use crate::features::workflows::commands::*;
    pub use crate::kernel::command::*;
    pub use crate::kernel::query::*;
    pub use crate::kernel::typed::{Command, Query};
}
mod connect;
mod engine;
pub mod error;
mod features;
mod http;
mod kernel;
mod metrics;
mod options;
pub mod outgoing;
mod passed;
pub mod spans;
pub mod store;
mod stream;
pub mod threads;

pub use connect::OpenError;
pub use engine::Engine;
pub use features::admin::records as admin;
pub use features::bulk::records as bulk;
pub use features::bulk_operations::records as bulk_operation;
pub use features::checkpoints::records as checkpoint;
pub use features::crons::records as cron;
pub use features::dead_letters::records as dead_letter;
pub use features::errors::records as errors;
pub use features::fair::{records as fair, weights as fair_weights};
pub use features::idempotency::records as idempotency;
pub use features::job_types::records as job_types;
pub use features::limits::records as limit;
pub use features::pools::records as pool;
pub use features::progress::records as progress;
pub use features::push::records as push;
pub use features::queue_config::records as queue_config;
pub use features::relays::records as relay;
pub use features::results::records as result;
pub use features::statistics::records as stats;
pub use features::tenants::{noisy as noisy_tenants, quota as tenant_quota, records as tenant};
pub use features::trains::records as train;
pub use features::webhooks::records as webhook;
pub use features::workflows::records as workflow;
pub use http::access;
pub use http::hosts::Hosts;
pub use http::listener::{Limits, Listener};
pub use http::request::read_body;
pub use http::server::{Server, listening_advice};
pub use kernel::event::{Change, Event, EventFilter, Origin, Place};
pub use kernel::finding as audit;
pub use kernel::handlers::Handlers;
pub use kernel::retention::Retention;
pub use kernel::{clock, holds, job, log, placed, typed};
pub use metrics::table as metric;
pub use options::{Durability, EngineOptions, HistoryOptions, InvalidStoreUrl, MissingTenant, StoreUrl};
pub use store::{rows, schema};
