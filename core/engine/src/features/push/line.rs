//! Which endpoints take jobs of a queue, and which of them takes the next one.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::pattern::{fits, is_glob};
use super::records::EndpointRow;
use super::routing::{Job, Routing};
use super::sqs::QueueAddress;

/// How long it takes until an endpoint is asked again that was found full.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// An endpoint as a node knows it.
#[derive(Debug)]
pub(crate) struct Target {
    /// As it was when the node last read it.
    pub(crate) row: EndpointRow,
    /// Its rules.
    pub(crate) routing: Routing,
    /// Set for a queue of Amazon SQS.
    pub(crate) queue: Option<QueueAddress>,
    /// Until when it takes nothing, by the clock of the store.
    closed_until: AtomicI64,
    /// It holds as many jobs as it may.
    full: AtomicBool,
    /// Jobs that this node has settled, without those whose room was claimed in the same transaction.
    ended: AtomicU64,
    /// Jobs that this node has claimed for it and not settled yet.
    sending: AtomicUsize,
    /// A delivery has failed, and none has succeeded since.
    pub(crate) troubled: AtomicBool,
    /// Called when it has room again.
    lines: Mutex<Vec<Weak<Notify>>>,
}

/// Why an endpoint takes nothing now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shut {
    /// It holds as many jobs as it may.
    Full,
    /// Because of what its answers have said, until then.
    Until(i64),
}

impl Target {
    pub(crate) fn new(row: EndpointRow) -> Self {
        Self {
            // Without its rules it would be sent jobs that they keep from it.
            routing: Routing::stored(&row.routing).unwrap_or_else(|cause| {
                tracing::error!(%cause, endpoint = %row.id, "push: rules cannot be read; no jobs are sent until routing is set");
                Routing::closed()
            }),
            queue: QueueAddress::stored(&row.endpoint),
            row,
            closed_until: AtomicI64::new(0),
            full: AtomicBool::new(false),
            ended: AtomicU64::new(0),
            sending: AtomicUsize::new(0),
            troubled: AtomicBool::new(true),
            lines: Mutex::default(),
        }
    }

    /// Whether it may take jobs, as far as this node knows.
    pub(crate) fn is_open(&self, now: i64) -> bool {
        !self.full.load(Ordering::SeqCst) && self.closed_until.load(Ordering::SeqCst) <= now
    }

    /// Whether it takes jobs, but holds as many as it may, as far as this node knows: there may be more for it.
    pub(crate) fn is_filled(&self, now: i64) -> bool {
        self.full.load(Ordering::SeqCst) && self.closed_until.load(Ordering::SeqCst) <= now
    }

    /// Whether it takes jobs of one queue only. Those of several queues claim in turn when it has room.
    pub(crate) fn has_one_line(&self) -> bool {
        self.lines().iter().filter(|line| line.strong_count() > 0).take(2).count() == 1
    }

    /// Times that jobs of it have made room which other jobs have not taken yet.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::SeqCst)
    }

    /// A claim has found that it takes nothing, when it had ended so many jobs. Returns whether another claim at that
    /// time would find something else.
    pub(crate) fn shut(&self, shut: Shut, ended: u64, now: i64) -> bool {
        let was_open = self.is_open(now);
        match shut {
            Shut::Full => self.full.store(true, Ordering::SeqCst),
            Shut::Until(at) => self.closed_until.store(at, Ordering::SeqCst),
        }
        if shut == Shut::Full && self.ended() != ended {
            self.full.store(false, Ordering::SeqCst);
            return true;
        }
        was_open && !self.is_open(now)
    }

    /// The most jobs that it can take beside those that this node sends to it. Other nodes may send some, too.
    fn free(&self) -> usize {
        let most = usize::try_from(self.row.max_concurrency).unwrap_or(0);
        most.saturating_sub(self.sending.load(Ordering::SeqCst))
    }

    /// The most jobs that it may add where the node has room for `spare` more: so many that it has no more than it
    /// leaves. Endpoints that do not answer cannot take the whole node, and those that come later find room.
    pub(crate) fn share(&self, spare: usize) -> usize {
        spare.saturating_sub(self.sending.load(Ordering::SeqCst)).div_ceil(2)
    }

    /// One of its jobs has ended, and no other has taken its place: claims that found it full look again.
    pub(crate) fn has_room(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
        if self.full.swap(false, Ordering::SeqCst) {
            self.call();
        }
    }

    /// Whether it takes jobs may have changed.
    pub(crate) fn reopen(&self) {
        self.closed_until.store(0, Ordering::SeqCst);
        self.full.store(false, Ordering::SeqCst);
        self.call();
    }

    fn call(&self) {
        self.lines().retain(|line| {
            line.upgrade().is_some_and(|line| {
                line.notify_one();
                true
            })
        });
    }

    fn lines(&self) -> MutexGuard<'_, Vec<Weak<Notify>>> {
        // Each entry is whole after every statement.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Jobs on their way to an endpoint, until their outcomes are written or a queue has taken them.
