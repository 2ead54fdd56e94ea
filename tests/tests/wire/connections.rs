//! Connections that break off or crawl.
use std::time::{Duration, Instant};

use ojs_tests::Wire;
use serde_json::json;
use tokio::time::timeout;

use super::target::Target;

const HEAD: &str = "POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n";

#[tokio::test]
async fn a_request_that_breaks_off_leaves_no_trace() {
    let mut target = Target::new().await;
    let before = target.trace().await;
    let body = r#"{"type":"test.plain","args":[]}"#;
    let announced = format!("{HEAD}Content-Length: {}\r\n\r\n", body.len());
    let chunked = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    for part in [
        "POST /ojs/v1/jo".to_owned(),
        HEAD.to_owned(),
        announced.clone(),
        format!("{announced}{}", &body[..body.len() - 1]),
        chunked.clone(),
        format!("{chunked}5\r\n{{\"typ"),
        // The whole job, but not the end of the body: what the client meant is not known.
        format!("{chunked}{:x}\r\n{body}\r\n", body.len()),
        format!("{chunked}zz\r\n{body}\r\n0\r\n\r\n"),
    ] {
        let wire = target.reconnect().await;
        wire.send(&part).await.unwrap();
        wire.finish().await.unwrap();
        // The server may say 400 or just hang up; it must not accept.
        if let Ok(answer) = wire.answer().await {
            assert_eq!(answer.status, 400, "{part:?}");
        }
        // And one that vanishes without closing.
        let mut other = target.server.connect().await;
        other.send(&part).await.unwrap();
        drop(other);
        assert_eq!(target.trace().await, before, "{part:?}");
    }
}

/// Slow clients: none of them may hold a connection for ever, and none may hold up others.
#[tokio::test]
async fn slow_clients_are_cut_off_and_delay_no_others() {
    let target = Target::new().await;
    let (silent, head, body, _idlers) = beside_slow_clients(&target).await;
    // Within 30 s and a moment each of them is gone: the slow body with a 408, the others without an answer.
    let (silent, head, body) = tokio::join!(gone(silent), gone(head), answered(body));
    assert!(silent, "a connection that never says anything must end");
    assert!(head, "a head that never ends must end the connection");
    assert_eq!(body, 408);
}

/// Connects one of each and many that are idle; while they dawdle, others are served at once.
async fn beside_slow_clients(target: &Target) -> (Wire, Wire, Wire, Vec<Wire>) {
    for tries_left in (0..4).rev() {
        let silent = connect(target).await;
        let mut head = connect(target).await;
        head.send("POST /ojs/v1/jobs HT").await.unwrap();
        let mut body = connect(target).await;
        body.send(format!("{HEAD}Content-Length: 1000\r\n\r\n{{\"type\":")).await.unwrap();
        let mut idlers = Vec::new();
        for _ in 0..200 {
            idlers.push(connect(target).await);
        }
        let mut quick = target.server.connect().await;
        let started = Instant::now();
        for n in 0..100 {
            quick.post("/jobs", &json!({"type": "test.plain", "args": [n]})).await.expect(201);
        }
        // A request that had to wait for a silent connection would wait until that is cut off, after 10 s. A machine that stalls for as long proves nothing.
        let took = started.elapsed();
        if took < Duration::from_secs(9) {
            return (silent, head, body, idlers);
        }
        assert!(tries_left > 0, "100 jobs took {took:?} beside slow clients");
    }
    unreachable!("the last try returns or fails")
}

async fn connect(target: &Target) -> Wire {
    target.server.connect().await
}

/// Whether the server hangs up in time.
async fn gone(mut wire: Wire) -> bool {
    timeout(Duration::from_secs(90), async {
        // PATIENCE ends a single wait sooner than the server must act.
        while let Err(error) = wire.answer().await {
            if error.kind() != std::io::ErrorKind::TimedOut {
                return;
            }
        }
    })
    .await
    .is_ok()
}

/// The status of the answer, when it comes in time.
async fn answered(mut wire: Wire) -> u16 {
    let waiting = async {
        loop {
            match wire.answer().await {
                Ok(answer) => return answer.status,
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::TimedOut, "{error}"),
            }
        }
    };
    timeout(Duration::from_secs(90), waiting).await.expect("an answer in time")
}
