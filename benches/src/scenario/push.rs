//! Push delivery: how many jobs a second one node sends, how long a job takes to its endpoint, what endpoints cost a
//! claim, and what the handlers of Python and Node.js add to the start of a function.
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use axum::routing::post as route;
use ojs_engine::outgoing::{Bounds, Outgoing, OutgoingOptions, Post};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::Result;
use crate::connection::{Connection, get, patch, post};
use crate::ids::Ids;
use crate::load::{self, PAYLOAD_BYTES, QUEUE, enqueue, payload};
use crate::report::{Better, Figure, Report, median};
use crate::scenario::depth::{CLAIMS, CONNECTIONS, Series, one_by_one};
use crate::scenario::{Plan, python};
use crate::server::{Server, Store};

/// Jobs of a run, which are there before the endpoint takes the first one.
const JOBS: usize = 20_000;
/// Requests at a time, of the server and of the ceiling.
const AT_A_TIME: usize = 100;
/// Between two looks whether all jobs are done.
const LOOK: Duration = Duration::from_millis(10);
/// Jobs of a run of the latency, one after the other.
const SINGLE: usize = 300;
/// Between two of them: the queue is idle again.
const PAUSE: Duration = Duration::from_millis(2);
/// Endpoints beside which claims are measured.
const ENDPOINTS: usize = 10_000;
/// How many times as long a claim may take beside them as without.
const MOST: f64 = 1.15;
/// The least share of the same client's requests a second that deliveries reach.
const SHARE: f64 = 0.5;
/// Deliveries a second that a node must reach, and those that it should.
const RATES: (f64, f64) = (1_000.0, 10_000.0);
/// Most milliseconds from commit to endpoint: of half of the jobs, and of 99 in 100.
const LATE: (f64, f64) = (3.0, 12.0);
/// Most milliseconds that a handler adds to the start of an interpreter.
const START: f64 = 150.0;
/// Starts of an interpreter; the median counts.
const STARTS: usize = 9;

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("push delivery", plan.runs * 3 + 1);
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    let mut times = [Series::default(), Series::default()];
    let (mut beside, mut alone) = (Series::default(), Series::default());
    let request = request(plan)?;
    for run in 0..plan.runs {
        let sink = Server::echo(&plan.dir)?;
        ours.push(deliveries(plan, run, sink.address)?);
        plain.push(posts(sink.address, &request)?);
        bar.inc(1);
        for (all, samples) in times.iter_mut().zip(latency(plan)?) {
            all.push(samples);
        }
        bar.inc(1);
        beside.push(claims(plan, run, ENDPOINTS)?);
        alone.push(claims(plan, run, 0)?);
        bar.inc(1);
    }
    let share: Vec<f64> = ours.iter().zip(&plain).map(|(ours, plain)| ours / plain).collect();
    let about = format!("{AT_A_TIME} requests at a time, {PAYLOAD_BYTES} byte argument");
    report.add(vec![
        Figure::ours("push delivery", "jobs/s", Better::More, ours, format!("SQLite, one node, {JOBS} jobs; {about}"))
            .must(RATES.0)
            .wanted(RATES.1),
        Figure::ceiling(
            "the same client, POST alone",
            "jobs/s",
            Better::More,
            plain,
            format!("the request of a delivery; {about}"),
        ),
        Figure::ours("  share of the client's rate", "", Better::More, share, "in the same run").must(SHARE),
    ]);
    latencies(report, times);
    let ratio = beside.p50.iter().zip(&alone.p50).map(|(beside, alone)| beside / alone).collect();
    for (name, beside, alone) in [("p50", beside.p50, alone.p50), ("p99", beside.p99, alone.p99)] {
        let conditions = |endpoints: usize| format!("SQLite; one exchange of a worker, {endpoints} endpoints of another queue");
        report.add(vec![
            Figure::ours(format!("claim beside endpoints, {name}"), "ms", Better::Less, beside, conditions(ENDPOINTS)),
            Figure::ceiling(format!("claim without endpoints, {name}"), "ms", Better::Less, alone, conditions(0)),
        ]);
    }
    let name = format!("claim beside {ENDPOINTS} endpoints to one without, p50");
    let about = "SQLite; endpoints of another queue, in turns";
    report.add(vec![Figure::ours(name, "×", Better::Less, ratio, about).must(MOST)]);
    cold_starts(report)?;
    bar.inc(1);
    bar.finish_and_clear();
    Ok(())
}

