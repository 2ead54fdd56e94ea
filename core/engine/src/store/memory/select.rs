//! The jobs of a selection, and their number.
use std::collections::{BTreeSet, HashSet};

use ojs_model::JobState;

use super::limits::Place;
use super::{MemoryTables, Stored};
use crate::error::Result;
use crate::kernel::holds::Holds;
use crate::kernel::job::{JobRow, Line};
use crate::store::listing::ListPlace;
use crate::store::names::{JobTypeRow, NameTables};
use crate::store::record::{Records, Scan};
use crate::store::rows::{DeadFilter, JobFilter, JobSort};
use crate::store::selection::Selection;

/// What a filter asks for, by numbers.
struct Numbers {
    queue: Option<i64>,
    job_types: Option<HashSet<i64>>,
}

impl Numbers {
    fn fit(&self, row: &JobRow) -> bool {
        self.queue.is_none_or(|queue| queue == row.queue)
            && self.job_types.as_ref().is_none_or(|wanted| wanted.contains(&row.job_type_id))
    }
}

impl MemoryTables {
    pub(super) fn selected(&mut self, wanted: &Selection<'_>, limit: usize) -> Result<Vec<JobRow>> {
        Ok(match *wanted {
            Selection::Scheduled { by } => self.first_in(JobState::Scheduled, by, limit),
            Selection::Retryable { by } => self.first_in(JobState::Retryable, by, limit),
            Selection::Overdue { by } => self.first(&self.leases, by, limit),
            Selection::Expired { by } => self.first(&self.expiring, by, limit),
            Selection::HeldBy { worker } => {
                let active = self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq));
                active.filter(|stored| stored.row.worker == worker).take(limit).map(|stored| stored.row.clone()).collect()
            }
            Selection::Above { seq } => self.jobs.range(seq + 1..).take(limit).map(|(_, stored)| stored.row.clone()).collect(),
            Selection::Oldest { queue } => {
                let line = self.ready.range((queue, i32::MIN, i64::MIN, i64::MIN)..(queue + 1, i32::MIN, i64::MIN, i64::MIN));
                let mut line: Vec<(i64, i64)> = line.map(|(_, _, sort_key, seq)| (*sort_key, *seq)).collect();
                line.sort_unstable();
                self.rows(line.into_iter().take(limit).map(|(_, seq)| seq))
            }
            Selection::Before { queue, rank, sort_key } => {
                let line = self.ready.range((queue, i32::MIN, i64::MIN, i64::MIN)..(queue, rank, sort_key, i64::MIN));
                self.rows(line.take(limit).map(|(_, _, _, seq)| *seq))
            }
            Selection::In { queue, state } => self.stored_in(queue, state).take(limit).map(|stored| stored.row.clone()).collect(),
            Selection::Running { key } => {
                let active = self.leases.iter().filter_map(|(_, seq)| self.jobs.get(seq));
                active.filter(|stored| stored.row.limit == key).take(limit).map(|stored| stored.row.clone()).collect()
            }
            Selection::Waiting { key } => self.rows(self.keys.waiting(key).take(limit)),
            Selection::Heads { key, line } => self.of_key(self.keys.places(key, line.queue, line.holds()).rev(), line, limit),
            Selection::Parked { key, line } => {
                self.of_key(self.keys.places(key, line.queue, line.holds().with(Holds::LIMIT)), line, limit)
            }
            Selection::OfTenant { tenant, queue, holds } => {
                self.in_set(queue, holds).filter(|row| row.tenant == tenant).take(limit).cloned().collect()
            }
            Selection::OfSet { queue, holds } => self.in_set(queue, holds).take(limit).cloned().collect(),
            Selection::Listed(filter) => self.listed(filter, limit)?,
            Selection::Dead(filter) => self.dead_letters(filter, limit)?,
            Selection::OldestDead => self.rows(self.dead.iter().take(limit).map(|(_, seq)| *seq)),
        })
    }

    pub(super) fn counted_of(&mut self, wanted: &Selection<'_>, most: usize) -> Result<usize> {
        Ok(match *wanted {
            Selection::Running { key } => usize::try_from(self.keys.running(key)).unwrap_or(0).min(most),
            Selection::Waiting { key } => self.keys.waiting(key).take(most).count(),
            Selection::Listed(filter) if filter.look > 0 => self.listed(filter, most)?.len(),
            Selection::Listed(filter) => {
                let numbers = self.numbers(filter.queue.as_deref(), filter.job_type.as_deref())?;
                self.jobs.values().filter(|stored| fits(&stored.row, filter, &numbers)).take(most).count()
            }
            _ => self.selected(wanted, most)?.len(),
        })
    }

    /// Available jobs of a queue that exactly this set of reasons holds, best first.
    fn in_set(&self, queue: i64, holds: Holds) -> impl Iterator<Item = &JobRow> {
        let (from, to) = holds.ranks();
        let line = self.ready.range((queue, from, i64::MIN, i64::MIN)..(queue, to, i64::MIN, i64::MIN));
        line.filter_map(|(_, _, _, seq)| self.jobs.get(seq)).map(|stored| &stored.row)
    }

    /// Jobs of a key that stand in a line.
    fn of_key<'a>(&self, places: impl Iterator<Item = &'a Place>, line: Line, limit: usize) -> Vec<JobRow> {
        let rows = places.filter_map(|place| self.jobs.get(&place.4)).map(|stored| &stored.row);
        rows.filter(|row| line.has(row)).take(limit).cloned().collect()
    }

    /// Jobs of a state that is ordered by the time they are due.
    fn first_in(&self, state: JobState, until: i64, limit: usize) -> Vec<JobRow> {
        let due = self.due.range(..=(until, i64::MAX)).filter_map(|(_, seq)| self.jobs.get(seq));
        due.filter(|stored| stored.row.state == state).take(limit).map(|stored| stored.row.clone()).collect()
    }

    fn first(&self, index: &BTreeSet<(i64, i64)>, until: i64, limit: usize) -> Vec<JobRow> {
        self.rows(index.range(..=(until, i64::MAX)).take(limit).map(|(_, seq)| *seq))
    }

    pub(super) fn stored_in(&self, queue: i64, state: JobState) -> impl Iterator<Item = &Stored> {
        self.jobs.values().filter(move |stored| stored.row.queue == queue && stored.row.state == state)
    }

    /// The queue of a name, and the job types that are the one wanted, or start so when that ends in `*`.
    fn numbers(&mut self, queue: Option<&str>, job_type: Option<&str>) -> Result<Numbers> {
        let queue = self.queue_wanted(queue)?;
        let Some(wanted) = job_type else { return Ok(Numbers { queue, job_types: None }) };
        let known: Vec<JobTypeRow> = Records::of(self).scan(&Scan::over(JobTypeRow::KEY))?;
        let fits = |row: &JobTypeRow| match wanted.strip_suffix('*') {
            Some(start) => row.name.starts_with(start),
            None => *row.name == *wanted,
        };
        Ok(Numbers { queue, job_types: Some(known.into_iter().filter(fits).map(|row| row.num).collect()) })
    }

    fn listed(&mut self, filter: &JobFilter, limit: usize) -> Result<Vec<JobRow>> {
        let numbers = self.numbers(filter.queue.as_deref(), filter.job_type.as_deref())?;
        let page = |rows: &mut dyn Iterator<Item = &JobRow>| rows.skip(filter.offset).take(limit).cloned().collect();
        let look = if filter.look == 0 { usize::MAX } else { filter.look };
        let of_state = |row: &JobRow| filter.state.is_none_or(|state| state == row.state);
        let wanted = |row: &&JobRow| filter.whole_look || fits(row, filter, &numbers);
        if filter.sort == JobSort::Created {
            let (from, to) = match (filter.behind, filter.ascending) {
                (Some(place), true) => (place.seq.saturating_add(1), i64::MAX),
                (Some(place), false) => (0, place.seq.saturating_sub(1)),
                (None, _) => (filter.after.saturating_add(1), i64::MAX),
            };
            let walked = self.jobs.range(from..=to.max(from)).map(|(_, stored)| &stored.row);
            let walked = walked.filter(|row| (from..=to).contains(&row.seq) && of_state(row));
            return Ok(match filter.ascending {
                true => page(&mut walked.take(look).filter(wanted)),
                false => page(&mut walked.rev().take(look).filter(wanted)),
            });
        }
        let all = self.jobs.range(filter.after.saturating_add(1)..).map(|(_, stored)| &stored.row).filter(|row| of_state(row));
        let place = |row: &JobRow| ListPlace::of(row, filter);
        let mut rows: Vec<&JobRow> = all.filter(|row| filter.behind.is_none_or(|at| at.is_before(place(row), filter))).collect();
        rows.sort_by(|a, b| place(a).compare(place(b), filter));
        Ok(page(&mut rows.into_iter().take(look).filter(wanted)))
    }

    fn dead_letters(&mut self, filter: &DeadFilter, limit: usize) -> Result<Vec<JobRow>> {
        let numbers = self.numbers(filter.queue.as_deref(), filter.job_type.as_deref())?;
        let look = if filter.look > 0 { filter.look } else { usize::MAX };
        let behind = |at: &&(i64, i64)| filter.behind.is_none_or(|place| **at < (place.key, place.seq));
        let newest = self.dead.iter().rev().filter(behind).take(look).filter_map(|(_, seq)| self.jobs.get(seq));
        let newest = newest.filter(|stored| filter.error_type.as_ref().is_none_or(|wanted| *wanted == stored.error_type()));
        let matching = newest.map(|stored| &stored.row).filter(|row| {
            numbers.fit(row)
                && filter.tenant.is_none_or(|tenant| tenant == row.tenant)
                && filter.since.is_none_or(|at| row.finished_at >= at)
                && filter.until.is_none_or(|at| row.finished_at < at)
        });
        Ok(matching.skip(filter.offset).take(limit).cloned().collect())
    }
}

fn fits(row: &JobRow, filter: &JobFilter, numbers: &Numbers) -> bool {
    numbers.fit(row)
        && filter.tenant.is_none_or(|tenant| tenant == row.tenant)
        && filter.state.is_none_or(|state| state == row.state)
        && filter.since.is_none_or(|at| row.created_at >= at)
        && filter.until.is_none_or(|at| row.created_at < at)
}
