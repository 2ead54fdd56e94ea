//! Workers with no-op handlers: one exchange per turn carries the outcomes of the last turn and brings the next jobs.
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use tokio::task::JoinSet;

use super::QUEUE;
use crate::Result;
use crate::check::Check;
use crate::connection::{Connection, post};
use crate::ids::{Ids, LEN};

/// One claimed job: id and lease token, as they stand in the answer.
type Claim = (Vec<u8>, Vec<u8>);

/// One worker's side of the exchange.
pub struct Worker {
    connection: Connection,
    name: String,
    claims: Vec<Claim>,
    marks: Marks,
}

/// What the answers are searched for.
struct Marks {
    id: Finder<'static>,
    token: Finder<'static>,
    completed: Finder<'static>,
    refused: Finder<'static>,
}

impl Worker {
    /// Connects.
    pub async fn open(address: SocketAddr, number: usize) -> Result<Self> {
        let marks = Marks {
            id: Finder::new(b"\"id\":\""),
            token: Finder::new(b"\"lease_token\":"),
            completed: Finder::new(b"\"state\":\"completed\""),
            refused: Finder::new(b"\"error\":{"),
        };
        Ok(Self { connection: Connection::open(address).await?, name: format!("bench-{number}"), claims: Vec::new(), marks })
    }

    /// Sends the outcomes of the jobs held, takes up to `count` more. Returns the ids of the jobs just completed.
    pub async fn turn(&mut self, count: usize, wait_ms: u64) -> Result<Vec<Vec<u8>>> {
        let outcomes: Vec<String> = self
            .claims
            .iter()
            .map(|(id, token)| {
                format!(r#"{{"job_id":"{}","lease_token":{}}}"#, String::from_utf8_lossy(id), String::from_utf8_lossy(token))
            })
            .collect();
        let body = format!(
            r#"{{"worker_id":"{}","queues":["{QUEUE}"],"count":{count},"wait_ms":{wait_ms},"visibility_timeout_ms":30000,"outcomes":[{}]}}"#,
            self.name,
            outcomes.join(",")
        );
        let done: Vec<Vec<u8>> = self.claims.drain(..).map(|(id, _)| id).collect();
        let answer = self.connection.expect(&post("/ojs/v1/workers/exchange", &body), 200).await?;
        let confirmed = self.marks.completed.find_iter(answer).count();
        if confirmed != done.len() || self.marks.refused.find(answer).is_some() {
            let shown: String = String::from_utf8_lossy(answer).chars().take(400).collect();
            return Err(format!("{} outcomes sent, {confirmed} confirmed: {shown}", done.len()).into());
        }
        self.claims = self.marks.claims(answer)?;
        Ok(done)
    }

    /// Ids of the jobs held.
    pub fn held(&self) -> Vec<Vec<u8>> {
        self.claims.iter().map(|(id, _)| id.clone()).collect()
    }
}

impl Marks {
    fn claims(&self, answer: &[u8]) -> Result<Vec<Claim>> {
        // The place of a job in its train has an id, too.
        let ids = self.id.find_iter(answer).filter(|at| !answer[..*at].ends_with(b"\"train\":{"));
        let ids = ids.map(|at| &answer[at + 6..at + 6 + LEN]);
        let tokens: Vec<&[u8]> = self.token.find_iter(answer).map(|at| digits(&answer[at + 14..])).collect();
        let claims: Vec<Claim> = ids.zip(&tokens).map(|(id, token)| (id.to_vec(), token.to_vec())).collect();
        if claims.len() == tokens.len() { Ok(claims) } else { Err("an answer with more lease tokens than jobs".into()) }
    }
}

fn digits(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// What the workers of a run have seen together.
struct Progress {
    check: Check,
    left: usize,
    last: Instant,
}

/// Works until `expected` jobs are completed; returns the time of the last completion after checking exact delivery.
pub async fn drain(address: SocketAddr, ids: &Ids, expected: usize, workers: usize, count: usize) -> Result<Instant> {
    let progress =
        Arc::new(Mutex::new(Progress { check: Check::new(ids.clone(), expected), left: expected, last: Instant::now() }));
    let mut tasks = JoinSet::new();
    for number in 0..workers {
        let worker = Worker::open(address, number).await?;
        tasks.spawn(work(worker, count, Arc::clone(&progress)));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    progress.check.finish()?;
    Ok(progress.last)
}

async fn work(mut worker: Worker, count: usize, progress: Arc<Mutex<Progress>>) -> Result<()> {
    const PATIENCE: Duration = Duration::from_secs(30);
    let mut busy = Instant::now();
    loop {
        let done = worker.turn(count, 20).await?;
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        if !done.is_empty() {
            busy = Instant::now();
            progress.last = busy;
            progress.left = progress.left.saturating_sub(done.len());
            done.iter().for_each(|id| progress.check.completed(id));
        }
        if progress.left == 0 && worker.claims.is_empty() {
            return Ok(());
        }
        if busy.elapsed() > PATIENCE {
            return Err(format!("no job arrived for {} s although {} are missing", PATIENCE.as_secs(), progress.left).into());
        }
    }
}
