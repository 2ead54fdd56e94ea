//! How a claim of several queues is divided: by the strategy of their pool, and in the order of the claim where there
//! is none.
use std::collections::BTreeSet;
use std::sync::{MutexGuard, PoisonError};

use ojs_model::{ErrorCode, JobState, OjsError, json};

use crate::error::{Applied, StoreError};
use crate::features::pools::records::{MAX_POOLS, Pool, Strategy};
use crate::features::pools::shares::{AllShares, Source, Terms};
use crate::kernel::claiming::Claiming;
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;

/// A part of a claim.
#[derive(Debug)]
enum Part {
    /// A queue without a pool.
    Queue(String),
    /// Queues of one pool.
    Pool(Box<Pool>),
}

impl Transaction<'_> {
    /// Claims from queues by the strategies of their pools; false when none of them has a pool.
    pub(crate) fn claim_by_pools(&mut self, claiming: &mut Claiming<'_>) -> Result<bool, StoreError> {
        if !self.tables.has_pools()? {
            return Ok(false);
        }
        let Some(parts) = self.parts_of(&claiming.claim.queues)? else { return Ok(false) };
        for part in parts {
            match part {
                Part::Queue(name) => drop(self.claim_some(claiming, &name, usize::MAX)?),
                Part::Pool(pool) => self.claim_from_pool(claiming, &pool)?,
            }
        }
        Ok(true)
    }

    /// The parts of a claim, in the order in which their first queues are named; `None` when no queue has a pool.
    fn parts_of(&mut self, names: &[String]) -> Result<Option<Vec<Part>>, StoreError> {
        let mut parts: Vec<Part> = Vec::new();
        for name in names {
            let Some(entry) = self.tables.pooled(name)? else {
                parts.push(Part::Queue(name.clone()));
                continue;
            };
            let known = parts.iter_mut().find_map(|part| match part {
                Part::Pool(pool) if pool.row.name == entry.pool => Some(pool),
                _ => None,
            });
            if let Some(pool) = known {
                pool.queues.push(entry);
            } else if let Some(row) = self.tables.pool(&entry.pool)? {
                parts.push(Part::Pool(Box::new(Pool { row, queues: vec![entry] })));
            }
        }
        if parts.len() > 1 {
            // An isolated pool serves only fetches that name no queue outside it.
            parts.retain(|part| !matches!(part, Part::Pool(pool) if pool.row.isolated));
        }
        let pooled = parts.len() < names.len() || parts.iter().any(|part| matches!(part, Part::Pool(_)));
        for part in &mut parts {
            if let Part::Pool(pool) = part {
                pool.queues.sort_by_key(|entry| entry.place);
                pool.queues.dedup_by(|one, other| one.queue == other.queue);
            }
        }
        Ok(pooled.then_some(parts))
    }

    /// Claims from the queues of a pool.
    fn claim_from_pool(&mut self, claiming: &mut Claiming<'_>, pool: &Pool) -> Result<(), StoreError> {
        let free = self.free_in_pool(pool)?;
        if free == 0 && claiming.wanted() > 0 {
            self.tell_overload(pool)?;
        }
        let mut left = claiming.wanted().min(free);
        let terms = Terms::of(pool);
        let mut sources = self.sources(pool)?;
        while left > 0 {
            let now = self.now.as_millis();
            let plan = self.shares().entry(pool.row.name.clone()).or_default().plan(terms, &sources, left, now);
            if plan.iter().all(|jobs| *jobs == 0) {
                break;
            }
            for (source, planned) in sources.iter_mut().zip(plan).filter(|(_, planned)| *planned > 0) {
                let got = self.claim_some(claiming, &source.queue, planned)?;
                left = left.saturating_sub(got);
                self.shares().entry(pool.row.name.clone()).or_default().gave(terms, source, got);
                // What it has not given goes to the others.
                source.is_open &= got == planned;
                source.waiting = source.waiting.saturating_sub(i64::try_from(got).unwrap_or(i64::MAX));
            }
        }
        let starved = {
            let mut all = self.shares();
            let shares = all.entry(pool.row.name.clone()).or_default();
            shares.settle(&sources);
            shares.take_starved()
        };
        for queue in starved {
            self.journal.tally.starved += 1;
            self.emit_of_pool("scheduling.queue_starved", &pool.row.name, |extra| json::push_text(extra, "queue", &queue));
        }
        Ok(())
    }

    /// Says that a pool has as many active jobs as it may, while others wait.
    fn tell_overload(&mut self, pool: &Pool) -> Result<(), StoreError> {
        let mut waiting = 0_i64;
        for entry in &pool.queues {
            waiting = waiting.saturating_add(self.jobs_of(&entry.queue, JobState::Available)?);
        }
        let now = self.now.as_millis();
        if waiting > 0 && self.shares().entry(pool.row.name.clone()).or_default().tells_overload(now) {
            self.emit_of_pool("scheduling.pool_overloaded", &pool.row.name, |extra| {
                json::push_bare(extra, "concurrency", pool.row.concurrency);
                json::push_bare(extra, "waiting", waiting);
            });
        }
        Ok(())
    }

    fn emit_of_pool(&mut self, event: &str, pool: &str, add: impl FnOnce(&mut String)) {
        let mut extra = String::new();
        json::push_text(&mut extra, "pool", pool);
        add(&mut extra);
        self.journal.other(event, self.now, pool, &extra);
    }

    fn sources(&mut self, pool: &Pool) -> Result<Vec<Source>, StoreError> {
        let mut sources = Vec::with_capacity(pool.queues.len());
        for entry in &pool.queues {
            let mut waiting = 0;
            if pool.row.strategy == Strategy::LeastLoaded {
                waiting = self.jobs_of(&entry.queue, JobState::Available)?;
            }
            sources.push(Source { queue: entry.queue.clone(), weight: entry.weight, waiting, is_open: true });
        }
        Ok(sources)
    }

    /// Jobs that a pool may hand out beside those that are active. A pool without a limit is not counted.
    fn free_in_pool(&mut self, pool: &Pool) -> Result<usize, StoreError> {
        if pool.row.concurrency == 0 {
            return Ok(usize::MAX);
        }
        // Exact among several writers: the one that counts holds the pool until its commit.
        self.tables.hold_pool(&pool.row.name)?;
        let mut active = 0_i64;
        for entry in self.tables.queues_of_pool(&pool.row.name)? {
            active = active.saturating_add(self.jobs_of(&entry.queue, JobState::Active)?);
        }
        Ok(usize::try_from(pool.row.concurrency.saturating_sub(active)).unwrap_or(0))
    }

    fn jobs_of(&mut self, queue: &str, state: JobState) -> Result<i64, StoreError> {
        let Some(queue) = self.tables.find_queue(queue)? else { return Ok(0) };
        Ok(self.counts_now(queue.num)?.get(state as usize).copied().unwrap_or(0))
    }

    /// A job is no longer active: a pool with a limit has a place for another one, which a waiting fetch may take.
    pub(crate) fn free_place_in_pool(&mut self, before: &JobRow, to: JobState) -> Result<(), StoreError> {
        if before.state != JobState::Active || to == JobState::Active || !self.tables.has_pools()? {
            return Ok(());
        }
        let queue = self.tables.queue_by_num(before.queue)?;
        let Some(entry) = self.tables.pooled(&queue.name)? else { return Ok(()) };
        if self.tables.pool(&entry.pool)?.is_none_or(|pool| pool.concurrency == 0) {
            return Ok(());
        }
        for entry in self.tables.queues_of_pool(&entry.pool)? {
            if let Some(queue) = self.tables.find_queue(&entry.queue)? {
                *self.ready.entry(queue.num).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Registers a pool, or replaces the one of its name.
    pub(crate) fn put_pool(&mut self, pool: &Pool) -> Applied<(Pool, bool)> {
        let known = self.tables.pool(&pool.row.name)?;
        if known.is_none() && self.tables.pools()?.len() >= MAX_POOLS {
            let message = format!("There are {MAX_POOLS} pools, which is the most that a server keeps.");
            return Err(OjsError::new(ErrorCode::Conflict, message)
                .with_details(serde_json::json!({"reason": "too_many_pools", "max_pools": MAX_POOLS}))
                .into());
        }
        for queue in &pool.queues {
            if let Some(other) = self.tables.pooled(&queue.queue)?.filter(|entry| entry.pool != pool.row.name) {
                return Err(taken(&queue.queue, &other.pool).into());
            }
        }
        let mut pool = pool.clone();
        pool.row.created_at = known.as_ref().map_or(pool.row.updated_at, |row| row.created_at);
        self.tables.put_pool(&pool)?;
        self.emit_of_pool("scheduling.rebalanced", &pool.row.name, |extra| {
            json::push_text(extra, "strategy", pool.row.strategy.as_str());
        });
        // What a fetch that waits may be given is another question now.
        self.call_all_waiters()?;
        Ok((pool, known.is_some()))
    }

    /// Deletes a pool.
    pub(crate) fn delete_pool(&mut self, name: &str) -> Applied<()> {
        if self.tables.pool(name)?.is_none() {
            return Err(OjsError::not_found("pool", name).into());
        }
        self.tables.delete_pool(name)?;
        self.shares().remove(name);
        Ok(self.call_all_waiters()?)
    }

    /// Forgets what queues have given.
    pub(crate) fn forget_shares(&mut self) {
        self.shares().clear();
    }

    /// Of all writers of the process: the next claim may come to another one.
    fn shares(&self) -> MutexGuard<'_, AllShares> {
        // Each value is whole after every statement.
        self.counters.kept.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken(queue: &str, pool: &str) -> OjsError {
    OjsError::new(ErrorCode::Conflict, format!("Queue '{queue}' belongs to pool '{pool}'."))
        .with_details(serde_json::json!({"reason": "queue_in_pool", "field": "queues", "queue": queue, "pool": pool}))
        .with_hint("A queue belongs to one pool at most: take it out of the other one first.")
}

/// Whether no queue is named twice.
pub(crate) fn are_different<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = BTreeSet::new();
    names.into_iter().all(|name| seen.insert(name))
}
