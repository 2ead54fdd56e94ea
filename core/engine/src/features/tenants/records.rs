//! Tenants: what stores keep of them (extensions section 10).
//!
//! A tenant is a number on each of its jobs. The first job that names a tenant makes its record; the default tenant
//! has the number 0 and no record. How many jobs a tenant has in each queue and state is counted as the jobs change, in
//! records of their own: one for each connection that writes, so that connections do not wait for each other.
use std::collections::BTreeMap;
use std::sync::Arc;

use ojs_model::envelope::DEFAULT_TENANT;

use crate::error::{Result, StoreError};
use crate::features::tenants::quota::StoredQuota;
use crate::store::record::{Change, Lookup, Read, Record as _, RecordTables, Records, Scan, record};
use crate::store::rows::Counts;

record! {
    /// A tenant.
    #[derive(Debug, Clone, PartialEq)]
    pub struct TenantRow in "tenants" {
        numbered ("num");
        fixed ("id", "created_at");
        remember Everything;
        unique ID = "tenants_id" ("id");
        index OPENING = "tenants_opening" ("opening") positive;
        /// Its number.
        pub num: i64,
        /// Its id.
        pub id: Arc<str>,
        /// First use, milliseconds.
        pub created_at: i64,
        /// For people.
        pub name: String = "",
        /// Since when none of its jobs start and none are taken, milliseconds; 0 when it is active.
        pub suspended_at: i64 = 0,
        /// What it may use.
        pub quota: StoredQuota = "",
        /// 1 while jobs that its limits held may have to be let go.
        pub opening: i64 = 0,
        /// When it was deleted, milliseconds; 0 while it is not. Its number stays: what is left of it, such as events
        /// and ended workflows, must not become another tenant's.
        pub deleted_at: i64 = 0,
    }
}

impl TenantRow {
    /// A tenant that has just been heard of.
    #[must_use]
    pub fn fresh(id: &str, created_at: i64) -> Self {
        let quota = StoredQuota::default();
        let (name, suspended_at, opening, deleted_at) = (String::new(), 0, 0, 0);
        Self { num: 0, id: id.into(), created_at, name, suspended_at, quota, opening, deleted_at }
    }

    /// How often it is served while a tenant of weight 1 is served once, in queues that tenants share; `None` when its
    /// limits do not say.
    #[must_use]
    pub fn weight(&self) -> Option<i64> {
        // Limits that cannot be read hold its jobs, so its weight does not matter.
        self.quota.get(&self.id).ok().and_then(|quota| quota.fairness_weight)
    }

    /// Whether its jobs may start without a look at what is going on.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.suspended_at == 0 && self.quota == StoredQuota::None
    }
}

record! {
    /// Jobs of a tenant in a queue, as far as one connection has counted them. A single record may be negative.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CountRow in "tenant_counts" {
        key ("tenant", "queue", "shard");
        /// Number of the tenant.
        pub tenant: i64,
        /// Number of the queue.
        pub queue: i64,
        /// The connection.
        pub shard: i64,
        /// Scheduled jobs.
        pub scheduled: i64,
        /// Available jobs.
        pub available: i64,
        /// Pending jobs.
        pub pending: i64,
        /// Active jobs.
        pub active: i64,
        /// Completed jobs that are kept.
        pub completed: i64,
        /// Retryable jobs.
        pub retryable: i64,
        /// Cancelled jobs that are kept.
        pub cancelled: i64,
        /// Discarded jobs that are kept.
        pub discarded: i64,
        /// Jobs stored so far.
        pub enqueued_total: i64,
        /// Jobs completed so far.
        pub processed_total: i64,
        /// Attempts failed so far.
        pub failed_total: i64,
        /// Number of the period of [`PERIOD`] in which something happened last.
        pub period: i64 = 0,
        /// Jobs stored in that period.
        pub enqueued_now: i64 = 0,
        /// Jobs completed in that period.
        pub processed_now: i64 = 0,
        /// Attempts failed in that period.
        pub failed_now: i64 = 0,
        /// Jobs stored in the period before it.
        pub enqueued_before: i64 = 0,
        /// Jobs completed in the period before it.
        pub processed_before: i64 = 0,
        /// Attempts failed in the period before it.
        pub failed_before: i64 = 0,
    }
}

