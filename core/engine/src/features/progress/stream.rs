//! `/jobs/{id}/progress/stream`: progress as it is made, then how the job ended (extensions section 20).
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use ojs_model::{JobId, JobState};
use tokio::sync::mpsc::{Sender, channel};

use crate::engine::Engine;
use crate::features::progress::answer;
use crate::features::progress::commands::{GetProgress, Standing};
use crate::http::caller::Asker;
use crate::http::client_limit::{Guest, Slot};
use crate::http::follower::Subscription;
use crate::http::frames::Frames;
use crate::http::reply::Failure;
use crate::http::request::job_id;
use crate::http::streams::{RETRY_MS, answer as stream, refuse, streamed};
use crate::kernel::event::EventFilter;

/// Silence after which a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Follows one job to its end.
pub async fn open(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>, guest: Guest) -> Result<Response, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    let slot = engine.streams().client_limit().take(&guest).map_err(refuse)?;
    let filter = EventFilter { subject: Some(id.to_string()), transitions: true, ..EventFilter::default() };
    // Before the first look: a report in between is not missed.
    let subscription = engine.subscribe(filter).await?;
    let mut frames = Frames::open(RETRY_MS, subscription.from, engine.now());
    let found = look(&engine, id).await?;
    let text = answer::text(id, found.state(), found.progress.as_ref());
    if let Some(event) = ending(found.state()) {
        frames.last(event, &text);
        return Ok(stream(frames.take().into()));
    }
    if found.progress.is_some() {
        frames.last("progress", &text);
    }
    let (out, body) = channel(1);
    tokio::spawn(async move {
        // A client that is gone needs no goodbye.
        let _ = follow(engine, id, subscription, frames, out, slot).await;
    });
    Ok(stream(streamed(body)))
}

async fn follow(
    engine: Engine,
    id: JobId,
    subscription: Subscription,
    mut frames: Frames,
    out: Sender<Bytes>,
    _seat: Slot,
) -> Option<()> {
    out.send(frames.take()).await.ok()?;
    loop {
        tokio::select! {
            (_, events) = subscription.news() => {
                let reported = events.iter().rfind(|event| event.name == "job.progress");
                let ended = events.iter().any(|event| event.change.is_some_and(|change| change.to.is_terminal()));
                if (reported.is_some() || ended) && let Ok(found) = look(&engine, id).await {
                    let text = answer::text(id, found.state(), found.progress.as_ref());
                    if let Some(event) = reported {
                        frames.frame(&event.id, "progress", &text);
                    }
                    if let Some(event) = ending(found.state()) {
                        frames.last(event, &text);
                        return out.send(frames.take()).await.ok();
                    }
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

async fn look(engine: &Engine, id: JobId) -> Result<Standing, Failure> {
    Ok(engine.query(GetProgress { job: id, board: Arc::clone(engine.progress()) }).await?)
}

/// The event that ends the stream, when the job has ended.
fn ending(state: JobState) -> Option<&'static str> {
    match state {
        JobState::Completed => Some("completed"),
        JobState::Cancelled => Some("cancelled"),
        JobState::Discarded => Some("failed"),
        _ => None,
    }
}
