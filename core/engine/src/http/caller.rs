//! Who asks, as handlers need it: the key of the request, and whether it may see only what it enqueued itself.
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ojs_model::envelope::{sign_request, signature};
use ojs_model::workflow::NewWorkflow;
use ojs_model::{ErrorCode, JobId, NewJob, OjsError};
use serde_json::json;

use crate::engine::Engine;
use crate::features::workflows::records::WorkflowView;
use crate::http::guard::Caller;
use crate::http::reply::Failure;
use crate::kernel::job::JobView;
use crate::kernel::owner::is_foreign;
use crate::kernel::query::GetJob;

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
        let holder = parts.extensions.get::<Caller>().map(|Caller(holder)| holder);
        Ok(Self {
            key: holder.map(|holder| holder.name().to_owned()),
            own_only: holder.is_some_and(crate::http::access::Holder::only_produces),
        })
    }
}

impl Asker {
    /// Notes in a job who enqueues it.
    pub fn sign(&self, job: &mut NewJob) {
        if let Some(key) = &self.key {
            job.sign(key, self.own_only);
        }
    }

    /// Notes in a workflow who creates it: its jobs are enqueued in that name.
    pub fn sign_workflow(&self, new: &mut NewWorkflow) {
        new.sign(self.key.as_deref(), self.own_only);
    }

    /// Notes in the template of a cron entry who registers it.
    pub fn sign_template(&self, template: &str) -> String {
        sign_request(template, self.key.as_deref(), self.own_only)
    }

    /// Whether another key created the workflow and this one may not see what came out of its jobs.
    pub fn is_stranger_to_workflow(&self, view: &WorkflowView) -> bool {
        let owner = || view.steps.iter().find_map(|step| signature(&step.row.request));
        self.own_only && owner().is_some_and(|(owner, _)| self.key.as_deref() != Some(owner.as_str()))
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
        let view = engine.query(GetJob(id)).await?;
        if self.is_stranger_to(&view) { Err(not_yours(id).into()) } else { Ok(()) }
    }
}

fn not_yours(id: JobId) -> OjsError {
    let message = format!("Job '{id}' was enqueued with another key; this key sees its id, type, queue and state only.");
    OjsError::new(ErrorCode::PermissionDenied, message).with_details(json!({"job_id": id.to_string()}))
}
