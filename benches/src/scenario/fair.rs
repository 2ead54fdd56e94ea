//! How long jobs of small tenants wait, in claims, beside one tenant with a million jobs in the same shared queue.
use std::time::Instant;

use crate::Result;
use crate::connection::{Connection, post, put};
use crate::load;
use crate::report::{Better, Figure, Report, median};
use crate::scenario::Plan;
use crate::server::{Server, Store};

/// Tenants beside the heavy one, and what each has.
const OTHERS: usize = 99;
const EACH: usize = 100;
/// Jobs of one request.
const BATCH: usize = 1_000;

/// What one run has found.
struct Waits {
    /// The median, over the jobs of the other tenants, of the claims until the job was handed out.
    median: f64,
    /// The median time of a claim, milliseconds.
    claim: f64,
}

/// Measures, with `heavy` jobs of the heavy tenant.
pub fn run(plan: &Plan, heavy: usize, report: &mut Report) -> Result<()> {
    let bar = plan.progress("fair shares", 2);
    let mut found = Vec::with_capacity(2);
    for jobs in [0, heavy] {
        bar.set_message(format!("{jobs} jobs of the heavy tenant"));
        let server = Server::start(&plan.bin, &plan.dir, Store::Durable)?;
        found.push(load::on_one_thread(waits(&server, jobs))?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let [alone, beside] = found.as_slice() else { return Err("a run is missing".into()) };
    let conditions = |jobs: usize| format!("SQLite; {OTHERS} tenants with {EACH} jobs each, equal weights, one with {jobs}");
    for (name, unit, ours, ceiling) in [
        ("median wait of the others", "claims", beside.median, alone.median),
        ("claim of one job, p50", "ms", beside.claim, alone.claim),
    ] {
        report.add(vec![
            Figure::ours(name, unit, Better::Less, vec![ours], conditions(heavy)),
            Figure::ceiling(format!("{name}, without the heavy one"), unit, Better::Less, vec![ceiling], conditions(0)),
        ]);
    }
    let ratio = beside.median / alone.median;
    if ratio > 2.0 {
        return Err(format!("the others wait {ratio:.2} times as long beside the heavy tenant; 2 is the most").into());
    }
    Ok(())
}

async fn waits(server: &Server, heavy: usize) -> Result<Waits> {
    let mut connection = Connection::open(server.address).await?;
    connection.expect(&put("/ojs/v1/admin/queues/shared/fairness", "{}"), 201).await?;
    fill(&mut connection, "heavy", heavy).await?;
    for other in 0..OTHERS {
        fill(&mut connection, &format!("t{other}"), EACH).await?;
    }
    let claim = post("/ojs/v1/workers/fetch", r#"{"queues":["shared"],"count":1,"worker_id":"w"}"#);
    let (mut waits, mut times) = (Vec::with_capacity(OTHERS * EACH), Vec::new());
    let mut claims = 0_usize;
    while waits.len() < OTHERS * EACH {
        claims += 1;
        let started = Instant::now();
        let answer: serde_json::Value = serde_json::from_slice(connection.expect(&claim, 200).await?)?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
        let tenant = answer.pointer("/jobs/0/meta/tenant_id").and_then(|id| id.as_str());
        match tenant {
            Some("heavy") => {}
            Some(_) => waits.push(claims as f64),
            None => return Err(format!("claim {claims} got no job, though {} are left", OTHERS * EACH - waits.len()).into()),
        }
    }
    Ok(Waits { median: median(&waits), claim: median(&times) })
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
