//! Sessions of people who signed in with a key of the other server. The key stays in the memory of this process; a
//! browser has a cookie, whose secret means nothing to the other server.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::{HeaderMap, HeaderValue};
use ojs_engine::session_cookie::{LASTS_MS, begin_as, end_as, id_of, shown_as};
use ojs_model::Timestamp;
use rand::TryRngCore;
use tokio::sync::watch;

/// Not the name that servers use: browsers send a cookie to all ports of a host.
const COOKIE: &str = "ojs_ui_session";
/// Most sessions at a time; the one that would end first makes room.
const MOST: usize = 10_000;

/// All sessions, by the sums of their secrets.
#[derive(Debug, Default)]
pub struct Sessions(Mutex<HashMap<String, Session>>);

#[derive(Debug)]
struct Session {
    key: HeaderValue,
    ends_at: i64,
    /// Dropped with the session: streams that were opened in it end then.
    alive: watch::Sender<()>,
}

/// A session as a request finds it.
#[derive(Debug)]
pub struct Found {
    /// `Authorization` for the other server.
    pub key: HeaderValue,
    /// When the session ends.
    pub ends_at: Timestamp,
    ended: watch::Receiver<()>,
}

impl Found {
    /// Resolves when the session is over.
    pub async fn over(mut self) {
        let left = self.ends_at.as_millis().saturating_sub(now());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        // Nothing is ever sent: a change is the end of the sender.
        let _ = tokio::time::timeout(left, self.ended.changed()).await;
    }
}

impl Sessions {
    /// Begins a session that stands for a key; the value of `Set-Cookie`.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn begin(&self, key: HeaderValue, headers: &HeaderMap) -> Result<String, rand::rand_core::OsError> {
        let mut bits = [0_u8; 32];
        rand::rngs::OsRng.try_fill_bytes(&mut bits)?;
        let secret = ojs_model::hex::encode(&bits);
        let (alive, _) = watch::channel(());
        let session = Session { key, ends_at: now().saturating_add(LASTS_MS), alive };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = now();
        all.retain(|_, session| session.ends_at > at);
        if all.len() >= MOST {
            let first = all.iter().min_by_key(|(_, session)| session.ends_at).map(|(id, _)| id.clone());
            first.and_then(|id| all.remove(&id));
        }
        all.insert(id_of(&secret), session);
        Ok(begin_as(COOKIE, &secret, headers))
    }

    /// The session whose cookie a request shows.
    pub fn find(&self, headers: &HeaderMap) -> Option<Found> {
        let id = id_of(shown(headers)?);
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = all.get(&id).filter(|session| session.ends_at > now())?;
        let ends_at = Timestamp::from_millis(session.ends_at);
        Some(Found { key: session.key.clone(), ends_at, ended: session.alive.subscribe() })
    }

    /// Ends the session whose cookie a request shows; the value of `Set-Cookie`.
    pub fn end(&self, headers: &HeaderMap) -> Option<String> {
        let id = id_of(shown(headers)?);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        Some(end_as(COOKIE, headers))
    }
}

/// The secret that a request shows.
pub fn shown(headers: &HeaderMap) -> Option<&str> {
    shown_as(COOKIE, headers)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
