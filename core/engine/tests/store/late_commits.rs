//! Readers of the event log on PostgreSQL, where a transaction may take a smaller number than another and commit later:
//! each event is seen once, and all readers see them in the same order.
use std::sync::Arc;
use std::time::Duration;

use ojs_engine::command::Enqueue;
use ojs_engine::{EventFilter, Place};
use ojs_model::NewJob;
use serde_json::{Value, json};
use tokio_postgres::{Client, NoTls};

use crate::endpoint::Endpoint;
use crate::nodes::{application, second_node};
use crate::streams::{Listener, listen};
use crate::support::{Bench, START};
use crate::webhooks::subscribe;
use crate::websocket;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes an event as a commit of the engine does.
async fn append(client: &impl tokio_postgres::GenericClient, name: &str) {
    let lines = format!("test.{name}|{START}|{name}|0|0|");
    client.execute("INSERT INTO ojs_events (at, count, lines) VALUES ($1, 1, $2)", &[&START, &lines]).await.unwrap();
}

/// Where the log ends for readers.
async fn end(b: &Bench) -> Place {
    let (_, answer) = b.http("GET", "/events?after=latest&limit=1", "").await;
    Place::parse(answer["cursor"].as_str().unwrap()).unwrap()
}

/// Names of events behind a place, and the place that follows.
async fn read(b: &Bench, after: Place, types: &str) -> (Vec<String>, Place) {
    let (events, cursor, more) = b.events(EventFilter { after, types: vec![types.to_owned()], ..Default::default() }).await;
    assert!(!more);
    (events.into_iter().map(|event| event.name).collect(), Place::parse(&cursor).unwrap())
}

/// Waits until a reading is as it should be.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let wait = async {
        loop {
            match look().await {
                Some(found) => return found,
                None => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("{what}"))
}

/// Waits until a page has so many events.
async fn page_of(b: &Bench, after: Place, count: usize) -> Vec<String> {
    until("events that are committed are shown", async || {
        let (names, _) = read(b, after, "test.*").await;
        (names.len() >= count).then_some(names)
    })
    .await
}

async fn heard(listener: &mut Listener, count: usize) -> Vec<String> {
    let mut names = Vec::new();
    while names.len() < count {
        names.push(listener.next().await.expect("the stream goes on").event);
    }
    names
}

#[tokio::test]
async fn an_event_that_is_committed_late_is_seen_before_those_with_larger_numbers() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let (first, mut second) = (application(&b).await, application(&b).await);
    let after = end(&b).await;
    let mut live =
        [listen(&b, "/events/stream?types=test.*", None).await, listen(&other, "/events/stream?types=test.*", None).await];
    let late = second.transaction().await.unwrap();
    append(&late, "late").await;
    append(&first, "early").await;
    for node in [&b, &other] {
        assert_eq!(read(node, after, "test.*").await.0, [""; 0], "a smaller number may still come");
        let (_, newest) = node.http("GET", "/events?newest=true&types=test.*", "").await;
        assert_eq!(newest["events"], json!([]), "its cursor would be behind the smaller number");
    }
    // A stream that begins now hears of what is committed from now on.
    let mut begun = listen(&b, "/events/stream?types=test.late", None).await;
    late.commit().await.unwrap();
    append(&first, "last").await;
    let all = ["test.late", "test.early", "test.last"];
    for node in [&b, &other] {
        assert_eq!(page_of(node, after, 3).await, all);
    }
    for listener in &mut live {
        assert_eq!(heard(listener, 3).await, all);
    }
    assert_eq!(heard(&mut begun, 1).await, ["test.late"]);
}

/// The place of a reader is behind all that it has looked at, wanted or not, and never behind a number that may come.
#[tokio::test]
async fn the_cursor_of_a_filtered_reader_stays_before_a_number_that_may_come() {
    let b = Bench::postgres().await;
    let (first, mut second) = (application(&b).await, application(&b).await);
    let began = end(&b).await;
    append(&first, "unwanted").await;
    let (names, passed) = until("what is committed is looked at", async || {
        let (names, place) = read(&b, began, "other.*").await;
        (place > began).then_some((names, place))
    })
    .await;
    assert_eq!(names, [""; 0]);
    let late = second.transaction().await.unwrap();
    append(&late, "late").await;
    append(&first, "early").await;
    assert_eq!(read(&b, passed, "other.*").await, (Vec::new(), passed), "it does not move");
    late.commit().await.unwrap();
    assert_eq!(page_of(&b, passed, 2).await, ["test.late", "test.early"], "and neither was filtered away");
    assert!(read(&b, passed, "other.*").await.1 > passed);
}

