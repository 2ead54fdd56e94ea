//! Settings of clients and workers as hosts pass them: JSON objects with the names of `xtask/schema.toml`, durations in
//! seconds.
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use ojs::encryption::{Codec, Keys};
use ojs::environment::Environment;
use ojs::transport::{ConnectOptions, Proxy, ResendPolicy};
use ojs::worker::{UnknownTypes, Versions, WorkerOptions};
use ojs_model::duration::IsoDuration;
use ojs_model::envelope::check_tenant;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::dispatch::Routes;
use crate::error::AbiError;

/// What the variables of the environment whose names begin with `OJS_` say: a JSON object of their texts becomes one
/// of settings.
///
/// # Errors
/// A variable whose text cannot be; the message names it.
pub fn environment(variables: &str) -> Result<String, AbiError> {
    let texts: HashMap<String, String> = serde_json::from_str(variables)
        .map_err(|e| AbiError::invalid(format!("the variables of the environment must be a JSON object of texts: {e}")))?;
    Ok(Environment::read(|name| texts.get(name).cloned())?.to_json().to_string())
}

/// Settings of a connection. `None` is the default.
#[derive(Default)]
pub struct ClientSettings {
    /// The bearer token.
    pub auth_token: Option<String>,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The tenant whose requests these are.
    pub tenant: Option<String>,
    /// For a whole call.
    pub timeout: Option<Duration>,
    /// For connecting.
    pub connect_timeout: Option<Duration>,
    /// How often a request that did not arrive is sent.
    pub max_sends: Option<u32>,
    /// Certificates to trust.
    pub ca_file: Option<String>,
    /// The client's own certificate and its key.
    pub client_cert: Option<(String, String)>,
    /// `name:key,name:key`.
    pub encryption_keys: Option<String>,
    /// Most bytes of one answer.
    pub max_response_bytes: Option<u64>,
    /// `environment` or `none`.
    pub proxy: Option<String>,
}

impl ClientSettings {
    /// Reads the JSON of a host. `headers` is an object, or a list of pairs.
    ///
    /// # Errors
    /// An unknown name, or a value of another type.
    pub fn read(json: &str) -> Result<Self, AbiError> {
        let mut given = Given::read(json)?;
        let settings = Self {
            auth_token: given.text("auth_token")?,
            headers: given.value("headers", "names with a text each")?.map(Headers::pairs).unwrap_or_default(),
            tenant: given.text("tenant")?,
            timeout: given.length("timeout")?,
            connect_timeout: given.length("connect_timeout")?,
            max_sends: given.value("max_sends", "a whole number of at least 1")?,
            ca_file: given.text("ca_file")?,
            client_cert: given.value("client_cert", "the names of two files")?,
            encryption_keys: given.text("encryption_keys")?,
            max_response_bytes: given.value("max_response_bytes", "a number of bytes of at least 1")?,
            proxy: given.text("proxy")?,
        };
        given.end()?;
        Ok(settings)
    }

