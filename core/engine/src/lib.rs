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
//! | module | noun |
//! |---|---|
//! | `engine` | [`Engine`]: opens a store, waits for jobs, closes |
//! | `http` | the HTTP binding as an axum router |
//! | `server` | [`Server`]: a listener with limits |
//! | [`command`], [`store`] | what the engine asks, and the seam to whoever keeps jobs |
//! | `apply` | the rules, over [`tables`] |
//! | [`access`] | keys: who may do what |
//! | [`bulk`], [`idempotency`] | many jobs in one request; answers given again |
//! | [`admin`] | what operators ask and order |
//! | [`stats`], `metrics` | figures over time; figures for Prometheus |
//! | `writer` | group commit over tables |
//! | `sqlite`, `memory`, `postgres` | tables |
//! | `event`, `render` | what is printed |
//! | [`log`], `stream` | the event log as a whole, and those who follow it |
#![forbid(unsafe_code)]

pub mod access;
mod activity;
pub mod admin;
mod apply;
pub mod bulk;
pub mod clock;
pub mod command;
pub mod cron;
/// Connections to PostgreSQL by the rules of `--store`: for whoever keeps other tables there.
pub mod database {
    pub use crate::postgres::{Notes, PostgresTarget};
}
pub mod dead_letter;
mod ending;
mod engine;
mod event;
mod hosts;
mod http;
pub mod idempotency;
pub mod job;
mod job_log;
pub mod job_types;
pub mod limit;
mod listener;
pub mod log;
mod memory;
mod metrics;
mod options;
mod postgres;
pub mod queue_config;
mod render;
pub mod result;
pub mod schema;
mod seats;
mod server;
mod settings;
mod sqlite;
pub mod stats;
pub mod store;
mod stream;
pub mod tables;
mod unread;
mod wake;
pub mod workflow;
mod writer;

pub use engine::{Engine, OpenError};
pub use event::{Change, Event, EventFilter, Origin, Place};
pub use hosts::Hosts;
pub use listener::{Limits, Listener};
pub use options::{Durability, EngineOptions, InvalidStoreUrl, Retention, StoreUrl};
pub use server::{Server, listening_advice};
