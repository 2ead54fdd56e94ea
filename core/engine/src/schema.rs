//! Versions of a store's schema: what is there, and what this program writes.
use crate::options::StoreUrl;
use crate::postgres;
use crate::sqlite::migration;
use crate::tables::Result;

/// The version that this program writes. Opening a store brings it there.
#[must_use]
pub fn newest(store: &StoreUrl) -> i64 {
    match store {
        StoreUrl::Memory | StoreUrl::Sqlite { .. } => migration::SCHEMA_VERSION,
        StoreUrl::Postgres { .. } => postgres::newest_schema(),
    }
}

/// The version of a store as it is, without changing it; 0 when there is none yet. Reads a file or asks a server: not on a runtime thread.
///
/// # Errors
/// When the store cannot be read.
pub fn version(store: &StoreUrl) -> Result<i64> {
    match store {
        StoreUrl::Memory => Ok(newest(store)),
        StoreUrl::Sqlite { path, .. } => migration::version(path),
        StoreUrl::Postgres { url, .. } => postgres::schema_version(url),
    }
}
