//! Workflows and shutdown, with servers that are processes of their own: they are killed.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs::worker::WorkerOptions;
use ojs::workflow::chain;
use ojs::{Client, HandlerError, JobContext, JobRequest, Worker};
use ojs_postgres_fixture::Database;
use ojs_tests::{ServerProcess, until};
use tokio::sync::{Semaphore, mpsc};

/// A server, how often each step ran, and a gate at which the second step waits.
struct Flow {
    server: ServerProcess,
    _database: Option<Database>,
    runs: Arc<Mutex<BTreeMap<String, usize>>>,
    gate: Arc<Semaphore>,
    id: String,
}

impl Flow {
    async fn on(server: ServerProcess, database: Option<Database>) -> Self {
        let client = Client::connect(&server.url()).await.unwrap();
        let steps = ["s1", "s2", "s3"].map(|name| JobRequest::new(name, ()).queue("q"));
        let id = client.workflow(&chain(steps)).await.unwrap().id;
        Self { server, _database: database, runs: Arc::default(), gate: Arc::new(Semaphore::new(0)), id }
    }

    async fn memory() -> Self {
        Self::on(ServerProcess::memory().await, None).await
    }

    async fn sqlite() -> Self {
        Self::on(ServerProcess::sqlite().await, None).await
    }

    async fn postgres() -> Self {
        let database = tokio::task::spawn_blocking(ojs_postgres_fixture::database).await.unwrap();
        Self::on(ServerProcess::on(database.url(), &[]).await, Some(database)).await
    }

    /// A worker of all steps, and what says that a step has begun.
    async fn worker(&self) -> (ojs::worker::WorkerHandle, mpsc::UnboundedReceiver<String>) {
        let client = Client::connect(&self.server.url()).await.unwrap();
        let worker = Worker::new(Arc::clone(client.transport()), WorkerOptions::new(["q"]).concurrency(4));
        let (begun, steps) = mpsc::unbounded_channel();
        for name in ["s1", "s2", "s3"] {
            let (begun, runs, gate) = (begun.clone(), Arc::clone(&self.runs), Arc::clone(&self.gate));
            worker
                .register(name, move |_: JobContext| {
                    let (begun, runs, gate) = (begun.clone(), Arc::clone(&runs), Arc::clone(&gate));
                    async move {
                        *runs.lock().unwrap().entry(name.to_owned()).or_default() += 1;
                        begun.send(name.to_owned())?;
                        if name == "s2" {
                            drop(gate.acquire().await?);
                        }
                        Ok::<_, HandlerError>(name)
                    }
                })
                .unwrap();
        }
        (worker.start(), steps)
    }

    fn ran(&self) -> Vec<usize> {
        let runs = self.runs.lock().unwrap();
        ["s1", "s2", "s3"].iter().map(|name| runs.get(*name).copied().unwrap_or_default()).collect()
    }

    /// Kills the server, and starts another process on the same store. A server whose store is its memory stays.
    async fn restart(&mut self) {
        if !self.server.store().starts_with("memory") {
            self.server.kill().await;
            self.server = self.server.again_there().await;
        }
    }

    async fn completed(&self) {
        until("the workflow is completed", || async {
            let path = format!("/workflows/{}", self.id);
            let answer = self.server.connect().await.get(&path).await.expect(200).json();
            (answer["workflow"]["state"] == "completed").then_some(())
        })
        .await;
    }
}

async fn begun(steps: &mut mpsc::UnboundedReceiver<String>, name: &str) {
    while steps.recv().await.as_deref() != Some(name) {}
}

macro_rules! on_every_server {
    ($($name:ident),* $(,)?) => {
        on_every_server! { @ memory: $($name),* }
        on_every_server! { @ sqlite: $($name),* }
        on_every_server! { @ postgres: $($name),* }
    };
    (@ $store:ident: $($name:ident),*) => {
        mod $store {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() { super::$name(super::Flow::$store().await).await }
            )*
        }
    };
}

on_every_server!(
    ei_009_a_workflow_goes_on_with_the_next_step_after_a_shutdown,
    ei_009_a_step_that_the_shutdown_interrupts_runs_again,
    ei_009_a_killed_server_hands_out_the_next_step_once,
);

async fn ei_009_a_workflow_goes_on_with_the_next_step_after_a_shutdown(mut flow: Flow) {
    let (worker, mut steps) = flow.worker().await;
    begun(&mut steps, "s2").await;
    worker.stop(Some(Duration::from_secs(60)));
    flow.gate.add_permits(1);
    worker.wait().await;
    assert_eq!(flow.ran(), [1, 1, 0], "the step that ran is completed, and this worker takes no further one");
    flow.restart().await;
    let (worker, _steps) = flow.worker().await;
    flow.completed().await;
    worker.shutdown(None).await;
    assert_eq!(flow.ran(), [1, 1, 1]);
}

async fn ei_009_a_step_that_the_shutdown_interrupts_runs_again(mut flow: Flow) {
    let (worker, mut steps) = flow.worker().await;
    begun(&mut steps, "s2").await;
    worker.shutdown(Some(Duration::ZERO)).await;
    assert_eq!(flow.ran(), [1, 1, 0]);
    flow.restart().await;
    flow.gate.add_permits(2);
    let (worker, _steps) = flow.worker().await;
    flow.completed().await;
    worker.shutdown(None).await;
    assert_eq!(flow.ran(), [1, 2, 1], "the interrupted step again, the one before it not");
}

async fn ei_009_a_killed_server_hands_out_the_next_step_once(mut flow: Flow) {
    let (worker, mut steps) = flow.worker().await;
    begun(&mut steps, "s2").await;
    // The worker loses its server while the step runs, and never acks to that process.
    flow.restart().await;
    worker.shutdown(Some(Duration::ZERO)).await;
    flow.gate.add_permits(2);
    let (worker, _steps) = flow.worker().await;
    flow.completed().await;
    worker.shutdown(None).await;
    let ran = flow.ran();
    assert_eq!((ran[0], ran[2]), (1, 1), "steps before and after it once: {ran:?}");
}
