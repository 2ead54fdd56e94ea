//! What can be asked of the registry and changed in it.
use std::collections::HashSet;
use std::sync::Arc;

use ojs_model::envelope::DEFAULT_TENANT;
use ojs_model::{ErrorCode, OjsError};

use crate::error::Applied;
use crate::features::schemas::records::{Mode, SchemaRow, SchemaTables, Version};
use crate::features::schemas::rules::{NewSchema, schema_of_uri_for};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// Registers a version of a job type.
#[derive(Debug)]
pub(crate) struct RegisterSchema(pub(crate) NewSchema);

impl Command for RegisterSchema {
    type Reply = SchemaRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SchemaRow> {
        transaction.register_schema(&self.0)
    }
}

/// Changes what happens to jobs that do not match a version.
#[derive(Debug)]
pub(crate) struct SetSchemaMode {
    /// The version.
    pub(crate) name: Name,
    /// The new mode.
    pub(crate) mode: Mode,
}

impl Command for SetSchemaMode {
    type Reply = SchemaRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SchemaRow> {
        transaction.set_schema_mode(&self.name, self.mode)
    }
}

/// Deletes a version.
#[derive(Debug)]
pub(crate) struct DeleteSchema(pub(crate) Name);

impl Command for DeleteSchema {
    type Reply = SchemaRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SchemaRow> {
        let row = self.0.find_to_change(transaction.tables)?;
        transaction.tables.delete_schema(&row)?;
        Ok(row)
    }
}

/// Which schema is meant.
#[derive(Debug)]
pub(crate) enum Name {
    /// The highest version of a job type.
    Latest(String),
    /// A version of a job type.
    Version(String, Version),
    /// The one with this URI.
    Uri(String),
}

/// The tenant of the running command, which may have schemas of its own; `None` for the default tenant and for
/// operators.
fn tenant_of(tables: &mut dyn Tables) -> Option<Arc<str>> {
    tables.names().scope.id().filter(|id| &***id != DEFAULT_TENANT).cloned()
}

impl Name {
    /// The schema as the caller sees it: of a job type, the tenant's own versions hide those that all share.
    fn find(&self, tables: &mut dyn Tables) -> Applied<SchemaRow> {
        let tenant = tenant_of(tables);
        let tenant = tenant.as_deref();
        let row = match self {
            Self::Latest(job_type) => tables.schema_for(tenant, job_type)?,
            Self::Version(job_type, version) => match tables.schema_for(tenant, job_type)? {
                Some(latest) => tables.schema(&latest.job_type, version.rank)?,
                None => None,
            },
            Self::Uri(uri) => schema_of_uri_for(tables, tenant, uri)?,
        };
        Ok(row.ok_or_else(|| OjsError::not_found("schema", &self.told()))?)
    }

    /// The same for a change. What all tenants share is changed by operators.
    pub(super) fn find_to_change(&self, tables: &mut dyn Tables) -> Applied<SchemaRow> {
        let row = self.find(tables)?;
        match tables.names().scope.id() {
            Some(tenant) if row.tenant().is_none() => Err(shared(tenant).into()),
            _ => Ok(row),
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Latest(name) | Self::Uri(name) => name.clone(),
            Self::Version(job_type, version) => format!("{job_type}@{}", version.text),
        }
    }
}

/// A tenant asks for a change of what all tenants share.
pub(super) fn shared(tenant: &str) -> OjsError {
    let message = format!("All tenants share this schema: a caller of tenant '{tenant}' cannot change it.");
    OjsError::new(ErrorCode::PermissionDenied, message)
        .with_details(serde_json::json!({"tenant_id": tenant, "reason": "operators_only"}))
        .with_hint("Register a schema of your own for the job type: it is used in place of the shared one.")
}

/// A schema and its text.
#[derive(Debug)]
pub(crate) struct GetSchema(pub(crate) Name);

impl Query for GetSchema {
    type Reply = (SchemaRow, String);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let row = self.0.find(tables)?;
        let text = tables.schema_text(&row)?;
        Ok((row, text))
    }
}

/// The versions of a job type, highest first.
#[derive(Debug)]
pub(crate) struct SchemaVersions(pub(crate) String);

impl Query for SchemaVersions {
    type Reply = Vec<SchemaRow>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let tenant = tenant_of(tables);
        match tables.schema_for(tenant.as_deref(), &self.0)? {
            Some(latest) => Ok(tables.schemas_of(&latest.job_type)?),
            None => Err(OjsError::not_found("schema", &self.0).into()),
        }
    }
}

/// A page of the schemas that the caller sees, and how many there are: operators see those of all tenants, a tenant
/// sees those that its jobs are compared with.
#[derive(Debug)]
pub(crate) struct ListSchemas {
    /// Page size.
    pub(crate) limit: usize,
    /// Schemas to pass over.
    pub(crate) offset: usize,
}

impl Query for ListSchemas {
    type Reply = (Vec<SchemaRow>, usize);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let mut rows = tables.schemas()?;
        if let Some(tenant) = tables.names().scope.id().cloned() {
            let is_own = |row: &SchemaRow| row.tenant() == Some(&*tenant);
            let own: HashSet<String> = rows.iter().filter(|row| is_own(row)).map(|row| row.own_type().to_owned()).collect();
            rows.retain(|row| is_own(row) || row.tenant().is_none() && !own.contains(row.own_type()));
            rows.sort_by(|a, b| (a.own_type(), a.rank).cmp(&(b.own_type(), b.rank)));
        }
        let total = rows.len();
        Ok((rows.into_iter().skip(self.offset).take(self.limit).collect(), total))
    }

    fn is_search(&self) -> bool {
        true
    }
}
