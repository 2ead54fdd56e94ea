//! Reports of progress on their way to the server: of each run the latest, a few a second at most (extensions
//! section 20).
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use ojs_model::json::{push_bare, push_member, push_text};

use super::durable::Durable;
use super::shared::Shared;
use crate::dispatch::DeliveryKey;
use crate::error::Error;
use crate::json::Json;

/// The least time between two reports of one run.
const PAUSE: Duration = Duration::from_millis(250);

/// How far a run has come. Members that are left out stay as they were reported before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// From 0 to 1. The server ignores a fraction that is lower than an earlier one of the run.
    pub fraction: Option<f64>,
    /// For people, at most 1,024 bytes.
    pub message: Option<String>,
    /// JSON of the application, at most 4,096 bytes.
    pub data: Option<Json>,
}

impl Progress {
    /// Takes in a later report.
    fn merge(&mut self, later: Self) {
        self.fraction = later.fraction.or(self.fraction);
        self.message = later.message.or(self.message.take());
        self.data = later.data.or(self.data.take());
    }

    fn body(&self) -> String {
        let mut body = String::from("{");
        if let Some(fraction) = self.fraction {
            push_bare(&mut body, "progress", fraction);
        }
        if let Some(message) = &self.message {
            push_text(&mut body, "message", message);
        }
        if let Some(data) = &self.data {
            push_member(&mut body, "data", data.as_str());
        }
        body
    }
}

/// Reports of one run that wait.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    waiting: Option<Progress>,
    is_sending: bool,
}

impl Shared {
    /// Takes in a report and returns at once. Reports that cannot be sent are dropped: the job does not depend on them.
    pub fn report(self: &Arc<Self>, key: DeliveryKey, progress: Progress) {
        // JSON has no other numbers.
        let Ok((_, durable)) = self.durable(key) else { return };
        if progress.fraction.is_some_and(|fraction| !fraction.is_finite()) {
            return;
        }
        let mut reports = lock(&durable);
        match &mut reports.waiting {
            Some(waiting) => waiting.merge(progress),
            None => reports.waiting = Some(progress),
        }
        if std::mem::replace(&mut reports.is_sending, true) {
            return;
        }
        drop(reports);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            lock(&durable).is_sending = false;
            return;
        };
        let shared = Arc::clone(self);
        runtime.spawn(async move {
            while let Some(progress) = next(&durable) {
                if let Err(error) = shared.send_report(key, &progress).await {
                    tracing::debug!(worker = %shared.worker_id, %error, "a report of progress was not taken");
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }

    async fn send_report(&self, key: DeliveryKey, progress: &Progress) -> Result<(), Error> {
        let (entry, _) = self.durable(key)?;
        self.put(key, &entry, "progress", progress.body()).await.map(drop)
    }
}

/// The report to send now; `None` ends the task that sends.
fn next(durable: &Durable) -> Option<Progress> {
    let mut reports = lock(durable);
    let next = reports.waiting.take();
    reports.is_sending = next.is_some();
    next
}

fn lock(durable: &Durable) -> MutexGuard<'_, Reports> {
    durable.reports.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_of_each_member_is_sent() {
        let mut progress = Progress { fraction: Some(0.25), message: Some("a".into()), data: None };
        progress.merge(Progress { fraction: Some(0.5), ..Progress::default() });
        progress.merge(Progress { data: Some(Json::empty_object()), ..Progress::default() });
        assert_eq!(progress.body(), r#"{"progress":0.5,"message":"a","data":{}"#, "closed where the lease is added");
    }
}
