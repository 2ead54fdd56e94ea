//! Rules of tenants: to whom a job belongs, what is counted of it, what a tenant may use (extensions section 10).
//!
//! Limits at enqueue are hard: a request locks the record of its tenant, so two requests never pass one limit together.
//! A job that comes up while its tenant has as many active jobs as it may is held
//! ([`Holds::TENANT`]) until one of them ends; so claims do not pass over it again and again.
use std::collections::BTreeMap;
use std::sync::Arc;

use ojs_model::{ErrorCode, JobState, NewJob, OjsError, envelope, json};

use crate::error::{Applied, StoreError};
use crate::features::tenants::quota::{LIMIT_EXCEEDED, Quota};
use crate::features::tenants::records::{RateRow, TenantRow, Usage};
use crate::kernel::admission::Admission;
use crate::kernel::claiming::{Chosen, Claiming};
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, JobRow, Line};
use crate::kernel::placed::Placed;
use crate::kernel::transaction::Transaction;
use crate::store::rows::WAITING;
use crate::store::selection::Selection;
use crate::store::tables::Tables;

type Stored<T> = Result<T, StoreError>;

/// Jobs let go by one transaction for one tenant.
const SLICE: usize = 500;
/// Jobs of a tenant that a claim for some job types looks at.
const FRONT: usize = 4_000;

/// What one tenant is asked to take.
#[derive(Debug, Clone, Copy, Default)]
struct Demand {
    jobs: u64,
    waiting: u64,
    scheduled: u64,
}

fn count(usage: &Usage, states: &[JobState]) -> u64 {
    let sum: i64 = states.iter().filter_map(|state| usage.counts.get(*state as usize)).sum();
    u64::try_from(sum).unwrap_or(0)
}

