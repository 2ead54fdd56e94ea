//! Registered schemas as stores keep them.
use ojs_model::envelope::DEFAULT_TENANT;
pub use ojs_model::version::Version;
use ojs_model::{OjsError, version};
use serde_json::{Value, json};

use crate::error::Result;
use crate::store::record::{RecordTables, Records, Scan, record, words};

/// Most versions of all job types that tenants share: every connection keeps their rows in memory.
pub const MAX_SCHEMAS: usize = 1_000;
/// Most versions of one tenant.
pub const MAX_OF_TENANT: usize = 100;
/// Most versions of all tenants together.
pub const MAX_OF_TENANTS: usize = 4_000;

/// What happens to a job whose arguments do not match its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Mode {
    /// It is refused.
    Strict = 0,
    /// It is stored, and the answer to its enqueue carries warnings.
    #[default]
    Warn = 1,
    /// It is stored; its arguments are not looked at.
    Off = 2,
}

words! { Mode { Strict = "strict", Warn = "warn", Off = "off" } }

impl Mode {
    /// Reads a word.
    ///
    /// # Errors
    /// 400 that names the modes.
    pub fn parse(word: &str) -> std::result::Result<Self, OjsError> {
        Self::from_word(word).ok_or_else(|| OjsError::invalid_field("mode", "mode must be strict, warn or off."))
    }
}

record! {
    /// A registered schema without its text.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SchemaRow in "schemas" {
        key ("job_type", "rank");
        remember Everything;
        unique URI = "schemas_uri" ("uri");
        /// The job type whose arguments it describes, as [`type_of`] writes it.
        pub job_type: String,
        /// See [`Version::rank`].
        pub rank: i64,
        /// See [`Version::text`].
        pub version: String,
        /// By which name jobs refer to it in their member `schema`, as [`uri_of`] writes it.
        pub uri: String,
        /// What happens to a job that does not match.
        pub mode: Mode,
        /// SHA-256 of its text.
        pub digest: Vec<u8>,
        /// When it was registered, milliseconds.
        pub created_at: i64,
    }
}

/// Between a tenant and a job type. No job type has it.
const OF: char = '/';
/// Between a tenant and a URI. No URI has it.
const OF_URI: char = ' ';

/// A job type as stores keep it: each tenant has schemas of its own, beside those that all share.
#[must_use]
pub fn type_of(tenant: Option<&str>, job_type: &str) -> String {
    named(tenant, OF, job_type)
}

/// The same for a URI.
#[must_use]
pub fn uri_of(tenant: Option<&str>, uri: &str) -> String {
    named(tenant, OF_URI, uri)
}

fn named(tenant: Option<&str>, of: char, name: &str) -> String {
    match tenant.filter(|tenant| *tenant != DEFAULT_TENANT) {
        Some(tenant) => format!("{tenant}{of}{name}"),
        None => name.to_owned(),
    }
}

impl SchemaRow {
    /// The tenant that it belongs to; `None` when all tenants share it.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.job_type.split_once(OF).map(|(tenant, _)| tenant)
    }

    /// The job type without the tenant.
    #[must_use]
    pub fn own_type(&self) -> &str {
        self.job_type.split_once(OF).map_or(&self.job_type, |(_, job_type)| job_type)
    }

    /// The tenant that its URI names; the same as [`tenant`](Self::tenant) in a sound store.
    #[must_use]
    pub(super) fn tenant_of_uri(&self) -> Option<&str> {
        self.uri.split_once(OF_URI).map(|(tenant, _)| tenant)
    }

    /// The URI without the tenant.
    #[must_use]
    pub fn own_uri(&self) -> &str {
        self.uri.split_once(OF_URI).map_or(&self.uri, |(_, uri)| uri)
    }

    /// The version as it was registered: a whole number is a number again.
    #[must_use]
    pub fn version_json(&self) -> Value {
        self.version.parse::<u64>().map_or_else(|_| json!(self.version), |number| json!(number))
    }

    /// The first part of the version.
    #[must_use]
    pub const fn major(&self) -> i64 {
        version::major(self.rank)
    }
}

record! {
    /// The text of a registered schema. It stands apart from [`SchemaRow`], which connections keep in memory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SchemaText in "schema_texts" {
        key ("job_type", "rank");
        /// See [`SchemaRow::job_type`].
        pub job_type: String,
        /// See [`SchemaRow::rank`].
        pub rank: i64,
        /// JSON.
        pub text: String,
    }
}

