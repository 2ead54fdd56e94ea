//! The environment as settings of Rust's own types.
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::encryption::{Codec, Keys};
use crate::environment::Environment;
use crate::error::Error;
use crate::transport::ConnectOptions;

impl Environment {
    /// Connection options with token, certificates, keys and limits of the environment.
    ///
    /// # Errors
    /// None that [`read`](Self::read) has not reported.
    pub(crate) fn connection(&self) -> Result<ConnectOptions, Error> {
        let default = ConnectOptions::default();
        let keys = self.text("encryption_keys").map(str::parse::<Keys>).transpose()?;
        Ok(ConnectOptions {
            max_response_bytes: self.value("max_response_bytes").unwrap_or(default.max_response_bytes),
            proxy: self.text("proxy").map_or(Ok(default.proxy), str::parse)?,
            auth_token: self.text("auth_token").map(str::to_owned),
            tls_ca_file: self.text("ca_file").map(PathBuf::from),
            tls_client_cert: self.value("client_cert"),
            encryption: keys.map(Codec::new),
            ..default
        })
    }

    pub(crate) fn queues(&self) -> Option<Vec<String>> {
        self.value("queues")
    }

    pub(crate) fn concurrency(&self) -> Option<usize> {
        self.value("concurrency")
    }

    pub(crate) fn grace_period(&self) -> Option<Duration> {
        self.value("grace_period").and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    fn value<T: DeserializeOwned>(&self, setting: &str) -> Option<T> {
        serde_json::from_value(self.get(setting)?.clone()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Proxy;

    fn connection(variables: &[(&str, &str)]) -> ConnectOptions {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Environment::read(value).unwrap().connection().unwrap()
    }

    #[test]
    fn answers_are_bounded_and_proxies_are_a_choice() {
        let default = connection(&[]);
        assert_eq!((default.max_response_bytes, default.proxy), (256 << 20, Proxy::Environment));
        let set = connection(&[("OJS_MAX_RESPONSE_BYTES", "1000"), ("OJS_PROXY", "none")]);
        assert_eq!((set.max_response_bytes, set.proxy), (1000, Proxy::None));
    }

    #[test]
    fn files_of_certificates_are_paths() {
        let set = connection(&[("OJS_TLS_CA_FILE", "ca"), ("OJS_TLS_CERT_FILE", "cert"), ("OJS_TLS_KEY_FILE", "key")]);
        assert_eq!(set.tls_ca_file, Some("ca".into()));
        assert_eq!(set.tls_client_cert, Some(("cert".into(), "key".into())));
    }
}
