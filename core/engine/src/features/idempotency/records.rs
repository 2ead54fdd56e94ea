//! Idempotency keys: the answer that a request got is given again to the same request (bulk operations, section 10).
use crate::error::Result;
use crate::store::record::{Change, Read, RecordTables, Records, Scan, record};

/// How long an answer is kept: the day that the document asks for.
pub const KEEP_MS: i64 = 24 * 3_600_000;
/// Longest key, characters.
pub const MAX_KEY_CHARS: usize = 256;

/// A key as a client sent it, and what it was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The operation, whose request it is, and the client's key: a key of one operation, or one client, is another key for the next.
    pub name: String,
    /// SHA-256 of the request.
    pub digest: [u8; 32],
}

impl IdempotencyKey {
    /// A client's key. `caller` is the name of the API key that it came with: two tenants of a server may use the same words.
    #[must_use]
    pub fn new(operation: &str, caller: Option<&str>, given: &str, digest: [u8; 32]) -> Self {
        let name = match caller {
            // With its length: no name and key read like another name and key.
            Some(caller) => format!("{operation}@{}:{caller}:{given}", caller.len()),
            None => format!("{operation}:{given}"),
        };
        Self { name, digest }
    }
}

record! {
    /// An answer as it was given.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Remembered in "answers" {
        key ("name");
        index AT = "answers_at" ("at");
        /// The key that the answer is kept under: see [`IdempotencyKey::name`].
        pub name: String,
        /// SHA-256 of the request that it answered.
        pub digest: Vec<u8>,
        /// Status code.
        pub status: u16,
        /// The body.
        pub body: String,
        /// When, milliseconds.
        pub at: i64,
    }
}

impl Remembered {
    /// Whether the answer is given again at a time in milliseconds. An older one may not be removed yet.
    pub(crate) fn is_recent(&self, now: i64) -> bool {
        self.at > now.saturating_sub(KEEP_MS)
    }
}

/// Answers by key.
pub trait AnswerTables: RecordTables {
    /// The answer under a key. A transaction that writes holds the key until its end: the second that asks finds what
    /// the first stored.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn answer_under(&mut self, name: &str) -> Result<Option<Remembered>> {
        Records::of(self).find(Remembered::KEY, &name, Read::Reserved)
    }

    /// Keeps an answer, instead of an older one under the same key.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn remember(&mut self, answer: &Remembered) -> Result<()> {
        Records::of(self).put(answer)
    }

    /// Forgets answers given before.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_answers(&mut self, before: i64) -> Result<()> {
        Records::<Remembered, _>::of(self).change(&[Change::Remove(Scan::over(Remembered::AT).below(&before))])
    }
}

impl<T: RecordTables + ?Sized> AnswerTables for T {}