#[tokio::test]
async fn a_number_of_a_transaction_that_rolled_back_is_passed() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let (first, mut second, mut foreign) = (application(&b).await, application(&b).await, application(&b).await);
    // An application's transaction with a job in it, which is older than all and stays open.
    let long = foreign.transaction().await.unwrap();
    long.batch_execute("INSERT INTO ojs_jobs (type, args, queue) VALUES ('t', '[]', 'q')").await.unwrap();
    let after = end(&b).await;
    let mut live = listen(&other, "/events/stream?types=test.*", None).await;
    for round in 1..=3 {
        let given_up = second.transaction().await.unwrap();
        append(&given_up, "never").await;
        append(&first, "next").await;
        assert_eq!(read(&b, after, "test.*").await.0.len(), round - 1);
        given_up.rollback().await.unwrap();
        // What is read next knows that the number will not come: nothing has to be waited for.
        assert_eq!(read(&b, after, "test.*").await.0, vec!["test.next"; round]);
        assert_eq!(read(&other, after, "test.*").await.0, vec!["test.next"; round]);
        assert_eq!(heard(&mut live, 1).await, ["test.next"]);
    }
    long.rollback().await.unwrap();
}

#[tokio::test]
async fn a_number_of_a_node_that_died_is_passed() {
    let b = Bench::postgres().await;
    let url = b.database.as_ref().unwrap().url().to_owned();
    let first = application(&b).await;
    let after = end(&b).await;
    let mut live = listen(&b, "/events/stream?types=test.*", None).await;
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    let dying = tokio::spawn(connection);
    client.batch_execute("BEGIN").await.unwrap();
    append(&client, "never").await;
    append(&first, "next").await;
    assert_eq!(read(&b, after, "test.*").await.0, [""; 0]);
    // The socket is closed without a goodbye, as the kernel does for a process that was killed.
    dying.abort();
    assert_eq!(page_of(&b, after, 1).await, ["test.next"]);
    assert_eq!(heard(&mut live, 1).await, ["test.next"]);
}

#[tokio::test]
async fn a_stream_that_resumes_beside_an_open_number_has_no_gap_and_no_double() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let (first, mut second) = (application(&b).await, application(&b).await);
    let mut listener = listen(&b, "/events/stream?types=test.*", None).await;
    append(&first, "one").await;
    append(&first, "two").await;
    let one = listener.next().await.unwrap();
    let two = listener.next().await.unwrap();
    assert_eq!((one.event.as_str(), two.event.as_str()), ("test.one", "test.two"));
    drop(listener);
    let late = second.transaction().await.unwrap();
    append(&late, "late").await;
    append(&first, "early").await;
    let path = "/events/stream?types=test.*";
    let mut resumed = [listen(&b, path, Some(&one.id)).await, listen(&other, path, Some(&one.id)).await];
    let mut behind = [listen(&b, path, Some(&two.id)).await, listen(&other, path, Some(&two.id)).await];
    for listener in &mut resumed {
        assert_eq!(listener.next().await.unwrap(), two);
    }
    late.commit().await.unwrap();
    append(&first, "last").await;
    for listener in resumed.iter_mut().chain(&mut behind) {
        assert_eq!(heard(listener, 3).await, ["test.late", "test.early", "test.last"]);
    }
}

/// The id of the job whose transaction the test holds up.
const HELD: &str = "019b7a5e-0000-7000-8000-000000000001";

/// Makes the commit of the transaction that has an event of the job wait as long as the lock is held.
const HOLD: &str = "
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN
      IF NEW.lines LIKE '%019b7a5e-0000-7000-8000-000000000001%' THEN PERFORM pg_advisory_xact_lock(7); END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON ojs_events DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION hold();
    SELECT pg_advisory_lock(7)";

