//! Rust handlers that do nothing, through the SDK with its defaults: embedded and over HTTP.
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use ojs::{Client, JobRequest, Worker};

use crate::Result;
use crate::load::PAYLOAD_BYTES;
use crate::report::{Better, Figure, Report, Side};
use crate::scenario::Plan;
use crate::server::{Server, Store};

const JOBS: usize = 100_000;
/// The default of the SDK, and what a program with many short jobs would choose.
const DEFAULT_SLOTS: usize = 10;
const WIDE: usize = 100;
/// Jobs per enqueue request, before the clock starts.
const BATCH: usize = 1000;

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("Rust, no-op handler", plan.runs * 4);
    let conditions = |store: Store, slots: usize| {
        format!(
            "{}; one process, {slots} slots; handler reads its arguments and counts per job, {PAYLOAD_BYTES} byte text",
            store.label()
        )
    };
    let (mut embedded, mut wide, mut http, mut memory) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        embedded.push(on_disk(plan, DEFAULT_SLOTS)?);
        bar.inc(1);
        wide.push(on_disk(plan, WIDE)?);
        bar.inc(1);
        let server = Server::start(&plan.bin, &plan.dir, Store::Durable)?;
        http.push(one(&format!("http://{}", server.address), DEFAULT_SLOTS)?);
        bar.inc(1);
        memory.push(one("memory:", DEFAULT_SLOTS)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let figure = |name: &str, values, store, slots| Figure::ours(name, "jobs/s", Better::More, values, conditions(store, slots));
    report.add(vec![
        figure("Rust worker, embedded", embedded, Store::Durable, DEFAULT_SLOTS).bound(45_000.0, None),
        figure("Rust worker, embedded, many slots", wide, Store::Durable, WIDE),
        figure("Rust worker over HTTP", http, Store::Durable, DEFAULT_SLOTS).bound(45_000.0, None),
        Figure { side: Side::Ceiling, ..figure("the same without a disk", memory, Store::Memory, DEFAULT_SLOTS) },
    ]);
    Ok(())
}

fn on_disk(plan: &Plan, slots: usize) -> Result<f64> {
    let dir = tempfile::tempdir_in(&plan.dir)?;
    one(&format!("sqlite:{}", dir.path().join("jobs.db").display()), slots)
}

/// Jobs per second from the start of the worker to the last completion; delivery checked.
fn one(url: &str, slots: usize) -> Result<f64> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let client = Client::connect(url).await?;
        let text = "x".repeat(PAYLOAD_BYTES);
        for first in (0..JOBS).step_by(BATCH) {
            client.enqueue_batch((first..first + BATCH).map(|n| JobRequest::new("bench.noop", (n, &text)))).await?;
        }
        let runs: Arc<Vec<AtomicU8>> = Arc::new((0..JOBS).map(|_| AtomicU8::new(0)).collect());
        let worker = Worker::builder().transport(Arc::clone(client.transport())).concurrency(slots).build().await?;
        let counters = Arc::clone(&runs);
        worker.register("bench.noop", move |ctx| {
            let counters = Arc::clone(&counters);
            async move {
                let (number, _): (usize, String) = ctx.args()?;
                counters.get(number).map(|runs| runs.fetch_add(1, Ordering::Relaxed));
                Ok(())
            }
        })?;
        let started = Instant::now();
        let handle = worker.start();
        while client.queue_stats("default").await?.completed < JOBS as u64 {
            if started.elapsed() > Duration::from_secs(60) {
                return Err("the jobs did not complete within 60 s".into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let elapsed = started.elapsed();
        handle.shutdown(None).await;
        client.close().await;
        let wrong = runs.iter().filter(|n| n.load(Ordering::Relaxed) != 1).count();
        if wrong > 0 {
            return Err(format!("delivery check failed: {wrong} jobs did not run exactly once").into());
        }
        Ok(JOBS as f64 / elapsed.as_secs_f64())
    })
}
