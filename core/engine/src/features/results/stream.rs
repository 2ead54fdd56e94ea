//! `/jobs/{id}/result/stream`: progress as it is made, then the result or the error (protocol section 8.10).
use axum::extract::{Path, State};
use axum::response::Response;
use ojs_model::{JobId, JobState, OjsError};

use crate::engine::Engine;
use crate::features::results::answer::push_outcome;
use crate::features::results::commands::GetResults;
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
    job_stream::open(engine.clone(), id, &guest, Outcome { engine, id }).await
}

/// The outcome of a job.
struct Outcome {
    engine: Engine,
    id: JobId,
}

impl Shown for Outcome {
    async fn begin(&mut self, frames: &mut Frames) -> Result<bool, Failure> {
        let Some((event, outcome)) = outcome(&self.engine, self.id).await? else { return Ok(false) };
        frames.last(event, &outcome);
        Ok(true)
    }

    async fn news(&mut self, frames: &mut Frames, events: &Events) -> bool {
        for event in events.iter().filter(|event| event.name == "job.progress") {
            frames.progress(event);
        }
        if events.iter().any(|event| event.change.is_some_and(|change| change.to.is_terminal()))
            && let Ok(Some((event, outcome))) = outcome(&self.engine, self.id).await
        {
            frames.last(event, &outcome);
            return true;
        }
        false
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
