//! Schemas ready for use, kept for the whole process.
//!
//! A schema is kept under the digest of its text, which its row carries. So nothing here can be out of date: when a
//! version is deleted and registered again, here or by another node, its row has another digest.
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::Value;

use super::json_schema::compile::Schema;
use super::records::{SchemaRow, SchemaTables, unreadable};
use crate::error::Result;
use crate::store::tables::Tables;

/// Bytes of schema text whose compiled forms are kept; beyond that all are forgotten and compiled again when needed.
const MAX_BYTES: usize = 4 * 1024 * 1024;

#[derive(Default)]
struct Kept {
    schemas: HashMap<Vec<u8>, Arc<Schema>>,
    bytes: usize,
}

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

/// The schema of a row.
///
/// # Errors
/// A store that cannot be read, or a text in it that is no schema.
pub(super) fn compiled(tables: &mut dyn Tables, row: &SchemaRow) -> Result<Arc<Schema>> {
    // Each value is whole after every statement, so a panic of another thread does no harm here.
    let known = KEPT.lock().unwrap_or_else(PoisonError::into_inner).schemas.get(&row.digest).cloned();
    if let Some(schema) = known {
        return Ok(schema);
    }
    let text = tables.schema_text(row)?;
    let document: Value = serde_json::from_str(&text).map_err(|error| unreadable(row, &error.to_string()))?;
    let schema = Schema::compile(&document).map_err(|fault| unreadable(row, &format!("{}: {}", fault.path, fault.message)))?;
    let schema = Arc::new(schema);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.bytes + text.len() > MAX_BYTES {
        *kept = Kept::default();
    }
    if kept.schemas.insert(row.digest.clone(), Arc::clone(&schema)).is_none() {
        kept.bytes += text.len();
    }
    Ok(schema)
}
