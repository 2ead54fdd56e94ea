//! Jobs whose type has no handler in this worker: which types these are, and how long a job waits after it was given
//! back.
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

use super::options::{UnknownTypes, WorkerOptions};
use super::versions::NoPath;
use super::wire::Manifest;

/// First wait of the jobs of a type after they were given back.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(30);
/// Most types whose waits are remembered; when there are more, all waits begin anew.
const MOST_TYPES: usize = 1024;
/// Most types that one request may name, a limit of the server.
const MOST_ASKED: usize = 256;

/// How long jobs of one type wait, and until when that holds.
#[derive(Debug)]
struct Wait {
    length: Duration,
    until: Instant,
}

/// What the worker knows of types.
#[derive(Debug)]
pub(super) struct Foreign {
    /// Those that have a handler; `None` when one handler runs every type.
    own: Option<HashSet<String>>,
    release: bool,
    only_own: bool,
    /// The member `job_types` of requests for jobs, as JSON, once the server is known to read it.
    asked: Option<String>,
    warned: bool,
    waits: HashMap<String, Wait>,
}

impl Foreign {
    pub fn new(own: Option<Vec<String>>, options: &WorkerOptions) -> Self {
        Self {
            own: own.map(HashSet::from_iter),
            // A worker of a shared queue must not fail jobs of other workers where the server cannot select by type.
            release: options.unknown_types == UnknownTypes::Release || options.only_registered_types,
            only_own: options.only_registered_types,
            asked: None,
            warned: false,
            waits: HashMap::new(),
        }
    }

    /// The server has said what it offers.
    pub fn learn(&mut self, manifest: Manifest, worker_id: &str) {
        let Some(own) = self.own.as_ref().filter(|_| self.only_own) else { return };
        let reason = if !manifest.fetch_types {
            "the server cannot select jobs by type: its manifest does not name 'fetch_types'"
        } else if own.len() > MOST_ASKED {
            "the worker has handlers for more than 256 types, which is the most that a request may name"
        } else {
            let mut names: Vec<&String> = own.iter().collect();
            names.sort_unstable();
            self.asked = Some(serde_json::json!(names).to_string());
            return;
        };
        self.asked = None;
        if !std::mem::replace(&mut self.warned, true) {
            tracing::warn!(
                worker = worker_id,
                reason,
                "only_registered_types has no effect on what the worker fetches; jobs of other types are given back to their queues"
            );
        }
    }

    /// What requests for jobs say of types.
    pub fn asked(&self) -> Option<&str> {
        self.asked.as_deref()
    }

    /// How long a job of this type waits when it is given back unrun; `None` when the job goes to the handlers.
    pub fn turned_away(&mut self, job_type: &str, worker_id: &str, now: Instant) -> Option<Duration> {
        if !self.release || self.own.as_ref().is_none_or(|own| own.contains(job_type)) {
            return None;
        }
        Some(self.wait(job_type, now, || {
            tracing::warn!(
                worker = worker_id,
                "type" = job_type,
                "no handler is registered for this job type; its jobs are given back to their queue (unknown_types = release)"
            );
        }))
    }

    /// The same for a job whose version no handler runs; `None` when the job fails.
    pub fn unsupported(&mut self, job_type: &str, missing: &NoPath, worker_id: &str, now: Instant) -> Option<Duration> {
        if !self.release {
            return None;
        }
        let version = &missing.version;
        Some(self.wait(&format!("{job_type}@{version}"), now, || {
            tracing::warn!(
                worker = worker_id,
                "type" = job_type,
                version,
                "{missing} Its jobs are given back (unknown_types = release)"
            );
        }))
    }

    /// How long a kind of jobs waits now; `warn` is called for the first one.
    fn wait(&mut self, kind: &str, now: Instant, warn: impl FnOnce()) -> Duration {
        if let Some(wait) = self.waits.get_mut(kind) {
            if now >= wait.until {
                // Seen again soon after the last wait: longer. After a long silence the waits begin anew.
                let again = now < wait.until + wait.length;
                wait.length = if again { (wait.length * 2).min(LONGEST) } else { FIRST };
                wait.until = now + wait.length;
            }
            return wait.length;
        }
        warn();
        if self.waits.len() >= MOST_TYPES {
            self.waits.clear();
        }
        self.waits.insert(kind.to_owned(), Wait { length: FIRST, until: now + FIRST });
        FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(options: WorkerOptions) -> Foreign {
        Foreign::new(Some(vec!["own".to_owned()]), &options)
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_of_a_type_grows_while_its_jobs_come_back_and_begins_anew_after_a_silence() {
        let mut foreign = foreign(WorkerOptions::default().unknown_types(UnknownTypes::Release));
        let begin = Instant::now();
        let mut wait =
            |seconds| foreign.turned_away("other", "w", begin + Duration::from_secs(seconds)).map(|wait| wait.as_secs());
        assert_eq!([wait(0), wait(0), wait(1), wait(3), wait(7), wait(15)].map(Option::unwrap), [1, 1, 2, 4, 8, 16]);
        assert_eq!([wait(31), wait(61), wait(91)].map(Option::unwrap), [30, 30, 30]);
        assert_eq!(wait(600), Some(1));
        assert_eq!(foreign.turned_away("own", "w", begin), None);
        assert_eq!(foreign.turned_away("third", "w", begin), Some(FIRST), "each type has its own");
    }

    #[test]
    fn types_are_asked_for_only_where_the_server_selects() {
        let options = WorkerOptions::default().only_registered_types(true);
        for (manifest, own, asked) in [
            (Manifest { exchange: true, fetch_types: true }, vec!["b".to_owned(), "a".to_owned()], Some(r#"["a","b"]"#)),
            (Manifest { exchange: true, fetch_types: false }, vec!["a".to_owned()], None),
            (Manifest { exchange: true, fetch_types: true }, (0..257).map(|n| format!("t{n}")).collect(), None),
        ] {
            let mut foreign = Foreign::new(Some(own), &options);
            foreign.learn(manifest, "w");
            assert_eq!((foreign.asked(), foreign.warned), (asked, asked.is_none()));
            assert!(foreign.turned_away("other", "w", Instant::now()).is_some(), "never failed: the queue is shared");
        }
        let mut every = Foreign::new(None, &options);
        every.learn(Manifest { exchange: true, fetch_types: true }, "w");
        assert_eq!(every.turned_away("other", "w", Instant::now()), None);
        assert_eq!(every.asked(), None);
    }
}
