//! Dead letters: run again, deleted, pruned (protocol section 8.9). One by one, or all that a filter finds.
use std::time::Duration;

use ojs_model::state::Trigger;
use ojs_model::{JobId, JobState, OjsError, RetryPolicy, envelope};

use crate::error::{Applied, StoreError};
use crate::features::dead_letters::records::{DeadPage, DeadStats, Override};
use crate::kernel::aside::SLICE;
use crate::kernel::command::Changed;
use crate::kernel::job::{JobRow, flag};
use crate::kernel::retention::Retention;
use crate::kernel::transaction::Transaction;
use crate::kernel::view::view;
use crate::store::listing::ListPlace;
use crate::store::rows::DeadFilter;
use crate::store::selection::Selection;
use crate::store::tables::Tables;

impl Transaction<'_> {
    /// Dead-letter retry: same id, fresh attempts, history kept.
    pub(crate) fn replay(&mut self, id: JobId, change: Option<&Override>) -> Applied<Changed> {
        let Some(before) = self.tables.visible(id)? else {
            return Err(OjsError::not_found("dead letter", &id.to_string()).into());
        };
        if !before.state.accepts(Trigger::Replay) {
            return Err(OjsError::wrong_state(id, before.state, "discarded").into());
        }
        let row = self.replay_row(&before, change)?;
        self.changed(row, before.state)
    }

    pub(crate) fn replay_row(&mut self, before: &JobRow, change: Option<&Override>) -> Applied<JobRow> {
        let mut row = before.clone();
        (row.attempt, row.releases, row.started_at, row.finished_at, row.retry_delay) = (0, 0, 0, 0, 0);
        // An operator has decided: what limited the first life is over, and would end this one at once.
        row.flags &= !(flag::DEAD | flag::EXPIRED | flag::ERROR | flag::TOTAL | flag::TTL);
        if let Some(change) = change {
            self.override_job(&mut row, change)?;
        }
        let mut waits = false;
        for on_replay in self.counters.features.iter().filter_map(|feature| feature.on_replay) {
            waits |= on_replay(self, &mut row)?;
        }
        let row = if waits {
            self.transition(before, row, Trigger::Replay, JobState::Pending)?
        } else {
            self.make_available(before, row, Trigger::Replay)?
        };
        self.emit("dead_letter.retried", &row, "")?;
        Ok(row)
    }

    fn override_job(&mut self, row: &mut JobRow, change: &Override) -> Applied<()> {
        if change.changes_body() {
            let mut body = self.tables.body(row.seq)?;
            let policy = match &change.retry {
                Some(value) => Some(RetryPolicy::parse(value, &self.policy(row)?)?),
                None => None,
            };
            let retry = policy.as_ref().map(|policy| {
                let mut text = String::new();
                policy.push_json(&mut text);
                text
            });
            let tenant = envelope::tenant_in(&body.text)?;
            body.text = change.apply(&body.text, retry.as_deref())?;
            if envelope::tenant_in(&body.text)? != tenant {
                let message = "meta.tenant_id cannot be changed: a job stays with its tenant.";
                return Err(OjsError::invalid_field("meta.tenant_id", message).into());
            }
            if let (Some(text), Some(policy)) = (retry, policy) {
                body.retry = Some(text);
                row.max_attempts = policy.max_attempts;
            }
            let job_type = self.tables.job_type_name(row.job_type_id)?;
            self.judge(&job_type, &body.text)?;
            self.tables.set_body(row.seq, &body)?;
            // The new meta may name another trace.
            self.keep_trace(row.seq, &body);
            if self.traces.get(&row.seq).is_some_and(|id| !id.is_empty()) {
                row.flags |= flag::TRACED;
            }
        }
        if let Some(name) = &change.queue {
            row.queue = self.queue_for_use(name)?.num;
        }
        row.priority = change.priority.unwrap_or(row.priority);
        Ok(())
    }

    /// Runs the next slice of the dead letters that a filter finds; answers which.
    pub(crate) fn replay_dead(&mut self, filter: &DeadFilter) -> Applied<Vec<JobId>> {
        let rows = self.tables.dead(&slice(filter))?;
        for row in &rows {
            self.replay_row(row, None)?;
        }
        Ok(rows.iter().map(|row| row.id).collect())
    }

    pub(crate) fn delete_dead_letter(&mut self, id: JobId) -> Applied<()> {
        let row = self.tables.visible(id)?.filter(|row| row.has(flag::DEAD));
        let Some(row) = row else {
            return Err(OjsError::not_found("dead letter", &id.to_string()).into());
        };
        self.forget_dead(&row, "dead_letter.deleted", "")
    }

    /// Deletes the next slice of the dead letters that a filter finds; answers which.
    pub(crate) fn delete_dead_letters(&mut self, filter: &DeadFilter) -> Applied<Vec<JobId>> {
        let rows = self.tables.dead(&slice(filter))?;
        for row in &rows {
            self.forget_dead(row, "dead_letter.deleted", "")?;
        }
        Ok(rows.iter().map(|row| row.id).collect())
    }

    pub(crate) fn forget_dead(&mut self, row: &JobRow, event: &str, extra: &str) -> Applied<()> {
        self.emit(event, row, extra)?;
        self.erase(row)
    }

    /// One slice of what is kept too long, then of what is too much, the oldest first. True when there may be more.
    pub(crate) fn prune_dead_letters(&mut self, keep: &Retention) -> Applied<bool> {
        let age = i64::try_from(keep.dead_letters.min(Duration::from_secs(u64::MAX / 1000)).as_millis()).unwrap_or(i64::MAX);
        let until = Some(self.now.as_millis().saturating_sub(age));
        let old = self.tables.dead(&DeadFilter { until, limit: SLICE, ..DeadFilter::default() })?;
        for row in &old {
            self.forget_dead(row, "dead_letter.pruned", "\"reason\":\"max_age\"")?;
        }
        if old.len() == SLICE {
            return Ok(true);
        }
        // Newest first: what lies behind the allowed number is the oldest.
        let offset = usize::try_from(keep.max_dead_letters).unwrap_or(usize::MAX);
        let surplus = self.tables.dead(&DeadFilter { offset, limit: SLICE, ..DeadFilter::default() })?;
        for row in &surplus {
            self.forget_dead(row, "dead_letter.pruned", "\"reason\":\"max_count\"")?;
        }
        Ok(surplus.len() == SLICE)
    }
}

