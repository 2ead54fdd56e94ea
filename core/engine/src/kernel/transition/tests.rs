//! One exercise for jobs that several reasons hold, on each store: a feature of the test sets a second reason.
use std::sync::Arc;

use ojs_model::{JobId, JobState, NewJob, Timestamp};

use crate::features;
use crate::kernel::command::Claim;
use crate::kernel::counters::Counters;
use crate::kernel::holds::Holds;
use crate::kernel::hooks::Hooks;
use crate::kernel::transaction::Transaction;
use crate::store::tables::Tables;

/// Holds every job of the queue `trains` until the test releases it.
const TRAINS: Hooks = Hooks {
    on_available: Some(|transaction, row| {
        if &*transaction.tables.queue_by_num(row.queue)?.name == "trains" {
            row.holds = row.holds.with(Holds::TRAIN);
        }
        Ok(())
    }),
    ..Hooks::NONE
};
/// Before the limits and behind them: the order of hooks makes no difference.
const BEFORE: &[Hooks] = &[TRAINS, features::limits::FEATURE.hooks];
const BEHIND: &[Hooks] = &[features::limits::FEATURE.hooks, TRAINS];

/// One transaction after the other on a store.
struct Bench<'a> {
    tables: &'a mut dyn Tables,
    counters: Counters,
    now: i64,
}

impl Bench<'_> {
    fn transact<T>(&mut self, work: impl FnOnce(&mut Transaction<'_>) -> T) -> T {
        self.tables.begin(true).unwrap();
        self.tables.prepare(&crate::store::wanted::Wanted::default()).unwrap();
        self.now += 1;
        let mut transaction = Transaction::new(self.tables, &mut self.counters, Timestamp::from_millis(self.now));
        let done = work(&mut transaction);
        transaction.finish().unwrap();
        self.tables.commit().unwrap();
        done
    }

    fn enqueue(&mut self, key: &str) -> JobId {
        let text =
            format!(r#"{{"type":"t","args":[],"options":{{"queue":"trains","rate_limit":{{"key":"{key}","concurrency":1}}}}}}"#);
        let job = Arc::new(NewJob::parse(&text, Timestamp::from_millis(self.now)).unwrap());
        self.transact(|transaction| drop(transaction.enqueue(&[Arc::clone(&job)]).unwrap()));
        job.id
    }

    fn claim(&mut self) -> Vec<JobId> {
        let claim = Claim { queues: vec!["trains".into()], count: 9, worker: None, ..Claim::default() };
        let jobs = self.transact(|transaction| transaction.claim(&claim).unwrap());
        jobs.iter().map(|job| job.row.id).collect()
    }

    fn holds(&mut self, id: JobId) -> Holds {
        self.transact(|transaction| transaction.tables.row(id).unwrap().unwrap().holds)
    }

    fn release(&mut self, id: JobId, reason: Holds) {
        self.transact(|transaction| {
            let row = transaction.tables.row(id).unwrap().unwrap();
            transaction.let_go(&row, reason).unwrap();
        });
    }

    fn cancel(&mut self, id: JobId) {
        self.transact(|transaction| drop(transaction.cancel(id).unwrap()));
    }
}

/// Two reasons on one job, removed in either order; and a reason of a later version.
pub(crate) fn exercise(tables: &mut dyn Tables) {
    for (round, features) in [BEFORE, BEHIND].into_iter().enumerate() {
        let mut counters = Counters::with(features);
        tables.begin(true).unwrap();
        tables.prepare(&crate::store::wanted::Wanted::default()).unwrap();
        counters.reserve(tables).unwrap();
        tables.commit().unwrap();
        let mut bench = Bench { tables: &mut *tables, counters, now: 1_767_225_600_000 + round as i64 * 1_000 };
        let both = Holds::LIMIT.with(Holds::TRAIN);

        // The train leaves first: the limit holds the job until the slot is free.
        let key = format!("a{round}");
        let (first, second) = (bench.enqueue(&key), bench.enqueue(&key));
        bench.release(first, Holds::TRAIN);
        assert_eq!(bench.claim(), [first], "the key has one slot");
        let third = bench.enqueue(&key);
        assert_eq!(bench.holds(third), both);
        bench.release(third, Holds::TRAIN);
        assert_eq!(bench.holds(third), Holds::LIMIT);
        assert_eq!(bench.claim(), []);
        bench.cancel(first);
        assert_eq!(bench.claim(), [third], "the slot is free, and the train of the second has not left");

        // The slot becomes free first: the train holds the job, and the limit lets it go when the train leaves.
        let fourth = bench.enqueue(&key);
        assert_eq!(bench.holds(fourth), both);
        bench.cancel(third);
        assert_eq!(bench.claim(), []);
        assert!(bench.holds(fourth).contains(Holds::TRAIN));
        bench.release(fourth, Holds::TRAIN);
        assert_eq!(bench.claim(), [fourth]);
        bench.cancel(fourth);
        bench.release(second, Holds::TRAIN);
        assert_eq!(bench.claim(), [second]);
        bench.cancel(second);

        // A reason that this version does not know: the job is not handed out, and it is still there.
        let key = format!("b{round}");
        let later = bench.enqueue(&key);
        bench.transact(|transaction| {
            let row = transaction.tables.row(later).unwrap().unwrap();
            transaction.hold(&row, Holds::VERSION).unwrap();
        });
        bench.release(later, Holds::TRAIN);
        assert_eq!(bench.claim(), []);
        assert_eq!(bench.holds(later), Holds::VERSION);
        bench.transact(|transaction| drop(transaction.set_priority(later, 100).unwrap()));
        assert_eq!(bench.holds(later), Holds::VERSION, "a change of the job leaves the reason");
        let row = bench.transact(|transaction| transaction.tables.row(later).unwrap().unwrap());
        assert_eq!((row.state, row.priority), (JobState::Available, 100));
        bench.release(later, Holds::VERSION);
        assert_eq!(bench.claim(), [later]);
        bench.cancel(later);
    }
}

#[test]
fn two_reasons_hold_a_job_in_memory() {
    exercise(&mut crate::store::memory::MemoryTables::default());
}
