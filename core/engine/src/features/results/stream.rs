//! `/jobs/{id}/result/stream`: progress as it is made, then the result or the error (protocol section 8.10).
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use ojs_model::{JobId, JobState, OjsError};
use tokio::sync::mpsc::{Sender, channel};

use crate::engine::Engine;
use crate::features::results::answer::push_outcome;
use crate::features::results::commands::GetResults;
use crate::http::caller::Asker;
use crate::http::client_limit::{Guest, Slot};
use crate::http::follower::Subscription;
use crate::http::frames::Frames;
use crate::http::reply::Failure;
use crate::http::request::job_id;
use crate::http::streams::{RETRY_MS, answer, refuse, streamed};
use crate::kernel::event::EventFilter;

/// Silence after which a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Follows one job to its end.
pub async fn open(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>, guest: Guest) -> Result<Response, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    let slot = engine.streams().client_limit().take(&guest).map_err(refuse)?;
    let filter = EventFilter { subject: Some(id.to_string()), transitions: true, ..EventFilter::default() };
    // Before the first look: an end in between is not missed.
    let subscription = engine.subscribe(filter).await?;
    let mut frames = Frames::open(RETRY_MS, subscription.from, engine.now());
    if let Some((event, outcome)) = outcome(&engine, id).await? {
        frames.last(event, &outcome);
        return Ok(answer(frames.take().into()));
    }
    let (out, body) = channel(1);
    tokio::spawn(async move {
        // A client that is gone needs no goodbye.
        let _ = follow(engine, id, subscription, frames, out, slot).await;
    });
    Ok(answer(streamed(body)))
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
                for event in events.iter().filter(|event| event.name == "job.progress") {
                    frames.progress(event);
                }
                if events.iter().any(|event| event.change.is_some_and(|change| change.to.is_terminal()))
                    && let Ok(Some((event, outcome))) = outcome(&engine, id).await
                {
                    frames.last(event, &outcome);
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

/// How the job ended, if it has: the name of the event and its data.
async fn outcome(engine: &Engine, id: JobId) -> Result<Option<(&'static str, String)>, Failure> {
    let found = engine.query(GetResults(vec![id])).await?.pop().flatten();
    let (row, history) = found.ok_or_else(|| OjsError::not_found("job", &id.to_string()))?;
    if !row.state.is_terminal() {
        return Ok(None);
    }
    let mut out = String::new();
    push_outcome(&mut out, &row, &history, engine.now())?;
    Ok(Some((if row.state == JobState::Completed { "result" } else { "error" }, out)))
}
