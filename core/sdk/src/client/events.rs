//! Events as they happen. A cursor is the place of the reader in the log, so a lost connection loses no event and
//! repeats none.
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::poll_fn;
use futures_util::stream::{Stream, unfold};
use ojs_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Client;
use super::follower::{Fault, Follower};
use crate::error::Error;
use crate::json::Json;
use crate::transport::Method;

/// Selects events. The default is all of them, from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventFilter {
    /// Only these types; `job.*` is all that start so.
    pub types: Vec<String>,
    /// Only events of these queues and their jobs.
    pub queues: Vec<String>,
    /// Only events of jobs of these types.
    pub job_types: Vec<String>,
    /// Begin after this event: the [`id`](Event::id) of the last one that was handled. `""` begins with the oldest that
    /// is kept.
    pub after: Option<String>,
}

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Event {
    /// Its id; [`EventFilter::after`] takes it.
    pub id: String,
    /// Its type, such as `job.completed`.
    pub event_type: String,
    /// Time of the event.
    pub time: Option<Timestamp>,
    /// The id of the job or workflow, the name of the queue or worker.
    pub subject: String,
    /// Further members, by type of event.
    pub data: Json,
}

/// Events as they happen. A [`Stream`]; [`next`](Self::next) reads it without further imports.
pub struct Events {
    inner: Pin<Box<dyn Stream<Item = Result<Event, Error>> + Send>>,
}

struct Reader {
    client: Client,
    follower: Follower,
    page: VecDeque<Event>,
    ended: bool,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
    cursor: String,
}

#[derive(Deserialize)]
struct Wire<'a> {
    id: String,
    r#type: String,
    time: Option<String>,
    #[serde(default)]
    subject: String,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl Client {
    /// Follows the events of jobs, queues, workers and workflows. Without [`after`](EventFilter::after) it begins where
    /// the log ends when the first event is asked for.
    ///
    /// When the connection is lost the stream asks again, with growing pauses, from the event after the last one: none is missed as long
    /// as the server keeps them, and none comes twice. A refusal, and a fault of the first request, ends it.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::EventFilter;
    /// let mut events = client.events(EventFilter { after: Some(String::new()), ..EventFilter::default() });
    /// let job = client.enqueue("email.send", "a@example.com").await?;
    /// let event = events.next().await.expect("a stream without end")?;
    /// assert_eq!((event.event_type.as_str(), event.subject), ("job.enqueued", job.id));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    pub fn events(&self, filter: EventFilter) -> Events {
        let reader = Reader { client: self.clone(), follower: Follower::new(filter), page: VecDeque::new(), ended: false };
        Events { inner: Box::pin(unfold(reader, |mut reader| async move { reader.next().await.map(|event| (event, reader)) })) }
    }
}

impl Events {
    /// The next event; waits for it. `None` after an error that ended the stream.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        poll_fn(|context| self.inner.as_mut().poll_next(context)).await
    }
}

impl Stream for Events {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inner.as_mut().poll_next(context)
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            if let Some(event) = self.page.pop_front() {
                return Some(Ok(event));
            }
            if self.ended {
                return None;
            }
            let pause = match self.read().await {
                Ok(pause) => pause,
                Err(error) => match self.follower.failed(&Fault::from(&error)) {
                    Some(pause) => {
                        tracing::debug!(%error, ?pause, "events: asking again");
                        pause
                    }
                    None => {
                        self.ended = true;
                        return Some(Err(error));
                    }
                },
            };
            // A timer of no length ends with the next millisecond only.
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
    }

    /// Reads a page; returns the pause before the next one.
    async fn read(&mut self) -> Result<Duration, Error> {
        let asked = Instant::now();
        let (path, wait) = (self.follower.path(), self.follower.wait());
        let body = self.client.call_waiting(Method::GET, &path, None, wait).await?;
        let page: Page<'_> = serde_json::from_slice(&body).map_err(|e| Error::json("events", e))?;
        self.page = page.events.iter().map(|raw| Event::read(&body, raw)).collect::<Result<_, _>>()?;
        Ok(self.follower.answered(self.page.len(), page.cursor, asked.elapsed()))
    }
}

impl Event {
    fn read(body: &Bytes, raw: &RawValue) -> Result<Self, Error> {
        let wire: Wire<'_> = serde_json::from_str(raw.get()).map_err(|e| Error::json("event", e))?;
        let data = wire.data.map(|data| Json::from_text(body.slice_ref(data.get().as_bytes()))).transpose()?;
        Ok(Self {
            id: wire.id,
            event_type: wire.r#type,
            time: wire.time.and_then(|text| Timestamp::parse(&text).ok()),
            subject: wire.subject,
            data: data.unwrap_or_else(Json::null),
        })
    }
}
