//! Which jobs of a shared queue a claim gets: the highest priority first, and among jobs of one priority the keys in
//! turn.
//!
//! A claim asks for the next keys after the one that was served last, divides what it wants among them by their
//! weights, and reads the heads of their lines. What it costs depends on the jobs that it hands out, not on those that
//! wait.
use std::hash::BuildHasher;
use std::sync::{MutexGuard, PoisonError};

use foldhash::HashMap;
use foldhash::fast::FixedState;

use crate::features::fair::records::{FairKey, FairQueue, Share};
use crate::features::fair::rounds::{Pick, Position, Round, Rounds, divide};
use crate::features::fair::rules::Stored;
use crate::features::fair::weights::key_of_tenant;
use crate::kernel::claiming::{Chosen, Claiming};
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, JobRow, Line};
use crate::kernel::transaction::Transaction;
use crate::store::heads::Heads;

/// Jobs of one key that a claim looks at which can take some of them only.
const FRONT: usize = 4_000;
/// The lines of keys: jobs without a version, and jobs with one.
const LINES: [Holds; 2] = [Holds::FAIR_SHARE, Holds::FAIR_SHARE.with(Holds::VERSION)];

/// What a claim can take out of a queue.
struct Filter {
    /// The one tenant whose jobs it sees.
    tenant: Option<i64>,
    /// The job types that it names.
    job_type_ids: Option<Vec<i64>>,
    /// The versions that its worker runs; `None` for all.
    versions: Option<Vec<Line>>,
    /// Whether jobs of the queue may have versions.
    has_versions: bool,
    /// A number of all this; 0 when it can take everything.
    number: u64,
}

impl Filter {
    fn fits(&self, row: &JobRow) -> bool {
        let line = Line { is_fair: false, ..row.line() };
        self.job_type_ids.as_ref().is_none_or(|ids| ids.contains(&row.job_type_id))
            && (row.version == 0 || self.versions.as_ref().is_none_or(|lines| lines.contains(&line)))
    }

    /// Whether it may pass over jobs of a key.
    fn is_narrow(&self) -> bool {
        self.job_type_ids.is_some() || self.versions.is_some()
    }

    /// The lines in which jobs may stand.
    fn lines(&self) -> &'static [Holds] {
        let (plain, all) = (LINES.split_at(1).0, LINES.as_slice());
        if self.has_versions { all } else { plain }
    }
}

/// A part of a round: keys, and how a claim is divided among them.
struct Part {
    keys: Vec<FairKey>,
    picks: Vec<Pick>,
}

