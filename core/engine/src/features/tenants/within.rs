//! Commands and queries of a caller who sees one tenant only.
//!
//! The wrapper sets the scope of the connection before the command and takes it back afterwards. A command without a
//! wrapper, which is one of an operator, costs nothing.
use std::sync::Arc;

use crate::error::{Applied, StoreError};
use crate::kernel::scope::Scope;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Apart, Command, Query, Submitted};
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// A command or a query of one tenant.
#[derive(Debug, Clone)]
pub struct Within<T> {
    /// Id of the tenant.
    pub tenant: Arc<str>,
    /// What is asked.
    pub asked: T,
}

fn enter(tables: &mut dyn Tables, tenant: &Arc<str>) -> Result<(), StoreError> {
    let num = tables.tenant_wanted(tenant)?;
    tables.names().scope = Scope::One { num, id: Arc::clone(tenant) };
    Ok(())
}

fn leave(tables: &mut dyn Tables) {
    tables.names().scope = Scope::All;
}

impl<C: Command> Command for Within<C> {
    type Reply = C::Reply;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<C::Reply> {
        enter(transaction.tables, &self.tenant)?;
        let reply = self.asked.apply(transaction);
        leave(transaction.tables);
        reply
    }

    fn is_durable(&self) -> bool {
        self.asked.is_durable()
    }

    fn weight(&self) -> usize {
        self.asked.weight()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        let before = wanted.claims.len();
        self.asked.wants(wanted);
        // The best jobs of a queue may belong to others.
        wanted.claims.truncate(before);
    }

    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<C::Reply>> {
        self.asked.apply_apart(&mut Parts { tenant: &self.tenant, writer })
    }
}

impl<Q: Query> Query for Within<Q> {
    type Reply = Q::Reply;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Q::Reply> {
        enter(tables, &self.tenant)?;
        let reply = self.asked.answer(tables);
        leave(tables);
        reply
    }

    fn is_search(&self) -> bool {
        self.asked.is_search()
    }
}

/// Carries out the parts of a command, each within the tenant.
struct Parts<'a> {
    tenant: &'a Arc<str>,
    writer: &'a mut dyn Apart,
}

impl Apart for Parts<'_> {
    fn apply_alone(&mut self, part: &dyn Submitted) -> Applied<()> {
        self.writer.apply_alone(&PartWithin { tenant: self.tenant, part })
    }
}

/// A part of a command.
#[derive(Debug)]
struct PartWithin<'a> {
    tenant: &'a Arc<str>,
    part: &'a dyn Submitted,
}

impl Submitted for PartWithin<'_> {
    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        enter(transaction.tables, self.tenant)?;
        let outcome = self.part.apply(transaction);
        leave(transaction.tables);
        outcome
    }

    fn apply_apart(&self, _: &mut dyn Apart) -> Option<Applied<()>> {
        None
    }

    fn is_durable(&self) -> bool {
        self.part.is_durable()
    }

    fn weight(&self) -> usize {
        self.part.weight()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.part.wants(wanted);
        wanted.claims.clear();
    }
}
