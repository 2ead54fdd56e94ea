//! Settings of a worker. Defaults are the tuned values: they need no change for speed.
use std::time::Duration;

use ojs_model::envelope::{check_lease_ms, check_name, check_queue};

use super::versions::Versions;
use crate::error::Error;

/// The default of [`WorkerOptions::flush_timeout`] is not longer than this, and is this without a lease of the worker's own.
const FLUSH_MOST: Duration = Duration::from_secs(30);

/// How a worker fetches, beats and stops.
///
/// ```
/// use ojs::worker::WorkerOptions;
/// let options = WorkerOptions::new(["critical", "default"]).concurrency(50);
/// assert_eq!(options.grace_period.as_secs(), 25);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkerOptions {
    /// Queues in order of preference: a later one is looked at only when the earlier ones are empty.
    pub queues: Vec<String>,
    /// Handler slots, as the server is shown them. What limits fetching is
    /// [`Dispatch::capacity`](crate::dispatch::Dispatch::capacity).
    pub concurrency: usize,
    /// The name of this worker; `None` makes a fresh one.
    pub worker_id: Option<String>,
    /// The lease asked for at fetch: a crashed worker's jobs come back after this. Heartbeats extend it. `None` leaves
    /// it to the job or the server.
    pub visibility_timeout: Option<Duration>,
    /// Time between heartbeats. Must be well below `visibility_timeout`.
    pub heartbeat_interval: Duration,
    /// How long handlers may finish after [`stop`](super::WorkerHandle::stop).
    pub grace_period: Duration,
    /// Whether jobs unfinished after the grace period are given back at once. When false their lease runs out.
    pub release_on_shutdown: bool,
    /// Longest wait of one long poll. Only with servers that offer it.
    pub long_poll: Duration,
    /// First pause after an empty fetch, for servers without long poll.
    pub poll_interval_min: Duration,
    /// Longest pause between empty fetches, for servers without long poll.
    pub poll_interval_max: Duration,
    /// Most jobs asked for in one request.
    pub fetch_max: usize,
    /// How long a job may wait in the worker for a slot, so that short handlers are not idle while the next jobs are on
    /// their way. Zero fetches for free slots only. Kept by the Rust [`Worker`](crate::Worker); other hosts have their own.
    pub prefetch: Duration,
    /// Labels of this worker, shown by the server.
    pub labels: Vec<String>,
    /// What happens to a job whose type has no handler in this worker.
    pub unknown_types: UnknownTypes,
    /// Whether the worker asks the server only for jobs of the types that it has handlers for. It needs a server whose manifest names
    /// `fetch_types`, as ours does, and at most 256 types; otherwise the worker warns once and gives jobs of other types back, as
    /// [`UnknownTypes::Release`] does.
    pub only_registered_types: bool,
    /// The versions that the worker runs of its job types. A worker without any gets every version of every type.
    pub versions: Versions,
    /// How long the outcomes of jobs may take to reach the server after the grace period. `None` is as long as the lease
    /// ([`visibility_timeout`](Self::visibility_timeout)), at most 30 seconds. An outcome whose lease is over is given up before.
    pub flush_timeout: Option<Duration>,
}

/// What a worker does with a job whose type has no handler in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownTypes {
    /// The job fails for good and becomes a dead letter whose reason is `no_handler`. As text `fail`.
    #[default]
    Fail,
    /// The job goes back to its queue, and no attempt is counted. It waits there for a second, and for longer each time that this worker
    /// gets a job of the same type again, up to 30 seconds. For queues that workers with other handlers share. As text `release`.
    Release,
}

impl std::str::FromStr for UnknownTypes {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "fail" => Ok(Self::Fail),
            "release" => Ok(Self::Release),
            _ => Err(Error::validation("unknown_types", format!("must be 'fail' or 'release', got '{word}'"))),
        }
    }
}

