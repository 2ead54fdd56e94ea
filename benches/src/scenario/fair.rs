//! How long jobs of small tenants wait beside one tenant with a million jobs in the same shared queue, and what shares
//! tenants with different weights get.
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::{Value, json};

use super::depth::RUNS;
use crate::Result;
use crate::connection::{Connection, post, put};
use crate::load;
use crate::postgres::Postgres;
use crate::report::{Better, Figure, Report, median};
use crate::scenario::Plan;
use crate::server::{Server, Store};

/// Tenants beside the heavy one.
const OTHERS: usize = 99;
/// How many times as long the others may wait as without the heavy one.
const MOST: f64 = 2.0;
/// Tenants with different weights.
const WEIGHTS: [(&str, usize); 3] = [("a", 1), ("b", 2), ("c", 4)];
/// Claims of those, as a multiple of `each`; each of them has jobs enough to get all.
const SHARED: usize = 35;
/// Per cent that a share may be off.
const OFF: f64 = 5.0;
/// Jobs of one request.
const BATCH: usize = 1_000;
/// From so many jobs of the heavy tenant on there is one run: it takes most of the time to store them.
const MANY: usize = 200_000;

/// What a run measures.
#[derive(Debug, Clone, Copy)]
enum What {
    /// Waits beside a tenant with so many jobs.
    Waits(usize),
    /// Shares by weight.
    Shares,
}

/// What the runs of a store have found.
#[derive(Default)]
struct Found {
    /// Without the heavy tenant, and beside it.
    alone: Waits,
    beside: Waits,
    /// By how many per cent the share that is furthest off differs from its weight.
    off: Vec<f64>,
}

/// Over the jobs of the other tenants, a value for each run.
#[derive(Default)]
struct Waits {
    /// Median time until a job was handed out, milliseconds.
    time: Vec<f64>,
    /// Median number of claims until then.
    claims: Vec<f64>,
    /// Median time of a claim, milliseconds.
    claim: Vec<f64>,
}