    /// The options of the core.
    ///
    /// # Errors
    /// A value out of its range, keys that are none.
    pub fn options(self) -> Result<ConnectOptions, AbiError> {
        let mut options = ConnectOptions::default();
        if self.max_sends == Some(0) {
            return Err(AbiError::invalid("max_sends must be at least 1, got 0"));
        }
        for (name, length) in [("timeout", self.timeout), ("connect_timeout", self.connect_timeout)] {
            if length.is_some_and(|length| length.is_zero()) {
                return Err(AbiError::invalid(format!("{name} must be longer than zero; leave it out for the default")));
            }
        }
        if self.max_response_bytes == Some(0) {
            return Err(AbiError::invalid("max_response_bytes must be at least 1, got 0"));
        }
        options.auth_token = self.auth_token.filter(|token| !token.is_empty());
        options.headers = self.headers;
        options.tenant = self.tenant.filter(|tenant| !tenant.is_empty());
        if let Some(tenant) = &options.tenant {
            check_tenant("tenant", tenant).map_err(|error| AbiError::invalid(error.message.clone()))?;
        }
        options.timeout = self.timeout.unwrap_or(options.timeout);
        options.connect_timeout = self.connect_timeout.unwrap_or(options.connect_timeout);
        options.resend = ResendPolicy { max_sends: self.max_sends.unwrap_or(options.resend.max_sends), ..options.resend };
        options.tls_ca_file = self.ca_file.filter(|file| !file.is_empty()).map(Into::into);
        options.tls_client_cert = self.client_cert.map(|(cert, key)| (cert.into(), key.into()));
        let keys = self.encryption_keys.filter(|keys| !keys.is_empty()).map(|keys| keys.parse::<Keys>()).transpose()?;
        options.encryption = keys.map(Codec::new);
        if let Some(most) = self.max_response_bytes {
            options.max_response_bytes = usize::try_from(most).unwrap_or(usize::MAX);
        }
        options.proxy = self.proxy.map_or(Ok(options.proxy), |word| word.parse::<Proxy>())?;
        Ok(options)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Headers {
    Object(BTreeMap<String, String>),
    Pairs(Vec<(String, String)>),
}

impl Headers {
    fn pairs(self) -> Vec<(String, String)> {
        match self {
            Self::Object(object) => object.into_iter().collect(),
            Self::Pairs(pairs) => pairs,
        }
    }
}

/// Settings of a worker. `None` is the default, but for `visibility_timeout`, which is then left to the server.
#[derive(Default)]
pub struct WorkerSettings {
    /// In order of preference.
    pub queues: Vec<String>,
    /// Handlers at a time.
    pub concurrency: usize,
    /// Its name on the server.
    pub worker_id: Option<String>,
    /// Between heartbeats.
    pub heartbeat_interval: Option<Duration>,
    /// How long a silent worker keeps a job.
    pub visibility_timeout: Option<Duration>,
    /// How long running handlers may finish after a stop.
    pub grace_period: Option<Duration>,
    /// How long outcomes may take to reach the server after that.
    pub flush_timeout: Option<Duration>,
    /// The longest pause between fetches, where a server cannot wake a worker.
    pub poll_interval: Option<Duration>,
    /// Sent to the server.
    pub labels: Vec<String>,
    /// Unfinished jobs wait until their leases end.
    pub keep_on_shutdown: bool,
    /// `fail` or `release`.
    pub unknown_types: Option<String>,
    /// Ask only for jobs that have a handler.
    pub only_registered_types: bool,
    /// Job types with a handler.
    pub types: Vec<String>,
    /// There is a handler for every other type.
    pub fallback: bool,
    /// The versions that the handlers are written for, and the changes that lead to them.
    pub versions: Versions,
}

impl WorkerSettings {
    /// Reads the JSON of a host.
    ///
    /// # Errors
    /// An unknown name, or a value of another type.
    pub fn read(json: &str) -> Result<Self, AbiError> {
        let mut given = Given::read(json)?;
        let settings = Self {
            queues: given.value("queues", "a list of names")?.unwrap_or_default(),
            concurrency: given.value("concurrency", "a whole number of at least 1")?.unwrap_or_default(),
            worker_id: given.text("worker_id")?,
            heartbeat_interval: given.length("heartbeat_interval")?,
            visibility_timeout: given.length("visibility_timeout")?,
            grace_period: given.length("grace_period")?,
            flush_timeout: given.length("flush_timeout")?,
            poll_interval: given.length("poll_interval")?,
            labels: given.value("labels", "a list of words")?.unwrap_or_default(),
            keep_on_shutdown: !given.value("release_on_shutdown", "true or false")?.unwrap_or(true),
            unknown_types: given.text("unknown_types")?,
            only_registered_types: given.value("only_registered_types", "true or false")?.unwrap_or_default(),
            types: given.value("types", "a list of job types")?.unwrap_or_default(),
            fallback: given.value("fallback", "true or false")?.unwrap_or_default(),
            versions: given.value("versions", "an object by job type").and_then(|given| versions(written(given).as_deref()))?,
        };
        given.end()?;
        Ok(settings)
    }

    /// The options of the core.
    ///
    /// # Errors
    /// A value out of its range.
    pub fn options(self) -> Result<WorkerOptions, AbiError> {
        let mut options = WorkerOptions::new(self.queues)
            .concurrency(self.concurrency)
            .labels(self.labels)
            .release_on_shutdown(!self.keep_on_shutdown)
            .only_registered_types(self.only_registered_types)
            .visibility_timeout(self.visibility_timeout)
            .flush_timeout(self.flush_timeout);
        options.worker_id = self.worker_id;
        options.versions = self.versions;
        options.unknown_types = self.unknown_types.map_or(Ok(options.unknown_types), |word| word.parse::<UnknownTypes>())?;
        options.heartbeat_interval = self.heartbeat_interval.unwrap_or(options.heartbeat_interval);
        options.grace_period = self.grace_period.unwrap_or(options.grace_period);
        if let Some(longest) = self.poll_interval {
            let shortest = options.poll_interval_min.min(longest);
            options = options.poll_interval(shortest, longest);
        }
        options.check()?;
        Ok(options)
    }

    /// All types in one lane.
    #[must_use]
    pub fn routes(&self, lane: usize) -> Routes {
        let types = self.types.iter().map(|name| (name.clone(), lane)).collect();
        Routes { types, fallback: self.fallback.then_some(lane) }
    }
}

/// The versions that a worker runs, from JSON.
///
/// # Errors
/// What [`Versions::from_json`] refuses.
pub fn versions(text: Option<&str>) -> Result<Versions, AbiError> {
    Ok(text.map_or_else(|| Ok(Versions::default()), Versions::from_json)?)
}

fn written(object: Option<Map<String, Value>>) -> Option<String> {
    object.map(|object| Value::Object(object).to_string())
}

/// A length of time in seconds.
///
/// # Errors
/// A negative number, or one that is no number.
pub fn length(name: &str, seconds: Option<f64>) -> Result<Option<Duration>, AbiError> {
    let parse = |seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| AbiError::invalid(format!("{name} must be zero or more seconds, got {seconds}")))
    };
    seconds.map(parse).transpose()
}