impl WorkerOptions {
    /// Defaults for these queues.
    pub fn new<Q: Into<String>>(queues: impl IntoIterator<Item = Q>) -> Self {
        Self { queues: queues.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Sets [`concurrency`](Self::concurrency).
    #[must_use]
    pub fn concurrency(mut self, slots: usize) -> Self {
        self.concurrency = slots;
        self
    }

    /// Sets [`grace_period`](Self::grace_period).
    #[must_use]
    pub fn grace_period(mut self, grace: Duration) -> Self {
        self.grace_period = grace;
        self
    }

    /// Sets [`heartbeat_interval`](Self::heartbeat_interval).
    #[must_use]
    pub fn heartbeat_interval(mut self, interval: Duration) -> Self {
        self.heartbeat_interval = interval;
        self
    }

    /// Sets [`visibility_timeout`](Self::visibility_timeout).
    #[must_use]
    pub fn visibility_timeout(mut self, lease: impl Into<Option<Duration>>) -> Self {
        self.visibility_timeout = lease.into();
        self
    }

    /// Sets [`worker_id`](Self::worker_id).
    #[must_use]
    pub fn worker_id(mut self, id: impl Into<String>) -> Self {
        self.worker_id = Some(id.into());
        self
    }

    /// Sets [`release_on_shutdown`](Self::release_on_shutdown).
    #[must_use]
    pub fn release_on_shutdown(mut self, release: bool) -> Self {
        self.release_on_shutdown = release;
        self
    }

    /// Sets the pauses between empty fetches, for servers without long poll.
    #[must_use]
    pub fn poll_interval(mut self, min: Duration, max: Duration) -> Self {
        (self.poll_interval_min, self.poll_interval_max) = (min, max.max(min));
        self
    }

    /// Sets [`prefetch`](Self::prefetch).
    #[must_use]
    pub fn prefetch(mut self, wait: Duration) -> Self {
        self.prefetch = wait;
        self
    }

    /// Sets [`unknown_types`](Self::unknown_types).
    ///
    /// ```
    /// use ojs::worker::{UnknownTypes, WorkerOptions};
    /// let options = WorkerOptions::new(["shared"]).unknown_types(UnknownTypes::Release);
    /// assert_eq!("release".parse::<UnknownTypes>()?, options.unknown_types);
    /// # Ok::<(), ojs::Error>(())
    /// ```
    #[must_use]
    pub fn unknown_types(mut self, what: UnknownTypes) -> Self {
        self.unknown_types = what;
        self
    }

    /// Sets [`only_registered_types`](Self::only_registered_types).
    #[must_use]
    pub fn only_registered_types(mut self, only: bool) -> Self {
        self.only_registered_types = only;
        self
    }

    /// Declares the [`versions`](Self::versions) that the worker runs of a job type: a server with job versioning gives
    /// it no others.
    ///
    /// ```
    /// use ojs::worker::WorkerOptions;
    /// let options = WorkerOptions::new(["mail"]).versions("email.send", [">=2.0 <3.0"])?;
    /// assert!(options.versions.path("email.send", Some(&"2.4".into())).is_ok());
    /// # Ok::<(), ojs::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no range: `*`, `2.0` and `>=2.0 <3.0` are ranges.
    pub fn versions<R: Into<String>>(mut self, job_type: &str, ranges: impl IntoIterator<Item = R>) -> Result<Self, Error> {
        self.versions.ranges(job_type, ranges)?;
        Ok(self)
    }

    /// Sets [`flush_timeout`](Self::flush_timeout).
    #[must_use]
    pub fn flush_timeout(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.flush_timeout = time.into();
        self
    }

    /// How long outcomes may take after the grace period: [`flush_timeout`](Self::flush_timeout), or its default.
    #[must_use]
    pub fn flush_for(&self) -> Duration {
        self.flush_timeout.unwrap_or_else(|| self.visibility_timeout.unwrap_or(FLUSH_MOST).min(FLUSH_MOST))
    }

    /// Checks what a server would refuse at every fetch, and lengths of time that mean nothing.
    ///
    /// ```
    /// use ojs::worker::WorkerOptions;
    /// assert!(WorkerOptions::new(["mail"]).check().is_ok());
    /// assert!(WorkerOptions::new(["Mail Room"]).check().is_err());
    /// ```
    ///
    /// # Errors
    /// [`Error::Validation`] that names the option.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |name: &'static str, message: &str| Err(Error::validation(name, message));
        if self.queues.is_empty() {
            return wrong("queues", "a worker needs at least one queue");
        }
        if self.concurrency == 0 {
            return wrong("concurrency", "must be at least 1, got 0");
        }
        if self.heartbeat_interval.is_zero() {
            return wrong("heartbeat_interval", "must be longer than zero; leave it out for the default");
        }
        if self.poll_interval_max.is_zero() {
            return wrong("poll_interval", "must be longer than zero; leave it out for the default");
        }
        let refused = |name: &'static str| move |error: ojs_model::OjsError| Error::validation(name, error.message);
        self.queues.iter().try_for_each(|queue| check_queue(queue)).map_err(refused("queues"))?;
        self.worker_id.iter().try_for_each(|id| check_name("it", id)).map_err(refused("worker_id"))?;
        let lease = self.visibility_timeout.map(|lease| u64::try_from(lease.as_millis()).unwrap_or(u64::MAX));
        lease.iter().try_for_each(|ms| check_lease_ms("it", *ms)).map_err(refused("visibility_timeout"))
    }

    /// Sets [`labels`](Self::labels).
    #[must_use]
    pub fn labels<L: Into<String>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.labels = labels.into_iter().map(Into::into).collect();
        self
    }
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            queues: vec!["default".to_owned()],
            concurrency: 10,
            worker_id: None,
            // The specification's value. Six heartbeats fit in.
            visibility_timeout: Some(Duration::from_secs(30)),
            heartbeat_interval: Duration::from_secs(5),
            // Five seconds less than the time Kubernetes gives by default.
            grace_period: Duration::from_secs(25),
            release_on_shutdown: true,
            // Below the idle time-outs of common load balancers (30 s and up).
            long_poll: Duration::from_secs(20),
            poll_interval_min: Duration::from_millis(50),
            poll_interval_max: Duration::from_secs(2),
            fetch_max: 256,
            // A few round trips to a server in the same data centre, commit included.
            prefetch: Duration::from_millis(20),
            labels: Vec::new(),
            unknown_types: UnknownTypes::Fail,
            only_registered_types: false,
            versions: Versions::default(),
            flush_timeout: None,
        }
    }
}
