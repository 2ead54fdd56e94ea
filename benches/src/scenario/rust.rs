//! Rust handlers that do nothing, through the SDK with its defaults: embedded and over HTTP.
use std::time::Duration;

use crate::Result;
use crate::load::PAYLOAD_BYTES;
use crate::load::noop::{self, DEFAULT_SLOTS, MANY_SLOTS};
use crate::postgres::own_cpu;
use crate::report::{Better, Figure, Report, Side};
use crate::scenario::Plan;
use crate::server::{Server, Store};

const JOBS: usize = 100_000;

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
        wide.push(on_disk(plan, MANY_SLOTS)?);
        bar.inc(1);
        let server = Server::start(&plan.bin, &plan.dir, Store::Durable)?;
        http.push(noop::burn_down(&format!("http://{}", server.address), DEFAULT_SLOTS, JOBS)?);
        bar.inc(1);
        memory.push(noop::burn_down("memory:", DEFAULT_SLOTS, JOBS)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let figure = |name: &str, values, store, slots| Figure::ours(name, "jobs/s", Better::More, values, conditions(store, slots));
    report.add(vec![
        figure("Rust worker, embedded", embedded, Store::Durable, DEFAULT_SLOTS).bound(45_000.0, None),
        figure("Rust worker, embedded, many slots", wide, Store::Durable, MANY_SLOTS),
        figure("Rust worker over HTTP", http, Store::Durable, DEFAULT_SLOTS).bound(45_000.0, None),
        Figure { side: Side::Ceiling, ..figure("the same without a disk", memory, Store::Memory, DEFAULT_SLOTS) },
    ]);
    Ok(())
}

/// One run, printed as the runners of the other languages print theirs: rate, and microseconds of processor time per job.
pub fn noop(url: &str, slots: usize, jobs: usize) -> Result<()> {
    let mut before = Duration::ZERO;
    let rate = noop::burn_down_after(url, slots, jobs, || {
        before = own_cpu()?;
        Ok(())
    })?;
    let micros = (own_cpu()? - before).as_secs_f64() * 1e6 / jobs as f64;
    println!("{}", serde_json::json!({"jobs_per_second": rate, "cpu_us": micros}));
    Ok(())
}

fn on_disk(plan: &Plan, slots: usize) -> Result<f64> {
    let dir = tempfile::tempdir_in(&plan.dir)?;
    noop::burn_down(&format!("sqlite:{}", dir.path().join("jobs.db").display()), slots, JOBS)
}
