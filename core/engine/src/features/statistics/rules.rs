//! Gives the facts of a transaction the names of their queues and job types.
use crate::error::Result;
use crate::features::statistics::records::{Facts, Named, Tally};
use crate::kernel::transaction::Transaction;
use crate::store::tables::Tables;

impl Transaction<'_> {
    /// Hands what the transaction has counted to the writer, which adds it to the figures after the commit.
    pub(crate) fn hand_over_facts(&mut self) -> Result<()> {
        let tally = std::mem::take(&mut self.journal.tally);
        (self.counters.handed_over.exceeded, self.counters.handed_over.starved) = (tally.exceeded, tally.starved);
        self.counters.handed_over.facts = named(tally, self.tables)?;
        Ok(())
    }
}

/// The facts under their names.
fn named(tally: Tally, tables: &mut dyn Tables) -> Result<Vec<Named>> {
    let named = |((num, job_type_id), facts)| {
        let (queue, job_type) = (tables.queue_by_num(num)?.name, tables.job_type_name(job_type_id)?);
        Ok(Named { num, queue, job_type, type_num: job_type_id, facts })
    };
    let jobs = tally.jobs.into_iter().map(named);
    let refused = tally.refused.into_iter().map(|((num, queue, job_type), refused)| {
        Ok(Named { num, queue, job_type, type_num: 0, facts: Facts { refused, ..Facts::default() } })
    });
    jobs.chain(refused).collect()
}
