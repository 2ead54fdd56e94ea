//! A stream about one job, from now to its end.
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use ojs_model::JobId;
use tokio::sync::mpsc::{Sender, channel};

use crate::engine::Engine;
use crate::http::client_limit::{Guest, Slot};
use crate::http::follower::Subscription;
use crate::http::frames::Frames;
use crate::http::reply::Failure;
use crate::http::streams::{RETRY_MS, answer, refuse, streamed};
use crate::kernel::event::EventFilter;
use crate::stream::Events;

/// Silence after which a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What a stream shows of its job.
pub trait Shown: Send + 'static {
    /// Writes what there is before the first event; true when the stream ends with it.
    fn begin(&mut self, frames: &mut Frames) -> impl Future<Output = Result<bool, Failure>> + Send;

    /// Writes what events bring; true when the stream ends with it.
    fn news(&mut self, frames: &mut Frames, events: &Events) -> impl Future<Output = bool> + Send;
}

/// Opens a stream about a job that the caller may see.
///
/// # Errors
/// Those of `shown`; 429 and 503 when too many streams are open.
pub async fn open(engine: Engine, id: JobId, guest: &Guest, mut shown: impl Shown) -> Result<Response, Failure> {
    let slot = engine.streams().client_limit().take(guest).map_err(refuse)?;
    let filter = EventFilter { subject: Some(id.to_string()), transitions: true, ..EventFilter::default() };
    // Before the first look: what happens in between is not missed.
    let subscription = engine.subscribe(filter).await?;
    let mut frames = Frames::open(RETRY_MS, subscription.from, engine.now());
    if shown.begin(&mut frames).await? {
        return Ok(answer(frames.take().into()));
    }
    let (out, body) = channel(1);
    tokio::spawn(async move {
        // A client that is gone needs no goodbye.
        let _ = follow(engine, subscription, shown, frames, out, slot).await;
    });
    Ok(answer(streamed(body)))
}

async fn follow(
    engine: Engine,
    subscription: Subscription,
    mut shown: impl Shown,
    mut frames: Frames,
    out: Sender<Bytes>,
    _slot: Slot,
) -> Option<()> {
    out.send(frames.take()).await.ok()?;
    loop {
        tokio::select! {
            (_, events) = subscription.news() => {
                if shown.news(&mut frames, &events).await {
                    return out.send(frames.take()).await.ok();
                }
            }
            () = tokio::time::sleep(HEARTBEAT) => frames.heartbeat(),
            () = engine.closed() => {
                frames.shutdown(0);
                return out.send(frames.take()).await.ok();
            }
            () = out.closed() => return None,
        }
        if frames.len() > 0 {
            out.send(frames.take()).await.ok()?;
        }
    }
}
