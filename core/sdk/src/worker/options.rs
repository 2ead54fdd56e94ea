//! Settings of a worker. Defaults are the tuned values: nobody should have to touch them for speed.
use std::time::Duration;

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
    /// Handler slots, as told to the server. What limits fetching is [`Dispatch::capacity`](crate::dispatch::Dispatch::capacity).
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
    /// Free words about this worker, shown by the server.
    pub labels: Vec<String>,
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
            // The seed's value. Six heartbeats fit in.
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
        }
    }
}
