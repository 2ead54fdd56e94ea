//! Orders and questions of operators.
use ojs_model::{ErrorCode, JobError, JobState, OjsError, Timestamp};

use crate::error::{Applied, StoreError};
use crate::features::admin::filter::Search;
use crate::features::admin::records::{Gauges, JobPage, JobStep, MAX_COUNTED, Maintenance};
use crate::features::progress::records::ProgressTables as _;
use crate::features::queue_config::commands::counted;
use crate::features::statistics::records::{HOUR, KEEP_HOURS, KEEP_MINUTES, MINUTE, StatFilter, StatRow, sum_up};
use crate::features::tenants::commands::figures;
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;
use crate::kernel::view::view;
use crate::kernel::worker::STALE_AFTER_MS;
use crate::store::listing::{LOOK, ListPlace};
use crate::store::rows::{Counts, JobFilter, JobSort, WorkerRow};
use crate::store::tables::Tables;

/// Jobs taken from a dropped worker at a time.
const SLICE: usize = 500;
/// Looks of a page with a number, at most.
const LOOKS: usize = 50;
/// Jobs that one page of a search compares, at most.
pub(crate) const SEARCHED: usize = 1_000;
/// Bytes in them that one page of a search reads, at most.
const SEARCHED_BYTES: usize = 8 * 1_024 * 1_024;
/// Rows of figures summed up at a time.
const ROLLED: usize = 5_000;

impl Transaction<'_> {
    /// Begins or ends maintenance.
    pub(crate) fn maintain(&mut self, maintenance: Option<&Maintenance>) -> Result<(), StoreError> {
        self.tables.set_maintenance(maintenance)?;
        if maintenance.is_none() {
            self.call_all_waiters()?;
        }
        Ok(())
    }

    /// Sums figures up to hours after a day, and drops them after a month; one slice.
    pub(crate) fn roll_stats(&mut self) -> Result<(), StoreError> {
        let now = self.now.as_millis();
        let day_ago = now.saturating_sub(KEEP_MINUTES);
        let minutes = self.tables.take_stats(MINUTE, day_ago - day_ago.rem_euclid(HOUR), ROLLED)?;
        // A number that no other process has: no other process writes its hours.
        let node = self.counters.leases.end;
        let mut hours = sum_up(minutes, node);
        if let (Some(first), Some(last)) = (hours.first().map(|row| row.at), hours.last().map(|row| row.at)) {
            let known = self.tables.stats(&StatFilter { since: first, until: last.saturating_add(1), queue: None })?;
            for row in &mut hours {
                let same = |old: &&StatRow| (old.at, old.span, old.queue, old.node) == (row.at, HOUR, row.queue, node);
                if let Some(old) = known.iter().find(same) {
                    row.merge(old);
                }
            }
            self.tables.put_stats(&hours)?;
        }
        self.tables.take_stats(HOUR, now.saturating_sub(KEEP_HOURS), ROLLED).map(drop)
    }

    /// What the sweep does to dead workers, for one that an operator knows to be dead earlier. Never to one that still beats: it would go on
    /// working on jobs that others have been given.
    pub(crate) fn drop_worker(&mut self, id: &str) -> Applied<usize> {
        let known = self.tables.workers()?.into_iter().find(|(worker, _)| *worker.id == *id);
        let Some((worker, _)) = known else { return Err(OjsError::not_found("worker", id).into()) };
        let silent = self.now.as_millis().saturating_sub(worker.beat_at);
        if worker.beat_at > 0 && silent < STALE_AFTER_MS {
            let message = format!("Worker '{id}' sent a heartbeat {silent} ms ago; only a silent worker can be removed.");
            let error = OjsError::new(ErrorCode::Conflict, message).with_details(serde_json::json!({"worker_id": id}));
            return Err(error.with_hint("Tell it to stop with POST /ojs/v1/admin/workers/{id}/terminate.").into());
        }
        let mut returned = 0;
        loop {
            let held = self.tables.held_by(worker.num, SLICE)?;
            for row in &held {
                let message = format!("Worker '{id}' was removed by an operator.");
                self.lose(row, &JobError::engine(ErrorCode::WorkerDeath, message))?;
            }
            returned += held.len();
            if held.len() < SLICE {
                break;
            }
        }
        self.tables.forget_worker(worker.num)?;
        self.emit_stopped(&worker);
        Ok(returned)
    }
}

