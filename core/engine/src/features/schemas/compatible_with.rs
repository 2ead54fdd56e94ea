//! `compatible_with`: the versions of a job type whose arguments a new schema says it accepts. The promise is checked
//! when the schema is registered, also between major versions. It is not stored, because a registered version never
//! changes.
use ojs_model::version::Range;
use ojs_model::{ErrorCode, OjsError};
use serde_json::{Value, json};

use super::json_schema::compatibility::breaking_changes;
use super::records::{SchemaRow, SchemaTables, unreadable};
use crate::error::Applied;
use crate::kernel::transaction::Transaction;

/// Most versions that one registration is compared with, because they are compared in the thread that writes.
const MAX_COMPARED: usize = 20;

/// What a registration names in `compatible_with`: ranges of versions, each as it was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompatibleWith(Vec<(String, Range)>);

impl CompatibleWith {
    /// Reads the member: a version, a range of versions, or a list of them. Null is the same as no member.
    ///
    /// # Errors
    /// 400 that names the member and shows the forms.
    pub(crate) fn from_json(value: &Value) -> Result<Self, OjsError> {
        let entries: &[Value] = match value {
            Value::Null => &[],
            Value::Array(entries) => entries.as_slice(),
            one => std::slice::from_ref(one),
        };
        entries.iter().map(entry).collect::<Result<_, _>>().map(Self)
    }
}

fn entry(value: &Value) -> Result<(String, Range), OjsError> {
    let text = match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_u64() => Some(number.to_string()),
        _ => None,
    };
    let range = text.and_then(|text| Range::parse(&text).ok().map(|range| (text, range)));
    range.ok_or_else(|| {
        wrong("compatible_with must be a version, a range or a list of them: \"1.0\", \">=1.0 <3.0\", [\"1\", \"2\"].")
    })
}

fn wrong(message: impl Into<String>) -> OjsError {
    OjsError::invalid_field("compatible_with", message)
}

impl Transaction<'_> {
    /// Refuses a schema that does not accept what the versions accept that it names.
    pub(super) fn check_compatible_with(
        &mut self,
        new: &SchemaRow,
        document: &Value,
        CompatibleWith(named): &CompatibleWith,
    ) -> Applied<()> {
        if named.is_empty() {
            return Ok(());
        }
        let mut registered = self.tables.schemas_of(&new.job_type)?;
        for (text, range) in named {
            if !registered.iter().any(|row| range.contains(row.rank)) {
                let job_type = new.own_type();
                let message = format!("compatible_with: no version {text} of '{job_type}' is registered.");
                return Err(wrong(message).into());
            }
        }
        registered.retain(|row| named.iter().any(|(_, range)| range.contains(row.rank)));
        if registered.len() > MAX_COMPARED {
            let count = registered.len();
            let message = format!("compatible_with names {count} registered versions; the most is {MAX_COMPARED}.");
            return Err(wrong(message).into());
        }
        for before in &registered {
            let text = self.tables.schema_text(before)?;
            let old: Value = serde_json::from_str(&text).map_err(|error| unreadable(before, &error.to_string()))?;
            let changes = breaking_changes(&old, document);
            if !changes.is_empty() {
                return Err(incompatible(new, before, &changes).into());
            }
        }
        Ok(())
    }
}

fn incompatible(new: &SchemaRow, before: &SchemaRow, changes: &[String]) -> OjsError {
    let message = format!(
        "Schema version {} is not compatible with version {}, which compatible_with names: {}.",
        new.version,
        before.version,
        changes.join("; ")
    );
    OjsError::new(ErrorCode::ValidationError, message)
        .with_details(json!({
            "field": "compatible_with", "version": before.version_json(), "breaking_changes": changes,
        }))
        .with_hint("Accept what that version accepts, or leave the version out of compatible_with.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_a_range_and_a_list_are_read() {
        let count = |value: Value| CompatibleWith::from_json(&value).map(|named| named.0.len());
        assert_eq!(count(json!(null)).unwrap(), 0);
        assert_eq!(count(json!([])).unwrap(), 0);
        assert_eq!(count(json!("1.0.0")).unwrap(), 1);
        assert_eq!(count(json!([1, ">=2.0 <3.0"])).unwrap(), 2);
        for value in [json!("v1"), json!(1.5), json!({}), json!([["1"]]), json!(true), json!("")] {
            let error = count(value.clone()).unwrap_err();
            assert!(error.message.starts_with("compatible_with must be"), "{value}: {}", error.message);
        }
    }
}
