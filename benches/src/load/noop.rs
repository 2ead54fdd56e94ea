//! Rust handlers that do nothing, through the SDK with its defaults: they read their arguments and count per job.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ojs::{Client, JobRequest, Worker};

use super::PAYLOAD_BYTES;
use crate::Result;

/// The default of the SDK.
pub const DEFAULT_SLOTS: usize = 10;
/// What a program with many short jobs would choose.
pub const MANY_SLOTS: usize = 100;
/// Jobs per enqueue request.
const BATCH: usize = 1000;
/// How often a producer looks whether enough jobs wait. River's benchmark has the same.
const TOP_UP: Duration = Duration::from_millis(250);
/// A run that has not ended by then does not end.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs of each job, and how many there were.
struct Tally {
    runs: Vec<AtomicU8>,
    ran: AtomicUsize,
}

/// Jobs per second from the start of the worker until the store says that all are completed; delivery checked.
pub fn burn_down(url: &str, slots: usize, jobs: usize) -> Result<f64> {
    burn_down_after(url, slots, jobs, || Ok(()))
}

/// The same, with something to do between enqueueing and the start of the worker.
pub fn burn_down_after(url: &str, slots: usize, jobs: usize, between: impl FnOnce() -> Result<()>) -> Result<f64> {
    runtime()?.block_on(async {
        let bench = Bench::open(url, jobs).await?;
        bench.insert(0, jobs).await?;
        // It may have a runtime of its own.
        tokio::task::block_in_place(between)?;
        let started = Instant::now();
        let handle = bench.worker(slots).await?.start();
        bench.completed(jobs).await?;
        let elapsed = started.elapsed();
        handle.shutdown(None).await;
        bench.finish(jobs).await?;
        Ok(jobs as f64 / elapsed.as_secs_f64())
    })
}

/// Jobs per second while a producer in the same process keeps `backlog` jobs waiting for `time`; delivery of all checked.
pub fn with_producer(url: &str, slots: usize, backlog: usize, time: Duration) -> Result<f64> {
    // Room for more than any store does.
    let most = backlog + (time.as_secs() as usize + 1) * 200_000;
    runtime()?.block_on(async {
        let bench = Bench::open(url, most).await?;
        bench.insert(0, backlog).await?;
        let started = Instant::now();
        let handle = bench.worker(slots).await?.start();
        let stop = Arc::new(AtomicBool::new(false));
        let producer = tokio::spawn(produce(bench.client.clone(), Arc::clone(&bench.tally), backlog, Arc::clone(&stop)));
        tokio::time::sleep(time).await;
        let rate = bench.ran() as f64 / started.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        let inserted = producer.await??;
        bench.completed(inserted).await?;
        handle.shutdown(None).await;
        bench.finish(inserted).await?;
        Ok(rate)
    })
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Keeps the backlog filled until told to stop; returns how many jobs there are in all.
async fn produce(client: Client, tally: Arc<Tally>, backlog: usize, stop: Arc<AtomicBool>) -> Result<usize> {
    let mut inserted = backlog;
    while !stop.load(Ordering::Relaxed) {
        let wanted = tally.ran.load(Ordering::Relaxed) + backlog;
        while inserted < wanted && !stop.load(Ordering::Relaxed) {
            insert(&client, inserted, BATCH.min(wanted - inserted)).await?;
            inserted += BATCH.min(wanted - inserted);
        }
        tokio::time::sleep(TOP_UP).await;
    }
    Ok(inserted)
}

async fn insert(client: &Client, first: usize, count: usize) -> Result<()> {
    let text = "x".repeat(PAYLOAD_BYTES);
    client.enqueue_batch((first..first + count).map(|n| JobRequest::new("bench.noop", (n, &text)))).await?;
    Ok(())
}

struct Bench {
    client: Client,
    tally: Arc<Tally>,
}

impl Bench {
    async fn open(url: &str, jobs: usize) -> Result<Self> {
        let runs = (0..jobs).map(|_| AtomicU8::new(0)).collect();
        Ok(Self { client: Client::connect(url).await?, tally: Arc::new(Tally { runs, ran: AtomicUsize::new(0) }) })
    }

    async fn insert(&self, first: usize, jobs: usize) -> Result<()> {
        for first in (first..first + jobs).step_by(BATCH) {
            insert(&self.client, first, BATCH.min(jobs - first)).await?;
        }
        Ok(())
    }

    async fn worker(&self, slots: usize) -> Result<Worker> {
        let worker = Worker::builder().transport(Arc::clone(self.client.transport())).concurrency(slots).build().await?;
        let tally = Arc::clone(&self.tally);
        worker.register("bench.noop", move |ctx| {
            let tally = Arc::clone(&tally);
            async move {
                let (number, _): (usize, String) = ctx.args()?;
                tally.runs.get(number).map(|runs| runs.fetch_add(1, Ordering::Relaxed));
                tally.ran.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        })?;
        Ok(worker)
    }

    fn ran(&self) -> usize {
        self.tally.ran.load(Ordering::Relaxed)
    }

    /// Waits until so many handlers have run, then until the store has them all as completed. Counting is not free on every
    /// store: it is asked at the end only.
    async fn completed(&self, jobs: usize) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while self.ran() < jobs || self.client.queue_stats("default").await?.completed < jobs as u64 {
            if Instant::now() > deadline {
                return Err(format!("{} of {jobs} jobs ran within {} s", self.ran(), PATIENCE.as_secs()).into());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    async fn finish(self, jobs: usize) -> Result<()> {
        self.client.close().await;
        let wrong = self.tally.runs.iter().take(jobs).filter(|runs| runs.load(Ordering::Relaxed) != 1).count();
        if wrong > 0 || self.ran() != jobs {
            return Err(
                format!("delivery check failed: {wrong} jobs did not run exactly once, {} runs of {jobs}", self.ran()).into()
            );
        }
        Ok(())
    }
}
