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

#[cfg(test)]
mod tests {
    use super::*;

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
