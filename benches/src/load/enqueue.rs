//! Producers: single jobs and batches, ids patched into bytes made beforehand.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{QUEUE, payload};
use crate::Result;
use crate::connection::{Connection, post};
use crate::ids::Ids;

/// Connections that fill a store with trains.
const FILLERS: usize = 4;

/// How many jobs, in what time.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// Confirmed jobs.
    pub jobs: usize,
    /// From the first request to the last answer.
    pub elapsed: Duration,
}

impl Outcome {
    /// Jobs per second.
    pub fn rate(self) -> f64 {
        self.jobs as f64 / self.elapsed.as_secs_f64()
    }
}

/// When producers stop.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    /// After this time.
    Elapsed(Duration),
    /// After this many jobs.
    Jobs(usize),
}

/// A request with `batch` jobs and the places of their ids.
struct Template {
    bytes: Vec<u8>,
    ids: Vec<usize>,
    /// Places of the id of a train, which is the same in all of the request.
    trains: Vec<usize>,
}

impl Template {
    /// `batch` 0 is the single enqueue.
    fn new(ids: &Ids, batch: usize, queue: &str, options: &str) -> Self {
        let job = format!(
            r#"{{"id":"{}","type":"bench.noop","args":[{}],"options":{{"queue":"{queue}"{options}}}}}"#,
            ids.id(0),
            payload()
        );
        let bytes = match batch {
            0 => post("/ojs/v1/jobs", &job),
            n => post("/ojs/v1/jobs/batch", &format!(r#"{{"jobs":[{}]}}"#, vec![job; n].join(","))),
        };
        let places = memchr::memmem::find_iter(&bytes, ids.id(0).as_bytes()).collect();
        Self { bytes, ids: places, trains: Vec::new() }
    }

    /// All jobs of the request are those of one train.
    fn of_train(ids: &Ids, trains: &Ids, cars: usize, queue: &str) -> Self {
        let marker = trains.id(0);
        let template = Self::new(ids, cars, queue, &format!(r#","train":"{marker}""#));
        let places = memchr::memmem::find_iter(&template.bytes, marker.as_bytes()).collect();
        Self { trains: places, ..template }
    }

    fn number(&mut self, first: usize) {
        for (i, at) in self.ids.iter().enumerate() {
            Ids::patch(&mut self.bytes, *at, first + i);
        }
        for at in &self.trains {
            Ids::patch(&mut self.bytes, *at, first / self.ids.len());
        }
    }
}

/// Enqueues from `connections` connections, each with one request under way. The jobs are numbered from `first`.
pub async fn run(
    address: SocketAddr,
    ids: &Ids,
    first: usize,
    connections: usize,
    batch: usize,
    until: Until,
) -> Result<Outcome> {
    produce(address, first, connections, batch, until, &|| Template::new(ids, batch, QUEUE, "")).await
}

/// Enqueues so many trains into a queue, a request for each.
pub async fn trains(address: SocketAddr, run: u16, queue: &str, count: usize, cars: usize) -> Result<Ids> {
    let (ids, trains) = (Ids::new(run), Ids::new(run + 1));
    let template = || Template::of_train(&ids, &trains, cars, queue);
    let jobs = produce(address, 0, FILLERS, cars, Until::Jobs(count * cars), &template).await?.jobs;
    if jobs == count * cars { Ok(ids) } else { Err(format!("{jobs} of {} jobs were stored in time", count * cars).into()) }
}

/// Enqueues `jobs` jobs that are not due before tomorrow.
pub async fn later(address: SocketAddr, ids: &Ids, connections: usize, batch: usize, jobs: usize) -> Result<Outcome> {
    let template = || Template::new(ids, batch, QUEUE, r#","delay_until":"+P1D""#);
    produce(address, 0, connections, batch, Until::Jobs(jobs), &template).await
}

async fn produce(
    address: SocketAddr,
    first: usize,
    connections: usize,
    batch: usize,
    until: Until,
    template: &dyn Fn() -> Template,
) -> Result<Outcome> {
    let next = Arc::new(AtomicUsize::new(first));
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push((Connection::open(address).await?, template()));
    }
    let started = Instant::now();
    let (deadline, last) = match until {
        Until::Elapsed(time) => (started + time, usize::MAX),
        Until::Jobs(jobs) => (started + Duration::from_secs(600), first + jobs),
    };
    let step = batch.max(1);
    let mut producers = JoinSet::new();
    for (mut connection, mut template) in open {
        let next = Arc::clone(&next);
        producers.spawn(async move {
            while Instant::now() < deadline {
                let number = next.fetch_add(step, Ordering::Relaxed);
                if number >= last {
                    break;
                }
                template.number(number);
                connection.expect(&template.bytes, 201).await?;
            }
            Ok(()) as Result<()>
        });
    }
    while let Some(done) = producers.join_next().await {
        done??;
    }
    let jobs = next.load(Ordering::Relaxed).min(last) - first;
    Ok(Outcome { jobs, elapsed: started.elapsed() })
}
