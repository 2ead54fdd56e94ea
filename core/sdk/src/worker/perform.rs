//! One job here and now, without a running worker: how tests run handlers.
use std::sync::Weak;

use tokio::time::Instant;

use super::build::Worker;
use super::handlers::outcome;
use super::held::{Entry, Stage};
use super::report::Report;
use super::wire::{self, Envelope};
use crate::dispatch::{DeliveryKey, Outcome};
use crate::error::Error;
use crate::transport::{Request, Transport};

/// The name under which jobs are claimed.
const NAME: &str = "drain";
/// One job runs at a time, so its key may be a constant.
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
            about: job.head.about(&job.text),
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
        match self.prepared(KEY, job, Weak::new()) {
            Ok((ctx, next)) => {
                let result = next.run(ctx.clone()).await;
                outcome(&ctx, result)
            }
            Err(failure) => Outcome::Failed(failure),
        }
    }
}
