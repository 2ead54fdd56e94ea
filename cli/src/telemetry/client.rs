//! The HTTP client of the exporters: their threads have no runtime, so requests are carried out on that of the server.
use std::fmt;
use std::time::Duration;

use http::{Request, Response};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use tokio::runtime::Handle;

use crate::failure::Failure;

/// Longest time of a request.
const LONGEST: Duration = Duration::from_secs(10);

/// A client with the certificates that the system trusts.
#[derive(Clone)]
pub struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

impl Client {
    /// # Errors
    /// TLS that cannot be set up.
    pub fn new() -> Result<Self, Failure> {
        let failed = |error: &dyn fmt::Display| Failure::setting(format!("cannot send to OTEL_EXPORTER_OTLP_ENDPOINT: {error}"));
        let tls = ojs_engine::outgoing::tls_config().map_err(|error| failed(&error))?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .timeout(LONGEST)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("ojs/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { client: client.map_err(|error| failed(&error))?, runtime: Handle::current() })
    }

    /// Sends a request and reads its answer, on the runtime that this is called on.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
        let answer = self.client.execute(request.try_into()?).await?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        *response.body_mut() = answer.bytes().await?;
        Ok(response)
    }
}

impl HttpClient for Client {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let client = self.clone();
        let sending = self.runtime.spawn(async move { client.send(request).await });
        Box::pin(async move { Ok(sending.await??) })
    }
}
