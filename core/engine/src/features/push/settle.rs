//! Outcomes of deliveries, and claims for the room that their jobs leave, in one transaction.
use std::collections::BTreeSet;
use std::sync::Arc;

use ojs_model::OjsError;
use tokio::sync::OwnedSemaphorePermit;

use super::claim::{ClaimDeliveries, Claimed};
use super::line::{Flight, Line};
use crate::error::Applied;
use crate::kernel::command::{Exchange, Finished};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Apart, Command};
use crate::store::wanted::Wanted;

/// Most claims of a command. Lines beyond it claim by themselves.
const MOST_CLAIMS: usize = 8;

/// Writes outcomes, each on its own, then claims.
#[derive(Debug)]
pub(super) struct Settle {
    /// The outcomes, without a claim of a worker.
    pub(super) outcomes: Exchange,
    /// What to claim afterwards.
    pub(super) claims: Vec<ClaimDeliveries>,
}

/// The reply to [`Settle`].
#[derive(Debug)]
pub(super) struct Settled {
    /// One per outcome, in order.
    pub(super) results: Vec<Result<Finished, OjsError>>,
    /// One per claim, in order; none where the store does not claim in this way.
    pub(super) claimed: Vec<Claimed>,
}

impl Command for Settle {
    type Reply = Settled;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Settled> {
        let results = self.outcomes.apply(transaction)?.results;
        // On a shared store the claim holds the row of the endpoint, for which other nodes wait. The commit of outcomes
        // is durable, which takes longer than the commit of a claim.
        let claims = if transaction.tables.is_shared() { &[] } else { self.claims.as_slice() };
        let claimed = claims.iter().map(|claim| claim.apply(transaction)).collect::<Applied<_>>()?;
        Ok(Settled { results, claimed })
    }

    fn is_durable(&self) -> bool {
        self.outcomes.is_durable()
    }

    fn weight(&self) -> usize {
        self.outcomes.weight() + self.claims.iter().map(Command::weight).sum::<usize>()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.outcomes.wants(wanted);
    }

    /// Without the claims: the lines claim by themselves then.
    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<Settled>> {
        let written = match self.outcomes.apply_apart(writer) {
            None if self.claims.is_empty() => return None,
            None => writer.execute(self.outcomes.clone()),
            Some(written) => written,
        };
        Some(written.map(|exchanged| Settled { results: exchanged.results, claimed: Vec::new() }))
    }
}

/// Jobs of a line that end together, and what is claimed in their place.
#[derive(Debug)]
pub(super) struct Freed {
    /// Where they come from.
    pub(super) line: Arc<Line>,
    /// The places of their endpoints.
    places: BTreeSet<usize>,
    jobs: usize,
}

