//! A hundred durable jobs per request.
use crate::Result;
use crate::ids::Ids;
use crate::load::{self, PAYLOAD_BYTES, enqueue, worker};
use crate::report::{Better, Figure, Report};
use crate::scenario::{Plan, enqueue::ceiling};
use crate::server::{Server, Store};

/// Few: a batch keeps the server busy for long.
pub const CONNECTIONS: usize = 8;
/// Jobs per request.
pub const BATCH: usize = 100;
/// Jobs of the warm-up and of one run: fixed, because all of them are delivered afterwards.
const WARM_UP_JOBS: usize = 20_000;
const JOBS: usize = 200_000;

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("batch enqueue over HTTP", plan.runs * 3);
    let conditions = |store: Store| {
        format!("{}; {CONNECTIONS} connections, {BATCH} jobs per request, {PAYLOAD_BYTES} byte argument", store.label())
    };
    let (mut durable, mut cpu, mut memory, mut echo) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for run in 0..plan.runs {
        let (rate, per_job) = one(plan, Store::Durable, run)?;
        durable.push(rate);
        cpu.push(per_job);
        bar.inc(1);
        memory.push(one(plan, Store::Memory, run)?.0);
        bar.inc(1);
        echo.push(ceiling(plan, BATCH)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    report.add(vec![
        Figure::ours("batch enqueue over HTTP", "jobs/s", Better::More, durable, conditions(Store::Durable))
            .bound(100_000.0, Some(200_000.0)),
        Figure::ceiling("the same server without a disk", "jobs/s", Better::More, memory, conditions(Store::Memory)),
        Figure::ceiling(
            "axum echo of the same requests",
            "jobs/s",
            Better::More,
            echo,
            format!("no store, nothing parsed; {CONNECTIONS} connections"),
        ),
        Figure::ours("  server CPU per job", "µs", Better::Less, cpu, conditions(Store::Durable)),
    ]);
    Ok(())
}

fn one(plan: &Plan, store: Store, run: usize) -> Result<(f64, f64)> {
    measure(&Server::start(&plan.bin, &plan.dir, store)?, run, JOBS)
}

/// Jobs per second and CPU microseconds per job of a server that runs already; delivery checked.
pub fn measure(server: &Server, run: usize, jobs: usize) -> Result<(f64, f64)> {
    let ids = Ids::new(run as u16);
    load::on_one_thread(async {
        enqueue::run(server.address, &ids, 0, CONNECTIONS, BATCH, enqueue::Until::Jobs(WARM_UP_JOBS)).await?;
        let cpu = server.cpu()?;
        let outcome = enqueue::run(server.address, &ids, WARM_UP_JOBS, CONNECTIONS, BATCH, enqueue::Until::Jobs(jobs)).await?;
        let used = server.cpu()? - cpu;
        worker::drain(server.address, &ids, WARM_UP_JOBS + jobs, 4, 500).await?;
        Ok((outcome.rate(), used.as_secs_f64() * 1e6 / jobs as f64))
    })
}
