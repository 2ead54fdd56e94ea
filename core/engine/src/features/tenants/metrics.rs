//! Figures of tenants: `ojs.tenant.*` (extensions section 10).
use std::fmt;

use ojs_model::JobState;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::features::tenants::records::Usage;
use crate::metrics::figures::family;
use crate::store::rows::depth;

/// Jobs that are active and that wait, and what has happened so far.
pub(crate) fn write(encoder: &mut DescriptorEncoder<'_>, tenants: &[(String, Usage)]) -> fmt::Result {
    let active = tenants.iter().map(|(id, usage)| ([("tenant_id", id.as_str())], jobs(usage, JobState::Active)));
    family!(encoder, Gauge, "ojs_tenant_jobs_active", "Active jobs of a tenant", active, |jobs, into| into.encode_gauge(&jobs));
    let all: i64 = tenants.iter().map(|(_, usage)| jobs(usage, JobState::Active)).sum();
    let shares = tenants
        .iter()
        .map(|(id, usage)| ([("tenant_id", id.as_str())], jobs(usage, JobState::Active) as f64 / all.max(1) as f64));
    let help = "Share of a tenant in the active jobs of all tenants";
    family!(encoder, Gauge, "ojs_tenant_fairness_share", help, shares, |share, into| into.encode_gauge(&share));
    let waiting = tenants.iter().map(|(id, usage)| ([("tenant_id", id.as_str())], depth(&usage.counts)));
    let help = "Jobs of a tenant that wait";
    family!(encoder, Gauge, "ojs_tenant_queue_depth", help, waiting, |jobs, into| into.encode_gauge(&jobs));
    for (name, help, which) in [
        ("ojs_tenant_jobs_enqueued", "Jobs of a tenant that were stored", 0),
        ("ojs_tenant_jobs_processed", "Jobs of a tenant that were completed", 1),
        ("ojs_tenant_jobs_failed", "Attempts of a tenant's jobs that failed", 2),
    ] {
        let totals = tenants.iter().map(|(id, usage)| ([("tenant_id", id.as_str())], total(usage, which)));
        family!(encoder, Counter, name, help, totals, |jobs, into| into.encode_counter::<NoLabelSet, _, u64>(&jobs, None));
    }
    Ok(())
}

fn jobs(usage: &Usage, state: JobState) -> i64 {
    usage.counts.get(state as usize).copied().unwrap_or(0)
}

fn total(usage: &Usage, which: usize) -> u64 {
    usage.totals.get(which).and_then(|total| u64::try_from(*total).ok()).unwrap_or(0)
}