impl Freed {
    /// Those of the flights whose room is claimed by the command that writes their outcomes, by line.
    pub(super) fn of<'f>(flights: impl Iterator<Item = &'f Flight>, now: i64) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for flight in flights.filter(|flight| flight.is_replaced(now)) {
            let known = all.iter().position(|freed| Arc::ptr_eq(&freed.line, &flight.line));
            if known.is_none() && all.len() < MOST_CLAIMS {
                all.push(Self { line: Arc::clone(&flight.line), places: BTreeSet::new(), jobs: 0 });
            } else if known.is_none() {
                continue;
            }
            let place = known.unwrap_or(all.len() - 1);
            if let Some(freed) = all.get_mut(place) {
                freed.jobs += 1;
                freed.places.insert(flight.place);
            }
        }
        all
    }

    /// As many jobs as end.
    pub(super) fn claim(&self, now: i64) -> ClaimDeliveries {
        let (count, freed) = (self.jobs, self.places.clone());
        // They take the places of jobs that end, so the endpoint takes no more of the node.
        ClaimDeliveries { line: Arc::clone(&self.line), count, room: count, spare: usize::MAX, freed, now }
    }

    /// Takes the permits of its flights, which have ended, for the jobs that were claimed; leaves the other flights.
    pub(super) fn take_over(&self, flights: &mut Vec<Flight>) -> Option<OwnedSemaphorePermit> {
        let is_ours = |flight: &mut Flight| Arc::ptr_eq(&flight.line, &self.line) && self.places.contains(&flight.place);
        flights.extract_if(.., is_ours).filter_map(Flight::hand_over).reduce(|mut permits, more| {
            permits.merge(more);
            permits
        })
    }

    /// Calls the line for endpoints at which the claim has left room: it found no more jobs for them. `shut` are the
    /// places of those that it has found shut.
    pub(super) fn call(&self, shut: &BTreeSet<usize>) {
        for place in self.places.difference(shut) {
            if let Some(target) = self.line.targets.get(*place) {
                target.has_room();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::Timestamp;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::features::push::line::{Shut, Target};
    use crate::features::push::records::EndpointRow;
    use crate::features::push::register::blank;
    use crate::outgoing::Secret;

    fn line(job_types: &[&str], routing: &str) -> Arc<Line> {
        let target = |types: &&str| {
            let (job_types, routing) = ((*types).to_owned(), routing.to_owned());
            let row = EndpointRow { job_types, routing, ..blank(Secret::default(), Timestamp::from_millis(1)) };
            Arc::new(Target::new(row))
        };
        Arc::new(Line::new("q", job_types.iter().map(target).collect()))
    }

    /// A job on its way to the endpoint at a place.
    fn flight(line: &Arc<Line>, place: usize, permits: &Arc<Semaphore>) -> Flight {
        Flight::new(line, place, Arc::clone(permits).try_acquire_owned().unwrap()).unwrap()
    }

    #[test]
    fn jobs_that_end_at_full_endpoints_are_replaced_line_by_line() {
        let permits = Arc::new(Semaphore::new(9));
        let (one, other) = (line(&["a", "b"], ""), line(&["a"], ""));
        let mut flights: Vec<Flight> =
            [(&one, 0), (&one, 1), (&other, 0), (&one, 0)].map(|(line, place)| flight(line, place, &permits)).into();
        assert!(Freed::of(flights.iter(), 0).is_empty(), "no endpoint is known to be full: there may be no more jobs");
        for line in [&one, &other] {
            assert!(line.targets[0].shut(Shut::Full, 0, 0));
        }
        let freed = Freed::of(flights.iter(), 0);
        let claims: Vec<_> = freed.iter().map(|freed| freed.claim(0)).collect();
        assert_eq!(claims.iter().map(|claim| (claim.count, claim.room)).collect::<Vec<_>>(), [(2, 2), (1, 1)]);
        assert!(claims.iter().all(|claim| claim.freed == BTreeSet::from([0])));
        let handed = freed[0].take_over(&mut flights).unwrap();
        assert_eq!((handed.num_permits(), permits.available_permits(), flights.len()), (2, 5, 2), "the permits stay in use");
        assert!(freed[1].take_over(&mut flights).is_some() && freed[1].take_over(&mut flights).is_none());
    }

    #[test]
    fn a_line_that_gets_fewer_jobs_than_have_ended_is_called() {
        let permits = Arc::new(Semaphore::new(1));
        let line = line(&["a"], "");
        assert!(line.targets[0].shut(Shut::Full, 0, 0));
        let freed = Freed::of([flight(&line, 0, &permits)].iter(), 0);
        freed[0].call(&BTreeSet::from([0]));
        assert!(!line.targets[0].is_open(0), "the claim has filled it again");
        freed[0].call(&BTreeSet::new());
        assert!(line.targets[0].is_open(0));
    }

    #[test]
    fn jobs_of_lines_that_claim_otherwise_are_not_replaced() {
        let permits = Arc::new(Semaphore::new(1));
        let is_replaced = |line: &Arc<Line>| {
            line.targets[0].shut(Shut::Full, 0, 0);
            !Freed::of([flight(line, 0, &permits)].iter(), 0).is_empty()
        };
        let plain = line(&["a"], "");
        assert!(is_replaced(&plain));
        let several = Line::new("r", plain.targets.clone());
        assert!(!is_replaced(&plain), "its endpoint takes jobs of '{}', too", several.queue);
        drop(several);
        assert!(is_replaced(&plain));
        plain.targets[0].shut(Shut::Until(7), 0, 0);
        assert!(!is_replaced(&plain), "its endpoint wants a pause");
        assert!(!is_replaced(&line(&["a"], r#"{"rules":[{"match":{"job_type":"x"},"weight":0}]}"#)));
        let stopped = line(&["a"], "");
        stopped.stop.cancel();
        assert!(!is_replaced(&stopped));
    }
}
