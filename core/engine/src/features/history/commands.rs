//! What is asked of histories.
use std::collections::{HashMap, HashSet};

use ojs_model::{JobId, JobState};
use serde_json::Value;

use super::answer::History;
use super::attempts::{Attempt, attempts};
use super::lineage::{self, Lineage};
use super::records::HistoryTables as _;
use super::search::Wanted;
use super::timeline::{Cancellation, timeline};
use crate::error::{Applied, Result};
use crate::kernel::event::{Event, EventFilter, Place};
use crate::kernel::event_log::{self, Back};
use crate::kernel::job::{JobView, flag};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::kernel::view::visible_view;
use crate::store::tables::Tables;

/// Which events of a history are shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Nothing that happened before this time, milliseconds since the epoch.
    pub since: i64,
    /// The newest events, so many at most.
    pub most: usize,
}

impl Default for Shown {
    /// Everything.
    fn default() -> Self {
        Self { since: i64::MIN, most: usize::MAX }
    }
}

/// The history of one job.
#[derive(Debug, Clone)]
pub struct GetHistory(pub JobId, pub Shown);

impl Query for GetHistory {
    type Reply = History;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<History> {
        shown(tables, self.0, self.1)
    }
}

/// Deletes the history of one job.
#[derive(Debug, Clone)]
pub struct DeleteHistory(pub JobId, pub Shown);

impl Command for DeleteHistory {
    /// How many events it had.
    type Reply = usize;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<usize> {
        transaction.delete_history(self.0, self.1)
    }
}

/// The history of a job that the caller may see, without what was deleted of it.
pub(super) fn shown(tables: &mut dyn Tables, job: JobId, which: Shown) -> Applied<History> {
    let view = visible_view(tables, job)?;
    let mut attempts = attempts(&view)?;
    name_worker(tables, &view, attempts.last_mut())?;
    let cancelled = cancellation(tables, &view)?;
    let events = timeline(&view, &attempts, &cancelled);
    let cut = if view.row.has(flag::CUT) { tables.history_cut(job)? } else { None };
    let releases = cut.as_ref().map_or(0, |cut| u32::try_from(cut.releases).unwrap_or(0));
    let since = cut.map_or(which.since, |cut| which.since.max(cut.until.saturating_add(1)));
    let whole = History { job, events, attempts, releases: view.row.releases.saturating_sub(releases) };
    Ok(whole.without(since, which.most))
}

/// Events of all jobs, the newest first: from the event log, as far as it reaches back.
#[derive(Debug, Clone)]
pub struct SearchHistory {
    /// Queues, job types, the size of the page, and how many commits one request looks at.
    pub filter: EventFilter,
    /// What else is looked for.
    pub wanted: Wanted,
    /// Only what stands before this place; `None` is the end of the log.
    pub before: Option<Place>,
}

impl Query for SearchHistory {
    /// The events as they are answered, and where the next page begins; `None` when there is nothing further back.
    type Reply = (Vec<Value>, Option<Place>);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let tenant = tables.names().scope.id().cloned();
        let filter = EventFilter { tenant, transitions: true, ..self.filter.clone() };
        let within = Back { before: self.before, start: self.wanted.start, end: self.wanted.end };
        let (mut entries, mut jobs) = (Vec::new(), HashSet::new());
        let next = event_log::back(tables, &filter, &within, |event| {
            let found = self.wanted.entries(event);
            if let (Some(_), Ok(job)) = (found.first(), event.subject.parse::<JobId>()) {
                jobs.insert(job);
            }
            entries.extend(found.into_iter().map(|entry| (event.at.as_millis(), event.subject.clone(), entry)));
            entries.len() < filter.limit
        })?;
        let jobs: Vec<JobId> = jobs.into_iter().collect();
        let cuts = if tables.has_history_cuts()? { tables.history_cuts(&jobs)? } else { Vec::new() };
        let cuts: HashMap<String, i64> = cuts.into_iter().map(|cut| (cut.job.to_string(), cut.until)).collect();
        entries.retain(|(at, job, _)| cuts.get(job).is_none_or(|until| at > until));
        Ok((entries.into_iter().map(|(_, _, entry)| entry).collect(), next))
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// The workflow that a job is part of, with all its steps.
#[derive(Debug, Clone)]
pub struct GetLineage(pub JobId);

impl Query for GetLineage {
    type Reply = Lineage;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Lineage> {
        let view = visible_view(tables, self.0)?;
        Ok(lineage::of(tables, &view)?)
    }
}

/// The row of an ended job does not name the worker any more; the event of its start does.
fn name_worker(tables: &mut dyn Tables, view: &JobView, last: Option<&mut Attempt>) -> Result<()> {
    let Some(last) = last.filter(|last| last.worker.is_none() && last.started_at > 0) else { return Ok(()) };
    let started = find(tables, view, last.started_at, "job.started")?;
    last.worker = started.and_then(|event| text(&event, "worker_id"));
    Ok(())
}

fn cancellation(tables: &mut dyn Tables, view: &JobView) -> Result<Cancellation> {
    if view.row.state != JobState::Cancelled {
        return Ok(Cancellation::default());
    }
    let event = find(tables, view, view.row.finished_at, "job.cancelled")?;
    let from = event.as_ref().and_then(|event| event.change?.from);
    Ok(Cancellation { from, reason: event.and_then(|event| text(&event, "reason")) })
}

/// The newest event of this type of the job at this time, if the log still has it.
fn find(tables: &mut dyn Tables, view: &JobView, at: i64, name: &str) -> Result<Option<Event>> {
    let (types, subject) = (vec![name.to_owned()], Some(view.row.id.to_string()));
    let filter = EventFilter { types, subject, ..EventFilter::default() };
    event_log::at(tables, &filter, at)
}

fn text(event: &Event, member: &str) -> Option<String> {
    let data: Value = serde_json::from_str(&event.data).ok()?;
    let text = data.get(member)?.as_str().filter(|text| !text.is_empty())?;
    Some(text.to_owned())
}
