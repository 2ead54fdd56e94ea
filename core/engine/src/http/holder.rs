//! Who holds a key that is in force: its name, what it allows, and for which tenant it speaks.
use std::sync::Arc;

use ojs_model::{ErrorCode, OjsError, hex};
use sha2::{Digest, Sha256};

use crate::http::access::{Key, Permission, Role};

/// A key that is in force: its name and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    name: Arc<str>,
    roles: Arc<[Role]>,
    tenant: Option<Arc<str>>,
    /// What the file of keys has of the key.
    sum: Arc<str>,
}

impl Holder {
    /// The holder of a key.
    pub(super) fn of(key: &Key) -> Self {
        let tenant = key.tenant.as_deref().map(Arc::from);
        Self { name: key.name.as_str().into(), roles: key.roles.as_slice().into(), tenant, sum: key.sha256.as_str().into() }
    }

    /// The name of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tenant that the key is bound to.
    #[must_use]
    pub fn tenant(&self) -> Option<&Arc<str>> {
        self.tenant.as_ref()
    }

    /// What the key is for.
    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// What distinguishes the key from another one of the same name, hexadecimal. The key cannot be found from it.
    pub(crate) fn mark(&self) -> String {
        hex::encode(&Sha256::digest(self.sum.as_bytes()))
    }

    /// Whether the key has no role but `producer`: of jobs that another key enqueued it sees little.
    #[must_use]
    pub fn only_produces(&self) -> bool {
        self.roles.iter().all(|role| *role == Role::Producer)
    }

    /// Checks that the key allows what is needed.
    ///
    /// # Errors
    /// 403 when its roles do not suffice.
    pub fn check(&self, needs: Permission) -> Result<(), OjsError> {
        if self.roles.iter().any(|role| role.allows(needs)) {
            return Ok(());
        }
        let roles = self.roles.iter().map(ToString::to_string).collect::<Vec<_>>();
        let message = format!("Key '{}' ({}) does not allow this: {} is needed.", self.name, roles.join(", "), needs.scope());
        let details = serde_json::json!({"key": &*self.name, "roles": roles, "required_scope": needs.scope()});
        Err(OjsError::new(ErrorCode::PermissionDenied, message).with_details(details))
    }
}
