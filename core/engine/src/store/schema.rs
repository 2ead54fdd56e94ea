//! Stores looked at from outside: the version of the schema that is there and the one this program writes; what is wrong with them.
use std::time::Duration;

use ojs_model::redact::SecretUrl;

use crate::error::Result;
use crate::options::StoreUrl;
use crate::store::postgres;
use crate::store::sqlite::migration;

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
        StoreUrl::Postgres { url, .. } => postgres::schema_version(url.expose()),
    }
}

/// What a look at a store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What was looked at.
    pub check: &'static str,
    /// Whether all is well.
    pub ok: bool,
    /// What was found, and what to do about it.
    pub message: String,
}

impl Remark {
    /// What a version says; `missing` names what has none.
    pub(crate) fn version(there: i64, ours: i64, missing: &str) -> Self {
        let check = "schema";
        match there {
            _ if there == ours => Self::fine(check, format!("version {there}")),
            0 => Self::wrong(check, format!("{missing}not there yet: `ojs migrate --apply`, or the first server, makes it")),
            _ if there < ours => {
                Self::wrong(check, format!("version {there}, this program writes {ours}: `ojs migrate --apply`"))
            }
            _ => Self::wrong(check, format!("version {there}, this program knows {ours}: upgrade it")),
        }
    }

    pub(crate) fn fine(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, ok: true, message: message.into() }
    }

    pub(crate) fn wrong(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, ok: false, message: message.into() }
    }
}

/// Looks at a store without changing it; transactions of the database that have been open for `longest` are named. Reads a file or asks a
/// server: not on a runtime thread.
///
/// # Errors
/// When the store cannot be read.
pub fn checkup(store: &StoreUrl, longest: Duration) -> Result<Vec<Remark>> {
    match store {
        StoreUrl::Memory => Ok(Vec::new()),
        StoreUrl::Sqlite { path, .. } => migration::checkup(path),
        StoreUrl::Postgres { url, direct } => {
            postgres::checkup::checkup(url.expose(), direct.as_ref().map(SecretUrl::expose), longest)
        }
    }
}
