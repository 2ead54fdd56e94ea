//! `/jobs/{id}/events`, `/queues/{name}/events`, `/events/stream`: events as they happen (extensions section 3).
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use ojs_model::{ErrorCode, JobId, JobState, OjsError, Timestamp, envelope};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, channel};

use crate::engine::Engine;
use crate::features::queue_config::commands::GetQueue;
use crate::http::caller::Asker;
use crate::http::client_limit::{Full, Guest, Slot};
use crate::http::events::wanted;
use crate::http::follower::Subscription;
use crate::http::frames::{Frames, Shape, Transition};
use crate::http::guard::guest;
use crate::http::media::EVENT_STREAM;
use crate::http::reply::Failure;
use crate::http::request::{Params, job_id};
use crate::http::sse::Session;
use crate::http::summary;
use crate::kernel::event::{EventFilter, Place};
use crate::kernel::job::{JobView, flag};
use crate::kernel::query::GetJob;

/// How long a client waits before it connects again, milliseconds (extensions section 3).
pub const RETRY_MS: u64 = 3000;

/// Asks proxies not to hold frames back.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What a client wants to hear.
pub struct Wish {
    channel: String,
    /// What `?channel=` says.
    named: Option<String>,
    filter: EventFilter,
    shape: Shape,
    /// The job that the channel is about.
    job: Option<JobId>,
    resume: Resume,
    guest: Guest,
    /// CloudEvents instead of events in the form of the log.
    as_cloud_events: bool,
    /// Only that something has happened.
    as_summary: bool,
}

/// Where a client wants to begin.
enum Resume {
    /// Now.
    Now,
    /// Behind an event it has seen, or a cursor.
    Behind(String),
    /// At a time.
    At(Timestamp),
}

/// Events of one job; ends with it.
pub async fn job(
    State(engine): State<Engine>,
    asker: Asker,
    Path(id): Path<String>,
    mut wish: Wish,
) -> Result<Response, Failure> {
    if let (true, Ok(id)) = (asker.own_only, id.parse()) {
        asker.check_sees(&engine, id).await?;
    }
    wish.narrow(&format!("job:{id}"))?;
    open(engine, wish).await
}

/// Events of one queue and its jobs.
pub async fn queue(State(engine): State<Engine>, Path(name): Path<String>, mut wish: Wish) -> Result<Response, Failure> {
    wish.narrow(&format!("queue:{name}"))?;
    open(engine, wish).await
}

/// All events, or those of `?channel=`.
pub async fn all(State(engine): State<Engine>, mut wish: Wish) -> Result<Response, Failure> {
    if wish.as_summary {
        return summary::open(engine, &wish.guest).await;
    }
    if let Some(name) = wish.named.take() {
        wish.narrow(&name)?;
    }
    if wish.as_cloud_events {
        wish.shape = Shape::CloudEvents(Arc::clone(&engine.options().event_source));
    }
    open(engine, wish).await
}

impl<S: Send + Sync> FromRequestParts<S> for Wish {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let params = Params::parse(parts.uri.query())?;
        Ok(Self::new(&params, &parts.headers, &parts.extensions)?)
    }
}

impl Wish {
    fn new(params: &Params, headers: &HeaderMap, extensions: &Extensions) -> Result<Self, OjsError> {
        let mut types = params.list("types");
        types.extend(params.list("event_types"));
        let filter =
            EventFilter { types, queues: params.list("queues"), job_types: params.list("job_types"), ..EventFilter::default() };
        let resume = match (headers.get("last-event-id").and_then(|id| id.to_str().ok()), params.get("since")) {
            // A reconnect repeats the query of the first request: what was seen last is what counts.
            (Some(id), _) if !id.is_empty() => Resume::Behind(id.to_owned()),
            (_, Some(text)) => Resume::parse(text)?,
            _ => Resume::Now,
        };
        let guest = guest(extensions);
        let named = params.get("channel").map(str::to_owned);
        let (as_cloud_events, as_summary) = (wanted(params)?, summary::wanted(params)?);
        let (channel, shape) = ("all".to_owned(), Shape::Envelope);
        Ok(Self { channel, named, filter, shape, job: None, resume, guest, as_cloud_events, as_summary })
    }

    /// What a client of a WebSocket wants of one channel.
    ///
    /// # Errors
    /// 400 for a channel of another form, 404 for a job id that names nothing.
    pub fn of_channel(channel: &str, types: Vec<String>, behind: Option<String>, guest: Guest) -> Result<Self, OjsError> {
        let filter = EventFilter { types, ..EventFilter::default() };
        let resume = behind.map_or(Resume::Now, Resume::Behind);
        let (channel_name, shape) = (String::new(), Shape::Envelope);
        let (as_cloud_events, as_summary) = (false, false);
        let mut wish =
            Self { channel: channel_name, named: None, filter, shape, job: None, resume, guest, as_cloud_events, as_summary };
        wish.narrow(channel)?;
        Ok(wish)
    }

    /// Whether the channel is about one job.
    pub fn job(&self) -> Option<JobId> {
        self.job
    }

