//! The server that the tools talk to.
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use ojs::transport::{self, ConnectOptions, Method, Request, Response, Transport};
use ojs_engine::StoreUrl;
use ojs_model::redact::SecretUrl;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::Output;

/// Where a server listens that was started without settings.
pub const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// Options of every command that talks to a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Talking to a server")]
pub struct RemoteArgs {
    /// The server; also `sqlite:PATH`, to work on a store directly. [default: http://127.0.0.1:8080]
    #[arg(long, global = true, value_name = "URL", env = "OJS_URL", hide_env_values = true)]
    url: Option<String>,
    /// Key, if the server asks for one (`ojs keys add`).
    #[arg(long, global = true, value_name = "TOKEN", env = "OJS_AUTH_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Longest wait for an answer, in seconds.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Print the server's JSON instead of a table.
    #[arg(long, global = true)]
    json: bool,
    /// Repeat what only reads (lists, get, show, stats, doctor) every so many seconds: `--watch` alone is `--watch=2`.
    #[arg(long, global = true, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "2", value_parser = clap::value_parser!(u64).range(1..))]
    watch: Option<u64>,
    /// The command changes nothing.
    #[arg(skip)]
    pub only_reads: bool,
}

impl RemoteArgs {
    /// How results are shown, for commands that need no server.
    pub fn output(&self) -> Output {
        Output { json: self.json }
    }

    /// Connects, or opens the store.
    ///
    /// # Errors
    /// A URL that cannot be used, a store that cannot be opened.
    pub async fn connect(self) -> Result<Remote, Failure> {
        let output = self.output();
        Ok(Remote { transport: self.transport().await?, output })
    }

    /// Whether the command line or the environment says which server.
    pub fn names_a_server(&self) -> bool {
        self.url.is_some() || std::env::var_os("OJS_BACKEND_URL").is_some()
    }

    /// The pause between two repetitions, in seconds.
    pub fn watch(&self) -> Option<u64> {
        self.watch
    }

    /// The key that is sent.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Longest wait for an answer.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// Whether a key is sent.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// The URL that is asked, without secrets.
    pub fn shown(&self) -> String {
        SecretUrl::from(self.address()).to_string()
    }

    /// Whether the URL names a store, not a server.
    pub fn is_a_store(&self) -> bool {
        !self.address().starts_with("http")
    }

    fn address(&self) -> String {
        let named = self.url.clone().or_else(|| std::env::var("OJS_BACKEND_URL").ok());
        named.unwrap_or_else(|| DEFAULT_URL.to_owned())
    }

    /// Opens a store, without a server.
    ///
    /// # Errors
    /// A store that cannot be opened.
    pub async fn open(store: &str, output: Output) -> Result<Remote, Failure> {
        let transport = transport::connect(store, ConnectOptions::default()).await.map_err(ojs::Error::from)?;
        Ok(Remote { transport, output })
    }

    /// The same as a client.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn client(self) -> Result<ojs::Client, Failure> {
        Ok(ojs::Client::new(self.transport().await?))
    }

    async fn transport(self) -> Result<Arc<dyn Transport>, Failure> {
        let url = self.address();
        if let Ok(StoreUrl::Sqlite { path: file, .. }) = url.parse::<StoreUrl>()
            && self.only_reads
            && !file.exists()
        {
            let advice = "`ojs server --store` or `ojs jobs enqueue` makes a new one";
            return Err(Failure::usage(format!("there is no file {}", file.display()), advice));
        }
        let mut options = ConnectOptions::default();
        options.auth_token = self.token;
        options.timeout = Duration::from_secs(self.timeout);
        Ok(transport::connect(&url, options).await.map_err(ojs::Error::from)?)
    }
}

/// A connected server.
pub struct Remote {
    transport: Arc<dyn Transport>,
    /// How results are shown.
    pub output: Output,
}

