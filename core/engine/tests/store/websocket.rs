//! WebSockets (extensions section 3), over a socket and with a client of another crate.
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use ojs_engine::access::{Access, KeyFile, Role};
use ojs_engine::command::Cancel;
use ojs_engine::{Hosts, Server};
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::support::Bench;

crate::on_every_store!(
    a_channel_of_a_job_tells_every_transition,
    a_channel_sends_the_types_that_were_asked_for_and_others_after_a_change,
    several_channels_share_a_connection,
    a_client_resumes_without_a_gap_and_without_a_double,
    resume_sends_again_what_came_behind_an_event,
    what_is_not_there_is_an_error_and_the_connection_goes_on,
    messages_that_are_no_messages_are_answered,
    an_ended_job_tells_its_last_transition,
    tenants_see_their_own_events_only,
    keys_see_what_they_may_see,
);

pub type Client = WebSocketStream<TcpStream>;

/// A server with a socket. It stops with the test, and leaves the engine open for the audit.
pub struct Served {
    address: std::net::SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub async fn serve(b: &Bench, shape: impl FnOnce(Server) -> Server) -> Served {
    let server = shape(Server::bind(b.engine.clone(), "127.0.0.1:0").await.unwrap());
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    Served { address, stop: Some(stop), task }
}

impl Served {
    async fn try_open(&self, headers: &[(&'static str, &str)]) -> Result<Client, Error> {
        let mut request = format!("ws://{}/ojs/v1/ws", self.address).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "ojs.v1".parse().unwrap());
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (client, response) = client_async(request, stream).await?;
        assert_eq!(response.headers()["sec-websocket-protocol"], "ojs.v1");
        Ok(client)
    }

    pub async fn open(&self) -> Client {
        self.try_open(&[]).await.unwrap()
    }

    /// The status with which a handshake is refused.
    async fn refusal(&self, headers: &[(&'static str, &str)]) -> u16 {
        match self.try_open(headers).await {
            Err(Error::Http(response)) => response.status().as_u16(),
            other => panic!("{:?}", other.map(|_| "a connection")),
        }
    }
}

async fn say(client: &mut Client, message: Value) {
    client.send(Message::text(message.to_string())).await.unwrap();
}

pub async fn hear(client: &mut Client) -> Value {
    loop {
        match client.next().await.expect("the connection goes on").unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn ask(client: &mut Client, message: Value) -> Value {
    say(client, message).await;
    hear(client).await
}

/// Follows a channel; the answer must confirm it.
pub async fn follow(client: &mut Client, channel: &str, more: Value) {
    let mut message = json!({"action": "subscribe", "channel": channel});
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = ask(client, message).await;
    assert_eq!((&answer["type"], &answer["channel"]), (&json!("subscribed"), &json!(channel)), "{answer}");
}

async fn a_channel_of_a_job_tells_every_transition(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    let id = b.job().await;
    let channel = format!("job:{id}");
    follow(&mut client, &channel, json!({})).await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    let moved = hear(&mut client).await;
    assert_eq!(
        (&moved["type"], &moved["channel"], &moved["event"]),
        (&json!("event"), &json!(channel), &json!("job.state_changed"))
    );
    let data = json!({"job_id": id.to_string(), "queue": "q", "type": "t", "from": "available", "to": "active",
        "timestamp": "2026-01-01T00:00:00.000Z"});
    assert_eq!((&moved["data"], &moved["timestamp"]), (&data, &data["timestamp"]));
    let started = hear(&mut client).await;
    assert_eq!((&started["event"], &started["data"]["worker_id"]), (&json!("job.started"), &json!("w")));
    assert!(started["id"].as_str().unwrap().starts_with("evt_") && started["id"] != moved["id"]);
    assert_eq!(hear(&mut client).await["data"]["to"], "completed");
    assert_eq!(hear(&mut client).await["event"], "job.completed");
    let answer = ask(&mut client, json!({"action": "unsubscribe", "channel": channel})).await;
    assert_eq!(answer, json!({"type": "unsubscribed", "channel": channel}));
}

async fn a_channel_sends_the_types_that_were_asked_for_and_others_after_a_change(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    let answer =
        ask(&mut client, json!({"action": "subscribe", "channel": "all", "event_types": ["job.st*", "job.cancelled"]})).await;
    assert_eq!(answer, json!({"type": "subscribed", "channel": "all", "event_types": ["job.st*", "job.cancelled"]}));
    let id = b.job().await;
    b.change(Cancel(id)).await.unwrap();
    let names =
        [hear(&mut client).await, hear(&mut client).await, hear(&mut client).await].map(|message| message["event"].clone());
    assert_eq!(names, ["job.state_changed", "job.state_changed", "job.cancelled"]);
    let answer = ask(&mut client, json!({"action": "subscribe", "channel": "all", "event_types": ["job.enqueued"]})).await;
    assert_eq!(answer["event_types"], json!(["job.enqueued"]));
    let id = b.job().await;
    b.change(Cancel(id)).await.unwrap();
    b.job().await;
    for _ in 0..2 {
        assert_eq!(hear(&mut client).await["event"], "job.enqueued");
    }
}

async fn several_channels_share_a_connection(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    b.job().await;
    let types = json!({"event_types": ["job.enqueued"]});
    follow(&mut client, "queue:q", types.clone()).await;
    follow(&mut client, "queue:other", types).await;
    let mut seen = std::collections::BTreeMap::new();
    for queue in ["q", "other", "q"] {
        b.enqueue(&json!({"type": "t", "args": [], "options": {"queue": queue}}).to_string()).await;
        let message = hear(&mut client).await;
        assert_eq!(message["channel"], format!("queue:{queue}"));
        *seen.entry(queue).or_insert(0) += 1;
    }
    assert_eq!(seen["q"], 2);
    ask(&mut client, json!({"action": "unsubscribe", "channel": "queue:q"})).await;
    b.job().await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    assert_eq!(hear(&mut client).await["channel"], "queue:other");
}

/// Ids of jobs that were enqueued, as a channel tells them.
async fn enqueued(client: &mut Client, count: usize) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        let message = hear(client).await;
        assert_eq!(message["event"], "job.enqueued", "{message}");
        seen.push((message["id"].as_str().unwrap().to_owned(), message["data"]["job_id"].as_str().unwrap().to_owned()));
    }
    seen
}

async fn a_client_resumes_without_a_gap_and_without_a_double(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut jobs = vec![b.job().await.to_string()];
    let mut client = served.open().await;
    let types = json!({"event_types": ["job.enqueued"]});
    follow(&mut client, "queue:q", types.clone()).await;
    for _ in 0..3 {
        jobs.push(b.job().await.to_string());
    }
    let seen = enqueued(&mut client, 2).await;
    drop(client);
    jobs.push(b.job().await.to_string());
    let mut client = served.open().await;
    follow(&mut client, "queue:q", json!({"event_types": ["job.enqueued"], "last_event_id": seen[1].0})).await;
    jobs.push(b.job().await.to_string());
    let rest = enqueued(&mut client, 3).await;
    let told: Vec<String> = seen.into_iter().chain(rest).map(|(_, job)| job).collect();
    assert_eq!(told, jobs[1..], "behind the subscription, each once, in order");
}

async fn resume_sends_again_what_came_behind_an_event(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    let nothing = ask(&mut client, json!({"action": "resume", "last_event_id": "7.1"})).await;
    assert_eq!((&nothing["type"], &nothing["code"]), (&json!("error"), &json!("unknown_event_id")), "nothing has happened yet");
    follow(&mut client, "all", json!({"event_types": ["job.enqueued"]})).await;
    for _ in 0..3 {
        b.job().await;
    }
    let seen = enqueued(&mut client, 3).await;
    let answer = ask(&mut client, json!({"action": "resume", "last_event_id": seen[0].0})).await;
    assert_eq!((&answer["type"], &answer["channels"]), (&json!("resumed"), &json!(["all"])), "{answer}");
    assert_eq!(enqueued(&mut client, 2).await, seen[1..], "the types of the channel are what they were");
    let (last, unknown) = (JobId::now_v7(), json!("unknown_event_id"));
    for id in ["nonsense".to_owned(), format!("evt_{last}")] {
        let error = ask(&mut client, json!({"action": "resume", "last_event_id": id})).await;
        assert_eq!((&error["type"], &error["code"]), (&json!("error"), &unknown), "{error}");
        let error = ask(&mut client, json!({"action": "subscribe", "channel": "queue:q", "last_event_id": id})).await;
        assert_eq!(error["code"], unknown);
    }
    let mut other = served.open().await;
    let error = ask(&mut other, json!({"action": "resume", "last_event_id": seen[0].0})).await;
    assert_eq!(error["code"], "invalid_request", "{error}");
}

async fn what_is_not_there_is_an_error_and_the_connection_goes_on(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    for channel in [format!("job:{}", JobId::now_v7()), "job:nonsense".into(), "queue:never".into()] {
        let error = ask(&mut client, json!({"action": "subscribe", "channel": channel})).await;
        assert_eq!((&error["type"], &error["code"], &error["channel"]), (&json!("error"), &json!("not_found"), &json!(channel)));
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    for channel in ["jobs", "queue:No Good", "", "worker:w"] {
        let error = ask(&mut client, json!({"action": "subscribe", "channel": channel})).await;
        assert_eq!(error["type"], "error", "{channel}: {error}");
    }
    b.job().await;
    follow(&mut client, "queue:q", json!({})).await;
}

async fn messages_that_are_no_messages_are_answered(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    for text in
        ["", "nonsense", "[]", r#"{"action":7}"#, r#"{"action":"shout"}"#, r#"{"action":"subscribe"}"#, r#"{"action":"resume"}"#]
    {
        client.send(Message::text(text)).await.unwrap();
        let error = hear(&mut client).await;
        assert_eq!(error["type"], "error", "{text}: {error}");
    }
    client.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(hear(&mut client).await["code"], "invalid_request");
    follow(&mut client, "all", json!({})).await;
    // Much larger than any message: the connection ends, and the server is well.
    let _ = client.send(Message::text(json!({"action": "x".repeat(100_000)}).to_string())).await;
    loop {
        match client.next().await {
            None | Some(Err(_)) => break,
            Some(Ok(Message::Close(_))) => {}
            Some(Ok(other)) => panic!("{other:?}"),
        }
    }
    follow(&mut served.open().await, "all", json!({})).await;
}

async fn an_ended_job_tells_its_last_transition(b: Bench) {
    let served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    let id = b.job_in(JobState::Discarded).await;
    follow(&mut client, &format!("job:{id}"), json!({})).await;
    let last = hear(&mut client).await;
    assert_eq!((&last["event"], &last["data"]["to"]), (&json!("job.state_changed"), &json!("discarded")));
    // A dead letter may run again: the channel goes on.
    assert_eq!(crate::admin_http::post(&b, &format!("/admin/jobs/{id}/retry"), json!({})).await.0, 200);
    assert_eq!(hear(&mut client).await["data"]["to"], "available");
}

async fn tenants_see_their_own_events_only(b: Bench) {
    let served = serve(&b, |server| server).await;
    let job = json!({"type": "t", "args": [], "options": {"queue": "q"}});
    let make = async |tenant| {
        let made = crate::tenants::ask(b.engine.router(), &[("X-OJS-Tenant", tenant)], "POST", "/jobs", &job).await.2;
        made["job"]["id"].as_str().unwrap().to_owned()
    };
    let (own, foreign) = (make("own").await, make("foreign").await);
    let mut client = served.try_open(&[("x-ojs-tenant", "own")]).await.unwrap();
    let error = ask(&mut client, json!({"action": "subscribe", "channel": format!("job:{foreign}")})).await;
    assert_eq!((&error["code"], error.to_string().contains("foreign")), (&json!("not_found"), false));
    follow(&mut client, &format!("job:{own}"), json!({})).await;
    follow(&mut client, "all", json!({"event_types": ["job.enqueued"]})).await;
    follow(&mut client, "queue:q", json!({"event_types": ["job.enqueued"]})).await;
    let mut told = Vec::new();
    make("foreign").await;
    let own = make("own").await;
    for _ in 0..2 {
        told.push(hear(&mut client).await);
    }
    assert!(told.iter().all(|message| message["data"]["job_id"] == own && message["data"]["tenant_id"] == "own"), "{told:?}");
}

async fn keys_see_what_they_may_see(b: Bench) {
    let path = b.dir.path().join("keys.json");
    let mut file = KeyFile::default();
    let roles = [("shop", Role::Producer), ("blog", Role::Producer), ("boss", Role::Operator)];
    let keys = roles.map(|(name, role)| file.add(name, vec![role], ojs_model::Timestamp::from_millis(0)).unwrap());
    file.write(&path).unwrap();
    let access = Arc::new(Access::open(&path).unwrap());
    let router = b.engine.guarded_router(Arc::clone(&access));
    let served = serve(&b, |server| server.with_access(Arc::clone(&access))).await;
    assert_eq!(served.refusal(&[]).await, 401);
    assert_eq!(served.refusal(&[("authorization", "Bearer nonsense")]).await, 401);
    let bearer = |n: usize| format!("Bearer {}", keys[n]);
    let job = json!({"type": "t", "args": [], "options": {"queue": "q"}});
    let made = crate::tenants::ask(router.clone(), &[("authorization", &bearer(0))], "POST", "/jobs", &job).await.2;
    let channel = format!("job:{}", made["job"]["id"].as_str().unwrap());
    let mut shop = served.try_open(&[("authorization", &bearer(0))]).await.unwrap();
    follow(&mut shop, &channel, json!({})).await;
    for wide in ["all", "queue:q"] {
        let error = ask(&mut shop, json!({"action": "subscribe", "channel": wide})).await;
        assert_eq!(error["code"], "permission_denied", "{error}");
    }
    let mut blog = served.try_open(&[("authorization", &bearer(1))]).await.unwrap();
    let error = ask(&mut blog, json!({"action": "subscribe", "channel": channel})).await;
    assert_eq!(error["code"], "permission_denied", "the job of another key");
    let mut boss = served.try_open(&[("authorization", &bearer(2))]).await.unwrap();
    for channel in ["all", "queue:q", &channel] {
        follow(&mut boss, channel, json!({})).await;
    }
    KeyFile::change(&path, false, |file| file.revoke("boss")).unwrap();
    access.reload().unwrap();
    let Some(Ok(Message::Close(Some(frame)))) = boss.next().await else { panic!("it outlives its key") };
    assert_eq!((frame.code, &*frame.reason), (CloseCode::Policy, "the key is not in force any more"));
    follow(&mut shop, &channel, json!({})).await;
    // A connection that the cookie of a session has opened ends with the session.
    let own_page = ("sec-fetch-site", "same-origin");
    let begun = crate::tenants::ask(router.clone(), &[("authorization", &bearer(0))], "POST", "/session", &Value::Null).await;
    let cookie = begun.1["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let mut page = served.try_open(&[("cookie", &cookie), own_page]).await.unwrap();
    follow(&mut page, &channel, json!({})).await;
    let ended = crate::tenants::ask(router, &[("cookie", &cookie), own_page], "DELETE", "/session", &Value::Null).await;
    assert_eq!(ended.0, 204);
    let Some(Ok(Message::Close(Some(frame)))) = page.next().await else { panic!("it outlives its session") };
    assert_eq!((frame.code, &*frame.reason), (CloseCode::Policy, "the key is not in force any more"));
    follow(&mut shop, &channel, json!({})).await;
}

#[tokio::test]
async fn a_page_from_elsewhere_opens_no_socket() {
    let b = Bench::memory().await;
    let served = serve(&b, |server| server.with_hosts(Hosts::default())).await;
    let own = format!("http://{}", served.address);
    for (status, header) in [
        (403, ("origin", "https://evil.example")),
        (403, ("origin", "null")),
        (403, ("sec-fetch-site", "cross-site")),
        (403, ("host", "evil.example")),
    ] {
        assert_eq!(served.refusal(&[header]).await, status, "{header:?}");
    }
    drop(served.try_open(&[("origin", &own)]).await.unwrap());
}

#[tokio::test]
async fn a_request_that_is_no_handshake_is_refused() {
    let b = Bench::memory().await;
    let (status, body) = b.http("GET", "/ws", "").await;
    assert!(status == 400 || status == 426, "{status} {body}");
    assert_eq!(body["error"]["code"], "invalid_request");
    let served = serve(&b, |server| server).await;
    assert_eq!(served.refusal(&[("sec-websocket-protocol", "mqtt")]).await, 400);
    assert_eq!(served.refusal(&[("sec-websocket-version", "7")]).await, 400);
    let mut request = format!("ws://{}/ojs/v1/ws", served.address).into_client_request().unwrap();
    request.headers_mut().insert("x-request-id", "mine".parse().unwrap());
    let stream = TcpStream::connect(served.address).await.unwrap();
    let (_, response) = client_async(request, stream).await.unwrap();
    assert_eq!(response.headers().get("sec-websocket-protocol"), None, "a client that names no protocol gets none");
    assert_eq!(response.headers()["x-request-id"], "mine");
}

#[tokio::test]
async fn a_client_has_its_share_of_sockets_and_channels() {
    let b = Bench::memory().await;
    b.job().await;
    let served = serve(&b, |server| server).await;
    let mut held = Vec::new();
    for _ in 0..49 {
        let mut client = served.open().await;
        follow(&mut client, "queue:q", json!({})).await;
        held.push(client);
    }
    let mut last = served.open().await;
    follow(&mut last, "all", json!({})).await;
    let error = ask(&mut last, json!({"action": "subscribe", "channel": "queue:q"})).await;
    assert_eq!(error["code"], "rate_limited", "{error}");
    assert_eq!(served.refusal(&[]).await, 429);
    // The same channel again takes no further place.
    follow(&mut last, "all", json!({"event_types": ["job.started"]})).await;
    follow(&mut last, "all", json!({"last_event_id": "0.0", "event_types": ["job.enqueued"]})).await;
    assert_eq!(hear(&mut last).await["event"], "job.enqueued", "from the beginning, in the same place");
    ask(&mut last, json!({"action": "unsubscribe", "channel": "all"})).await;
    follow(&mut last, "queue:q", json!({})).await;
}

#[tokio::test]
async fn a_server_that_stops_says_so_and_does_not_wait_for_its_sockets() {
    let b = Bench::memory().await;
    let mut served = serve(&b, |server| server).await;
    let mut client = served.open().await;
    follow(&mut client, "all", json!({})).await;
    served.stop.take().unwrap().send(()).unwrap();
    let last = hear(&mut client).await;
    assert_eq!((&last["event"], &last["data"]["grace_period_ms"]), (&json!("server.shutdown"), &json!(5000)));
    let Some(Ok(Message::Close(Some(frame)))) = client.next().await else { panic!("it stays open") };
    assert_eq!(frame.code, CloseCode::Away);
    drop(client);
    (&mut served.task).await.unwrap();
}
