//! What a claim costs beside many trains, and what it costs to hand out the next job of a train.
use std::time::Duration;

use super::depth::{BATCH, CLAIMS, CONNECTIONS, RUNS, Series, one_by_one};
use crate::Result;
use crate::ids::Ids;
use crate::load::{self, QUEUE, enqueue};
use crate::postgres::Postgres;
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::{Server, Store};

/// Jobs of each train.
const CARS: usize = 100;
/// How many times as long a claim may take beside trains as in an empty store.
const MOST: f64 = 1.15;

/// What is measured.
#[derive(Debug, Clone, Copy)]
enum What {
    /// Jobs without a train in an empty store.
    Empty,
    /// Jobs without a train beside trains.
    Beside,
    /// Jobs of one train, beside others: each exchange acks one, which lets the next one run, and claims it.
    Advance,
}

/// Measures, with so many trains.
pub fn run(plan: &Plan, trains: usize, report: &mut Report) -> Result<()> {
    let runs = plan.runs.min(RUNS);
    let bar = plan.progress("claims beside trains", runs * 6);
    let postgres = Postgres::start(&plan.dir)?;
    report.conditions.postgres.get_or_insert(postgres.settings()?);
    let mut measured = [(); 6].map(|()| Series::default());
    for run in 0..runs {
        let whats = [What::Empty, What::Beside, What::Advance].into_iter().cycle();
        for (place, (series, what)) in measured.iter_mut().zip(whats).enumerate() {
            bar.set_message(format!("{}, {what:?}", store(place)));
            series.push(if place < 3 {
                claims(&Server::start(&plan.bin, &plan.dir, Store::Durable)?, run, what, trains, || Ok(()))?
            } else {
                let database = postgres.database()?;
                let server = Server::on(&plan.bin, &plan.dir, database.url())?;
                claims(&server, run, what, trains, || Postgres::settle(&database))?
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    for (place, of_store) in measured.chunks(3).enumerate() {
        show(report, store(place * 3), of_store, trains);
    }
    Ok(())
}

fn store(place: usize) -> &'static str {
    if place < 3 { "SQLite" } else { "PostgreSQL" }
}

fn show(report: &mut Report, store: &str, measured: &[Series], trains: usize) {
    let [empty, beside, advance] = measured else { return };
    let exchange = "one exchange acks one job and claims the next";
    let others = format!("{trains} trains of {CARS} jobs in the same store; {exchange}");
    for (name, empty, beside, advance) in
        [("p50", &empty.p50, &beside.p50, &advance.p50), ("p99", &empty.p99, &beside.p99, &advance.p99)]
    {
        let figure = |what: &str, values: &Vec<f64>, conditions: String| {
            Figure::ours(format!("{store}, {what}, {name}"), "ms", Better::Less, values.clone(), conditions)
        };
        let ceiling = || {
            let conditions = format!("an empty store; {exchange}");
            Figure::ceiling(format!("{store}, empty, {name}"), "ms", Better::Less, empty.clone(), conditions)
        };
        report.add(vec![figure("claim beside trains", beside, others.clone()), ceiling()]);
        if name == "p50" {
            let ratio = beside.iter().zip(empty).map(|(beside, empty)| beside / empty).collect();
            let name = format!("{store}, claim beside trains to one in an empty store, {name}");
            report.add(vec![Figure::ours(name, "×", Better::Less, ratio, others.clone()).must(MOST)]);
        }
        let conditions = format!("the next job of the same train, {others}");
        report.add(vec![figure("advance of a train", advance, conditions), ceiling()]);
    }
}

/// The time of each claim. What fills the store leaves work behind, which `settle` does.
fn claims(server: &Server, run: usize, what: What, trains: usize, settle: impl FnOnce() -> Result<()>) -> Result<Vec<Duration>> {
    let run = run as u16;
    if !matches!(what, What::Empty) {
        load::on_one_thread(async { enqueue::trains(server.address, 0x100 + run * 2, "trains", trains, CARS).await.map(drop) })?;
    }
    settle()?;
    load::on_one_thread(async {
        let measured = if let What::Advance = what {
            enqueue::trains(server.address, 0x200 + run * 2, QUEUE, 1, CLAIMS).await?
        } else {
            let measured = Ids::new(0x300 + run);
            enqueue::run(server.address, &measured, 0, CONNECTIONS, BATCH, enqueue::Until::Jobs(CLAIMS)).await?;
            measured
        };
        one_by_one(server, &measured).await
    })
}