/// An answer: its text as it came, and what it means.
pub struct Answer {
    /// As received. What `--json` prints: numbers and order of members stay as the server wrote them.
    pub text: String,
    /// The same, read.
    pub value: Value,
}

impl Remote {
    /// Sends a request and reads the answer.
    ///
    /// # Errors
    /// The server's refusal, no answer, an answer that is no JSON.
    pub async fn call(&self, request: Request) -> Result<Answer, Failure> {
        answer(&self.send(request).await?.body)
    }

    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let response = self.transport.request(request).await.map_err(ojs::Error::from)?;
        if response.is_success() { Ok(response) } else { Err(ojs::Error::from_response(&response).into()) }
    }

    /// `GET path`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn get(&self, path: impl Into<String>) -> Result<Answer, Failure> {
        self.call(Request::get(path.into())).await
    }

    /// Whether the server has an operation at `path` that can be read.
    ///
    /// # Errors
    /// An answer that does not show it, such as the refusal of a key; no answer.
    pub async fn knows(&self, path: &str) -> Result<bool, Failure> {
        let response = self.transport.request(Request::get(path.to_owned())).await.map_err(ojs::Error::from)?;
        match response.status {
            _ if response.is_success() => Ok(true),
            404 | 405 | 501 => Ok(false),
            _ => Err(ojs::Error::from_response(&response).into()),
        }
    }

    /// `GET path`, of an answer that is no JSON.
    ///
    /// # Errors
    /// The server's refusal, no answer.
    pub async fn text(&self, path: &str) -> Result<String, Failure> {
        let response = self.send(Request::get(path.to_owned())).await?;
        Ok(String::from_utf8_lossy(&response.body).into_owned())
    }

    /// `POST path` with a JSON body.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn post(&self, path: impl Into<String>, body: &Value) -> Result<Answer, Failure> {
        self.call(Request::post(path.into(), body.to_string())).await
    }

    /// Enqueues a job as programs do: names and values of options that mean nothing are refused before anything is sent.
    ///
    /// # Errors
    /// A wrong option; else as [`call`](Self::call).
    pub async fn enqueue(&self, job: &Value) -> Result<Answer, Failure> {
        let client = ojs::Client::new(Arc::clone(&self.transport));
        answer(&client.enqueue_raw(job.to_string().into()).await?)
    }

    /// `PATCH path`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn patch(&self, path: impl Into<String>, body: &Value) -> Result<Answer, Failure> {
        let mut request = Request::post(path.into(), body.to_string());
        request.method = Method::PATCH;
        self.call(request).await
    }

    /// `PUT path` with a JSON body.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn put(&self, path: impl Into<String>, body: &Value) -> Result<Answer, Failure> {
        let mut request = Request::post(path.into(), body.to_string());
        request.method = Method::PUT;
        self.call(request).await
    }

    /// `DELETE path` with a JSON body.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn delete_with(&self, path: impl Into<String>, body: &Value) -> Result<Answer, Failure> {
        let mut request = Request::post(path.into(), body.to_string());
        request.method = Method::DELETE;
        self.call(request).await
    }

    /// `DELETE path`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn delete(&self, path: impl Into<String>) -> Result<Answer, Failure> {
        self.call(Request::new(Method::DELETE, path.into())).await
    }
}

fn answer(body: &[u8]) -> Result<Answer, Failure> {
    let value = serde_json::from_slice(body).map_err(|error| Failure::foreign(format!("the answer is no JSON: {error}")))?;
    Ok(Answer { text: String::from_utf8_lossy(body).into_owned(), value })
}

/// A value as one segment of a path, or one value of a query: everything that could end it early is escaped.
pub fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn a_segment_cannot_leave_its_place() {
        assert_eq!(segment("019461a8-1a2b"), "019461a8-1a2b");
        assert_eq!(segment("../queues?x=1#é"), "..%2Fqueues%3Fx%3D1%23%C3%A9");
    }
}