#[derive(Debug)]
pub(crate) struct Flight {
    /// Where they come from.
    pub(crate) line: Arc<Line>,
    /// The place of their endpoint in the line.
    pub(crate) place: usize,
    /// Where they go.
    pub(crate) target: Arc<Target>,
    /// One for each job.
    permits: OwnedSemaphorePermit,
}

impl Flight {
    /// `None` for a place that the line does not have.
    pub(crate) fn new(line: &Arc<Line>, place: usize, permits: OwnedSemaphorePermit) -> Option<Self> {
        let target = Arc::clone(line.targets.get(place)?);
        target.sending.fetch_add(permits.num_permits(), Ordering::SeqCst);
        Some(Self { line: Arc::clone(line), place, target, permits })
    }

    /// One of the jobs, which ends by itself.
    pub(crate) fn split(&mut self) -> Option<Self> {
        let permits = self.permits.split(1)?;
        Some(Self { line: Arc::clone(&self.line), place: self.place, target: Arc::clone(&self.target), permits })
    }

    /// Whether other jobs may be claimed in their place by the command that writes their outcomes. Where rules give
    /// jobs to some endpoints only, a claim of so few jobs may find none.
    pub(crate) fn is_replaced(&self, now: i64) -> bool {
        let line = &self.line;
        self.target.is_filled(now) && !line.has_rules && !line.stop.is_cancelled() && self.target.has_one_line()
    }

    /// They have ended. Other jobs take over their permits.
    pub(crate) fn hand_over(mut self) -> Option<OwnedSemaphorePermit> {
        let most = self.permits.num_permits();
        let permits = self.permits.split(most)?;
        self.target.sending.fetch_sub(most, Ordering::SeqCst);
        Some(permits)
    }

    /// They have ended, and their endpoint has room for others.
    pub(crate) fn leave(self) {
        let target = Arc::clone(&self.target);
        drop(self);
        target.has_room();
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.target.sending.fetch_sub(self.permits.num_permits(), Ordering::SeqCst);
    }
}

/// The endpoints that take jobs of a queue.
#[derive(Debug)]
pub(crate) struct Line {
    /// Name of the queue.
    pub(crate) queue: String,
    /// In the order of their ids.
    pub(crate) targets: Vec<Arc<Target>>,
    /// Those that name a job type, by places in `targets`.
    named: HashMap<String, Vec<usize>>,
    /// Those with patterns.
    globs: Vec<(String, usize)>,
    /// One of them has rules.
    has_rules: bool,
    /// Called when one of them may have room again.
    pub(crate) called: Arc<Notify>,
    /// What they have got so far.
    pub(crate) strides: Mutex<Strides>,
    /// Cancelled when no more jobs are claimed for it.
    pub(crate) stop: CancellationToken,
}

/// The types that a claim asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Types {
    /// By name.
    pub(crate) names: BTreeSet<String>,
    /// By pattern.
    pub(crate) globs: BTreeSet<String>,
}

impl Types {
    /// Whether no job has such a type.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.globs.is_empty()
    }
}

impl Line {
    pub(crate) fn new(queue: &str, targets: Vec<Arc<Target>>) -> Self {
        let (mut named, mut globs): (HashMap<String, Vec<usize>>, Vec<_>) = (HashMap::new(), Vec::new());
        for (place, target) in targets.iter().enumerate() {
            for pattern in EndpointRow::entries(&target.row.job_types) {
                if is_glob(pattern) {
                    globs.push((pattern.to_owned(), place));
                } else {
                    named.entry(pattern.to_owned()).or_default().push(place);
                }
            }
        }
        let called = Arc::new(Notify::new());
        for target in &targets {
            target.lines().push(Arc::downgrade(&called));
        }
        let has_rules = targets.iter().any(|target| !target.routing.is_empty());
        let (strides, stop) = (Mutex::default(), CancellationToken::new());
        Self { queue: queue.to_owned(), targets, named, globs, has_rules, called, strides, stop }
    }

