//! Several servers on one PostgreSQL: the database goes away, falls silent, hides behind a pooler; nodes freeze, and their clocks are wrong.
use std::collections::HashMap;
use std::time::{Duration, Instant};

use ojs_postgres_fixture::{Database, Options, Server, Stop};
use ojs_tests::{Environment, ServerProcess, Wire, job_id, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_postgres::NoTls;

use super::bouncer::Bouncer;
use super::proxy::{Mode, Proxy};

/// Longer than the server waits for its database.
const LONG: Duration = Duration::from_secs(70);

/// A database server of its own, and an empty database.
async fn own_database() -> (Server, Database) {
    let start = || {
        let server = Server::start(&Options::quick()).unwrap();
        let database = server.database().unwrap();
        (server, database)
    };
    tokio::task::spawn_blocking(start).await.unwrap()
}

async fn enqueue(wire: &mut Wire, queue: &str) -> String {
    let job = json!({"type": "test.plain", "args": [], "options": {"queue": queue}});
    wire.post("/jobs", &job).await.expect(201).job()["id"].as_str().unwrap().to_owned()
}

/// A fetch that waits, in a task of its own; the ids it brings.
fn fetch(wire: Wire, queue: &str) -> tokio::task::JoinHandle<Vec<String>> {
    let body = json!({"queues": [queue], "count": 10, "worker_id": "w", "wait_ms": 60_000}).to_string();
    let mut wire = wire.patient(LONG);
    tokio::spawn(async move {
        loop {
            match wire.call("POST", "/workers/fetch", &body).await.unwrap() {
                answer if answer.status == 200 => {
                    let ids = answer.json()["jobs"].as_array().unwrap().iter().map(|job| text(&job["id"])).collect::<Vec<_>>();
                    if !ids.is_empty() {
                        return ids;
                    }
                }
                // The database is away: a worker asks again.
                answer => assert_eq!(answer.status, 503, "{}", String::from_utf8_lossy(&answer.body)),
            }
        }
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The database is restarted: both servers live on, their connections and their wake-ups come back, a fetch that waited gets its job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_17_the_database_goes_away_and_comes_back() {
    let (server, database) = own_database().await;
    let (mut one, two) = (ServerProcess::on(database.url(), &[]).await, ServerProcess::on(database.url(), &[]).await);
    let kept = enqueue(&mut one.connect().await, "kept").await;
    let waiting = fetch(two.connect().await, "late");
    for how in [Stop::Fast, Stop::Immediate] {
        tokio::task::block_in_place(|| server.restart(how)).unwrap();
    }
    let job = json!({"type": "test.plain", "args": [], "options": {"queue": "late"}}).to_string();
    let late = until("it takes jobs again", || async {
        let answer = one.connect().await.call("POST", "/jobs", &job).await.unwrap();
        (answer.status == 201).then(|| text(&answer.job()["id"]))
    })
    .await;
    assert_eq!(tokio::time::timeout(ojs_tests::PATIENCE, waiting).await.expect("the fetch is woken").unwrap(), [late]);
    // A connection that says nothing for 10 s is closed: all tests here make one when they have something to say.
    let mut wire = one.connect().await;
    assert_eq!(wire.get(&format!("/jobs/{kept}")).await.expect(200).job()["state"], "available");
    assert_eq!(wire.get("/health").await.status, 200);
    assert_eq!(one.terminate().await.code(), Some(0), "it has lived through all of it");
}

/// The connection breaks between a commit and its answer: the requests of that commit are answered that the outcome is not known, and no other request is
/// their work a second time. Sent again under the same ids, each job is there once.
#[tokio::test]
async fn scenario_25_the_answer_to_a_commit_is_lost() {
    const CLIENTS: usize = 48;
    let (server, database) = own_database().await;
    let proxy = Proxy::start(([127, 0, 0, 1], server.port()).into()).await;
    let url = format!("postgres://postgres@{}/{}?pooler=none", proxy.address(), database.name());
    let node = ServerProcess::on(&url, &[]).await;
    let (mut unknown, mut jobs) = (0, 0);
    for round in 0..6 {
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..CLIENTS {
            let (mut wire, id) = (node.connect().await, job_id());
            let body = json!({"type": "test.plain", "args": [], "id": id, "options": {"queue": "q"}}).to_string();
            clients.spawn(async move {
                for sent in 0.. {
                    let answer = wire.call("POST", "/jobs", &body).await.unwrap();
                    match answer.status {
                        201 => return sent,
                        409 if sent > 0 => return sent,
                        503 => {}
                        _ => panic!("{}", String::from_utf8_lossy(&answer.body)),
                    }
                }
                unreachable!("the loop has no end")
            });
            if clients.len() == CLIENTS / 2 {
                proxy.set(Mode::LoseCommit);
            }
        }
        while let Some(sent) = clients.join_next().await {
            unknown += sent.unwrap();
        }
        jobs += CLIENTS;
        let stats = node.connect().await.get("/queues/q/stats").await.expect(200).json();
        assert_eq!(stats["queue"]["total"], json!(jobs), "round {round}");
    }
    assert!(proxy.is_open() && unknown > 0, "no commit was lost on its way");
}

/// The network to the database stops carrying data without closing connections: no request waits for ever, and all of them work again when it carries data.
#[tokio::test]
async fn scenario_18_a_silent_database_is_given_up() {
    let (server, database) = own_database().await;
    let proxy = Proxy::start(([127, 0, 0, 1], server.port()).into()).await;
    let url = format!("postgres://postgres@{}/{}?pooler=none", proxy.address(), database.name());
    let node = ServerProcess::on(&url, &[]).await;
    let mut wire = node.connect().await;
    enqueue(&mut wire, "q").await;
    proxy.set(Mode::Silent);
    let body = json!({"type": "test.plain", "args": [], "options": {"queue": "q"}}).to_string();
    let began = Instant::now();
    let mut second = node.connect().await.patient(LONG);
    assert_eq!(second.call("POST", "/jobs", &body).await.unwrap().status, 503, "after {:?}", began.elapsed());
    proxy.set(Mode::Open);
    let again = async { while node.connect().await.patient(LONG).call("POST", "/jobs", &body).await.unwrap().status != 201 {} };
    tokio::time::timeout(Duration::from_secs(300), again).await.expect("it takes jobs again");
    // All of its connections had fallen silent. One was found dead after 20 s; the others are made anew when they are used, whichever of the
    // threads takes a request: finding out about each would take 20 s for each.
    let began = Instant::now();
    for _ in 0..40 {
        assert_eq!(node.connect().await.patient(LONG).call("POST", "/jobs", &body).await.unwrap().status, 201);
        assert_eq!(node.connect().await.patient(LONG).call("GET", "/queues/q/stats", "").await.unwrap().status, 200);
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(20), "80 requests took {took:?}: a connection was found dead by waiting");
}

/// The connection for notifications dies without an error: it is probed and replaced, and until then nothing is lost
/// but time.
#[tokio::test]
async fn scenario_19_notifications_fall_silent() {
    let (server, database) = own_database().await;
    let proxy = Proxy::start(([127, 0, 0, 1], server.port()).into()).await;
    let heard = format!("postgres://postgres@{}/{}", proxy.address(), database.name());
    let one = ServerProcess::on(database.url(), &[]).await;
    // A pooler is announced, so that notifications have a connection of their own; the proxy is in that one.
    let two = ServerProcess::on(&format!("{}?pooler=transaction&direct={heard}?pooler=none", database.url()), &[]).await;
    let first = fetch(two.connect().await, "first");
    let id = enqueue(&mut one.connect().await, "first").await;
    assert_eq!(first.await.unwrap(), [id]);
    proxy.set(Mode::Silent);
    let second = fetch(two.connect().await, "second");
    let id = enqueue(&mut one.connect().await, "second").await;
    let found = tokio::time::timeout(Duration::from_secs(50), second).await.expect("found by looking").unwrap();
    assert_eq!(found, [id]);
    proxy.set(Mode::Open);
    let third = fetch(two.connect().await, "third");
    let id = enqueue(&mut one.connect().await, "third").await;
    assert_eq!(tokio::time::timeout(Duration::from_secs(50), third).await.expect("woken or found").unwrap(), [id]);
}

/// What happens at a node while it cannot tell the others is told when it can again: they hear all the time, and do not poll.
#[tokio::test]
async fn scenario_19_a_node_that_could_not_tell_makes_up_for_it() {
    let (server, database) = own_database().await;
    let proxy = Proxy::start(([127, 0, 0, 1], server.port()).into()).await;
    let told = format!("postgres://postgres@{}/{}", proxy.address(), database.name());
    let hears = ServerProcess::on(database.url(), &[]).await;
    let cut_off = ServerProcess::on(&format!("{}?pooler=transaction&direct={told}?pooler=none", database.url()), &[]).await;
    let waiting = fetch(hears.connect().await, "q");
    until("the fetch has found nothing, and waits", || async {
        let workers = cut_off.connect().await.get("/admin/workers").await.expect(200).json();
        workers.to_string().contains(r#""w""#).then_some(())
    })
    .await;
    proxy.set(Mode::Cut);
    let id = enqueue(&mut cut_off.connect().await, "q").await;
    // It has tried to say it, in vain, and to connect again.
    tokio::time::timeout(ojs_tests::PATIENCE, proxy.more(2)).await.expect("it tries again");
    proxy.set(Mode::Open);
    let found = tokio::time::timeout(Duration::from_secs(50), waiting).await.expect("told before the fetch gives up").unwrap();
    assert_eq!(found, [id]);
}

/// PgBouncer in transaction mode: everything works on any session, and the log says what the operator should know.
#[tokio::test]
async fn scenario_20_a_pooler_in_transaction_mode() {
    let (server, database) = own_database().await;
    let bouncer = Bouncer::start(&server).await;
    let url = bouncer.url(database.name());
    let (one, two) = (ServerProcess::on(&url, &[]).await, ServerProcess::on(&url, &[]).await);
    let mut tasks = tokio::task::JoinSet::new();
    for client in 0..8 {
        let mut wire = if client % 2 == 0 { one.connect().await } else { two.connect().await };
        tasks.spawn(async move {
            for n in 0..25 {
                let unique = json!({"keys": ["type", "args"]});
                let job = json!({"type": "test.plain", "args": [client, n], "options": {"queue": "q", "unique": unique}});
                wire.post("/jobs", &job).await.expect(201);
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let mut seen = HashMap::new();
    for node in [&one, &two].into_iter().cycle().take(40) {
        let mut wire = node.connect().await;
        let answer =
            wire.post("/workers/fetch", &json!({"queues": ["q"], "count": 10, "worker_id": "w"})).await.expect(200).json();
        for job in answer["jobs"].as_array().unwrap() {
            *seen.entry(text(&job["id"])).or_insert(0) += 1;
            wire.post("/workers/ack", &json!({"job_id": job["id"], "lease_token": job["lease_token"]})).await.expect(200);
        }
    }
    assert_eq!((seen.len(), seen.values().sum::<i32>()), (200, 200), "each job once");
    let waiting = fetch(two.connect().await, "late");
    let late = enqueue(&mut one.connect().await, "late").await;
    assert_eq!(tokio::time::timeout(ojs_tests::PATIENCE, waiting).await.expect("found by polling").unwrap(), [late]);
    for (store, fits) in [(url.clone(), false), (format!("{url}?direct={}", database.url()), true)] {
        let mut doctor = tokio::process::Command::new(ojs_tests::binary());
        doctor.args(["doctor", "--store", &store, "--url", &one.url()]);
        let said = String::from_utf8(doctor.output().await.unwrap().stdout).unwrap();
        let line = said.lines().find(|line| line.contains(" store.connections: ")).unwrap_or_else(|| panic!("{said}"));
        assert_eq!(line.starts_with("ok"), fits, "{line}");
    }
    let said = one.log();
    assert!(said.contains("pooler in transaction mode") && said.contains("direct="), "{said}");
}

/// The leader is frozen for longer than its term and comes back: meanwhile the other one has led, and no tick fires twice.
#[tokio::test]
async fn scenario_21_a_leader_that_was_frozen_does_nothing_twice() {
    let (_server, database) = own_database().await;
    let nodes = [ServerProcess::on(database.url(), &[]).await, ServerProcess::on(database.url(), &[]).await];
    let tick = json!({"name": "tick", "expression": "* * * * * *", "overlap_policy": "allow",
        "job_template": {"type": "test.tick", "args": [], "options": {"queue": "ticks"}}});
    nodes[0].connect().await.post("/cron", &tick).await.expect(201);
    for round in 0..4 {
        let (frozen, living) = (&nodes[round % 2], &nodes[1 - round % 2]);
        let before = ticks(living).await.len();
        frozen.signal(Signal::STOP);
        // Only one of them leads; whichever is frozen, the ticks go on.
        until("ticks go on", || async { (ticks(living).await.len() >= before + 3).then_some(()) }).await;
        frozen.signal(Signal::CONT);
        until("and after it is back", || async { (ticks(frozen).await.len() >= before + 4).then_some(()) }).await;
    }
    let ticks = ticks(&nodes[0]).await;
    let mut seconds: Vec<&str> = ticks.iter().map(String::as_str).collect();
    seconds.sort_unstable();
    let all = seconds.len();
    seconds.dedup();
    assert_eq!(seconds.len(), all, "a tick fired twice");
    assert!(all >= 16, "{all} ticks");
}

/// What a node's own clock said when it wrote its last log line, in milliseconds.
async fn clock_of(node: &ServerProcess) -> i64 {
    let read = || async { ojs::Timestamp::parse(node.log().lines().last()?.split(' ').next()?).ok() };
    until("a line is logged", read).await.as_millis()
}

/// The library that gives a process another clock.
fn faketime() -> &'static str {
    static PATH: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let places = std::fs::read_dir("/usr/lib").unwrap().flatten().map(|entry| entry.path().join("faketime/libfaketime.so.1"));
        let found = places.into_iter().find(|path| path.exists());
        found.expect("libfaketime is missing: run `scripts/setup.sh postgresql faketime`").display().to_string()
    });
    &PATH
}

/// The times that the entry has fired for.
async fn ticks(node: &ServerProcess) -> Vec<String> {
    let events = node.connect().await.get("/events?types=cron.triggered&limit=1000").await.expect(200).json();
    let events = events["events"].as_array().unwrap().clone();
    events.iter().map(|event| text(&event["data"]["scheduled_at"])).collect()
}

/// Callers hang up in the middle of transactions that hold advisory locks: no lock outlives its transaction.
#[tokio::test]
async fn scenario_22_no_lock_is_left_by_those_who_hang_up() {
    let (server, database) = own_database().await;
    let bouncer = Bouncer::start(&server).await;
    let node = ServerProcess::on(&bouncer.url(database.name()), &[]).await;
    let unique = json!({"keys": ["type", "args"], "on_conflict": "ignore"});
    let job = json!({"type": "test.plain", "args": [], "options": {"queue": "q", "unique": unique}}).to_string();
    for _ in 0..100 {
        let mut wire = node.connect().await;
        let head = format!(
            "POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            job.len()
        );
        wire.send([head.as_bytes(), job.as_bytes()].concat()).await.unwrap();
        drop(wire);
    }
    let answer = node.connect().await.call("POST", "/jobs", &job).await.unwrap();
    assert!(matches!(answer.status, 200 | 201), "{}", String::from_utf8_lossy(&answer.body));
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    until("every advisory lock is gone", || async {
        let held: i64 = client.query_one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", &[]).await.unwrap().get(0);
        (held == 0).then_some(())
    })
    .await;
    drop(client);
    connection.await.unwrap().unwrap();
    let stats = node.connect().await.get("/queues/q/stats").await.expect(200).json();
    assert_eq!(stats["queue"]["total"], 1, "{stats}");
}

/// One node five minutes behind, one five minutes ahead: what is leased stays leased, what is due in a second comes in a second, a tick
/// fires once. Then a clock goes back while its node runs.
#[tokio::test]
async fn scenario_24_the_clocks_of_the_nodes_are_wrong() {
    let (_server, database) = own_database().await;
    let clock = tempfile::NamedTempFile::new().unwrap();
    let faked = |what: (&str, &str)| -> Environment {
        [("LD_PRELOAD", faketime()), ("FAKETIME_DONT_FAKE_MONOTONIC", "1"), ("FAKETIME_NO_CACHE", "1"), what]
            .map(|(name, value)| (name.into(), value.into()))
            .into()
    };
    let slow = ServerProcess::on_with(database.url(), faked(("FAKETIME", "-300s"))).await;
    std::fs::write(clock.path(), "+300s\n").unwrap();
    let fast = ServerProcess::on_with(database.url(), faked(("FAKETIME_TIMESTAMP_FILE", clock.path().to_str().unwrap()))).await;
    let apart = clock_of(&fast).await - clock_of(&slow).await;
    assert!(apart > 550_000, "the clocks differ: {apart} ms");
    let job = enqueue(&mut slow.connect().await, "leased").await;
    let leased = json!({"queues": ["leased"], "worker_id": "w", "visibility_timeout_ms": 600_000});
    let leased = fast.connect().await.post("/workers/fetch", &leased).await.expect(200).json();
    assert_eq!(leased["jobs"][0]["id"], json!(job));
    let tick = json!({"name": "tick", "expression": "* * * * * *", "overlap_policy": "allow",
        "job_template": {"type": "test.tick", "args": [], "options": {"queue": "ticks"}}});
    fast.connect().await.post("/cron", &tick).await.expect(201);
    for (from, to) in [(&slow, &fast), (&fast, &slow)] {
        let began = Instant::now();
        let delayed = json!({"type": "test.plain", "args": [], "options": {"queue": "soon", "delay_until": "+PT1S"}});
        let id = text(&from.connect().await.post("/jobs", &delayed).await.expect(201).job()["id"]);
        let found = fetch(to.connect().await, "soon");
        assert_eq!(tokio::time::timeout(ojs_tests::PATIENCE, found).await.expect("in seconds, not in minutes").unwrap(), [id]);
        assert!(began.elapsed() >= Duration::from_millis(500), "not before its time: {:?}", began.elapsed());
    }
    std::fs::write(clock.path(), "-300s\n").unwrap();
    let before = ticks(&slow).await.len();
    until("ticks go on when a clock goes back", || async { (ticks(&slow).await.len() >= before + 3).then_some(()) }).await;
    let mut fired = ticks(&slow).await;
    let all = fired.len();
    fired.sort_unstable();
    fired.dedup();
    assert_eq!(fired.len(), all, "a tick fired twice");
    let leased_still = slow.connect().await.get(&format!("/jobs/{job}")).await.expect(200).job();
    assert_eq!((leased_still["state"].as_str(), leased_still["attempt"].as_i64()), (Some("active"), Some(1)));
    let ack = json!({"job_id": job, "lease_token": leased["jobs"][0]["lease_token"]});
    fast.connect().await.post("/workers/ack", &ack).await.expect(200);
}
