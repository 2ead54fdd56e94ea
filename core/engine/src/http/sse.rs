//! A stream of events, from its beginning to its end: a connection of server-sent events, or a channel of a WebSocket.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use crate::engine::Engine;
use crate::http::client_limit::Slot;
use crate::http::follower::Subscription;
use crate::http::frames::{Frames, Shape};
use crate::kernel::event::{Event, EventFilter, Place};
use crate::stream::Dropped;

/// Silence after which a comment is sent. The rule is 15 s at most (extensions section 3); slow links get some of it.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Within this time after `server.shutdown` the connection is closed.
pub const GRACE_MS: u64 = 5000;
/// Events read at a time when a client catches up.
const PAGE: usize = 200;
/// Commits looked at in one reading.
const SCAN: usize = 512;
/// Bytes after which frames are sent on.
const CHUNK: usize = 32 * 1024;

/// One connection.
pub struct Session {
    /// Whose events.
    pub engine: Engine,
    /// What comes from now on.
    pub subscription: Subscription,
    /// Which events.
    pub filter: EventFilter,
    /// How they look. A client of a WebSocket may change which types it gets.
    pub shape: Arc<Mutex<Shape>>,
    /// `job:…`, `queue:…` or `all`.
    pub channel: String,
    /// Where in the log to begin; `None` is now.
    pub since: Option<Place>,
    /// The connection ends with the job it is about.
    pub ends_with_job: bool,
    /// The connection ends where the log ends: the job has ended already.
    pub no_more: bool,
    /// The body of the answer.
    pub out: Sender<Bytes>,
    /// The connection's place among those allowed; a WebSocket keeps those of its channels itself.
    pub _slot: Option<Slot>,
}

/// The client is gone, or all has been said.
struct Ended;

impl Session {
    /// Runs until the client goes, the job ends, or the server stops.
    pub async fn run(self, mut frames: Frames) {
        // In both cases there is no listener left.
        let _ = self.serve(&mut frames).await;
    }

    async fn serve(&self, frames: &mut Frames) -> Result<(), Ended> {
        self.send(frames).await?;
        if let Some(since) = self.since
            && (self.read(since, Some(self.subscription.from), frames).await? || self.no_more)
        {
            return Err(Ended);
        }
        loop {
            tokio::select! {
                (dropped, events) = self.subscription.news() => self.forward(dropped, &events, frames).await?,
                () = tokio::time::sleep(HEARTBEAT) => {
                    frames.heartbeat();
                    self.send(frames).await?;
                }
                () = self.engine.closed() => {
                    frames.shutdown(GRACE_MS);
                    return self.send(frames).await;
                }
                () = self.out.closed() => return Err(Ended),
            }
        }
    }

    /// Sends what the follower has brought.
    async fn forward(&self, dropped: Option<Dropped>, events: &VecDeque<Arc<Event>>, frames: &mut Frames) -> Result<(), Ended> {
        if let Some(dropped) = dropped {
            frames.dropped(&self.channel, &dropped, self.engine.now());
        }
        let (mut ended, shape) = (false, self.shape());
        // The follower of another process may have been further than ours, and told the client of some of these.
        let fresh = |event: &&Arc<Event>| self.since.is_none_or(|since| event.place > since);
        for event in events.iter().filter(fresh) {
            frames.event(&shape, event);
            ended |= self.ends_with(event);
            if frames.len() > CHUNK {
                self.send(frames).await?;
            }
        }
        self.send(frames).await?;
        if let (true, Some(last)) = (ended, events.back()) {
            // What the same commit says of the job behind its last transition.
            self.read(last.place, None, frames).await?;
            return Err(Ended);
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        // It is valid after every statement.
        self.shape.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ends_with(&self, event: &Event) -> bool {
        self.ends_with_job && event.change.is_some_and(|change| change.to.is_terminal())
    }

    /// Sends what the log has behind `after`, up to `until` or its end. True when the job ended there.
    async fn read(&self, after: Place, until: Option<Place>, frames: &mut Frames) -> Result<bool, Ended> {
        let (mut place, mut ended) = (after, false);
        loop {
            let shape = self.shape();
            let filter = EventFilter { after: place, limit: PAGE, scan: SCAN, ..self.filter.clone() };
            let (events, next, more) = self.engine.read_log(filter).await.map_err(|refusal| {
                tracing::warn!(?refusal, "a stream ends: the event log could not be read");
                Ended
            })?;
            // What comes later is in the buffer already.
            for event in events.iter().filter(|event| until.is_none_or(|until| event.place <= until)) {
                frames.event(&shape, event);
                ended |= self.ends_with(event);
            }
            self.send(frames).await?;
            if !more || until.is_some_and(|until| next >= until) {
                return Ok(ended);
            }
            place = next;
        }
    }

    /// Hands frames to the connection, as fast as the client reads.
    async fn send(&self, frames: &mut Frames) -> Result<(), Ended> {
        if frames.len() == 0 {
            return Ok(());
        }
        self.out.send(frames.take()).await.map_err(|_| Ended)
    }
}