    /// Whether it has these endpoints.
    pub(crate) fn has(&self, targets: &[Arc<Target>]) -> bool {
        self.targets.len() == targets.len() && self.targets.iter().zip(targets).all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// The endpoints with room at a time, with their places. Those at the places `freed` have room although they were
    /// found full.
    pub(crate) fn open(&self, now: i64, freed: &BTreeSet<usize>) -> impl Iterator<Item = (usize, &Target)> {
        let has_room =
            move |(place, target): &(usize, &Target)| target.is_open(now) || (freed.contains(place) && target.is_filled(now));
        self.targets.iter().map(Arc::as_ref).enumerate().filter(has_room)
    }

    /// The types that endpoints with room take, see [`Self::open`].
    pub(crate) fn wanted(&self, now: i64, freed: &BTreeSet<usize>) -> Types {
        let mut types = Types::default();
        for (_, target) in self.open(now, freed) {
            for pattern in EndpointRow::entries(&target.row.job_types) {
                let list = if is_glob(pattern) { &mut types.globs } else { &mut types.names };
                list.insert(pattern.to_owned());
            }
        }
        types
    }

    /// The most jobs that a claim can place where the node has room for `spare` more. Rules may leave the first jobs of
    /// the line to endpoints without room, so there is no such bound beside rules.
    pub(crate) fn room(&self, now: i64, spare: usize) -> usize {
        let open = || self.targets.iter().filter(|target| target.is_open(now));
        if open().any(|target| !target.routing.is_empty()) {
            return usize::MAX;
        }
        // A claim of one job shows that an endpoint is full also when this node sends as much as it takes.
        open().fold(0_usize, |room, target| room.saturating_add(target.free().min(target.share(spare)))).max(1)
    }

    /// How long it is until an endpoint may take jobs, when none does now.
    pub(crate) fn opens_in(&self, now: i64) -> Option<Duration> {
        let at = |target: &Arc<Target>| match target.full.load(Ordering::SeqCst) {
            true => FULL_PAUSE,
            false => {
                let until = target.closed_until.load(Ordering::SeqCst).saturating_sub(now);
                Duration::from_millis(u64::try_from(until).unwrap_or(0))
            }
        };
        self.targets.iter().map(at).min()
    }

    /// Endpoints that were found full are asked again: other nodes keep them busy, and do not say when they have room.
    pub(crate) fn ask_again(&self) {
        self.targets.iter().for_each(|target| target.full.store(false, Ordering::SeqCst));
    }

    /// The endpoints that take jobs of a type, by their places.
    pub(crate) fn takers(&self, job_type: &str) -> BTreeSet<usize> {
        let named = self.named.get(job_type).into_iter().flatten().copied();
        let globs = self.globs.iter().filter(|(pattern, _)| fits(pattern, job_type)).map(|(_, place)| *place);
        named.chain(globs).collect()
    }

    /// The weight of an endpoint for a job; 0 when it takes none such.
    pub(crate) fn weight(&self, place: usize, job: &Job<'_>) -> i64 {
        self.targets.get(place).map_or(0, |target| target.routing.weight(job, target.row.weight))
    }

    /// For each endpoint, see [`Target::ended`].
    pub(crate) fn ended(&self) -> Vec<u64> {
        self.targets.iter().map(|target| target.ended()).collect()
    }

    /// What endpoints have got so far.
    pub(crate) fn strides(&self) -> MutexGuard<'_, Strides> {
        // Each value is whole after every statement.
        self.strides.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shares jobs of a type by weight: the endpoint with the least work for its weight gets the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strides {
    by_type: BTreeMap<i64, Passes>,
}

#[derive(Debug, Clone, Default)]
struct Passes {
    /// Where the latest choice stood.
    reached: f64,
    /// Where each endpoint stands: jobs that it got, divided by its weight.
    at: BTreeMap<usize, f64>,
}

/// An endpoint that was chosen among several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The type of the job.
    pub(crate) job_type: i64,
    /// Its place.
    pub(crate) place: usize,
    /// Its weight for the job, which is positive.
    pub(crate) weight: i64,
}

impl Passes {
    /// Where an endpoint stands. One that comes back, or is new, does not make up for what others got meanwhile.
    fn stands(&self, place: usize) -> f64 {
        self.at.get(&place).copied().unwrap_or(0.0).max(self.reached)
    }
}

impl Strides {
    /// The endpoint that is to get the next job of a type, out of places and their weights, which are positive.
    pub(crate) fn next(&self, job_type: i64, candidates: &[(usize, i64)]) -> Option<Choice> {
        let passes = self.by_type.get(&job_type);
        let stands = |place: usize| passes.map_or(0.0, |passes| passes.stands(place));
        let chosen = candidates.iter().min_by(|(one, _), (other, _)| stands(*one).total_cmp(&stands(*other)))?;
        Some(Choice { job_type, place: chosen.0, weight: chosen.1 })
    }

