//! What the server costs while it does nothing: start, memory, CPU, size. And what the disk can do at most.
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use crate::Result;
use crate::connection::{Connection, get};
use crate::load;
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::{Server, Store};

/// How long the idle server is watched.
const WATCH: Duration = Duration::from_secs(4);

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("start, memory, size", plan.runs + 1);
    let (mut starts, mut memory) = (Vec::new(), Vec::new());
    let mut idle = f64::NAN;
    for run in 0..plan.runs {
        let server = Server::start(&plan.bin, &plan.dir, Store::Durable)?;
        starts.push(first_answer(&server)?.as_secs_f64() * 1e3);
        bar.inc(1);
        if run == 0 {
            let cpu = server.cpu()?;
            std::thread::sleep(WATCH);
            idle = (server.cpu()? - cpu).as_secs_f64() / WATCH.as_secs_f64() * 100.0;
            bar.inc(1);
        }
        memory.push(server.resident()? as f64 / 1e6);
    }
    bar.finish_and_clear();
    let size = std::fs::metadata(&plan.bin)?.size() as f64 / 1e6;
    let stripped = stripped_size(plan).unwrap_or(f64::NAN);
    report.add(vec![
        Figure::ours(
            "start to first 200 on /health",
            "ms",
            Better::Less,
            starts,
            "new SQLite file; from the start of the process",
        )
        .bound(100.0, None),
    ]);
    report.add(vec![Figure::ours("idle memory", "MB", Better::Less, memory, "resident set after one request").bound(25.0, None)]);
    report.add(vec![
        Figure::ours("idle CPU", "%", Better::Less, vec![idle], format!("of one core, over {} s", WATCH.as_secs()))
            .bound(0.2, None),
    ]);
    report.add(vec![
        Figure::ours(
            "binary, stripped",
            "MB",
            Better::Less,
            vec![stripped],
            "this build with `strip`; the published one is built for size",
        )
        .bound(15.0, None),
        Figure::ours("binary as built", "MB", Better::Less, vec![size], "with line tables"),
    ]);
    Ok(())
}

/// From the start of the process to the first 200.
pub fn first_answer(server: &Server) -> Result<Duration> {
    load::on_one_thread(async {
        let mut connection = Connection::open(server.address).await?;
        connection.expect(&get("/ojs/v1/health"), 200).await?;
        Ok(server.started().elapsed())
    })
}

/// The size without symbols, as `strip` of this machine makes it.
fn stripped_size(plan: &Plan) -> Result<f64> {
    let copy = tempfile::NamedTempFile::new_in(&plan.dir)?;
    let status = std::process::Command::new("strip").arg("-o").arg(copy.path()).arg(&plan.bin).status()?;
    if !status.success() {
        return Err("strip failed".into());
    }
    Ok(std::fs::metadata(copy.path())?.size() as f64 / 1e6)
}

/// How often this disk can make 8 KiB durable, one after another.
pub fn fsync_rate(plan: &Plan) -> Result<f64> {
    let mut file = tempfile::tempfile_in(&plan.dir)?;
    let block = [0x5a_u8; 8192];
    // Written once beforehand: growing a file costs a second write for its length.
    for _ in 0..512 {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    let started = Instant::now();
    let mut count = 0_u64;
    while started.elapsed() < Duration::from_secs(1) {
        file.seek(SeekFrom::Start(count % 512 * 8192))?;
        file.write_all(&block)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(count as f64 / started.elapsed().as_secs_f64())
}
