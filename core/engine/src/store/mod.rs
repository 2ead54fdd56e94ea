//! Keeps jobs: the seam, group commit, and three stores.
pub mod lists;
pub(crate) mod memory;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "postgres_absent.rs"]
pub(crate) mod postgres;
pub mod record;
pub mod row;
pub mod rows;
pub mod schema;
pub mod seam;
pub(crate) mod sqlite;
pub mod tables;
pub mod wanted;
pub(crate) mod writer;