    /// Narrows the wish to a channel, in the channel's form.
    fn narrow(&mut self, channel: &str) -> Result<(), OjsError> {
        if self.as_summary {
            let message = "A summary is of all events: summary=true is for /events/stream.";
            return Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "summary"})));
        }
        if self.as_cloud_events {
            let message = "Channels have a form of their own: format=cloudevents is for /events/stream without a channel.";
            return Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "format"})));
        }
        match channel.split_once(':') {
            Some(("job", id)) => {
                let id = job_id("job", id)?;
                self.filter.subject = Some(id.to_string());
                self.job = Some(id);
            }
            Some(("queue", name)) => {
                envelope::check_queue(name)?;
                self.filter.queues = vec![name.to_owned()];
            }
            _ if channel == "all" => {}
            _ => {
                let message = format!("channel must be job:ID, queue:NAME or all, got '{channel}'.");
                return Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "channel"})));
            }
        }
        channel.clone_into(&mut self.channel);
        // One event of the log makes up to two frames, so types are judged frame by frame.
        let types = std::mem::take(&mut self.filter.types);
        self.filter.transitions = true;
        self.shape = Self::shape_of(types);
        Ok(())
    }

    /// The form of a channel that sends these types of events; none is all.
    pub fn shape_of(types: Vec<String>) -> Shape {
        Shape::Channel(EventFilter { types, ..EventFilter::default() })
    }
}

impl Resume {
    fn parse(text: &str) -> Result<Self, OjsError> {
        if Place::parse(text).is_some() {
            return Ok(Self::Behind(text.to_owned()));
        }
        Timestamp::parse(text).map(Self::At).map_err(|_| {
            let message = format!("since must be a time (RFC 3339), an event id or a cursor of this server, got '{text}'.");
            OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "since"}))
        })
    }
}

/// A wish that can be fulfilled: the first frames, and what follows them.
struct Begun {
    slot: Slot,
    subscription: Subscription,
    frames: Frames,
    since: Option<Place>,
    /// The job of the channel, when it has ended.
    ended: Option<JobView>,
}

/// Takes a place among the streams, subscribes, and checks that what the channel is about exists.
async fn prepare(engine: &Engine, wish: &Wish, over_socket: bool) -> Result<Begun, Failure> {
    let slot = engine.streams().client_limit().take(&wish.guest).map_err(refuse)?;
    // From here on nothing is missed, whatever is read next.
    let subscription = engine.subscribe(wish.filter.clone()).await?;
    let ended = match (wish.job, wish.filter.queues.as_slice()) {
        (Some(id), _) => terminal(engine, id).await?,
        (None, [name]) if wish.channel != "all" => {
            require_queue(engine, name).await?;
            None
        }
        _ => None,
    };
    let (mut frames, since) = begin(engine, wish, &subscription, over_socket).await?;
    if let (Some(view), None) = (&ended, since) {
        last_transition(&mut frames, view, &subscription, engine.now());
    }
    Ok(Begun { slot, subscription, frames, since, ended })
}

async fn open(engine: Engine, wish: Wish) -> Result<Response, Failure> {
    let Begun { slot, subscription, mut frames, since, ended } = prepare(&engine, &wish, false).await?;
    if ended.is_some() {
        let Some(since) = since else {
            return Ok(answer(Body::from(frames.take())));
        };
        if !anything_behind(&engine, &wish.filter, since).await? {
            // It has seen the end. After this status an EventSource does not reconnect.
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NO_CONTENT;
            return Ok(response);
        }
    }
    let (out, body) = channel(1);
    let session = Session {
        engine,
        subscription,
        filter: wish.filter,
        shape: Arc::new(Mutex::new(wish.shape)),
        channel: wish.channel,
        since,
        ends_with_job: wish.job.is_some(),
        no_more: ended.is_some(),
        out,
        _slot: Some(slot),
    };
    tokio::spawn(session.run(frames));
    Ok(answer(streamed(body)))
}

/// Messages of a channel, and what decides which of its events are sent.
pub struct Followed {
    /// One message a line. The channel ends when this is dropped.
    pub messages: Receiver<bytes::Bytes>,
    /// To be replaced by [`Wish::shape_of`].
    pub shape: Arc<Mutex<Shape>>,
    /// Its place among the streams, which is free as soon as the channel is dropped.
    _slot: Slot,
}

/// Follows a channel for a WebSocket. It does not end with its job: a dead letter may run again.
///
/// # Errors
/// 404 when what it is about does not exist, 429 and 503 when too many streams are open.
pub async fn follow(engine: Engine, wish: Wish) -> Result<Followed, Failure> {
    let Begun { slot, subscription, frames, since, .. } = prepare(&engine, &wish, true).await?;
    let (out, messages) = channel(1);
    let shape = Arc::new(Mutex::new(wish.shape));
    let session = Session {
        engine,
        subscription,
        filter: wish.filter,
        shape: Arc::clone(&shape),
        channel: wish.channel,
        since,
        ends_with_job: false,
        no_more: false,
        out,
        _slot: None,
    };
    tokio::spawn(session.run(frames));
    Ok(Followed { messages, shape, _slot: slot })
}

