//! The option `train` on its way to the server: from every place where a job can be described, and the header that goes
//! with it.
use bytes::Bytes;
use ojs::testing::{Recorder, matching};
use ojs::transport::{JOB_TRAINS, Response};
use ojs::workflow::{Callbacks, batch, chain};
use ojs::{CronJob, Error, Job, JobOptions, JobRequest, Train, TrainAction, defaults};
use serde_json::{Value, json};

fn held(id: &str) -> Train {
    Train::new(id).on_cancelled(TrainAction::Hold)
}

/// The body of the latest request; it requires the extension.
fn sent(recorder: &Recorder) -> Value {
    let request = recorder.requests().pop().expect("a request");
    assert_eq!(request.required_extension(), Some(JOB_TRAINS), "{}", request.path);
    serde_json::from_slice(request.body.as_deref().unwrap()).unwrap()
}

/// What a job in the train `dest_1` has, which is held when it is cancelled.
fn assert_in_train(job: &Value) {
    assert_eq!(job["options"]["train"], json!({"id": "dest_1", "on_cancelled": "hold"}), "{job}");
    assert_eq!(job["meta"], json!({"train_id": "dest_1", "train_on_cancelled": "hold"}), "{job}");
}

#[tokio::test]
async fn a_job_carries_its_train_from_wherever_it_is_described() {
    let recorder = Recorder::new();
    let client = recorder.client();
    let job = || JobRequest::new("deploy", [1]).train(held("dest_1"));
    client.enqueue("deploy", [1]).train(held("dest_1")).await.unwrap();
    assert_in_train(&sent(&recorder));
    client.enqueue_batch([JobRequest::new("other", ()), job()]).await.unwrap();
    assert_in_train(&sent(&recorder)["jobs"][1]);
    client.workflow(&chain([job(), JobRequest::new("other", ())])).await.unwrap();
    assert_in_train(&sent(&recorder)["steps"][0]);
    client.workflow(&batch([JobRequest::new("other", ())], Callbacks::new().on_complete(job()))).await.unwrap();
    assert_in_train(&sent(&recorder)["callbacks"]["on_complete"]);
    client.register_cron(&CronJob::new("nightly", "@daily", job())).await.unwrap();
    let cron = sent(&recorder);
    assert_in_train(&cron["job_template"]);
    assert_in_train(&cron);
    assert_in_train(&recorder.enqueued()[0]);
}

