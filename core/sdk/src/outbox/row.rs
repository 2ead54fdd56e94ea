//! A row as a job to be sent.
use ojs_model::JobId;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::database::Value;

/// A row that is due.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub id: i64,
    pub attempts: i64,
    pub job_id: String,
    /// The enqueue request, or why there is none.
    pub request: Result<String, String>,
}

impl Row {
    /// From the columns of `read.sql`. `identity` is the outbox's own: part of the id of a job whose row has none.
    pub fn read(columns: &[Value], identity: &str) -> Option<Self> {
        let [id, job_type, args, options, job_id, attempts, created] = columns else { return None };
        let (id, job_type, args) = (id.integer()?, job_type.text()?, args.text().unwrap_or_default());
        let options = options.text().unwrap_or("{}");
        let parsed = serde_json::from_str::<Map<String, Json>>(options);
        let given = job_id.text().map(str::to_owned);
        let given = given.or_else(|| Some(parsed.as_ref().ok()?.get("id")?.as_str()?.to_owned()));
        let job_id = given.unwrap_or_else(|| {
            // Inserted by plain SQL: the same row always gives the same id, so that a second send is recognised.
            let text = format!("{identity}\n{id}\n{job_type}\n{args}\n{options}");
            JobId::derived(created.integer().unwrap_or(0), text.as_bytes()).to_string()
        });
        let request = match parsed {
            Ok(options) => request(job_type, args, &job_id, options),
            Err(error) => Err(format!("job_options is not a JSON object: {error}")),
        };
        Some(Self { id, attempts: attempts.integer().unwrap_or(0), job_id, request })
    }
}

/// `{type, args, id, meta, schema, options}` of the flat options in the row; a nested `options` is understood as well.
fn request(job_type: &str, args: &str, id: &str, mut options: Map<String, Json>) -> Result<String, String> {
    serde_json::from_str::<Vec<&RawValue>>(args).map_err(|error| format!("job_args is not a JSON array: {error}"))?;
    options.remove("id");
    let mut out = format!(r#"{{"type":{},"args":{args},"id":{}"#, Json::from(job_type), Json::from(id));
    for name in ["meta", "schema"] {
        if let Some(value) = options.remove(name) {
            out.push_str(&format!(r#","{name}":{value}"#));
        }
    }
    if let Some(Json::Object(nested)) = options.remove("options") {
        options.extend(nested);
    }
    if !options.is_empty() {
        out.push_str(&format!(r#","options":{}"#, Json::Object(options)));
    }
    out.push('}');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(options: &str, job_id: Value) -> Row {
        let columns = [
            Value::from(7),
            Value::from("a.b"),
            Value::from("[1.50]"),
            Value::from(options),
            job_id,
            Value::from(0),
            Value::from(1_700_000_000_000),
        ];
        Row::read(&columns, "outbox").unwrap()
    }

    #[test]
    fn the_seeds_columns_are_a_request() {
        let plain = row("{}", Value::Null);
        assert_eq!(plain.request.unwrap(), format!(r#"{{"type":"a.b","args":[1.50],"id":"{}"}}"#, plain.job_id));
        assert!(plain.job_id.parse::<JobId>().is_ok());
        let full = row(r#"{"queue":"q","meta":{"k":1},"options":{"priority":3}}"#, Value::from("x"));
        assert_eq!(
            full.request.unwrap(),
            r#"{"type":"a.b","args":[1.50],"id":"x","meta":{"k":1},"options":{"priority":3,"queue":"q"}}"#
        );
        assert_eq!(row(r#"{"id":"mine"}"#, Value::Null).job_id, "mine");
        assert!(row("[]", Value::Null).request.unwrap_err().contains("job_options"));
    }

    #[test]
    fn an_id_that_is_not_in_the_row_is_the_same_every_time() {
        assert_eq!(row("{}", Value::Null).job_id, row("{}", Value::Null).job_id);
        assert_ne!(row("{}", Value::Null).job_id, row(r#"{"queue":"q"}"#, Value::Null).job_id);
        assert!(row("{}", Value::Null).job_id.starts_with("018bcfe5-6800-7"));
    }
}