/// The bound holds for the time from the answer of the enqueue, which comes after the commit. The time from the request
/// stands beside it: it begins before the commit, so that the time from the commit is between the two.
fn latencies(report: &mut Report, [answered, sent]: [Series; 2]) {
    let idle = format!("SQLite; idle queue, {SINGLE} jobs one after another");
    let mut add = |name: &str, bound: f64, answered: Vec<f64>, sent: Vec<f64>| {
        let after = format!("{idle}, from the answer of the enqueue to the endpoint");
        let before = format!("{idle}, from the request of the enqueue, which begins before the commit");
        report.add(vec![
            Figure::ours(format!("commit to endpoint, {name}"), "ms", Better::Less, answered, after).must(bound),
            Figure::ours(format!("  at most, with the enqueue, {name}"), "ms", Better::Less, sent, before),
        ]);
    };
    add("p50", LATE.0, answered.p50, sent.p50);
    add("p99", LATE.1, answered.p99, sent.p99);
}

/// A server whose guard lets requests go to this machine.
fn server(plan: &Plan) -> Result<Server> {
    Server::with(&plan.bin, &plan.dir, Store::Durable, &["--webhook-allow", "127.0.0.1"])
}

/// Registers an endpoint for the jobs of a queue; its id.
async fn register(connection: &mut Connection, url: &str, queue: &str, active: bool) -> Result<String> {
    let body = json!({
        "endpoint": url, "job_types": ["bench.noop"], "queues": [queue], "active": active,
        "config": {"max_concurrency": AT_A_TIME},
    });
    let answer = connection.expect(&post("/ojs/v1/push/endpoints", &body.to_string()), 201).await?;
    let answer: Value = serde_json::from_slice(answer)?;
    Ok(answer["id"].as_str().ok_or("an endpoint without an id")?.to_owned())
}

