//! What is asked of histories.
use ojs_model::{JobId, JobState};
use serde_json::Value;

use super::answer::History;
use super::attempts::{Attempt, attempts};
use super::lineage::{self, Lineage};
use super::search::Wanted;
use super::timeline::{Cancellation, timeline};
use crate::error::{Applied, Result};
use crate::kernel::event::{Event, EventFilter, Place};
use crate::kernel::event_log::{self, Back};
use crate::kernel::job::JobView;
use crate::kernel::typed::Query;
use crate::kernel::view::visible_view;
use crate::store::tables::Tables;

/// The history of one job.
#[derive(Debug, Clone)]
pub struct GetHistory(pub JobId);

impl Query for GetHistory {
    type Reply = History;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<History> {
        let view = visible_view(tables, self.0)?;
        let mut attempts = attempts(&view)?;
        name_worker(tables, &view, attempts.last_mut())?;
        let cancelled = cancellation(tables, &view)?;
        let events = timeline(&view, &attempts, &cancelled);
        Ok(History { job: self.0, events, attempts, releases: view.row.releases })
    }
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
        let mut entries = Vec::new();
        let next = event_log::back(tables, &filter, &within, |event| {
            entries.extend(self.wanted.entries(event));
            entries.len() < filter.limit
        })?;
        Ok((entries, next))
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
