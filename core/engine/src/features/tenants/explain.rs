//! What a tenant keeps its jobs from.
use ojs_model::JobState;

use crate::error::StoreError;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;
use crate::store::tables::Tables;

/// A tenant that is suspended, or has as many active jobs as it may.
pub(super) fn explain(tables: &mut dyn Tables, row: &JobRow, found: &mut Explanation) -> Result<(), StoreError> {
    let Some(tenant) = tables.tenant(row.tenant)? else { return Ok(()) };
    let id = &tenant.id;
    let link = format!("/admin/tenants/{id}");
    if tenant.suspended_at > 0 {
        let reason = Reason::new("tenant_suspended", format!("Tenant '{id}' is suspended: none of its jobs start."));
        found.add(reason.since(tenant.suspended_at).link(link).command(format!("ojs tenants resume {id}")));
        return Ok(());
    }
    if row.state != JobState::Available || !row.holds.contains(Holds::TENANT) {
        return Ok(());
    }
    let quota = match tenant.quota.get(id) {
        Ok(quota) => quota,
        Err(fault) => {
            found.add(Reason::new("tenant_unreadable", fault.to_string()).link(link));
            return Ok(());
        }
    };
    let active: i64 = tables.usage_of(row.tenant)?.values().filter_map(|usage| usage.counts.get(JobState::Active as usize)).sum();
    let most = quota.max_concurrency.unwrap_or(0);
    let message = format!("Tenant '{id}' may have {most} active jobs, and has {active}.");
    found.add(Reason::new("tenant_concurrency", message).link(link).detail("limit", most).detail("active", active));
    Ok(())
}