/// The members that have not been read yet. Null is as good as absent.
struct Given(Map<String, Value>);

impl Given {
    fn read(json: &str) -> Result<Self, AbiError> {
        serde_json::from_str(json).map(Self).map_err(|e| AbiError::invalid(format!("settings must be a JSON object: {e}")))
    }

    fn value<T: DeserializeOwned>(&mut self, name: &str, wanted: &str) -> Result<Option<T>, AbiError> {
        let value = self.0.remove(name).filter(|value| !value.is_null());
        let wrong = |value: &Value| AbiError::invalid(format!("{name} must be {wanted}, got {value}"));
        value.map(|value| serde_json::from_value(value.clone()).map_err(|_| wrong(&value))).transpose()
    }

    /// Texts may be secrets: what was given instead is not shown.
    fn text(&mut self, name: &str) -> Result<Option<String>, AbiError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(AbiError::invalid(format!("{name} must be text"))),
        }
    }

    /// Seconds, or text such as `5m`.
    fn length(&mut self, name: &str) -> Result<Option<Duration>, AbiError> {
        let Some(given) = self.0.remove(name).filter(|value| !value.is_null()) else { return Ok(None) };
        let length = match &given {
            Value::Number(seconds) => seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            Value::String(text) => IsoDuration::parse(text).ok().map(|parsed| parsed.value()),
            _ => None,
        };
        let wrong =
            || AbiError::invalid(format!("{name} must be zero or more seconds, or text such as '5m' or 'PT5M', got {given}"));
        length.map(Some).ok_or_else(wrong)
    }

    fn end(self) -> Result<(), AbiError> {
        let unknown = self.0.keys().next();
        unknown.map_or(Ok(()), |name| Err(AbiError::invalid(format!("there is no setting '{name}'"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_is_the_default_and_null_is_not_given() {
        let options = ClientSettings::read(r#"{"timeout":null}"#).unwrap().options().unwrap();
        let default = ConnectOptions::default();
        assert_eq!((options.timeout, options.max_response_bytes), (default.timeout, default.max_response_bytes));
        let given = r#"{"timeout":1.5,"max_response_bytes":1000,"proxy":"none","client_cert":["a","b"],"headers":[["x","y"]]}"#;
        let options = ClientSettings::read(given).unwrap().options().unwrap();
        assert_eq!((options.timeout, options.max_response_bytes), (Duration::from_millis(1500), 1000));
        assert_eq!((options.proxy, options.headers), (Proxy::None, vec![("x".to_owned(), "y".to_owned())]));
        assert_eq!(options.tls_client_cert, Some(("a".into(), "b".into())));
        let options = ClientSettings::read(r#"{"timeout":"1m30s","headers":{"x":"y"}}"#).unwrap().options().unwrap();
        assert_eq!((options.timeout, options.headers), (Duration::from_secs(90), vec![("x".to_owned(), "y".to_owned())]));
    }

    #[test]
    fn settings_of_workers() {
        let given = r#"{"queues":["a"],"concurrency":3,"unknown_types":"release","only_registered_types":true,"flush_timeout":4,
                       "release_on_shutdown":false,"poll_interval":0.01,"types":["t"],
                       "versions":{"t":{"version":"2.0","transforms":[["1","2"]]}}}"#;
        let settings = WorkerSettings::read(given).unwrap();
        assert_eq!(settings.routes(2).types.get("t"), Some(&2));
        let options = settings.options().unwrap();
        assert_eq!((options.unknown_types, options.only_registered_types), (UnknownTypes::Release, true));
        assert_eq!(options.versions.path("t", Some(&1.into())).unwrap(), [0]);
        assert_eq!((options.flush_timeout, options.release_on_shutdown), (Some(Duration::from_secs(4)), false));
        assert_eq!((options.poll_interval_min, options.visibility_timeout), (Duration::from_millis(10), None));
    }

    #[test]
    fn wrong_settings_are_named() {
        for (settings, message) in [
            ("[]", "settings must be a JSON object"),
            (r#"{"time_out":1}"#, "there is no setting 'time_out'"),
            (r#"{"timeout":-1}"#, "timeout must be zero or more seconds, or text such as '5m' or 'PT5M', got -1"),
            (r#"{"timeout":"soon"}"#, "or text such as '5m' or 'PT5M', got \"soon\""),
            (r#"{"timeout":true}"#, "or text such as '5m' or 'PT5M', got true"),
            (r#"{"timeout":0}"#, "timeout must be longer than zero; leave it out for the default"),
            (r#"{"connect_timeout":"0s"}"#, "connect_timeout must be longer than zero"),
            (r#"{"headers":["a"]}"#, "headers must be names with a text each, got [\"a\"]"),
            (r#"{"headers":{"a":1}}"#, "headers must be names with a text each, got {\"a\":1}"),
            (r#"{"max_sends":0}"#, "max_sends must be at least 1"),
            (r#"{"max_response_bytes":0}"#, "max_response_bytes must be at least 1"),
            (r#"{"max_response_bytes":1.5}"#, "max_response_bytes must be a number of bytes"),
            (r#"{"proxy":"http://proxy"}"#, "must be 'environment' or 'none'"),
            (r#"{"auth_token":7}"#, "auth_token must be text"),
            (r#"{"tenant":"a b"}"#, "tenant"),
        ] {
            let error = ClientSettings::read(settings).and_then(ClientSettings::options).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        for (settings, message) in [
            (r#"{"concurrency":1}"#, "a worker needs at least one queue"),
            (r#"{"queues":["a"]}"#, "concurrency: must be at least 1"),
            (r#"{"queues":["A b"],"concurrency":1}"#, "queues: queue must be lowercase letters"),
            (r#"{"queues":"a","concurrency":1}"#, "queues must be a list of names, got \"a\""),
            (r#"{"queues":["a"],"concurrency":1,"worker_id":""}"#, "worker_id: it must be 1 to 255 bytes"),
            (r#"{"queues":["a"],"concurrency":1,"worker_id":"two\nlines"}"#, "worker_id: it must be 1 to 255 bytes"),
            (r#"{"queues":["a"],"concurrency":1,"visibility_timeout":0.5}"#, "visibility_timeout: it must be at least 1000"),
            (r#"{"queues":["a"],"concurrency":1,"heartbeat_interval":0}"#, "heartbeat_interval: must be longer than zero"),
            (r#"{"queues":["a"],"concurrency":1,"poll_interval":"0s"}"#, "poll_interval: must be longer than zero"),
            (r#"{"labels":"eu"}"#, "labels must be a list of words, got \"eu\""),
            (r#"{"queues":["a"],"concurrency":1,"unknown_types":"ignore"}"#, "must be 'fail' or 'release', got 'ignore'"),
            (r#"{"versions":[]}"#, "versions must be an object by job type"),
            (r#"{"versions":{"t":{"version":"x"}}}"#, "must be a version such as 2 or 2.1, got 'x'"),
            (r#"{"only_registered_types":1}"#, "only_registered_types must be true or false, got 1"),
        ] {
            let error = WorkerSettings::read(settings).and_then(WorkerSettings::options).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn the_environment_becomes_settings() {
        let settings = environment(r#"{"OJS_SHUTDOWN_TIMEOUT":"PT25S","OJS_QUEUE":"a, b","OJS_OTHER":"x"}"#).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let expected = serde_json::json!({
            "url": "http://localhost:8080", "queues": ["a", "b"], "concurrency": 10, "grace_period": 25.0,
        });
        assert_eq!(settings, expected);
        assert!(environment(r#"{"OJS_CONCURRENCY":"many"}"#).unwrap_err().to_string().contains("OJS_CONCURRENCY"));
    }
}
