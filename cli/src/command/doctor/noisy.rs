//! Tenants that use far more than the others do.
use super::context::Context;
use super::finding::{Finding, ok, warning};
use crate::command::tenants::signals;
use crate::failure::Failure;
use crate::output::{items, text};

/// Most tenants that are named.
const MOST: usize = 20;

/// Tenants with a signal, those with the most first.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let answer = context.get(format!("/admin/stats/tenants/noisy?limit={MOST}")).await?;
    let mut found: Vec<Finding> = Vec::new();
    for tenant in items(&answer, "/items") {
        let id = text(tenant, "/tenant_id");
        let said = format!("tenant '{id}' uses far more than the others: {}", signals(tenant));
        let seen = warning(said).seen("tenant", id.as_str()).seen("signals", items(tenant, "/signals").to_vec());
        found.push(seen.cleared_by(format!("ojs tenants show {id}   # then: ojs tenants limits {id} --max-concurrency N")));
    }
    if found.is_empty() {
        found.push(ok(format!("{} tenants, none uses far more than the others", text(&answer, "/compared"))));
    }
    Ok(found)
}
