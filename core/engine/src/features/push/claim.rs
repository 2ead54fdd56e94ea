//! Claims for endpoints: as those of workers, but the holder of each job is chosen when it is found.
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ojs_model::Timestamp;

use super::delivery::Delivery;
use super::health::Room;
use super::line::{Choice, Line, Shut, Strides};
use super::pattern::fits;
use super::records::{EndpointRow, PushTables};
use super::routing::Job;
use crate::error::{Applied, StoreError};
use crate::kernel::claiming::{Assign, Holder};
use crate::kernel::command::Claim;
use crate::kernel::job::{Body, JobRow, JobView};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::Command;
use crate::store::names::JobTypeRow;
use crate::store::record::{Read, Records, Scan};
use crate::store::selection::Selection;
use crate::store::tables::Tables;

/// Milliseconds of a lease beyond the time for the answer: to settle it, also when the store is slow.
const LEASE_MARGIN_MS: i64 = 30_000;
/// Milliseconds after which an endpoint is asked again that other nodes keep busy.
const FULL_PAUSE_MS: i64 = 1_000;

/// Claims jobs of a queue for its endpoints.
#[derive(Debug)]
pub(crate) struct ClaimDeliveries {
    /// The endpoints.
    pub(crate) line: Arc<Line>,
    /// At most so many jobs.
    pub(crate) count: usize,
    /// As many as the endpoints have room for, as far as the node knows.
    pub(crate) room: usize,
    /// So many more deliveries the node has room for; endpoints share them.
    pub(crate) spare: usize,
    /// Indexes of endpoints that have room, although the node's counts say they are full: some of their jobs have just
    /// ended.
    pub(crate) freed: BTreeSet<usize>,
    /// The time by which the node knows which endpoints have room.
    pub(crate) now: i64,
}

/// What was claimed.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// To be sent, by the places of their endpoints in the line.
    pub(crate) deliveries: Vec<(usize, Delivery)>,
    /// Endpoints that were found to take nothing now.
    pub(crate) shut: Vec<(usize, Shut)>,
    /// Endpoints that were chosen among several.
    pub(crate) choices: Vec<Choice>,
    /// When to look again, if nothing happens before.
    pub(crate) next_at: Option<i64>,
    /// The time of the transaction.
    pub(crate) now: Timestamp,
}

impl Command for ClaimDeliveries {
    type Reply = Claimed;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Claimed> {
        let now = transaction.now;
        let mut chooser = Chooser::new(self);
        let mut jobs = Vec::new();
        transaction.retry_at = None;
        if transaction.tables.maintenance()?.is_none()
            && let Some(mut claim) = self.claim(transaction)?
        {
            // Jobs that no endpoint has room for would be read in vain.
            claim.count = self.room.min(self.count);
            jobs = transaction.claim_for(&claim, None, &mut chooser)?;
            if jobs.is_empty() && claim.count < self.count && chooser.may_have_room() {
                // Something holds back the first ones, such as a limit. Others behind them may be claimed.
                claim.count = self.count;
                jobs = transaction.claim_for(&claim, None, &mut chooser)?;
            }
        }
        let retry_at = transaction.retry_at.take();
        transaction.is_picky = false;
        chooser.finish(transaction, jobs, now, retry_at)
    }

    /// A claim that a power cut takes away leaves the job available.
    fn is_durable(&self) -> bool {
        false
    }

    fn weight(&self) -> usize {
        self.count
    }
}

impl ClaimDeliveries {
    /// The claim for the types that endpoints with room take; `None` when there are no such types.
    fn claim(&self, transaction: &mut Transaction<'_>) -> Applied<Option<Claim>> {
        let wanted = self.line.wanted(self.now, &self.freed);
        let mut types: Vec<String> = Vec::new();
        if !wanted.globs.contains("*") {
            types.extend(wanted.names);
            if !wanted.globs.is_empty() {
                let known: Vec<JobTypeRow> = Records::of(transaction.tables).scan(&Scan::over(JobTypeRow::NAME))?;
                let named = known.iter().filter(|row| wanted.globs.iter().any(|pattern| fits(pattern, &row.name)));
                types.extend(named.map(|row| row.name.to_string()));
            }
            if types.is_empty() {
                return Ok(None);
            }
        }
        let queues = vec![self.line.queue.clone()];
        Ok(Some(Claim { queues, count: self.count, fenced: true, types, ..Claim::default() }))
    }
}

