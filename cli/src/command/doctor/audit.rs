//! Contradictions between the rows of the store.
use serde_json::Value;

use super::{Finding, ok, warning};
use crate::failure::Failure;
use crate::output::{items, text};
use crate::remote::Remote;

/// Contradictions that are shown; `GET /admin/system/audit` has more of them.
const SHOWN: usize = 20;

/// Asks for an audit of the store.
pub async fn look(remote: &Remote) -> Result<Vec<Finding>, Failure> {
    let audited = remote.get("/admin/system/audit").await?.value;
    let (jobs, total) = (text(&audited, "/jobs"), audited.get("total").and_then(Value::as_u64).unwrap_or(0));
    if total == 0 {
        return Ok(vec![ok("audit", format!("{jobs} jobs looked at: nothing contradicts anything"))]);
    }
    let shown = items(&audited, "/findings");
    let mut findings: Vec<Finding> = shown.iter().take(SHOWN).map(|finding| warning("audit", line(finding))).collect();
    let rest = total.saturating_sub(findings.len() as u64);
    if rest > 0 {
        findings.push(warning("audit", format!("{rest} more: GET /ojs/v1/admin/system/audit shows the first 1,000")));
    }
    Ok(findings)
}

fn line(finding: &Value) -> String {
    let [subject, what, expected, found, check] =
        ["/subject", "/what", "/expected", "/found", "/check"].map(|path| text(finding, path));
    format!("{subject}: {what}: expected {expected}, found {found} ({check})")
}
