//! Sending again what can be sent again without harm.
use std::future::Future;
use std::time::Duration;

use super::{Response, TransportError, TransportErrorKind};
use crate::backoff::Backoff;

/// How often, and after which pauses, a request is sent again.
///
/// | what happened | sent again |
/// |---|---|
/// | no connection | always: the server has not seen it |
/// | 429 | always, after `Retry-After` |
/// | time-out, broken connection, 408, 500, 502, 503, 504 | only a request that does no harm twice ([`Request::resend`](super::Request::resend)) |
/// | any other answer | never |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResendPolicy {
    /// Sends in all; 1 turns resending off.
    pub max_sends: u32,
    /// Pause before the second send; doubles from there, with jitter.
    pub initial_pause: Duration,
    /// Longest pause. A `Retry-After` beyond it is not waited for: the answer goes to the caller.
    pub max_pause: Duration,
}

impl ResendPolicy {
    /// Every request is sent once.
    #[must_use]
    pub fn never() -> Self {
        Self { max_sends: 1, ..Self::default() }
    }

    /// Sends until there is an answer worth returning. `resend` as in [`Request::resend`](super::Request::resend).
    pub(super) async fn run<F, Fut>(&self, resend: bool, send: F) -> Result<Response, TransportError>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<Response, TransportError>>,
    {
        let mut backoff = Backoff::new(self.initial_pause, self.max_pause);
        let mut sends = 0;
        loop {
            sends += 1;
            let mut result = send().await;
            if let Ok(response) = &mut result {
                response.sends = sends;
            }
            if sends >= self.max_sends || !helps(&result, resend) {
                return result;
            }
            let asked = result.as_ref().ok().and_then(|response| response.retry_after).unwrap_or_default();
            if asked > self.max_pause {
                return result;
            }
            let pause = backoff.next().max(asked);
            tracing::debug!(sends, ?pause, "sending a request again");
            tokio::time::sleep(pause).await;
        }
    }
}

impl Default for ResendPolicy {
    /// Up to five times, from 100 ms (protocol section 4.7).
    fn default() -> Self {
        Self { max_sends: 5, initial_pause: Duration::from_millis(100), max_pause: Duration::from_secs(5) }
    }
}

fn helps(result: &Result<Response, TransportError>, resend: bool) -> bool {
    match result {
        Ok(response) => response.status == 429 || resend && matches!(response.status, 408 | 500 | 502 | 503 | 504),
        Err(error) => match error.kind() {
            TransportErrorKind::Connect => true,
            TransportErrorKind::Timeout | TransportErrorKind::Interrupted => resend,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn fault(kind: TransportErrorKind) -> Result<Response, TransportError> {
        Err(TransportError::new(kind, "fault"))
    }

    /// Plays the answers in order; returns the last one and how many were used.
    async fn play(resend: bool, answers: Vec<Result<Response, TransportError>>) -> (Result<Response, TransportError>, usize) {
        let left = RefCell::new(answers);
        let total = left.borrow().len();
        let result = ResendPolicy::default()
            .run(resend, || {
                let next = left.borrow_mut().remove(0);
                async move { next }
            })
            .await;
        let used = total - left.borrow().len();
        (result, used)
    }

    #[tokio::test(start_paused = true)]
    async fn only_harmless_requests_are_sent_again_after_unclear_faults() {
        let ok = || Ok(Response::new(200, "{}"));
        for (kind, resend, sends) in [
            (TransportErrorKind::Connect, false, 2),
            (TransportErrorKind::Timeout, false, 1),
            (TransportErrorKind::Timeout, true, 2),
            (TransportErrorKind::Interrupted, true, 2),
            (TransportErrorKind::Config, true, 1),
        ] {
            assert_eq!(play(resend, vec![fault(kind), ok()]).await.1, sends, "{kind:?} {resend}");
        }
        for (status, resend, sends) in [(429, false, 2), (503, false, 1), (503, true, 2), (409, true, 1), (404, true, 1)] {
            assert_eq!(play(resend, vec![Ok(Response::new(status, "")), ok()]).await.1, sends, "{status} {resend}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retry_after_is_honoured_up_to_the_longest_pause() {
        let busy = |seconds| Ok(Response { retry_after: Some(Duration::from_secs(seconds)), ..Response::new(429, "") });
        let before = tokio::time::Instant::now();
        let (answer, _) = play(false, vec![busy(3), Ok(Response::new(200, ""))]).await;
        assert_eq!(answer.unwrap().sends, 2);
        assert!(before.elapsed() >= Duration::from_secs(3));
        let (answer, used) = play(false, vec![busy(60), Ok(Response::new(200, ""))]).await;
        assert_eq!((answer.unwrap().status, used), (429, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_after_the_last_send() {
        let (answer, used) = play(true, (0..9).map(|_| fault(TransportErrorKind::Timeout)).collect()).await;
        assert_eq!((answer.unwrap_err().kind(), used), (TransportErrorKind::Timeout, 5));
    }
}
