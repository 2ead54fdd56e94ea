//! Registers schemas, and compares the arguments of jobs with them before the jobs are stored.
use std::sync::Arc;

use ojs_model::json::{members, object, string};
use ojs_model::{ErrorCode, NewJob, OjsError, Timestamp, envelope};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::commands::Name;
use super::compatible_with::CompatibleWith;
use super::compiled::compiled;
use super::json_schema::check::Difference;
use super::json_schema::compatibility::breaking_changes;
use super::json_schema::compile::{MAX_BYTES, Schema};
use super::records::{
    MAX_OF_TENANT, MAX_OF_TENANTS, MAX_SCHEMAS, Mode, SchemaRow, SchemaTables, Version, type_of, unreadable, uri_of,
};
use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::admission::Admission;
use crate::kernel::transaction::Transaction;
use crate::store::tables::Tables;

/// Longest URI, bytes.
const MAX_URI: usize = 255;

/// A schema that is to be registered. It has been read: what is stored can be used.
#[derive(Debug, Clone)]
pub(crate) struct NewSchema {
    row: SchemaRow,
    text: String,
    document: Value,
    compatible_with: CompatibleWith,
}

impl NewSchema {
    /// Checks what a client sent, of a tenant or for all. Without a URI the schema gets `urn:ojs:schema:TYPE:vVERSION`.
    ///
    /// # Errors
    /// 400 that names the member at fault and, within the schema, the place.
    pub(crate) fn new(
        (tenant, job_type): (Option<&str>, &str),
        version: Version,
        uri: Option<&str>,
        mode: Mode,
        text: &str,
        now: Timestamp,
    ) -> Result<Self, OjsError> {
        ojs_model::envelope::check_type(job_type)?;
        let uri = uri.map_or_else(|| format!("urn:ojs:schema:{job_type}:v{}", version.text), str::to_owned);
        if !uri.contains(':') || uri.len() > MAX_URI || uri.chars().any(|c| c.is_control() || c.is_whitespace()) {
            let message = format!("uri must be a URI of at most {MAX_URI} bytes, such as urn:ojs:schema:email.send:v1.");
            return Err(OjsError::invalid_field("uri", message));
        }
        if text.len() > MAX_BYTES {
            return Err(OjsError::invalid_field("schema", format!("schema must have at most {MAX_BYTES} bytes.")));
        }
        let not_json = |error: serde_json::Error| OjsError::invalid_field("schema", format!("schema is not JSON: {error}."));
        let document: Value = serde_json::from_str(text).map_err(not_json)?;
        if !document.is_object() {
            return Err(OjsError::invalid_field("schema", "schema is required: a JSON Schema for args, which is an object."));
        }
        Schema::compile(&document).map_err(|fault| {
            let place = if fault.path.is_empty() { "/" } else { &fault.path };
            OjsError::invalid_field("schema", format!("schema is not valid at {place}: {}.", fault.message))
                .with_details(json!({"field": "schema", "path": fault.path}))
        })?;
        let row = SchemaRow {
            job_type: type_of(tenant, job_type),
            rank: version.rank,
            version: version.text,
            uri: uri_of(tenant, &uri),
            mode,
            digest: Sha256::digest(text.as_bytes()).to_vec(),
            created_at: now.as_millis(),
        };
        Ok(Self { row, text: text.to_owned(), document, compatible_with: CompatibleWith::default() })
    }

    /// The same, with versions whose arguments it must accept.
    pub(crate) fn compatible_with(self, compatible_with: CompatibleWith) -> Self {
        Self { compatible_with, ..self }
    }
}

/// How a job differs from the schema that it was compared with.
struct Verdict {
    row: SchemaRow,
    differences: Vec<Difference>,
}

