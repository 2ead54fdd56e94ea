//! Settings from the environment (protocol section 5.10).
use std::path::PathBuf;
use std::time::Duration;

use ojs_model::duration::IsoDuration;

use crate::encryption::{self, Codec, Keys};
use crate::error::Error;
use crate::transport::ConnectOptions;

/// Where a server listens unless told otherwise.
pub(crate) const DEFAULT_URL: &str = "http://localhost:8080";

/// What the environment says; `None` where it is silent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Settings {
    pub url: Option<String>,
    pub queues: Option<Vec<String>>,
    pub concurrency: Option<usize>,
    pub grace_period: Option<Duration>,
    auth_token: Option<String>,
    tls_ca_file: Option<PathBuf>,
    tls_client_cert: Option<(PathBuf, PathBuf)>,
    encryption: Option<Keys>,
    max_response_bytes: Option<usize>,
    proxy: Option<bool>,
}

impl Settings {
    /// Connection options with token, certificates, keys and limits of the environment.
    pub fn connection(&self) -> ConnectOptions {
        let default = ConnectOptions::default();
        ConnectOptions {
            max_response_bytes: self.max_response_bytes.unwrap_or(default.max_response_bytes),
            proxy: self.proxy.unwrap_or(default.proxy),
            auth_token: self.auth_token.clone(),
            tls_ca_file: self.tls_ca_file.clone(),
            tls_client_cert: self.tls_client_cert.clone(),
            encryption: self.encryption.clone().map(Codec::new),
            ..default
        }
    }
}

/// Reads the process's environment.
pub(crate) fn from_environment() -> Result<Settings, Error> {
    read(|name| std::env::var(name).ok())
}

fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Settings, Error> {
    // An empty variable is how shells and container files say "not set".
    let get = |names: &[&'static str]| {
        names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()).map(|value| (*name, value)))
    };
    let text = |names: &[&'static str]| get(names).map(|(_, value)| value);
    let concurrency = get(&["OJS_CONCURRENCY"]).map(|(name, value)| {
        let slots = value.parse().ok().filter(|slots| *slots > 0);
        slots.ok_or_else(|| Error::validation(name, format!("must be a number of at least 1, got '{value}'")))
    });
    let grace = get(&["OJS_SHUTDOWN_TIMEOUT", "OJS_SHUTDOWN_GRACE_PERIOD"]).map(|(name, value)| {
        grace_period(&value)
            .ok_or_else(|| Error::validation(name, format!("must be seconds or a duration such as PT25S, got '{value}'")))
    });
    let most = get(&["OJS_MAX_RESPONSE_BYTES"]).map(|(name, value)| {
        let bytes = value.parse().ok().filter(|bytes| *bytes > 0);
        bytes.ok_or_else(|| Error::validation(name, format!("must be a number of bytes of at least 1, got '{value}'")))
    });
    let proxy = get(&["OJS_PROXY"]).map(|(name, value)| match value.as_str() {
        "environment" => Ok(true),
        "none" => Ok(false),
        _ => Err(Error::validation(name, format!("must be 'environment' or 'none', got '{value}'"))),
    });
    let path = |name: &'static str| text(&[name]).map(PathBuf::from);
    Ok(Settings {
        url: text(&["OJS_URL", "OJS_BACKEND_URL"]),
        queues: text(&["OJS_QUEUE"])
            .map(|list| list.split(',').map(|queue| queue.trim().to_owned()).filter(|queue| !queue.is_empty()).collect()),
        concurrency: concurrency.transpose()?,
        grace_period: grace.transpose()?,
        auth_token: text(&["OJS_AUTH_TOKEN"]),
        tls_ca_file: path("OJS_TLS_CA_FILE"),
        tls_client_cert: path("OJS_TLS_CERT_FILE").zip(path("OJS_TLS_KEY_FILE")),
        encryption: text(&[encryption::VARIABLE]).map(|keys| keys.parse()).transpose()?,
        max_response_bytes: most.transpose()?,
        proxy: proxy.transpose()?,
    })
}

fn grace_period(value: &str) -> Option<Duration> {
    let seconds = value.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.or_else(|| IsoDuration::parse(value).ok().map(|duration| duration.value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &'static [(&str, &str)]) -> Result<Settings, Error> {
        read(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn variables_and_their_aliases() {
        let settings = with(&[
            ("OJS_BACKEND_URL", "http://a"),
            ("OJS_QUEUE", "critical, default"),
            ("OJS_CONCURRENCY", "4"),
            ("OJS_SHUTDOWN_TIMEOUT", "PT10S"),
        ])
        .unwrap();
        assert_eq!(settings.url.as_deref(), Some("http://a"));
        assert_eq!(settings.queues.unwrap(), ["critical", "default"]);
        assert_eq!((settings.concurrency, settings.grace_period), (Some(4), Some(Duration::from_secs(10))));
        assert_eq!(with(&[("OJS_URL", "http://b"), ("OJS_BACKEND_URL", "http://a")]).unwrap().url.as_deref(), Some("http://b"));
        assert_eq!(with(&[("OJS_SHUTDOWN_GRACE_PERIOD", "2.5")]).unwrap().grace_period, Some(Duration::from_millis(2500)));
        assert_eq!(with(&[("OJS_URL", "")]).unwrap(), Settings::default());
    }

    #[test]
    fn a_wrong_value_names_its_variable() {
        for variables in [
            &[("OJS_CONCURRENCY", "many")][..],
            &[("OJS_CONCURRENCY", "0")],
            &[("OJS_MAX_RESPONSE_BYTES", "0")],
            &[("OJS_MAX_RESPONSE_BYTES", "1 MB")],
            &[("OJS_PROXY", "http://proxy:3128")],
        ] {
            let variables: &'static [(&str, &str)] = variables;
            let error = with(variables).unwrap_err().to_string();
            assert!(variables.iter().all(|(name, _)| error.contains(name)), "{error}");
        }
    }

    #[test]
    fn answers_are_bounded_and_proxies_are_a_choice() {
        let default = with(&[]).unwrap().connection();
        assert_eq!((default.max_response_bytes, default.proxy), (256 << 20, true));
        let set = with(&[("OJS_MAX_RESPONSE_BYTES", "1000"), ("OJS_PROXY", "none")]).unwrap().connection();
        assert_eq!((set.max_response_bytes, set.proxy), (1000, false));
    }
}
