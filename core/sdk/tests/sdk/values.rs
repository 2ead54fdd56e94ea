//! What becomes of values: the table of docs/guide/values.md.
#![cfg(feature = "embedded")]
use std::collections::BTreeMap;
use std::time::Duration;

use ojs::{Client, Error, JobContext, JobRequest, JobState, Json, Worker};
use serde::Serialize;
use serde_json::json;

#[derive(Serialize)]
struct Order {
    price: f64,
    parts: Vec<Part>,
}

#[derive(Serialize)]
enum Part {
    Plain,
    Weighed(f32),
    Named { by: BTreeMap<Option<u8>, u8> },
    Both(u8, f64),
}

fn order(part: Part) -> Order {
    Order { price: 1.5, parts: vec![Part::Plain, part] }
}

async fn refused(client: &Client, args: impl Serialize, message: &str) {
    let error = client.enqueue("a.b", args).await.unwrap_err();
    assert!(matches!(error, Error::Serialization { .. }) && error.to_string().starts_with(message), "{error}");
}

#[tokio::test]
async fn what_would_be_lost_is_refused_with_its_place_and_what_to_pass() {
    let client = Client::connect("memory:").await.unwrap();
    refused(&client, f64::NAN, "job: args[0]: JSON has no form for NaN: pass None, or text").await;
    refused(&client, (1, f32::NEG_INFINITY), "job: args[1]: JSON has no form for -inf").await;
    refused(&client, Order { price: f64::INFINITY, parts: Vec::new() }, "job: args[0].price: JSON has no form for inf").await;
    refused(&client, (order(Part::Weighed(f32::NAN)),), "job: args[0].parts[1].Weighed: JSON has no form for NaN").await;
    refused(&client, (order(Part::Both(1, f64::NAN)),), "job: args[0].parts[1].Both[1]: JSON has no form for NaN").await;
    let by = BTreeMap::from([(Some(7), 1)]);
    let place =
        "job: args[0].parts[1].Named.by: a map with the key 7, which JSON would turn into text: pass a map whose keys are text";
    refused(&client, (order(Part::Named { by }),), place).await;
    refused(&client, (BTreeMap::from([(true, 1)]),), "job: args[0]: a map with the key true").await;
    refused(&client, (BTreeMap::from([((), 1)]),), "job: args[0]: a map with the key ()").await;
    let batch = [JobRequest::new("a.b", ()), JobRequest::new("a.b", (f64::NAN,))];
    assert!(client.enqueue_batch(batch).await.unwrap_err().to_string().contains("args[0]: JSON has no form for NaN"));
    assert_eq!(client.list_jobs(&ojs::ListJobs::default()).await.unwrap().total, 0, "none was stored");
}

#[tokio::test]
async fn a_result_is_held_to_the_same_rule() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    worker.register("a.b", |_: JobContext| async { Ok(BTreeMap::from([("mean", f64::NAN)])) }).unwrap();
    let job = client.enqueue("a.b", ()).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let run = tokio::spawn(worker.run_until(stopped));
    let ended = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            let job = client.get_job(&job.id).await.unwrap();
            if job.state == JobState::Discarded {
                break job;
            }
        }
    });
    let error = ended.await.expect("it fails for good").error.unwrap();
    assert!(error.message.contains("result: mean: JSON has no form for NaN"), "{error:?}");
    stop.send(()).unwrap();
    run.await.unwrap();
}

#[test]
fn what_arrives_as_the_table_says() {
    #[derive(Serialize)]
    enum Colour {
        Red,
    }
    let given = (
        (None::<u8>, (), true, 'c', "馬", u64::MAX, i128::MIN, 0.1),
        (Colour::Red, [1_u8, 2], Duration::from_millis(1500), BTreeMap::from([('k', json!({"a": null}))])),
    );
    let wanted = r#"[[null,null,true,"c","馬",18446744073709551615,-170141183460469231731687303715884105728,0.1],["Red",[1,2],{"secs":1,"nanos":500000000},{"k":{"a":null}}]]"#;
    assert_eq!(Json::new(&given).unwrap().as_str(), wanted);
    let inner = Json::from_text("[12345678901234567890123456789]").unwrap();
    assert_eq!(Json::new(&[&inner]).unwrap().as_str(), "[[12345678901234567890123456789]]");
}
