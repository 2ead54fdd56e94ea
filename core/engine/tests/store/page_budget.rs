//! What the page asks reads a bounded number of rows beside a million jobs, and never walks a whole table of jobs. The
//! only jobs that are counted one by one are dead letters of a filter and those by error, of which 20,000 are looked
//! at. Measured in rows and in steps of the database, not in time: `ojs-bench dashboard` measures the time.
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use ojs_model::JobId;
use ojs_postgres_fixture::{Options, Server};
use rusqlite::ffi;
use serde_json::Value;

use crate::support::Bench;

/// Jobs of the store.
const MANY: i64 = 1_000_000;
/// Rows that a request may look at which the overview sends again and again.
const MOST_POLLED_ROWS: u64 = 1_000;
/// Rows that any request may look at: the dead letters that are counted by error, or the jobs that two steps of a
/// search compare.
const MOST_ROWS: u64 = 45_000;
/// The same in steps of SQLite's machine, of which a row takes some dozens.
const MOST_POLLED_STEPS: u64 = 10_000;
const MOST_STEPS: u64 = 600_000;
/// Rows that a list of dead letters with a filter and their statistics may look at. Each of the 20,000 is read for the
/// page and for its number, with its errors; plans count it once more where it is compared.
const MOST_FILTERED_ROWS: u64 = 100_000;
const MOST_FILTERED_STEPS: u64 = 1_750_000;
/// How many of the requests the overview sends.
const POLLED: usize = 8;

