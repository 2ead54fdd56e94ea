//! Lists and searches: they hold up nothing else, look at a bounded number of rows, and go on by cursors.
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use ojs_engine::command::Query;
use ojs_engine::error::{Applied, Refusal, StoreError};
use ojs_engine::rows::{JobFilter, JobSort};
use ojs_engine::store::listing::{Dialect, LOOK, ListPlace, STEP, Walk};
use ojs_engine::store::lists::statement;
use ojs_engine::store::tables::Tables;
use rusqlite::StatementStatus;
use serde_json::{Value, json};

use crate::support::Bench;

crate::on_every_store!(
    cursors_find_each_job_once_while_others_come_and_go,
    a_narrow_search_looks_at_a_bounded_number_of_rows_and_goes_on,
    dead_letters_and_workflows_go_on_by_cursors,
    lists_of_names_go_on_by_cursors_while_others_come,
    a_wrong_cursor_is_refused,
);

/// A search that says when it has begun, and goes on when the test lets it.
struct Held {
    begun: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

impl Query for Held {
    type Reply = usize;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<usize> {
        let found = tables.jobs(&JobFilter { limit: 10, ..JobFilter::default() })?;
        self.begun.send(()).map_err(|_| StoreError::Failed("the test has ended".into()))?;
        // An error is the end of the test, too.
        let _ = self.go_on.lock().unwrap().recv();
        Ok(found.len())
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// Longer than anything here takes on a busy machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

type Answer = tokio::task::JoinHandle<Result<usize, Refusal>>;

/// Holds every connection for searches in the middle of a search; they go on when the senders are dropped.
async fn hold_all_searches(b: &Bench) -> (Vec<Sender<()>>, Vec<Answer>) {
    let (begun, has_begun) = channel();
    let has_begun = Arc::new(Mutex::new(has_begun));
    let (mut held, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (go, go_on) = channel();
        let (store, search) = (Arc::clone(b.engine.store()), Held { begun: begun.clone(), go_on: Mutex::new(go_on) });
        answers.push(tokio::spawn(async move { store.query(search).await }));
        let has_begun = Arc::clone(&has_begun);
        tokio::task::spawn_blocking(move || has_begun.lock().unwrap().recv().unwrap()).await.unwrap();
        held.push(go);
    }
    (held, answers)
}

/// What people and workers wait for while a search is under way.
async fn nothing_else_waits(b: Bench) {
    let id = b.job().await;
    let (held, answers) = hold_all_searches(&b).await;
    let job = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;
    let found = format!("/jobs/{id}");
    for (method, path, body) in [
        ("GET", found.as_str(), ""),
        ("GET", "/health", ""),
        ("GET", "/queues/q", ""),
        ("GET", "/admin/queues/q", ""),
        ("GET", "/admin/stats", ""),
        ("GET", "/admin/workers", ""),
        ("GET", "/events", ""),
        ("POST", "/jobs", job),
        ("POST", "/workers/fetch", r#"{"queues":["q"],"worker_id":"w"}"#),
        ("POST", "/workers/heartbeat", r#"{"worker_id":"w"}"#),
        ("POST", "/workers/ack", &format!(r#"{{"job_id":"{id}"}}"#)),
        ("GET", &format!("{found}/history"), ""),
        ("GET", &format!("{found}/explain"), ""),
        ("GET", "/session", ""),
    ] {
        let answered = tokio::time::timeout(PATIENCE, b.http(method, path, body)).await;
        let (status, answer) = answered.unwrap_or_else(|_| panic!("{method} {path} waits for a search"));
        assert!(status < 300, "{method} {path}: {status} {answer}");
    }
    let metrics = axum::http::Request::get("/metrics").body(axum::body::Body::empty()).unwrap();
    let metrics = tower::ServiceExt::oneshot(b.engine.router(), metrics).await.unwrap();
    assert_eq!(metrics.status(), 200);
    b.engine.store().sweep().await.unwrap();
    // The rest of the places; further searches are refused, and nothing else is.
    let waiting: Vec<_> = (0..62)
        .map(|_| {
            let (begun, go_on) = (channel().0, channel().1);
            b.engine.store().query(Held { begun, go_on: Mutex::new(go_on) })
        })
        .collect();
    for path in [
        "/admin/jobs",
        "/admin/jobs?type=t&count=false",
        "/admin/workflows",
        "/admin/dead-letter",
        "/dead-letter",
        "/dead-letter/stats",
        "/admin/stats/history",
        "/admin/system/audit",
        "/admin/tenants",
        "/history",
        "/trains",
        "/schemas",
        "/cron",
        "/webhooks/deliveries",
    ] {
        let (status, answer) = b.http("GET", path, "").await;
        assert_eq!((status, &answer["error"]["code"]), (503, &Value::from("backend_unavailable")), "{path}: {answer}");
    }
    assert_eq!(b.http("GET", &found, "").await.0, 200);
    drop((held, waiting));
    for answer in answers {
        assert_eq!(answer.await.unwrap().unwrap(), 1, "the snapshot of its beginning");
    }
    assert_eq!(b.http("GET", "/admin/jobs", "").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_search_holds_up_only_searches_on_sqlite() {
    nothing_else_waits(Bench::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_search_holds_up_only_searches_on_postgres() {
    nothing_else_waits(Bench::postgres().await).await;
}

fn ids(page: &Value, member: &str) -> Vec<String> {
    page[member].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// All pages of a list, with something done between two pages.
async fn walk(b: &Bench, path: &str, member: &str, mut between: impl AsyncFnMut()) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, page) = b.http("GET", &format!("{path}{cursor}"), "").await;
        assert_eq!(status, 200, "{path}{cursor}: {page}");
        all.extend(ids(&page, member));
        let Some(next) = page["pagination"]["next_cursor"].as_str() else {
            assert_eq!(page["pagination"]["has_more"], false, "{page}");
            return all;
        };
        assert_eq!(page["pagination"]["has_more"], true, "{page}");
        cursor = format!("&cursor={next}");
        between().await;
    }
}

async fn cursors_find_each_job_once_while_others_come_and_go(b: Bench) {
    let mut made = Vec::new();
    for n in 0..9 {
        let later = if n % 3 == 0 { format!(r#","delay_until":"+PT{}H""#, 1 + n % 2) } else { String::new() };
        let job = format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","priority":{}{later}}}}}"#, n % 2);
        made.push(b.enqueue(&job).await.to_string());
    }
    for query in [
        "sort=created_at",
        "sort=created_at&order=asc",
        "sort=priority&state=available",
        "sort=priority&state=available&order=asc",
        "sort=scheduled_at&state=scheduled",
        "sort=scheduled_at&state=scheduled&order=asc",
        "sort=scheduled_at",
        "sort=scheduled_at&order=asc",
        "state=available",
        "state=scheduled&queue=q&type=t",
        "type=t&order=asc",
    ] {
        let (_, whole) = b.http("GET", &format!("/admin/jobs?{query}&per_page=100"), "").await;
        let whole = ids(&whole, "items");
        assert!(whole.len() >= 3, "{query}");
        let path = format!("/admin/jobs?{query}&per_page=2&count=false");
        let mut came = Vec::new();
        let walked = walk(&b, &path, "items", async || {
            came.push(b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","priority":1}}"#).await);
        })
        .await;
        let known: Vec<&String> = walked.iter().filter(|id| whole.contains(id)).collect();
        assert_eq!(known, whole.iter().collect::<Vec<_>>(), "{query}: in the same order, each once");
        assert_eq!(walked.iter().collect::<HashSet<_>>().len(), walked.len(), "{query}");
        for job in came {
            b.change(ojs_engine::command::Cancel(job)).await.unwrap();
        }
    }
    // A page with a number says where to go on as well, and counts.
    let (_, page) = b.http("GET", "/admin/jobs?state=scheduled&per_page=2&page=1", "").await;
    assert_eq!((&page["pagination"]["total"], &page["pagination"]["complete"]), (&Value::from(3), &Value::from(true)));
    let next = page["pagination"]["next_cursor"].as_str().unwrap();
    let (_, rest) = b.http("GET", &format!("/admin/jobs?state=scheduled&per_page=2&cursor={next}"), "").await;
    assert_eq!((ids(&rest, "items").len(), rest["pagination"].get("total")), (1, None));
}

async fn a_narrow_search_looks_at_a_bounded_number_of_rows_and_goes_on(b: Bench) {
    let rare = b.enqueue(r#"{"type":"rare","args":[],"options":{"queue":"r"}}"#).await.to_string();
    let common = vec![r#"{"type":"t","args":[],"options":{"queue":"q"}}"#; 1_000];
    for _ in 0..2 * STEP / 1_000 {
        b.try_enqueue(&common).await.unwrap();
    }
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let (_, page) = b.http("GET", &format!("/admin/jobs?type=rare&count=false{cursor}"), "").await;
        let complete = page["pagination"]["complete"].as_bool().unwrap();
        pages.push((ids(&page, "items"), complete));
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(pages, [(vec![], false), (vec![], false), (vec![rare.clone()], true)], "{STEP} rows a page");
    // With numbers the first page looks further, and is right about all of them here.
    let (_, page) = b.http("GET", "/admin/jobs?type=rare", "").await;
    assert_eq!((ids(&page, "items"), &page["pagination"]["total"]), (vec![rare.clone()], &Value::from(1)));
    assert_eq!(page["pagination"]["complete"], true);
    // The first look of a page with a number ends before this job. It looks on.
    for _ in 0..(LOOK - 2 * STEP) / 1_000 + 1 {
        b.try_enqueue(&common).await.unwrap();
    }
    for filter in ["type=rare", "queue=r", "queue=r&page=1&per_page=1"] {
        let (_, page) = b.http("GET", &format!("/admin/jobs?{filter}"), "").await;
        let pagination = &page["pagination"];
        assert_eq!((ids(&page, "items"), &pagination["total"]), (vec![rare.clone()], &Value::from(1)), "{filter}");
        assert_eq!((&pagination["has_more"], &pagination["complete"]), (&false.into(), &true.into()), "{filter}");
    }
    let (_, page) = b.http("GET", "/admin/jobs?type=rare&page=2", "").await;
    assert_eq!((ids(&page, "items"), &page["pagination"]["has_more"]), (vec![], &false.into()));
    let (status, refused) = b.http("GET", "/admin/jobs?page=1002&per_page=10", "").await;
    assert_eq!((status, &refused["error"]["details"]["field"]), (400, &Value::from("page")));
    assert!(refused["error"]["hint"].as_str().unwrap().contains("next_cursor"), "{refused}");
}

async fn dead_letters_and_workflows_go_on_by_cursors(b: Bench) {
    let mut dead = Vec::new();
    for n in 0..5 {
        if n % 2 == 0 {
            b.clock.advance(std::time::Duration::from_millis(1));
        }
        let once = r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#;
        dead.insert(0, b.enqueue(once).await.to_string());
        let job = b.claim(1).await.remove(0);
        b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    }
    for (path, member) in [("/dead-letter?limit=2", "jobs"), ("/admin/dead-letter?per_page=2", "items")] {
        assert_eq!(walk(&b, path, member, async || ()).await, dead, "{path}");
    }
    // Offsets work as before, also as cursors.
    let (_, page) = b.http("GET", "/dead-letter?limit=2&cursor=3", "").await;
    assert_eq!((ids(&page, "jobs"), &page["pagination"]["offset"]), (dead[3..].to_vec(), &Value::from(3)));
    let mut flows = Vec::new();
    for _ in 0..5 {
        let body = r#"{"type":"chain","name":"f","steps":[{"type":"t","args":[]}]}"#;
        let (status, made) = b.http("POST", "/workflows", body).await;
        assert_eq!(status, 201, "{made}");
        flows.insert(0, made["workflow"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(walk(&b, "/admin/workflows?per_page=2", "items", async || ()).await, flows);
}

/// Makes a queue, a worker, a tenant, a cron entry, a train and a key with limits of one name.
async fn make_named(b: &Bench, name: &str) {
    b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{{"queue":"{name}"}},"meta":{{"train_id":"{name}"}}}}"#)).await;
    let limited =
        format!(r#"{{"type":"t","args":[],"options":{{"queue":"{name}","rate_limit":{{"key":"{name}","concurrency":1}}}}}}"#);
    b.enqueue(&limited).await;
    let requests = [
        ("POST", "/workers/heartbeat".to_owned(), json!({"worker_id": name, "queues": [name], "active_jobs": []})),
        ("PUT", format!("/admin/tenants/{name}"), json!({"name": name})),
        ("POST", "/cron".to_owned(), json!({"name": name, "cron": "0 3 * * *", "job_template": {"type": "t", "args": []}})),
    ];
    for (method, path, body) in requests {
        let (status, answer) = b.http(method, &path, &body.to_string()).await;
        assert!(status < 300, "{method} {path}: {status} {answer}");
    }
}

async fn lists_of_names_go_on_by_cursors_while_others_come(b: Bench) {
    for name in ["e", "c", "g", "a.b", "i"] {
        make_named(&b, name).await;
    }
    let lists = [
        ("/admin/queues?per_page=2", "items", "name"),
        ("/admin/workers?per_page=2", "items", "id"),
        ("/admin/tenants?per_page=2", "items", "id"),
        ("/admin/trains?per_page=2", "items", "id"),
        ("/rate-limits?limit=2", "items", "key"),
        ("/cron?limit=2", "cron_jobs", "name"),
    ];
    let mut walks: Vec<(Vec<String>, Option<String>)> = vec![(Vec::new(), Some(String::new())); lists.len()];
    for turn in 0.. {
        for ((path, member, name), (seen, next)) in lists.into_iter().zip(&mut walks) {
            let Some(cursor) = next.take() else { continue };
            let place = if turn == 0 { String::new() } else { format!("&cursor={cursor}") };
            let (status, answer) = b.http("GET", &format!("{path}{place}"), "").await;
            assert_eq!(status, 200, "{path}{place}: {answer}");
            let names = answer[member].as_array().unwrap().iter().map(|item| item[name].as_str().unwrap().to_owned());
            seen.extend(names.filter(|name| name != "default"));
            *next = answer["pagination"]["next_cursor"].as_str().map(str::to_owned);
            assert_eq!(answer["pagination"]["has_more"], next.is_some(), "{path}{place}");
        }
        if walks.iter().all(|(_, next)| next.is_none()) {
            break;
        }
        // A list by number of the page would show its last name again.
        make_named(&b, &format!("a.{turn}")).await;
        assert!(turn < 20, "the lists end");
    }
    for ((path, _, _), (seen, _)) in lists.into_iter().zip(walks) {
        assert_eq!(seen, ["a.b", "c", "e", "g", "i"], "{path}");
    }
    let (_, answer) = b.http("GET", "/admin/workers?per_page=2&page=2", "").await;
    assert_eq!(answer["items"].as_array().unwrap().len(), 2, "pages have numbers, too");
}

async fn a_wrong_cursor_is_refused(b: Bench) {
    let names = ["/admin/queues", "/admin/workers", "/admin/tenants", "/admin/trains", "/cron", "/rate-limits"];
    for path in ["/admin/jobs", "/dead-letter", "/admin/dead-letter", "/admin/workflows"].into_iter().chain(names) {
        for wrong in ["k1", "x", "k1.2.3"] {
            let (status, answer) = b.http("GET", &format!("{path}?cursor={wrong}"), "").await;
            assert_eq!((status, &answer["error"]["details"]["field"]), (400, &Value::from("cursor")), "{path} {wrong}");
        }
    }
}

const PER_PAGE: usize = 10;

/// Two hundred pages of jobs that wait for their start.
async fn enqueue_many_pending(b: &Bench) {
    let jobs = vec![r#"{"type":"t","args":[],"options":{"queue":"q","pending":true}}"#; 1_000];
    for _ in 0..2 {
        b.try_enqueue(&jobs).await.unwrap();
    }
}

/// A list of one state by an index, at its beginning and after many pages.
fn statements(sql: &str, table: &str, from: &str, known: &str, dialect: Dialect, deep: ListPlace) -> [(String, ListPlace); 2] {
    let walk = || Walk { from, known: known.to_owned(), compared: "TRUE".to_owned() };
    [ListPlace { key: 0, seq: i64::MAX }, deep].map(|place| {
        let filter = JobFilter { behind: Some(place), look: STEP, sort: JobSort::Created, ..JobFilter::default() };
        (filter.statement(&statement(sql), table, &walk(), dialect), place)
    })
}

#[tokio::test]
async fn a_late_page_costs_what_the_first_one_does_on_sqlite() {
    let b = Bench::sqlite().await;
    enqueue_many_pending(&b).await;
    let connection = rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap();
    let sql = include_str!("../../src/store/sqlite/sql/jobs.sql");
    let dialect = Dialect { sign: "?", integer: "" };
    for (from, known) in [("jobs", "TRUE"), ("jobs INDEXED BY jobs_pending", "state = 2")] {
        let deep = ListPlace { key: 0, seq: 100 };
        let steps = statements(sql, "jobs", from, known, dialect, deep).map(|(text, place)| {
            let mut statement = connection.prepare(&text).unwrap();
            let none = rusqlite::types::Null;
            let params = rusqlite::params![none, none, none, none, PER_PAGE, 0, place.seq, none, 0, STEP];
            assert_eq!(statement.query_map(params, |_| Ok(())).unwrap().count(), PER_PAGE, "{text}");
            statement.get_status(StatementStatus::VmStep)
        });
        assert!(steps[0] > 0 && steps[1] <= steps[0] + 10, "{steps:?} steps of SQLite for the first page and for page 190");
    }
}

#[tokio::test]
async fn a_late_page_costs_what_the_first_one_does_on_postgres() {
    let b = Bench::postgres().await;
    enqueue_many_pending(&b).await;
    let client = crate::nodes::application(&b).await;
    client.batch_execute("ANALYZE ojs_runs; SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off").await.unwrap();
    let sql = include_str!("../../src/store/postgres/sql/jobs.sql");
    let dialect = Dialect { sign: "$", integer: "::bigint" };
    let late: i64 = client.query_one("SELECT seq FROM ojs_runs ORDER BY seq LIMIT 1 OFFSET 100", &[]).await.unwrap().get(0);
    for known in ["TRUE", "place = 2"] {
        let deep = ListPlace { key: 0, seq: late };
        for (text, place) in statements(sql, "ojs_runs", "ojs_runs", known, dialect, deep) {
            let (none, no_text) = (None::<i64>, None::<&str>);
            let (limit, step) = (i64::try_from(PER_PAGE).unwrap(), i64::try_from(STEP).unwrap());
            let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) {text}");
            let lines = client
                .query(&explain, &[&none, &no_text, &none, &none, &limit, &0_i64, &place.seq, &none, &0_i64, &step])
                .await
                .unwrap();
            let plan = lines.iter().map(|line| line.get::<_, String>(0)).collect::<Vec<_>>().join("\n");
            let scan = plan.lines().find(|line| line.contains("Index")).unwrap_or_else(|| panic!("{plan}"));
            assert!(scan.contains("rows=10 ") && !plan.contains("Sort"), "{plan}");
        }
    }
}
