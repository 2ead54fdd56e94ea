//! The tenant whose jobs the running command or query may see.
//!
//! A connection carries out one command at a time, so its scope is kept beside the names that it remembers
//! ([`Names`](crate::store::names::Names)): what looks up a row by an id from a request asks there whether the caller
//! may see it, and lists find the caller's rows only. Rules that follow from a change (the next step of a workflow, a
//! replaced job) read rows without asking.
use std::sync::Arc;

/// The jobs that a caller may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// Jobs of all tenants: for operators, maintenance, and servers without tenants.
    #[default]
    All,
    /// Jobs of one tenant.
    One {
        /// Number of the tenant; 0 for the default tenant, [`UNKNOWN`] for one that has no jobs yet.
        num: i64,
        /// Its id.
        id: Arc<str>,
    },
}

/// The number of a tenant that no job has named: no row has it.
pub const UNKNOWN: i64 = -1;

impl Scope {
    /// Whether jobs of the tenant with this number are visible.
    #[must_use]
    pub fn sees(&self, tenant: i64) -> bool {
        self.num().is_none_or(|own| own == tenant)
    }

    /// The number of the one tenant; `None` for all.
    #[must_use]
    pub fn num(&self) -> Option<i64> {
        match self {
            Self::All => None,
            Self::One { num, .. } => Some(*num),
        }
    }

    /// The id of the one tenant; `None` for all.
    #[must_use]
    pub fn id(&self) -> Option<&Arc<str>> {
        match self {
            Self::All => None,
            Self::One { id, .. } => Some(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_sees_its_own_only_and_an_operator_sees_all() {
        let one = |num| Scope::One { num, id: "a".into() };
        assert!(Scope::All.sees(0) && Scope::All.sees(7));
        assert!(one(7).sees(7) && !one(7).sees(0) && !one(7).sees(8));
        assert!(one(0).sees(0) && !one(0).sees(7));
        assert!(!one(UNKNOWN).sees(0));
    }
}
