//! The load: requests made beforehand, sent over a fixed number of connections by one thread.
pub mod enqueue;
pub mod noop;
pub mod worker;

use std::future::Future;

use crate::Result;

/// The queue of all scenarios.
pub const QUEUE: &str = "bench";
/// Bytes of the one argument of every job, as JSON text.
pub const PAYLOAD_BYTES: usize = 150;

/// The argument: an object with a text, as long as [`PAYLOAD_BYTES`].
pub fn payload() -> String {
    let frame = r#"{"to":"user@example.com","template":"welcome","text":""}"#;
    let (head, tail) = frame.split_at(frame.len() - 2);
    format!("{head}{}{tail}", "x".repeat(PAYLOAD_BYTES - frame.len()))
}

/// Runs the load on one thread: it takes at most one core away from what it measures.
pub fn on_one_thread<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_payload_has_its_size() {
        let text = super::payload();
        assert_eq!(text.len(), super::PAYLOAD_BYTES);
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }
}