/// What an endpoint may take in this transaction.
struct Gate {
    holder: Holder,
    row: Arc<EndpointRow>,
    free: usize,
    is_probe: bool,
    shut: Option<Shut>,
}

/// Chooses an endpoint for each job.
struct Chooser<'c> {
    claim: &'c ClaimDeliveries,
    strides: Strides,
    choices: Vec<Choice>,
    /// The place that was chosen last, and how it was chosen among several.
    latest: Option<(usize, Option<Choice>)>,
    /// Those that were looked at, by their places; `None` for one that is gone or was changed.
    gates: HashMap<usize, Option<Gate>>,
}

impl Assign for Chooser<'_> {
    fn holder(
        &mut self,
        tables: &mut dyn Tables,
        now: Timestamp,
        row: &JobRow,
        body: &Body,
    ) -> Result<Option<Holder>, StoreError> {
        let job_type = tables.job_type_name(row.job_type_id)?;
        let job = Job { job_type: &job_type, queue: &self.claim.line.queue, text: &body.text };
        let mut candidates = Vec::new();
        for place in self.claim.line.takers(&job_type) {
            let weight = self.claim.line.weight(place, &job);
            if weight > 0 && self.gate(tables, now, place)?.is_some_and(|gate| gate.free > 0) {
                candidates.push((place, weight));
            }
        }
        self.latest = match candidates.as_slice() {
            [(only, _)] => Some((*only, None)),
            several => self.strides.next(row.job_type_id, several).map(|choice| (choice.place, Some(choice))),
        };
        let gate = self.latest.and_then(|(place, _)| self.gates.get(&place)?.as_ref());
        Ok(gate.map(|gate| gate.holder.clone()))
    }

    fn started(&mut self) {
        let Some((place, choice)) = self.latest.take() else { return };
        if let Some(gate) = self.gates.get_mut(&place).and_then(Option::as_mut) {
            gate.free = gate.free.saturating_sub(1);
        }
        if let Some(choice) = choice {
            self.strides.note(&choice);
            self.choices.push(choice);
        }
    }
}

impl<'c> Chooser<'c> {
    fn new(claim: &'c ClaimDeliveries) -> Self {
        Self { claim, strides: claim.line.strides().clone(), choices: Vec::new(), latest: None, gates: HashMap::new() }
    }

    /// Whether an endpoint takes jobs that it was not asked about yet, or has room for more.
    fn may_have_room(&self) -> bool {
        let has_room = |gate: &Option<Gate>| gate.as_ref().is_some_and(|gate| gate.free > 0);
        let mut open = self.claim.line.open(self.claim.now, &self.claim.freed);
        open.any(|(place, _)| self.gates.get(&place).is_none_or(has_room))
    }

    fn gate(&mut self, tables: &mut dyn Tables, now: Timestamp, place: usize) -> Result<Option<&mut Gate>, StoreError> {
        if !self.gates.contains_key(&place) {
            let gate = self.look(tables, now, place)?;
            self.gates.insert(place, gate);
        }
        Ok(self.gates.get_mut(&place).and_then(Option::as_mut))
    }

    /// Looks how much an endpoint may take. Its row is held until the commit, so several nodes count one after the
    /// other.
    fn look(&self, tables: &mut dyn Tables, now: Timestamp, place: usize) -> Result<Option<Gate>, StoreError> {
        let Some(target) = self.claim.line.targets.get(place) else { return Ok(None) };
        let row = tables.endpoint(target.row.id, Read::Held)?;
        // One that was changed is about to be read anew by this node.
        let Some(row) = row.filter(|row| row.updated_at == target.row.updated_at) else { return Ok(None) };
        let worker = tables.worker(&row.worker_id())?;
        let now = now.as_millis();
        let most = usize::try_from(row.max_concurrency).unwrap_or(0);
        let (free, shut) = match row.room(now) {
            Room::Closed(until) => (0, Some(Shut::Until(until))),
            Room::Probe => (1, None),
            Room::Free => {
                let held = tables.count(&Selection::HeldBy { worker: worker.num }, most)?;
                let free = most.saturating_sub(held).min(target.share(self.claim.spare));
                (free, (free == 0).then_some(Shut::Full))
            }
        };
        let lease_ms = Some(row.timeout_ms.saturating_add(LEASE_MARGIN_MS));
        let holder = Holder { worker: worker.num, id: worker.id, lease_ms };
        let is_probe = row.room(now) == Room::Probe;
        Ok(Some(Gate { holder, row: Arc::new(row), free, is_probe, shut }))
    }

