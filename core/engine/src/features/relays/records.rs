//! Relays as stores keep them: one row for each, written again with each heartbeat.
use crate::error::Result;
use crate::store::record::{Change, RecordTables, Records, Scan, record};

/// Most relays that are kept of one tenant, or of those without a tenant. A further one takes the place of the one that
/// has been silent the longest.
pub const MAX_OF_ONE: usize = 200;
/// Most relays of a store.
pub const MAX_IN_ALL: usize = 1_000;
/// Silence after which a relay counts as silent, milliseconds: four heartbeats.
pub const SILENT_AFTER_MS: i64 = 20_000;
/// Age of the oldest waiting row from which on a relay counts as stuck, milliseconds: a relay sends within seconds.
pub const STUCK_AFTER_MS: i64 = 60_000;
/// How long a silent relay is kept, milliseconds.
pub const KEEP_MS: i64 = 15 * 60_000;

record! {
    /// A relay and what it said last. Times are milliseconds since the epoch.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RelayRow in "relays" {
        key ("tenant", "id");
        index BEAT = "relays_beat" ("beat_at");
        index OF_TENANT = "relays_tenant" ("tenant", "beat_at");
        /// The tenant whose jobs it sends; empty for none.
        pub tenant: String,
        /// Its id, which it chooses itself.
        pub id: String,
        /// For people: usually the machine that it runs on.
        pub name: String,
        /// The kind of the database with the outbox.
        pub database_kind: String,
        /// The table.
        pub outbox: String,
        /// Whether it is the one that sends.
        pub is_leading: bool,
        /// Rows that wait.
        pub waiting: i64,
        /// Whether there are more: the relay has stopped counting there.
        pub waits_more: bool,
        /// Age of the oldest of them, milliseconds.
        pub oldest_ms: i64,
        /// Rows that the server has refused for good.
        pub parked: i64,
        /// Rows that it has relayed since its start.
        pub sent: i64,
        /// Rows that it has relayed per minute, between the last two heartbeats.
        pub pace: i64,
        /// What holds it up, in its own words.
        pub fault: Option<String>,
        /// When it was first heard of.
        pub first_at: i64,
        /// When it was last heard of.
        pub beat_at: i64,
    }
}

/// How a relay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayState {
    /// It sends what there is.
    Running,
    /// Rows have waited for too long.
    Stuck,
    /// Nothing has been heard of it lately.
    Silent,
}

impl RelayState {
    /// Its word in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stuck => "stuck",
            Self::Silent => "silent",
        }
    }
}

impl RelayRow {
    /// How it is at a time.
    #[must_use]
    pub const fn state(&self, now: i64) -> RelayState {
        if now.saturating_sub(self.beat_at) >= SILENT_AFTER_MS {
            RelayState::Silent
        } else if self.waiting > 0 && self.oldest_ms >= STUCK_AFTER_MS {
            RelayState::Stuck
        } else {
            RelayState::Running
        }
    }

    /// Goes on from what it said before: since when it is known, and how fast it has become.
    pub fn follow(&mut self, before: &Self) {
        self.first_at = before.first_at;
        let (rows, time) = (self.sent.saturating_sub(before.sent), self.beat_at.saturating_sub(before.beat_at));
        // Two heartbeats within a second say nothing about a minute.
        self.pace = if rows >= 0 && time >= 1_000 { rows.saturating_mul(60_000) / time } else { before.pace };
    }
}

/// Relays.
pub trait RelayTables: RecordTables {
    /// A relay of a tenant.
    ///
    /// # Errors
    /// A store that cannot be read, as everywhere here.
    fn relay(&mut self, tenant: &str, id: &str) -> Result<Option<RelayRow>> {
        Records::of(self).get(&(tenant, id))
    }

