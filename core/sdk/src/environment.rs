//! The variables of the environment whose names begin with `OJS_`, read once here for every language (protocol
//! section 5.10): their names, types and units are those of `xtask/schema.toml`.
use std::collections::BTreeMap;

use ojs_model::duration::IsoDuration;
use serde_json::{Value, json};

use crate::encryption::Keys;
use crate::error::Error;
use crate::transport::Proxy;
use crate::worker::WorkerOptions;

/// Where a server listens unless told otherwise.
const DEFAULT_URL: &str = "http://localhost:8080";

/// What the text of a variable, or of an option of a command line, means.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// The text itself.
    Text,
    /// Names with commas between them.
    Names,
    /// A whole number from 1 to 4,294,967,295.
    Count,
    /// A number of bytes of at least 1.
    Bytes,
    /// A length of time: seconds, or `PT25S`, or `25s`.
    Length,
    /// `environment` or `none`.
    Proxy,
    /// Keys, `name:key,name:key`.
    Keys,
}

/// A variable, under any of its names, and the setting that it gives.
#[derive(Debug)]
struct Variable {
    setting: &'static str,
    /// The first one that is set counts.
    names: &'static [&'static str],
    kind: Kind,
}

// gen:rust/variables.j2 (make gen; do not edit)
/// In the order of the schema.
#[rustfmt::skip]
const VARIABLES: &[Variable] = &[
    Variable { setting: "url", names: &["OJS_URL", "OJS_BACKEND_URL"], kind: Kind::Text },
    Variable { setting: "auth_token", names: &["OJS_AUTH_TOKEN"], kind: Kind::Text },
    Variable { setting: "ca_file", names: &["OJS_TLS_CA_FILE"], kind: Kind::Text },
    Variable { setting: "cert_file", names: &["OJS_TLS_CERT_FILE"], kind: Kind::Text },
    Variable { setting: "key_file", names: &["OJS_TLS_KEY_FILE"], kind: Kind::Text },
    Variable { setting: "encryption_keys", names: &["OJS_ENCRYPTION_KEYS"], kind: Kind::Keys },
    Variable { setting: "max_response_bytes", names: &["OJS_MAX_RESPONSE_BYTES"], kind: Kind::Bytes },
    Variable { setting: "proxy", names: &["OJS_PROXY"], kind: Kind::Proxy },
    Variable { setting: "queues", names: &["OJS_QUEUE"], kind: Kind::Names },
    Variable { setting: "concurrency", names: &["OJS_CONCURRENCY"], kind: Kind::Count },
    Variable { setting: "grace_period", names: &["OJS_SHUTDOWN_TIMEOUT", "OJS_SHUTDOWN_GRACE_PERIOD"], kind: Kind::Length },
];
// gen:end

/// What the environment says, by the names of settings. An empty variable says nothing: that is how shells and
/// container files say it.
///
/// ```
/// use ojs::environment::Environment;
/// let environment = Environment::read(|name| (name == "OJS_SHUTDOWN_TIMEOUT").then(|| "PT25S".to_owned()))?;
/// assert_eq!(environment.to_json()["grace_period"], 25.0);
/// # Ok::<(), ojs::Error>(())
/// ```
#[derive(Default)]
pub struct Environment {
    values: BTreeMap<&'static str, Value>,
}

impl std::fmt::Debug for Environment {
    /// The names that are set: values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl Environment {
    /// That of this process.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of_process() -> Result<Self, Error> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads variables through a function that gives the value of one.
    ///
    /// # Errors
    /// [`Error::Validation`] that names the variable whose value cannot be.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let mut values = BTreeMap::new();
        for Variable { setting, names, kind } in VARIABLES {
            let set = |name: &&'static str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
            if let Some((name, text)) = names.iter().find_map(|name| Some((*name, set(name)?))) {
                values.insert(*setting, kind.value(&text).map_err(|wanted| wrong(name, wanted, *kind, &text))?);
            }
        }
        match (values.remove("cert_file"), values.remove("key_file")) {
            (Some(cert), Some(key)) => _ = values.insert("client_cert", json!([cert, key])),
            (None, None) => {}
            (Some(_), None) => return Err(alone("OJS_TLS_CERT_FILE", "OJS_TLS_KEY_FILE")),
            (None, Some(_)) => return Err(alone("OJS_TLS_KEY_FILE", "OJS_TLS_CERT_FILE")),
        }
        Ok(Self { values })
    }

    /// One setting; `None` where the environment says nothing.
    pub(crate) fn get(&self, setting: &str) -> Option<&Value> {
        self.values.get(setting)
    }

    /// One that is text.
    pub(crate) fn text(&self, setting: &str) -> Option<&str> {
        self.get(setting)?.as_str()
    }

    /// Where to connect unless code says so.
    pub(crate) fn url(&self) -> &str {
        self.text("url").unwrap_or(DEFAULT_URL)
    }

    /// All that is said, by the names of settings, with the defaults of `url`, `queues` and `concurrency`, which
    /// every host has to know. Lengths of time are seconds.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let worker = WorkerOptions::default();
        let mut all = json!({"url": DEFAULT_URL, "queues": worker.queues, "concurrency": worker.concurrency});
        for (setting, value) in &self.values {
            if let Some(object) = all.as_object_mut() {
                object.insert((*setting).to_owned(), value.clone());
            }
        }
        all
    }
}