    /// Counts a job for the endpoint that has got it.
    pub(crate) fn note(&mut self, choice: &Choice) {
        let passes = self.by_type.entry(choice.job_type).or_default();
        let start = passes.stands(choice.place);
        passes.reached = start;
        passes.at.insert(choice.place, start + 1.0 / (choice.weight as f64));
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::Timestamp;

    use super::*;
    use crate::features::push::register::blank;
    use crate::outgoing::Secret;

    fn target(job_types: &str) -> Arc<Target> {
        let row = EndpointRow { job_types: job_types.to_owned(), ..blank(Secret::default(), Timestamp::from_millis(1)) };
        Arc::new(Target::new(row))
    }

    #[test]
    fn names_and_patterns_find_their_endpoints() {
        let line = Line::new("q", vec![target("email.send\nemail.*"), target("*"), target("report")]);
        assert_eq!(line.takers("email.send"), BTreeSet::from([0, 1]));
        assert_eq!((line.takers("report"), line.takers("x")), (BTreeSet::from([1, 2]), BTreeSet::from([1])));
        assert!(line.targets[1].shut(Shut::Until(50), 0, 49) && line.targets[2].shut(Shut::Full, 0, 49));
        assert!(!line.targets[1].shut(Shut::Until(50), 0, 49), "it was shut before");
        let (none, other) = (BTreeSet::new(), BTreeSet::from([1, 2]));
        let types = line.wanted(49, &none);
        assert_eq!((types.names.len(), types.globs.len()), (1, 1));
        let freed = line.wanted(49, &other);
        assert_eq!((freed.names.len(), freed.globs.len()), (2, 1), "one has room again; the other one still wants a pause");
        line.targets[2].has_room();
        assert!(line.targets[2].shut(Shut::Full, 0, 49), "a job has ended since the claim counted");
        assert!(line.wanted(50, &none).globs.contains("*") && line.wanted(50, &none).names.contains("report"));
    }

    #[tokio::test]
    async fn a_claim_has_the_room_that_the_jobs_of_this_node_leave() {
        let line = Arc::new(Line::new("q", vec![target("a"), target("b")]));
        let most = usize::try_from(line.targets[0].row.max_concurrency).unwrap();
        let permits = Arc::new(tokio::sync::Semaphore::new(2 * most));
        let taken = async |jobs: usize| Arc::clone(&permits).acquire_many_owned(u32::try_from(jobs).unwrap()).await.unwrap();
        assert_eq!(line.room(0, usize::MAX), 2 * most);
        let mut flight = Flight::new(&line, 0, taken(most).await).unwrap();
        let one = flight.split().unwrap();
        assert_eq!(line.room(0, usize::MAX), most);
        drop(one);
        assert_eq!(line.room(0, usize::MAX), most + 1);
        let other = Flight::new(&line, 1, taken(most).await).unwrap();
        assert!(line.targets[0].shut(Shut::Full, 0, 0));
        assert_eq!(line.room(0, usize::MAX), 1, "a claim of one job finds out");
        drop((flight, other));
        assert_eq!((line.room(0, usize::MAX), permits.available_permits()), (most, 2 * most), "the first one is still shut");
        let rules = r#"{"rules":[{"match":{"job_type":"x"},"weight":0}]}"#.to_owned();
        let row = EndpointRow { routing: rules, ..target("c").row.clone() };
        assert_eq!(Line::new("q", vec![target("a"), Arc::new(Target::new(row))]).room(0, usize::MAX), usize::MAX);
    }

    #[tokio::test]
    async fn endpoints_that_do_not_answer_leave_room_for_others() {
        let line = Arc::new(Line::new("q", (0..4).map(|_| target("a")).collect()));
        let node = Arc::new(tokio::sync::Semaphore::new(1_000));
        let (mut flights, mut held) = (Vec::new(), Vec::new());
        for (place, target) in line.targets.iter().enumerate() {
            let mut taken = 0;
            loop {
                let share = target.share(node.available_permits());
                if share == 0 {
                    break;
                }
                let permits = Arc::clone(&node).try_acquire_many_owned(u32::try_from(share).unwrap()).unwrap();
                flights.push(Flight::new(&line, place, permits).unwrap());
                taken += share;
            }
            held.push(taken);
        }
        assert_eq!((held, node.available_permits()), (vec![500, 250, 125, 63], 62), "no more than is left at that time");
        flights.clear();
        assert_eq!(line.targets[0].share(1), 1, "the last place is for one that has none");
    }

    #[test]
    fn jobs_are_shared_by_weight_and_one_that_comes_back_makes_up_for_nothing() {
        let mut strides = Strides::default();
        let mut next = |candidates: &[(usize, i64)]| {
            let choice = strides.next(1, candidates).unwrap();
            strides.note(&choice);
            choice.place
        };
        let mut got = [0; 3];
        for _ in 0..100 {
            got[next(&[(0, 8), (1, 2)])] += 1;
        }
        assert!((79..=81).contains(&got[0]), "{got:?}");
        got = [0; 3];
        for _ in 0..10 {
            got[next(&[(0, 1), (1, 1), (2, 1)])] += 1;
        }
        assert!(got.iter().all(|jobs| (2..=5).contains(jobs)), "{got:?}");
    }
}
