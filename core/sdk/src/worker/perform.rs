//! One job here and now, without a running worker: how tests run handlers.
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::build::Worker;
use super::context::JobContext;
use super::handlers::{failing, missing, outcome};
use super::held::{Entry, Stage};
use super::report::Report;
use super::wire::{self, Envelope};
use crate::dispatch::{Completion, Delivery, DeliveryKey, Outcome};
use crate::error::Error;
use crate::middleware::{Innermost, Next};
use crate::transport::{Request, Transport};

/// The name under which jobs are claimed.
const NAME: &str = "drain";
/// One job at a time: the key need not tell any apart.
const KEY: DeliveryKey = DeliveryKey(0);

impl Worker {
    /// Claims the next job of this worker's queues from `transport`, runs its handler inside the layers, reports; `None` when there is no
    /// job. A panic of the handler goes to the caller.
    pub(crate) async fn perform_next(&self, transport: &dyn Transport) -> Result<Option<Outcome>, Error> {
        let claim = serde_json::json!({"queues": self.options.queues, "count": 1, "worker_id": NAME}).to_string();
        let answer = transport.request(Request::post("/workers/fetch", claim)).await?;
        if !answer.is_success() {
            return Err(Error::from_response(&answer));
        }
        let Some(job) = wire::handout(&answer.body)?.jobs.pop() else { return Ok(None) };
        let entry = Entry {
            id: job.head.id.as_str().into(),
            lease_token: job.head.lease_token,
            lease_until: Instant::now(),
            about: Arc::new(job.head.about()),
            stage: Stage::Reporting,
            cancelled: None,
            durable: None,
        };
        let outcome = self.perform(job).await;
        let report = Report::new(KEY, &entry, outcome.clone());
        let answer = transport.request(Request::post(report.path(), report.body(NAME))).await?;
        if answer.is_success() { Ok(Some(outcome)) } else { Err(Error::from_response(&answer)) }
    }

    async fn perform(&self, job: Envelope) -> Outcome {
        // The outcome is what the handler returns; there is no receiver here.
        let (outcomes, _) = mpsc::unbounded_channel();
        let mut delivery = Delivery {
            key: KEY,
            id: job.head.id,
            job_type: job.head.job_type,
            queue: job.head.queue.unwrap_or_default(),
            attempt: job.head.attempt.unwrap_or(1),
            deadline: None,
            envelope: job.text,
            transforms: Vec::new(),
            completion: Completion::new(KEY, outcomes),
        };
        let transforms = self.transforms.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut versions = self.options.versions.clone();
        transforms.declare(&mut versions);
        let changed = versions.path(&delivery.job_type, job.head.version.as_ref()).map_err(|missing| missing.failure());
        let changed = changed.and_then(|path| {
            delivery.transforms = path;
            transforms.apply(&mut delivery)
        });
        let handler = match changed {
            Ok(()) => self.handler(&delivery.job_type),
            Err(failure) => failing(failure),
        };
        let ctx = JobContext::new(&mut delivery, Weak::new());
        let result = Next::new(Arc::clone(self.middleware.freeze()), handler).run(ctx.clone()).await;
        outcome(&ctx, result)
    }

    fn handler(&self, job_type: &str) -> Innermost {
        let handlers: &HashMap<String, Innermost> = &self.handlers.lock().unwrap_or_else(PoisonError::into_inner);
        handlers.get(job_type).cloned().unwrap_or_else(|| missing(job_type))
    }
}