impl Transaction<'_> {
    /// The tenant of an id, made when missing.
    pub(crate) fn tenant_for_use(&mut self, id: &str) -> Stored<TenantRow> {
        let now = self.now.as_millis();
        let row = match self.tables.find_tenant(id)? {
            Some(row) if row.deleted_at == 0 => return Ok(row),
            Some(row) => {
                let row = TenantRow { deleted_at: 0, ..row };
                self.tables.put_tenant(&row)?;
                row
            }
            None => self.tables.add_tenant(TenantRow::fresh(id, now))?,
        };
        self.emit_tenant("tenant.created", &row, "");
        Ok(row)
    }

    pub(crate) fn emit_tenant(&mut self, event: &str, row: &TenantRow, extra: &str) {
        self.journal.of_tenant(row.num, event, self.now, &row.id, extra);
    }

    /// Notes the tenant of a job that is about to be stored.
    pub(crate) fn join_tenant(&mut self, job: &NewJob, row: &mut JobRow) -> Stored<()> {
        if let Some(id) = &job.tenant {
            row.tenant = self.tenant_for_use(id)?.num;
        }
        Ok(())
    }

    /// Refuses jobs of tenants that are suspended or have used what they may use.
    pub(crate) fn admit_tenants(&mut self, jobs: &[Arc<NewJob>], admission: &mut Admission) -> Applied<()> {
        let mut demands: BTreeMap<&str, Demand> = BTreeMap::new();
        for job in jobs {
            let Some(id) = &job.tenant else { continue };
            let scheduled = job.scheduled_at.is_some_and(|at| at > self.now) && !job.pending;
            let demand = demands.entry(id).or_default();
            demand.jobs += 1;
            demand.waiting += 1;
            demand.scheduled += u64::from(scheduled);
        }
        for (id, demand) in demands {
            match self.tables.find_tenant(id)?.filter(|row| row.deleted_at == 0) {
                Some(row) => self.check_tenant(&row, demand)?,
                None => admission.makes_more = true,
            }
        }
        Ok(())
    }

    /// The same for one job that no enqueue has brought.
    pub(crate) fn judge_tenant(&mut self, body: &str) -> Applied<()> {
        let Some(id) = envelope::tenant_in(body)? else { return Ok(()) };
        match self.tables.find_tenant(&id)? {
            Some(row) => self.check_tenant(&row, Demand { jobs: 1, waiting: 1, scheduled: 0 }),
            None => Ok(()),
        }
    }

    fn check_tenant(&mut self, row: &TenantRow, demand: Demand) -> Applied<()> {
        if row.suspended_at > 0 {
            return Err(suspended(row).into());
        }
        let quota = row.quota.get(&row.id)?;
        if quota.max_queue_depth.is_none() && quota.max_scheduled.is_none() && quota.max_enqueue_rate.is_none() {
            return Ok(());
        }
        let usage = self.usage_held(row.num)?;
        let depth = count(&usage, &WAITING);
        self.check_limit(row, "max_queue_depth", quota.max_queue_depth, depth, demand.waiting)?;
        let scheduled = count(&usage, &[JobState::Scheduled]);
        self.check_limit(row, "max_scheduled", quota.max_scheduled, scheduled, demand.scheduled)?;
        if let Some(rate) = quota.max_enqueue_rate {
            let left = self.rate_of(row.num, &quota)?.map_or(rate.limit, |bucket| whole_tokens(bucket.tokens));
            self.check_limit(row, "max_enqueue_rate", Some(rate.limit), rate.limit.saturating_sub(left), demand.jobs)?;
        }
        Ok(())
    }

    fn check_limit(&mut self, row: &TenantRow, name: &str, most: Option<u64>, current: u64, more: u64) -> Applied<()> {
        let Some(most) = most.filter(|most| more > 0 && current.saturating_add(more) > *most) else { return Ok(()) };
        let mut extra = String::new();
        json::push_text(&mut extra, "limit", name);
        json::push_bare(&mut extra, "current", current);
        json::push_bare(&mut extra, "maximum", most);
        self.emit_tenant("tenant.limit_exceeded", row, &extra);
        Err(limit_exceeded(row, name, current, most).into())
    }

    /// The bucket of a tenant, filled for the time that has passed; `None` while nothing was taken out of it.
    fn rate_of(&mut self, tenant: i64, quota: &Quota) -> Stored<Option<RateRow>> {
        let (Some(rate), Some(mut row)) = (quota.max_enqueue_rate, self.tables.tenant_rate(tenant)?) else { return Ok(None) };
        let now = self.now.as_millis();
        let passed = now.saturating_sub(row.filled_at).max(0) as f64;
        let full = rate.limit as f64;
        row.tokens = (row.tokens + passed * full / rate.period_ms as f64).min(full);
        row.filled_at = now;
        Ok(Some(row))
    }

    /// Takes stored jobs out of the buckets of their tenants.
    pub(crate) fn take_rates(&mut self, placed: &[Placed]) -> Stored<()> {
        let mut stored: BTreeMap<i64, u64> = BTreeMap::new();
        for placed in placed.iter().filter(|placed| placed.job.row.tenant != 0 && !placed.deduplicated) {
            *stored.entry(placed.job.row.tenant).or_default() += 1;
        }
        for (tenant, jobs) in stored {
            let Some(row) = self.tables.tenant(tenant)? else { continue };
            let quota = row.quota.get(&row.id)?;
            let Some(rate) = quota.max_enqueue_rate else { continue };
            let full = RateRow { tenant, tokens: rate.limit as f64, filled_at: self.now.as_millis() };
            let mut bucket = self.rate_of(tenant, &quota)?.unwrap_or(full);
            bucket.tokens = (bucket.tokens - jobs as f64).max(0.0);
            self.tables.put_tenant_rate(&bucket)?;
        }
        Ok(())
    }

    /// What a tenant has, with what this transaction has changed. Other transactions that ask wait until this one has
    /// ended.
    fn usage_held(&mut self, tenant: i64) -> Stored<Usage> {
        let committed = match self.features.tenants.held.get(&tenant) {
            Some(committed) => *committed,
            None => {
                self.tables.lock_tenant(tenant)?;
                let mut sum = Usage::default();
                self.tables.usage_of(tenant)?.values().for_each(|usage| sum.add(usage));
                self.features.tenants.held.insert(tenant, sum);
                sum
            }
        };
        let mut usage = committed;
        for (_, counts) in self.tenant_counts.range((tenant, i64::MIN)..=(tenant, i64::MAX)) {
            usage.add(&Usage { counts: *counts, totals: [0; 3] });
        }
        Ok(usage)
    }

    /// Whether a job at the head of its line may start; when not, it is held.
    pub(crate) fn tenant_may_start(&mut self, row: &JobRow) -> Stored<bool> {
        if self.tenant_room(row.tenant)? > 0 {
            return Ok(true);
        }
        self.hold(row, Holds::TENANT)?;
        Ok(false)
    }

    /// A job joins the line of its queue: it is held while its tenant may not start it.
    pub(crate) fn join_tenant_line(&mut self, row: &mut JobRow) -> Stored<()> {
        if row.tenant != 0 && self.tenant_room(row.tenant)? <= 0 {
            row.holds = row.holds.with(Holds::TENANT);
        }
        Ok(())
    }

    /// How many jobs of a tenant may start now.
    fn tenant_room(&mut self, tenant: i64) -> Stored<i64> {
        let Some(row) = self.tables.tenant(tenant)?.filter(|row| !row.is_free()) else { return Ok(i64::MAX) };
        if row.suspended_at > 0 {
            return Ok(0);
        }
        let quota = match row.quota.get(&row.id) {
            Ok(quota) => quota,
            Err(fault) => {
                // Its jobs wait until its limits are set anew, so that jobs of others can start.
                tracing::error!(tenant = %row.id, error = %fault, "a tenant waits for limits that cannot be read");
                return Ok(0);
            }
        };
        let Some(most) = quota.max_concurrency else { return Ok(i64::MAX) };
        let active = count(&self.usage_held(tenant)?, &[JobState::Active]);
        Ok(i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(i64::try_from(active).unwrap_or(i64::MAX)))
    }

    /// Keeps count of what a change of state does to the job's tenant.
    pub(crate) fn note_tenant(&mut self, before: &JobRow, after: &JobRow) -> Stored<()> {
        if before.tenant == 0 {
            return Ok(());
        }
        if after.state == JobState::Completed {
            self.total(after, 1);
        }
        // A slot is free, or a place among those that may start.
        let leaves = before.state == JobState::Available && before.is_free() && after.state != JobState::Active;
        if before.state == JobState::Active || leaves {
            self.free_tenant(before.tenant)?;
        }
        Ok(())
    }

    /// Another job of a tenant may start in place of one that does not: it has ended, or something else holds it.
    pub(crate) fn free_tenant(&mut self, tenant: i64) -> Stored<()> {
        if tenant != 0 && self.tables.tenant(tenant)?.is_some_and(|row| !row.is_free()) {
            self.features.tenants.released.push(tenant);
        }
        Ok(())
    }

    /// Adds one to what has happened: 0 is a job stored, 1 a job completed, 2 an attempt failed.
    pub(crate) fn total(&mut self, row: &JobRow, which: usize) {
        if row.tenant != 0
            && let Some(cell) = self.features.tenants.totals.entry((row.tenant, row.queue)).or_default().get_mut(which)
        {
            *cell += 1;
        }
    }

    /// Another reason has let go of a job. If only its tenant still holds it, the tenant may have had room already.
    pub(crate) fn look_at_tenant(&mut self, row: &JobRow) {
        if row.holds == row.line().holds().with(Holds::TENANT) {
            self.features.tenants.released.push(row.tenant);
        }
    }

    /// Lets jobs go whose tenants may start more.
    pub(crate) fn open_tenants(&mut self) -> Stored<()> {
        while let Some(tenant) = self.features.tenants.released.pop() {
            if self.open_tenant(tenant)?
                && let Some(row) = self.tables.lock_tenant(tenant)?.filter(|row| row.opening == 0)
            {
                // A large opening goes on with the next claims.
                self.tables.put_tenant(&TenantRow { opening: 1, ..row })?;
            }
        }
        Ok(())
    }

    /// The same for tenants whose limits were changed: the next slice of each.
    pub(crate) fn open_changed_tenants(&mut self) -> Stored<()> {
        for row in self.tables.opening_tenants()? {
            if !self.open_tenant(row.num)? {
                let mut row = self.tables.lock_tenant(row.num)?.unwrap_or(row);
                row.opening = 0;
                self.tables.put_tenant(&row)?;
            }
            // What was let go is there for the next claim; so is the next slice.
            self.look_again(self.now.as_millis());
        }
        Ok(())
    }

    /// Lets held jobs of a tenant go, as many as it may start. True when there may be more.
    fn open_tenant(&mut self, tenant: i64) -> Stored<bool> {
        let room = self.tenant_room(tenant)?;
        let mut left = usize::try_from(room).unwrap_or(0).min(SLICE);
        let mut queues: Vec<i64> = self.tables.usage_of(tenant)?.into_keys().collect();
        queues.extend(self.tenant_counts.range((tenant, i64::MIN)..=(tenant, i64::MAX)).map(|((_, queue), _)| *queue));
        queues.sort_unstable();
        queues.dedup();
        for queue in queues {
            if left == 0 {
                break;
            }
            let mut rows = Vec::new();
            for holds in lines(self.tables, queue)? {
                rows.extend(self.tables.select(&Selection::OfTenant { tenant, queue, holds: holds.with(Holds::TENANT) }, left)?);
            }
            rows.sort_by_key(|row| (-row.priority, row.sort_key));
            rows.truncate(left);
            left -= rows.len();
            for row in rows {
                self.let_go(&row, Holds::TENANT)?;
            }
        }
        Ok(left == 0 && room > 0)
    }

    /// Writes what was counted.
    pub(crate) fn write_tenant_counts(&mut self) -> Stored<()> {
        let (counts, totals) = (std::mem::take(&mut self.tenant_counts), std::mem::take(&mut self.features.tenants.totals));
        if counts.is_empty() && totals.is_empty() {
            return Ok(());
        }
        let mut deltas: BTreeMap<(i64, i64), Usage> = BTreeMap::new();
        for (key, counts) in counts {
            deltas.entry(key).or_default().counts = counts;
        }
        for (key, totals) in totals {
            deltas.entry(key).or_default().totals = totals;
        }
        let shard = self.tables.names().shard;
        self.tables.add_usage(shard, &deltas, self.now.as_millis())
    }

    /// Available jobs of a queue for a claim of one tenant, best first.
    pub(crate) fn choose_of_tenant(&mut self, claiming: &Claiming<'_>, queue: i64, wanted: usize) -> Stored<Option<Chosen>> {
        let Some(tenant) = self.tables.names().scope.num() else { return Ok(None) };
        let job_type_ids = claiming.job_type_ids.as_deref();
        let mut jobs = self.ready_of_tenant(queue, tenant, job_type_ids, wanted)?;
        self.add_versions(claiming, queue, wanted, &mut jobs)?;
        Ok(Some(Chosen { is_last: jobs.len() < wanted || job_type_ids.is_some(), jobs }))
    }

    /// Available jobs of a tenant in a queue, best first; only of some types where the claim names them.
    fn ready_of_tenant(
        &mut self,
        queue: i64,
        tenant: i64,
        job_type_ids: Option<&[i64]>,
        wanted: usize,
    ) -> Stored<Vec<(JobRow, Body)>> {
        let limit = if job_type_ids.is_some() { FRONT } else { wanted };
        let rows = self.tables.select(&Selection::OfTenant { tenant, queue, holds: Holds::NONE }, limit)?;
        let fits = |row: &JobRow| job_type_ids.is_none_or(|ids| ids.contains(&row.job_type_id));
        self.with_bodies(rows.into_iter().filter(fits).take(wanted))
    }

    /// Available jobs of a tenant that stand in one of these lines, best first.
    pub(crate) fn versions_of_tenant(&mut self, tenant: i64, lines: &[Line], wanted: usize) -> Stored<Vec<(JobRow, Body)>> {
        let Some(queue) = lines.first().map(|line| line.queue) else { return Ok(Vec::new()) };
        let rows = self.tables.select(&Selection::OfTenant { tenant, queue, holds: Holds::VERSION }, FRONT)?;
        self.with_bodies(rows.into_iter().filter(|row| lines.contains(&row.line())).take(wanted))
    }

    fn with_bodies(&mut self, rows: impl Iterator<Item = JobRow>) -> Stored<Vec<(JobRow, Body)>> {
        let mut found = Vec::new();
        for row in rows {
            let body = self.tables.body(row.seq)?;
            found.push((row, body));
        }
        Ok(found)
    }
}

