//! The queries that every job needs. Queries of features are in `features/<name>/commands.rs`.
use ojs_model::{JobId, Timestamp};

use crate::error::Applied;
use crate::kernel::event::EventFilter;
use crate::kernel::event_log::{self, Page};
use crate::kernel::job::JobView;
use crate::kernel::log::Span;
use crate::kernel::typed::Query;
use crate::kernel::view::visible_view;
use crate::store::tables::Tables;

/// One job.
#[derive(Debug, Clone)]
pub struct GetJob(pub JobId);

impl Query for GetJob {
    type Reply = JobView;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<JobView> {
        visible_view(tables, self.0)
    }
}

/// A page of events, the oldest first.
#[derive(Debug, Clone)]
pub struct ReadEvents(pub EventFilter);

impl Query for ReadEvents {
    /// The events, the cursor for the next page, and whether there are more already.
    type Reply = Page;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Page> {
        let tenant = tables.names().scope.id().cloned().or_else(|| self.0.tenant.clone());
        Ok(event_log::read(tables, &EventFilter { tenant, ..self.0.clone() })?)
    }
}

/// The newest events that a filter wants, the oldest of them first.
#[derive(Debug, Clone)]
pub struct NewestEvents(pub EventFilter);

impl Query for NewestEvents {
    /// The events, the cursor behind the end of the log, and that there are no more.
    type Reply = Page;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Page> {
        let tenant = tables.names().scope.id().cloned().or_else(|| self.0.tenant.clone());
        Ok(event_log::newest(tables, &EventFilter { tenant, ..self.0.clone() })?)
    }
}

/// The first and last place of the event log, and the place of a time.
#[derive(Debug, Clone)]
pub struct ReadSpan(pub Option<Timestamp>);

impl Query for ReadSpan {
    type Reply = Span;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Span> {
        Ok(event_log::span(tables, self.0)?)
    }
}

/// Whether the store answers.
#[derive(Debug, Clone)]
pub struct Ping;

impl Query for Ping {
    type Reply = ();

    fn answer(&self, tables: &mut dyn Tables) -> Applied<()> {
        tables.queues()?;
        Ok(())
    }
}