/// What has happened so far: jobs stored, jobs completed, attempts failed.
pub type Totals = [i64; 3];

/// How long a tenant's pace is averaged over, milliseconds. A shorter time makes each burst look like a flood; a longer
/// one hides a flood that has just begun.
pub const PERIOD: i64 = 300_000;

/// What has happened within the last [`PERIOD`]: jobs stored, jobs completed, attempts failed.
pub type Lately = [f64; 3];

impl CountRow {
    pub(super) fn fresh(tenant: i64, queue: i64, shard: i64) -> Self {
        let (scheduled, available, pending, active, completed, retryable, cancelled, discarded) = (0, 0, 0, 0, 0, 0, 0, 0);
        let (enqueued_total, processed_total, failed_total) = (0, 0, 0);
        Self {
            tenant,
            queue,
            shard,
            scheduled,
            available,
            pending,
            active,
            completed,
            retryable,
            cancelled,
            discarded,
            enqueued_total,
            processed_total,
            failed_total,
            period: 0,
            enqueued_now: 0,
            processed_now: 0,
            failed_now: 0,
            enqueued_before: 0,
            processed_before: 0,
            failed_before: 0,
        }
    }

    /// Jobs by state.
    #[must_use]
    pub fn counts(&self) -> Counts {
        [
            self.scheduled,
            self.available,
            self.pending,
            self.active,
            self.completed,
            self.retryable,
            self.cancelled,
            self.discarded,
        ]
    }

    /// What has happened so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        [self.enqueued_total, self.processed_total, self.failed_total]
    }

    /// What has happened within the last [`PERIOD`]: the current period, and of the one before it the share that is not
    /// over.
    #[must_use]
    pub fn lately(&self, now: i64) -> Lately {
        let left = 1.0 - now.rem_euclid(PERIOD) as f64 / PERIOD as f64;
        let of = |current: i64, before: i64| match now.div_euclid(PERIOD) - self.period {
            // The clock of another node may be ahead.
            ..=0 => current as f64 + before as f64 * left,
            1 => current as f64 * left,
            _ => 0.0,
        };
        [
            of(self.enqueued_now, self.enqueued_before),
            of(self.processed_now, self.processed_before),
            of(self.failed_now, self.failed_before),
        ]
    }

    fn add(&mut self, delta: &Usage, now: i64) {
        let period = now.div_euclid(PERIOD);
        if period > self.period {
            let current = [self.enqueued_now, self.processed_now, self.failed_now];
            let before = if period - self.period == 1 { current } else { [0; 3] };
            [self.enqueued_before, self.processed_before, self.failed_before] = before;
            [self.enqueued_now, self.processed_now, self.failed_now] = [0; 3];
            self.period = period;
        }
        let latest = [&mut self.enqueued_now, &mut self.processed_now, &mut self.failed_now];
        latest.into_iter().zip(delta.totals).for_each(|(cell, by)| *cell += by);
        let states = [
            &mut self.scheduled,
            &mut self.available,
            &mut self.pending,
            &mut self.active,
            &mut self.completed,
            &mut self.retryable,
            &mut self.cancelled,
            &mut self.discarded,
        ];
        states.into_iter().zip(delta.counts).for_each(|(cell, by)| *cell += by);
        let totals = [&mut self.enqueued_total, &mut self.processed_total, &mut self.failed_total];
        totals.into_iter().zip(delta.totals).for_each(|(cell, by)| *cell += by);
    }
}

record! {
    /// How much a tenant may enqueue now: a bucket of jobs that fills as time passes.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RateRow in "tenant_rates" {
        key ("tenant");
        /// Number of the tenant.
        pub tenant: i64,
        /// Jobs in the bucket.
        pub tokens: f64,
        /// When that was counted, milliseconds.
        pub filled_at: i64,
    }
}

