//! `/jobs/{id}/progress/stream`: progress as it is made, then how the job ended (extensions section 20).
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use ojs_model::{JobId, JobState};

use crate::engine::Engine;
use crate::features::progress::answer;
use crate::features::progress::commands::{GetProgress, Standing};
use crate::http::caller::Asker;
use crate::http::client_limit::Guest;
use crate::http::frames::Frames;
use crate::http::job_stream::{self, Shown};
use crate::http::reply::Failure;
use crate::http::request::job_id;
use crate::stream::Events;

/// Follows one job to its end.
pub async fn open(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>, guest: Guest) -> Result<Response, Failure> {
    let id = job_id("job", &id)?;
    asker.check_sees(&engine, id).await?;
    job_stream::open(engine.clone(), id, &guest, Progress { engine, id }).await
}

/// The progress of a job.
struct Progress {
    engine: Engine,
    id: JobId,
}

impl Shown for Progress {
    async fn begin(&mut self, frames: &mut Frames) -> Result<bool, Failure> {
        let found = look(&self.engine, self.id).await?;
        let text = answer::text(self.id, found.state(), found.progress.as_ref());
        if let Some(event) = ending(found.state()) {
            frames.last(event, &text);
            return Ok(true);
        }
        if found.progress.is_some() {
            frames.last("progress", &text);
        }
        Ok(false)
    }

    async fn news(&mut self, frames: &mut Frames, events: &Events) -> bool {
        let reported = events.iter().rfind(|event| event.name == "job.progress");
        let ended = events.iter().any(|event| event.change.is_some_and(|change| change.to.is_terminal()));
        if (reported.is_some() || ended)
            && let Ok(found) = look(&self.engine, self.id).await
        {
            let text = answer::text(self.id, found.state(), found.progress.as_ref());
            if let Some(event) = reported {
                frames.frame(&event.id, "progress", &text);
            }
            if let Some(event) = ending(found.state()) {
                frames.last(event, &text);
                return true;
            }
        }
        false
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