/// Says why no further listener is accepted now.
pub fn refuse(full: Full) -> OjsError {
    match full {
        Full::Client => OjsError::new(ErrorCode::RateLimited, "This client has too many event streams open.")
            .with_hint("Close some, or follow /ojs/v1/events/stream with filters instead of one stream per job."),
        Full::Server => OjsError::new(ErrorCode::BackendUnavailable, "Too many event streams are open on this server.")
            .with_hint("Try again later, or poll /ojs/v1/events."),
    }
}

impl Engine {
    /// A place for a request that waits; none is needed for one that does not, nor inside of a process.
    ///
    /// # Errors
    /// 429 when the client has too many, 503 when the server has.
    pub(crate) fn slot(&self, guest: &Guest, wait: Duration) -> Result<Option<Slot>, OjsError> {
        if wait.is_zero() || guest.peer.is_none() {
            return Ok(None);
        }
        let hint = "Try again later; or wait with fewer requests: one waits for all queues of a worker.";
        self.waiting().take(guest).map(Some).map_err(|full| match full {
            Full::Client => OjsError::new(ErrorCode::RateLimited, "This client has too many requests that wait.").with_hint(hint),
            Full::Server => {
                OjsError::new(ErrorCode::BackendUnavailable, "Too many requests wait on this server.").with_hint(hint)
            }
        })
    }
}

/// The job, if it has ended.
async fn terminal(engine: &Engine, id: JobId) -> Result<Option<JobView>, Failure> {
    let view = engine.query(GetJob(id)).await?;
    Ok(view.row.state.is_terminal().then_some(view))
}

async fn require_queue(engine: &Engine, name: &str) -> Result<(), Failure> {
    let (queue, _) = engine.query(GetQueue(name.to_owned())).await?;
    // `default` is there before its first use.
    if queue.num != 0 || name == "default" { Ok(()) } else { Err(OjsError::not_found("queue", name).into()) }
}

/// The first frames, and where in the log to begin.
async fn begin(
    engine: &Engine,
    wish: &Wish,
    subscription: &Subscription,
    over_socket: bool,
) -> Result<(Frames, Option<Place>), Failure> {
    let now = engine.now();
    let open = |place: Place| match over_socket {
        true => Frames::of_channel(&wish.channel, place, now),
        false => Frames::open(RETRY_MS, place, now),
    };
    let (text, place) = match &wish.resume {
        Resume::Now => return Ok((open(subscription.from), None)),
        Resume::At(at) => {
            let place = engine.log_span(Some(*at)).await?.at;
            return Ok((open(place), Some(place)));
        }
        Resume::Behind(text) => (text, Place::parse(text)),
    };
    let span = engine.log_span(None).await?;
    let Some(place) = place.filter(|place| *place <= span.written) else {
        // An id of another server, or of another life of this one.
        let mut frames = open(subscription.from);
        frames.gap(&wish.channel, text, &subscription.from.event_id(now));
        return Ok((frames, None));
    };
    let oldest = Place::before(span.oldest);
    // A cursor may stand before everything that was ever written: nothing is missing then.
    if place >= oldest || span.oldest <= 1 {
        return Ok((open(place), Some(place)));
    }
    let first = engine.read_log(EventFilter { limit: 1, transitions: true, ..EventFilter::default() }).await?;
    let first = first.0.first().map_or_else(|| oldest.event_id(now), |event| event.id.clone());
    let mut frames = open(oldest);
    frames.gap(&wish.channel, text, &first);
    Ok((frames, Some(oldest)))
}

/// What a listener gets that comes after the end of the job: the last transition.
fn last_transition(frames: &mut Frames, view: &JobView, subscription: &Subscription, now: Timestamp) {
    let row = &view.row;
    let from = match row.state {
        JobState::Completed => Some(JobState::Active),
        JobState::Discarded if !row.has(flag::EXPIRED) => Some(JobState::Active),
        // The row does not say.
        _ => None,
    };
    let (job, job_type) = (row.id.to_string(), type_of(view));
    let transition = Transition {
        job: &job,
        queue: &view.queue,
        job_type: &job_type,
        from,
        to: row.state,
        at: Timestamp::from_millis(row.finished_at),
    };
    frames.transition(&subscription.from.event_id(now), &transition);
}

fn type_of(view: &JobView) -> String {
    let body = ojs_model::json::object(&view.body.text);
    ojs_model::json::member(&body, "type").and_then(ojs_model::json::string).unwrap_or_default().into_owned()
}

async fn anything_behind(engine: &Engine, filter: &EventFilter, after: Place) -> Result<bool, Failure> {
    let mut after = after;
    loop {
        let (events, next, more) = engine.read_log(EventFilter { after, limit: 1, scan: 512, ..filter.clone() }).await?;
        if !events.is_empty() || !more {
            return Ok(!events.is_empty());
        }
        after = next;
    }
}

/// A body made of what comes through a channel.
pub fn streamed(body: Receiver<bytes::Bytes>) -> Body {
    let chunks = futures_util::stream::unfold(body, |mut body| async {
        let chunk = body.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), body))
    });
    Body::from_stream(chunks)
}

/// The answer that is a stream of events.
pub fn answer(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}
