//! Versions of a store's schema: what is there, and what this program writes.
use crate::options::StoreUrl;
use crate::sqlite::migration;
use crate::tables::StoreError;

/// The version that this program writes. Opening a store brings it there.
pub const CURRENT: i64 = migration::SCHEMA_VERSION;

/// The version of a store as it is, without changing it; 0 when it does not exist yet.
///
/// # Errors
/// When the store cannot be read.
pub fn version(store: &StoreUrl) -> Result<i64, StoreError> {
    match store {
        StoreUrl::Memory => Ok(CURRENT),
        StoreUrl::Sqlite { path, .. } => migration::version(path),
    }
}
