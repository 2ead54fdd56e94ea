//! What operators order and ask of tenants.
pub(crate) use super::within::Within;
use ojs_model::envelope::DEFAULT_TENANT;
use ojs_model::{ErrorCode, JobState, OjsError};

use crate::error::{Applied, StoreError};
use crate::features::schemas::records::SchemaTables;
use crate::features::tenants::quota::Quota;
use crate::features::tenants::records::{TenantRow, Usage};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::rows::{Counts, JobFilter, depth};
use crate::store::tables::Tables;

/// Jobs erased by one command.
const SLICE: usize = 500;

/// A tenant with what it has.
#[derive(Debug, Clone)]
pub struct TenantView {
    /// The tenant.
    pub row: TenantRow,
    /// What it has, in all queues together.
    pub usage: Usage,
    /// Jobs by state, by name of the queue.
    pub queues: Vec<(String, Counts)>,
}

/// Make a tenant or change it. What is `None` stays as it is.
#[derive(Debug, Clone, Default)]
pub struct PutTenant {
    /// Its id.
    pub id: String,
    /// For people.
    pub name: Option<String>,
    /// What it may use.
    pub quota: Option<Quota>,
    /// Its weight in shared queues: changes the limits in this member alone.
    pub fairness_weight: Option<i64>,
    /// Whether it takes jobs and its jobs start.
    pub active: Option<bool>,
    /// Refuse when there is no such tenant.
    pub must_exist: bool,
}

impl Command for PutTenant {
    /// The tenant, and whether it was known before.
    type Reply = (TenantView, bool);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        let known = transaction.tables.find_tenant(&self.id)?.is_some_and(|row| row.deleted_at == 0);
        if self.must_exist && !known {
            return Err(OjsError::not_found("tenant", &self.id).into());
        }
        let row = transaction.change_tenant(self)?;
        Ok((view(transaction.tables, row)?, known))
    }
}

/// Erase a slice of the ended jobs of a tenant that has no others, and delete the tenant with the last one.
#[derive(Debug, Clone)]
pub struct DeleteTenant(pub String);

impl Command for DeleteTenant {
    /// Whether the tenant is gone.
    type Reply = bool;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<bool> {
        transaction.delete_tenant(&self.0)
    }

    fn weight(&self) -> usize {
        SLICE
    }
}

/// One tenant.
#[derive(Debug, Clone)]
pub struct GetTenant(pub String);

impl Query for GetTenant {
    type Reply = TenantView;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<TenantView> {
        let row =
            if self.0 == DEFAULT_TENANT { Some(TenantRow::fresh(DEFAULT_TENANT, 0)) } else { tables.find_tenant(&self.0)? };
        match row.filter(|row| row.deleted_at == 0) {
            Some(row) => Ok(view(tables, row)?),
            None => Err(OjsError::not_found("tenant", &self.0).into()),
        }
    }
}

/// How a tenant is served beside the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fairness {
    /// Its weight, from its limits. A shared queue may give it another one.
    pub weight: i64,
    /// Its weight over those of all tenants that have jobs which wait or run; 0 when it has none.
    pub effective_share: f64,
    /// Its active jobs over those of all tenants; 0 when none is active.
    pub actual_share: f64,
}

/// How a tenant is served beside the others. The default tenant is not among them.
#[derive(Debug, Clone)]
pub struct GetTenantFairness(pub String);

impl Query for GetTenantFairness {
    /// `None` for the default tenant, and for one that is not known.
    type Reply = Option<Fairness>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let Some(own) = tables.find_tenant(&self.0)? else { return Ok(None) };
        let weight = own.weight().unwrap_or(1);
        let (mut weights, mut active, mut shares) = (0, 0, Fairness { weight, effective_share: 0.0, actual_share: 0.0 });
        for (num, usage) in tables.all_usage()? {
            let Some(row) = tables.tenant(num)? else { continue };
            let running = usage.counts.get(JobState::Active as usize).copied().unwrap_or(0);
            active += running;
            if running == 0 && depth(&usage.counts) == 0 {
                continue;
            }
            weights += row.weight().unwrap_or(1);
            if num == own.num {
                (shares.effective_share, shares.actual_share) = (weight as f64, running as f64);
            }
        }
        shares.effective_share /= weights.max(1) as f64;
        shares.actual_share /= active.max(1) as f64;
        Ok(Some(shares))
    }
}

/// A page of tenants by id. The default tenant is not listed.
#[derive(Debug, Clone)]
pub struct ListTenants {
    /// Page size.
    pub limit: usize,
    /// Tenants to skip.
    pub offset: usize,
    /// Only those behind this id.
    pub behind: Option<String>,
}

impl Query for ListTenants {
    /// The page, and how many there are in all.
    type Reply = (Vec<TenantView>, usize);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let (rows, total) = tables.list_tenants(self.behind.as_deref(), self.limit, self.offset)?;
        let views = rows.into_iter().map(|row| view(tables, row)).collect::<Result<_, _>>()?;
        Ok((views, total))
    }

    fn is_search(&self) -> bool {
        true
    }
}

fn view(tables: &mut dyn Tables, row: TenantRow) -> Result<TenantView, StoreError> {
    let mut usage = Usage::default();
    tables.usage_of(row.num)?.values().for_each(|of_queue| usage.add(of_queue));
    usage.counts = Counts::default();
    let mut queues = Vec::new();
    for (num, counts) in tables.counts_of_tenant(row.num, None)? {
        usage.counts.iter_mut().zip(counts).for_each(|(cell, jobs)| *cell += jobs);
        if counts.iter().any(|jobs| *jobs != 0) {
            queues.push((tables.queue_by_num(num)?.name.to_string(), counts));
        }
    }
    queues.sort();
    Ok(TenantView { row, usage, queues })
}