impl Kind {
    /// The value.
    ///
    /// # Errors
    /// What is wanted instead of this text.
    pub fn value(self, text: &str) -> Result<Value, &'static str> {
        match self {
            Self::Text => Ok(json!(text)),
            Self::Names => {
                let names: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
                if names.is_empty() { Err("names with commas between them") } else { Ok(json!(names)) }
            }
            Self::Count => match text.parse::<u32>() {
                Ok(count) if count > 0 => Ok(json!(count)),
                _ => Err("a whole number of at least 1"),
            },
            Self::Bytes => match text.parse::<u64>() {
                Ok(bytes) if bytes > 0 => Ok(json!(bytes)),
                _ => Err("a number of bytes of at least 1"),
            },
            Self::Length => seconds(text).map(|length| json!(length)).ok_or("seconds, or a length of time such as PT25S or 25s"),
            Self::Proxy => text.parse::<Proxy>().map(|_| json!(text)).map_err(|_| "'environment' or 'none'"),
            Self::Keys => text.parse::<Keys>().map(|_| json!(text)).map_err(|_| "keys, name:key,name:key, each key 32 bytes"),
        }
    }
}

fn seconds(text: &str) -> Option<f64> {
    let length = match text.parse::<f64>() {
        Ok(seconds) => std::time::Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => IsoDuration::parse(text).ok()?.value(),
    };
    Some(length.as_secs_f64())
}

fn wrong(name: &'static str, wanted: &str, kind: Kind, text: &str) -> Error {
    // Keys are secrets, also those that cannot be read.
    let got = if matches!(kind, Kind::Keys) { String::new() } else { format!(", got '{text}'") };
    Error::validation(name, format!("must be {wanted}{got}"))
}

fn alone(set: &'static str, missing: &str) -> Error {
    Error::validation(set, format!("is set and {missing} is not: a certificate and its key belong together"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Environment, Error> {
        Environment::read(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn variables_and_their_aliases() {
        let url = |variables: &[(&str, &str)]| with(variables).unwrap().url().to_owned();
        assert_eq!(url(&[("OJS_BACKEND_URL", "http://a")]), "http://a");
        assert_eq!(url(&[("OJS_URL", "http://b"), ("OJS_BACKEND_URL", "http://a")]), "http://b");
        assert_eq!(url(&[("OJS_URL", ""), ("OJS_BACKEND_URL", " ")]), "http://localhost:8080");
        let grace = |name, text| with(&[(name, text)]).unwrap().to_json()["grace_period"].as_f64();
        assert_eq!(grace("OJS_SHUTDOWN_TIMEOUT", "PT10S"), Some(10.0));
        assert_eq!(grace("OJS_SHUTDOWN_TIMEOUT", "500ms"), Some(0.5));
        assert_eq!(grace("OJS_SHUTDOWN_GRACE_PERIOD", "2.5"), Some(2.5));
        assert_eq!(with(&[("OJS_QUEUE", " critical,, default ")]).unwrap().to_json()["queues"], json!(["critical", "default"]));
    }

    #[test]
    fn a_wrong_value_names_its_variable_and_what_it_may_be() {
        for (name, value, wanted) in [
            ("OJS_CONCURRENCY", "many", "a whole number of at least 1, got 'many'"),
            ("OJS_CONCURRENCY", "0", "at least 1"),
            ("OJS_CONCURRENCY", "4294967296", "at least 1"),
            ("OJS_MAX_RESPONSE_BYTES", "0", "a number of bytes"),
            ("OJS_MAX_RESPONSE_BYTES", "1 MB", "a number of bytes"),
            ("OJS_PROXY", "http://proxy:3128", "'environment' or 'none'"),
            ("OJS_QUEUE", ",", "names with commas"),
            ("OJS_SHUTDOWN_TIMEOUT", "-1", "seconds, or a length of time"),
            ("OJS_SHUTDOWN_TIMEOUT", "inf", "seconds, or a length of time"),
            ("OJS_TLS_CERT_FILE", "cert.pem", "OJS_TLS_KEY_FILE is not"),
            ("OJS_TLS_KEY_FILE", "key.pem", "OJS_TLS_CERT_FILE is not"),
        ] {
            let error = with(&[(name, value)]).unwrap_err().to_string();
            assert!(error.starts_with(name) && error.contains(wanted), "{error}");
        }
        let error = with(&[("OJS_ENCRYPTION_KEYS", "secret:planted")]).unwrap_err().to_string();
        assert!(error.contains("OJS_ENCRYPTION_KEYS: must be keys") && !error.contains("planted"), "{error}");
    }
}
