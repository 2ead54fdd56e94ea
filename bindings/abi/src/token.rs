//! Job tokens: the numbers by which a host language names jobs. A token is a slot and a generation, so a late or
//! doubled answer is recognised as stale and never reaches another job.
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use ojs::dispatch::{CancelReason, Completion, DeliveryKey};

/// Names one delivery until it has been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JobToken(u64);

impl JobToken {
    fn new(slot: usize, generation: u32) -> Option<Self> {
        Some(Self(u64::from(generation) << 32 | u64::from(u32::try_from(slot).ok()?)))
    }

    /// The number a host keeps.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Any number is a token; only tokens of unanswered jobs are known.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    fn slot(self) -> usize {
        usize::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(usize::MAX)
    }

    fn generation(self) -> u32 {
        u32::try_from(self.0 >> 32).unwrap_or(0)
    }
}

/// What a host needs to run a job.
#[derive(Debug)]
pub struct Job {
    /// The job id.
    pub id: String,
    /// Finds the handler.
    pub job_type: String,
    /// The queue it came from.
    pub queue: String,
    /// 1 on the first run.
    pub attempt: u32,
    /// When the attempt times out.
    pub deadline: Option<Instant>,
    /// The envelope as JSON text.
    pub envelope: Bytes,
}

/// The stage of a job between dispatch and answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// In the mailbox.
    Queued,
    /// Pulled in a batch, its handler not begun.
    Handed(Instant),
    /// Its handler runs.
    Running,
}

/// One unanswered job.
#[derive(Debug)]
pub(crate) struct Entry {
    pub key: DeliveryKey,
    pub lane: usize,
    pub stage: Stage,
    pub cancelled: Option<CancelReason>,
    pub job: Arc<Job>,
    pub completion: Completion,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

/// All unanswered jobs of one worker.
#[derive(Debug, Default)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    free: Vec<usize>,
    held: usize,
}

