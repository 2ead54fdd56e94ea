//! Workflows and versions of jobs.
use ojs::worker::WorkerOptions;
use ojs::{Client, Worker};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::world::{World, ids};

crate::on_every_store!(ei_010_each_job_of_a_workflow_has_its_own_version);

async fn ei_010_each_job_of_a_workflow_has_its_own_version(w: &World) {
    let schema = json!({"job_type": "mail", "version": "2.1", "schema": {}});
    assert_eq!(w.http("POST", "/schemas", schema).await.0, 201);
    let step = |version: Value| {
        let mut step = json!({"type": "mail", "args": ["ada"], "options": {"queue": "q"}});
        if !version.is_null() {
            step["version"] = version;
        }
        step
    };
    // The fourth names none, and gets the latest that is registered.
    let steps = [step(json!("1.0")), step(json!("2.0")), step(json!("1.5")), step(Value::Null)];
    let (status, flow) = w.http("POST", "/workflows", json!({"type": "chain", "name": "c", "steps": steps})).await;
    assert_eq!(status, 201, "{flow}");
    let old = json!({"handlers": [{"type": "mail", "versions": "<2.0"}]});
    let first = w.fetch_with(None, old.clone()).await;
    assert_eq!((first.len(), &first[0]["version"]), (1, &json!("1.0")));
    w.ack(&first[0]).await;
    assert!(w.fetch_with(None, old).await.is_empty(), "the second step is not for this worker");
    let waiting = w.read("/admin/jobs?state=available").await["items"].clone();
    assert_eq!((ids(waiting.as_array().unwrap()).len(), &waiting[0]["version"]), (1, &json!("2.0")));

    // A worker of the SDK that runs all versions, and brings arguments of version 1 to version 2.
    let client = Client::connect(&w.url()).await.unwrap();
    let worker = Worker::new(client.transport().clone(), WorkerOptions::new(["q"]).versions("mail", ["*"]).unwrap());
    let (seen, mut log) = unbounded_channel();
    worker
        .register("mail", move |ctx| {
            let seen = seen.clone();
            async move {
                let args: Value = serde_json::from_str(ctx.job().args.as_str())?;
                let results: Value = serde_json::from_str(ctx.parent_results().map_or("null", |results| results.as_str()))?;
                seen.send((ctx.id().to_owned(), args, results))?;
                Ok("from the worker")
            }
        })
        .unwrap();
    worker.register_transform("mail", "1.5", "2.0", |args| Ok(json!([{"name": args[0]}]))).unwrap();
    let handle = worker.start();
    let (second, args, results) = log.recv().await.unwrap();
    assert_eq!(args, json!(["ada"]), "it has its own version already");
    assert!(results.to_string().contains("done"), "the result of the step before: {results}");
    let (third, args, _) = log.recv().await.unwrap();
    assert_eq!(args, json!([{"name": "ada"}]), "transformed");
    let (fourth, args, _) = log.recv().await.unwrap();
    assert_eq!(args, json!(["ada"]));
    handle.shutdown(None).await;
    for (id, version) in [(second, "2.0"), (third, "1.5"), (fourth, "2.1")] {
        let job = w.read(&format!("/jobs/{id}")).await["job"].clone();
        assert_eq!((&job["version"], &job["state"]), (&json!(version), &json!("completed")));
    }
}
