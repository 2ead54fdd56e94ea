//! Who asks, as handlers need it: the key of the request, and whether it may see only what it enqueued itself.
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ojs_model::{ErrorCode, JobId, NewJob, OjsError};
use serde_json::json;

use crate::engine::Engine;
use crate::http::guard::{Caller, OwnJobsOnly};
use crate::http::reply::{Failure, unexpected};
use crate::kernel::command::{Query, Reply};
use crate::kernel::job::JobView;
use crate::kernel::owner::is_foreign;

/// The key of a request, as far as there is one.
#[derive(Debug, Clone, Default)]
pub struct Asker {
    /// Its name.
    pub key: Option<String>,
    /// All its roles are `producer`: of jobs that another key enqueued it sees id, type, queue and state only.
    pub own_only: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let key = parts.extensions.get::<Caller>().map(|caller| caller.0.clone());
        Ok(Self { key, own_only: parts.extensions.get::<OwnJobsOnly>().is_some() })
    }
}

impl Asker {
    /// Notes in a job who enqueues it.
    pub fn sign(&self, job: &mut NewJob) {
        if let Some(key) = &self.key {
            job.sign(key, self.own_only);
        }
    }

    /// Whether another key enqueued the job and this one may not see it whole.
    pub fn is_stranger_to(&self, view: &JobView) -> bool {
        self.own_only && is_foreign(self.key.as_deref(), &view.body.text)
    }

    /// Refuses when it may not see what came out of a job. Costs others nothing.
    pub async fn check_sees(&self, engine: &Engine, id: JobId) -> Result<(), Failure> {
        if !self.own_only {
            return Ok(());
        }
        match engine.query(Query::Job(id)).await? {
            Reply::Job(view) if self.is_stranger_to(&view) => Err(not_yours(id).into()),
            Reply::Job(_) => Ok(()),
            other => Err(unexpected(&other).into()),
        }
    }
}

fn not_yours(id: JobId) -> OjsError {
    let message = format!("Job '{id}' was enqueued with another key; this key sees its id, type, queue and state only.");
    OjsError::new(ErrorCode::PermissionDenied, message).with_details(json!({"job_id": id.to_string()}))
}
