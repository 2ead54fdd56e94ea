//! Why a job is not running. Each feature that can hold a job back says so by the hook `explain`; here is what concerns
//! every job: its state, maintenance, workers, and its place in line.
pub(crate) mod answer;
pub mod commands;
mod line;
pub(crate) mod routes;
mod state;
mod workers;
