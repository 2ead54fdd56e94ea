//! Commands and queries: what one of them is, and its way to the store and back.
//!
//! A feature adds a command as a struct of its own that implements [`Command`], and calls `Engine::execute` with it.
//! The struct names the type of its reply; neither the kernel nor a store has a list of commands. The same holds for
//! [`Query`].
//!
//! Between the engine and a store the types are erased: the store sees [`Submitted`] and [`Asked`]. The reply stays
//! with the submission, which the caller holds as well, so nothing has to be converted back.
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::hooks::call;
use crate::kernel::part::Part;
use crate::kernel::transaction::Transaction;
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// A change. It is atomic: it happens whole or not at all.
pub trait Command: fmt::Debug + Send + Sync + 'static {
    /// The reply to the caller.
    type Reply: Send + 'static;

    /// Makes the change in an open transaction. The writer calls it again when it repeats the transaction; then nothing
    /// is left of the earlier try.
    ///
    /// # Errors
    /// Why the rules forbid it, or a fault of the store.
    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply>;

    /// False when losing the change in a power cut is harmless: jobs become available again.
    fn is_durable(&self) -> bool {
        true
    }

    /// Approximate number of rows that it changes; limits the size of a group.
    fn weight(&self) -> usize {
        1
    }

    /// Names the rows that [`apply`](Self::apply) will ask for, as far as they are known.
    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        let _ = wanted;
    }

    /// Makes the change after the store has failed at it as a whole: each part in a transaction of its own. `None` when
    /// it has one part only.
    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<Self::Reply>> {
        let _ = writer;
        None
    }
}

/// A reading, answered from a consistent snapshot.
pub trait Query: fmt::Debug + Send + Sync + 'static {
    /// The reply to the caller.
    type Reply: Send + 'static;

    /// Reads it.
    ///
    /// # Errors
    /// An error when the requested object does not exist, or a fault of the store.
    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply>;

    /// Whether it may read many rows: a list, a search, an audit. Stores answer those on connections of their own, so
    /// that a slow one does not hold up the reading of one job.
    fn is_search(&self) -> bool {
        false
    }
}

/// A command on its way, as a store sees it. The reply of the latest try is kept in it.
pub trait Submitted: fmt::Debug + Send + Sync {
    /// Makes the change, see [`Command::apply`], and keeps the reply.
    ///
    /// # Errors
    /// Those of the command.
    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()>;
    /// Makes the change in parts, see [`Command::apply_apart`], and keeps the reply.
    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<()>>;
    /// See [`Command::is_durable`].
    fn is_durable(&self) -> bool;
    /// See [`Command::weight`].
    fn weight(&self) -> usize;
    /// See [`Command::wants`].
    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>);
}

/// A query on its way, as a store sees it.
pub trait Asked: fmt::Debug + Send + Sync {
    /// Reads the answer, see [`Query::answer`], and keeps it.
    ///
    /// # Errors
    /// Those of the query.
    fn answer(&self, tables: &mut dyn Tables) -> Applied<()>;
    /// See [`Query::is_search`].
    fn is_search(&self) -> bool;
}

/// Makes changes, each in a transaction of its own.
pub trait Apart {
    /// Makes one change.
    ///
    /// # Errors
    /// Those of the command, and faults of the store.
    fn apply_alone(&mut self, part: &dyn Submitted) -> Applied<()>;
}

impl dyn Apart + '_ {
    /// Carries out one command.
    ///
    /// # Errors
    /// Those of the command, and faults of the store.
    pub fn execute<C: Command>(&mut self, part: C) -> Applied<C::Reply> {
        let submission = Submission::new(part);
        self.apply_alone(&submission)?;
        submission.take()
    }
}

/// A command or a query, and the place for its reply.
pub struct Submission<T, R> {
    asked: T,
    reply: Mutex<Option<R>>,
}

impl<T, R> Submission<T, R> {
    /// A command or query that has no reply yet.
    pub fn new(asked: T) -> Self {
        Self { asked, reply: Mutex::new(None) }
    }

    fn keep(&self, reply: R) {
        *self.reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
    }

    /// The reply, after the store has said that there is one.
    ///
    /// # Errors
    /// An error when the store reports success without having applied the command.
    pub fn take(&self) -> Applied<R> {
        let reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner).take();
        reply.ok_or_else(|| StoreError::Failed("the store confirmed a request and gave no reply".into()).into())
    }
}

/// Prints the request only: replies may contain jobs, which logs never show.
impl<T: fmt::Debug, R> fmt::Debug for Submission<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.asked.fmt(f)
    }
}

impl<C: Command> Submitted for Submission<C, C::Reply> {
    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        self.keep(transaction.apply(&self.asked)?);
        Ok(())
    }

    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<()>> {
        let outcome = self.asked.apply_apart(writer)?;
        Some(outcome.map(|reply| self.keep(reply)))
    }

    fn is_durable(&self) -> bool {
        self.asked.is_durable()
    }

    fn weight(&self) -> usize {
        self.asked.weight()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.asked.wants(wanted);
    }
}

impl<Q: Query> Asked for Submission<Q, Q::Reply> {
    fn answer(&self, tables: &mut dyn Tables) -> Applied<()> {
        self.keep(self.asked.answer(tables)?);
        Ok(())
    }

    fn is_search(&self) -> bool {
        self.asked.is_search()
    }
}

impl Transaction<'_> {
    /// Carries out one command, then the hooks of features that follow it.
    pub fn apply<C: Command>(&mut self, command: &C) -> Applied<C::Reply> {
        let reply = command.apply(self)?;
        call!(self, after_command);
        Ok(reply)
    }

    /// Carries out the commands of a group, in order. The inner results say which were refused.
    ///
    /// # Errors
    /// When the store fails, and when the group must be applied again: see [`Part`].
    pub fn apply_all(&mut self, commands: &[&dyn Submitted]) -> Result<Vec<Applied<()>>, StoreError> {
        let mut outcomes = Vec::with_capacity(commands.len());
        for (place, command) in commands.iter().enumerate() {
            self.command = place;
            outcomes.push(match self.part(Part::Command(place), |transaction| command.apply(transaction)) {
                Err(Refusal::Store(fault)) => return Err(fault),
                outcome => outcome,
            });
        }
        Ok(outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::{Query, Submission};
    use crate::error::{Applied, Refusal, StoreError};
    use crate::kernel::typed::Asked;
    use crate::store::memory::MemoryTables;
    use crate::store::names::NameTables;
    use crate::store::tables::Tables;

    /// Answers with the number of queues.
    #[derive(Debug)]
    struct CountQueues;

    impl Query for CountQueues {
        type Reply = usize;

        fn answer(&self, tables: &mut dyn Tables) -> Applied<usize> {
            Ok(tables.queues()?.len())
        }
    }

    #[test]
    fn a_submission_keeps_the_reply_of_the_latest_try() {
        let (mut tables, submission) = (MemoryTables::default(), Submission::new(CountQueues));
        submission.answer(&mut tables).unwrap();
        tables.queue("q", ojs_model::Timestamp::from_millis(0)).unwrap();
        submission.answer(&mut tables).unwrap();
        assert_eq!(submission.take().unwrap(), 1);
    }

    #[test]
    fn a_reply_that_was_never_given_is_a_fault_of_the_store() {
        let refusal = Submission::<_, usize>::new(CountQueues).take().unwrap_err();
        assert!(matches!(refusal, Refusal::Store(StoreError::Failed(_))), "{refusal:?}");
    }
}
