//! Contradictions between the rows of the store.
use std::time::Duration;

use serde_json::Value;

use super::context::Context;
use super::finding::{Finding, error, ok, skipped};
use crate::failure::Failure;
use crate::output::{items, text};

/// Contradictions that are shown; `GET /admin/system/audit` has more of them.
const SHOWN: usize = 20;
/// An audit takes some seconds for a million jobs.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// Asks for an audit of the store.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    if !context.audited {
        return Ok(vec![skipped("--audit compares all rows of the store with each other")]);
    }
    let audited = context.get("/admin/system/audit").await?;
    let (jobs, total) = (text(&audited, "/jobs"), audited.get("total").and_then(Value::as_u64).unwrap_or(0));
    if total == 0 {
        return Ok(vec![ok(format!("{jobs} jobs looked at: nothing contradicts anything"))]);
    }
    let shown = items(&audited, "/findings");
    let mut findings: Vec<Finding> = shown.iter().take(SHOWN).map(|finding| error(line(finding))).collect();
    let rest = total.saturating_sub(findings.len() as u64);
    if rest > 0 {
        findings.push(error(format!("{rest} more: GET /ojs/v1/admin/system/audit shows the first 1,000")));
    }
    Ok(findings)
}

fn line(finding: &Value) -> String {
    let [subject, what, expected, found, check] =
        ["/subject", "/what", "/expected", "/found", "/check"].map(|path| text(finding, path));
    format!("{subject}: {what}: expected {expected}, found {found} ({check})")
}
