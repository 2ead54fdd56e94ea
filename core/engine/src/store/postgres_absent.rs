//! The module `postgres` of a build without that feature: no such store is ever opened.
use std::time::Duration;

use crate::error::{Result, StoreError};
use crate::store::schema::Remark;

/// A node of a store in PostgreSQL: there is none.
pub enum Node {}

impl Node {
    pub fn ahead(&self) -> i64 {
        match *self {}
    }

    pub fn identity(&self) -> &str {
        match *self {}
    }
}

/// Why such a store is not opened.
pub fn absent() -> StoreError {
    let feature = "this build has no PostgreSQL: it was made without the Cargo feature `postgres`";
    StoreError::Failed(format!(
        "{feature}. `make python` builds the Python package with it; so does a build with the default features"
    ))
}

pub const fn newest_schema() -> i64 {
    0
}

pub fn schema_version(_url: &str) -> Result<i64> {
    Err(absent())
}

pub mod checkup {
    use super::{Duration, Remark, Result, absent};
    use crate::store::schema::Subject;

    pub fn look(_url: &str, _direct: Option<&str>, _subject: Subject, _longest: Duration) -> Result<Vec<Remark>> {
        Err(absent())
    }
}
