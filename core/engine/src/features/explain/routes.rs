//! `GET /jobs/{id}/explain`.
use axum::extract::{Path, State};

use crate::engine::Engine;
use crate::features::explain::answer::described;
use crate::features::explain::commands::ExplainJob;
use crate::http::caller::Asker;
use crate::http::reply::{Failure, Json};
use crate::http::request::job_id;

pub async fn explain(State(engine): State<Engine>, asker: Asker, Path(id): Path<String>) -> Result<Json, Failure> {
    let job = job_id("job", &id)?;
    asker.check_sees(&engine, job).await?;
    let found = engine.query(ExplainJob { job, at: engine.now() }).await?;
    Ok(Json::ok(described(&found).to_string()))
}