/// A page of jobs and how many there are. A filter that no index knows may leave a look without a job: then the page
/// looks on, so that a client that pages by number finds what is there.
pub(crate) fn list_jobs(tables: &mut dyn Tables, filter: &JobFilter) -> Applied<JobPage> {
    let counted = count(tables, filter)?;
    check_order(filter, counted)?;
    // What is not there is not looked for.
    let is_there = filter.offset < counted || counted == MAX_COUNTED || look_end(tables, filter)?.is_some();
    let found = if is_there { look_on(tables, filter)? } else { Walked::default() };
    let total = if found.rows.is_empty() { counted } else { counted.max(filter.offset + found.rows.len()) };
    let (next, is_complete) = (found.next_place(), found.end.is_none());
    let jobs = found.rows.into_iter().map(|row| view(tables, row)).collect::<Result<_, _>>()?;
    Ok(JobPage { jobs, total, has_more: next.is_some(), next, is_complete })
}

/// Walks one look after the other until a page with a number is full.
fn look_on(tables: &mut dyn Tables, filter: &JobFilter) -> Result<Walked, StoreError> {
    let wanted = filter.offset.saturating_add(filter.limit);
    let mut page = Walked::default();
    let mut step = JobFilter { offset: 0, limit: wanted, ..filter.clone() };
    for _ in 0..LOOKS {
        let found = walk(tables, &step)?;
        page.rows.extend(found.rows);
        (page.last, page.end) = (found.last, found.end);
        if page.end.is_none() || page.rows.len() == wanted {
            break;
        }
        (step.behind, step.limit) = (page.end, wanted - page.rows.len());
    }
    page.rows.drain(..filter.offset.min(page.rows.len()));
    Ok(page)
}

/// A page of jobs after a place. It is the same work wherever that place is.
pub(crate) fn step_jobs(tables: &mut dyn Tables, filter: &JobFilter) -> Applied<JobStep> {
    check_step_order(tables, filter)?;
    let found = walk(tables, filter)?;
    step(tables, found)
}

/// A page of the jobs that match a search, behind a place.
pub(crate) fn search_jobs(tables: &mut dyn Tables, filter: &JobFilter, search: &Search) -> Applied<JobStep> {
    check_step_order(tables, filter)?;
    if filter.state.is_some_and(|state| !search.allows(state)) {
        return step(tables, Walked::default());
    }
    let mut found = walk(tables, &JobFilter { limit: SEARCHED, ..filter.clone() })?;
    let places: Vec<ListPlace> = found.rows.iter().map(|row| ListPlace::of(row, filter)).collect();
    let (rows, seen) = search.sift(tables, std::mem::take(&mut found.rows), filter.limit, SEARCHED_BYTES)?;
    let is_full = rows.len() == filter.limit;
    // The next page begins behind the last row that was compared.
    let last = seen.and_then(|seen| places.get(seen.checked_sub(1)?).copied());
    let next = last.or_else(|| found.next_place());
    (found.last, found.end) = if is_full { (next, None) } else { (None, next) };
    step(tables, Walked { rows, ..found })
}

fn step(tables: &mut dyn Tables, found: Walked) -> Applied<JobStep> {
    let (next, is_complete) = (found.next_place(), found.end.is_none());
    let jobs = found.rows.into_iter().map(|row| view(tables, row)).collect::<Result<_, _>>()?;
    Ok(JobStep { jobs, next, is_complete })
}

/// What a walk along a list has found.
#[derive(Default)]
pub(crate) struct Walked {
    pub(crate) rows: Vec<JobRow>,
    /// The place of the last row, when more rows follow it.
    last: Option<ListPlace>,
    /// The place of the last row that was looked at, when the bound of the look ended it.
    end: Option<ListPlace>,
}

impl Walked {
    /// Where the list goes on, when it does.
    pub(crate) fn next_place(&self) -> Option<ListPlace> {
        self.last.or(self.end)
    }
}

/// One page of a list, and where it goes on.
pub(crate) fn walk(tables: &mut dyn Tables, filter: &JobFilter) -> Result<Walked, StoreError> {
    let mut rows = tables.jobs(filter)?;
    let has_more = rows.len() > filter.limit;
    rows.truncate(filter.limit);
    let last = rows.last().filter(|_| has_more).map(|row| ListPlace::of(row, filter));
    let end = if last.is_some() { None } else { look_end(tables, filter)? };
    Ok(Walked { rows, last, end })
}