fn slice(filter: &DeadFilter) -> DeadFilter {
    DeadFilter { limit: SLICE, offset: 0, ..filter.clone() }
}

/// A page of dead letters. What a filter finds is looked for among `look` of them, because no index knows it.
pub(crate) fn list_dead(tables: &mut dyn Tables, filter: &DeadFilter) -> Applied<DeadPage> {
    let tenant = tables.names().scope.num().or(filter.tenant);
    let filter = DeadFilter { tenant, limit: filter.limit + 1, ..filter.clone() }.compared_with(filter.look);
    let is_partial = compares_a_part(tables, &filter)?;
    // Where all are compared, the plain statement ends with the page.
    let filter = if is_partial { filter } else { DeadFilter { look: 0, ..filter } };
    let mut rows = tables.dead(&filter)?;
    let is_full = rows.len() == filter.limit;
    rows.truncate(filter.limit - 1);
    // The first page has everything that is found when it is not full.
    let is_all = !is_full && filter.offset == 0 && filter.behind.is_none();
    let total = if is_all { rows.len() } else { tables.dead_found(&filter)? };
    let next = match rows.last() {
        Some(last) if is_full => Some(DeadFilter::place(last)),
        _ if is_partial => look_end(tables, &filter)?,
        _ => None,
    };
    let jobs = rows.into_iter().map(|row| view(tables, row)).collect::<Result<_, _>>()?;
    Ok(DeadPage { jobs, total, is_partial, next })
}

/// Whether there are more dead letters than the filter is compared with.
pub(crate) fn compares_a_part(tables: &mut dyn Tables, filter: &DeadFilter) -> Result<bool, StoreError> {
    Ok(filter.look > 0 && tables.dead_count()? > filter.look)
}

/// Where the comparison with a filter has ended, when there are dead letters behind that place.
fn look_end(tables: &mut dyn Tables, filter: &DeadFilter) -> Result<Option<ListPlace>, StoreError> {
    let end = DeadFilter { behind: filter.behind, limit: 2, offset: filter.look - 1, ..DeadFilter::default() };
    let rows = tables.select(&Selection::Dead(&end), end.limit)?;
    Ok(rows.first().filter(|_| rows.len() == end.limit).map(DeadFilter::place))
}

/// Counts of dead letters. Those of all queues are kept; the others are counted among the newest `look`.
pub(crate) fn dead_stats(tables: &mut dyn Tables, look: usize) -> Result<DeadStats, StoreError> {
    let (tenant, kept) = (tables.names().scope.num(), tables.dead_count()?);
    let mut stats = DeadStats { is_partial: kept > look, ..tables.dead_stats(tenant, look)? };
    if stats.is_partial && tenant.is_none() {
        stats.total = u64::try_from(kept).unwrap_or(u64::MAX);
        stats.by_queue = tables.dead_by_queue()?;
        stats.oldest_at = tables.select(&Selection::OldestDead, 1)?.first().map(|row| row.finished_at);
    }
    Ok(stats)
}