/// Tenants that are shown one by one; what the others have is shown as one tenant, so that the number of time series
/// stays bounded.
const MAX_TENANTS: usize = 1_000;
/// The name of all others. No tenant can have it.
const OTHER: &str = "_other";

/// What tenants have, those with the most jobs that wait or run first. The default tenant is not among them.
pub(crate) fn figures(tables: &mut dyn Tables) -> Result<Vec<(String, Usage)>, StoreError> {
    let mut all: Vec<(i64, Usage)> = tables.all_usage()?.into_iter().collect();
    let open = |usage: &Usage| {
        let states = JobState::ALL.into_iter().zip(usage.counts).filter(|(state, _)| !state.is_terminal());
        states.map(|(_, jobs)| jobs).sum::<i64>()
    };
    all.sort_by_key(|(num, usage)| (-open(usage), *num));
    let rest = if all.len() > MAX_TENANTS { all.split_off(MAX_TENANTS) } else { Vec::new() };
    let mut shown = Vec::with_capacity(all.len() + 1);
    for (num, usage) in all {
        shown.extend(tables.tenant_id(num)?.map(|id| (id.to_string(), usage)));
    }
    if !rest.is_empty() {
        let mut sum = Usage::default();
        rest.iter().for_each(|(_, usage)| sum.add(usage));
        shown.push((OTHER.to_owned(), sum));
    }
    Ok(shown)
}

impl Transaction<'_> {
    fn change_tenant(&mut self, change: &PutTenant) -> Applied<TenantRow> {
        if change.id == DEFAULT_TENANT {
            let message =
                "The tenant '_default' is what jobs without a tenant belong to: it has no limits and cannot be changed.";
            return Err(OjsError::invalid_field("id", message).into());
        }
        let found = self.tenant_for_use(&change.id)?;
        let before = self.tables.lock_tenant(found.num)?.unwrap_or(found);
        let mut row = before.clone();
        if let Some(name) = &change.name {
            row.name.clone_from(name);
        }
        if let Some(quota) = change.quota {
            row.quota = quota.into();
        }
        if change.fairness_weight.is_some() {
            row.quota = Quota { fairness_weight: change.fairness_weight, ..row.quota.get(&row.id)? }.into();
        }
        match change.active {
            Some(true) => row.suspended_at = 0,
            Some(false) if row.suspended_at == 0 => row.suspended_at = self.now.as_millis(),
            _ => {}
        }
        if row.quota != before.quota || row.suspended_at != before.suspended_at {
            // Jobs that were held may start now: a slice of them at once, the others with the next claims.
            row.opening = 1;
        }
        if row == before {
            return Ok(row);
        }
        self.tables.put_tenant(&row)?;
        match (before.suspended_at > 0, row.suspended_at > 0) {
            (false, true) => self.emit_tenant("tenant.suspended", &row, ""),
            (true, false) => self.emit_tenant("tenant.resumed", &row, ""),
            _ => {}
        }
        if row.opening > 0 {
            self.open_changed_tenants()?;
            self.call_all_waiters()?;
        }
        Ok(self.tables.lock_tenant(row.num)?.unwrap_or(row))
    }

    fn delete_tenant(&mut self, id: &str) -> Applied<bool> {
        let known = self.tables.find_tenant(id)?.filter(|row| row.deleted_at == 0);
        let Some(known) = known else { return Err(OjsError::not_found("tenant", id).into()) };
        let mut row = self.tables.lock_tenant(known.num)?.unwrap_or(known);
        let usage = self.tables.usage_of(row.num)?;
        let open = |counts: &Counts| {
            let states = JobState::ALL.into_iter().zip(counts).filter(|(state, _)| !state.is_terminal());
            states.map(|(_, jobs)| jobs).sum::<i64>()
        };
        let left: i64 = usage.values().map(|usage| open(&usage.counts)).sum();
        if left > 0 {
            let message = format!("Tenant '{id}' has {left} jobs that have not ended.");
            return Err(OjsError::new(ErrorCode::Conflict, message)
                .with_details(serde_json::json!({"tenant_id": id, "reason": "tenant_not_empty", "jobs": left}))
                .with_hint("Suspend the tenant, cancel its jobs with POST /ojs/v1/jobs/bulk/cancel, and try again.")
                .into());
        }
        let filter = JobFilter { tenant: Some(row.num), ascending: true, limit: SLICE, ..JobFilter::default() };
        let ended = self.tables.jobs(&filter)?;
        if !ended.is_empty() {
            for job in &ended {
                self.erase(job)?;
            }
            return Ok(false);
        }
        self.tables.forget_usage(row.num)?;
        self.tables.forget_errors_of(row.num)?;
        self.tables.forget_schemas_of(id)?;
        self.tables.forget_crons_of(id)?;
        self.delete_subscriptions_of(id)?;
        self.emit_tenant("tenant.deleted", &row, "");
        row = TenantRow { deleted_at: self.now.as_millis(), num: row.num, ..TenantRow::fresh(&row.id, row.created_at) };
        self.tables.put_tenant(&row)?;
        Ok(true)
    }
}