    /// An endpoint was found to take nothing although this node thought it would. Until the commit, this claim holds
    /// jobs that it has left in their line, and claims of others pass them over: those look again.
    fn call_others(&self, transaction: &mut Transaction<'_>, place: usize, now: i64) -> Result<(), StoreError> {
        let is_news = self.claim.line.targets.get(place).is_some_and(|target| target.is_open(now));
        if is_news
            && transaction.tables.is_shared()
            && let Some(queue) = transaction.tables.find_queue(&self.claim.line.queue)?
        {
            *transaction.ready.entry(queue.num).or_default() += 1;
        }
        Ok(())
    }

    /// Pairs the jobs with their endpoints.
    fn finish(
        mut self,
        transaction: &mut Transaction<'_>,
        jobs: Vec<JobView>,
        now: Timestamp,
        retry_at: Option<i64>,
    ) -> Applied<Claimed> {
        let mut deliveries = Vec::with_capacity(jobs.len());
        for job in jobs {
            let holds = |gate: &&mut Gate| gate.holder.worker == job.row.worker;
            let found = self.gates.iter_mut().find_map(|(place, gate)| Some((*place, gate.as_mut().filter(holds)?)));
            let Some((place, gate)) = found else { continue };
            if std::mem::take(&mut gate.is_probe) {
                Arc::make_mut(&mut gate.row).probe_until = job.row.lease_until;
                transaction.tables.put_endpoint(&gate.row)?;
                gate.shut = Some(Shut::Until(job.row.lease_until));
            }
            deliveries.push((place, Delivery { endpoint: Arc::clone(&gate.row), job, at: now }));
        }
        let mut next_at = retry_at;
        let mut shut = Vec::new();
        for (place, gate) in &self.gates {
            // One that has just been filled is full for the next look.
            let why = match gate {
                // Gone or changed: this node is about to learn of it.
                None => Some(Shut::Full),
                Some(gate) => gate.shut.or_else(|| (gate.free == 0).then_some(Shut::Full)),
            };
            let Some(why) = why else { continue };
            shut.push((*place, why));
            let at = match why {
                Shut::Full => now.as_millis().saturating_add(FULL_PAUSE_MS),
                Shut::Until(at) => at,
            };
            next_at = Some(next_at.map_or(at, |earlier| earlier.min(at)));
            self.call_others(transaction, *place, now.as_millis())?;
        }
        Ok(Claimed { deliveries, shut, choices: self.choices, next_at, now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::push::line::Target;
    use crate::features::push::register::blank;
    use crate::outgoing::Secret;

    fn claim(targets: Vec<Arc<Target>>) -> ClaimDeliveries {
        let line = Arc::new(Line::new("q", targets));
        ClaimDeliveries { line, count: 9, room: 1, spare: 9, freed: BTreeSet::new(), now: 0 }
    }

    fn gate(free: usize) -> Option<Gate> {
        let row = Arc::new(blank(Secret::default(), Timestamp::from_millis(1)));
        Some(Gate { holder: Holder { worker: 1, id: Arc::default(), lease_ms: None }, row, free, is_probe: false, shut: None })
    }

    #[test]
    fn jobs_behind_the_first_ones_are_read_for_endpoints_that_may_have_room() {
        let target = || Arc::new(Target::new(blank(Secret::default(), Timestamp::from_millis(1))));
        let claim = claim(vec![target(), target()]);
        let mut chooser = Chooser::new(&claim);
        assert!(chooser.may_have_room(), "none was asked");
        chooser.gates.insert(0, gate(0));
        assert!(chooser.may_have_room(), "one was not asked");
        chooser.gates.insert(1, gate(1));
        assert!(chooser.may_have_room(), "one has room");
        chooser.gates.insert(1, None);
        assert!(!chooser.may_have_room(), "one is full, the other one is gone");
    }

    #[test]
    fn a_job_that_is_held_back_takes_no_room() {
        let claim = claim(Vec::new());
        let mut chooser = Chooser::new(&claim);
        chooser.gates.insert(0, gate(1));
        let free = |chooser: &Chooser<'_>| chooser.gates[&0].as_ref().unwrap().free;
        chooser.latest = Some((0, None));
        assert_eq!(free(&chooser), 1);
        chooser.started();
        chooser.started();
        assert_eq!((free(&chooser), chooser.choices.len()), (0, 0));
        chooser.latest = Some((0, Some(Choice { job_type: 1, place: 0, weight: 1 })));
        chooser.started();
        assert_eq!(chooser.choices.len(), 1);
    }
}
