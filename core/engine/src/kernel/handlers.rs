//! What a worker declares that it runs: job types with ranges of versions.
use ojs_model::limits::MAX_FETCH_TYPES;
use ojs_model::version::Range;
use ojs_model::{ErrorCode, OjsError, envelope};
use serde_json::{Value, json};

/// The member of a fetch and of a heartbeat that declares them.
pub(crate) const MEMBER: &str = "handlers";
/// Most ranges of one job type.
const MAX_RANGES: usize = 100;
/// Most bytes of the declaration of a worker, which is kept with the worker.
const MAX_BYTES: usize = 16_384;

/// The job types that a worker runs, with the ranges of versions that it runs of each. A worker that declares nothing
/// runs everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Handlers(Vec<Handler>);

/// One job type of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handler {
    /// The job type.
    pub(crate) job_type: String,
    /// Its versions.
    pub(crate) ranges: Vec<Range>,
}

impl Handler {
    /// Whether it runs a version, given as [`JobRow::version`](crate::kernel::job::JobRow::version).
    pub(crate) fn runs(&self, version: i64) -> bool {
        self.ranges.iter().any(|range| range.contains(version - 1))
    }
}

impl Handlers {
    /// Reads `[{"type": "email.send", "versions": [">=2.0 <3.0"]}]`. `versions` may be one text or number instead of an
    /// array; without it the worker runs every version.
    ///
    /// # Errors
    /// 400 with `details.field` for another form, for a job type that is none, and for a range that is none.
    pub fn parse(value: &Value) -> Result<Self, OjsError> {
        let list = value.as_array().ok_or_else(|| fault("handlers must be an array of objects with type and versions."))?;
        let bytes = value.to_string().len();
        if list.len() > MAX_FETCH_TYPES || bytes > MAX_BYTES {
            let message = format!(
                "handlers has {} elements and {bytes} bytes; the limits are {MAX_FETCH_TYPES} and {MAX_BYTES}.",
                list.len()
            );
            return Err(OjsError::new(ErrorCode::InvalidPayload, message)
                .with_details(json!({"field": MEMBER, "max_elements": MAX_FETCH_TYPES, "max_bytes": MAX_BYTES})));
        }
        list.iter().map(handler).collect::<Result<_, _>>().map(Self)
    }

    /// What a worker has declared, out of what is kept of the worker.
    #[must_use]
    pub fn of_worker(info: &str) -> Option<Self> {
        // Nearly no worker declares any: most are told apart without parsing.
        if !info.contains("\"handlers\"") {
            return None;
        }
        let info: Value = serde_json::from_str(info).ok()?;
        // It was checked when it was declared.
        info.get(MEMBER).and_then(|value| Self::parse(value).ok())
    }

    /// The job types with their ranges.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Handler> {
        self.0.iter()
    }
}

/// What is kept of a worker after a heartbeat that says `info` of it: a declaration that the heartbeat does not repeat
/// stays.
pub(crate) fn carried(before: &str, info: &str) -> Option<String> {
    if !before.contains("\"handlers\"") || info.contains("\"handlers\"") {
        return None;
    }
    let declared = serde_json::from_str::<Value>(before).ok()?.get(MEMBER)?.clone();
    let mut said: serde_json::Map<String, Value> = serde_json::from_str(info).ok()?;
    said.insert(MEMBER.to_owned(), declared);
    Some(Value::Object(said).to_string())
}

fn fault(message: &str) -> OjsError {
    OjsError::invalid_field(MEMBER, message)
}

fn handler(value: &Value) -> Result<Handler, OjsError> {
    let job_type = value.get("type").and_then(Value::as_str);
    let job_type = job_type.ok_or_else(|| fault("Each of handlers needs type: the job type that the worker runs."))?;
    envelope::check_type(job_type).map_err(|error| at("type", error))?;
    let ranges = match value.get("versions") {
        None | Some(Value::Null) => vec![Range::ALL],
        Some(Value::Array(list)) if list.len() > MAX_RANGES => {
            return Err(at("versions", fault(&format!("A job type of handlers may have {MAX_RANGES} ranges of versions."))));
        }
        Some(Value::Array(list)) => list.iter().map(range).collect::<Result<_, _>>()?,
        Some(one) => vec![range(one)?],
    };
    Ok(Handler { job_type: job_type.to_owned(), ranges })
}

fn range(value: &Value) -> Result<Range, OjsError> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(at("versions", fault("versions must be ranges such as \"*\", \"2.0\" or \">=2.0 <3.0\"."))),
    };
    Range::parse(&text).map_err(|error| at("versions", error))
}

/// The error of a member of one handler.
fn at(member: &str, error: OjsError) -> OjsError {
    error.with_details(json!({"field": format!("{MEMBER}.{member}")}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_are_read_in_every_form_and_faults_name_the_member() {
        let read = |value: Value| Handlers::parse(&value);
        let all = read(json!([{"type": "a"}, {"type": "b", "versions": ">=2.0, <3.0"}, {"type": "c", "versions": [1, "2.1"]}]));
        assert_eq!(all.unwrap().iter().map(|handler| handler.ranges.len()).collect::<Vec<_>>(), [1, 1, 2]);
        for (wrong, field) in [
            (json!({}), "handlers"),
            (json!([{"versions": "*"}]), "handlers"),
            (json!([{"type": "A"}]), "handlers.type"),
            (json!([{"type": "a", "versions": "2.x"}]), "handlers.versions"),
            (json!([{"type": "a", "versions": [true]}]), "handlers.versions"),
            (json!(vec![json!({"type": "a"}); MAX_FETCH_TYPES + 1]), "handlers"),
        ] {
            assert_eq!(read(wrong).unwrap_err().details.unwrap()["field"], field);
        }
    }

    #[test]
    fn a_heartbeat_that_does_not_repeat_the_declaration_keeps_it() {
        let before = r#"{"handlers":[{"type":"a","versions":"1"}],"pid":1}"#;
        let kept = carried(before, r#"{"pid":2}"#).unwrap();
        assert_eq!(Handlers::of_worker(&kept), Handlers::of_worker(before));
        assert!(kept.contains("\"pid\":2"));
        assert_eq!((carried(before, r#"{"handlers":[]}"#), carried("{}", "{}")), (None, None));
        assert_eq!(Handlers::of_worker(r#"{"hostname":"handlers"}"#), None);
    }
}
