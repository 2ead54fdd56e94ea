//! What can be asked of the registry and changed in it.
use ojs_model::OjsError;

use crate::error::Applied;
use crate::features::schemas::records::{Mode, SchemaRow, SchemaTables, Version};
use crate::features::schemas::rules::NewSchema;
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
    /// The job type.
    pub(crate) job_type: String,
    /// The version.
    pub(crate) version: Version,
    /// The new mode.
    pub(crate) mode: Mode,
}

impl Command for SetSchemaMode {
    type Reply = SchemaRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SchemaRow> {
        transaction.set_schema_mode(&self.job_type, &self.version, self.mode)
    }
}

/// Deletes a version.
#[derive(Debug)]
pub(crate) struct DeleteSchema(pub(crate) Name);

impl Command for DeleteSchema {
    type Reply = SchemaRow;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<SchemaRow> {
        let row = self.0.find(transaction.tables)?;
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

impl Name {
    fn find(&self, tables: &mut dyn Tables) -> Applied<SchemaRow> {
        let (row, told) = match self {
            Self::Latest(job_type) => (tables.latest_schema(job_type)?, job_type.clone()),
            Self::Version(job_type, version) => (tables.schema(job_type, version.rank)?, format!("{job_type}@{}", version.text)),
            Self::Uri(uri) => (tables.schema_of_uri(uri)?, uri.clone()),
        };
        Ok(row.ok_or_else(|| OjsError::not_found("schema", &told))?)
    }
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
        let rows = tables.schemas_of(&self.0)?;
        if rows.is_empty() { Err(OjsError::not_found("schema", &self.0).into()) } else { Ok(rows) }
    }
}

/// A page of all schemas, and how many there are.
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
        Ok((tables.schemas(self.limit, self.offset)?, tables.count_schemas()?))
    }

    fn is_search(&self) -> bool {
        true
    }
}