    /// Relays that were heard of after a time, of one tenant where one is named.
    ///
    /// # Errors
    /// See [`relay`](Self::relay).
    fn relays(&mut self, tenant: Option<&str>, since: i64) -> Result<Vec<RelayRow>> {
        let most = 2 * MAX_IN_ALL;
        match &tenant {
            Some(tenant) => Records::of(self).scan(&Scan::over(RelayRow::OF_TENANT).under(tenant).above(&since).limit(most)),
            None => Records::of(self).scan(&Scan::over(RelayRow::BEAT).above(&since).limit(most)),
        }
    }

    /// Writes a relay, known or new. A new one takes the place of the one that has been silent the longest, where there
    /// are [`MAX_OF_ONE`] of its tenant, or [`MAX_IN_ALL`].
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_relay(&mut self, row: &RelayRow, is_new: bool) -> Result<()> {
        let mut relays = Records::<RelayRow, _>::of(self);
        if is_new {
            let tenant = row.tenant.as_str();
            let own = relays.scan(&Scan::over(RelayRow::OF_TENANT).under(&tenant).limit(2 * MAX_OF_ONE))?;
            let surplus = (own.len() + 1).saturating_sub(MAX_OF_ONE);
            let mut gone: Vec<RelayRow> = own.into_iter().take(surplus).collect();
            if gone.is_empty() && relays.count(&Scan::over(RelayRow::KEY))? >= MAX_IN_ALL {
                gone = relays.scan(&Scan::over(RelayRow::BEAT).limit(1))?;
            }
            for old in gone {
                relays.delete(&(old.tenant.as_str(), old.id.as_str()))?;
            }
        }
        relays.put(row)
    }

    /// Forgets a relay, if it is known.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn delete_relay(&mut self, tenant: &str, id: &str) -> Result<()> {
        Records::<RelayRow, _>::of(self).delete(&(tenant, id))
    }

    /// Forgets relays that have been silent for [`KEEP_MS`].
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_relays(&mut self, now: i64) -> Result<()> {
        let until = now.saturating_sub(KEEP_MS);
        Records::<RelayRow, _>::of(self).change(&[Change::Remove(Scan::over(RelayRow::BEAT).to(&until))])
    }
}

impl<T: RecordTables + ?Sized> RelayTables for T {}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sent: i64, beat_at: i64) -> RelayRow {
        let text = String::new;
        RelayRow {
            tenant: text(),
            id: "r".into(),
            name: text(),
            database_kind: text(),
            outbox: text(),
            is_leading: true,
            waiting: 0,
            waits_more: false,
            oldest_ms: 0,
            parked: 0,
            sent,
            pace: 0,
            fault: None,
            first_at: beat_at,
            beat_at,
        }
    }

    #[test]
    fn a_relay_is_silent_after_four_heartbeats_and_stuck_with_a_row_that_is_a_minute_old() {
        let mut relay = row(0, 1_000);
        assert_eq!(relay.state(1_000 + SILENT_AFTER_MS - 1), RelayState::Running);
        assert_eq!(relay.state(1_000 + SILENT_AFTER_MS), RelayState::Silent);
        relay.oldest_ms = STUCK_AFTER_MS;
        assert_eq!(relay.state(1_000), RelayState::Running, "nothing waits");
        relay.waiting = 1;
        assert_eq!(relay.state(1_000), RelayState::Stuck);
        relay.oldest_ms -= 1;
        assert_eq!(relay.state(1_000), RelayState::Running);
    }

    #[test]
    fn the_pace_is_that_between_the_last_two_heartbeats() {
        let (first, mut second) = (row(10, 1_000), row(35, 6_000));
        second.follow(&first);
        assert_eq!((second.pace, second.first_at), (300, 1_000));
        let mut at_once = row(90, 6_100);
        at_once.follow(&second);
        assert_eq!(at_once.pace, 300, "too short a time");
        let mut again = row(0, 12_000);
        again.follow(&second);
        assert_eq!(again.pace, 300, "a count that begins anew");
    }
}
