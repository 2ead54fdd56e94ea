//! Schemas ready for use, kept for the whole process.
//!
//! A schema is kept under the digest of its text, which its row carries. So nothing here can be out of date: when a
//! version is deleted and registered again, here or by another node, its row has another digest.
use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use serde_json::Value;

use super::json_schema::compile::Schema;
use super::records::{SchemaRow, SchemaTables, unreadable};
use crate::error::Result;
use crate::store::tables::Tables;

/// Bytes of schema text whose compiled forms are kept; beyond that all are forgotten and compiled again when needed.
const MAX_BYTES: usize = 4 * 1024 * 1024;

#[derive(Clone, Default)]
struct Kept {
    schemas: HashMap<Vec<u8>, Arc<Schema>>,
    bytes: usize,
}

/// It has no lock, because a process may fork while another of its threads holds it.
static KEPT: ArcSwapOption<Kept> = ArcSwapOption::const_empty();

/// The schema of a row.
///
/// # Errors
/// A store that cannot be read, or a text in it that is no schema.
pub(super) fn compiled(tables: &mut dyn Tables, row: &SchemaRow) -> Result<Arc<Schema>> {
    if let Some(schema) = KEPT.load().as_ref().and_then(|kept| kept.schemas.get(&row.digest)) {
        return Ok(Arc::clone(schema));
    }
    let text = tables.schema_text(row)?;
    let document: Value = serde_json::from_str(&text).map_err(|error| unreadable(row, &error.to_string()))?;
    let schema = Schema::compile(&document).map_err(|fault| unreadable(row, &format!("{}: {}", fault.path, fault.message)))?;
    let schema = Arc::new(schema);
    KEPT.rcu(|kept| Some(Arc::new(with(kept.as_deref(), &row.digest, text.len(), &schema))));
    Ok(schema)
}

/// The kept schemas and one more, whose text has `bytes` bytes.
fn with(kept: Option<&Kept>, digest: &[u8], bytes: usize, schema: &Arc<Schema>) -> Kept {
    let mut kept = kept.filter(|kept| kept.bytes + bytes <= MAX_BYTES).cloned().unwrap_or_default();
    if kept.schemas.insert(digest.to_vec(), Arc::clone(schema)).is_none() {
        kept.bytes += bytes;
    }
    kept
}
