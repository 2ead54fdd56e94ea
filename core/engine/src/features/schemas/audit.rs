//! The audit of registered schemas: each row has its text, and the text is the schema that was registered.
use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::json_schema::compile::Schema;
use super::records::{SchemaRow, SchemaTables, SchemaText, Version};
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};
use crate::store::record::{Record, Records, Scan};

/// Texts that are read at a time. One has 64 kB at most.
const TEXTS: usize = 20;

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let rows = audit.tables.schemas()?;
    rows.iter().for_each(|row| compare_row(audit, row));
    let mut without_text: BTreeMap<_, _> = rows.into_iter().map(|row| ((row.job_type.clone(), row.rank), row)).collect();
    let mut after = (String::new(), i64::MIN);
    loop {
        let page: Vec<SchemaText> =
            Records::of(&mut *audit.tables).scan(&Scan::over(SchemaText::TABLE.key).after(&after).limit(TEXTS))?;
        let Some(last) = page.last().map(|text| (text.job_type.clone(), text.rank)) else { break };
        for text in &page {
            match without_text.remove(&(text.job_type.clone(), text.rank)) {
                Some(row) => compare_text(audit, &row, &text.text),
                None => {
                    let subject = format!("a schema text of job type '{}' with rank {}", text.job_type, text.rank);
                    audit.find("schema_texts", subject, "that it has a schema", "yes", "no");
                }
            }
        }
        after = last;
    }
    for row in without_text.values() {
        audit.find("schema_texts", subject(row), "that it has a text", "yes", "no");
    }
    Ok(())
}

fn subject(row: &SchemaRow) -> String {
    format!("schema {} of job type '{}'", row.version, row.job_type)
}

fn compare_row(audit: &mut Audit<'_>, row: &SchemaRow) {
    let rank = Version::parse(&row.version).map(|version| version.rank).ok();
    if rank != Some(row.rank) {
        let expected = rank.map_or_else(|| "a version with a rank".to_owned(), |rank| rank.to_string());
        audit.find("schemas", subject(row), "the rank of its version", expected, row.rank);
    }
    let (tenant, of_uri) = (row.tenant().unwrap_or("none"), row.tenant_of_uri().unwrap_or("none"));
    audit.same("schemas", subject(row), "the tenant of its URI", tenant, of_uri);
}

fn compare_text(audit: &mut Audit<'_>, row: &SchemaRow, text: &str) {
    let digest = Sha256::digest(text.as_bytes());
    if row.digest != digest.as_slice() {
        audit.find("schema_texts", subject(row), "the digest of its text", hex(&digest), hex(&row.digest));
    }
    let document = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let fault = document
        .and_then(|document| Schema::compile(&document).map(drop).map_err(|fault| format!("{}: {}", fault.path, fault.message)));
    if let Err(fault) = fault {
        audit.find("schema_texts", subject(row), "what its text is", "a schema", fault);
    }
}

/// The first bytes, enough to see that two digests differ.
fn hex(digest: &[u8]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
