//! What is asked of keys with limits.
use ojs_model::Timestamp;
use ojs_model::rate_limit::Limits;

use crate::error::Applied;
use crate::features::limits::records::{LimitPage, LimitView};
use crate::features::limits::rules::view;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// Give a key other limits for a while; `None` ends that.
#[derive(Debug, Clone)]
pub struct OverrideLimit {
    /// The tenant of the key; empty for a key without a tenant.
    pub tenant: String,
    /// The key.
    pub key: String,
    /// The limits.
    pub limits: Option<Limits>,
    /// Until when.
    pub until: Timestamp,
}

impl Command for OverrideLimit {
    type Reply = LimitView;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<LimitView> {
        transaction.override_limit(&self.tenant, &self.key, self.limits, self.until)
    }
}

/// A page of keys with limits; with a key, only those of that name.
#[derive(Debug, Clone)]
pub struct ListLimits {
    /// The key.
    pub key: Option<String>,
    /// Which of them.
    pub page: LimitPage,
    /// The time to look at windows.
    pub at: Timestamp,
}

impl Query for ListLimits {
    /// The page, and how many there are in all.
    type Reply = (Vec<LimitView>, usize);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let (rows, total) = match tables.names().scope.id().cloned() {
            // Keys without a tenant are shared by all tenants: what uses them is not for one of these to see.
            Some(tenant) => tables.limits_of(&tenant, self.key.as_deref(), &self.page)?,
            None => tables.limits(self.key.as_deref(), &self.page)?,
        };
        let views = rows.into_iter().map(|row| view(tables, row, self.at)).collect::<Result<_, _>>()?;
        Ok((views, total))
    }
}
