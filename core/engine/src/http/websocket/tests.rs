use ojs_model::NewJob;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};

use super::*;
use crate::kernel::command::Enqueue;
use crate::kernel::event::EventFilter;
use crate::options::EngineOptions;

/// The server's end of a socket whose client reads when the test does.
struct Fake {
    incoming: UnboundedReceiver<Message>,
    outgoing: Sender<Message>,
}

impl Socket for Fake {
    async fn send(&mut self, message: Message) -> Result<(), axum::Error> {
        self.outgoing.send(message).await.map_err(axum::Error::new)
    }

    async fn recv(&mut self) -> Option<Result<Message, axum::Error>> {
        self.incoming.recv().await.map(Ok)
    }
}

/// The client's end.
struct Client {
    says: UnboundedSender<Message>,
    hears: Receiver<Message>,
}

impl Client {
    fn say(&self, message: Value) {
        self.says.send(Message::text(message.to_string())).unwrap();
    }

    async fn hear(&mut self) -> Value {
        loop {
            match self.hears.recv().await.unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// A conversation with a client that lets so many messages wait for it.
async fn talk(unread: usize) -> (Engine, Client) {
    let engine = Engine::open(EngineOptions::new("memory:".parse().unwrap())).await.unwrap();
    let ((says, incoming), (outgoing, hears)) = (unbounded_channel(), channel(unread));
    let slot = engine.streams().client_limit().take(&Guest::default()).unwrap();
    let conversation = Conversation {
        engine: engine.clone(),
        asker: Asker::default(),
        key: None,
        guest: Guest::default(),
        channels: Vec::new(),
        turn: 0,
        _slot: slot,
    };
    tokio::spawn(conversation.run(Fake { incoming, outgoing }));
    (engine, Client { says, hears })
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer_a_ping_is_closed() {
    let (_engine, mut client) = talk(16).await;
    let began = Instant::now();
    assert!(matches!(client.hears.recv().await, Some(Message::Ping(_))));
    assert_eq!(began.elapsed().as_secs(), PING_EVERY.as_secs());
    let Some(Message::Close(Some(frame))) = client.hears.recv().await else { panic!("it stays open") };
    assert_eq!((frame.code, began.elapsed().as_secs()), (close_code::POLICY, (PING_EVERY + PONG_WITHIN).as_secs()));
    assert!(client.hears.recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_stays_connected() {
    let (engine, mut client) = talk(16).await;
    for _ in 0..10 {
        assert!(matches!(client.hears.recv().await, Some(Message::Ping(_))));
        client.says.send(Message::Pong(Bytes::new())).unwrap();
    }
    engine.stop_waiting();
    let last = client.hear().await;
    assert_eq!((&last["event"], &last["data"]["reason"]), (&json!("server.shutdown"), &json!("shutdown")));
    let Some(Message::Close(Some(frame))) = client.hears.recv().await else { panic!("it stays open") };
    assert_eq!(frame.code, close_code::AWAY);
}

#[tokio::test]
async fn a_client_that_reads_too_slowly_learns_what_it_has_missed() {
    const JOBS: u64 = 4000;
    let (engine, mut client) = talk(1).await;
    client.say(json!({"action": "subscribe", "channel": "all", "event_types": ["job.enqueued"]}));
    assert_eq!(client.hear().await["type"], "subscribed");
    // Added later than the channel's own listener: what it has got, that one has got.
    let witness = engine.subscribe(EventFilter { types: vec!["job.enqueued".into()], ..EventFilter::default() }).await.unwrap();
    let job = || Arc::new(NewJob::parse(r#"{"type":"t","args":[]}"#, engine.now()).unwrap());
    for _ in 0..JOBS / 100 {
        engine.execute(Enqueue((0..100).map(|_| job()).collect())).await.unwrap();
    }
    let mut seen = 0;
    while seen < JOBS {
        let (dropped, events) = witness.news().await;
        seen += dropped.map_or(0, |dropped| dropped.count) + events.len() as u64;
    }
    let (mut got, mut missed) = (0, 0);
    while got + missed < JOBS {
        let message = client.hear().await;
        match message["type"].as_str().unwrap() {
            "event" => got += 1,
            "warning" => {
                assert_eq!((&message["code"], &message["channel"]), (&json!("events_dropped"), &json!("all")));
                missed += message["count"].as_u64().unwrap();
            }
            other => panic!("{other}: {message}"),
        }
    }
    assert!(missed > 0 && got >= crate::stream::BUFFER as u64, "{got} came, {missed} were dropped");
    client.say(json!({"action": "unsubscribe", "channel": "all"}));
    assert_eq!(client.hear().await, json!({"type": "unsubscribed", "channel": "all"}));
    engine.close().await;
}