impl Transaction<'_> {
    /// Registers a version of a job type.
    pub(crate) fn register_schema(&mut self, new: &NewSchema) -> Applied<SchemaRow> {
        let row = &new.row;
        if self.tables.schema(&row.job_type, row.rank)?.is_some() {
            return Err(taken(row).into());
        }
        self.check_schema_count(row)?;
        if let Some(before) = self.tables.schema_before(&row.job_type, row.rank)?.filter(|before| before.major() == row.major()) {
            let text = self.tables.schema_text(&before)?;
            let old: Value = serde_json::from_str(&text).map_err(|error| unreadable(&before, &error.to_string()))?;
            let changes = breaking_changes(&old, &new.document);
            if !changes.is_empty() {
                return Err(breaking(row, &before, &changes).into());
            }
        }
        self.check_compatible_with(row, &new.document, &new.compatible_with)?;
        if self.tables.insert_schema(row, &new.text)? { Ok(row.clone()) } else { Err(taken(row).into()) }
    }

    /// Refuses a schema when there are as many as a server keeps, of all tenants, of one, or of those that all share.
    fn check_schema_count(&mut self, new: &SchemaRow) -> Applied<()> {
        let known = self.tables.schemas()?;
        let count = |counts: &dyn Fn(Option<&str>) -> bool| known.iter().filter(|row| counts(row.tenant())).count();
        let (whose, most, full) = match new.tenant() {
            None => ("all tenants share", MAX_SCHEMAS, count(&|of| of.is_none()) >= MAX_SCHEMAS),
            own if count(&|of| of == own) >= MAX_OF_TENANT => ("one tenant may have", MAX_OF_TENANT, true),
            _ => ("all tenants together may have", MAX_OF_TENANTS, count(&|of| of.is_some()) >= MAX_OF_TENANTS),
        };
        if !full {
            return Ok(());
        }
        let message = format!("There are {most} registered schemas, which is the most that {whose}.");
        Err(OjsError::new(ErrorCode::Conflict, message)
            .with_details(json!({"reason": "too_many_schemas", "max_schemas": most}))
            .with_hint("Delete versions that no job uses any more.")
            .into())
    }

    /// Changes what happens to jobs that do not match a version.
    pub(crate) fn set_schema_mode(&mut self, name: &Name, mode: Mode) -> Applied<SchemaRow> {
        let mut row = name.find_to_change(self.tables)?;
        row.mode = mode;
        self.tables.put_schema(&row)?;
        Ok(row)
    }

    /// Compares jobs with their schemas: refuses all when one must match and does not, or notes warnings.
    pub(crate) fn admit_by_schema(&mut self, jobs: &[Arc<NewJob>], admission: &mut Admission) -> Applied<()> {
        if !self.tables.has_schemas()? {
            return Ok(());
        }
        let routed = admission.filled.clone();
        let jobs = routed.as_deref().unwrap_or(jobs);
        for (index, job) in jobs.iter().enumerate() {
            let warnings = compared(self.tables, job.tenant.as_deref(), &job.job_type, &job.body);
            let warnings = warnings.map_err(|refusal| match refusal {
                Refusal::Ojs(error) => located(*error, index, jobs.len()).into(),
                fault => fault,
            })?;
            admission.warnings.extend(warnings.into_iter().map(|warning| (index, warning)));
        }
        if !admission.warnings.is_empty() {
            // The number only: arguments are never logged.
            tracing::warn!(warnings = admission.warnings.len(), "enqueued jobs do not match their schemas");
        }
        Ok(())
    }

    /// Refuses a job that did not come by an enqueue when it must match its schema and does not. There is no answer
    /// that could carry warnings, so they are logged.
    pub(crate) fn judge_by_schema(&mut self, job_type: &str, body: &str) -> Applied<()> {
        if !self.tables.has_schemas()? {
            return Ok(());
        }
        let tenant = envelope::tenant_in(body)?;
        for warning in compared(self.tables, tenant.as_deref(), job_type, body)? {
            tracing::warn!(job_type, warning, "a job does not match its schema");
        }
        Ok(())
    }
}

