//! Handles the answers to requests: what they mean for the jobs and outcomes in them.
use std::sync::Arc;
use std::time::Duration;

use ojs_model::OjsError;
use tokio::time::Instant;

use super::event::WorkerEvent;
use super::failures::Fate;
use super::heartbeat;
use super::report::{Next, Report};
use super::wire::{self, Handout, Manifest};
use super::worker_loop::{Finished, Purpose, Server, WorkerLoop};
use crate::error::Error;
use crate::transport::{Response, TransportErrorKind};

/// A long poll that ends after less than this has failed; after more, it was cut short.
const WAS_WAITING: Duration = Duration::from_secs(1);

impl WorkerLoop {
    pub(super) fn settle(&mut self, finished: Finished) {
        let Finished { purpose, reports, reserved, sent, answer } = finished;
        self.reporting.requests -= usize::from(!reports.is_empty());
        self.claiming.requests -= usize::from(reserved > 0);
        self.claiming.reserved -= reserved;
        match purpose {
            Purpose::Manifest => self.learn(answer),
            Purpose::Exchange { waits } => {
                self.claiming.waiting &= !waits;
                if waits && was_cut(&answer, sent.elapsed()) {
                    tracing::debug!(worker = %self.shared.worker_id, "a long poll was cut short on its way; asking again");
                    return;
                }
                self.exchanged(reports, reserved, sent, answer);
            }
            Purpose::Fetch => self.fetched(sent, answer),
            Purpose::Report => self.reported(reports, answer),
        }
    }

    /// The manifest decides how the worker talks to the server. Without one the plain protocol is always right; the
    /// manifest is read again later, because a server that was starting may answer then.
    fn learn(&mut self, answer: Result<Response, Error>) {
        let manifest = match &answer {
            Ok(response) if response.is_success() => Manifest::read(&response.body),
            Ok(_) | Err(_) => Manifest::default(),
        };
        let unclear = answer.as_ref().map_or(true, |response| response.status >= 500);
        self.probe_again = unclear.then(|| Instant::now() + self.probing.next());
        self.probe_is_out = false;
        if !unclear {
            self.foreign.learn(manifest, &self.shared.worker_id);
        }
        self.server = if manifest.exchange { Server::Exchange } else { Server::Plain };
        self.shared.shown.store(manifest.exchange, std::sync::atomic::Ordering::Relaxed);
        tracing::debug!(worker = %self.shared.worker_id, server = ?self.server, unclear, "manifest read");
    }

    fn exchanged(&mut self, reports: Vec<Report>, reserved: usize, sent: Instant, answer: Result<Response, Error>) {
        let response = match answer {
            Ok(response) if response.is_success() => response,
            Ok(response) => return self.exchange_refused(reports, reserved, &response),
            // The end of fetching has ended this long poll: not a fault.
            Err(Error::NotHeld) => return,
            Err(error) => return self.exchange_failed(reports, reserved, &error, None),
        };
        let handout = match wire::handout(&response.body) {
            Ok(handout) => handout,
            Err(error) => return self.exchange_failed(reports, reserved, &error, None),
        };
        let Handout { jobs, results, state, directive } = handout;
        let mut results = results.into_iter();
        for report in reports {
            match results.next() {
                Some(Ok(fate)) => {
                    self.reporting.backoff.reset();
                    self.apply(report, Next::Done(fate));
                }
                Some(Err(refusal)) => {
                    let next = report.next(refusal);
                    if matches!(next, Next::Again(_)) {
                        self.report_failed(None);
                    }
                    self.apply(report, next);
                }
                None => {
                    self.report_failed(None);
                    self.send_again(report, &Error::json("exchange answer", "it has fewer results than there were outcomes"));
                }
            }
        }
        if reserved > 0 {
            self.claiming.backoff.reset();
        }
        self.accept(jobs, sent);
        heartbeat::obey(&self.shared, state.as_deref(), directive.as_deref());
    }

    fn exchange_refused(&mut self, mut reports: Vec<Report>, reserved: usize, response: &Response) {
        match response.status {
            404 | 405 | 501 => {
                tracing::warn!(worker = %self.shared.worker_id, status = response.status, "the server no longer offers the exchange");
                self.server = Server::Plain;
                self.reporting.pending.extend(reports);
            }
            // One outcome makes the request invalid: each is sent by itself, and the answers show which.
            400 | 413 | 415 | 422 if !reports.is_empty() => {
                for report in &mut reports {
                    report.alone = true;
                }
                for report in reports {
                    self.queue(report);
                }
            }
            _ => self.exchange_failed(reports, reserved, &Error::from_response(response), response.retry_after),
        }
    }

    fn exchange_failed(&mut self, reports: Vec<Report>, reserved: usize, error: &Error, retry_after: Option<Duration>) {
        if reserved > 0 {
            self.claim_failed(error, retry_after);
        }
        if !reports.is_empty() {
            self.report_failed(retry_after);
            // Oldest first again.
            for report in reports.into_iter().rev() {
                self.send_again(report, error);
            }
        }
    }

    fn fetched(&mut self, sent: Instant, answer: Result<Response, Error>) {
        let (error, retry_after) = match answer {
            Ok(response) if response.is_success() => match wire::handout(&response.body) {
                Ok(handout) => {
                    self.claiming.backoff.reset();
                    // Jobs that are given back count as none: this server may hand them out again at once.
                    let empty = self.accept(handout.jobs, sent) == 0;
                    return self.pace(empty);
                }
                Err(error) => (error, None),
            },
            Ok(response) => (Error::from_response(&response), response.retry_after),
            Err(error) => (error, None),
        };
        self.claim_failed(&error, retry_after);
    }

