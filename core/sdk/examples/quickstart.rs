//! Enqueue and run one job, in one file and one process: `cargo run -p ojs --features embedded --example quickstart`.
use ojs::{Client, Worker};

#[tokio::main]
async fn main() -> Result<(), ojs::Error> {
    let client = Client::connect("sqlite:jobs.db").await?; // or http://localhost:8080
    let worker = Worker::for_client(&client);
    worker.register("email.send", |ctx| async move {
        let (to,): (String,) = ctx.args()?;
        println!("sending to {to}");
        Ok(())
    })?;
    let job = client.enqueue("email.send", "user@example.com").await?;
    println!("enqueued {}; stop with Ctrl-C", job.id);
    worker.run_until(tokio::signal::ctrl_c()).await;
    client.close().await;
    Ok(())
}
