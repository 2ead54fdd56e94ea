//! The answers to recent deliveries: one that arrives twice gets its first answer, and runs once.
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;

use super::answer::Answer;

/// Deliveries that are remembered at most.
const MOST: usize = 4_096;
/// Bytes of all answers that are remembered.
const BYTES: usize = 8 << 20;

type Cell = Arc<OnceCell<Answer>>;

/// What is remembered, bounded in number, size and time.
#[derive(Debug)]
pub(super) struct Replays {
    /// How long a signature counts, in seconds.
    keep: u64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    cells: HashMap<String, Cell>,
    /// The oldest first, with the time of its arrival.
    order: VecDeque<(String, i64)>,
    bytes: usize,
}

impl Replays {
    pub(super) fn new(keep: Duration) -> Self {
        Self { keep: keep.as_secs(), known: Mutex::default() }
    }

    /// The answer to a delivery: what `run` answers, the first time. `now` is in seconds since the epoch.
    pub(super) async fn once(&self, key: &str, now: i64, run: impl Future<Output = Answer>) -> Answer {
        let cell = self.cell(key, now);
        let mut ran = false;
        let answer = cell
            .get_or_init(async || {
                ran = true;
                run.await
            })
            .await
            .clone();
        if ran {
            let mut known = self.known();
            // It may have been forgotten while it ran, and the delivery have come again.
            if known.cells.get(key).is_some_and(|kept| Arc::ptr_eq(kept, &cell)) {
                known.bytes = known.bytes.saturating_add(answer.body.len());
            }
        }
        answer
    }

    fn cell(&self, key: &str, now: i64) -> Cell {
        let mut known = self.known();
        if let Some(cell) = known.cells.get(key) {
            return Arc::clone(cell);
        }
        while let Some((first, at)) = known.order.front() {
            let is_old = now.saturating_sub(*at) > i64::try_from(self.keep).unwrap_or(i64::MAX);
            if !is_old && known.order.len() < MOST && known.bytes <= BYTES {
                break;
            }
            let first = first.clone();
            known.order.pop_front();
            let gone = known.cells.remove(&first).and_then(|cell| cell.get().map(|answer| answer.body.len()));
            known.bytes = known.bytes.saturating_sub(gone.unwrap_or(0));
        }
        let cell = Cell::default();
        known.cells.insert(key.to_owned(), Arc::clone(&cell));
        known.order.push_back((key.to_owned(), now));
        cell
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Each part is whole after every statement; a wrong count of bytes forgets an answer too early at worst.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_delivery_runs_once_as_long_as_it_is_remembered() {
        let replays = Replays::new(Duration::from_secs(600));
        let runs = AtomicUsize::new(0);
        let run = async || Answer::ok(runs.fetch_add(1, Ordering::SeqCst).to_string());
        let (first, second) = tokio::join!(replays.once("a", 0, run()), replays.once("a", 1, run()));
        assert_eq!((first.body, second.body), ("0".to_owned(), "0".to_owned()));
        assert_eq!(replays.once("b", 0, run()).await.body, "1");
        // A new delivery makes room: the old ones have no valid signature any more.
        assert_eq!(replays.once("c", 601, run()).await.body, "2");
        assert_eq!(replays.once("a", 601, run()).await.body, "3");
    }

    #[tokio::test]
    async fn an_answer_that_was_forgotten_while_its_delivery_ran_takes_no_room() {
        let replays = Replays::new(Duration::from_secs(600));
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let mut slow = std::pin::pin!(replays.once("a", 0, async {
            ended.await.unwrap();
            Answer::ok("x".repeat(100))
        }));
        assert!(tokio::time::timeout(Duration::ZERO, &mut slow).await.is_err(), "it runs");
        replays.once("b", 601, async { Answer::ok(String::new()) }).await;
        replays.once("a", 601, async { Answer::ok("y".to_owned()) }).await;
        end.send(()).unwrap();
        slow.await;
        assert_eq!(replays.known().bytes, 1);
    }

    #[tokio::test]
    async fn the_number_and_the_bytes_of_answers_are_bounded() {
        let replays = Replays::new(Duration::from_secs(600));
        for delivery in 0..MOST + 10 {
            replays.once(&delivery.to_string(), 0, async { Answer::ok(String::new()) }).await;
        }
        assert_eq!(replays.known().cells.len(), MOST);
        for delivery in 0..20 {
            replays.once(&format!("large {delivery}"), 0, async { Answer::ok("x".repeat(1 << 20)) }).await;
        }
        assert!(replays.known().bytes <= BYTES + (1 << 20), "{}", replays.known().bytes);
    }
}
