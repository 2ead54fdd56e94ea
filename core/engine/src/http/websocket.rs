//! `/ws`: channels of events over one WebSocket (extensions section 3).
//!
//! A channel is followed as a stream of server-sent events is, by a [`Session`](crate::http::sse::Session): so
//! filters, resuming, losses of slow clients and limits are the same. This module has the conversation with the client.
use std::sync::PoisonError;
use std::task::Poll;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::HeaderMap;
use axum::http::header::SEC_WEBSOCKET_PROTOCOL;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use ojs_model::{ErrorCode, OjsError};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::engine::Engine;
use crate::http::access::Permission;
use crate::http::caller::Asker;
use crate::http::client_limit::{Guest, Slot};
use crate::http::frames::{SHUTDOWN, shutdown};
use crate::http::guard::InForce;
use crate::http::listener::Held;
use crate::http::reply::Failure;
use crate::http::request::parse;
use crate::http::sse::GRACE_MS;
use crate::http::streams::{Followed, Wish, follow, refuse};
use crate::kernel::event::Place;

/// The subprotocol (extensions section 3).
const PROTOCOL: &str = "ojs.v1";
/// Largest message of a client: each is a few words.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// Bytes that wait in memory for a client that does not read; then the connection waits, and events are dropped.
const MAX_UNSENT_BYTES: usize = 256 * 1024;
/// The rule is a ping every 30 s at least.
const PING_EVERY: Duration = Duration::from_secs(20);
/// How long a ping may be without any message from the client.
const PONG_WITHIN: Duration = Duration::from_secs(10);

/// `GET /ws`.
pub async fn open(
    State(engine): State<Engine>,
    asker: Asker,
    key: Option<Extension<InForce>>,
    held: Option<Extension<Held>>,
    guest: Guest,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Failure> {
    let upgrade = upgrade.map_err(|rejection| {
        let mut error = OjsError::new(ErrorCode::InvalidRequest, format!("This is for WebSockets: {rejection}"));
        error.status = rejection.into_response().status().as_u16();
        error.with_hint("Connect with a WebSocket client over HTTP/1.1; /ojs/v1/events/stream has the same events over HTTP.")
    })?;
    check_protocol(&headers)?;
    let slot = engine.streams().client_limit().take(&guest).map_err(refuse)?;
    let key = key.map(|Extension(key)| key);
    let conversation = Conversation { engine, asker, key, guest, channels: Vec::new(), turn: 0, _slot: slot };
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES);
    Ok(upgrade.write_buffer_size(0).max_write_buffer_size(MAX_UNSENT_BYTES).on_upgrade(move |socket| async move {
        conversation.run(socket).await;
        drop(held);
    }))
}

/// A client that names protocols must name this one.
fn check_protocol(headers: &HeaderMap) -> Result<(), OjsError> {
    let mut named = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok()).peekable();
    let known = named.peek().is_none() || named.flat_map(|list| list.split(',')).any(|name| name.trim() == PROTOCOL);
    if known {
        return Ok(());
    }
    let message = format!("Sec-WebSocket-Protocol must be {PROTOCOL}, or absent.");
    Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "Sec-WebSocket-Protocol"})))
}

/// A message of a client.
#[derive(Deserialize)]
struct Asked {
    action: Option<String>,
    channel: Option<String>,
    event_types: Option<Vec<String>>,
    last_event_id: Option<String>,
}

/// A channel that the client follows.
struct Channel {
    name: String,
    followed: Followed,
}

/// One connection.
struct Conversation {
    engine: Engine,
    asker: Asker,
    /// The key that the connection was opened with, where keys are on.
    key: Option<InForce>,
    guest: Guest,
    channels: Vec<Channel>,
    /// The channel that is looked at first: each has its turn.
    turn: usize,
    /// The connection's place among the streams; each channel has one of its own.
    _slot: Slot,
}

/// The connection is over.
struct Ended;

/// What a socket does for a conversation: a WebSocket, or the end of a test.
trait Socket: Send {
    fn send(&mut self, message: Message) -> impl Future<Output = Result<(), axum::Error>> + Send;
    fn recv(&mut self) -> impl Future<Output = Option<Result<Message, axum::Error>>> + Send;
}

impl Socket for WebSocket {
    fn send(&mut self, message: Message) -> impl Future<Output = Result<(), axum::Error>> + Send {
        Self::send(self, message)
    }

    fn recv(&mut self) -> impl Future<Output = Option<Result<Message, axum::Error>>> + Send {
        Self::recv(self)
    }
}

impl Conversation {
    /// Runs until the client goes, is silent for too long, or the server stops.
    async fn run(mut self, mut socket: impl Socket) {
        // The client is gone, or knows why it is closed.
        let _ = self.converse(&mut socket).await;
    }