/// Waits until a transaction waits for the lock that the test holds.
async fn is_held_up(client: &Client) {
    // Other databases of the server have tests like this one.
    let waiting = "SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() \
        AND l.locktype = 'advisory' AND l.objsubid = 1 AND l.objid = 7 AND NOT l.granted";
    until("the commit waits", async || (!client.query(waiting, &[]).await.unwrap().is_empty()).then_some(())).await;
}

fn request(id: &str) -> String {
    json!({"type": "t", "id": id, "args": [], "options": {"queue": "q"}}).to_string()
}

fn enqueued(page: &Value) -> Vec<String> {
    let events = page["events"].as_array().unwrap().iter();
    events.map(|event| event["subject"].as_str().unwrap().to_owned()).collect()
}

/// Transactions of the engine itself: the commit of one is held up, while another node commits a larger number.
#[tokio::test]
async fn every_reader_sees_the_commits_of_the_engine_once_and_in_one_order() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let (client, mut endpoint) = (application(&b).await, Endpoint::answering(200).await);
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    // The queue and the type have their numbers, so that the two transactions have nothing in common.
    let before = b.job().await.to_string();
    assert_eq!(endpoint.next().await.json()["subject"], json!(before));
    let after = end(&b).await;
    let path = "/events/stream?types=job.enqueued";
    let mut live = [listen(&b, path, None).await, listen(&other, path, None).await];
    let served = websocket::serve(&other, |server| server).await;
    let mut socket = served.open().await;
    websocket::follow(&mut socket, "queue:q", json!({"event_types": ["job.enqueued"]})).await;
    client.batch_execute(HOLD).await.unwrap();
    let ids = [HELD.to_owned(), HELD.replace("01", "02"), HELD.replace("01", "03")];
    let requests = ids.each_ref().map(|id| request(id));
    let late = b.enqueue(&requests[0]);
    let meanwhile = async {
        is_held_up(&client).await;
        other.enqueue(&requests[1]).await;
        let page = format!("/events?after={}&types=job.enqueued", after.cursor());
        let pages = [b.http("GET", &page, "").await.1, other.http("GET", &page, "").await.1];
        client.batch_execute("SELECT pg_advisory_unlock(7)").await.unwrap();
        pages
    };
    let (_, pages) = tokio::join!(late, meanwhile);
    assert_eq!(pages.map(|page| enqueued(&page)), [Vec::<String>::new(), Vec::new()], "the smaller number may still come");
    other.enqueue(&requests[2]).await;
    let page = format!("/events?after={}&types=job.enqueued", after.cursor());
    for path in [page.as_str(), "/events?newest=true&types=job.enqueued&limit=3"] {
        for node in [&b, &other] {
            // What becomes of deliveries is written beside, under numbers of its own.
            until("pages have all events", async || {
                let seen = enqueued(&node.http("GET", path, "").await.1);
                assert!(ids.starts_with(&seen) || path != page && seen.contains(&before), "{path}: {seen:?}");
                (seen == ids).then_some(())
            })
            .await;
        }
    }
    for listener in &mut live {
        for id in &ids {
            let frame = listener.next().await.unwrap();
            assert_eq!(frame.data["data"]["job_id"].as_str().or(frame.data["subject"].as_str()), Some(id.as_str()), "{frame:?}");
        }
    }
    for id in &ids {
        assert_eq!(websocket::hear(&mut socket).await["data"]["job_id"], json!(id));
    }
    // Deliveries are made in the transaction of their event, so they have no place to pass over. Their order is free.
    let mut sent = Vec::new();
    for _ in &ids {
        sent.push(endpoint.next().await.json()["subject"].as_str().unwrap().to_owned());
    }
    sent.sort();
    assert_eq!(sent, ids);
    assert!(!endpoint.has_more());
}

/// Pages of histories go backwards: what is withheld at first must not fall behind a page that was read.
#[tokio::test]
async fn pages_backwards_begin_before_a_number_that_may_come() {
    let b = Bench::postgres().await;
    let client = application(&b).await;
    let before = b.job().await.to_string();
    client.batch_execute(HOLD).await.unwrap();
    let ids = [HELD.to_owned(), HELD.replace("01", "02")];
    let requests = ids.each_ref().map(|id| request(id));
    let history = async || {
        let (status, page) = b.http("GET", "/history?limit=10", "").await;
        assert_eq!(status, 200, "{page}");
        page.to_string()
    };
    let meanwhile = async {
        is_held_up(&client).await;
        b.enqueue(&requests[1]).await;
        let page = history().await;
        client.batch_execute("SELECT pg_advisory_unlock(7)").await.unwrap();
        page
    };
    let (_, page) = tokio::join!(b.enqueue(&requests[0]), meanwhile);
    assert!(page.contains(&before) && !page.contains(&ids[0]) && !page.contains(&ids[1]), "{page}");
    let page = history().await;
    let places = [&ids[1], &ids[0], &before].map(|id| page.find(id.as_str()).expect("it is told"));
    assert!(places.is_sorted(), "the newest first: {page}");
}