impl Table {
    /// Jobs in the table.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Adds a job. `None` only with 2^32 jobs at a time.
    pub fn insert(&mut self, entry: Entry) -> Result<JobToken, Entry> {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(Slot::default());
        }
        let Some(place) = self.slots.get_mut(slot) else { return Err(entry) };
        let Some(token) = JobToken::new(slot, place.generation) else { return Err(entry) };
        place.entry = Some(entry);
        self.held += 1;
        Ok(token)
    }

    pub fn get_mut(&mut self, token: JobToken) -> Option<&mut Entry> {
        self.slots.get_mut(token.slot()).filter(|slot| slot.generation == token.generation())?.entry.as_mut()
    }

    pub fn get(&self, token: JobToken) -> Option<&Entry> {
        self.slots.get(token.slot()).filter(|slot| slot.generation == token.generation())?.entry.as_ref()
    }

    /// Removes the job; its token is stale from now on.
    pub fn take(&mut self, token: JobToken) -> Option<Entry> {
        let slot = self.slots.get_mut(token.slot()).filter(|slot| slot.generation == token.generation())?;
        let entry = slot.entry.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(token.slot());
        self.held -= 1;
        Some(entry)
    }

    /// The token of a delivery. A scan: cancellation is rare and the table small.
    pub fn find(&self, key: DeliveryKey) -> Option<JobToken> {
        self.tokens(|entry| entry.key == key).next()
    }

    /// Jobs of `lane` that were handed out before `since`, but whose handlers have not begun: their batch is stuck
    /// behind a slow job. They get new tokens, so the old owner can no longer begin them.
    pub fn reclaim(&mut self, lane: usize, stuck_for: Duration, max: usize, now: Instant) -> Vec<(JobToken, Arc<Job>)> {
        let stuck = |entry: &Entry| {
            entry.lane == lane && matches!(entry.stage, Stage::Handed(at) if now.saturating_duration_since(at) >= stuck_for)
        };
        let tokens: Vec<JobToken> = self.tokens(stuck).take(max).collect();
        let mut jobs = Vec::with_capacity(tokens.len());
        for token in tokens {
            if let Some(mut entry) = self.take(token) {
                entry.stage = Stage::Handed(now);
                let job = Arc::clone(&entry.job);
                // A slot was freed just above, so there is room; if not, the dropped completion reports the loss.
                if let Ok(token) = self.insert(entry) {
                    jobs.push((token, job));
                }
            }
        }
        jobs
    }

    /// The oldest time at which a job of `lane` was handed out without having begun.
    pub fn oldest_unbegun(&self, lane: usize) -> Option<Instant> {
        let entries = self.slots.iter().filter_map(|slot| slot.entry.as_ref()).filter(|entry| entry.lane == lane);
        entries.filter_map(|entry| if let Stage::Handed(at) = entry.stage { Some(at) } else { None }).min()
    }

    /// Every job, out of the table.
    pub fn drain(&mut self) -> Vec<Entry> {
        let all: Vec<JobToken> = self.tokens(|_| true).collect();
        all.into_iter().filter_map(|token| self.take(token)).collect()
    }

    fn tokens<'a>(&'a self, wanted: impl Fn(&Entry) -> bool + 'a) -> impl Iterator<Item = JobToken> + 'a {
        let held = self.slots.iter().enumerate();
        held.filter(move |(_, slot)| slot.entry.as_ref().is_some_and(&wanted))
            .filter_map(|(at, slot)| JobToken::new(at, slot.generation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio::sync::mpsc;

    fn entry(key: u64) -> Entry {
        let (outcomes, _) = mpsc::unbounded_channel();
        let job = Job {
            id: String::new(),
            job_type: String::new(),
            queue: String::new(),
            attempt: 1,
            deadline: None,
            envelope: Bytes::new(),
        };
        let completion = Completion::new(DeliveryKey(key), outcomes);
        Entry { key: DeliveryKey(key), lane: 0, stage: Stage::Queued, cancelled: None, job: Arc::new(job), completion }
    }

    #[test]
    fn an_answered_token_is_stale_even_when_its_slot_is_used_again() {
        let mut table = Table::default();
        let first = table.insert(entry(1)).unwrap();
        assert!(table.take(first).is_some());
        let second = table.insert(entry(2)).unwrap();
        assert_eq!(first.slot(), second.slot());
        assert!(table.take(first).is_none());
        assert_eq!(table.get(second).map(|e| e.key), Some(DeliveryKey(2)));
    }

    #[test]
    fn reclaimed_jobs_change_their_token() {
        let mut table = Table::default();
        let token = table.insert(entry(1)).unwrap();
        let now = Instant::now();
        table.get_mut(token).unwrap().stage = Stage::Handed(now);
        assert!(table.reclaim(0, Duration::from_millis(5), 8, now).is_empty(), "too early");
        let later = now + Duration::from_millis(5);
        assert!(table.reclaim(1, Duration::from_millis(5), 8, later).is_empty(), "another lane");
        let jobs = table.reclaim(0, Duration::from_millis(5), 8, later);
        assert_eq!(jobs.len(), 1);
        assert!(table.get(token).is_none());
        assert!(table.get(jobs[0].0).is_some());
    }

    proptest! {
        /// Against a model: a token is known from insert to take, and never again.
        #[test]
        fn tokens_behave_like_a_map(steps in proptest::collection::vec((any::<bool>(), 0_usize..64), 0..400)) {
            let mut table = Table::default();
            let mut live: Vec<(JobToken, u64)> = Vec::new();
            let mut dead: Vec<JobToken> = Vec::new();
            for (key, (insert, pick)) in (0_u64..).zip(steps) {
                if insert || live.is_empty() {
                    live.push((table.insert(entry(key)).unwrap(), key));
                } else {
                    let (token, key) = live.swap_remove(pick % live.len());
                    prop_assert_eq!(table.take(token).map(|e| e.key), Some(DeliveryKey(key)));
                    dead.push(token);
                }
                prop_assert_eq!(table.held(), live.len());
            }
            for token in dead {
                prop_assert!(table.take(token).is_none());
            }
            for (token, key) in live {
                prop_assert_eq!(table.find(DeliveryKey(key)), Some(token));
            }
        }
    }
}
