//! What an attempt means for its delivery: done, again later, or given up (extensions section 18).
use std::time::Duration;

use crate::outgoing::{Answer, Fault};

/// Pauses after failed attempts, in seconds: eight attempts within 41 hours.
const PAUSES: [u64; 7] = [30, 120, 600, 3_600, 14_400, 43_200, 86_400];
/// The shortest and the longest pause that an endpoint may ask for.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(86_400);
/// Bytes of an answer that are kept with a delivery.
const KEPT_ANSWER: usize = 1_024;

/// What becomes of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The endpoint has taken it.
    Delivered,
    /// It is sent again; the endpoint may have asked for a pause.
    Failed(Option<Duration>),
    /// Sending it again would change nothing.
    Refused,
}

/// An attempt that has ended.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    /// What becomes of the delivery.
    pub(crate) verdict: Verdict,
    /// The status of the answer; 0 without one.
    pub(crate) status: u16,
    /// Why it failed, in words.
    pub(crate) error: String,
    /// The beginning of the answer.
    pub(crate) answer: String,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Report {
    /// Judges what came of a request.
    pub(crate) fn of(outcome: Result<Answer, Fault>, took: Duration) -> Self {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => {
                let verdict = match fault {
                    Fault::Refused(_) | Fault::Redirect(_) => Verdict::Refused,
                    Fault::Timeout(_) | Fault::Connection(_) | Fault::Unreachable(_) | Fault::Unsigned(_) => {
                        Verdict::Failed(None)
                    }
                };
                return Self { verdict, status: 0, error: fault.to_string(), answer: String::new(), took };
            }
        };
        let verdict = match answer.status {
            200..=299 => Verdict::Delivered,
            429 => Verdict::Failed(answer.retry_after),
            500.. => Verdict::Failed(answer.retry_after),
            _ => Verdict::Refused,
        };
        let error =
            if verdict == Verdict::Delivered { String::new() } else { format!("the endpoint answered {}", answer.status) };
        Self { verdict, status: answer.status, error, answer: beginning(&answer.body), took }
    }
}

/// The pause after so many failed attempts; `None` when it was the last one.
pub(crate) fn pause(failures: i64, asked: Option<Duration>) -> Option<Duration> {
    let place = usize::try_from(failures.saturating_sub(1)).unwrap_or(0);
    let own = PAUSES.get(place).copied().map(Duration::from_secs)?;
    Some(asked.map_or(own, |asked| asked.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)))
}

/// The beginning of a text, without the character that no store can keep.
fn beginning(text: &str) -> String {
    let mut end = text.len().min(KEPT_ANSWER);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: u16) -> Verdict {
        let answer =
            Answer { status, retry_after: Some(Duration::from_secs(7)), body: String::new(), is_whole: true, is_late: false };
        Report::of(Ok(answer), Duration::ZERO).verdict
    }

    #[test]
    fn answers_are_judged_by_their_status() {
        let asked = Verdict::Failed(Some(Duration::from_secs(7)));
        assert_eq!([200, 204, 299].map(verdict), [Verdict::Delivered; 3]);
        assert_eq!([429, 500, 503, 599].map(verdict), [asked; 4]);
        assert_eq!([300, 303, 304, 400, 404, 410].map(verdict), [Verdict::Refused; 6]);
    }

    #[test]
    fn eight_attempts_fill_41_hours() {
        let pauses: Vec<u64> = (1..).map_while(|failures| pause(failures, None)).map(|pause| pause.as_secs()).collect();
        assert_eq!(pauses.len() + 1, 8);
        assert_eq!(pauses.iter().sum::<u64>() / 3600, 41);
        assert_eq!(pause(1, Some(Duration::from_secs(5))), Some(Duration::from_secs(5)));
        assert_eq!(pause(1, Some(Duration::ZERO)), Some(SHORTEST_PAUSE));
        assert_eq!(pause(1, Some(Duration::MAX)), Some(LONGEST_PAUSE), "no endpoint stops a delivery for ever");
        assert_eq!(pause(8, Some(Duration::from_secs(5))), None);
    }

    #[test]
    fn the_kept_answer_ends_at_a_character() {
        let text = "é".repeat(KEPT_ANSWER);
        assert_eq!(beginning(&text).len(), KEPT_ANSWER);
        assert_eq!(beginning(&format!("a{text}")).len(), KEPT_ANSWER - 1);
        assert_eq!(beginning("a\0b"), "a\u{fffd}b");
    }
}
