//! Wakes the requests that wait for the end of a job.
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ojs_model::JobId;
use tokio::sync::watch;

/// Jobs whose end is waited for by requests.
#[derive(Debug, Default)]
pub struct Endings {
    jobs: Mutex<HashMap<JobId, watch::Sender<()>>>,
    waiting: AtomicUsize,
}

/// One waiting request; dropping it removes it from the list.
#[derive(Debug)]
pub struct Ending {
    endings: Arc<Endings>,
    job: JobId,
    told: watch::Receiver<()>,
}

impl Endings {
    /// Registers a request that waits for the end of a job.
    #[must_use]
    pub fn watch(self: &Arc<Self>, job: JobId) -> Ending {
        let told = self.lock().entry(job).or_insert_with(|| watch::Sender::new(())).subscribe();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Ending { endings: Arc::clone(self), job, told }
    }

    /// Wakes the requests that wait for these jobs.
    pub fn notify(&self, jobs: &[JobId]) {
        if jobs.is_empty() || !self.is_watched() {
            return;
        }
        let map = self.lock();
        for told in jobs.iter().filter_map(|job| map.get(job)) {
            told.send_replace(());
        }
    }

    /// Wakes all of them: any job may have ended.
    pub fn notify_all(&self) {
        for told in self.lock().values() {
            told.send_replace(());
        }
    }

    /// Whether any request waits.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, watch::Sender<()>>> {
        // The map is valid after every statement: a panic elsewhere cannot have left it half changed.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ending {
    /// Resolves when the job should be read again.
    pub async fn told(&mut self) {
        // The map keeps the sender as long as this request exists.
        if self.told.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut map = self.endings.lock();
        // This receiver is still counted.
        if map.get(&self.job).is_some_and(|told| told.receiver_count() <= 1) {
            map.remove(&self.job);
        }
        drop(map);
        self.endings.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn all_who_wait_for_a_job_are_told_and_forgotten() {
        let endings = Arc::new(Endings::default());
        let (one, two) = (JobId::now_v7(), JobId::now_v7());
        let (mut first, mut second, mut other) = (endings.watch(one), endings.watch(one), endings.watch(two));
        endings.notify(&[one]);
        first.told().await;
        second.told().await;
        assert!(other.told().now_or_never().is_none());
        endings.notify_all();
        other.told().await;
        drop((first, second));
        assert_eq!(endings.lock().len(), 1);
        drop(other);
        assert!(!endings.is_watched() && endings.lock().is_empty());
    }
}
