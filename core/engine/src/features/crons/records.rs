//! A cron entry as stores keep it.
use ojs_model::JobId;
use ojs_model::envelope::DEFAULT_TENANT;

use crate::error::Result;
use crate::kernel::scope::Scope;
use crate::store::record::{Read, RecordTables, Records, Scan, record, words};

/// What happens when an entry is due and its last job has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Overlap {
    /// No new job.
    Skip = 0,
    /// A new job beside it.
    Allow = 1,
    /// The last job is cancelled.
    CancelPrevious = 2,
    /// A new job as soon as it has ended.
    Enqueue = 3,
}

words! { Overlap { Skip = "skip", Allow = "allow", CancelPrevious = "cancel_previous", Enqueue = "enqueue" } }

impl Overlap {
    /// Reads a word, the other vocabulary included.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "cancel" | "replace" => Some(Self::CancelPrevious),
            "queue" => Some(Self::Enqueue),
            _ => Self::from_word(word),
        }
    }
}

record! {
    /// A cron entry. Times are milliseconds since the epoch; 0 is "never".
    #[derive(Debug, Clone, PartialEq)]
    pub struct CronRow in "crons" {
        key ("name");
        index NEXT = "crons_next" ("next_at") positive;
        index WAITING = "crons_waiting" ("waiting") positive;
        /// Its name: unique.
        pub name: String,
        /// When it fires.
        pub expression: String,
        /// On which wall clock: an IANA name.
        pub timezone: String,
        /// What happens when the last job has not ended.
        pub overlap: Overlap,
        /// Whether it fires at all.
        pub enabled: bool,
        /// For people.
        pub description: Option<String>,
        /// Enqueue request of its jobs.
        pub template: String,
        /// First registration.
        pub created_at: i64,
        /// Next time; 0 when disabled or when there is none.
        pub next_at: i64,
        /// Latest time it fired.
        pub last_at: i64,
        /// Jobs created.
        pub run_count: i64,
        /// Latest job.
        pub last_job: Option<JobId>,
        /// Jobs that wait for the latest one to end ([`Overlap::Enqueue`]).
        pub waiting: i64,
    }
}

/// Between the tenant and the name that the tenant gave an entry. No client can use it in a name.
const OF: char = '/';

impl CronRow {
    /// The name of an entry of a tenant as stores keep it: two tenants may use the same name.
    #[must_use]
    pub fn name_of(tenant: Option<&str>, name: &str) -> String {
        match tenant.filter(|tenant| *tenant != DEFAULT_TENANT) {
            Some(tenant) => format!("{tenant}{OF}{name}"),
            None => name.to_owned(),
        }
    }

    /// Its tenant; `None` for the default one.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.name.split_once(OF).map(|(tenant, _)| tenant)
    }

    /// The name that its tenant gave it.
    #[must_use]
    pub fn own_name(&self) -> &str {
        self.name.split_once(OF).map_or(&self.name, |(_, name)| name)
    }

    /// Whether a caller sees it.
    #[must_use]
    pub fn is_seen(&self, scope: &Scope) -> bool {
        scope.id().is_none_or(|id| &**id == self.tenant().unwrap_or(DEFAULT_TENANT))
    }
}

/// Cron entries.
pub trait CronTables: RecordTables {
    /// One entry. A transaction that writes holds it until its end, or its name where there is none.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn cron(&mut self, name: &str) -> Result<Option<CronRow>> {
        Records::of(self).find(CronRow::KEY, &name, Read::Reserved)
    }

    /// All entries by name.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn crons(&mut self) -> Result<Vec<CronRow>> {
        Records::of(self).scan(&Scan::over(CronRow::KEY))
    }

    /// Writes an entry, new or known.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_cron(&mut self, row: &CronRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Deletes an entry.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn delete_cron(&mut self, name: &str) -> Result<()> {
        Records::<CronRow, _>::of(self).delete(&name)
    }

    /// Deletes the entries of a tenant.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_crons_of(&mut self, tenant: &str) -> Result<()> {
        for row in self.crons()?.iter().filter(|row| row.tenant() == Some(tenant)) {
            self.delete_cron(&row.name)?;
        }
        Ok(())
    }

    /// Entries that are due, and those that have jobs waiting for another one to end.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn due_crons(&mut self, now: i64) -> Result<Vec<CronRow>> {
        let mut due: Vec<CronRow> = Records::of(self).scan(&Scan::over(CronRow::NEXT).to(&now).hold(Read::Held))?;
        let waiting: Vec<CronRow> = Records::of(self).scan(&Scan::over(CronRow::WAITING).hold(Read::Held))?;
        due.extend(waiting.into_iter().filter(|row| row.next_at <= 0 || row.next_at > now));
        Ok(due)
    }
}

impl<T: RecordTables + ?Sized> CronTables for T {}
