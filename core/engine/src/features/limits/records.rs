//! Keys with limits: what stores keep of them (extensions section 4).
//!
//! A key's limits are those of the latest job or override that named any. `rate` is a sliding log: never more starts than its limit within
//! any stretch of its period, wherever that begins. `throttle` keeps starts apart. Active jobs are counted where they are, in an index, so a
//! slot cannot be lost: every end of an attempt frees it.
//!
//! A job whose key is full is *parked*: it stays available, held by
//! [`Holds::LIMIT`](crate::kernel::holds::Holds::LIMIT), so that claims do not pass over it again and again. When a
//! slot frees or time has passed, as many jobs as have room come out, best first. A job that something else holds as
//! well takes no room: it stays parked until that has let go of it.
use std::sync::Arc;

use ojs_model::rate_limit::Limits;
use ojs_model::{OjsError, Timestamp};
use serde_json::{Map, Value};

use crate::error::{Result, StoreError};
use crate::kernel::holds::Holds;
use crate::kernel::job::Line;
use crate::store::record::{Change, Kept, Object, Read, Record as _, RecordTables, Records, Scan, record};

record! {
    /// A key as stores keep it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct LimitRow in "limits" {
        numbered ("num");
        fixed ("tenant", "key");
        remember Emptiness;
        unique NAME = "limits_name" ("key", "tenant");
        index OPEN = "limits_open" ("open_at") positive;
        index TENANT = "limits_tenant" ("tenant", "key");
        /// Its number.
        pub num: i64,
        /// Its tenant; empty for a key without a tenant.
        pub tenant: Arc<str>,
        /// The key.
        pub key: Arc<str>,
        /// Limits that jobs named.
        pub limits: StoredLimits as "policy" = "",
        /// Limits that an operator set for a while.
        pub override_limits: StoredLimits as "override" = "",
        /// End of the override.
        pub override_until: i64 = 0,
        /// Starts under a rate or throttle so far: numbers the entries of the log.
        pub starts: i64 = 0,
        /// Latest of them.
        pub last_at: i64 = 0,
        /// Nothing starts before then: a worker said so.
        pub held_until: i64 = 0,
        /// When time alone lets the next job start; 0 when none waits for that.
        pub open_at: i64 = 0,
    }
}

impl LimitRow {
    /// A key that has just been heard of.
    #[must_use]
    pub fn fresh(num: i64, tenant: &str, key: &str) -> Self {
        Self {
            num,
            tenant: tenant.into(),
            key: key.into(),
            limits: StoredLimits::None,
            override_limits: StoredLimits::None,
            override_until: 0,
            starts: 0,
            last_at: 0,
            held_until: 0,
            open_at: 0,
        }
    }

    /// The limits that hold now.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when they cannot be read: no job may start as if there were none.
    pub fn now(&self, now: i64) -> Result<Limits> {
        if self.override_until > now
            && let Some(limits) = self.readable(&self.override_limits)?
        {
            return Ok(limits);
        }
        Ok(self.readable(&self.limits)?.unwrap_or_default())
    }

    fn readable(&self, limits: &StoredLimits) -> Result<Option<Limits>> {
        let message = || {
            format!(
                "the limits of key '{}' cannot be read: set them anew with a job that names them, or override them with PUT \
                 /ojs/v1/rate-limits/{}",
                self.key, self.key
            )
        };
        Ok(limits.readable(message)?.copied())
    }
}

/// Limits as a store keeps them.
pub type StoredLimits = Kept<Limits>;

impl Object for Limits {
    fn read(object: &Map<String, Value>) -> std::result::Result<Self, OjsError> {
        Self::parse(object)
    }

    fn written(&self) -> Value {
        Value::Object(self.to_value())
    }
}

impl From<Limits> for StoredLimits {
    fn from(limits: Limits) -> Self {
        Self::Set(limits)
    }
}

/// A key with what is going on.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitView {
    /// The key.
    pub row: LimitRow,
    /// Active jobs.
    pub active: i64,
    /// Available jobs.
    pub waiting: i64,
    /// Starts in the current window.
    pub used: i64,
    /// When the window lets the next job start, if it is full.
    pub window_opens_at: Option<Timestamp>,
    /// When the throttle lets the next job start, if that is later than now.
    pub throttle_opens_at: Option<Timestamp>,
    /// The time of the reading.
    pub at: Timestamp,
}

/// Where a job stands among those of its key that nothing holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Minus the priority.
    pub rank: i32,
    /// The ticket.
    pub sort_key: i64,
}

/// A queue in which the limit alone holds jobs of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParkedQueue {
    /// Number of the queue.
    pub queue: i64,
    /// Whether it holds jobs without a version.
    pub plain: bool,
    /// Whether it holds jobs with a version.
    pub versioned: bool,
    /// Whether these are the jobs that stand in the lines of keys (`features/fair`).
    pub is_fair: bool,
}

impl ParkedQueue {
    /// The reasons that hold such jobs without a version, and with one.
    #[must_use]
    pub fn sets(is_fair: bool) -> [Holds; 2] {
        [0, 1].map(|version| {
            let line = Line { version, is_fair, ..Line::of_queue(0) };
            line.holds().with(Holds::LIMIT)
        })
    }
}