/// Deliveries a second of one node, whose queue is full when the endpoint is turned on.
fn deliveries(plan: &Plan, run: usize, sink: SocketAddr) -> Result<f64> {
    let server = server(plan)?;
    let ids = Ids::new(run as u16);
    load::on_one_thread(async {
        let mut connection = Connection::open(server.address).await?;
        let id = register(&mut connection, &format!("http://{sink}/ojs/v1/push"), QUEUE, false).await?;
        enqueue::run(server.address, &ids, 0, CONNECTIONS, 500, enqueue::Until::Jobs(JOBS)).await?;
        let started = Instant::now();
        connection.expect(&patch(&format!("/ojs/v1/push/endpoints/{id}"), r#"{"active":true}"#), 200).await?;
        loop {
            tokio::time::sleep(LOOK).await;
            let stats = connection.expect(&get(&format!("/ojs/v1/queues/{QUEUE}/stats")), 200).await?;
            let stats: Value = serde_json::from_slice(stats)?;
            let done = stats["stats"]["completed"].as_u64().ok_or("stats without completed jobs")?;
            if done == JOBS as u64 {
                return Ok(JOBS as f64 / started.elapsed().as_secs_f64());
            }
        }
    })
}

/// What an endpoint sees of a delivery: when it came, its headers and its body.
type Arrival = (Instant, HeaderMap, Bytes);

/// Starts an endpoint in this process that tells of each request.
async fn endpoint() -> Result<(SocketAddr, mpsc::UnboundedReceiver<Arrival>)> {
    let (arrived, arrivals) = mpsc::unbounded_channel();
    let answer = move |headers: HeaderMap, body: Bytes| {
        let _ = arrived.send((Instant::now(), headers, body));
        std::future::ready(r#"{"status":"completed"}"#)
    };
    let app = Router::new().route("/push", route(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok((address, arrivals))
}

/// An enqueue of the job that deliveries bring.
fn enqueue_one() -> Vec<u8> {
    let job = format!(r#"{{"type":"bench.noop","args":[{}],"options":{{"queue":"{QUEUE}"}}}}"#, payload());
    post("/ojs/v1/jobs", &job)
}

/// Headers and body of a delivery, as the server has sent them.
fn request(plan: &Plan) -> Result<(HeaderMap, Bytes)> {
    let server = server(plan)?;
    load::on_one_thread(async {
        let (address, mut arrivals) = endpoint().await?;
        let mut connection = Connection::open(server.address).await?;
        register(&mut connection, &format!("http://{address}/push"), QUEUE, true).await?;
        connection.expect(&enqueue_one(), 201).await?;
        let (_, mut headers, body) = arrivals.recv().await.ok_or("the endpoint has ended")?;
        for own in [header::HOST, header::CONTENT_LENGTH] {
            headers.remove(own);
        }
        Ok((headers, body))
    })
}

/// Requests a second of the client that the server has, when it does nothing else: the bytes of a delivery, which are
/// made and signed beforehand, to the endpoint that deliveries go to, on as many connections.
fn posts(sink: SocketAddr, (headers, body): &(HeaderMap, Bytes)) -> Result<f64> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = Arc::new(Outgoing::new(OutgoingOptions { allow_insecure: true, ..OutgoingOptions::default() }, false));
        let started = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..AT_A_TIME {
            let client = Arc::clone(&client);
            let url = format!("http://{sink}/ojs/v1/push");
            let (headers, body) = (headers.clone(), body.clone());
            let post = Post { url, headers, body, bounds: Bounds { redirects: 0, ..Bounds::default() }, aws: None };
            tasks.spawn(async move {
                for _ in 0..JOBS / AT_A_TIME {
                    client.post(post.clone()).await?;
                }
                Ok::<(), ojs_engine::outgoing::Fault>(())
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
        Ok(JOBS as f64 / started.elapsed().as_secs_f64())
    })
}

/// The times to the endpoint: from the answer of each enqueue, and from its request. A delivery may arrive before the
/// answer does, which counts as no time.
fn latency(plan: &Plan) -> Result<[Vec<Duration>; 2]> {
    let server = server(plan)?;
    load::on_one_thread(async {
        let (address, mut arrivals) = endpoint().await?;
        let mut connection = Connection::open(server.address).await?;
        register(&mut connection, &format!("http://{address}/push"), QUEUE, true).await?;
        let request = enqueue_one();
        let (mut answered, mut sent) = (Vec::with_capacity(SINGLE), Vec::with_capacity(SINGLE));
        for _ in 0..SINGLE {
            tokio::time::sleep(PAUSE).await;
            let began = Instant::now();
            connection.expect(&request, 201).await?;
            let committed = Instant::now();
            let (at, _, _) = arrivals.recv().await.ok_or("the endpoint has ended")?;
            answered.push(at.saturating_duration_since(committed));
            sent.push(at.saturating_duration_since(began));
        }
        Ok([answered, sent])
    })
}

/// The time of each claim of a worker beside so many endpoints.
fn claims(plan: &Plan, run: usize, endpoints: usize) -> Result<Vec<Duration>> {
    let server = server(plan)?;
    let measured = Ids::new((0x300 + run) as u16);
    load::on_one_thread(async {
        let mut connection = Connection::open(server.address).await?;
        for _ in 0..endpoints {
            register(&mut connection, "http://127.0.0.1:9/", "elsewhere", true).await?;
        }
        enqueue::run(server.address, &measured, 0, CONNECTIONS, 500, enqueue::Until::Jobs(CLAIMS)).await?;
        one_by_one(&server, &measured).await
    })
}

/// One job in a fresh interpreter, beside an interpreter that does nothing.
fn cold_starts(report: &mut Report) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let job = r#"{"id": "019539a4-0000-7000-8000-000000000001", "type": "t", "args": []}"#;
    let handler = format!(
        "from openjobspec import serverless\nhandler = serverless.LambdaHandler()\nhandler.register('t', lambda ctx: None)\n\
         assert handler({job})['status'] == 'completed'"
    );
    let package = root.join("node/serverless/index.mjs");
    let module = format!(
        "const {{ LambdaHandler }} = await import('{}');\nconst handler = new LambdaHandler().register('t', async () => null);\n\
         if ((await handler.handle({job})).status !== 'completed') throw new Error('not completed');",
        package.display()
    );
    let python: PathBuf = python::ours();
    let programs = [
        ("Python", python, vec!["-c", "pass"], vec!["-c", handler.as_str()]),
        (
            "Node.js",
            PathBuf::from("node"),
            vec!["--input-type=module", "-e", "0"],
            vec!["--input-type=module", "-e", module.as_str()],
        ),
    ];
    for (language, program, bare, with) in programs {
        // An installed package is compiled already; the first start compiles one that is not.
        started(&program, &with)?;
        let (mut bares, mut more) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let without = started(&program, &bare)?;
            bares.push(without);
            more.push(started(&program, &with)? - without);
        }
        let about = format!("process started, handler registered, one job run, process ended; {STARTS} starts in turns");
        report.add(vec![
            Figure::ours(format!("cold start, {language} handler"), "ms", Better::Less, vec![median(&more)], about).must(START),
            Figure::ceiling(format!("{language} alone"), "ms", Better::Less, vec![median(&bares)], "nothing loaded"),
        ]);
    }
    Ok(())
}

/// Milliseconds from the start of a program to its end.
fn started(program: &Path, arguments: &[&str]) -> Result<f64> {
    let began = Instant::now();
    let output = Command::new(program).args(arguments).env_remove("OJS_URL").env_remove("PYTHONDONTWRITEBYTECODE").output()?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{} has failed: {told}", program.display()).into());
    }
    Ok(began.elapsed().as_secs_f64() * 1e3)
}