impl Transaction<'_> {
    /// Jobs of a shared queue for a claim; `None` when the lines of its keys have none that it can take.
    pub(crate) fn choose_by_key(&mut self, claiming: &Claiming<'_>, queue: i64, wanted: usize) -> Stored<Option<Chosen>> {
        let Some(mut sharing) = self.sharing(queue)? else { return Ok(None) };
        if sharing.sorting > 0 {
            self.sort_queue(&sharing)?;
            sharing = self.sharing(queue)?.unwrap_or(sharing);
        }
        let filter = self.filter_of(claiming, queue)?;
        let mut priority = None;
        while let Some(next) = self.next_priority(queue, priority, &filter)? {
            priority = Some(next);
            let round = Round { queue, priority: next, filter: filter.number };
            let jobs = self.choose_in_round(&sharing, round, &filter, wanted)?;
            if !jobs.is_empty() {
                return Ok(Some(Chosen { jobs, is_last: false }));
            }
        }
        Ok(None)
    }

    fn filter_of(&mut self, claiming: &Claiming<'_>, queue: i64) -> Stored<Filter> {
        let has_versions = self.tables.has_versions(queue)?;
        let versions = if has_versions && self.features.runs.is_some() { Some(self.lines_for(claiming, queue)?) } else { None };
        let mut filter = Filter {
            tenant: self.tables.names().scope.num(),
            job_type_ids: claiming.job_type_ids.clone(),
            versions,
            has_versions,
            number: 0,
        };
        if filter.tenant.is_some() || filter.is_narrow() {
            // Rounds are kept in memory only, so the number need not be the same in another process.
            filter.number = FixedState::default().hash_one((&filter.tenant, &filter.job_type_ids, &filter.versions)) | 1;
        }
        Ok(filter)
    }

    /// The highest priority of jobs in the lines of a queue, below the one before.
    fn next_priority(&mut self, queue: i64, before: Option<i32>, filter: &Filter) -> Stored<Option<i32>> {
        let mut highest: Option<i32> = None;
        for holds in filter.lines() {
            let (first, end) = holds.ranks();
            let from = before.map_or(first, |priority| holds.rank(priority) + 1);
            let found = self.tables.fair_rank(queue, from, end)?.map(|rank| Holds::of_rank(rank).1);
            highest = highest.max(found);
        }
        Ok(highest)
    }

    /// Goes on with a round until the claim has found jobs, or has seen all keys.
    fn choose_in_round(
        &mut self,
        sharing: &FairQueue,
        round: Round,
        filter: &Filter,
        wanted: usize,
    ) -> Stored<Vec<(JobRow, Body)>> {
        let mut position = self.rounds().of(round);
        // The key whose turn is not over comes first.
        let begin = if position.left > 0 { position.key - 1 } else { position.key };
        let (mut from, mut has_turned) = (begin, false);
        loop {
            // One more than are wanted tells whether there are others.
            let mut keys = self.keys_after(sharing, round, filter, from, wanted + 1)?;
            if has_turned {
                keys.retain(|key| key.key <= begin);
            } else if keys.len() <= wanted {
                let others = self.keys_after(sharing, round, filter, 0, wanted + 1 - keys.len())?;
                keys.extend(others.into_iter().filter(|key| key.key <= begin));
            }
            let has_more = keys.len() > wanted;
            keys.truncate(wanted);
            let Some(last) = keys.last().map(|last| last.key) else { return Ok(Vec::new()) };
            keys.retain(|key| filter.tenant.is_none_or(|tenant| tenant == key.tenant));
            let part = self.part_of(sharing, keys, position, from == begin && !has_more, wanted)?;
            let (jobs, next) = self.heads_of(round, filter, &part, wanted)?;
            if !jobs.is_empty() {
                self.rounds().set(round, next);
            }
            if !jobs.is_empty() || !has_more {
                return Ok(jobs);
            }
            has_turned = last <= begin;
            (from, position) = (last, Position::default());
        }
    }

    /// Divides a claim among keys that come next.
    fn part_of(
        &mut self,
        sharing: &FairQueue,
        keys: Vec<FairKey>,
        position: Position,
        is_whole: bool,
        wanted: usize,
    ) -> Stored<Part> {
        let first = keys.first().filter(|first| first.key == position.key).map_or(0, |_| position.left);
        let weights = keys.iter().map(|key| self.weight_of(sharing, key)).collect::<Stored<Vec<_>>>()?;
        let picks = divide(&weights, first, is_whole, wanted);
        Ok(Part { keys, picks })
    }

    /// The next keys that have jobs of a priority, of both kinds of lines.
    fn keys_after(
        &mut self,
        sharing: &FairQueue,
        round: Round,
        filter: &Filter,
        after: i64,
        limit: usize,
    ) -> Stored<Vec<FairKey>> {
        if let (Share::Tenant, Some(tenant)) = (sharing.share, filter.tenant) {
            // The claim sees one line only.
            let own = FairKey { key: key_of_tenant(tenant), tenant };
            return Ok(if own.key > after { vec![own] } else { Vec::new() });
        }
        let mut keys = Vec::new();
        for holds in filter.lines() {
            keys.extend(self.tables.fair_keys(round.queue, holds.rank(round.priority), after, limit)?);
        }
        if filter.has_versions {
            keys.sort_unstable_by_key(|key| key.key);
            keys.dedup();
            keys.truncate(limit);
        }
        Ok(keys)
    }

    /// The heads of lines in the order in which they were picked, and where the round stands then.
    fn heads_of(&mut self, round: Round, filter: &Filter, part: &Part, wanted: usize) -> Stored<(Vec<(JobRow, Body)>, Position)> {
        let mut counts = vec![0_usize; part.keys.len()];
        for pick in &part.picks {
            counts.get_mut(pick.place).into_iter().for_each(|count| *count += 1);
        }
        let of_key = part.keys.iter().zip(counts).filter(|(_, count)| *count > 0);
        let asked: Vec<(i64, usize)> = of_key.map(|(key, count)| (key.key, count)).collect();
        let mut lines = self.lines_of(round, filter, &asked)?;
        let (mut jobs, mut position) = (Vec::with_capacity(wanted), Position::default());
        for pick in &part.picks {
            let Some(key) = part.keys.get(pick.place).map(|key| key.key) else { continue };
            let head = lines.get_mut(&key).and_then(Vec::pop);
            // A key that has no more jobs does not save up the rest of its turn.
            position = Position { key, left: if head.is_some() { pick.left } else { 0 } };
            jobs.extend(head);
        }
        Ok((jobs, position))
    }

    /// The heads of the lines of keys that a claim can take, the best last.
    fn lines_of(&mut self, round: Round, filter: &Filter, asked: &[(i64, usize)]) -> Stored<HashMap<i64, Vec<(JobRow, Body)>>> {
        let mut lines: HashMap<i64, Vec<(JobRow, Body)>> = HashMap::default();
        let mut left = 0;
        for holds in filter.lines() {
            let rank = holds.rank(round.priority);
            let queue = round.queue;
            let mut found = self.tables.ready(&Heads::Keys { queue, rank, wanted: asked })?;
            let looked = found.len();
            found.retain(|(row, _)| filter.fits(row));
            if found.len() < looked {
                // Jobs that the claim cannot take stand in front: it looks further.
                let deeper: Vec<(i64, usize)> = asked.iter().map(|(key, _)| (*key, FRONT)).collect();
                found = self.tables.ready(&Heads::Keys { queue, rank, wanted: &deeper })?;
                let looked = found.len();
                found.retain(|(row, _)| filter.fits(row));
                left += looked - found.len();
            }
            for (row, body) in found {
                lines.entry(row.fair).or_default().push((row, body));
            }
        }
        for (key, count) in asked {
            let Some(line) = lines.get_mut(key) else { continue };
            line.sort_by_key(|(row, _)| row.sort_key);
            left += line.len().saturating_sub(*count);
            line.truncate(*count);
            line.reverse();
        }
        if left > 0 && self.tables.is_shared() {
            // This transaction has locked what it leaves, so claims of other writers may have passed over it.
            *self.ready.entry(round.queue).or_default() += left;
        }
        Ok(lines)
    }

    /// How often a key is served in a round.
    fn weight_of(&mut self, sharing: &FairQueue, key: &FairKey) -> Stored<i64> {
        let weights = sharing.weights.known();
        if let Some(weight) = weights.and_then(|weights| weights.of_key(key.key, key.tenant)) {
            return Ok(weight);
        }
        if key.key != key_of_tenant(key.tenant) {
            return Ok(sharing.default_weight);
        }
        self.weight_of_tenant(sharing, key.tenant)
    }

    /// How often a tenant is served in a round: by the queue, else by the limits of the tenant.
    fn weight_of_tenant(&mut self, sharing: &FairQueue, tenant: i64) -> Stored<i64> {
        let weights = sharing.weights.known();
        let by_queue = |id: &str| weights.and_then(|weights| weights.of_tenant(id));
        if tenant == 0 {
            return Ok(by_queue(ojs_model::envelope::DEFAULT_TENANT).unwrap_or(sharing.default_weight));
        }
        let Some(row) = self.tables.tenant(tenant)? else { return Ok(sharing.default_weight) };
        Ok(by_queue(&row.id).or_else(|| row.weight()).unwrap_or(sharing.default_weight))
    }

    /// Of all writers of the process: the next claim may come to another one.
    pub(super) fn rounds(&self) -> MutexGuard<'_, Rounds> {
        // Each value is whole after every statement.
        self.counters.kept.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