/// Which keys of a list.
#[derive(Debug, Clone, Default)]
pub struct LimitPage {
    /// Most keys.
    pub limit: usize,
    /// Keys to skip.
    pub offset: usize,
    /// Only those behind this key of this tenant.
    pub behind: Option<(String, String)>,
}

/// Jobs of keys. Sees what its own transaction has changed.
pub trait LimitTables {
    /// Queues with jobs of a key that the limit alone holds: those that stand in the lines of keys, or the others.
    fn parked_queues_of(&mut self, num: i64, is_fair: bool) -> Result<Vec<ParkedQueue>>;
}

record! {
    /// A start of a job under a rate or a throttle.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StartRow in "limit_starts" {
        key ("limited", "number");
        index AT = "limit_starts_at" ("limited", "at");
        /// Number of the key.
        pub limited: i64,
        /// Number of the start within the key.
        pub number: i64,
        /// When, milliseconds.
        pub at: i64,
    }
}

/// Keys and their starts. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait KeyTables: RecordTables {
    /// The key of a number, held until the end of the transaction.
    fn limit(&mut self, num: i64) -> Result<LimitRow> {
        let found = Records::of(self).find(LimitRow::KEY, &num, Read::Held)?;
        found.ok_or_else(|| StoreError::Failed(format!("no key with number {num}")))
    }

    /// The key of a name, to learn its number; before it is changed it is read again with [`limit`](Self::limit).
    fn find_limit(&mut self, tenant: &str, key: &str) -> Result<Option<LimitRow>> {
        Records::of(self).find(LimitRow::NAME, &(key, tenant), Read::Plain)
    }

    /// Stores a key; another writer may have done so before.
    fn add_limit(&mut self, tenant: &str, key: &str) -> Result<LimitRow> {
        let fresh = LimitRow::fresh(0, tenant, key);
        match Records::of(self).insert(&fresh)? {
            Some(num) => Ok(LimitRow { num, ..fresh }),
            None => {
                let known = self.find_limit(tenant, key)?;
                known.ok_or_else(|| StoreError::Conflict(format!("another writer is storing the key '{key}'")))
            }
        }
    }

    /// Writes everything of a key but its name.
    fn save_limit(&mut self, row: &LimitRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// A page of keys by name, and how many there are in all. With `key`, only those of that name.
    fn limits(&mut self, key: Option<&str>, page: &LimitPage) -> Result<(Vec<LimitRow>, usize)> {
        let mut all = Scan::over(LimitRow::NAME);
        if let Some(key) = &key {
            all = all.under(key);
        }
        let place = page.behind.as_ref().map(|(key, tenant)| (key.as_str(), tenant.as_str()));
        let mut some = all.clone().limit(page.limit).skip(page.offset);
        if let Some(place) = &place {
            some = some.after(place);
        }
        let mut records = Records::of(self);
        Ok((records.scan(&some)?, records.count(&all)?))
    }

    /// The same of one tenant.
    fn limits_of(&mut self, tenant: &str, key: Option<&str>, page: &LimitPage) -> Result<(Vec<LimitRow>, usize)> {
        if let Some(key) = key {
            let found: Vec<LimitRow> = self.find_limit(tenant, key)?.into_iter().collect();
            let total = found.len();
            return Ok((found, total));
        }
        let all = Scan::over(LimitRow::TENANT).under(&tenant);
        let key = page.behind.as_ref().map(|(key, _)| key.as_str());
        let mut some = all.clone().limit(page.limit).skip(page.offset);
        if let Some(key) = &key {
            some = some.above(key);
        }
        let mut records = Records::of(self);
        Ok((records.scan(&some)?, records.count(&all)?))
    }

    /// Keys that time has opened.
    fn opened(&mut self, now: i64, limit: usize) -> Result<Vec<LimitRow>> {
        Records::of(self).scan(&Scan::over(LimitRow::OPEN).to(&now).limit(limit).hold(Read::HeldIfFree))
    }

    /// When time opens the next key. Asked for at every claim; it costs nothing where there are no keys.
    fn next_opening(&mut self) -> Result<Option<i64>> {
        let first: Option<LimitRow> = Records::of(self).first(Scan::over(LimitRow::OPEN))?;
        Ok(first.map(|row| row.open_at))
    }

    /// Enters a start into the log and forgets those numbered below `keep_from`.
    fn add_start(&mut self, num: i64, number: i64, at: i64, keep_from: i64) -> Result<()> {
        let start = StartRow { limited: num, number, at };
        let old = Scan::over(StartRow::KEY).under(&num).below(&keep_from);
        Records::<StartRow, _>::of(self).change(&[Change::Put(start.cells()), Change::Remove(old)])
    }

    /// Starts after a time.
    fn starts_after(&mut self, num: i64, after: i64) -> Result<i64> {
        let starts = Records::<StartRow, _>::of(self).count(&Scan::over(StartRow::AT).under(&num).above(&after))?;
        Ok(i64::try_from(starts).unwrap_or(i64::MAX))
    }

    /// The time of a start; `None` when it is forgotten.
    fn start_at(&mut self, num: i64, number: i64) -> Result<Option<i64>> {
        let start: Option<StartRow> = Records::of(self).get(&(num, number))?;
        Ok(start.map(|start| start.at))
    }
}

impl<T: RecordTables + ?Sized> KeyTables for T {}