#[tokio::test]
async fn a_job_without_a_train_is_sent_as_before() {
    let recorder = Recorder::new();
    recorder.client().enqueue("deploy", [json!({"train_id": "x"})]).await.unwrap();
    let request = recorder.requests().pop().unwrap();
    assert_eq!(request.required_extension(), None);
    assert_eq!(request.body.as_deref(), Some(&br#"{"type":"deploy","args":[{"train_id":"x"}]}"#[..]));
}

#[tokio::test]
async fn metadata_alone_puts_a_job_into_a_train() {
    let recorder = Recorder::new();
    recorder.client().enqueue("deploy", ()).meta("train_id", "dest_1").await.unwrap();
    assert_eq!(sent(&recorder), json!({"type": "deploy", "args": [], "meta": {"train_id": "dest_1"}}));
}

#[tokio::test]
async fn a_wrong_train_is_refused_before_anything_is_sent() {
    let recorder = Recorder::new();
    let client = recorder.client();
    let requests = [JobRequest::new("a", ()), JobRequest::new("a", ()).train("dest 1")];
    for (error, field) in [
        (client.enqueue("a", ()).train("").await.unwrap_err(), "train.id"),
        (client.enqueue("a", ()).train(Train::default()).await.unwrap_err(), "train.id"),
        (client.enqueue("a", ()).train("b").meta("train_id", "a").await.unwrap_err(), "train.id"),
        (
            client.enqueue("a", ()).option("train", json!({"id": "a", "on_cancelled": "wait"})).await.unwrap_err(),
            "train.on_cancelled",
        ),
        (client.enqueue_batch(requests).await.unwrap_err(), "jobs[1].train.id"),
    ] {
        assert!(matches!(&error, Error::Validation { field: found, .. } if found == field), "{error}");
    }
    assert!(recorder.requests().is_empty());
}

#[tokio::test]
async fn a_type_names_its_train_and_policies_once() {
    let recorder = Recorder::new();
    let client = recorder.client();
    let train = || sent(&recorder)["options"]["train"].clone();
    let plain = || recorder.requests().pop().unwrap();
    let policy = Train::default().on_cancelled(TrainAction::Hold);
    defaults::set("trains.policy", JobOptions::new().train(policy.clone())).unwrap();
    client.enqueue("trains.policy", ()).await.unwrap();
    assert_eq!(plain().required_extension(), None, "a policy alone is no train");
    client.enqueue("trains.policy", ()).train("dest_1").await.unwrap();
    assert_eq!(train(), json!({"id": "dest_1", "on_cancelled": "hold"}));
    client.enqueue("trains.policy", ()).meta("train_id", "dest_2").await.unwrap();
    assert_eq!(train(), json!({"id": "dest_2", "on_cancelled": "hold"}));
    client.enqueue("trains.policy", ()).train(Train::new("x").on_cancelled(TrainAction::Advance)).await.unwrap();
    assert_eq!(train(), json!({"id": "x", "on_cancelled": "advance"}), "what the job says wins");

    defaults::set("trains.derived", JobOptions::new().train(Train::new("dest_{destination_id}"))).unwrap();
    client.enqueue("trains.derived", json!({"destination_id": 123, "action": "deploy"})).await.unwrap();
    assert_eq!(train(), json!({"id": "dest_123"}));
    client.enqueue("trains.derived", json!({"destination_id": 123})).train("dest_9").await.unwrap();
    assert_eq!(train(), json!({"id": "dest_9"}));
    client.enqueue("trains.derived", json!({"destination_id": 123})).option("train", false).await.unwrap();
    assert_eq!(plain().required_extension(), None, "false is no train");
    for args in [json!({"action": "deploy"}), json!({"destination_id": null}), json!({"destination_id": "a b"}), json!(7)] {
        let error = client.enqueue("trains.derived", args.clone()).await.unwrap_err();
        assert!(error.to_string().starts_with("train.id: "), "{args}: {error}");
    }

    for wrong in [r#"{"train":{"id":"dest_{"}}"#, r#"{"train":{"id":"{x} y"}}"#, r#"{"train":{"on_cancelled":"wait"}}"#] {
        assert!(defaults::set_json("trains.wrong", wrong).unwrap_err().to_string().starts_with("train."), "{wrong}");
    }
    for job_type in ["trains.policy", "trains.derived"] {
        defaults::set_json(job_type, "{}").unwrap();
    }
}

#[tokio::test]
async fn a_server_without_trains_takes_nothing_and_says_so() {
    let recorder = Recorder::new();
    let refusal = json!({"error": {"code": "EXTENSION_NOT_SUPPORTED", "message": "no", "details": {"extension": JOB_TRAINS}}});
    recorder.answer(Ok(Response::new(422, refusal.to_string())));
    let error = recorder.client().enqueue("deploy", ()).train("dest_1").await.unwrap_err();
    assert!(error.is_unsupported_extension() && !error.is_retryable(), "{error}");
    assert_eq!(error.ojs().unwrap().details.as_ref().unwrap()["extension"], JOB_TRAINS);
}

#[test]
fn a_fake_finds_jobs_by_their_train() {
    let job = r#"{"type":"deploy","args":[],"meta":{"train_id":"dest_1","train_on_cancelled":"hold"},
        "options":{"train":{"id":"dest_1","on_cancelled":"hold"}}}"#;
    let jobs = format!(r#"[{{"type":"deploy","args":[]}},{job}]"#);
    for (wanted, found) in [
        (json!({"train": "dest_1"}), &[1][..]),
        (json!({"train": {"id": "dest_1", "on_cancelled": "hold"}}), &[1]),
        (json!({"train": {"id": "dest_1", "on_discarded": "hold"}}), &[]),
        (json!({"train": "dest_2"}), &[]),
        (json!({"type": "deploy"}), &[0, 1]),
    ] {
        assert_eq!(matching(&jobs, &wanted.to_string()).unwrap(), found, "{wanted}");
    }
}

#[test]
fn a_job_knows_its_place_in_its_train() {
    let job = r#"{"id":"1","type":"a","train":{"id":"dest_1","position":3,"role":"car","ahead":2,"state":"running"}}"#;
    let train = Job::parse(Bytes::from_static(job.as_bytes())).unwrap().train.unwrap();
    assert_eq!((train.id.as_str(), train.position, train.role.as_str()), ("dest_1", 3, "car"));
    assert_eq!((train.ahead, train.state.as_str()), (2, "running"));
    assert_eq!(Job::parse(Bytes::from_static(b"{}")).unwrap().train, None);
}

#[cfg(any(feature = "outbox-sqlite", feature = "outbox-postgres", feature = "outbox-mysql"))]
#[tokio::test]
async fn rows_of_an_outbox_carry_the_train() {
    use ojs::outbox::{Dialect, Style, Table};
    let client = Recorder::new().client();
    let job = || JobRequest::new("deploy", [1]).train(held("dest_1"));
    let in_train = |text: &str| assert_in_train(&serde_json::from_str(text).unwrap());
    let staged = client.stage(job(), Dialect::Postgres, &Table::default()).await.unwrap().unwrap();
    let row = staged.texts(Style::Dollar).1;
    let options: Value = serde_json::from_str(row[2].as_deref().unwrap()).unwrap();
    in_train(&json!({"meta": options["meta"], "options": {"train": options["train"]}}).to_string());
    let staged = client.stage_in_engine(job()).await.unwrap().unwrap();
    let row = staged.texts(Style::Dollar).1;
    let column = |place: usize| serde_json::from_str::<Value>(row[place].as_deref().unwrap()).unwrap();
    in_train(&json!({"meta": column(4), "options": column(5)}).to_string());
    assert!(client.stage(JobRequest::new("a", ()).train("a b"), Dialect::Sqlite, &Table::default()).await.is_err());
}

#[cfg(feature = "http")]
mod http {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Takes one request and answers it; gives its text.
    async fn one_request(listener: TcpListener) -> String {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut text, mut bytes) = (String::new(), [0; 4096]);
        while !text.ends_with('}') {
            let length = stream.read(&mut bytes).await.unwrap();
            text.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        }
        let body = r#"{"job":{"id":"1"}}"#;
        let answer = format!("HTTP/1.1 201 Created\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.unwrap();
        text.to_ascii_lowercase()
    }

    #[tokio::test]
    async fn a_request_with_a_train_requires_the_extension() {
        for (train, header) in [(Some("dest_1"), true), (None, false)] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let request = tokio::spawn(one_request(listener));
            let client = ojs::Client::connect(&url).await.unwrap();
            let job = JobRequest::new("deploy", ());
            let job = if let Some(id) = train { job.train(id) } else { job };
            client.enqueue_request(job).await.unwrap();
            let wanted = format!("ojs-requires-extension: {JOB_TRAINS}\r\n");
            assert_eq!(request.await.unwrap().contains(&wanted), header, "{train:?}");
        }
    }
}

#[cfg(feature = "embedded")]
mod fakes {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use ojs::testing::Fake;
    use ojs::worker::WorkerOptions;
    use ojs::{Client, HandlerError, JobContext, JobState, RetryPolicy, Worker};

    use super::*;

    /// Arguments of the jobs that have run, with their places.
    type Seen = Arc<Mutex<Vec<(i64, u64)>>>;

    /// A worker whose handler `deploy` keeps its argument and its place; an argument below zero fails for good.
    fn worker(client: &Client) -> (Arc<Worker>, Seen) {
        let (worker, seen) = (Worker::for_client(client), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&seen);
        let handler = move |ctx: JobContext| {
            let kept = Arc::clone(&kept);
            async move {
                let number: i64 = ctx.arg(0)?;
                kept.lock().unwrap().push((number, ctx.train().map_or(0, |train| train.position)));
                if number < 0 { Err(HandlerError::non_retryable("no such destination")) } else { Ok(()) }
            }
        };
        worker.register("deploy", handler).unwrap();
        (Arc::new(worker), seen)
    }

    #[tokio::test]
    async fn a_drain_runs_the_jobs_of_a_train_in_order() {
        let fake = Fake::start().await.unwrap();
        let client = fake.client();
        // Without the train the highest priority would run first.
        for (number, priority) in [(1, -5), (2, 0), (3, 5)] {
            client.enqueue("deploy", number).train("dest_1").priority(priority).await.unwrap();
        }
        let waiting = client.enqueue("deploy", 4).train("dest_1").await.unwrap();
        assert_eq!((waiting.state, waiting.train.unwrap().ahead), (JobState::Pending, 3));
        let (worker, seen) = worker(&client);
        assert_eq!(fake.drain(&worker).await.unwrap(), 4);
        assert_eq!(*seen.lock().unwrap(), [(1, 1), (2, 2), (3, 3), (4, 4)]);
        assert_eq!(fake.assert_enqueued("deploy")["meta"]["train_id"], "dest_1");
    }

    #[tokio::test]
    async fn a_job_that_fails_for_good_stops_its_train_where_it_says_so() {
        for (action, ran, state) in [
            (TrainAction::Hold, vec![(-1, 1)], JobState::Pending),
            (TrainAction::Advance, vec![(-1, 1), (2, 2)], JobState::Completed),
        ] {
            let fake = Fake::start().await.unwrap();
            let client = fake.client();
            client.enqueue("deploy", -1).train(Train::new("dest_1").on_discarded(action)).await.unwrap();
            let second = client.enqueue("deploy", 2).train("dest_1").await.unwrap();
            let (worker, seen) = worker(&client);
            assert!(fake.drain(&worker).await.is_err(), "the failure of the first job");
            fake.drain(&worker).await.unwrap();
            let now = client.get_job(&second.id).await.unwrap().state;
            assert_eq!((seen.lock().unwrap().clone(), now), (ran, state), "{action:?}");
        }
    }

    #[tokio::test]
    async fn steps_and_runs_join_like_any_other_job() {
        let fake = Fake::start().await.unwrap();
        let client = fake.client();
        let job = |number| JobRequest::new("deploy", number).train("dest_1");
        client.enqueue("deploy", 1).train("dest_1").await.unwrap();
        client.workflow(&chain([job(2), JobRequest::new("deploy", 9)])).await.unwrap();
        client.enqueue_batch([job(3), job(4)]).await.unwrap();
        let (worker, seen) = worker(&client);
        assert_eq!(fake.drain(&worker).await.unwrap(), 5);
        let in_train: Vec<_> = seen.lock().unwrap().iter().copied().filter(|(_, position)| *position > 0).collect();
        assert_eq!(in_train, [(1, 1), (2, 2), (3, 3), (4, 4)]);
    }

    /// The decision on job trains promises it, and its sketch breaks it: there an error value counts as the end of the
    /// job.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn jt_05_an_error_that_a_handler_returns_keeps_the_train() {
        let folder = tempfile::tempdir().unwrap();
        for url in ["memory:".to_owned(), format!("sqlite:{}", folder.path().join("jobs.db").display())] {
            let client = Client::connect(&url).await.unwrap();
            let (seen, mut log) = tokio::sync::mpsc::unbounded_channel();
            let worker = Worker::new(Arc::clone(client.transport()), WorkerOptions::default());
            let handler = move |ctx: JobContext| {
                let seen = seen.clone();
                async move {
                    let number: i64 = ctx.arg(0)?;
                    seen.send((number, ctx.attempt()))?;
                    if number == 1 && ctx.attempt() < 3 { Err(std::io::Error::other("not yet").into()) } else { Ok(()) }
                }
            };
            worker.register("deploy", handler).unwrap();
            let retry = RetryPolicy::new().max_attempts(3).initial_interval(Duration::from_millis(1));
            client.enqueue("deploy", 1).train("dest_1").retry(retry).await.unwrap();
            client.enqueue("deploy", 2).train("dest_1").await.unwrap();
            let handle = worker.start();
            for expected in [(1, 1), (1, 2), (1, 3), (2, 1)] {
                assert_eq!(log.recv().await.unwrap(), expected);
            }
            handle.shutdown(None).await;
        }
    }
}