/// A job that waits, one that will, and one that failed: their ids.
async fn seed(b: &Bench) -> [JobId; 3] {
    let waiting = b.enqueue(r#"{"type":"t","args":[1],"options":{"queue":"waiting"}}"#).await;
    let later = b.enqueue(r#"{"type":"t","args":[2],"options":{"queue":"q","delay_until":"+PT1H"}}"#).await;
    let retry = r#"{"max_attempts":1,"on_exhaustion":"dead_letter"}"#;
    let once = &format!(r#"{{"type":"t","args":[3],"options":{{"queue":"q","retry":{retry}}}}}"#);
    let failed = b.enqueue(once).await;
    let job = b.claim_for(None, &["q"], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.enqueue(r#"{"type":"t","args":[4],"options":{"queue":"q"}}"#).await;
    let job = b.claim_for(None, &["q"], 1).await.remove(0);
    b.ack(&job).await.unwrap();
    [waiting, later, failed]
}

/// Every request of the page that reads jobs, first those of the overview. `deep` is a cursor in the middle of the
/// store.
fn requests([waiting, later, failed]: [JobId; 3], deep: &str) -> Vec<String> {
    let fixed = [
        "/admin/stats",
        "/admin/queues?per_page=100",
        "/admin/queues/q",
        "/admin/workers?per_page=100",
        "/admin/trains?state=held&per_page=1",
        "/admin/jobs?state=discarded&count=false&per_page=6",
        "/admin/relays?per_page=1",
        "/admin/stats/history?period=1m",
        "/admin/stats/types?limit=200",
        "/admin/errors?per_page=50",
        "/dead-letter/stats",
        "/admin/dead-letter?per_page=50",
        "/admin/dead-letter?per_page=50&queue=q",
        "/admin/dead-letter?per_page=50&type=never",
        "/admin/dead-letter?per_page=50&error_type=never",
        "/dead-letter?limit=50&error_type=x",
        "/admin/jobs?count=false&per_page=50",
        "/admin/jobs?count=false&per_page=50&type=never",
        "/admin/jobs?count=false&per_page=50&queue=waiting",
        "/admin/jobs?per_page=50&q=args.0%3A9",
        "/admin/jobs?per_page=50&q=nothing%20-tag%3Ax%20since%3A7d",
    ];
    let mut all: Vec<String> = fixed.into_iter().map(str::to_owned).collect();
    for state in ["scheduled", "available", "active", "completed", "retryable", "cancelled", "discarded"] {
        all.push(format!("/admin/jobs?count=false&per_page=50&state={state}"));
        all.push(format!("/admin/jobs?count=false&per_page=50&state={state}&cursor={deep}"));
    }
    all.push(format!("/admin/jobs?count=false&per_page=50&cursor={deep}"));
    for id in [waiting, later, failed] {
        let of_job = ["/admin/jobs/ID", "/jobs/ID/explain", "/jobs/ID/history?limit=200"];
        all.extend(of_job.map(|path| path.replace("ID", &id.to_string())));
    }
    all
}

/// The requests that cost too much, and those whose page in the middle of the store costs more than the first one does.
fn too_dear(costs: &[(String, u64)], [most_polled, most, most_filtered]: [u64; 3]) -> Vec<String> {
    let mut dear = Vec::new();
    for (place, (path, cost)) in costs.iter().enumerate() {
        println!("{cost:>9} {path}");
        let is_filtered = path.contains("dead-letter") && path != "/admin/dead-letter?per_page=50";
        let allowed = if is_filtered { most_filtered } else { most };
        if *cost > if place < POLLED { most_polled } else { allowed } {
            dear.push(format!("{path}: {cost}"));
        }
    }
    let of = |wanted: &str| costs.iter().find(|(path, _)| path == wanted).unwrap().1;
    let list = "/admin/jobs?count=false&per_page=50";
    let (late, _) = costs.iter().find(|(path, _)| path.starts_with(&format!("{list}&cursor="))).unwrap();
    if of(late) > of(list) * 3 / 2 {
        dear.push(format!("{late}: {}, and the first page: {}", of(late), of(list)));
    }
    dear
}

async fn ask(b: &Bench, path: &str) -> Value {
    let (status, answer) = b.http("GET", path, "").await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

/// What SQLite does for one database file, counted by a trace of every statement.
mod steps {
    use super::*;

    static FILE: Mutex<String> = Mutex::new(String::new());
    static STEPS: AtomicI64 = AtomicI64::new(0);

    /// A statement has ended.
    unsafe extern "C" fn ended(_: c_uint, _: *mut c_void, statement: *mut c_void, _: *mut c_void) -> c_int {
        let statement = statement.cast::<ffi::sqlite3_stmt>();
        // SAFETY: SQLite passes the statement that has ended, which is valid for the length of this call.
        let steps = unsafe { ffi::sqlite3_stmt_status(statement, ffi::SQLITE_STMTSTATUS_VM_STEP, 1) };
        // SAFETY: the same, and the name lives as long as its connection.
        let name = unsafe { ffi::sqlite3_db_filename(ffi::sqlite3_db_handle(statement), c"main".as_ptr()) };
        if !name.is_null() {
            // SAFETY: SQLite's names end with a zero.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            if *name == **FILE.lock().unwrap() {
                STEPS.fetch_add(i64::from(steps), Ordering::Relaxed);
            }
        }
        0
    }

    /// Traces each connection that is opened.
    unsafe extern "C" fn opened(db: *mut ffi::sqlite3, _: *mut *mut c_char, _: *const ffi::sqlite3_api_routines) -> c_int {
        // SAFETY: SQLite passes the connection that it opens, and `ended` has no context.
        unsafe { ffi::sqlite3_trace_v2(db, ffi::SQLITE_TRACE_PROFILE, Some(ended), std::ptr::null_mut()) }
    }

    /// A store whose connections are traced. Other tests open theirs meanwhile: `ended` passes over them.
    pub async fn bench() -> Bench {
        // SAFETY: the function has the form that SQLite asks for.
        unsafe { rusqlite::auto_extension::register_auto_extension(opened) }.unwrap();
        let b = Bench::sqlite().await;
        rusqlite::auto_extension::cancel_auto_extension(opened);
        *FILE.lock().unwrap() = b.dir.path().join("jobs.db").canonicalize().unwrap().to_string_lossy().into_owned();
        b
    }

    /// The steps since the last call.
    pub fn take() -> u64 {
        STEPS.swap(0, Ordering::Relaxed).unsigned_abs()
    }
}

/// Copies of the jobs that are there, until there are so many: nine of ten completed, the others waiting or failed.
fn multiply_on_sqlite(b: &Bench, wanted: i64) {
    let file = rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap();
    file.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    file.execute_batch("PRAGMA synchronous = OFF; BEGIN IMMEDIATE").unwrap();
    let number = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let columns = |table: &str| {
        let mut statement = file.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        names.map(Result::unwrap).filter(|name| name != "seq" && name != "id").collect::<Vec<_>>().join(", ")
    };
    for (state, share) in [(4, 83), (0, 5), (7, 11), (1, 1)] {
        let sample = number(&format!("SELECT min(seq) FROM jobs WHERE state = {state}"));
        let more = wanted * share / 100 - number(&format!("SELECT count(*) FROM jobs WHERE state = {state}"));
        let base = number("SELECT max(seq) FROM jobs");
        let copies = format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {more})");
        for (table, id) in [("jobs", "randomblob(16), "), ("bodies", ""), ("histories", "")] {
            let (own, id_column) = (columns(table), if id.is_empty() { "" } else { "id, " });
            file.execute_batch(&format!(
                "INSERT INTO {table} (seq, {id_column}{own}) {copies} \
                 SELECT {base} + i, {id}{own} FROM n, {table} WHERE seq = {sample}"
            ))
            .unwrap();
        }
        file.execute_batch(&format!(
            "UPDATE counts SET jobs = jobs + {more} \
             WHERE state = {state} AND queue = (SELECT queue FROM jobs WHERE seq = {sample})"
        ))
        .unwrap();
        if state == 7 {
            // The number of dead letters is kept beside those of the states.
            file.execute_batch(&format!("UPDATE counts SET jobs = jobs + {more} WHERE state = 8")).unwrap();
        }
    }
    file.execute_batch("COMMIT").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_jobs_cost_the_page_a_bounded_number_of_steps_on_sqlite() {
    let b = steps::bench().await;
    // The copies have neither events nor figures.
    b.audited.damaged();
    let jobs = seed(&b).await;
    multiply_on_sqlite(&b, MANY);
    let mut costs = Vec::new();
    for path in requests(jobs, &format!("k0.{}", MANY / 2)) {
        // The first answer fills the caches of the connection.
        ask(&b, &path).await;
        steps::take();
        ask(&b, &path).await;
        let cost = steps::take();
        assert!(cost > 0, "{path} is traced");
        costs.push((path, cost));
    }
    assert_eq!(too_dear(&costs, [MOST_POLLED_STEPS, MOST_STEPS, MOST_FILTERED_STEPS]), Vec::<String>::new());
}

/// The rows that the statements of a part of the log have looked at, and the tables of jobs that one has read whole.
fn rows_of(log: &str) -> (u64, Vec<String>) {
    let (mut rows, mut whole) = (0, Vec::new());
    for line in log.lines().map(str::trim) {
        let scan = line.trim_start_matches("-> ").trim_start();
        if scan.starts_with("Seq Scan on ojs_")
            && ["ojs_runs", "ojs_jobs", "ojs_histories"].iter().any(|name| scan.contains(name))
        {
            whole.push(scan.to_owned());
        }
        let number = |text: &str| text.split([' ', ')']).next().unwrap_or_default().parse::<f64>().unwrap_or(0.0);
        let actual = scan.split_once("(actual rows=").map(|(_, rest)| rest);
        let of_scan = actual.filter(|_| scan.contains(" Scan ")).and_then(|text| text.split_once(" loops="));
        if let Some((of_one, rest)) = of_scan {
            rows += (number(of_one) * number(rest)) as u64;
        } else if let Some(removed) = scan.strip_prefix("Rows Removed by Filter: ") {
            rows += number(removed) as u64;
        }
    }
    (rows, whole)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_jobs_cost_the_page_a_bounded_number_of_rows_on_postgres() {
    let settings = [
        ("session_preload_libraries", "auto_explain"),
        ("auto_explain.log_min_duration", "0"),
        ("auto_explain.log_analyze", "on"),
        ("auto_explain.log_timing", "off"),
        ("jit", "off"),
        ("shared_buffers", "256MB"),
        ("max_wal_size", "512MB"),
    ];
    let options = settings.into_iter().fold(Options::quick(), |options, (name, value)| options.set(name, value));
    let server = tokio::task::spawn_blocking(move || Server::start(&options).unwrap()).await.unwrap();
    let b = Bench::on(server.database().unwrap()).await;
    b.audited.damaged();
    let jobs = seed(&b).await;
    let client = crate::nodes::application(&b).await;
    let quiet = "SET auto_explain.log_min_duration = -1; SET session_replication_role = replica";
    client.batch_execute(quiet).await.unwrap();
    client.batch_execute(include_str!("page_budget.sql")).await.unwrap();
    let middle = client.query_one("SELECT seq FROM ojs_runs ORDER BY seq OFFSET 500000 LIMIT 1", &[]).await.unwrap();
    let middle: i64 = middle.get(0);
    let (mut costs, mut walks) = (Vec::new(), Vec::new());
    for path in requests(jobs, &format!("k0.{middle}")) {
        // The first answer fills the caches of the connection.
        ask(&b, &path).await;
        let before = server.log().len();
        ask(&b, &path).await;
        let (rows, whole) = rows_of(&server.log()[before..]);
        walks.extend(whole.iter().map(|scan| format!("{path}: {scan}")));
        costs.push((path, rows));
    }
    assert_eq!(walks, Vec::<String>::new(), "tables that are read as a whole");
    assert_eq!(too_dear(&costs, [MOST_POLLED_ROWS, MOST_ROWS, MOST_FILTERED_ROWS]), Vec::<String>::new());
    let (rows, whole) =
        rows_of("-> Seq Scan on ojs_runs (cost=1..2 rows=3) (actual rows=40.00 loops=2)\n  Rows Removed by Filter: 7");
    assert_eq!((rows, whole.len()), (87, 1), "plans are read");
    assert!(server.log().contains("Query Text: "), "plans are written");
}