    async fn converse(&mut self, socket: &mut impl Socket) -> Result<(), Ended> {
        let mut next_ping = Instant::now() + PING_EVERY;
        // Every message of a client proves that it is there.
        let mut answer_until: Option<Instant> = None;
        // Made once, because each call reads the session from the store.
        let mut over = std::pin::pin!(ended(self.key.clone()));
        loop {
            let until = answer_until.map_or(next_ping, |at| at.min(next_ping));
            let (engine, channels, turn) = (&self.engine, &mut self.channels, &mut self.turn);
            tokio::select! {
                () = engine.closed() => return goodbye(socket).await,
                () = &mut over => return close(socket, close_code::POLICY, "the key is not in force any more").await,
                (index, lines) = news(channels, turn) => self.forward(socket, index, lines).await?,
                message = socket.recv() => {
                    answer_until = None;
                    self.hear(socket, message).await?;
                }
                () = tokio::time::sleep_until(until) => {
                    if answer_until.is_some_and(|at| at <= until) {
                        let reason = "no answer to a ping";
                        return close(socket, close_code::POLICY, reason).await;
                    }
                    send(socket, Message::Ping(Bytes::new())).await?;
                    next_ping = until + PING_EVERY;
                    answer_until = Some(until + PONG_WITHIN);
                }
            }
        }
    }

    /// Sends what a channel has; forgets a channel that has ended.
    async fn forward(&mut self, socket: &mut impl Socket, index: usize, lines: Option<Bytes>) -> Result<(), Ended> {
        let Some(lines) = lines else {
            if index < self.channels.len() {
                let Channel { name, .. } = self.channels.remove(index);
                let error = OjsError::new(ErrorCode::BackendUnavailable, "The channel has ended: its events cannot be read now.");
                reply(socket, &refusal(Some(&name), &error)).await?;
            }
            return Ok(());
        };
        for line in String::from_utf8_lossy(&lines).lines() {
            send(socket, Message::text(line)).await?;
        }
        Ok(())
    }