/// The warnings about a job of a tenant.
pub(super) fn compared(tables: &mut dyn Tables, tenant: Option<&str>, job_type: &str, envelope: &str) -> Applied<Vec<String>> {
    // Jobs of types without a schema are not even parsed.
    let Some(latest) = tables.schema_for(tenant, job_type)? else { return Ok(Vec::new()) };
    let whole = object(envelope);
    let unparsed = |error: serde_json::Error| StoreError::Failed(format!("a job that was parsed cannot be read: {error}"));
    let job = members(&whole).map_err(unparsed)?;
    let member = |wanted: &str| job.iter().find(|(name, raw)| name == wanted && *raw != "null").map(|(_, raw)| *raw);
    let row = match chosen(tables, tenant, member("schema"), member("version"), latest)? {
        Ok(row) => row,
        Err(warning) => return Ok(warning.into_iter().collect()),
    };
    let args = member("args").unwrap_or("[]");
    if row.mode == Mode::Off || is_encoded(args, member("meta")) {
        return Ok(Vec::new());
    }
    let args: Value = serde_json::from_str(args).map_err(unparsed)?;
    let differences = compiled(tables, &row)?.differences(&args);
    let verdict = Verdict { row, differences };
    match verdict.row.mode {
        _ if verdict.differences.is_empty() => Ok(Vec::new()),
        Mode::Strict => Err(verdict.refusal().into()),
        Mode::Warn | Mode::Off => Ok(verdict.warnings()),
    }
}

/// The schema of a job: the one that it names, else the one of its version, else the latest of its type, which is
/// given. Without one, the warning that there is none.
fn chosen(
    tables: &mut dyn Tables,
    tenant: Option<&str>,
    uri: Option<&str>,
    version: Option<&str>,
    latest: SchemaRow,
) -> Applied<Result<SchemaRow, Option<String>>> {
    if let Some(uri) = uri.and_then(string)
        && let Some(row) = schema_of_uri_for(tables, tenant, &uri)?.filter(|row| row.own_type() == latest.own_type())
    {
        return Ok(Ok(row));
    }
    let Some(version) = version else { return Ok(Ok(latest)) };
    let parsed = serde_json::from_str(version).ok().and_then(|value: Value| Version::from_json(Some(&value)).ok());
    let row = match &parsed {
        Some(version) => tables.schema(&latest.job_type, version.rank)?,
        None => None,
    };
    let job_type = latest.own_type();
    Ok(row.ok_or_else(|| {
        let told = parsed.map_or_else(|| "of this form".to_owned(), |version| version.text);
        let warning = format!("no schema is registered for version {told} of '{job_type}': args were not compared with any");
        (latest.mode != Mode::Off).then_some(warning)
    }))
}

/// The schema that a job of a tenant names by a URI: one of its own, else one that all share.
pub(super) fn schema_of_uri_for(tables: &mut dyn Tables, tenant: Option<&str>, uri: &str) -> Applied<Option<SchemaRow>> {
    match tables.schema_of_uri(&uri_of(tenant, uri))? {
        None if tenant.is_some() => Ok(tables.schema_of_uri(uri)?),
        found => Ok(found),
    }
}

impl Verdict {
    fn name(&self) -> String {
        format!("{}@{}", self.row.own_type(), self.row.version)
    }

    fn refusal(&self) -> OjsError {
        let told: Vec<String> = self.differences.iter().map(Difference::told).collect();
        let first = told.first().map(String::as_str).unwrap_or_default();
        let message = format!("Job arguments do not match schema for {}: {first}.", self.name());
        let places: Vec<Value> = self
            .differences
            .iter()
            .map(|found| json!({"path": found.path, "rule": found.rule, "message": found.message}))
            .collect();
        OjsError::new(ErrorCode::SchemaValidation, message).with_details(json!({
            "field": "args", "job_type": self.row.own_type(), "version": self.row.version_json(),
            "schema": self.row.own_uri(),
            "validation_errors": told, "differences": places,
        }))
    }

