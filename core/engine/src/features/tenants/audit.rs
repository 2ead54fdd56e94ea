//! The audit of tenants: what was counted against the jobs, and held jobs against what their tenants may use.
use ojs_model::JobState;

use crate::error::Result;
use crate::features::tenants::records::TenantRow;
use crate::features::tenants::rules::lines;
use crate::kernel::audit::{Audit, Checks};
use crate::kernel::holds::Holds;
use crate::kernel::job::JobRow;
use crate::store::rows::Counts;
use crate::store::selection::Selection;

pub(crate) const CHECKS: Checks = Checks { job: Some(|audit, row, _| look_at(audit, row)), whole: Some(compare) };

fn look_at(audit: &mut Audit<'_>, row: &JobRow) -> Result<()> {
    if row.tenant != 0 {
        let counts = audit.features.tenants.entry((row.tenant, row.queue)).or_default();
        if let Some(cell) = counts.get_mut(row.state as usize) {
            *cell += 1;
        }
    }
    if !row.holds.contains(Holds::TENANT) {
        return Ok(());
    }
    let subject = format!("job {}", row.id);
    match audit.tables.tenant(row.tenant)? {
        Some(tenant) if !tenant.is_free() || tenant.opening > 0 => {}
        Some(tenant) => audit.find("tenant_holds", subject, "its tenant", "one with limits", format!("'{}' without", tenant.id)),
        None => audit.find("tenant_holds", subject, "its tenant", "one with limits", "none"),
    }
    Ok(())
}

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let mut seen = std::mem::take(&mut audit.features.tenants);
    audit.each_record(
        0,
        |row: &TenantRow| row.num,
        |audit, row| {
            for (queue, usage) in audit.tables.usage_of(row.num)? {
                let counted: Counts = seen.remove(&(row.num, queue)).unwrap_or_default();
                let subject = format!("tenant '{}', queue number {queue}", row.id);
                audit.same("tenant_counts", &subject, "jobs by state", format!("{counted:?}"), format!("{:?}", usage.counts));
            }
            look_for_room(audit, row)
        },
    )?;
    for ((tenant, queue), counts) in seen {
        let subject = format!("tenant number {tenant}, queue number {queue}");
        audit.find("tenant_counts", subject, "jobs by state", format!("{counts:?}"), "none counted");
    }
    Ok(())
}

/// A tenant with a free slot has no job that its limit alone holds, unless enough others may start.
fn look_for_room(audit: &mut Audit<'_>, row: &TenantRow) -> Result<()> {
    // Limits that cannot be read hold all jobs until they are set anew.
    let most = row.quota.get(&row.id).ok().and_then(|quota| quota.max_concurrency);
    let Some(most) = most.filter(|_| row.suspended_at == 0 && row.opening == 0) else { return Ok(()) };
    let usage = audit.tables.usage_of(row.num)?;
    let active: i64 = usage.values().filter_map(|usage| usage.counts.get(JobState::Active as usize)).sum();
    let room = usize::try_from(i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(active)).unwrap_or(0);
    let (mut held, mut free) = (0, 0);
    for queue in usage.into_keys() {
        let jobs = |holds| Selection::OfTenant { tenant: row.num, queue, holds };
        for holds in lines(audit.tables, queue)? {
            held += audit.tables.count(&jobs(holds.with(Holds::TENANT)), 1)?;
            free += audit.tables.count(&jobs(holds), room)?;
        }
    }
    if held > 0 && free < room {
        let subject = format!("tenant '{}'", row.id);
        audit.find("tenant_holds", subject, "free slots while jobs of it are held", 0, room - free);
    }
    Ok(())
}