/// Measures, with `heavy` jobs of the heavy tenant and `each` of the others.
pub fn run(plan: &Plan, heavy: usize, each: usize, report: &mut Report) -> Result<()> {
    let runs = if heavy > MANY { 1 } else { plan.runs.min(RUNS) };
    let bar = plan.progress("fair shares", runs * 6);
    let postgres = Postgres::start(&plan.dir)?;
    report.conditions.postgres.get_or_insert(postgres.settings()?);
    let [mut file, mut base] = [(); 2].map(|()| Found::default());
    for _ in 0..runs {
        for what in [What::Waits(0), What::Waits(heavy), What::Shares] {
            bar.set_message("SQLite");
            measure(&Server::start(&plan.bin, &plan.dir, Store::Durable)?, what, each, &mut file, || Ok(()))?;
            bar.inc(1);
        }
        for what in [What::Waits(0), What::Waits(heavy), What::Shares] {
            bar.set_message("PostgreSQL");
            let database = postgres.database()?;
            let server = Server::on(&plan.bin, &plan.dir, database.url())?;
            measure(&server, what, each, &mut base, || Postgres::settle(&database))?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    show(report, "SQLite", &file, heavy, each);
    show(report, "PostgreSQL", &base, heavy, each);
    Ok(())
}

/// One run on an empty store.
fn measure(server: &Server, what: What, each: usize, found: &mut Found, settle: impl FnOnce() -> Result<()>) -> Result<()> {
    match what {
        What::Waits(heavy) => {
            load::on_one_thread(store(server, heavy, each))?;
            settle()?;
            load::on_one_thread(waits(server, each, if heavy == 0 { &mut found.alone } else { &mut found.beside }))
        }
        What::Shares => {
            found.off.push(load::on_one_thread(off(server, each))?);
            Ok(())
        }
    }
}

fn show(report: &mut Report, store: &str, found: &Found, heavy: usize, each: usize) {
    let conditions = |jobs: usize| {
        format!(
            "{OTHERS} tenants with {each} jobs each, equal weights, one with {jobs}; one exchange acks one job and claims the next"
        )
    };
    for (name, unit, beside, alone, bounded) in [
        ("median wait of the others", "ms", &found.beside.time, &found.alone.time, true),
        ("median wait of the others", "claims", &found.beside.claims, &found.alone.claims, true),
        ("claim of one job, p50", "ms", &found.beside.claim, &found.alone.claim, false),
    ] {
        let without = format!("{store}, {name}, without the heavy one");
        report.add(vec![
            Figure::ours(format!("{store}, {name}"), unit, Better::Less, beside.clone(), conditions(heavy)),
            Figure::ceiling(without, unit, Better::Less, alone.clone(), conditions(0)),
        ]);
        if bounded {
            let ratio = beside.iter().zip(alone).map(|(beside, alone)| beside / alone).collect();
            let name = format!("{store}, {name} in {unit}, to that without the heavy one");
            report.add(vec![Figure::ours(name, "×", Better::Less, ratio, conditions(heavy)).must(MOST)]);
        }
    }
    let claims = SHARED * each;
    let weighed = format!("the first {claims} claims of three tenants with weights of 1, 2 and 4, each with {claims} jobs");
    let name = format!("{store}, the share furthest from its weight");
    report.add(vec![Figure::ours(name, "%", Better::Less, found.off.clone(), weighed).must(OFF)]);
}

/// Fills a shared queue: the heavy tenant first.
async fn store(server: &Server, heavy: usize, each: usize) -> Result<()> {
    let mut connection = Connection::open(server.address).await?;
    share(&mut connection, &json!({})).await?;
    fill(&mut connection, "heavy", heavy).await?;
    for other in 0..OTHERS {
        fill(&mut connection, &format!("t{other}"), each).await?;
    }
    Ok(())
}

/// Works until all jobs of the other tenants have been handed out.
async fn waits(server: &Server, each: usize, found: &mut Waits) -> Result<()> {
    let mut worker = Worker::open(server).await?;
    let (mut times, mut claims, mut own) = (Vec::new(), Vec::new(), Vec::new());
    let started = Instant::now();
    while times.len() < OTHERS * each {
        let sent = Instant::now();
        let tenant = worker.next().await?;
        own.push(sent.elapsed().as_secs_f64() * 1e3);
        if tenant != "heavy" {
            times.push(started.elapsed().as_secs_f64() * 1e3);
            claims.push(own.len() as f64);
        }
    }
    found.time.push(median(&times));
    found.claims.push(median(&claims));
    found.claim.push(median(&own));
    Ok(())
}

/// By how many per cent the share that is furthest off differs from its weight.
async fn off(server: &Server, each: usize) -> Result<f64> {
    let claims = SHARED * each;
    let mut connection = Connection::open(server.address).await?;
    share(&mut connection, &json!({"weights": WEIGHTS.into_iter().collect::<BTreeMap<_, _>>()})).await?;
    for (tenant, _) in WEIGHTS {
        fill(&mut connection, tenant, claims).await?;
    }
    let mut worker = Worker::open(server).await?;
    let mut got = BTreeMap::<String, usize>::new();
    for _ in 0..claims {
        *got.entry(worker.next().await?).or_default() += 1;
    }
    let all: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let off = WEIGHTS.iter().map(|(tenant, weight)| {
        let wanted = (claims * weight) as f64 / all as f64;
        (got.get(*tenant).copied().unwrap_or(0) as f64 / wanted - 1.0).abs() * 100.0
    });
    Ok(off.fold(0.0, f64::max))
}

/// Claims one job in the exchange that acks the one before.
struct Worker {
    connection: Connection,
    outcomes: Value,
    seen: BTreeSet<String>,
}

impl Worker {
    async fn open(server: &Server) -> Result<Self> {
        let connection = Connection::open(server.address).await?;
        Ok(Self { connection, outcomes: json!([]), seen: BTreeSet::new() })
    }

    /// The tenant of the next job. A job that is handed out twice, and an ack that is refused, are errors.
    async fn next(&mut self) -> Result<String> {
        let body = json!({"queues": ["shared"], "count": 1, "worker_id": "w", "outcomes": self.outcomes});
        let request = post("/ojs/v1/workers/exchange", &body.to_string());
        let answer: Value = serde_json::from_slice(self.connection.expect(&request, 200).await?)?;
        let acked = answer["results"].as_array().is_some_and(|results| results.iter().all(|one| one["state"] == "completed"));
        let text = |at: &str| answer.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let (Some(id), Some(tenant), true) = (text("/jobs/0/id"), text("/jobs/0/meta/tenant_id"), acked) else {
            return Err(format!("the exchange after {} claims: {answer}", self.seen.len()).into());
        };
        self.outcomes = json!([{"job_id": id, "lease_token": answer["jobs"][0]["lease_token"]}]);
        if self.seen.insert(id) { Ok(tenant) } else { Err(format!("handed out twice: {answer}").into()) }
    }
}

/// Shares the queue between tenants.
async fn share(connection: &mut Connection, rule: &Value) -> Result<()> {
    connection.expect(&put("/ojs/v1/admin/queues/shared/fairness", &rule.to_string()), 201).await.map(drop)
}

/// Stores jobs of a tenant.
async fn fill(connection: &mut Connection, tenant: &str, count: usize) -> Result<()> {
    let job = format!(r#"{{"type":"bench","args":[1],"meta":{{"tenant_id":"{tenant}"}},"options":{{"queue":"shared"}}}}"#);
    let mut left = count;
    while left > 0 {
        let slice = left.min(BATCH);
        let body = format!(r#"{{"jobs":[{}]}}"#, vec![job.as_str(); slice].join(","));
        connection.expect(&post("/ojs/v1/jobs/batch", &body), 201).await?;
        left -= slice;
    }
    Ok(())
}