/// Registered schemas.
pub trait SchemaTables: RecordTables {
    /// Whether there are any.
    ///
    /// # Errors
    /// A store that cannot be read, as everywhere here.
    fn has_schemas(&mut self) -> Result<bool> {
        Records::<SchemaRow, _>::of(self).has_any()
    }

    /// All of them, in order of tenant, job type and version. It reads nothing but the memory of the connection.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn schemas(&mut self) -> Result<Vec<SchemaRow>> {
        Records::of(self).scan(&Scan::over(SchemaRow::KEY))
    }

    /// The highest version of a job type for jobs of a tenant: of the tenant's own versions if there is any, else of
    /// those that all tenants share.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn schema_for(&mut self, tenant: Option<&str>, job_type: &str) -> Result<Option<SchemaRow>> {
        if let Some(tenant) = tenant.filter(|tenant| *tenant != DEFAULT_TENANT)
            && let Some(own) = self.latest_schema(&type_of(Some(tenant), job_type))?
        {
            return Ok(Some(own));
        }
        self.latest_schema(job_type)
    }

    /// One version of a job type, which is given as [`type_of`] writes it; so it is below.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn schema(&mut self, job_type: &str, rank: i64) -> Result<Option<SchemaRow>> {
        Records::of(self).get(&(job_type, rank))
    }

    /// The schema of a URI.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn schema_of_uri(&mut self, uri: &str) -> Result<Option<SchemaRow>> {
        Records::of(self).find(SchemaRow::URI, &uri, Default::default())
    }

    /// The highest version of a job type.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn latest_schema(&mut self, job_type: &str) -> Result<Option<SchemaRow>> {
        Records::of(self).first(Scan::over(SchemaRow::KEY).under(&job_type).descending())
    }

    /// The highest version of a job type below another one.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn schema_before(&mut self, job_type: &str, rank: i64) -> Result<Option<SchemaRow>> {
        Records::of(self).first(Scan::over(SchemaRow::KEY).under(&job_type).below(&rank).descending())
    }

    /// The versions of a job type, highest first.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn schemas_of(&mut self, job_type: &str) -> Result<Vec<SchemaRow>> {
        Records::of(self).scan(&Scan::over(SchemaRow::KEY).under(&job_type).descending())
    }

    /// The text of a schema.
    ///
    /// # Errors
    /// See [`has_schemas`](Self::has_schemas).
    fn schema_text(&mut self, row: &SchemaRow) -> Result<String> {
        let text: Option<SchemaText> = Records::of(self).get(&(row.job_type.as_str(), row.rank))?;
        text.map(|found| found.text).ok_or_else(|| unreadable(row, "its text is missing"))
    }

    /// Stores a new schema; false when the version or the URI is taken.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn insert_schema(&mut self, row: &SchemaRow, text: &str) -> Result<bool> {
        if Records::of(self).insert(row)?.is_none() {
            return Ok(false);
        }
        let text = SchemaText { job_type: row.job_type.clone(), rank: row.rank, text: text.to_owned() };
        Records::of(self).put(&text)?;
        Ok(true)
    }

    /// Writes a known schema.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_schema(&mut self, row: &SchemaRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Deletes a schema.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn delete_schema(&mut self, row: &SchemaRow) -> Result<()> {
        let key = (row.job_type.as_str(), row.rank);
        Records::<SchemaText, _>::of(self).delete(&key)?;
        Records::<SchemaRow, _>::of(self).delete(&key)
    }

    /// Deletes the schemas of a tenant.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_schemas_of(&mut self, tenant: &str) -> Result<()> {
        for row in self.schemas()?.iter().filter(|row| row.tenant() == Some(tenant)) {
            self.delete_schema(row)?;
        }
        Ok(())
    }
}

impl<T: RecordTables + ?Sized> SchemaTables for T {}

/// The fault of a schema that is stored and cannot be used.
#[must_use]
pub fn unreadable(row: &SchemaRow, why: &str) -> crate::error::StoreError {
    let (job_type, version) = (row.own_type(), &row.version);
    let of = row.tenant().map_or_else(String::new, |tenant| format!(" and X-OJS-Tenant: {tenant}"));
    crate::error::StoreError::Failed(format!(
        "schema {version} of job type '{job_type}' cannot be read: {why}; delete it with DELETE \
         /ojs/v1/schemas/{job_type}/{version}{of}"
    ))
}
