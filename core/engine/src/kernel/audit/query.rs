//! An audit as a query: it is answered from one snapshot, like any other.
use super::{Checks, run};
use crate::error::Applied;
use crate::kernel::finding::Audited;
use crate::kernel::typed::Query;
use crate::store::tables::Tables;

/// Compares the rows of the store with each other, with these checks of features.
#[derive(Debug, Clone)]
pub struct RunAudit(pub Vec<Checks>);

impl Query for RunAudit {
    type Reply = Audited;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Audited> {
        Ok(run(tables, &self.0)?)
    }

    fn is_search(&self) -> bool {
        true
    }
}
