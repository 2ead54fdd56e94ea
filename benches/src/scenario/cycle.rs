//! The whole life of a job: enqueued, fetched, acked, in batches, producers and workers at the same time.
use std::time::Instant;

use crate::Result;
use crate::ids::Ids;
use crate::load::{self, PAYLOAD_BYTES, enqueue, worker};
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::{Server, Store};

const PRODUCERS: usize = 2;
const WORKERS: usize = 4;
const BATCH: usize = 100;
const WARM_UP_JOBS: usize = 10_000;
const JOBS: usize = 100_000;

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("enqueue, fetch and ack", plan.runs * 2);
    let conditions = |store: Store| {
        format!(
            "{}; {PRODUCERS} producers and {WORKERS} workers at the same time, {BATCH} jobs per request, {PAYLOAD_BYTES} byte argument",
            store.label()
        )
    };
    let (mut durable, mut cpu, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..plan.runs {
        let (rate, per_job) = one(plan, Store::Durable, run)?;
        durable.push(rate);
        cpu.push(per_job);
        bar.inc(1);
        memory.push(one(plan, Store::Memory, run)?.0);
        bar.inc(1);
    }
    bar.finish_and_clear();
    report.add(vec![
        Figure::ours("enqueue, fetch and ack", "jobs/s", Better::More, durable, conditions(Store::Durable))
            .bound(35_000.0, Some(70_000.0)),
        Figure::ceiling("the same server without a disk", "jobs/s", Better::More, memory, conditions(Store::Memory)),
        Figure::ours("  server CPU per job", "µs", Better::Less, cpu, conditions(Store::Durable)),
    ]);
    Ok(())
}

fn one(plan: &Plan, store: Store, run: usize) -> Result<(f64, f64)> {
    measure(&Server::start(&plan.bin, &plan.dir, store)?, run)
}

/// Jobs per second and CPU microseconds per job of a server that runs already; delivery checked.
pub fn measure(server: &Server, run: usize) -> Result<(f64, f64)> {
    let (warm, ids) = (Ids::new(0x800 + run as u16), Ids::new(run as u16));
    load::on_one_thread(async {
        both(server, &warm, WARM_UP_JOBS).await?;
        let cpu = server.cpu()?;
        let started = Instant::now();
        let last = both(server, &ids, JOBS).await?;
        let used = server.cpu()? - cpu;
        Ok((JOBS as f64 / (last - started).as_secs_f64(), used.as_secs_f64() * 1e6 / JOBS as f64))
    })
}

/// From the first enqueue to the last ack.
async fn both(server: &Server, ids: &Ids, jobs: usize) -> Result<Instant> {
    let producers = enqueue::run(server.address, ids, 0, PRODUCERS, BATCH, enqueue::Until::Jobs(jobs));
    let workers = worker::drain(server.address, ids, jobs, WORKERS, BATCH);
    let (_, last) = tokio::try_join!(producers, workers)?;
    Ok(last)
}
