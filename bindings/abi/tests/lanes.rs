//! The dispatcher under its contract: every delivery gets exactly one outcome, whatever threads, cancellations and
//! slow handlers do.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use ojs::dispatch::{CancelReason, Completion, Delivery, DeliveryKey, Dispatch, Outcome, Phase};
use ojs_abi::dispatch::{Cancels, HostDispatch, Pull, Routes};
use ojs_abi::doorbell::Doorbell;
use ojs_abi::lane::{LaneKind, Wait};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Outcomes = UnboundedReceiver<(DeliveryKey, Outcome)>;

struct Driver {
    outcomes: UnboundedSender<(DeliveryKey, Outcome)>,
    next: u64,
}

impl Driver {
    fn new() -> (Self, Outcomes) {
        let (outcomes, receiver) = unbounded_channel();
        (Self { outcomes, next: 0 }, receiver)
    }

    fn delivery(&mut self, job_type: &str) -> Delivery {
        self.next += 1;
        let key = DeliveryKey(self.next);
        Delivery {
            transforms: Vec::new(),
            key,
            id: format!("job-{}", self.next),
            job_type: job_type.to_owned(),
            queue: "default".to_owned(),
            attempt: 1,
            deadline: None,
            envelope: Bytes::from_static(b"{}"),
            completion: Completion::new(key, self.outcomes.clone()),
        }
    }

    fn batch(&mut self, job_type: &str, count: usize) -> Vec<Delivery> {
        (0..count).map(|_| self.delivery(job_type)).collect()
    }
}

fn threads_lane(concurrency: usize) -> Arc<HostDispatch> {
    let routes = Routes { types: HashMap::from([("work".to_owned(), 0)]), fallback: None };
    HostDispatch::new(&[LaneKind::Threads], routes, concurrency)
}

fn jobs(pull: Pull) -> Vec<ojs_abi::dispatch::Handed> {
    assert!(matches!(pull, Pull::Jobs(_)), "{pull:?}");
    if let Pull::Jobs(jobs) = pull { jobs } else { Vec::new() }
}

const DONE: Outcome = Outcome::Completed { result: None };

#[test]
fn a_job_goes_out_and_its_outcome_comes_back_once() {
    let (mut driver, mut outcomes) = Driver::new();
    let host = threads_lane(2);
    assert_eq!(host.capacity(), 2);
    host.dispatch(driver.batch("work", 1));
    assert_eq!((host.capacity(), host.held()), (1, 1));
    let handed = jobs(host.pull(0, 8, Wait::Never).unwrap()).remove(0);
    assert_eq!(handed.job.id, "job-1");
    assert!(host.step(None, handed.token));
    assert!(!host.step(None, handed.token), "a job begins once");
    assert_eq!(host.complete(vec![(handed.token, DONE), (handed.token, DONE)]).unwrap(), 1, "the second answer is stale");
    assert_eq!(outcomes.try_recv().unwrap(), (DeliveryKey(1), DONE));
    assert!(outcomes.try_recv().is_err());
    assert_eq!(host.held(), 0);
}

#[test]
fn unknown_types_fail_for_good() {
    let (mut driver, mut outcomes) = Driver::new();
    threads_lane(1).dispatch(driver.batch("other", 1));
    let outcome = outcomes.try_recv().unwrap().1;
    assert!(matches!(outcome, Outcome::Failed(failure) if failure.code == "no_handler" && !failure.retryable));
}

#[test]
fn the_end_releases_what_was_not_answered_and_closes_the_lanes() {
    let (mut driver, mut outcomes) = Driver::new();
    let host = threads_lane(4);
    host.dispatch(driver.batch("work", 3));
    let handed = jobs(host.pull(0, 1, Wait::Never).unwrap()).remove(0);
    host.phase(Phase::Stopped);
    for _ in 0..3 {
        assert_eq!(outcomes.try_recv().unwrap().1, Outcome::Released);
    }
    assert!(matches!(host.pull(0, 1, Wait::Forever).unwrap(), Pull::Closed));
    assert_eq!(host.complete(vec![(handed.token, DONE)]).unwrap(), 1, "too late");
    assert_eq!(host.capacity(), 0);
}

