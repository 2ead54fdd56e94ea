//! Events as they happen.
use std::time::Duration;

use ojs::EventFilter;
use ojs::client::{Event, Events};
use ojs_abi::error::AbiError;
use ojs_abi::follower;
use ojs_abi::process::Owner;
use ojs_abi::runtime;
use serde_json::json;
use tokio::sync::{Mutex, Notify};

use crate::client::ojs_client;
use crate::error::{enter, enter_new, given, ojs_error};
use crate::slice::{ojs_buf, ojs_slice, put, put_new};

/// What happens, from some point on. Free with ojs_events_free().
pub struct ojs_events {
    owner: Owner,
    inner: Mutex<Events>,
    unblock: Notify,
}

/// Follows what happens: jobs, queues, workers, workflows. `filter` is a JSON object, or empty: `types`, `queues` and
/// `job_types` are lists of names (types may end in `*`), `after` is the id of the event behind which it begins, `""`
/// the oldest that is kept; without it it begins where the log ends when the first event is asked for.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_events_new(
    client: Option<&ojs_client>,
    filter: ojs_slice,
    out: *mut *mut ojs_events,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_events_new", out, || {
        let client = given(client, "client")?;
        let filter = match filter.text("filter")? {
            "" => EventFilter::default(),
            text => serde_json::from_str(text).map_err(|e| AbiError::invalid(format!("filter: {e}")))?,
        };
        let client = runtime::handle()?.block_on(client.link.client())?;
        let inner = Mutex::new(client.events(filter));
        Ok(ojs_events { owner: Owner::current(), inner, unblock: Notify::new() })
    })
}

/// For programs that make their requests themselves: the next request of a reader of events, a JSON object of `path`,
/// `wait_ms`, `pause_ms` and `state`. The program pauses, sends `GET path` with that much time for the server to hold
/// its answer back, and says in `said` what has come of it, a JSON object: `{"begin": filter}` for the first request,
/// `{"answered": {"state", "events", "cursor"}}` with the number of events, or
/// `{"failed": {"state", "error": {"connection", "status", "code", "retryable"}}}`. `out` is `null` when the error ends
/// the reader. Requests over an ojs_client need only ojs_events_next().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_events_follow(said: ojs_slice, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_events_follow", out, || Ok(ojs_buf::new(follower::follow(said.text("said")?)?.into_bytes())))
}

/// The next event, a JSON object of `id`, `type`, `time`, `subject` and `data`; waits for it for at most `wait_ms`
/// (negative: until there is one, or an unblock). NULL when there was none. When the connection is lost it asks again
/// from where it was: no event is missed, none comes twice. A refusal, and a fault of the first request, ends it: the
/// class is then CLOSED from the next call on. For one thread at a time; others wait for their turn.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_events_next(
    events: Option<&ojs_events>,
    wait_ms: i64,
    event: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    put(event, std::ptr::null_mut());
    enter("ojs_events_next", || {
        let events = given(events, "events")?;
        events.owner.check("events")?;
        if event.is_null() {
            return Err(AbiError::invalid("event is NULL: it would be lost"));
        }
        let found = runtime::handle()?.block_on(async {
            let next = async { Some(events.inner.lock().await.next().await) };
            let over = async {
                match u64::try_from(wait_ms) {
                    Ok(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                    Err(_negative) => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                found = next => found,
                () = events.unblock.notified() => None,
                () = over => None,
            }
        });
        match found {
            None => Ok(()),
            Some(Some(Ok(found))) => {
                put_new(event, ojs_buf::new(text(&found)?));
                Ok(())
            }
            Some(Some(Err(error))) => Err(AbiError::Sdk(error)),
            Some(None) => Err(AbiError::Closed("the list of events, which an error has ended,")),
        }
    })
}

fn text(event: &Event) -> Result<String, AbiError> {
    let head = json!({
        "id": event.id,
        "type": event.event_type,
        "time": event.time.map(|time| time.to_string()),
        "subject": event.subject,
    })
    .to_string();
    let data = std::str::from_utf8(event.data.as_bytes()).map_err(|e| AbiError::System(e.to_string()))?;
    // Numbers in the data keep their digits.
    Ok(format!("{},\"data\":{data}}}", head.trim_end_matches('}')))
}

/// Sends the one who waits in ojs_events_next() home, once; else the next one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_events_unblock(events: Option<&ojs_events>) {
    if let Some(events) = events {
        events.unblock.notify_one();
    }
}

/// Frees a list of events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_events_free(events: Option<Box<ojs_events>>) {
    let Some(events) = events else { return };
    if !events.owner.is_current() {
        // A forked child takes nothing of its parent's down.
        std::mem::forget(events);
        return;
    }
    drop(enter("ojs_events_free", || {
        // What is under way belongs to the runtime.
        runtime::handle()?.spawn(async move { drop(events) });
        Ok(())
    }));
}
