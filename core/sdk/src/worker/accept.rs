//! Claimed jobs: which the host gets, and which are given back or have failed before they run.
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::durable::Durable;
use super::held::{Entry, Stage};
use super::wire::{Envelope, Head};
use super::worker_loop::WorkerLoop;
use crate::dispatch::{Completion, Delivery, DeliveryKey, HandlerFailure, Outcome, Phase};

/// The lease when neither the fetch nor the job names one: the protocol's default for servers (section 1.5).
const SERVER_LEASE: Duration = Duration::from_secs(1800);

impl WorkerLoop {
    /// Passes claimed jobs to the host, or gives them back when the worker has stopped fetching meanwhile or has no
    /// handler for their type. Returns how many the host got.
    pub(super) fn accept(&mut self, jobs: Vec<Envelope>, sent: Instant) -> usize {
        if jobs.is_empty() {
            return 0;
        }
        let now = Instant::now();
        let running = self.shared.phase() == Phase::Running;
        // Where the first attempt is 1 no running job has attempt 0 (dialects 0.1), so this server counts from 0.
        self.from_zero |= jobs.iter().any(|job| job.head.attempt == Some(0));
        let first = u32::from(self.from_zero);
        let mut batch = Vec::with_capacity(jobs.len());
        let (mut away, mut refused) = (Vec::new(), Vec::new());
        let shared = Arc::clone(&self.shared);
        {
            let mut held = shared.held();
            for Envelope { mut head, text } in jobs {
                head.attempt = Some(head.attempt.map_or(1, |attempt| attempt.saturating_add(first)));
                let key = shared.next_key();
                held.insert(key, self.entry(&head, &text, sent));
                match self.admit(&head, now) {
                    Admitted::Run(transforms) => batch.push(self.delivery(key, head, text, transforms, now)),
                    Admitted::Away(wait) => away.push((key, wait)),
                    Admitted::Refused(failure) => refused.push((Completion::new(key, self.sender.clone()), failure)),
                }
            }
        }
        for (key, wait) in away {
            self.turn_away(key, wait);
        }
        let count = batch.len();
        if !running {
            tracing::info!(worker = %self.shared.worker_id, jobs = count, "jobs claimed while stopping are given back");
            for delivery in batch {
                delivery.completion.finish(Outcome::Released);
            }
            refused.into_iter().for_each(|(completion, _)| completion.finish(Outcome::Released));
            return 0;
        }
        refused.into_iter().for_each(|(completion, failure)| completion.finish(Outcome::Failed(failure)));
        if count > 0 {
            self.shared.hand_over(batch);
        }
        count
    }

    /// What is kept of a claimed job until its outcome has arrived.
    fn entry(&self, head: &Head, envelope: &Bytes, sent: Instant) -> Entry {
        let asked = self.shared.options.visibility_timeout;
        let lease = asked.or(head.visibility_timeout_ms.map(Duration::from_millis)).unwrap_or(SERVER_LEASE);
        Entry {
            id: head.id.as_str().into(),
            about: head.about(envelope),
            lease_token: head.lease_token,
            lease_until: sent + lease,
            stage: Stage::Running,
            cancelled: None,
            durable: head.checkpoint.as_deref().map(|saved| Arc::new(Durable::delivered(Some(saved)))),
        }
    }

    /// Whether there is a handler for the job, in its version.
    fn admit(&mut self, head: &Head, now: Instant) -> Admitted {
        let worker_id = &self.shared.worker_id;
        if let Some(wait) = self.foreign.turned_away(&head.job_type, worker_id, now) {
            return Admitted::Away(wait);
        }
        match self.shared.options.versions.path(&head.job_type, head.version.as_ref()) {
            Ok(transforms) => Admitted::Run(transforms),
            Err(missing) => match self.foreign.unsupported(&head.job_type, &missing, worker_id, now) {
                Some(wait) => Admitted::Away(wait),
                None => Admitted::Refused(missing.failure()),
            },
        }
    }

    /// What the host gets. The job's time runs from now on.
    fn delivery(&mut self, key: DeliveryKey, head: Head, envelope: Bytes, transforms: Vec<usize>, now: Instant) -> Delivery {
        let deadline = head.timeout_ms().and_then(|ms| now.checked_add(Duration::from_millis(ms)));
        if let Some(deadline) = deadline {
            self.deadlines.push(Reverse((deadline, key)));
        }
        Delivery {
            key,
            id: head.id,
            job_type: head.job_type,
            queue: head.queue.unwrap_or_default(),
            attempt: head.attempt.unwrap_or(1),
            deadline: deadline.map(Instant::into_std),
            envelope,
            transforms,
            completion: Completion::new(key, self.sender.clone()),
        }
    }
}

/// What becomes of a claimed job.
enum Admitted {
    /// The host runs it, after these changes of its arguments.
    Run(Vec<usize>),
    /// It goes back to its queue, and its worker does not ask for its type for this long.
    Away(Duration),
    /// It fails: no change brings it to a version of its handler.
    Refused(HandlerFailure),
}
