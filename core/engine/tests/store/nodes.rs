//! What only a shared database can show: several nodes, jobs inserted by plain SQL, an application's transactions.
use std::sync::Arc;
use std::time::Duration;

use ojs_engine::Engine;
use ojs_engine::clock::Clock;
use ojs_engine::command::{Outcome, SetPaused};
use ojs_engine::rows::DeadFilter;
use ojs_model::JobState;
use tokio_postgres::{Client, NoTls};

use crate::support::{Audited, Bench, options, seconds};

/// A second node on the database of the first, with the same options.
pub async fn second_node(b: &Bench) -> Bench {
    let engine = Engine::open(b.engine.options().clone()).await.unwrap();
    Bench {
        audited: Audited::of(&engine),
        engine,
        clock: Arc::clone(&b.clock),
        dir: tempfile::TempDir::new().unwrap(),
        database: None,
    }
}

/// Moves the clock of both nodes and does what it made due. Only the one that leads maintains, and who that is does not matter: a
/// term is short, so on a slow machine the second node has taken over from the first.
pub async fn advance_together(b: &Bench, other: &Bench, by: Duration) {
    b.clock.advance(by);
    b.engine.store().sweep().await.unwrap();
    other.engine.store().sweep().await.unwrap();
}

/// A connection such as an application has.
pub async fn application(b: &Bench) -> Client {
    let (client, connection) = tokio_postgres::connect(b.database.as_ref().unwrap().url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The statement of the framework-adapter document, word for word.
const RAW: &str = "INSERT INTO ojs_jobs (type, args, queue) VALUES ('email.welcome', '[1]', 'email')";

#[tokio::test]
async fn a_row_inserted_by_plain_sql_is_a_job_after_the_commit() {
    let b = Bench::postgres().await;
    let mut client = application(&b).await;
    let transaction = client.transaction().await.unwrap();
    transaction.batch_execute(RAW).await.unwrap();
    b.advance(seconds(1)).await;
    assert!(b.claim_for(Some("w"), &["email"], 1).await.is_empty(), "not committed");
    transaction.commit().await.unwrap();
    b.advance(seconds(1)).await;
    let jobs = b.claim_for(Some("w"), &["email"], 10).await;
    assert_eq!(jobs.len(), 1);
    assert!(
        jobs[0].body.text.contains(r#""type":"email.welcome""#) && jobs[0].body.text.contains(r#""args":[1]"#),
        "{}",
        jobs[0].body.text
    );
    assert_eq!(b.story(jobs[0].row.id).await, ["job.enqueued", "job.started"]);
    b.ack(&jobs[0]).await.unwrap();
}

#[tokio::test]
async fn a_row_of_a_transaction_that_rolls_back_never_was() {
    let b = Bench::postgres().await;
    let mut client = application(&b).await;
    let transaction = client.transaction().await.unwrap();
    transaction.batch_execute(RAW).await.unwrap();
    transaction.rollback().await.unwrap();
    b.advance(seconds(1)).await;
    assert!(b.claim_for(Some("w"), &["email"], 1).await.is_empty());
    assert_eq!(b.counts("email").await, [0; 8]);
}

#[tokio::test]
async fn a_waiting_fetch_gets_a_row_inserted_by_plain_sql() {
    let b = Bench::postgres().await;
    let client = application(&b).await;
    let fetch = b.http("POST", "/workers/fetch", r#"{"queues":["email"],"count":1,"worker_id":"w","wait_ms":60000}"#);
    let ((status, body), inserted) = tokio::join!(fetch, client.batch_execute(RAW));
    inserted.unwrap();
    assert_eq!(status, 200);
    assert_eq!(body["jobs"][0]["type"], "email.welcome");
}

#[tokio::test]
async fn an_application_that_knows_the_database_inserts_and_notifies() {
    let b = Bench::postgres().await;
    let client = application(&b).await;
    let identity: String = client.query_one(include_str!("../../src/store/postgres/sql/identity.sql"), &[]).await.unwrap().get(0);
    let (_, health) = b.http("GET", "/health", "").await;
    assert_eq!(health["backend"]["id"], identity.as_str(), "an application can tell that this is the database of its jobs");
    let fetch = b.http("POST", "/workers/fetch", r#"{"queues":["email"],"count":1,"worker_id":"w","wait_ms":60000}"#);
    let insert = format!("BEGIN; {RAW}; COMMIT; NOTIFY ojs_ready, '+'");
    let ((_, body), inserted) = tokio::join!(fetch, client.batch_execute(&insert));
    inserted.unwrap();
    assert_eq!(body["jobs"][0]["type"], "email.welcome");
}

#[tokio::test]
async fn options_of_a_row_count_and_wrong_ones_make_a_dead_letter() {
    let b = Bench::postgres().await;
    let client = application(&b).await;
    client
        .batch_execute(
            r#"INSERT INTO ojs_jobs (type, args, queue, options) VALUES ('t', '[]', 'q', '{"delay_until":"+PT1H"}');
               INSERT INTO ojs_jobs (type, args, queue, options) VALUES ('t', '[]', 'q', '{"priority":1000}')"#,
        )
        .await
        .unwrap();
    b.advance(seconds(1)).await;
    let counts = b.counts("q").await;
    assert_eq!((counts[JobState::Scheduled as usize], counts[JobState::Discarded as usize]), (1, 1));
    let (dead, _) = b.dead(DeadFilter::default()).await;
    let errors = b.get(dead[0]).await.history.errors;
    assert!(errors.contains("invalid_payload") && errors.contains("priority"), "{errors}");
    // What a column can refuse never becomes a row.
    for wrong in ["('Bad Type', '[]', 'q')", "('t', '{}', 'q')", "('t', '[]', 'Q')"] {
        let refused = client.batch_execute(&format!("INSERT INTO ojs_jobs (type, args, queue) VALUES {wrong}")).await;
        assert!(refused.is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_job_goes_through_several_nodes() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let id = b.job().await;
    let job = other.claim(1).await.remove(0);
    assert_eq!(job.row.id, id);
    assert!(b.claim(1).await.is_empty());
    assert_eq!(b.beat("w", &[(id, Some(job.row.lease))]).await.0, [id]);
    assert_eq!(b.ack(&job).await.unwrap().row.state, JobState::Completed);
    assert_eq!(other.state(id).await, JobState::Completed);
    // The first answer is lost, the same outcome comes again through the other node.
    assert_eq!(other.ack(&job).await.unwrap().row.state, JobState::Completed);
    assert_eq!(b.counts("q").await, other.counts("q").await);
}

#[tokio::test]
async fn what_a_node_remembers_of_a_lease_refuses_no_worker() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let id = b.job().await;
    // This node leases the job, and remembers it; the lease runs out, the other node leases it again.
    let first = b.claim(1).await.remove(0);
    advance_together(&b, &other, seconds(31)).await;
    let second = other.claim_for(Some("v"), &["q"], 1).await.remove(0);
    assert!(second.row.lease > first.row.lease);
    // The stale holder is refused wherever it asks, the true one is served by the node that remembers another.
    assert_eq!(other.ack(&first).await.unwrap_err().status, 409);
    assert_eq!(b.ack(&first).await.unwrap_err().status, 409);
    assert_eq!(b.settle(id, Some(second.row.lease), Outcome::Ack(None)).await.unwrap().row.state, JobState::Completed);
}

#[tokio::test]
async fn a_pause_holds_on_every_node_at_once() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    b.job().await;
    b.job().await;
    assert_eq!(other.claim(1).await.len(), 1);
    b.engine.store().execute(SetPaused { queue: "q".into(), paused: true }).await.unwrap();
    assert!(other.claim(1).await.is_empty());
    other.engine.store().execute(SetPaused { queue: "q".into(), paused: false }).await.unwrap();
    assert_eq!(b.claim(1).await.len(), 1);
}

#[tokio::test]
async fn a_job_wakes_a_fetch_that_waits_at_another_node() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let fetch = other.http("POST", "/workers/fetch", r#"{"queues":["q"],"count":1,"worker_id":"w","wait_ms":60000}"#);
    let ((_, body), id) = tokio::join!(fetch, b.job());
    assert_eq!(body["jobs"][0]["id"], id.to_string());
}

/// A worker says to one node that it goes quiet, while its fetch waits at another: that is answered at once, long before its minute is up,
/// and brings nothing.
#[tokio::test]
async fn a_quiet_workers_fetch_that_waits_at_another_node_is_answered() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let body = |id: &str| format!(r#"{{"queues":["q"],"count":1,"worker_id":"{id}","wait_ms":60000}}"#);
    let (quiet, busy) = (body("w"), body("v"));
    let waiting = other.http("POST", "/workers/fetch", &quiet);
    let told = async {
        // The fetch may not have come to wait yet; a worker says it again with every heartbeat.
        loop {
            b.http("POST", "/workers/heartbeat", r#"{"worker_id":"w","state":"quiet"}"#).await;
        }
    };
    let answer = async {
        tokio::select! {
            answer = waiting => answer,
            () = told => unreachable!("it never ends"),
        }
    };
    let (status, body) = tokio::time::timeout(seconds(50), answer).await.expect("answered when it was told");
    assert_eq!((status, &body["jobs"]), (200, &serde_json::json!([])));
    // Jobs go to the workers that still want some, wherever they wait.
    let (_, id) = tokio::join!(tokio::task::yield_now(), b.job());
    let (_, brought) = other.http("POST", "/workers/fetch", &busy).await;
    assert_eq!(brought["jobs"][0]["id"], id.to_string());
}

#[tokio::test]
async fn claims_of_two_nodes_share_no_job() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let request = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;
    b.try_enqueue(&[request; 200]).await.unwrap();
    let mut ids = Vec::new();
    loop {
        let (mine, theirs) = tokio::join!(b.claim(7), other.claim(7));
        if mine.is_empty() && theirs.is_empty() {
            break;
        }
        ids.extend(mine.iter().chain(&theirs).map(|job| job.row.id));
    }
    let given = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((given, ids.len()), (200, 200));
}

#[tokio::test]
async fn the_same_key_enqueued_at_two_nodes_at_once_is_one_job() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let request = r#"{"type":"t","args":[1],"options":{"queue":"q","unique":{"keys":["type","args"]}}}"#;
    for round in 0..10 {
        let request = request.replace("[1]", &format!("[{round}]"));
        let batch = [request.as_str()];
        let (one, two) = tokio::join!(b.try_enqueue(&batch), other.try_enqueue(&batch));
        assert_eq!([one.is_ok(), two.is_ok()].iter().filter(|ok| **ok).count(), 1, "round {round}");
    }
    assert_eq!(b.counts("q").await[JobState::Available as usize], 10);
}

#[tokio::test]
async fn deadlines_are_of_the_databases_clock() {
    let b = Bench::postgres().await;
    /// Five minutes slow.
    struct Slow;
    impl Clock for Slow {
        fn now(&self) -> ojs_model::Timestamp {
            ojs_model::Timestamp::from_millis(ojs_engine::clock::SystemClock.now().as_millis() - 300_000)
        }
        fn is_wall(&self) -> bool {
            true
        }
    }
    let url = b.database.as_ref().unwrap().url().to_owned();
    let skewed =
        Bench { engine: Engine::open(options(&url, Arc::new(Slow))).await.unwrap(), database: None, ..Bench::memory().await };
    let (status, body) = skewed.http("POST", "/jobs", r#"{"type":"t","args":[],"options":{"queue":"q"}}"#).await;
    assert_eq!(status, 201, "{body}");
    let created = ojs_model::Timestamp::parse(body["job"]["created_at"].as_str().unwrap()).unwrap();
    let skew = ojs_engine::clock::SystemClock.now().as_millis() - created.as_millis();
    assert!(skew.abs() < 60_000, "{skew} ms");
}

/// The doctor's look at a database: a forgotten transaction is named, with who has it.
#[tokio::test]
async fn a_forgotten_transaction_is_named() {
    let b = Bench::postgres().await;
    let url = b.database.as_ref().unwrap().url().to_owned();
    let look = |longest: u64| {
        let store: ojs_engine::StoreUrl = url.parse().unwrap();
        tokio::task::spawn_blocking(move || ojs_engine::schema::checkup(&store, Duration::from_secs(longest)))
    };
    let find =
        |remarks: &[ojs_engine::schema::Remark]| remarks.iter().find(|remark| remark.check == "transactions").cloned().unwrap();
    // A machine that is busy for a moment has a clock that seems to differ, and a server that others use has its connections taken:
    // both pass. Servers for tests are not durable.
    let began = std::time::Instant::now();
    loop {
        let remarks = look(3600).await.unwrap().unwrap();
        if remarks.iter().filter(|remark| remark.check != "durability").all(|remark| remark.ok) {
            break;
        }
        assert!(began.elapsed() < seconds(60), "{remarks:?}");
    }
    let forgotten = application(&b).await;
    forgotten.batch_execute("SET application_name = 'shop'; BEGIN; SELECT 1").await.unwrap();
    let found = find(&look(0).await.unwrap().unwrap());
    assert!(!found.ok && found.message.contains("shop") && found.message.contains("idle in transaction"), "{found:?}");
    forgotten.batch_execute("ROLLBACK").await.unwrap();
    assert!(find(&look(3600).await.unwrap().unwrap()).ok);
}