#[test]
fn cancelled_while_waiting_means_never_begun() {
    let (mut driver, mut outcomes) = Driver::new();
    let host = threads_lane(4);
    host.dispatch(driver.batch("work", 2));
    host.cancel(DeliveryKey(1), CancelReason::Cancelled);
    assert_eq!(outcomes.try_recv().unwrap(), (DeliveryKey(1), Outcome::Released));
    let left = jobs(host.pull(0, 8, Wait::Never).unwrap());
    assert_eq!(left.iter().map(|h| h.job.id.as_str()).collect::<Vec<_>>(), ["job-2"]);
}

#[test]
fn a_running_job_learns_of_its_cancellation() {
    let (mut driver, _outcomes) = Driver::new();
    let host = HostDispatch::new(&[LaneKind::EventLoop], Routes { types: HashMap::new(), fallback: Some(0) }, 4);
    let bell = Arc::new(Count::default());
    host.set_doorbell(0, Box::new(Arc::clone(&bell))).unwrap();
    host.dispatch(driver.batch("work", 2));
    assert_eq!(bell.0.load(Ordering::SeqCst), 1);
    host.dispatch(driver.batch("work", 1));
    assert_eq!(bell.0.load(Ordering::SeqCst), 1, "one ring until the host has looked");
    host.rearm(0).unwrap();
    let handed = jobs(host.pull(0, 8, Wait::Never).unwrap());
    assert_eq!(host.cancelled(handed[0].token), None);
    host.cancel(DeliveryKey(1), CancelReason::TimedOut);
    assert_eq!(bell.0.load(Ordering::SeqCst), 2);
    assert_eq!(host.take_cancels(0).unwrap(), [(handed[0].token, CancelReason::TimedOut)]);
    assert_eq!(host.cancelled(handed[0].token), Some(CancelReason::TimedOut));
}

#[test]
fn a_thread_waits_for_cancellations_until_the_end() {
    let (mut driver, _outcomes) = Driver::new();
    let host = HostDispatch::new(&[LaneKind::EventLoop], Routes { types: HashMap::new(), fallback: Some(0) }, 4);
    host.dispatch(driver.batch("work", 3));
    let handed = jobs(host.pull(0, 8, Wait::Never).unwrap());
    assert_eq!(host.cancellations(0, 8, Wait::Never).unwrap(), Cancels::TimedOut);
    let waiting = Arc::clone(&host);
    let thread = thread::spawn(move || {
        let mut heard = Vec::new();
        loop {
            match waiting.cancellations(0, 1, Wait::Forever).unwrap() {
                Cancels::Jobs(jobs) => heard.extend(jobs),
                Cancels::Closed => return heard,
                Cancels::TimedOut | Cancels::Unblocked => {}
            }
        }
    });
    host.cancel(DeliveryKey(1), CancelReason::Cancelled);
    host.unblock();
    host.cancel(DeliveryKey(2), CancelReason::TimedOut);
    host.cancel(DeliveryKey(3), CancelReason::Shutdown);
    host.phase(Phase::Stopped);
    let reasons = [CancelReason::Cancelled, CancelReason::TimedOut, CancelReason::Shutdown];
    let all: Vec<_> = handed.iter().map(|handed| handed.token).zip(reasons).collect();
    assert_eq!(thread.join().unwrap(), all, "each once, those told before the end included");
}

#[derive(Debug, Default)]
struct Count(AtomicUsize);

