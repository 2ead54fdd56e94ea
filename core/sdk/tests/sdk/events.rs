//! Following events over a connection that is lost now and then.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ojs::transport::{self, Response, TransportError, TransportErrorKind};
use ojs::{Client, EventFilter};

fn page(cursor: usize, events: &[usize]) -> Response {
    let events: Vec<String> = events
        .iter()
        .map(|n| format!(r#"{{"id":"evt_{n}","type":"job.enqueued","subject":"{n}","data":{{"n":{n}}}}}"#))
        .collect();
    Response::new(200, format!(r#"{{"events":[{}],"cursor":"{cursor}","has_more":false}}"#, events.join(",")))
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_loses_and_repeats_nothing() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let client = Client::new(transport::from_fn(move |request| {
        let turn = count.fetch_add(1, Ordering::SeqCst);
        let path = request.path.into_owned();
        let after = path.split("after=").nth(1).and_then(|rest| rest.split('&').next()).unwrap_or_default().to_owned();
        async move {
            let lost = |kind| Err(TransportError::new(kind, "lost"));
            match (turn, after.as_str()) {
                (0, "latest") => Ok(page(1, &[])),
                (1, "1") => Ok(page(3, &[2, 3])),
                (2, "3") => lost(TransportErrorKind::Interrupted),
                (3, "3") => lost(TransportErrorKind::Connect),
                (4, "3") => Ok(Response::new(503, r#"{"error":{"code":"backend_unavailable","message":"m","retryable":true}}"#)),
                (5, "3") => Ok(page(4, &[4])),
                (6, "4") => Ok(Response::new(401, r#"{"error":{"code":"unauthorized","message":"m","retryable":false}}"#)),
                other => panic!("{other:?}"),
            }
        }
    }));
    let mut events = client.events(EventFilter::default());
    let mut seen = Vec::new();
    let end = loop {
        match events.next().await {
            Some(Ok(event)) => seen.push((event.id, event.data.as_str().to_owned())),
            Some(Err(error)) => break error,
            None => panic!("ended without an error"),
        }
    };
    assert_eq!(seen, [2, 3, 4].map(|n| (format!("evt_{n}"), format!(r#"{{"n":{n}}}"#))));
    assert_eq!((end.status(), asked.load(Ordering::SeqCst)), (Some(401), 7));
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_hold_back_is_not_pestered() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let client = Client::new(transport::from_fn(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok(page(1, &[])) }
    }));
    let mut events = client.events(EventFilter::default());
    let waited = tokio::time::timeout(std::time::Duration::from_secs(10), events.next()).await;
    assert!(waited.is_err());
    assert!((19..=22).contains(&asked.load(Ordering::SeqCst)), "{asked:?}");
}
