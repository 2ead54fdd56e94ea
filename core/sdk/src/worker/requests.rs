//! The requests of a worker: their bodies, and the tasks that send them beside the loop.
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use ojs_model::json::{push_bare, push_member, push_text};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::report::Report;
use super::shared::{Shared, panic_message};
use super::worker_loop::{FLUSH_MAX, Finished, Purpose, Server, WorkerLoop};
use crate::dispatch::Phase;
use crate::error::Error;
use crate::transport::{Request, Response, TransportError, TransportErrorKind};

impl WorkerLoop {
    /// Sends outcomes, and asks for as many jobs as slots are free unless another request asks already.
    pub(super) fn exchange(&mut self, now: Instant) {
        let reports = self.next_batch();
        if let [report] = reports.as_slice()
            && report.alone
        {
            self.launch_report(reports);
            return;
        }
        let claim = self.shared.phase() == Phase::Running && !self.claiming.waiting && now >= self.claiming.not_before;
        let slots = if claim {
            self.shared.capacity().saturating_sub(self.claiming.reserved).min(self.shared.options.fetch_max)
        } else {
            0
        };
        let mut outcomes = String::with_capacity(reports.len() * 96);
        outcomes.push('[');
        for report in &reports {
            if outcomes.len() > 1 {
                outcomes.push(',');
            }
            report.push_outcome(&mut outcomes);
        }
        outcomes.push(']');
        let mut body = self.claim_body(slots, Duration::ZERO);
        push_member(&mut body, "outcomes", &outcomes);
        body.push('}');
        self.launch(Purpose::Exchange { waits: false }, Request::post("/workers/exchange", body), reports, slots);
    }

    /// The next reports for one request: a lone one by itself.
    fn next_batch(&mut self) -> Vec<Report> {
        let pending = &mut self.reporting.pending;
        let alone = pending.front().is_some_and(|report| report.alone);
        let count = if alone { 1 } else { pending.iter().take(FLUSH_MAX).take_while(|report| !report.alone).count() };
        let reports = pending.drain(..count).collect();
        let now = Instant::now();
        self.reporting.oldest = (!self.reporting.pending.is_empty()).then_some(now);
        self.reporting.last_flush = Some(now);
        reports
    }

    pub(super) fn poll(&mut self, slots: usize) {
        let wait = self.shared.options.long_poll;
        let mut body = self.claim_body(slots, wait);
        body.push('}');
        self.launch(
            Purpose::Exchange { waits: true },
            Request::post("/workers/exchange", body).with_wait(wait),
            Vec::new(),
            slots,
        );
    }

    pub(super) fn fetch(&mut self, slots: usize) {
        let mut body = self.claim_body(slots, Duration::ZERO);
        body.push('}');
        self.launch(Purpose::Fetch, Request::post("/workers/fetch", body), Vec::new(), slots);
    }

    /// `{queues, count, worker_id, visibility_timeout_ms}` as in the specification, without the closing brace.
    fn claim_body(&self, slots: usize, wait: Duration) -> String {
        let options = &self.shared.options;
        let mut body = String::from("{");
        if slots > 0 {
            push_member(&mut body, "queues", &serde_json::json!(options.queues).to_string());
            push_bare(&mut body, "count", slots);
        }
        push_text(&mut body, "worker_id", &self.shared.worker_id);
        if let Some(lease) = options.visibility_timeout.filter(|_| slots > 0) {
            push_bare(&mut body, "visibility_timeout_ms", lease.as_millis());
        }
        // Its jobs are settled, released and extended by their tokens only. Servers without the exchange get the
        // specification's form.
        if slots > 0 && self.server == Server::Exchange {
            push_bare(&mut body, "lease_tokens", true);
        }
        if let Some(types) = self.foreign.asked().filter(|_| slots > 0) {
            push_member(&mut body, "job_types", types);
        }
        if let Some(handlers) = self.shared.declared.as_deref().filter(|_| slots > 0) {
            push_member(&mut body, "handlers", handlers);
        }
        if !wait.is_zero() {
            push_bare(&mut body, "wait_ms", wait.as_millis());
        }
        body
    }

    pub(super) fn report_one(&mut self) {
        if let Some(report) = self.reporting.pending.pop_front() {
            self.launch_report(vec![report]);
        }
        if self.reporting.pending.is_empty() {
            self.reporting.oldest = None;
        }
    }

    fn launch_report(&mut self, reports: Vec<Report>) {
        if let [report] = reports.as_slice() {
            let request = Request::post(report.path(), report.body(&self.shared.worker_id));
            self.launch(Purpose::Report, request, reports, 0);
        }
    }

    /// Runs one request beside the loop.
    pub(super) fn launch(&mut self, purpose: Purpose, request: Request, reports: Vec<Report>, reserved: usize) {
        self.reporting.requests += usize::from(!reports.is_empty());
        self.claiming.requests += usize::from(reserved > 0);
        self.claiming.reserved += reserved;
        if purpose == (Purpose::Exchange { waits: true }) {
            self.claiming.waiting = true;
            self.claiming.cut = CancellationToken::new();
        }
        if reserved > 0 {
            self.claiming.free_since = None;
        }
        let cut = (purpose == Purpose::Exchange { waits: true }).then(|| self.claiming.cut.clone());
        let shared = Arc::clone(&self.shared);
        self.requests.spawn(async move {
            let sent = Instant::now();
            let answer = match cut {
                None => send(&shared, request).await,
                Some(cut) => tokio::select! {
                    // An answer that has arrived is used: it may contain jobs.
                    biased;
                    answer = send(&shared, request) => answer,
                    () = cut.cancelled() => Err(Error::NotHeld),
                },
            };
            Finished { purpose, reports, reserved, sent, answer }
        });
    }
}

/// One request. A transport that panics has failed to answer.
async fn send(shared: &Shared, request: Request) -> Result<Response, Error> {
    let answer = AssertUnwindSafe(async { shared.transport.request(request).await }).catch_unwind().await;
    let answer = answer.unwrap_or_else(|panic| {
        let message = format!("the transport panicked: {}", panic_message(&*panic));
        Err(TransportError::new(TransportErrorKind::Interrupted, message))
    });
    answer.map_err(Error::from)
}