/// Where the look of a list ends, when there are as many rows as it may look at.
fn look_end(tables: &mut dyn Tables, filter: &JobFilter) -> Result<Option<ListPlace>, StoreError> {
    if filter.look == 0 || !filter.is_narrow(filter.state.is_some()) {
        return Ok(None);
    }
    let last = JobFilter { whole_look: true, limit: 0, offset: filter.look - 1, ..filter.clone() };
    Ok(tables.jobs(&last)?.first().map(|row| ListPlace::of(row, filter)))
}

/// What `/metrics` shows beside its counters.
pub(crate) fn gauges(tables: &mut dyn Tables, now: i64) -> Result<Gauges, StoreError> {
    let workers = tables.workers()?;
    let silent = |worker: &WorkerRow| worker.beat_at > 0 && now.saturating_sub(worker.beat_at) >= STALE_AFTER_MS;
    Ok(Gauges {
        queues: counted(tables)?,
        busy: busy_workers(tables)?,
        workers: workers.len(),
        stale: workers.iter().filter(|(worker, held)| silent(worker) && !(worker.phase.is_leaving() && *held == 0)).count(),
        dead: tables.dead_count()?,
        stalled: tables.count_stalled(now)?,
        now: Timestamp::from_millis(now),
        tenants: figures(tables)?,
        pools: tables.pools()?,
    })
}

/// Finished jobs are in no other order than that of their acceptance: to show some in another one, all would have to be sorted.
fn check_order(filter: &JobFilter, total: usize) -> Applied<()> {
    let is_waiting = filter.state.is_some_and(|state| !state.is_terminal());
    // These have an index by time. Of the others all are sorted for each page.
    let by_time = matches!(filter.state, Some(JobState::Scheduled | JobState::Retryable | JobState::Active));
    let most = match (is_waiting, by_time && filter.sort == JobSort::Scheduled) {
        (_, true) => usize::MAX,
        (true, false) => LOOK,
        (false, _) => MAX_COUNTED,
    };
    if filter.sort == JobSort::Created || total < most {
        return Ok(());
    }
    let message = format!("{total} jobs are too many to be put into this order.");
    let error = OjsError::new(ErrorCode::InvalidRequest, message).with_details(serde_json::json!({"field": "sort"}));
    let hint =
        "Ask for one of the states scheduled, available, pending, active and retryable, for one queue, or for sort=created_at.";
    Err(error.with_hint(hint).into())
}

/// The same for a page that is not counted.
fn check_step_order(tables: &mut dyn Tables, filter: &JobFilter) -> Applied<()> {
    if filter.sort == JobSort::Created {
        return Ok(());
    }
    let of_state = JobFilter { job_type: None, since: None, until: None, ..filter.clone() };
    check_order(filter, count(tables, &of_state)?)
}

/// How many workers hold jobs of each queue.
fn busy_workers(tables: &mut dyn Tables) -> Result<Vec<(i64, i64)>, StoreError> {
    let mut busy: std::collections::BTreeMap<i64, i64> = std::collections::BTreeMap::new();
    for holder in tables.holders()? {
        *busy.entry(holder.queue).or_default() += 1;
    }
    Ok(busy.into_iter().collect())
}

/// From the counts that are kept anyway where the filter allows it.
fn count(tables: &mut dyn Tables, filter: &JobFilter) -> Result<usize, StoreError> {
    if filter.job_type.is_some() || filter.since.is_some() || filter.until.is_some() {
        return tables.count_jobs(filter, MAX_COUNTED);
    }
    let counts = match &filter.queue {
        Some(name) => match tables.find_queue(name)? {
            Some(queue) => tables.visible_counts(Some(queue.num))?,
            None => Vec::new(),
        },
        None => tables.visible_counts(None)?,
    };
    let counts: Vec<Counts> = counts.into_iter().map(|(_, counts)| counts).collect();
    let cells = counts.iter().flat_map(|counts| counts.iter().enumerate());
    let wanted = cells.filter(|(state, _)| filter.state.is_none_or(|wanted| wanted as usize == *state));
    Ok(usize::try_from(wanted.map(|(_, jobs)| jobs).sum::<i64>()).unwrap_or(0))
}
