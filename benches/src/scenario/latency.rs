//! How long an idle queue takes from the enqueue call to the worker: the fsync is part of it.
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::Result;
use crate::connection::{Connection, post};
use crate::ids::Ids;
use crate::load::{self, PAYLOAD_BYTES, QUEUE, payload, worker::Worker};
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::{Server, Store};

const JOBS: usize = 600;
const WARM_UP_JOBS: usize = 50;
/// Between two jobs: the queue is idle and the worker waits again.
const PAUSE: Duration = Duration::from_millis(2);

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("pick-up latency", plan.runs * 2);
    let conditions = |store: Store| {
        format!(
            "{}; idle queue, one worker in a long poll, {JOBS} jobs one after another, {PAYLOAD_BYTES} byte argument",
            store.label()
        )
    };
    let (mut p50, mut p99, mut memory50, mut memory99) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for run in 0..plan.runs {
        let (half, most) = one(plan, Store::Durable, run)?;
        p50.push(half);
        p99.push(most);
        bar.inc(1);
        let (half, most) = one(plan, Store::Memory, run)?;
        memory50.push(half);
        memory99.push(most);
        bar.inc(1);
    }
    bar.finish_and_clear();
    report.add(vec![
        Figure::ours("pick-up latency, p50", "ms", Better::Less, p50, conditions(Store::Durable)).bound(2.0, None),
        Figure::ceiling("the same server without a disk, p50", "ms", Better::Less, memory50, conditions(Store::Memory)),
    ]);
    report.add(vec![
        Figure::ours("pick-up latency, p99", "ms", Better::Less, p99, conditions(Store::Durable)).bound(8.0, None),
        Figure::ceiling("the same server without a disk, p99", "ms", Better::Less, memory99, conditions(Store::Memory)),
    ]);
    Ok(())
}

/// Median and 99th percentile in milliseconds.
fn one(plan: &Plan, store: Store, run: usize) -> Result<(f64, f64)> {
    of(&Server::start(&plan.bin, &plan.dir, store)?, run)
}

/// The same for a server that runs already.
pub fn of(server: &Server, run: usize) -> Result<(f64, f64)> {
    let ids = Arc::new(Ids::new(run as u16));
    let mut samples = load::on_one_thread(measure(server.address, ids))?;
    samples.drain(..WARM_UP_JOBS);
    samples.sort();
    let at = |share: f64| samples.get(((samples.len() - 1) as f64 * share) as usize).copied().unwrap_or_default();
    Ok((at(0.5).as_secs_f64() * 1e3, at(0.99).as_secs_f64() * 1e3))
}

async fn measure(address: SocketAddr, ids: Arc<Ids>) -> Result<Vec<Duration>> {
    let total = WARM_UP_JOBS + JOBS;
    let (received, mut receipts) = mpsc::unbounded_channel();
    let worker = tokio::spawn(receive(address, Arc::clone(&ids), total, received));
    let mut connection = Connection::open(address).await?;
    let mut samples = Vec::with_capacity(total);
    for number in 0..total {
        tokio::time::sleep(PAUSE).await;
        let job = format!(
            r#"{{"id":"{}","type":"bench.noop","args":[{}],"options":{{"queue":"{QUEUE}"}}}}"#,
            ids.id(number),
            payload()
        );
        let request = post("/ojs/v1/jobs", &job);
        let started = Instant::now();
        connection.expect(&request, 201).await?;
        let Some((id, at)) = receipts.recv().await else { break };
        if ids.number(&id) != Some(number) {
            return Err(format!("job {number} was enqueued, another one arrived").into());
        }
        samples.push(at - started);
    }
    worker.await??;
    Ok(samples)
}

/// Long-polls; a job's receipt counts when its bytes are there. Acks in a request of its own, as the SDK does.
async fn receive(
    address: SocketAddr,
    ids: Arc<Ids>,
    total: usize,
    received: mpsc::UnboundedSender<(Vec<u8>, Instant)>,
) -> Result<()> {
    let mut worker = Worker::open(address, 0).await?;
    let mut check = crate::check::Check::new(Ids::clone(&ids), total);
    let mut left = total;
    while left > 0 {
        worker.turn(1, 20_000).await?;
        let at = Instant::now();
        for id in worker.held() {
            received.send((id, at))?;
        }
        for id in worker.turn(0, 0).await? {
            check.completed(&id);
            left -= 1;
        }
    }
    check.finish()
}
