//! The open transaction of a connection: the statements sent in it, and the writes that it has collected.
use std::sync::atomic::Ordering;

use ojs_model::Timestamp;
use tokio_postgres::Row;

use super::connection::{Answer, Ask};
use super::log::Look;
use super::params::Param;
use super::rows::{get, read_job};
use super::{PostgresTables, Role, target};
use crate::error::{Result, StoreError};
use crate::kernel::clock::Clock;
use crate::kernel::job::JobRow;

impl PostgresTables {
    pub(super) fn writes(&self) -> bool {
        self.role != Role::Reader
    }

    /// Sends statements in the open transaction, opening it first when need be.
    pub(super) fn ask(&mut self, asks: &[Ask<'_>]) -> Result<Vec<Answer>> {
        if self.open {
            return self.noted(|tables| tables.db.ask(None, asks));
        }
        self.db.revive()?;
        if self.look == Look::Wanted {
            self.look_at_numbers()?;
        }
        let opening = self.opening();
        let mut all = vec![Ask::new(sql!("begin"), &[])];
        all.extend(asks.iter().cloned());
        self.open = true;
        let mut opened = self.noted(|tables| tables.db.ask(Some(&opening), &all));
        if matches!(opened, Err(StoreError::Unavailable(_))) {
            // The connection was lost while it was not in use: nothing has been done in this transaction, so it may
            // begin on another one.
            self.db.revive()?;
            self.look = Look::Before;
            opened = self.noted(|tables| tables.db.ask(Some(&opening), &all));
        }
        let mut answers = opened?;
        let first = answers.remove(0);
        let row = first.rows.first().ok_or_else(|| StoreError::Failed("ojs_epoch is empty: restore its row".into()))?;
        self.now = Timestamp::from_millis(get(row, 0)?);
        self.node.ahead.store(self.now.as_millis() - crate::kernel::clock::SystemClock.now().as_millis(), Ordering::Relaxed);
        let epoch: i64 = get(row, 1)?;
        if self.epoch != epoch {
            self.names.forget();
            self.epoch = epoch;
        }
        Ok(answers)
    }

    /// Remembers that a conflict happened.
    pub(super) fn noted<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = work(self);
        self.careful |= matches!(outcome, Err(StoreError::Conflict(_)));
        outcome
    }

    pub(super) fn opening(&self) -> String {
        let mut sql = match self.role {
            Role::Reader => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;".to_owned(),
            Role::Writer | Role::Maintenance => "BEGIN;".to_owned(),
        };
        if self.writes() && !self.durable {
            sql.push_str("SET LOCAL synchronous_commit = off;");
        }
        if !self.db.session().named {
            sql.push_str(&target::settings(true));
        }
        sql
    }

    pub(super) fn query(&mut self, sql: &'static str, params: &[&dyn Param]) -> Result<Vec<Row>> {
        let mut answers = self.ask(&[Ask::new(sql, params)])?;
        let answer = answers.pop().unwrap_or_default();
        if ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| sql.starts_with(verb)) {
            self.changes += answer.changed;
        }
        Ok(answer.rows)
    }

    pub(super) fn execute(&mut self, sql: &'static str, params: &[&dyn Param]) -> Result<u64> {
        let changed = self.ask(&[Ask::new(sql, params)])?.pop().map_or(0, |answer| answer.changed);
        self.changes += changed;
        Ok(changed)
    }

    /// Writes what has gathered, so that a query sees it.
    pub(super) fn flush(&mut self) -> Result<()> {
        if !self.unit_of_work.is_dirty() {
            return Ok(());
        }
        let writes = self.unit_of_work.take_writes(self.shard)?;
        let asks = writes.asks()?;
        if asks.is_empty() {
            return Ok(());
        }
        let answers = self.ask(&asks)?;
        self.noted(|_| writes.check(&asks, &answers))?;
        self.unit_of_work.note_filed(writes.filed(&asks, &answers)?);
        Ok(())
    }

    /// Rows of a statement, as this transaction sees them.
    pub(super) fn job_rows(&mut self, sql: &'static str, params: &[&dyn Param]) -> Result<Vec<JobRow>> {
        self.flush()?;
        let rows = self.query(sql, params)?;
        rows.iter().map(|row| Ok(self.unit_of_work.track(read_job(row)?))).collect()
    }
}
