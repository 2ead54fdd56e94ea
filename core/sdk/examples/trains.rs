//! Job trains in Rust: the worker of ADR-5, "Database-Backed Job Serialization", line by line. What it prints is the
//! same in every language (examples/trains): `cargo run -p ojs --features embedded --example trains`.
use std::time::Duration;

use ojs::{Client, JobContext, JobOptions, Train, TrainAction, Worker};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Deployment {
    destination_id: u32,
    action: String,
}

impl Deployment {
    fn new(destination_id: u32, action: &str) -> Self {
        Self { destination_id, action: action.to_owned() }
    }
}

fn deploy(args: &Deployment, train: Option<&ojs::JobTrain>) {
    let place = train.map_or_else(|| "in no train".to_owned(), |t| format!("number {} of {}", t.position, t.id));
    println!("{}: {place}", args.action);
}

#[tokio::main]
async fn main() -> Result<(), ojs::Error> {
    let client = Client::connect(&std::env::var("OJS_URL").unwrap_or_else(|_| "memory:trains".to_owned())).await?;

    // defmodule DeploymentWorker do
    //   use D9s.JobTrains.Worker, queue: :deployments, on_cancelled: :hold, on_discarded: :advance
    let worker = Worker::builder().transport(client.transport().clone()).queues(["deployments"]).build().await?;
    let train = Train::default().on_cancelled(TrainAction::Hold).on_discarded(TrainAction::Advance);
    let options = JobOptions::new().queue("deployments").train(train);
    worker.register_with("deployment", options, |ctx: JobContext| async move {
        // def perform_in_train(%Oban.Job{args: args}), do: deploy(args)
        deploy(&ctx.args()?, ctx.train());
        Ok(())
    })?;

    // A regular job: %{destination_id: 123, action: "deploy"} |> DeploymentWorker.new() |> Oban.insert()
    let regular = client.enqueue("deployment", Deployment::new(123, "deploy")).await?;
    // A train job: … |> D9s.JobTrains.insert("dest_123")
    let first = client.enqueue("deployment", Deployment::new(123, "deploy")).train("dest_123").await?;
    // Multiple jobs for the same resource queue: it waits for the deploy.
    let second = client.enqueue("deployment", Deployment::new(123, "rollback")).train("dest_123").await?;

    let running = worker.start();
    for job in [regular, first, second] {
        client.wait_for_result(&job.id, Duration::from_secs(30)).await?;
    }
    running.shutdown(None).await;
    client.close().await;
    Ok(())
}