/// Writers of two nodes at full speed, readers beside them.
#[tokio::test]
async fn readers_beside_busy_writers_see_every_event_once_and_in_one_order() {
    const JOBS: usize = 150;
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    b.job().await;
    let after = end(&b).await;
    let path = "/events/stream?types=job.enqueued";
    let mut live = [listen(&b, path, None).await, listen(&other, path, None).await];
    let mut writing = tokio::task::JoinSet::new();
    for engine in [&b.engine, &other.engine] {
        for _ in 0..JOBS {
            let engine = engine.clone();
            writing.spawn(async move {
                let job = NewJob::parse(r#"{"type":"t","args":[],"options":{"queue":"q"}}"#, engine.options().clock.now());
                let placed = engine.store().execute(Enqueue(vec![Arc::new(job.unwrap())])).await.unwrap();
                placed[0].job.row.id.to_string()
            });
        }
    }
    // It asks for small pages from both nodes in turn, and goes on from the cursor of the page before.
    let paging = async {
        let (mut seen, mut place) = (Vec::new(), after);
        for node in [&b, &other].into_iter().cycle() {
            let filter = EventFilter { after: place, limit: 7, types: vec!["job.enqueued".into()], ..Default::default() };
            let (events, cursor, _) = node.events(filter).await;
            seen.extend(events.into_iter().map(|event| event.subject));
            place = Place::parse(&cursor).unwrap();
            if seen.len() >= 2 * JOBS {
                return seen;
            }
            tokio::task::yield_now().await;
        }
        unreachable!("it goes round")
    };
    let paged = tokio::time::timeout(PATIENCE, paging).await.expect("all events are shown");
    let mut written = writing.join_all().await;
    let mut sorted = paged.clone();
    sorted.sort();
    written.sort();
    assert_eq!(sorted, written, "each once");
    let last = b.job().await.to_string();
    for listener in &mut live {
        let mut heard = Vec::new();
        while heard.last() != Some(&last) {
            let frame = listener.next().await.unwrap();
            heard.extend(frame.data["data"]["job_id"].as_str().or(frame.data["subject"].as_str()).map(str::to_owned));
        }
        heard.pop();
        // A stream may begin a little before it was opened, where a number could still come.
        let heard = &heard[heard.len() - paged.len()..];
        assert_eq!(heard, paged, "the same order for all");
    }
}

/// A database of the version before: its numbers go on, and what a node of that version inserts takes the lock.
#[tokio::test]
async fn numbers_go_on_after_the_change_of_the_schema() {
    let b = Bench::postgres().await;
    let (first, mut second) = (application(&b).await, application(&b).await);
    append(&first, "old").await;
    let back = "ALTER TABLE ojs_events ALTER COLUMN seq DROP DEFAULT;
        DROP SEQUENCE ojs_events_seq_seq;
        ALTER TABLE ojs_events ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY;
        SELECT setval('ojs_events_seq_seq', 1000);
        DELETE FROM ojs_schema WHERE version = 8";
    first.batch_execute(back).await.unwrap();
    let other = second_node(&b).await;
    let late = second.transaction().await.unwrap();
    append(&late, "late").await;
    append(&first, "early").await;
    let (names, place) = read(&other, Place::default(), "test.*").await;
    assert_eq!(names, ["test.old"]);
    late.commit().await.unwrap();
    assert_eq!(page_of(&other, place, 2).await, ["test.late", "test.early"]);
    let numbers = first.query_one("SELECT min(seq) FROM ojs_events WHERE seq > 900", &[]).await.unwrap();
    assert!(numbers.get::<_, i64>(0) > 1000, "no number is given out twice");
}
