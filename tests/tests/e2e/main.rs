//! The SDK and the real server together: the life of jobs, and what happens when one of the two goes away.
mod faults;
mod leases;
mod life;
mod streams;
mod two_processes;

use ojs::{Client, Job, JobState};
use ojs_tests::until;

/// Waits until a job is in a state, and returns it.
async fn job_in(client: &Client, id: &str, state: JobState) -> Job {
    until(&format!("{id} becomes {state}"), || async { client.get_job(id).await.ok().filter(|job| job.state == state) }).await
}
