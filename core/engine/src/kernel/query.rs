//! Answers queries from a snapshot.
use ojs_model::OjsError;

use crate::error::Applied;
use crate::features::admin::rules as admin_rules;
use crate::features::bulk::rules as bulk_rules;
use crate::features::limits::rules as limit_rules;
use crate::features::queue_config::records::TEMPLATE;
use crate::features::workflows::rules as workflow_rules;
use crate::kernel::command::{Query, Reply};
use crate::kernel::event_log;
use crate::kernel::job::flag;
use crate::kernel::view::view;
use crate::store::rows::QueuePhase;
use crate::store::tables::Tables;

/// Answers a query.
pub fn answer(tables: &mut dyn Tables, query: &Query) -> Applied<Reply> {
    match query {
        Query::Job(id) => match tables.row(*id)? {
            Some(row) => Ok(Reply::Job(Box::new(view(tables, row)?))),
            None => Err(OjsError::not_found("job", &id.to_string()).into()),
        },
        Query::Workflow(id) => match tables.workflow(*id)? {
            Some(row) => Ok(Reply::Workflow(Box::new(workflow_rules::view(tables, row)?))),
            None => Err(OjsError::not_found("workflow", &id.to_string()).into()),
        },
        Query::Results(ids) => Ok(Reply::Results(tables.outcomes(ids)?)),
        Query::Queues => {
            let mut queues = tables.queues()?;
            queues.retain(|queue| queue.phase != QueuePhase::Deleted && &*queue.name != TEMPLATE);
            Ok(Reply::Queues(queues))
        }
        Query::Limits { key, limit, offset, at } => {
            let (rows, total) = tables.limits(key.as_deref(), *limit, *offset)?;
            let views = rows.into_iter().map(|row| limit_rules::view(tables, row, *at)).collect::<Result<_, _>>()?;
            Ok(Reply::Limits(views, total))
        }
        Query::Queue(name) => {
            let unused = || crate::store::rows::QueueRow::fresh(0, name, 0);
            let queue = tables.find_queue(name)?.unwrap_or_else(unused);
            let counts = tables.counts(queue.num)?;
            Ok(Reply::Queue(queue, counts))
        }
        Query::Dead(filter) => {
            let (rows, total) = tables.dead(filter)?;
            let jobs = rows.into_iter().map(|row| view(tables, row)).collect::<Result<_, _>>()?;
            Ok(Reply::Page(jobs, total))
        }
        Query::DeadStats => Ok(Reply::DeadStats(Box::new(tables.dead_stats()?))),
        Query::DeadLetter(id) => match tables.row(*id)?.filter(|row| row.has(flag::DEAD)) {
            Some(row) => Ok(Reply::Job(Box::new(view(tables, row)?))),
            None => Err(OjsError::not_found("dead letter", &id.to_string()).into()),
        },
        Query::Events(filter) => {
            let (events, cursor, has_more) = event_log::read(tables, filter)?;
            Ok(Reply::Events { events, cursor, has_more })
        }
        Query::Admin(query) => admin_rules::answer(tables, query),
        Query::Bulk(query) => bulk_rules::answer(tables, query),
        Query::Log(at) => Ok(Reply::Log(crate::kernel::event_log::span(tables, *at)?)),
        Query::Ping => {
            tables.queues()?;
            Ok(Reply::Done)
        }
    }
}