    async fn hear(&mut self, socket: &mut impl Socket, message: Option<Result<Message, axum::Error>>) -> Result<(), Ended> {
        match message {
            None | Some(Ok(Message::Close(_))) => Err(Ended),
            Some(Err(error)) => {
                tracing::debug!(%error, "a WebSocket ends");
                close(socket, close_code::PROTOCOL, "the message could not be read").await
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
            Some(Ok(Message::Binary(_))) => {
                let error = OjsError::new(ErrorCode::InvalidRequest, "Messages are JSON in text frames.");
                reply(socket, &refusal(None, &error)).await
            }
            Some(Ok(Message::Text(text))) => {
                let answer = self.act(&text).await;
                reply(socket, &answer).await
            }
        }
    }

    /// Does what a message asks for, and answers it.
    async fn act(&mut self, text: &str) -> Value {
        let asked: Asked = match parse(text.as_bytes()) {
            Ok(asked) => asked,
            Err(error) => return refusal(None, &error),
        };
        let channel = asked.channel.as_deref();
        let done = match asked.action.as_deref() {
            Some("subscribe") => self.subscribe(&asked).await,
            Some("unsubscribe") => self.unsubscribe(channel),
            Some("resume") => self.resume(asked.last_event_id.as_deref()).await,
            _ => Err(OjsError::invalid_field("action", "action must be subscribe, unsubscribe or resume.").into()),
        };
        done.unwrap_or_else(|failure| refusal(channel, failure.error()))
    }

    async fn subscribe(&mut self, asked: &Asked) -> Result<Value, Failure> {
        let name = named(asked.channel.as_deref())?;
        let types = asked.event_types.clone().unwrap_or_default();
        let mut answer = json!({"type": "subscribed", "channel": name});
        if let (Some(types), Some(answer)) = (&asked.event_types, answer.as_object_mut()) {
            answer.insert("event_types".to_owned(), json!(types));
        }
        if let Some(behind) = &asked.last_event_id {
            self.check_event_id(behind).await?;
        } else if let Some(known) = self.channels.iter().find(|channel| channel.name == name) {
            // Nothing is missed: only what passes is another one.
            *known.followed.shape.lock().unwrap_or_else(PoisonError::into_inner) = Wish::shape_of(types);
            return Ok(answer);
        }
        self.follow(name, types, asked.last_event_id.clone()).await?;
        Ok(answer)
    }

    /// Follows a channel, in place of itself when it is followed already.
    async fn follow(&mut self, name: &str, types: Vec<String>, behind: Option<String>) -> Result<(), Failure> {
        let wish = Wish::of_channel(name, types, behind, self.guest.clone())?;
        self.check_may(&wish).await?;
        let known = self.channels.iter().position(|channel| channel.name == name);
        // Its place is free for the new one at once, so a client that has all its places can resume.
        known.map(|index| self.channels.remove(index));
        let followed = follow(self.engine.clone(), wish).await?;
        self.channels.push(Channel { name: name.to_owned(), followed });
        Ok(())
    }

    /// Events of a job are for those who may read it; everything else is for those who may watch the server.
    async fn check_may(&self, wish: &Wish) -> Result<(), Failure> {
        if let Some(job) = wish.job() {
            return self.asker.check_sees(&self.engine, job).await;
        }
        Ok(self.key.as_ref().map_or(Ok(()), |key| key.holder().check(Permission::Inspect))?)
    }

    fn unsubscribe(&mut self, name: Option<&str>) -> Result<Value, Failure> {
        let name = named(name)?;
        self.channels.retain(|channel| channel.name != name);
        Ok(json!({"type": "unsubscribed", "channel": name}))
    }

    /// Sends again what the channels have had behind an event, and goes on from there.
    async fn resume(&mut self, behind: Option<&str>) -> Result<Value, Failure> {
        let missing = || OjsError::invalid_field("last_event_id", "last_event_id is required: the id of the last event.");
        let behind = behind.ok_or_else(missing)?;
        self.check_event_id(behind).await?;
        if self.channels.is_empty() {
            let error = OjsError::new(ErrorCode::InvalidRequest, "No channel is subscribed, so there is nothing to resume.");
            return Err(error.with_hint("Subscribe first, or send last_event_id with subscribe.").into());
        }
        let names: Vec<String> = self.channels.iter().map(|channel| channel.name.clone()).collect();
        for name in &names {
            let types = self.types(name);
            self.follow(name, types, Some(behind.to_owned())).await?;
        }
        Ok(json!({"type": "resumed", "last_event_id": behind, "channels": names}))
    }

    /// The types of events that a channel sends.
    fn types(&self, name: &str) -> Vec<String> {
        let known = self.channels.iter().find(|channel| channel.name == name);
        known.map_or_else(Vec::new, |channel| {
            channel.followed.shape.lock().unwrap_or_else(PoisonError::into_inner).types().to_vec()
        })
    }

    /// Refuses an id that is none of this server's. An id that is only too old passes: its channel begins with a gap.
    async fn check_event_id(&self, id: &str) -> Result<(), Failure> {
        let written = self.engine.log_span(None).await?.written;
        if Place::parse(id).is_some_and(|place| place <= written) {
            return Ok(());
        }
        let mut error = OjsError::new(ErrorCode::InvalidRequest, "The server knows no event with this id.")
            .with_details(json!({"field": "last_event_id"}))
            .with_hint("Read the state of what the channel is about, and follow it from now on.");
        error.code = "unknown_event_id".into();
        Err(error.into())
    }
}

/// Resolves when the key of the connection is no longer in force, or its session is over; never without one.
async fn ended(key: Option<InForce>) {
    match key {
        Some(key) => key.ended().await,
        None => std::future::pending().await,
    }
}

fn named(channel: Option<&str>) -> Result<&str, OjsError> {
    let wrong = || OjsError::invalid_field("channel", "channel is required: job:ID, queue:NAME or all.");
    channel.filter(|name| !name.is_empty()).ok_or_else(wrong)
}

/// A refusal as a message: the rest of the connection goes on.
fn refusal(channel: Option<&str>, error: &OjsError) -> Value {
    let mut message = json!({"type": "error", "code": error.code, "message": error.message});
    let more = [
        ("channel", channel.map(|name| json!(name))),
        ("details", error.details.clone()),
        ("hint", error.hint.as_ref().map(|hint| json!(hint))),
    ];
    if let Some(message) = message.as_object_mut() {
        message.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    message
}

/// The next messages of any channel, which of them it was, and `None` for one that has ended.
async fn news(channels: &mut [Channel], turn: &mut usize) -> (usize, Option<Bytes>) {
    std::future::poll_fn(|context| {
        let count = channels.len();
        for step in 0..count {
            let index = (*turn + step) % count;
            let Some(channel) = channels.get_mut(index) else { continue };
            if let Poll::Ready(lines) = channel.followed.messages.poll_recv(context) {
                *turn = index + 1;
                return Poll::Ready((index, lines));
            }
        }
        Poll::Pending
    })
    .await
}

async fn send(socket: &mut impl Socket, message: Message) -> Result<(), Ended> {
    socket.send(message).await.map_err(|error| {
        tracing::debug!(%error, "a WebSocket ends");
        Ended
    })
}

async fn reply(socket: &mut impl Socket, answer: &Value) -> Result<(), Ended> {
    send(socket, Message::text(answer.to_string())).await
}

async fn close(socket: &mut impl Socket, code: u16, reason: &'static str) -> Result<(), Ended> {
    send(socket, Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await?;
    Err(Ended)
}

/// The server stops: the client may connect to another one.
async fn goodbye(socket: &mut impl Socket) -> Result<(), Ended> {
    let event = json!({"type": "event", "channel": "all", "event": SHUTDOWN, "data": shutdown(GRACE_MS)});
    reply(socket, &event).await?;
    close(socket, close_code::AWAY, "the server stops").await
}

#[cfg(test)]
mod tests;
