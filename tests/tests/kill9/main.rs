//! `kill -9` of the real server, at random moments, under load: one server on SQLite; two on PostgreSQL, which is restarted as well.
//!
//! In every round clients enqueue jobs one by one and in batches, workers run them, and the server is killed several times
//! without warning. What must hold in the end:
//!
//! - every job that was confirmed is completed, once: none lost, none doubled;
//! - an enqueue whose answer was lost can be sent again with the same ids and makes no second job;
//! - an ack that was confirmed stays: the job is never handed out again, its result never overwritten;
//! - lease tokens of one job only grow, across kills as well, and an old one is refused and changes nothing;
//! - it comes to an end: when no job moves for a minute, the round ends and tells which jobs hang, and in which state.
//!
//! Trains have rounds of their own, with workers that are processes and are killed as well; operators cancel, hold and
//! advance meanwhile: no job overtakes another one of its train or runs beside it, and none is stuck.
//!
//! A node that is killed while its jobs are at an endpoint of push delivery has a test of its own.
//!
//! `OJS_FAULT_TRAINS`, `OJS_FAULT_CARS` and `OJS_FAULT_TRAIN_ROUNDS` are the size of those.
//!
//! `OJS_FAULT_ROUNDS`, `OJS_FAULT_JOBS`, `OJS_FAULT_NODE_ROUNDS`, `OJS_FAULT_NODE_JOBS`, `OJS_FAULT_NODE_SECONDS` (a kill every few seconds for so long instead of a few at the
//! beginning) and `OJS_FAULT_SEED` change the size and repeat a plan (the plan: sizes, outcomes and the times of
//! the kills; how the operating system schedules the processes is its own affair).
mod client_log;
#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "../../../core/engine/tests/store/endpoint.rs"]
mod endpoint;
mod host;
mod operator;
mod producer;
mod push;
mod round;
mod stuck;
mod train_log;
mod train_worker;
mod trains;
mod worker;

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn confirmed_jobs_survive_kill_9_and_stale_workers_change_nothing() {
    let seed = setting("OJS_FAULT_SEED", rand::rng().random_range(0..1_000_000));
    let rounds = setting("OJS_FAULT_ROUNDS", 8);
    let jobs = usize::try_from(setting("OJS_FAULT_JOBS", 20_000)).unwrap();
    println!("OJS_FAULT_SEED={seed} OJS_FAULT_ROUNDS={rounds} OJS_FAULT_JOBS={jobs}");
    let mut total = round::Tally::default();
    for number in 0..rounds {
        let started = Instant::now();
        let tally = round::run(StdRng::seed_from_u64(seed + number), jobs).await;
        println!("round {number}: {tally} in {:.1} s", started.elapsed().as_secs_f64());
        total += tally;
    }
    println!("in all: {total}");
    // A test that never met the situation it is about has proved nothing.
    assert!(total.kills >= rounds, "no kill in some rounds: {total}");
    assert!(total.stale_refused > 0, "no stale lease was ever tried: {total}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_on_one_database_lose_and_double_nothing() {
    let seed = setting("OJS_FAULT_SEED", rand::rng().random_range(0..1_000_000));
    let rounds = setting("OJS_FAULT_NODE_ROUNDS", 2);
    let jobs = usize::try_from(setting("OJS_FAULT_NODE_JOBS", 10_000)).unwrap();
    let steadily = Duration::from_secs(setting("OJS_FAULT_NODE_SECONDS", 0));
    println!(
        "OJS_FAULT_SEED={seed} OJS_FAULT_NODE_ROUNDS={rounds} OJS_FAULT_NODE_JOBS={jobs} OJS_FAULT_NODE_SECONDS={}",
        steadily.as_secs()
    );
    let mut total = round::Tally::default();
    for number in 0..rounds {
        let started = Instant::now();
        let tally = round::run_nodes(StdRng::seed_from_u64(seed + number), jobs, steadily).await;
        println!("nodes, round {number}: {tally} in {:.1} s", started.elapsed().as_secs_f64());
        total += tally;
    }
    println!("nodes, in all: {total}");
    assert!(total.stale_refused > 0, "no stale lease was ever tried: {total}");
}

/// One server on SQLite, then two on PostgreSQL.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jt_13_trains_keep_their_order_when_everything_is_killed() {
    let seed = setting("OJS_FAULT_SEED", rand::rng().random_range(0..1_000_000));
    let number = |name, default| usize::try_from(setting(name, default)).unwrap();
    let (trains, cars) = (number("OJS_FAULT_TRAINS", 20), number("OJS_FAULT_CARS", 20));
    let rounds = setting("OJS_FAULT_TRAIN_ROUNDS", 1);
    println!("OJS_FAULT_SEED={seed} OJS_FAULT_TRAINS={trains} OJS_FAULT_CARS={cars} OJS_FAULT_TRAIN_ROUNDS={rounds}");
    let size = trains::Size { trains, cars, kills: 3 + trains * cars / 1000 };
    for round in 0..rounds {
        for nodes in [1, 2] {
            let host = if nodes == 1 { host::Host::one().await } else { host::Host::two().await };
            let started = Instant::now();
            let tally = trains::run(host, StdRng::seed_from_u64(seed + round), size, nodes == 2).await;
            println!("trains, round {round}, {nodes} nodes: {tally} in {:.1} s", started.elapsed().as_secs_f64());
            // A test that never met the situation it is about has proved nothing.
            let ended = tally.cancelled > 0 && tally.discarded > 0;
            let operated = tally.holds > 0 && tally.advances > 0;
            assert!(ended && operated && tally.repeated > 0 && tally.cut > 0, "{tally}");
        }
    }
}