/// Jobs and what has happened so far, of a tenant or of one of its queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Jobs by state.
    pub counts: Counts,
    /// Jobs stored, jobs completed, attempts failed.
    pub totals: Totals,
}

impl Usage {
    /// Adds another one.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(cell, by)| *cell += by);
        self.totals.iter_mut().zip(other.totals).for_each(|(cell, by)| *cell += by);
    }
}

/// Tenants and their counts. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait TenantTables: RecordTables {
    /// The tenant of an id.
    fn find_tenant(&mut self, id: &str) -> Result<Option<TenantRow>> {
        Records::of(self).find(TenantRow::ID, &id, Read::Plain)
    }

    /// The tenant of a number, as far as there is one.
    fn tenant(&mut self, num: i64) -> Result<Option<TenantRow>> {
        Records::of(self).get(&num)
    }

    /// The tenant of a number, held until the end of the transaction: what decides about its limits waits for others
    /// that do.
    fn lock_tenant(&mut self, num: i64) -> Result<Option<TenantRow>> {
        Records::of(self).find(TenantRow::KEY, &num, Read::Held)
    }

    /// The id of a number; `None` when no tenant has it.
    fn tenant_id(&mut self, num: i64) -> Result<Option<Arc<str>>> {
        Ok(self.tenant(num)?.map(|row| row.id))
    }

    /// Number of a tenant; 0 for the default one, -1, which no job has, for one that is not known.
    fn tenant_wanted(&mut self, id: &str) -> Result<i64> {
        if id == DEFAULT_TENANT {
            return Ok(0);
        }
        Ok(self.find_tenant(id)?.map_or(crate::kernel::scope::UNKNOWN, |row| row.num))
    }

    /// Stores a tenant.
    fn add_tenant(&mut self, row: TenantRow) -> Result<TenantRow> {
        match Records::of(self).insert(&row)? {
            Some(num) => Ok(TenantRow { num, ..row }),
            // What is remembered is read anew when the transaction is tried again.
            None => Err(StoreError::Conflict(format!("another writer has stored the tenant '{}'", row.id))),
        }
    }

    /// Writes everything of a tenant but its id.
    fn put_tenant(&mut self, row: &TenantRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Forgets the counts of a tenant.
    fn forget_usage(&mut self, num: i64) -> Result<()> {
        Records::<CountRow, _>::of(self).change(&[Change::Remove(Scan::over(CountRow::KEY).under(&num))])?;
        Records::<RateRow, _>::of(self).delete(&num)
    }

    /// A page of tenants by id, and how many there are in all.
    fn list_tenants(&mut self, behind: Option<&str>, limit: usize, offset: usize) -> Result<(Vec<TenantRow>, usize)> {
        let all = Scan::over(TenantRow::ID).only("deleted_at", &0_i64);
        let mut page = all.clone().skip(offset).limit(limit);
        if let Some(id) = &behind {
            page = page.above(id);
        }
        let mut records = Records::<TenantRow, _>::of(self);
        Ok((records.scan(&page)?, records.count(&all)?))
    }

    /// Tenants whose held jobs may have to be let go.
    fn opening_tenants(&mut self) -> Result<Vec<TenantRow>> {
        Records::of(self).scan(&Scan::over(TenantRow::OPENING))
    }

    /// What a tenant has in each queue in which it ever had a job, by number of the queue.
    fn usage_of(&mut self, tenant: i64) -> Result<BTreeMap<i64, Usage>> {
        let rows: Vec<CountRow> = Records::of(self).scan(&Scan::over(CountRow::KEY).under(&tenant))?;
        Ok(summed(rows, |row| row.queue))
    }

    /// What all tenants have, by number of the tenant.
    fn all_usage(&mut self) -> Result<BTreeMap<i64, Usage>> {
        let rows: Vec<CountRow> = Records::of(self).scan(&Scan::over(CountRow::KEY))?;
        Ok(summed(rows, |row| row.tenant))
    }

    /// The same, each with what has happened lately.
    fn all_paces(&mut self, now: i64) -> Result<BTreeMap<i64, (Usage, Lately)>> {
        let rows: Vec<CountRow> = Records::of(self).scan(&Scan::over(CountRow::KEY))?;
        let mut paces: BTreeMap<i64, (Usage, Lately)> = BTreeMap::new();
        for row in rows {
            let (usage, lately) = paces.entry(row.tenant).or_default();
            usage.add(&Usage { counts: row.counts(), totals: row.totals() });
            lately.iter_mut().zip(row.lately(now)).for_each(|(cell, by)| *cell += by);
        }
        Ok(paces)
    }

    /// What has happened lately to the jobs of a tenant.
    fn lately_of(&mut self, tenant: i64, now: i64) -> Result<Lately> {
        let rows: Vec<CountRow> = Records::of(self).scan(&Scan::over(CountRow::KEY).under(&tenant))?;
        let mut sum = Lately::default();
        for row in rows {
            sum.iter_mut().zip(row.lately(now)).for_each(|(cell, by)| *cell += by);
        }
        Ok(sum)
    }

    /// What all tenants together have in each queue, by number of the queue.
    fn usage_of_queues(&mut self) -> Result<BTreeMap<i64, Usage>> {
        let rows: Vec<CountRow> = Records::of(self).scan(&Scan::over(CountRow::KEY))?;
        Ok(summed(rows, |row| row.queue))
    }

    /// Adds to the counts of tenants and queues.
    fn add_usage(&mut self, shard: i64, deltas: &BTreeMap<(i64, i64), Usage>, now: i64) -> Result<()> {
        let mut rows: BTreeMap<(i64, i64), CountRow> = BTreeMap::new();
        let parts = deltas.keys().map(|(tenant, queue)| count_key(*tenant, *queue, shard)).collect();
        let lookup = Lookup { index: CountRow::KEY, keys: parts, read: Read::Held };
        self.find_records(CountRow::TABLE, &lookup, &mut |cells| {
            let row = CountRow::read(&mut crate::store::record::Reader::new(CountRow::TABLE, cells))?;
            rows.insert((row.tenant, row.queue), row);
            Ok(())
        })?;
        for ((tenant, queue), delta) in deltas {
            match rows.get_mut(&(*tenant, *queue)) {
                Some(row) => row.add(delta, now),
                None => {
                    let mut row = CountRow::fresh(*tenant, *queue, shard);
                    row.add(delta, now);
                    if Records::of(self).insert(&row)?.is_none() {
                        return Err(StoreError::Conflict("another writer has counted the first job of a tenant".into()));
                    }
                }
            }
        }
        let changes: Vec<Change<'_>> = rows.values().map(|row| Change::Put(row.cells())).collect();
        Records::<CountRow, _>::of(self).change(&changes)
    }

    /// The bucket of a tenant, held until the end of the transaction.
    fn tenant_rate(&mut self, tenant: i64) -> Result<Option<RateRow>> {
        Records::of(self).find(RateRow::KEY, &tenant, Read::Reserved)
    }

    /// Writes a bucket.
    fn put_tenant_rate(&mut self, row: &RateRow) -> Result<()> {
        Records::of(self).put(row)
    }
}

fn summed(rows: Vec<CountRow>, by: impl Fn(&CountRow) -> i64) -> BTreeMap<i64, Usage> {
    let mut usage: BTreeMap<i64, Usage> = BTreeMap::new();
    for row in rows {
        usage.entry(by(&row)).or_default().add(&Usage { counts: row.counts(), totals: row.totals() });
    }
    usage
}

/// The key of a count, in parts.
fn count_key(tenant: i64, queue: i64, shard: i64) -> Vec<crate::store::record::Cell<'static>> {
    use crate::store::record::Cell;
    vec![Cell::Integer(tenant), Cell::Integer(queue), Cell::Integer(shard)]
}

impl<T: RecordTables + ?Sized> TenantTables for T {}
