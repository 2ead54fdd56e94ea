//! Options that are set once for a type of jobs, for this process and all its clients.
use crate::error::AbiError;

/// Sets what jobs of this type have unless their enqueue says otherwise: a JSON object of options by their names on the wire, `{"queue":
/// "mail", "retry": 8, "timeout": "5m"}`. It takes the place of what was set before; `{}` sets nothing.
///
/// # Errors
/// An empty type, or a wrong option, which the message names.
pub fn set(job_type: &str, options: &str) -> Result<(), AbiError> {
    Ok(ojs::defaults::set_json(job_type, options)?)
}

/// A job, as JSON, with the options of its type: see [`ojs::defaults::completed`].
///
/// # Errors
/// A wrong option, which the message names.
pub fn completed(job: &str) -> Result<String, AbiError> {
    Ok(ojs::defaults::completed(job)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_gets_the_options_of_its_type_and_keeps_its_own() {
        set("completed.here", r#"{"queue":"mail","retry":8,"unique":true}"#).unwrap();
        let job = |options: &str| completed(&format!(r#"{{"type":"completed.here","args":[],"options":{options}}}"#)).unwrap();
        let ours = job(r#"{"queue":"default","unique":false}"#);
        assert!(ours.contains(r#""options":{"queue":"default","retry":{"max_attempts":8}}"#), "{ours}");
        assert!(job("{}").contains(r#""queue":"mail""#) && job("{}").contains(r#""unique""#));
        assert_eq!(completed(r#"{"type":"without","args":[1]}"#).unwrap(), r#"{"type":"without","args":[1]}"#);
    }

    #[test]
    fn wrong_options_are_named() {
        for (job_type, options, message) in [
            ("", "{}", "type"),
            ("a", "[]", "options: must be a JSON object"),
            ("a", r#"{"retries":3}"#, "options.retries: unknown option 'retries'; did you mean 'retry'?"),
            ("a", r#"{"timeout":"soon"}"#, "timeout: must be a length of time"),
        ] {
            let error = set(job_type, options).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
