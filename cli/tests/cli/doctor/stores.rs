//! Checks of a file, with a server and without one; of an outbox.
use std::io::{Seek, Write};
use std::path::Path;

use ojs_tests::ServerProcess;
use serde_json::Value;

use super::wrong;
use crate::common::{ojs, says};

/// The report of the doctor when no server is named. The doctor asks at the default address first: no server may listen
/// there.
async fn alone(arguments: &[&str]) -> Value {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_ojs"));
    let command = command.args(["doctor", "--json"]).args(arguments);
    let command = command.env_remove("OJS_URL").env_remove("OJS_BACKEND_URL").env_remove("OJS_AUTH_TOKEN");
    serde_json::from_slice(&command.output().await.unwrap().stdout).unwrap()
}

async fn look(store: &str, check: &str) -> Option<(String, String)> {
    let mut report = alone(&["--store", store, "--only", check]).await;
    // The free space of this machine's disk is not part of the test.
    report["findings"].as_array_mut().unwrap().retain(|finding| finding["evidence"].get("disk_bytes").is_none());
    wrong(&report)
}

/// A store with a job, that no server serves.
async fn with_a_job(directory: &Path) -> String {
    let store = format!("sqlite:{}", directory.join("jobs.db").display());
    assert_eq!(ojs(&store, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await.status.code(), Some(0));
    store
}

#[tokio::test]
async fn the_doctor_looks_at_a_store_without_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("jobs.db");
    let store = format!("sqlite:{}", path.display());
    let (said, command) = look(&store, "store.schema").await.unwrap();
    assert!(said.contains("not there yet") && command.ends_with("--apply"), "{said}");
    assert!(!path.exists(), "a look makes no store");
    with_a_job(directory.path()).await;
    assert_eq!(look(&store, "store.schema").await, None);
    let report = alone(&["--store", &store]).await;
    let text = report.to_string();
    assert!(text.contains("none answers at") && text.contains("1 job of 'reports'"), "{report}");
    assert!(!text.contains("store.audit"), "only when it is asked for: {report}");
    let audited = alone(&["--store", &store, "--audit"]).await.to_string();
    assert!(audited.contains("1 jobs looked at: nothing contradicts anything"), "{audited}");
    rusqlite::Connection::open(&path).unwrap().execute("DELETE FROM bodies", []).unwrap();
    let audited = alone(&["--store", &store, "--audit"]).await.to_string();
    assert!(audited.contains("the body of a job: expected a row, found none (bodies)"), "{audited}");
}

#[tokio::test]
async fn the_doctor_audits_the_store_of_a_server() {
    let server = ServerProcess::memory().await;
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await;
    let report = super::report(&server.url(), &["--audit", "--only", "store.audit"]).await;
    assert_eq!(report["findings"][0]["message"], "1 jobs looked at: nothing contradicts anything", "{report}");
}

#[tokio::test]
async fn the_doctor_names_an_index_that_is_missing_and_the_statement_that_makes_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = with_a_job(directory.path()).await;
    assert_eq!(look(&store, "store.drift").await, None);
    let path = directory.path().join("jobs.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("DROP INDEX jobs_id").unwrap();
    let (said, command) = look(&store, "store.drift").await.unwrap();
    assert_eq!(said, "index jobs_id is missing");
    let statement = command.split_once('\'').unwrap().1.trim_end_matches('\'');
    rusqlite::Connection::open(&path).unwrap().execute_batch(statement).unwrap();
    assert_eq!(look(&store, "store.drift").await, None, "the statement cleared it");
}

#[tokio::test]
async fn the_doctor_names_a_damaged_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = with_a_job(directory.path()).await;
    assert_eq!(look(&store, "store.sound").await, None);
    let path = directory.path().join("jobs.db");
    let pages: u64 = {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        file.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap()
    };
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    // The first page holds the schema; those after it are tables and indexes.
    for page in 2..pages {
        file.seek(std::io::SeekFrom::Start(page * 4096)).unwrap();
        file.write_all(&[0x77; 64]).unwrap();
    }
    drop(file);
    let (said, command) = look(&store, "store.sound").await.unwrap();
    assert!(said.contains("damaged (") && command.contains(".recover"), "{said}");
}

#[tokio::test]
async fn the_doctor_names_relaxed_durability_and_unused_space() {
    let directory = tempfile::tempdir().unwrap();
    let store = with_a_job(directory.path()).await;
    assert_eq!(look(&store, "store.durability").await, None);
    assert!(look(&format!("{store}?durability=relaxed"), "store.durability").await.unwrap().0.contains("a power cut loses"));
    assert_eq!(look(&store, "store.vacuum").await, None);
    let file = rusqlite::Connection::open(directory.path().join("jobs.db")).unwrap();
    file.execute_batch("CREATE TABLE much AS SELECT zeroblob(90000000) AS bytes; DROP TABLE much").unwrap();
    let (said, command) = look(&store, "store.vacuum").await.unwrap();
    assert!(said.contains("of the file are unused") && command.ends_with(" VACUUM"), "{said}");
    file.execute_batch("VACUUM").unwrap();
    assert_eq!(look(&store, "store.vacuum").await, None, "the statement cleared it");
}

#[tokio::test]
async fn the_doctor_names_an_outbox_that_is_not_emptied() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    let database = format!("sqlite:{}", path.display());
    let look = || async { wrong(&alone(&["--only", "outbox.lag", "--database", &database]).await) };
    let made = ojs("http://127.0.0.1:1", &["relay", "migrate", "--database", &database]).await;
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    assert_eq!(look().await, None);
    file.execute_batch("INSERT INTO ojs_outbox (job_type, job_args) VALUES ('a', '[1]')").unwrap();
    assert_eq!(look().await, None, "it has just come");
    let changed = file.execute("UPDATE ojs_outbox SET created_at = datetime(created_at, '-1 hour')", []).unwrap();
    assert_eq!(changed, 1);
    let (said, command) = look().await.unwrap();
    assert!(said.contains("1 rows wait to be sent") && command.starts_with("ojs relay run"), "{said}");
}
