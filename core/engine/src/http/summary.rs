//! `/events/stream?summary=true`: says at most once a second that something has happened, and never what.
//!
//! It is for pages that read their lists again. The log is not read for such a listener: once a second the server asks
//! where the log ends. So an open page costs a busy server the same as one that does nothing.
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use ojs_model::{ErrorCode, OjsError};
use serde_json::json;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::sleep;

use crate::engine::Engine;
use crate::error::Refusal;
use crate::http::client_limit::{Guest, Slot};
use crate::http::follower::Subscription;
use crate::http::reply::Failure;
use crate::http::request::Params;
use crate::http::streams::{RETRY_MS, answer, refuse, streamed};
use crate::kernel::event::{EventFilter, Place};

/// The shortest time between two frames.
const EVERY: Duration = Duration::from_secs(1);
/// Silence after which a comment is sent, as in other streams.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Parameters that choose events.
const CHOICES: [&str; 6] = ["types", "event_types", "queues", "job_types", "channel", "format"];

/// Whether a client wants the summary.
///
/// # Errors
/// 400 for a value that is neither true nor false, and for a choice of events beside it.
pub fn wanted(params: &Params) -> Result<bool, OjsError> {
    let wanted = params.flag("summary")? == Some(true);
    match CHOICES.into_iter().find(|name| wanted && params.get(name).is_some()) {
        Some(name) => {
            let message = format!("{name} chooses events, of which a summary has none: use one or the other.");
            Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": name})))
        }
        None => Ok(wanted),
    }
}

/// Opens the stream.
pub async fn open(engine: Engine, guest: &Guest) -> Result<Response, Failure> {
    let slot = engine.streams().client_limit().take(guest).map_err(refuse)?;
    let source = Source::of(&engine).await?;
    let (out, body) = channel(1);
    tokio::spawn(async move {
        // An error means that the client has gone or the server stops: there is no listener left.
        let _ = run(&engine, source, &out, slot).await;
    });
    Ok(answer(streamed(body)))
}

/// What tells that something has happened.
enum Source {
    /// The end of the log.
    Log(Place),
    /// The events of one tenant, which must not learn of those of others.
    Tenant(Subscription),
}

impl Source {
    async fn of(engine: &Engine) -> Result<Self, Refusal> {
        Ok(match engine.tenant() {
            Some(_) => Self::Tenant(engine.subscribe(EventFilter::default()).await?),
            None => Self::Log(engine.log_span(None).await?.end),
        })
    }

    /// Waits until something has happened, [`EVERY`] or longer. Dropped while it waits, it loses nothing.
    async fn change(&mut self, engine: &Engine) {
        loop {
            sleep(EVERY).await;
            match self {
                Self::Tenant(subscription) => {
                    subscription.news().await;
                    return;
                }
                Self::Log(place) => match engine.log_span(None).await {
                    Ok(span) if span.end == *place => {}
                    Ok(span) => {
                        *place = span.end;
                        return;
                    }
                    // The store is away for a moment: what the page shows may be out of date.
                    Err(_) => return,
                },
            }
        }
    }
}

/// The stream has ended.
struct Ended;

async fn run(engine: &Engine, mut source: Source, out: &Sender<Bytes>, _slot: Slot) -> Result<(), Ended> {
    let send = async |text: String| out.send(Bytes::from(text)).await.map_err(|_| Ended);
    send(format!("retry: {RETRY_MS}\n\n")).await?;
    loop {
        let text = tokio::select! {
            () = source.change(engine) => "event: changed\ndata: {}\n\n",
            () = sleep(HEARTBEAT) => ":heartbeat\n\n",
            () = engine.closed() => return Ok(()),
            () = out.closed() => return Err(Ended),
        };
        send(text.to_owned()).await?;
    }
}
