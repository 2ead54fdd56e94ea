//! Workflows and cron through the real engine.
#![cfg(feature = "embedded")]
use std::time::Duration;

use ojs::workflow::{Callbacks, Step, batch, chain, graph, group, node};
use ojs::{Client, CronJob, HandlerError, JobContext, JobRequest, Overlap, Worker};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// A client, and a worker that adds its argument to the sum of its parents' results, says so, and fails at "boom".
async fn adding() -> (Client, ojs::worker::WorkerHandle, mpsc::UnboundedReceiver<(String, i64)>) {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let (said, hears) = mpsc::unbounded_channel();
    for job_type in ["step.add", "report.sum", "report.alert"] {
        let said = said.clone();
        worker
            .register(job_type, move |ctx: JobContext| {
                let said = said.clone();
                async move {
                    let (own,): (i64,) = ctx.args()?;
                    let parents: Vec<Value> = ctx.parent_results().map(|json| json.parse()).transpose()?.unwrap_or_default();
                    let sum = own + parents.iter().filter_map(Value::as_i64).sum::<i64>();
                    assert_eq!(ctx.workflow_id().is_some(), ctx.job().attribute("workflow_id").is_some());
                    said.send((ctx.job_type().to_owned(), sum))?;
                    Ok(sum)
                }
            })
            .unwrap();
    }
    worker.register("boom", |_| async { Err::<(), _>(HandlerError::non_retryable("boom")) }).unwrap();
    (client, worker.start(), hears)
}

fn add(n: i64) -> JobRequest {
    JobRequest::new("step.add", n)
}

async fn hear(hears: &mut mpsc::UnboundedReceiver<(String, i64)>) -> (String, i64) {
    tokio::time::timeout(Duration::from_secs(60), hears.recv()).await.expect("the workflow goes on").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_passes_results_on() {
    let (client, handle, mut hears) = adding().await;
    let workflow = client.workflow(&chain([add(1), add(10), add(100)]).name("sums")).await.unwrap();
    assert_eq!((workflow.state.as_str(), workflow.total), ("running", 3));
    let sums = [hear(&mut hears).await.1, hear(&mut hears).await.1, hear(&mut hears).await.1];
    assert_eq!(sums, [1, 11, 112], "each step has the results of those before");
    handle.shutdown(None).await;
    let workflow = client.get_workflow(&workflow.id).await.unwrap();
    assert_eq!((workflow.state.as_str(), workflow.completed), ("completed", 3));
    assert!(client.cancel_workflow(&workflow.id).await.unwrap_err().is_invalid_state_transition());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_calls_back() {
    let (client, handle, mut hears) = adding().await;
    let callbacks =
        || Callbacks::new().on_success(JobRequest::new("report.sum", 0)).on_failure(JobRequest::new("report.alert", 0));
    client.workflow(&batch([add(1), add(2)], callbacks())).await.unwrap();
    let mut heard = [hear(&mut hears).await, hear(&mut hears).await, hear(&mut hears).await];
    assert_eq!(heard[2], ("report.sum".to_owned(), 3), "after all jobs, with their results");
    client.workflow(&batch([add(5), JobRequest::new("boom", ())], callbacks())).await.unwrap();
    heard = [hear(&mut hears).await, hear(&mut hears).await, heard[0].clone()];
    assert_eq!(heard[1].0, "report.alert");
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workflows_nest_and_can_be_cancelled() {
    let (client, handle, mut hears) = adding().await;
    let nested = client.workflow(&chain([Step::from(group([add(1), add(2)])), add(10).into()])).await.unwrap();
    let mut first = [hear(&mut hears).await.1, hear(&mut hears).await.1];
    first.sort_unstable();
    assert_eq!(first, [1, 2]);
    hear(&mut hears).await;
    handle.shutdown(None).await;
    assert_eq!(client.get_workflow(&nested.id).await.unwrap().state, "completed");
    let waiting = client.workflow(&chain([add(1), add(2)])).await.unwrap();
    assert_eq!(client.cancel_workflow(&waiting.id).await.unwrap().state, "cancelled");
    assert_eq!(client.queue_stats("default").await.unwrap().available, 0);
    let error = client.workflow(&chain(Vec::<JobRequest>::new())).await.unwrap_err();
    assert_eq!(error.ojs().unwrap().kind.as_deref(), Some("invalid_workflow"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_of_a_graph_gets_the_results_of_those_before_it() {
    let (client, handle, mut hears) = adding().await;
    let diamond = graph([
        node("start", add(1)),
        node("left", add(10)).after(["start"]),
        node("right", add(100)).after(["start"]),
        node("end", JobRequest::new("report.sum", 1000)).after(["left", "right"]),
    ]);
    let started = client.workflow(&diamond.name("diamond")).await.unwrap();
    assert_eq!(hear(&mut hears).await.1, 1);
    let mut sides = [hear(&mut hears).await.1, hear(&mut hears).await.1];
    sides.sort_unstable();
    assert_eq!(sides, [11, 101]);
    assert_eq!(hear(&mut hears).await, ("report.sum".to_owned(), 1112), "the results of both sides, not of the start");
    handle.shutdown(None).await;
    assert_eq!(client.get_workflow(&started.id).await.unwrap().state, "completed");
    let circle = graph([node("a", add(1)).after(["b"]), node("b", add(1)).after(["a"])]);
    assert!(client.workflow(&circle).await.unwrap_err().to_string().contains("circle"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cron_jobs_are_kept_by_name() {
    let client = Client::connect("memory:").await.unwrap();
    let cron = CronJob::new("daily", "0 9 * * *", JobRequest::new("report.sum", 1).queue("reports"))
        .timezone("Asia/Tokyo")
        .overlap(Overlap::Skip);
    let registered = client.register_cron(&cron).await.unwrap();
    assert_eq!((&registered["expression"], &registered["timezone"]), (&json!("0 9 * * *"), &json!("Asia/Tokyo")));
    client.register_cron(&cron).await.unwrap();
    let listed = client.list_cron().await.unwrap();
    assert_eq!((listed.len(), &listed[0]["name"]), (1, &json!("daily")));
    assert_eq!(client.get_cron("daily").await.unwrap()["job_template"]["options"]["queue"], "reports");
    client.delete_cron("daily").await.unwrap();
    assert!(client.get_cron("daily").await.unwrap_err().is_not_found());
    let wrong = CronJob::new("wrong", "not a cron", JobRequest::new("report.sum", 1));
    assert_eq!(client.register_cron(&wrong).await.unwrap_err().status(), Some(400));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_enqueues() {
    let (client, handle, mut hears) = adding().await;
    client.register_cron(&CronJob::new("often", "@every 1s", add(7))).await.unwrap();
    assert_eq!(hear(&mut hears).await, ("step.add".to_owned(), 7));
    handle.shutdown(None).await;
}
