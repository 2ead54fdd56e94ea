//! One job of a worker that is not started: its context, the layers, and the handler.
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::build::Worker;
use super::context::JobContext;
use super::handlers::{failing, missing};
use super::shared::Shared;
use super::wire::Envelope;
use crate::dispatch::{Completion, Delivery, DeliveryKey, HandlerFailure};
use crate::middleware::{Innermost, Next};

impl Worker {
    /// Prepares a run with its arguments in the clear and in the version that the handler takes. `link` is what the
    /// context asks of its worker.
    pub(super) fn prepared(
        &self,
        key: DeliveryKey,
        job: Envelope,
        link: Weak<Shared>,
    ) -> Result<(JobContext, Next), HandlerFailure> {
        let Envelope { head, text: envelope } = job;
        let text = match self.transport.codec().zip(std::str::from_utf8(&envelope).ok()) {
            Some((codec, text)) => codec.decode(text).map_err(|error| error.failure())?,
            None => None,
        };
        // The outcome is what the handler returns; there is no receiver here.
        let (outcomes, _) = mpsc::unbounded_channel();
        let mut delivery = Delivery {
            key,
            id: head.id,
            job_type: head.job_type,
            queue: head.queue.unwrap_or_else(|| "default".to_owned()),
            attempt: head.attempt.unwrap_or(1),
            deadline: None,
            envelope: text.map_or(envelope, Bytes::from),
            transforms: Vec::new(),
            completion: Completion::new(key, outcomes),
        };
        let transforms = self.transforms.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut versions = self.options.versions.clone();
        transforms.declare(&mut versions);
        let changed = versions.path(&delivery.job_type, head.version.as_ref()).map_err(|missing| missing.failure());
        let changed = changed.and_then(|path| {
            delivery.transforms = path;
            transforms.apply(&mut delivery)
        });
        let handler = match changed {
            Ok(()) => self.handler(&delivery.job_type),
            Err(failure) => failing(failure),
        };
        let ctx = JobContext::new(&mut delivery, link);
        Ok((ctx, Next::new(Arc::clone(self.middleware.freeze()), handler)))
    }

    fn handler(&self, job_type: &str) -> Innermost {
        let handlers: &HashMap<String, Innermost> = &self.handlers.lock().unwrap_or_else(PoisonError::into_inner);
        handlers.get(job_type).cloned().unwrap_or_else(|| missing(job_type))
    }
}
