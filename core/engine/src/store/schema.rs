//! Stores looked at from outside: the version of the schema that is there and the one this program writes; what is wrong with them.
use std::time::Duration;

use ojs_model::redact::SecretUrl;

use crate::error::Result;
use crate::options::StoreUrl;
use crate::store::sqlite::migration;
use crate::store::{postgres, sqlite};

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

/// What can be looked at by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The version of the schema.
    Schema,
    /// Tables, columns and indexes: those that are there with those that this program makes.
    Drift,
    /// The file, page by page.
    Sound,
    /// Whether what is confirmed is on disk.
    Durability,
    /// Rows and pages that are free, and who frees them.
    Vacuum,
    /// Transactions and slots that hold back vacuum.
    Transactions,
    /// How many connections there are, and through what.
    Connections,
    /// The clock of the database.
    Clock,
}

impl Subject {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Schema,
        Self::Drift,
        Self::Sound,
        Self::Durability,
        Self::Vacuum,
        Self::Transactions,
        Self::Connections,
        Self::Clock,
    ];
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
    /// What clears it: a command of a shell, or a statement of the database.
    pub command: Option<String>,
}

impl Remark {
    /// What a version says; `missing` names what has none.
    pub(crate) fn version(there: i64, ours: i64, missing: &str, store: &str) -> Self {
        let check = "schema";
        let migrate = format!("ojs migrate --store {store} --apply");
        match there {
            _ if there == ours => Self::fine(check, format!("version {there}")),
            0 => Self::wrong(check, format!("{missing}not there yet: `ojs migrate --apply`, or the first server, makes it"))
                .cleared_by(migrate),
            _ if there < ours => {
                Self::wrong(check, format!("version {there}, this program writes {ours}: `ojs migrate --apply`"))
                    .cleared_by(migrate)
            }
            _ => Self::wrong(check, format!("version {there}, this program knows {ours}: upgrade it")),
        }
    }

    pub(crate) fn fine(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, ok: true, message: message.into(), command: None }
    }

    pub(crate) fn wrong(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, ok: false, message: message.into(), command: None }
    }

    /// The same, with what clears it.
    pub(crate) fn cleared_by(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }
}

/// Looks at a store without changing it; transactions of the database that have been open for `longest` are named. Reads a file or asks a
/// server: not on a runtime thread.
///
/// # Errors
/// When the store cannot be read.
pub fn checkup(store: &StoreUrl, longest: Duration) -> Result<Vec<Remark>> {
    let mut remarks = Vec::new();
    for subject in Subject::ALL {
        remarks.extend(look(store, subject, longest)?);
    }
    Ok(remarks)
}

/// Looks at one thing: as [`checkup`]. Nothing when a store of this kind has no such thing, or is not there yet.
///
/// # Errors
/// When the store cannot be read.
pub fn look(store: &StoreUrl, subject: Subject, longest: Duration) -> Result<Vec<Remark>> {
    match store {
        StoreUrl::Memory => Ok(Vec::new()),
        StoreUrl::Sqlite { path, durability } => sqlite::inspect::look(path, *durability, subject),
        StoreUrl::Postgres { url, direct } => {
            postgres::checkup::look(url.expose(), direct.as_ref().map(SecretUrl::expose), subject, longest)
        }
    }
}
