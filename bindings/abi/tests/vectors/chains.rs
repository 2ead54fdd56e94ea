//! The order of middleware: what each change of a chain does, and what the layers see of a job.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs::middleware::{Chain, EnqueueMiddleware, EnqueueNext, Middleware, Next};
use ojs::{Client, Error, HandlerError, Job, JobContext, JobRequest, RetryPolicy, Worker};
use serde_json::{Value, json};

/// What the layers and the handler wrote down.
type Trace = Arc<Mutex<Vec<String>>>;

/// Fills in what is expected: what each step of `do` gave, the names, and where all steps are right, what a job went through.
pub async fn make(cases: &mut Value) {
    for case in cases.as_array_mut().unwrap() {
        let client = Client::connect("memory:").await.unwrap();
        let worker = Worker::for_client(&client);
        let (sent, ran) = (Trace::default(), Trace::default());
        for which in ["enqueue", "execution"] {
            if !["both", which].contains(&case["chain"].as_str().unwrap()) {
                continue;
            }
            let (steps, names) = if which == "enqueue" {
                let layer = |name: &str| sender(name, &case["layers"], &sent);
                (applied(case, client.middleware(), layer), client.middleware().names())
            } else {
                let layer = |name: &str| runner(name, &case["layers"], &ran);
                (applied(case, worker.middleware(), layer), worker.middleware().names())
            };
            case["steps"] = json!(steps);
            case["names"] = json!(names);
        }
        if case["steps"].as_array().unwrap().iter().all(|step| step == "ok") {
            case["trace"] = trace(&client, worker, sent, ran).await;
        }
    }
}

/// Whether each step was right.
fn applied<M: ?Sized, L: ojs::middleware::IntoLayer<M>>(
    case: &Value,
    chain: &Chain<M>,
    layer: impl Fn(&str) -> L,
) -> Vec<&'static str> {
    let apply = |step: &Value| -> Result<(), Error> {
        let word = |index: usize| step[index].as_str().unwrap();
        match word(0) {
            "add" => chain.add(word(1), layer(word(1))),
            "prepend" => chain.prepend(word(1), layer(word(1))),
            "insert_before" => chain.insert_before(word(1), word(2), layer(word(2))),
            "insert_after" => chain.insert_after(word(1), word(2), layer(word(2))),
            "remove" => chain.remove(word(1)),
            other => panic!("{other}"),
        }
    };
    case["do"].as_array().unwrap().iter().map(|step| if apply(step).is_ok() { "ok" } else { "error" }).collect()
}

fn note(trace: &Trace, what: impl Into<String>) {
    trace.lock().unwrap().push(what.into());
}

fn sender(name: &str, layers: &Value, trace: &Trace) -> impl EnqueueMiddleware + use<> {
    let (name, does, trace) = (name.to_owned(), layers[name].as_str().unwrap_or_default().to_owned(), Arc::clone(trace));
    move |mut request: JobRequest, next: EnqueueNext| {
        let (name, does, trace) = (name.clone(), does.clone(), Arc::clone(&trace));
        async move {
            note(&trace, format!("{name}>"));
            match does.as_str() {
                "stop" => return Ok(None::<Job>),
                "fail_before" => return Err(Error::Middleware(name)),
                "change" => _ = request.meta.insert("by".to_owned(), json!(name)),
                _ => {}
            }
            let job = next.run(request).await?;
            if does == "fail_after" {
                return Err(Error::Middleware(name));
            }
            note(&trace, format!("<{name}"));
            Ok(job)
        }
    }
}

fn runner(name: &str, layers: &Value, trace: &Trace) -> impl Middleware + use<> {
    let (name, does, trace) = (name.to_owned(), layers[name].as_str().unwrap_or_default().to_owned(), Arc::clone(trace));
    move |ctx: JobContext, next: Next| {
        let (name, does, trace) = (name.clone(), does.clone(), Arc::clone(&trace));
        async move {
            note(&trace, format!("{name}>"));
            match does.as_str() {
                "stop" => return Ok(None),
                "fail_before" => return Err(HandlerError::new(name)),
                _ => {}
            }
            let result = next.run(ctx).await?;
            if does == "fail_after" {
                return Err(HandlerError::new(name));
            }
            note(&trace, format!("<{name}"));
            Ok(result)
        }
    }
}

/// One job through both chains: what the layers wrote, how the enqueue and the job ended, and the metadata that the job has.
async fn trace(client: &Client, worker: Worker, sent: Trace, ran: Trace) -> Value {
    let noted = Arc::clone(&ran);
    worker
        .register("a", move |_| {
            note(&noted, "handler");
            async { Ok(()) }
        })
        .unwrap();
    let job = client.enqueue("a", ()).retry(RetryPolicy::new().max_attempts(1)).send_optional().await;
    let enqueue = match &job {
        Ok(Some(_)) => "enqueued",
        Ok(None) => "dropped",
        Err(_) => "failed",
    };
    let mut seen = json!({"enqueue": enqueue, "sent": *sent.lock().unwrap()});
    if let Ok(Some(job)) = job {
        let handle = worker.start();
        let ended = loop {
            let job = client.get_job(&job.id).await.unwrap();
            if job.state.is_terminal() {
                break job;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        handle.shutdown(Some(Duration::ZERO)).await;
        seen["ran"] = json!(*ran.lock().unwrap());
        seen["state"] = json!(ended.state.as_str());
        seen["by"] = ended.meta.to_value()["by"].clone();
    }
    seen
}