/// The sets of reasons of jobs in a queue that are free to start: jobs with a version stand in lines of their own, and
/// so do the jobs of keys in a queue that is shared, or was.
pub(super) fn lines(tables: &mut dyn Tables, queue: i64) -> Stored<Vec<Holds>> {
    let mut lines = vec![Holds::NONE];
    let marks = [(tables.has_versions(queue)?, Holds::VERSION), (tables.fair_queue(queue)?.is_some(), Holds::FAIR_SHARE)];
    for (_, mark) in marks.into_iter().filter(|(is_there, _)| *is_there) {
        let marked: Vec<Holds> = lines.iter().map(|line| line.with(mark)).collect();
        lines.extend(marked);
    }
    Ok(lines)
}

fn whole_tokens(tokens: f64) -> u64 {
    // A float cast saturates. The small term keeps 0.9999… from being none.
    (tokens + 1e-9) as u64
}

fn suspended(row: &TenantRow) -> OjsError {
    let message = format!("Tenant '{}' is suspended: it takes no jobs.", row.id);
    OjsError::new(ErrorCode::PermissionDenied, message)
        .with_details(serde_json::json!({"tenant_id": &*row.id, "reason": "tenant_suspended"}))
        .with_hint("An operator resumes it with POST /ojs/v1/admin/tenants/{id}/resume.")
}

fn limit_exceeded(row: &TenantRow, name: &str, current: u64, most: u64) -> OjsError {
    let message = format!("Tenant '{}' may not enqueue this: {name} is {most}, and {current} is used.", row.id);
    let mut error = OjsError::new(ErrorCode::RateLimited, message)
        .with_details(serde_json::json!({"tenant_id": &*row.id, "limit": name, "current": current, "maximum": most}));
    error.code = LIMIT_EXCEEDED.into();
    error
}
