//! Versions of the arguments of jobs, for hosts that keep the functions which change them.
use ojs::worker::Versions;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::AbiError;

/// The changes that bring the arguments of a job to the version of its handler, by their numbers among those of the
/// type: a JSON array such as `[0,1]`, empty when the arguments stay as they are.
///
/// `said` is what the host says about the type, as in the setting `versions` of its worker; `job` is the job as JSON.
///
/// # Errors
/// What the host says is wrong, or no change leads from the version of the job to one that the handler is written for.
pub fn changes(job_type: &str, said: &str, job: &[u8]) -> Result<String, AbiError> {
    #[derive(Deserialize)]
    struct Head {
        version: Option<Value>,
    }
    let said = serde_json::from_str(said).map_err(|e| AbiError::invalid(format!("versions must be JSON: {e}")))?;
    let versions = Map::from_iter([(job_type.to_owned(), said)]);
    let versions = Versions::from_json(&Value::Object(versions).to_string())?;
    let head: Head = serde_json::from_slice(job).map_err(|e| AbiError::invalid(format!("a job must be a JSON object: {e}")))?;
    let path = versions.path(job_type, head.version.as_ref()).map_err(ojs::Error::from)?;
    Ok(serde_json::json!(path).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changes_of_a_job_are_numbered_and_a_missing_one_is_an_error() {
        let said = r#"{"version":"3.0","transforms":[["2","3"],["1","2"]]}"#;
        let path = |job: &str| changes("mail", said, job.as_bytes());
        assert_eq!(path(r#"{"type":"mail","version":1,"args":[]}"#).unwrap(), "[1,0]");
        assert_eq!(path(r#"{"type":"mail","version":"3.4"}"#).unwrap(), "[]");
        assert_eq!(path(r#"{"type":"mail"}"#).unwrap(), "[]");
        let error = path(r#"{"type":"mail","version":"4"}"#).unwrap_err().to_string();
        assert!(error.contains("'mail' in versions >=3.0 <4.0") && error.contains("4.0.0"), "{error}");
        assert!(changes("mail", r#"{"version":"x"}"#, b"{}").is_err());
        assert!(changes("mail", "{", b"{}").is_err());
        assert!(path("[]").is_err());
    }
}