    /// When to fetch again without long poll: at once after work, after growing pauses while there is none, and not all
    /// workers at the same time.
    fn pace(&mut self, empty: bool) {
        let options = &self.shared.options;
        let told = std::mem::take(&mut self.claiming.told);
        if empty && !told {
            let now = Instant::now();
            self.claiming.empty_at = Some(now);
            self.claiming.not_before = now + jittered(self.claiming.pause);
            self.claiming.pause = (self.claiming.pause * 2).min(options.poll_interval_max);
        } else {
            self.claiming.pause = options.poll_interval_min;
            self.claiming.empty_at = empty.then(Instant::now);
            if let Some(at) = self.claiming.empty_at {
                self.claiming.not_before = at + options.poll_interval_min;
            }
        }
    }

    /// A job was enqueued by this process: an idle worker looks at once. Jobs for other queues must not make it ask all
    /// the time, so the shortest pause stays. A pause after a fault stays as it is.
    pub(super) fn hurry(&mut self) {
        let shortest = self.shared.options.poll_interval_min;
        if self.claiming.requests > 0 {
            self.claiming.told = true;
        } else if let Some(at) = self.claiming.empty_at {
            self.claiming.pause = shortest;
            self.claiming.not_before = self.claiming.not_before.min(at + shortest);
        }
    }

    fn claim_failed(&mut self, error: &Error, retry_after: Option<Duration>) {
        let pause = self.claiming.backoff.next().max(retry_after.unwrap_or_default());
        self.claiming.not_before = Instant::now() + pause;
        self.claiming.empty_at = None;
        tracing::warn!(worker = %self.shared.worker_id, %error, ?pause, "fetch failed");
        self.shared.emit(WorkerEvent::FetchFailed(Arc::new(error.clone())));
    }

    /// Pauses reporting. Of requests that fail together only the first makes the pause longer.
    fn report_failed(&mut self, retry_after: Option<Duration>) {
        let now = Instant::now();
        if now < self.reporting.not_before && retry_after.is_none() {
            return;
        }
        let pause = self.reporting.backoff.next().max(retry_after.unwrap_or_default());
        self.reporting.not_before = now + pause;
    }

    fn reported(&mut self, reports: Vec<Report>, answer: Result<Response, Error>) {
        for report in reports {
            match &answer {
                Ok(response) if response.is_success() => {
                    self.reporting.backoff.reset();
                    let fate = if report.failed().is_some() { Fate::of_answer(&response.body) } else { Fate::default() };
                    self.apply(report, Next::Done(fate));
                }
                Ok(response) => match Error::from_response(response) {
                    Error::Ojs(refusal) => {
                        let next = report.next(*refusal);
                        if matches!(next, Next::Again(_)) {
                            self.report_failed(response.retry_after);
                        }
                        self.apply(report, next);
                    }
                    error => {
                        self.report_failed(response.retry_after);
                        self.send_again(report, &error);
                    }
                },
                Err(error) => {
                    self.report_failed(None);
                    self.send_again(report, error);
                }
            }
        }
    }

    fn apply(&mut self, mut report: Report, next: Next) {
        match next {
            Next::Done(fate) => {
                self.shared.held().remove(report.key);
                if let Some(failed) = report.failed() {
                    failed.log(&self.shared.worker_id, &fate);
                }
            }
            Next::Again(refusal) => self.send_again(report, &refusal.into()),
            Next::Instead(verdict, refusal) => {
                tracing::debug!(worker = %self.shared.worker_id, job_id = %report.job_id, error = %refusal, "the server refused a result");
                report.verdict = verdict;
                report.alone = false;
                self.queue(report);
            }
            Next::Lost(refusal) => self.give_up(&report, refusal),
        }
    }

    /// Keeps the outcome for another send, unless the lease has run out for certain.
    fn send_again(&mut self, mut report: Report, error: &Error) {
        report.note_unclear();
        let expired = self.shared.held().get(report.key).is_none_or(|entry| entry.lease_until <= Instant::now());
        if expired {
            return self.lose(&report, error.clone());
        }
        tracing::warn!(worker = %self.shared.worker_id, job_id = %report.job_id, %error, "outcome not delivered, trying again");
        self.shared.emit(WorkerEvent::OutcomeDelayed { job_id: report.job_id.to_string(), error: Arc::new(error.clone()) });
        self.requeue_first(report);
    }

    fn give_up(&mut self, report: &Report, refusal: OjsError) {
        self.lose(report, refusal.into());
    }

    pub(super) fn lose(&mut self, report: &Report, error: Error) {
        let entry = self.shared.held().remove(report.key);
        let expected = entry.is_some_and(|entry| entry.cancelled.is_some());
        if expected {
            tracing::info!(worker = %self.shared.worker_id, job_id = %report.job_id, %error, "outcome of a cancelled run dropped");
        } else if let Some(failed) = report.failed() {
            failed.log_lost(&self.shared.worker_id, &error);
        } else {
            tracing::warn!(worker = %self.shared.worker_id, job_id = %report.job_id, %error, "outcome lost");
        }
        self.shared.emit(WorkerEvent::OutcomeLost { job_id: report.job_id.to_string(), error: Arc::new(error) });
    }
}

/// Between half and all of a pause, so that many idle workers do not ask together.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(0.5 + rand::random::<f64>() / 2.0)
}

/// A long poll that a proxy or the like has ended because the connection was idle. It is sent again at once: the wait
/// has kept the rate low, and a server that is really away refuses the next connection.
fn was_cut(answer: &Result<Response, Error>, waited: Duration) -> bool {
    let lost = match answer {
        Ok(response) => matches!(response.status, 408 | 502 | 504),
        Err(Error::Transport(error)) => matches!(error.kind(), TransportErrorKind::Interrupted | TransportErrorKind::Timeout),
        Err(_) => false,
    };
    lost && waited >= WAS_WAITING
}
