//! The end of a session. Streams that were opened with its cookie wait for it, and end then.
use std::time::Duration;

use crate::engine::Engine;
use crate::features::sessions::commands::GetSession;
use crate::kernel::wake::Signal;

/// How often a session is looked up without a signal. A node that was cut off from the others has missed their signals.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Resolves when a session is over: it was ended, it made room for another one, or its time has passed. It never
/// resolves because of an engine that closes or a store that cannot be read.
pub async fn over(engine: &Engine, id: &str) {
    let signal = Signal::Session(id.to_owned());
    loop {
        // Registered before the look: an end that comes in between is not missed.
        let ended = engine.watch(&signal);
        let pause = match engine.query(GetSession(id.to_owned())).await {
            Ok(None) => return,
            Ok(Some(row)) => match u64::try_from(row.expires_at.saturating_sub(engine.now().as_millis())) {
                Ok(left) if left > 0 => LOOK_EVERY.min(Duration::from_millis(left)),
                _ => return,
            },
            Err(_) => LOOK_EVERY,
        };
        tokio::select! {
            () = ended.woken() => {}
            () = tokio::time::sleep(pause) => {}
            // Streams end when their engine closes.
            () = engine.closed() => return std::future::pending().await,
        }
    }
}
