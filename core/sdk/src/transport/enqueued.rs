//! Jobs that this process has enqueued, as a signal for workers in it that poll a server without long poll.
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwapOption;
use tokio::sync::watch;

use super::{Request, Response, TransportError};

/// Tells the workers of one server that a job was enqueued there.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let enqueued = ojs::transport::Enqueued::default();
/// let mut listener = enqueued.listen();
/// enqueued.notify();
/// assert!(listener.changed().await.is_ok());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Enqueued(Arc<watch::Sender<()>>);

impl Default for Enqueued {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(())))
    }
}

/// Those of servers that are reached by URL. Clients and workers of one server are often connected apart. Without a
/// lock: a process may fork while another of its threads connects.
static SERVERS: ArcSwapOption<HashMap<String, Weak<watch::Sender<()>>>> = ArcSwapOption::const_empty();

impl Enqueued {
    /// The one of the server at `base`, shared by all connections of this process to it.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only servers have URLs"))]
    pub(crate) fn at(base: &str) -> Self {
        let own = Self::default();
        let mut shared = own.clone();
        SERVERS.rcu(|servers| {
            let mut servers = servers.as_deref().cloned().unwrap_or_default();
            servers.retain(|_, sender| sender.strong_count() > 0);
            let known = servers.get(base).and_then(Weak::upgrade);
            shared = known.map_or_else(|| own.clone(), Self);
            servers.insert(base.to_owned(), Arc::downgrade(&shared.0));
            Some(Arc::new(servers))
        });
        shared
    }

    /// A job was enqueued.
    pub fn notify(&self) {
        self.0.send_replace(());
    }

    /// A signal for each job that is enqueued from now on. It does not keep the sender.
    #[must_use]
    pub fn listen(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }

    /// Notifies of a successful answer to a request that [enqueues](Request::enqueues): what a transport of your own
    /// calls with each answer.
    ///
    /// ```
    /// use ojs::transport::{Enqueued, Request, Response};
    /// let enqueued = Enqueued::default();
    /// let listener = enqueued.listen();
    /// let request = Request::post("/jobs", r#"{"type":"a","args":[]}"#);
    /// enqueued.observe(request.enqueues(), &Ok(Response::new(201, "{}")));
    /// assert!(listener.has_changed().unwrap());
    /// ```
    pub fn observe(&self, enqueues: bool, answer: &Result<Response, TransportError>) {
        if enqueues && answer.as_ref().is_ok_and(Response::is_success) {
            self.notify();
        }
    }
}

impl Request {
    /// Whether it may make a job available at once.
    #[must_use]
    pub fn enqueues(&self) -> bool {
        if self.method != super::Method::POST {
            return false;
        }
        matches!(&*self.path, "/jobs" | "/jobs/batch" | "/jobs/bulk" | "/workflows")
            || (self.path.starts_with("/dead-letter/") && self.path.ends_with("/retry"))
            || (self.path.starts_with("/cron/") && self.path.ends_with("/run"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_to_one_server_share_it_and_others_do_not() {
        let (one, same) = (Enqueued::at("http://one:1"), Enqueued::at("http://one:1"));
        let other = Enqueued::at("http://other:1");
        let (mut here, mut there) = (one.listen(), other.listen());
        same.notify();
        assert!(here.has_changed().unwrap() && !there.has_changed().unwrap());
        here.mark_unchanged();
        there.mark_unchanged();
        drop((one, same));
        assert!(here.has_changed().is_err(), "nothing keeps a server that has no connection");
    }

    #[test]
    fn requests_that_enqueue_are_told_from_others() {
        for (request, enqueues) in [
            (Request::post("/jobs", ""), true),
            (Request::post("/jobs/batch", ""), true),
            (Request::post("/workflows", ""), true),
            (Request::post("/dead-letter/x/retry", ""), true),
            (Request::post("/cron/x/run", ""), true),
            (Request::post("/cron", ""), false),
            (Request::post("/workers/fetch", ""), false),
            (Request::post("/jobs/bulk/cancel", ""), false),
            (Request::get("/jobs"), false),
        ] {
            assert_eq!(request.enqueues(), enqueues, "{request:?}");
        }
    }
}
