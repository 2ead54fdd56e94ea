//! Memory does not grow with the number of jobs. The engine is another process: it keeps the events of all jobs for a while.
//! `OJS_SOAK_JOBS=1000000` (`make soak`) is the long form.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]
use ojs::{Client, JobRequest, JobState, Worker};
use ojs_tests::ServerProcess;

const BATCH: usize = 1000;
/// Bytes. 20,000 jobs of which half a kilobyte each stayed would be 10 MB; a million, 500 MB.
const MAY_GROW: usize = 10 << 20;

/// Bytes of memory of this process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

async fn run(client: &Client, jobs: usize) {
    for _ in 0..jobs / BATCH {
        let requests: Vec<JobRequest> = (0..BATCH).map(|n| JobRequest::new("a", (n, "x".repeat(200)))).collect();
        client.enqueue_batch(requests).await.unwrap();
        while client.queue_stats("default").await.unwrap().completed < BATCH as u64 {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        client.purge_queue("default", &[JobState::Completed], None).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_does_not_grow_with_the_jobs() {
    let jobs = std::env::var("OJS_SOAK_JOBS").map_or(20_000, |jobs| jobs.parse().unwrap());
    let server = ServerProcess::memory().await;
    let client = Client::connect(&server.url()).await.unwrap();
    let worker = Worker::for_client(&client);
    worker.register("a", |ctx| async move { Ok(ctx.arg::<u64>(0)?) }).unwrap();
    let worker = worker.start();
    run(&client, jobs / 2).await;
    let before = resident();
    run(&client, jobs).await;
    let grown = resident().saturating_sub(before);
    worker.shutdown(None).await;
    assert!(grown < MAY_GROW, "{jobs} jobs left {} KB behind", grown >> 10);
}
