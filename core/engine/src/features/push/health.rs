//! Whether an endpoint is sent jobs: what its answers say about it, and the breaker.
//!
//! After five failures in a row it is sent nothing for a minute: its jobs stay available, and workers that fetch them
//! get them. Then one delivery shows whether it works again.
use std::time::Duration;

use super::records::EndpointRow;

/// Failures in a row after which an endpoint is sent nothing.
pub(crate) const MOST_FAILURES: i64 = 5;
/// Milliseconds until the next try.
pub(crate) const COOLDOWN_MS: i64 = 60_000;
/// The shortest and the longest pause that an endpoint may ask for.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// Bytes of a reason that are kept.
const KEPT_REASON: usize = 500;

/// What a delivery shows about the health of its endpoint. The outcome of the job does not matter here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A function answered.
    Answered,
    /// No function answered: a fault of the network or of the platform.
    Failed,
    /// The address or the key is wrong; the next delivery would be refused, too.
    Refused,
    /// It is busy, and wants a pause.
    Busy(Option<Duration>),
}

/// What is kept of a delivery that failed.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// What it says about the endpoint.
    pub(crate) sign: Sign,
    /// The status of the answer; 0 without one.
    pub(crate) status: u16,
    /// Why it failed; empty for a success.
    pub(crate) reason: String,
}

/// How much an endpoint may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// As much as it has room for.
    Free,
    /// One job, which shows whether it works again.
    Probe,
    /// Nothing until then.
    Closed(i64),
}

/// What changed with an answer, for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is sent nothing from now on, because of failures.
    Opened,
    /// It works again.
    Closed,
    /// It is sent nothing until a client enables it.
    Disabled,
}

impl EndpointRow {
    /// How much it may be sent at a time.
    pub(crate) fn room(&self, now: i64) -> Room {
        if !self.active || self.disabled_at > 0 {
            return Room::Closed(i64::MAX);
        }
        if self.resume_at > now {
            return Room::Closed(self.resume_at);
        }
        if self.opened_at == 0 {
            return Room::Free;
        }
        let until = self.opened_at.saturating_add(COOLDOWN_MS).max(self.probe_until);
        if until > now { Room::Closed(until) } else { Room::Probe }
    }

    /// Notes what a delivery says about it.
    pub(crate) fn note(&mut self, note: &Note, now: i64) -> Option<Change> {
        if note.sign == Sign::Answered {
            let was_open = self.opened_at > 0;
            (self.failures, self.opened_at, self.probe_until, self.resume_at) = (0, 0, 0, 0);
            return was_open.then_some(Change::Closed);
        }
        (self.failed_at, self.status) = (now, i64::from(note.status));
        self.reason = note.reason.chars().filter(|c| *c != '\0').take(KEPT_REASON).collect();
        match &note.sign {
            Sign::Answered => None,
            Sign::Busy(asked) => {
                let pause = asked.unwrap_or(PAUSES.0).clamp(PAUSES.0, PAUSES.1);
                self.resume_at = now.saturating_add(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
                None
            }
            Sign::Refused => {
                let is_new = self.disabled_at == 0;
                self.disabled_at = now;
                is_new.then_some(Change::Disabled)
            }
            Sign::Failed => {
                self.failures = self.failures.saturating_add(1);
                if self.opened_at > 0 && self.probe_until > 0 {
                    // The probe has failed. Deliveries that were under way when the breaker opened prolong nothing.
                    (self.opened_at, self.probe_until) = (now, 0);
                    return None;
                }
                let opens = self.opened_at == 0 && self.failures >= MOST_FAILURES;
                if opens {
                    self.opened_at = now;
                }
                opens.then_some(Change::Opened)
            }
        }
    }

    /// Forgets what its answers have said: a client has changed it.
    pub(crate) fn trust_again(&mut self) {
        (self.failures, self.opened_at, self.probe_until) = (0, 0, 0);
        (self.resume_at, self.disabled_at) = (0, 0);
    }

    /// Its state as a word, for people.
    pub(crate) fn standing(&self, now: i64) -> &'static str {
        match self.room(now) {
            _ if !self.active => "paused",
            _ if self.disabled_at > 0 => "disabled",
            Room::Free if self.failures > 0 => "failing",
            Room::Free => "active",
            Room::Probe => "probing",
            Room::Closed(_) if self.probe_until > now => "probing",
            Room::Closed(_) if self.opened_at > 0 => "open",
            Room::Closed(_) => "waiting",
        }
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::Timestamp;

    use super::*;
    use crate::features::push::register::blank;
    use crate::outgoing::Secret;

    fn row() -> EndpointRow {
        blank(Secret::default(), Timestamp::from_millis(1))
    }

    fn failed() -> Note {
        Note { sign: Sign::Failed, status: 503, reason: "the endpoint answered 503".to_owned() }
    }

    fn answered() -> Note {
        Note { sign: Sign::Answered, status: 200, reason: String::new() }
    }

    #[test]
    fn five_failures_in_a_row_open_the_breaker_for_a_minute() {
        let mut row = row();
        for _ in 0..4 {
            assert_eq!(row.note(&failed(), 10), None);
        }
        assert_eq!((row.note(&answered(), 11), row.failures), (None, 0), "not in a row");
        let changes: Vec<_> = (0..6).map(|_| row.note(&failed(), 100)).collect();
        assert_eq!(changes.iter().filter(|change| **change == Some(Change::Opened)).count(), 1);
        assert_eq!((changes[4], row.room(100)), (Some(Change::Opened), Room::Closed(60_100)));
        assert_eq!((row.room(60_099), row.room(60_100)), (Room::Closed(60_100), Room::Probe));
    }

    #[test]
    fn one_probe_at_a_time_decides() {
        let mut row = row();
        for _ in 0..5 {
            row.note(&failed(), 1);
        }
        row.opened_at = 1;
        row.probe_until = 70_000;
        assert_eq!(row.room(60_001), Room::Closed(70_000), "the probe is under way");
        assert_eq!(row.room(70_000), Room::Probe, "the node with the probe has ended");
        assert_eq!((row.note(&failed(), 65_000), row.room(65_001)), (None, Room::Closed(125_000)));
        row.probe_until = 130_000;
        assert_eq!((row.note(&answered(), 126_000), row.room(126_000)), (Some(Change::Closed), Room::Free));
    }

    #[test]
    fn a_wrong_address_disables_and_a_busy_endpoint_gets_its_pause() {
        let mut row = row();
        let busy = |seconds| Note { sign: Sign::Busy(Some(Duration::from_secs(seconds))), ..failed() };
        assert_eq!((row.note(&busy(5), 0), row.room(0)), (None, Room::Closed(5_000)));
        assert_eq!((row.note(&busy(9_999), 0), row.room(0)), (None, Room::Closed(60_000)), "a minute at most");
        let refused = Note { sign: Sign::Refused, ..failed() };
        assert_eq!((row.note(&refused, 5), row.note(&refused, 6)), (Some(Change::Disabled), None));
        assert_eq!((row.room(i64::MAX - 1), row.standing(0)), (Room::Closed(i64::MAX), "disabled"));
        row.trust_again();
        assert_eq!((row.room(0), row.standing(0)), (Room::Free, "active"));
    }
}
