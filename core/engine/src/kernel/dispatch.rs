//! Commands and queries that are variants of an enum, and are to become types of their own.
use crate::error::Applied;
use crate::features::bulk::records::BulkCommand;
use crate::kernel::command::{Command, Query, Reply};
use crate::kernel::query::answer;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{self, Apart};
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

impl typed::Command for Command {
    type Reply = Reply;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Reply> {
        match self {
            Command::Enqueue(jobs) => transaction.enqueue(jobs),
            Command::Exchange { outcomes, claim } => transaction.exchange(outcomes, claim.as_ref()),
            Command::Heartbeat(beat) => transaction.heartbeat(beat),
            Command::Cancel(id) => transaction.cancel(*id),
            Command::Activate(id) => transaction.activate(*id),
            Command::SetPriority(id, priority) => transaction.set_priority(*id, *priority),
            Command::Replay(id) => transaction.replay(*id, None),
            Command::ReplayChanged(id, change) => transaction.replay(*id, Some(change)),
            Command::ReplayDead(filter) => transaction.replay_dead(filter),
            Command::DeleteDeadLetter(id) => transaction.delete_dead_letter(*id),
            Command::DeleteDeadLetters(filter) => transaction.delete_dead_letters(filter),
            Command::SetPaused { queue, paused } => transaction.set_paused(queue, *paused),
            Command::SetDraining { queue, draining } => transaction.set_draining(queue, *draining),
            Command::CreateQueue { queue, settings } => transaction.create_queue(queue, settings),
            Command::Configure { queue, settings } => transaction.configure(queue, settings),
            Command::EmptyQueue { queue, target } => transaction.empty_queue(queue, target.as_deref()),
            Command::DeleteQueue(queue) => transaction.delete_queue(queue),
            Command::OverrideLimit { tenant, key, limits, until } => transaction.override_limit(tenant, key, *limits, *until),
            Command::EmitFull { queue, job_type } => transaction.emit_full_after_wait(queue, job_type),
            Command::CreateWorkflow(new) => transaction.create_workflow(new),
            Command::CancelWorkflow(id) => transaction.cancel_workflow(*id),
            Command::Direct { worker, directive } => transaction.direct(worker, *directive),
            Command::Admin(command) => transaction.administer(command),
            Command::Bulk(command) => transaction.bulk(command),
            Command::Reset => {
                transaction.reset()?;
                Ok(Reply::Done)
            }
        }
    }

    fn is_durable(&self) -> bool {
        match self {
            Self::Exchange { outcomes, .. } => !outcomes.is_empty(),
            Self::Heartbeat(_) => false,
            _ => true,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Enqueue(jobs) => jobs.len(),
            Self::Exchange { outcomes, claim } => outcomes.len() + claim.as_ref().map_or(0, |c| c.count),
            Self::Heartbeat(beat) => beat.jobs.len(),
            Self::CreateWorkflow(new) => new.steps.len(),
            Self::Bulk(command) => command.weight(),
            _ => 1,
        }
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        match self {
            Self::Exchange { outcomes, claim } => {
                wanted.jobs.extend(outcomes.iter().map(|report| (report.job, report.lease)));
                if let Some(claim) = claim {
                    wanted.workers.extend(claim.worker.as_deref());
                    let first = claim.queues.first().filter(|_| claim.types.is_empty());
                    wanted.claims.extend(first.map(|queue| (queue.as_str(), claim.count)));
                }
            }
            Self::Heartbeat(beat) => {
                wanted.jobs.extend(beat.jobs.iter().copied());
                wanted.workers.push(&beat.worker);
            }
            Self::Cancel(id) | Self::Activate(id) | Self::Replay(id) | Self::DeleteDeadLetter(id) => wanted.job(*id),
            Self::Bulk(BulkCommand::Change(order)) => order.ids.iter().for_each(|id| wanted.job(*id)),
            Self::Bulk(BulkCommand::Enqueue(batch)) => batch.jobs.iter().flatten().for_each(|job| wanted.new_job(job)),
            Self::Enqueue(jobs) => jobs.iter().for_each(|job| wanted.new_job(job)),
            _ => {}
        }
    }

    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<Reply>> {
        match self {
            Self::Exchange { outcomes, claim } => crate::kernel::apart::exchange(outcomes, claim.as_ref(), writer),
            _ => None,
        }
    }
}

impl typed::Query for Query {
    type Reply = Reply;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Reply> {
        answer(tables, self)
    }
}