impl Doorbell for Count {
    fn ring(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn unblock_ends_a_wait_and_only_one() {
    let host = threads_lane(1);
    let waiting = Arc::clone(&host);
    let thread = thread::spawn(move || waiting.pull(0, 1, Wait::Forever));
    // Whether the thread waits already does not matter to `unblock` once it has read the counter: repeat until it left.
    while !thread.is_finished() {
        host.unblock();
        thread::yield_now();
    }
    assert!(matches!(thread.join().unwrap().unwrap(), Pull::Unblocked));
    assert!(matches!(host.pull(0, 1, Wait::AtMost(Duration::from_millis(1))).unwrap(), Pull::TimedOut));
}

/// A host that interrupts a thread on its way into `pull` does not lose the interruption.
#[test]
fn an_unblock_before_the_pull_counts_when_it_came_after_the_look() {
    let host = threads_lane(1);
    let seen = host.unblocks(0).unwrap();
    host.unblock();
    assert!(matches!(host.pull_since(0, 1, Wait::Forever, seen).unwrap(), Pull::Unblocked));
    let seen = host.unblocks(0).unwrap();
    assert!(matches!(host.pull_since(0, 1, Wait::Never, seen).unwrap(), Pull::TimedOut));
}

/// A thread is stuck in the first job of its batch: the others are given to a thread that is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_behind_a_slow_one_move_to_a_free_thread() {
    let (mut driver, mut outcomes) = Driver::new();
    let host = threads_lane(2);
    tokio::spawn(HostDispatch::tend(Arc::downgrade(&host)));
    for _ in 0..40 {
        host.observe(0, 100, Duration::from_micros(100));
    }
    host.dispatch(driver.batch("work", 20));
    let stuck = jobs(host.pull(0, 64, Wait::Never).unwrap());
    assert_eq!(stuck.len(), 20, "a fast lane takes a batch");
    assert!(host.step(None, stuck[0].token));
    let free = Arc::clone(&host);
    let finished = tokio::task::spawn_blocking(move || {
        let mut done = 0;
        while done < 19 {
            for handed in jobs(free.pull(0, 64, Wait::Forever).unwrap()) {
                assert!(free.step(None, handed.token));
                free.complete(vec![(handed.token, DONE)]).unwrap();
                done += 1;
            }
        }
    });
    finished.await.unwrap();
    for handed in &stuck[1..] {
        assert!(!host.step(None, handed.token), "no longer the slow thread's");
    }
    host.complete(vec![(stuck[0].token, DONE)]).unwrap();
    let mut seen = HashSet::new();
    while let Ok((key, outcome)) = outcomes.try_recv() {
        assert_eq!(outcome, DONE);
        assert!(seen.insert(key));
    }
    assert_eq!(seen.len(), 20);
}

/// The answer given by `step` reaches the driver although the thread is busy with the next job.
#[tokio::test]
async fn a_finished_job_does_not_wait_for_the_next() {
    let (mut driver, mut outcomes) = Driver::new();
    let host = threads_lane(2);
    tokio::spawn(HostDispatch::tend(Arc::downgrade(&host)));
    for _ in 0..40 {
        host.observe(0, 100, Duration::from_micros(100));
    }
    host.dispatch(driver.batch("work", 2));
    let handed = jobs(host.pull(0, 64, Wait::Never).unwrap());
    assert!(host.step(None, handed[0].token));
    assert!(host.step(Some((handed[0].token, DONE)), handed[1].token));
    assert_eq!(outcomes.recv().await.unwrap(), (DeliveryKey(1), DONE));
}

/// Many threads, cancellations in between, an end in the middle: one outcome per delivery, none twice.
#[test]
fn storm() {
    for round in 0..20 {
        let (mut driver, mut outcomes) = Driver::new();
        let host = threads_lane(8);
        let total = 2_000;
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let host = Arc::clone(&host);
                thread::spawn(move || {
                    let mut last = None;
                    loop {
                        match host.pull(0, 64, Wait::AtMost(Duration::from_millis(50))).unwrap() {
                            Pull::Jobs(jobs) => {
                                for handed in &jobs {
                                    let begun = host.step(last.take(), handed.token);
                                    last = begun.then_some((handed.token, DONE));
                                }
                                host.complete(last.take().into_iter().collect()).unwrap();
                                host.observe(0, jobs.len(), Duration::from_micros(jobs.len() as u64));
                            }
                            Pull::Closed => return,
                            Pull::TimedOut | Pull::Unblocked => {}
                        }
                    }
                })
            })
            .collect();
        let mut sent = 0;
        while sent < total {
            let batch = driver.batch("work", 37.min(total - sent));
            sent += batch.len();
            host.dispatch(batch);
            host.cancel(DeliveryKey(sent as u64 - 5), CancelReason::Cancelled);
            if sent % 5 == round % 5 {
                host.unblock();
            }
        }
        if round % 2 == 0 {
            while host.held() > 0 {
                thread::yield_now();
            }
        }
        host.phase(Phase::Stopped);
        for thread in threads {
            thread.join().unwrap();
        }
        drop(driver);
        drop(host);
        let mut seen = HashSet::new();
        while let Some((key, outcome)) = outcomes.blocking_recv() {
            assert!(seen.insert(key), "{key:?} twice");
            assert!(matches!(outcome, Outcome::Completed { .. } | Outcome::Released), "{outcome:?}");
        }
        assert_eq!(seen.len(), total);
    }
}
