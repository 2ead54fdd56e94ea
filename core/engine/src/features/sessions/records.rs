//! Sessions as stores keep them: all servers of one database know them, and they outlive a restart.
use crate::error::Result;
use crate::store::record::{Change, RecordTables, Records, Scan, record};

/// How long a session lasts, milliseconds: a working day. It is not renewed by use.
pub const LASTS_MS: i64 = 12 * 3_600_000;
/// Most sessions of one key. A further one ends the oldest, so that what is stored is bounded by the number of keys.
pub const MAX_PER_KEY: usize = 100;

record! {
    /// A session. What the cookie holds cannot be made from what is stored.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SessionRow in "sessions" {
        key ("id");
        index OF_KEY = "sessions_key" ("key_name", "expires_at");
        index EXPIRES = "sessions_expires" ("expires_at");
        /// SHA-256 of the secret in the cookie, hexadecimal.
        pub id: String,
        /// The name of the key that began it.
        pub key_name: String,
        /// SHA-256 of the sum that the file of keys had for that key, hexadecimal: another key of the same name does
        /// not continue it.
        pub key_mark: String,
        /// When it ends, milliseconds.
        pub expires_at: i64,
    }
}

/// Sessions.
pub trait SessionTables: RecordTables {
    /// The session of an id, ended or not.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn session(&mut self, id: &str) -> Result<Option<SessionRow>> {
        Records::of(self).get(&id)
    }

    /// Stores a session. Where its key has [`MAX_PER_KEY`] already, those that end first are removed: their ids.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn begin_session(&mut self, row: &SessionRow) -> Result<Vec<String>> {
        let mut sessions = Records::<SessionRow, _>::of(self);
        let key = row.key_name.as_str();
        let known = sessions.scan(&Scan::over(SessionRow::OF_KEY).under(&key).limit(2 * MAX_PER_KEY))?;
        let surplus = (known.len() + 1).saturating_sub(MAX_PER_KEY);
        let removed: Vec<String> = known.into_iter().take(surplus).map(|old| old.id).collect();
        for id in &removed {
            sessions.delete(&id.as_str())?;
        }
        sessions.put(row)?;
        Ok(removed)
    }

    /// Ends a session, if there is one.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn end_session(&mut self, id: &str) -> Result<()> {
        Records::<SessionRow, _>::of(self).delete(&id)
    }

    /// Removes sessions that have ended by now.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_sessions(&mut self, now: i64) -> Result<()> {
        Records::<SessionRow, _>::of(self).change(&[Change::Remove(Scan::over(SessionRow::EXPIRES).to(&now))])
    }
}

impl<T: RecordTables + ?Sized> SessionTables for T {}
