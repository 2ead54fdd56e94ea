//! axum's adapter on tokio-postgres: a transaction with one row, without and with `enqueue_after_commit` (scripts/bench_adapters.py runs it).
//!
//!     ojs-bench-axum DATABASE_URL WARM WITHOUT WITH
use std::time::{Duration, Instant};

use ojs_adapter_axum::Ojs;
use tokio_postgres::NoTls;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// No server listens there: staging a job in an outbox sends no request.
const SERVER: &str = "http://127.0.0.1:9";

/// Milliseconds of transactions without and with a job.
#[derive(Default)]
struct Spent {
    bare: Vec<f64>,
    along: Vec<f64>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, warm, without, with] = words.as_slice() else {
        return Err("usage: ojs-bench-axum DATABASE_URL WARM WITHOUT WITH".into());
    };
    let (warm, without, with): (usize, usize, usize) = (warm.parse()?, without.parse()?, with.parse()?);
    let (mut database, connection) = tokio_postgres::connect(url, NoTls).await?;
    let connection = tokio::spawn(connection);
    let client = ojs::Client::builder().url(SERVER).connect().await?;
    let ojs = Ojs::builder(client).same_database(false).build()?;
    for statement in ojs::outbox::Dialect::Postgres.migration(&ojs::outbox::Table::default()) {
        database.batch_execute(&statement).await?;
    }
    database.batch_execute("CREATE TABLE users (id serial PRIMARY KEY, email text)").await?;

    for _ in 0..warm {
        sign_up(&mut database, &ojs, false).await?;
        sign_up(&mut database, &ojs, true).await?;
    }
    let mut spent = Spent::default();
    // In turns: both see the same machine.
    for number in 0..without.max(with) {
        if number < without {
            spent.bare.push(milliseconds(sign_up(&mut database, &ojs, false).await?));
        }
        if number < with {
            spent.along.push(milliseconds(sign_up(&mut database, &ojs, true).await?));
        }
    }

    let rows: i64 = database.query_one("SELECT count(*) FROM ojs_outbox", &[]).await?.get(0);
    if usize::try_from(rows)? != warm + with {
        return Err(format!("axum: {rows} rows in the outbox, {} jobs enqueued", warm + with).into());
    }
    let (without_ms, with_ms) = (median(spent.bare), median(spent.along));
    println!(
        r#"{{"adapter": "axum, tokio-postgres", "without_ms": {without_ms}, "with_ms": {with_ms}, "transactions": {with}}}"#
    );
    drop(database);
    connection.await??;
    Ok(())
}

/// What the handler of the adapter's README does; how long it took.
async fn sign_up(database: &mut tokio_postgres::Client, ojs: &Ojs, staged: bool) -> Result<Duration> {
    let started = Instant::now();
    let transaction = database.transaction().await?;
    let user = transaction.query_one("INSERT INTO users (email) VALUES ($1) RETURNING id", &[&"ada@example.com"]).await?;
    if staged {
        let job = ojs::JobRequest::new("email.welcome", [user.get::<_, i32>(0)]);
        ojs.enqueue_after_commit(&transaction, job).await?;
    }
    ojs.commit(transaction).await?;
    Ok(started.elapsed())
}

fn milliseconds(spent: Duration) -> f64 {
    spent.as_secs_f64() * 1e3
}

/// The middle one; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = |place: usize| values.get(place).copied().unwrap_or_default();
    f64::midpoint(middle(values.len().saturating_sub(1) / 2), middle(values.len() / 2))
}
