//! One durable job per request.
use crate::Result;
use crate::ids::Ids;
use crate::load::{self, PAYLOAD_BYTES, enqueue, worker};
use crate::report::{Better, Figure, Report};
use crate::scenario::{Plan, WARM_UP};
use crate::server::{Server, Store};

/// Enough to fill the groups that the store commits.
pub const CONNECTIONS: usize = 64;

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("single enqueue over HTTP", plan.runs * 3 + 1);
    let conditions =
        |store: Store| format!("{}; {CONNECTIONS} connections, 1 job per request, {PAYLOAD_BYTES} byte argument", store.label());
    let (mut durable, mut cpu, mut memory, mut echo) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for run in 0..plan.runs {
        let (rate, per_job) = one(plan, Store::Durable, run)?;
        durable.push(rate);
        cpu.push(per_job);
        bar.inc(1);
        memory.push(one(plan, Store::Memory, run)?.0);
        bar.inc(1);
        echo.push(ceiling(plan, 0)?);
        bar.inc(1);
    }
    let syncs = super::footprint::fsync_rate(plan)?;
    bar.finish_and_clear();
    report.add(vec![
        Figure::ours("single enqueue over HTTP", "jobs/s", Better::More, durable, conditions(Store::Durable))
            .bound(20_000.0, Some(40_000.0)),
        Figure::ceiling("the same server without a disk", "jobs/s", Better::More, memory, conditions(Store::Memory)),
        Figure::ceiling(
            "axum echo of the same requests",
            "jobs/s",
            Better::More,
            echo,
            format!("no store; {CONNECTIONS} connections"),
        ),
        Figure::ceiling(
            "raw fsync of this disk",
            "jobs/s",
            Better::More,
            vec![syncs],
            "8 KiB rewritten and fdatasync, one at a time: a commit per job",
        ),
        Figure::ours("  server CPU per enqueue", "µs", Better::Less, cpu, conditions(Store::Durable)),
    ]);
    Ok(())
}

/// Jobs per second and CPU microseconds per job of one fresh server; delivery checked.
fn one(plan: &Plan, store: Store, run: usize) -> Result<(f64, f64)> {
    measure(plan, &Server::start(&plan.bin, &plan.dir, store)?, run)
}

/// The same for a server that runs already.
pub fn measure(plan: &Plan, server: &Server, run: usize) -> Result<(f64, f64)> {
    let ids = Ids::new(run as u16);
    load::on_one_thread(async {
        let warm = enqueue::run(server.address, &ids, 0, CONNECTIONS, 0, enqueue::Until::Elapsed(WARM_UP)).await?;
        let cpu = server.cpu()?;
        let outcome = enqueue::run(server.address, &ids, warm.jobs, CONNECTIONS, 0, enqueue::Until::Elapsed(plan.time)).await?;
        let used = server.cpu()? - cpu;
        worker::drain(server.address, &ids, warm.jobs + outcome.jobs, 4, 100).await?;
        Ok((outcome.rate(), used.as_secs_f64() * 1e6 / outcome.jobs as f64))
    })
}

/// The same load against the echo server.
pub fn ceiling(plan: &Plan, batch: usize) -> Result<f64> {
    let server = Server::echo(&plan.dir)?;
    let connections = if batch == 0 { CONNECTIONS } else { super::batch::CONNECTIONS };
    load::on_one_thread(async {
        let ids = Ids::new(0);
        enqueue::run(server.address, &ids, 0, connections, batch, enqueue::Until::Elapsed(WARM_UP)).await?;
        Ok(enqueue::run(server.address, &ids, 0, connections, batch, enqueue::Until::Elapsed(plan.time)).await?.rate())
    })
}
