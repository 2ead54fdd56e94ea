//! How a program follows the log of events: what it asks next, and how long it pauses before. Every language does so by
//! these rules; the programs make the requests.
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::events::EventFilter;
use super::path::query;
use crate::backoff::pause;
use crate::error::Error;
use crate::transport::TransportErrorKind;

/// How long a request waits at the server for events: below the time-outs of common proxies.
const WAIT: Duration = Duration::from_secs(20);
/// Pause between two requests to a server that does not wait for events.
const PAUSE: Duration = Duration::from_millis(500);
/// Pause after the first fault; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause after a fault.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Events per request.
const PAGE: usize = 500;

/// The place of a reader in the log of events. It makes no requests itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follower {
    filter: EventFilter,
    cursor: String,
    /// A first answer has come: later faults are retried.
    begun: bool,
    /// Faults since the last answer.
    faults: u32,
}

/// A request without events for an answer, in the words that all languages have for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fault {
    /// The error is a connection error: no OJS server has answered.
    pub connection: bool,
    /// The HTTP status of the answer; 0 without one.
    pub status: u16,
    /// The code of the error.
    pub code: String,
    /// Whether the error says of itself that the same call may succeed later.
    pub retryable: bool,
}

impl Follower {
    /// A reader that has asked nothing yet.
    #[must_use]
    pub fn new(filter: EventFilter) -> Self {
        let cursor = filter.after.clone().unwrap_or_else(|| "latest".to_owned());
        Self { filter, cursor, begun: false, faults: 0 }
    }

    /// How long the server may hold back its next answer. The first answer says where the log ends, at once.
    #[must_use]
    pub fn wait(&self) -> Duration {
        if self.begun { WAIT } else { Duration::ZERO }
    }

    /// The path of the next request.
    #[must_use]
    pub fn path(&self) -> String {
        let list = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
        let EventFilter { types, queues, job_types, .. } = &self.filter;
        let (types, queues, job_types) = (list(types), list(queues), list(job_types));
        let (limit, wait_ms) = (PAGE.to_string(), self.wait().as_millis().to_string());
        let query = query(&[
            ("after", Some(self.cursor.as_str()).filter(|cursor| !cursor.is_empty())),
            ("types", types.as_deref()),
            ("queues", queues.as_deref()),
            ("job_types", job_types.as_deref()),
            ("limit", Some(&limit)),
            ("wait_ms", Some(&wait_ms)),
        ]);
        format!("/events{query}")
    }

    /// An answer with so many events came after so long. Returns the pause before the next request.
    pub fn answered(&mut self, events: usize, cursor: String, took: Duration) -> Duration {
        let does_not_wait = self.begun && events == 0 && took < WAIT / 2;
        (self.cursor, self.begun, self.faults) = (cursor, true, 0);
        if does_not_wait { PAUSE } else { Duration::ZERO }
    }

    /// A request failed. Returns the pause before it is sent again; `None` when the error ends the reader.
    pub fn failed(&mut self, fault: &Fault) -> Option<Duration> {
        if !self.begun || !fault.is_passing() {
            return None;
        }
        let pause = pause(FIRST_PAUSE, LONGEST_PAUSE, self.faults);
        self.faults = self.faults.saturating_add(1);
        Some(pause)
    }
}

impl Fault {
    /// Whether the same request may succeed later.
    fn is_passing(&self) -> bool {
        match self.status {
            // The SDK knows faults that last, such as an answer that is too long. A transport of the program's own says
            // only that there was no answer.
            0 => self.connection && (self.retryable || self.code != "connection_error"),
            408 | 429 | 500.. => true,
            _ => false,
        }
    }
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        let connection = match error {
            Error::Transport(fault) => {
                !matches!(fault.kind(), TransportErrorKind::Closed | TransportErrorKind::Forked | TransportErrorKind::Config)
            }
            _ => false,
        };
        let status = error.status().unwrap_or_default();
        Self { connection, status, code: error.code().to_owned(), retryable: error.is_retryable() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::TransportError;

    fn begun() -> Follower {
        let mut follower = Follower::new(EventFilter::default());
        assert_eq!(follower.answered(0, "1".into(), Duration::ZERO), Duration::ZERO, "the first answer is never waited for");
        follower
    }

    #[test]
    fn the_first_request_reads_the_end_of_the_log_and_later_ones_wait() {
        let mut follower = Follower::new(EventFilter { types: vec!["job.*".into(), "a".into()], ..EventFilter::default() });
        assert_eq!(follower.path(), "/events?after=latest&types=job.%2A%2Ca&limit=500&wait_ms=0");
        follower.answered(3, "evt_3".into(), Duration::ZERO);
        assert_eq!(follower.path(), "/events?after=evt_3&types=job.%2A%2Ca&limit=500&wait_ms=20000");
        let oldest = Follower::new(EventFilter { after: Some(String::new()), ..EventFilter::default() });
        assert_eq!(oldest.path(), "/events?limit=500&wait_ms=0");
    }

    #[test]
    fn only_an_empty_answer_at_once_is_followed_by_a_pause() {
        let mut follower = begun();
        assert_eq!(follower.answered(0, "1".into(), Duration::from_secs(1)), PAUSE);
        assert_eq!(follower.answered(0, "1".into(), Duration::from_secs(19)), Duration::ZERO);
        assert_eq!(follower.answered(2, "3".into(), Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_begin_anew_after_an_answer() {
        let lost = Fault { connection: true, ..Fault::default() };
        assert_eq!(Follower::new(EventFilter::default()).failed(&lost), None, "the first request is not sent again");
        let mut follower = begun();
        for millis in [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000] {
            let (pause, step) = (follower.failed(&lost).unwrap(), Duration::from_millis(millis));
            assert!((step / 2..=step).contains(&pause), "{pause:?} of {step:?}");
        }
        follower.answered(0, "1".into(), WAIT);
        assert!(follower.failed(&lost).unwrap() <= FIRST_PAUSE);
    }

    #[test]
    fn faults_that_last_end_a_reader() {
        let refused = |status| Fault { status, ..Fault::default() };
        let of = |kind| Fault::from(&Error::from(TransportError::new(kind, "m")));
        for fault in [refused(408), refused(429), refused(503), of(TransportErrorKind::Connect), of(TransportErrorKind::Timeout)]
        {
            assert!(begun().failed(&fault).is_some(), "{fault:?}");
        }
        for fault in [
            refused(400),
            refused(401),
            refused(0),
            of(TransportErrorKind::NotOjs { status: 404 }),
            of(TransportErrorKind::TooLarge),
            of(TransportErrorKind::Open),
            of(TransportErrorKind::Closed),
        ] {
            assert!(begun().failed(&fault).is_none(), "{fault:?}");
        }
    }
}