    fn warnings(&self) -> Vec<String> {
        self.differences.iter().map(|found| format!("Schema validation warning for {}: {}", self.name(), found.told())).collect()
    }
}

impl Difference {
    fn told(&self) -> String {
        format!("{}: {}", self.place, self.message)
    }
}

fn taken(row: &SchemaRow) -> OjsError {
    let message = format!("Schema {} of job type '{}' is registered already, or its URI is.", row.version, row.own_type());
    OjsError::new(ErrorCode::Conflict, message)
        .with_details(json!({
            "reason": "schema_exists", "job_type": row.own_type(), "version": row.version_json(), "uri": row.own_uri(),
        }))
        .with_hint("A registered schema never changes: register the next version, or delete this one first.")
}

fn breaking(row: &SchemaRow, before: &SchemaRow, changes: &[String]) -> OjsError {
    let message = format!(
        "Schema version {} introduces breaking changes compared to {}. Use a major version bump ({}.0.0).",
        row.version,
        before.version,
        row.major() + 1
    );
    OjsError::new(ErrorCode::ValidationError, message)
        .with_details(json!({"field": "schema", "breaking_changes": changes}))
        .with_hint("Jobs that match the earlier version may not match this one.")
}

/// Says which element of a batch is meant.
fn located(mut error: OjsError, index: usize, of: usize) -> OjsError {
    if let (true, Some(details)) = (of > 1, error.details.as_mut().and_then(Value::as_object_mut)) {
        details.insert("index".into(), json!(index));
        details.insert("field".into(), json!(format!("jobs[{index}].args")));
    }
    error
}

/// Whether arguments are encrypted or compressed: a server cannot read them (extensions section 8.4). All forms in
/// use are known.
fn is_encoded(args: &str, meta: Option<&str>) -> bool {
    const MARKS: [&str; 3] = ["ojs_encoded", "_encrypted", "ojs.encryption.encrypted"];
    let is_set = |raw: &str| !matches!(raw, "false" | "null" | "\"false\"" | "[]" | "\"\"");
    let marked = |text: &str| {
        let members = members(text).unwrap_or_default();
        members.iter().any(|(name, raw)| (MARKS.contains(&&**name) || name == "ojs.codec.encodings") && is_set(raw))
    };
    if meta.is_some_and(marked) {
        return true;
    }
    // The form of the specification: one element that says what it is.
    let inner = args.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::trim).unwrap_or_default();
    inner.starts_with('{') && inner.contains("ojs_encoded") && marked(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_arguments_are_recognised_in_every_form_in_use() {
        assert!(is_encoded(r#"[{"ojs_encoded":true,"data":"x"}]"#, None));
        assert!(is_encoded(r#"["x"]"#, Some(r#"{"ojs.codec.encodings":["binary/encrypted"]}"#)));
        assert!(is_encoded(r#"["x"]"#, Some(r#"{"ojs_encoded":"true"}"#)));
        assert!(is_encoded(r#"["x"]"#, Some(r#"{"_encrypted":true}"#)));
        assert!(!is_encoded(r#"[{"ojs_encoded":false}]"#, Some(r#"{"ojs.codec.encodings":[]}"#)));
        assert!(!is_encoded(r#"[{"a":"ojs_encoded"},{"b":1}]"#, None));
        assert!(!is_encoded("[]", None));
    }

    #[test]
    fn a_version_is_shown_as_it_was_registered() {
        let rank = |text: &str| Version::parse(text).unwrap().rank;
        let row = |text: &str| SchemaRow {
            job_type: "t".into(),
            rank: rank(text),
            version: text.into(),
            uri: "u:".into(),
            mode: Mode::Warn,
            digest: Vec::new(),
            created_at: 0,
        };
        assert_eq!((row("2").version_json(), row("2.0").version_json()), (json!(2), json!("2.0")));
        assert_eq!(row("3.1.4").major(), 3);
    }
}
