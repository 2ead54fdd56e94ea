//! Push deliveries: signed requests of the server.
use std::future::Future;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::answer::Answer;
use super::builder::{Builder, Settings};
use super::deadline::Deadline;
use super::delivery::Delivery;
use super::replays::Replays;
use super::runs::Runs;
use crate::error::Error;
use crate::webhook::{Untrusted, verify_webhook_at};
use crate::worker::{HandlerError, JobContext, Worker};

/// What every handler of a platform is: a [`PushHandler`] with more kinds of requests.
macro_rules! platform {
    ($handler:ident) => {
        impl From<PushHandler> for $handler {
            fn from(handler: PushHandler) -> Self {
                Self(handler)
            }
        }

        impl std::ops::Deref for $handler {
            type Target = PushHandler;

            fn deref(&self) -> &PushHandler {
                &self.0
            }
        }

        impl $handler {
            /// Settings step by step; what is not set comes from the environment, then from the defaults.
            pub fn builder() -> $crate::serverless::Builder<Self> {
                $crate::serverless::Builder::default()
            }
        }
    };
}
pub(super) use platform;

/// Answers push deliveries: requests of the crate `http`, as axum, hyper and others have them.
///
/// It has the registry, the middleware, the keys and the errors of a [`Worker`], because it holds one, which is never
/// started. It is made once, and keeps nothing between calls but connections and the answers to recent deliveries.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
/// use ojs::serverless::PushHandler;
///
/// let handler = PushHandler::builder().signing_secret("whsec_test_secret").build().await?;
/// handler.register("email.send", |ctx| async move { Ok(ctx.arg::<String>(0)?) })?;
///
/// // axum: .route("/jobs", post(async move |method: Method, headers: HeaderMap, body: Bytes| {
/// //     handler.answer(&method, &headers, &body).await }))
/// let forged = http::Request::post("/jobs").body("{}".to_owned()).unwrap();
/// assert_eq!(handler.handle_request(forged).await.status(), 401);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PushHandler {
    pub(super) runs: Runs,
    pub(super) settings: Settings,
    replays: Replays,
}

impl PushHandler {
    /// Settings step by step; what is not set comes from the environment, then from the defaults.
    pub fn builder() -> Builder<Self> {
        Builder::default()
    }

    /// A handler with the handlers, the middleware and the server of a worker.
    pub(super) fn over(runs: Runs, settings: Settings) -> Self {
        // A signature from the future is valid for twice the tolerance.
        let replays = Replays::new(settings.tolerance.saturating_mul(2));
        Self { runs, settings, replays }
    }

    /// The worker whose handlers run, for middleware and versions of arguments. It is never started.
    pub fn worker(&self) -> &Worker {
        &self.runs.worker
    }

    /// Registers the handler of a job type, as [`Worker::register`].
    ///
    /// # Errors
    /// [`Error::DuplicateHandler`] when the type has one.
    pub fn register<F, Fut, R>(&self, job_type: impl Into<String>, handler: F) -> Result<(), Error>
    where
        F: Fn(JobContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, HandlerError>> + Send + 'static,
        R: Serialize,
    {
        self.runs.worker.register(job_type, handler)
    }

    /// The answer to one request: 200 with the outcome of its job, 401 without a valid signature, 400, 405 or 413 for
    /// what is no push delivery, and 500 where the handler has no signing secret. `body` is that of the request byte
    /// for byte, at most 6 MiB.
    pub async fn answer(&self, method: &Method, headers: &HeaderMap, body: &[u8]) -> Response<String> {
        self.answered(method, headers, body, self.deadline()).await.response()
    }

    /// The same for a whole request.
    pub async fn handle_request<B: AsRef<[u8]>>(&self, request: Request<B>) -> Response<String> {
        self.answer(request.method(), request.headers(), request.body().as_ref()).await
    }

    /// The time that the platform allows, as far as the settings know it.
    pub(super) fn deadline(&self) -> Deadline {
        Deadline::within(self.settings.timeout, self.settings.safety_margin)
    }

    pub(super) async fn answered(&self, method: &Method, headers: &HeaderMap, body: &[u8], deadline: Deadline) -> Answer {
        if let Some(refusal) = Answer::wrong_request(method, body, "a push delivery") {
            return refusal;
        }
        let now = self.settings.now();
        if !self.settings.unsigned
            && let Err(error) = self.verified(headers, body, now)
        {
            return distrusted(&error);
        }
        let delivery = match Delivery::parse(body) {
            Ok(delivery) => delivery,
            Err(error) => return Answer::refusal(StatusCode::BAD_REQUEST, "invalid_request", &error.to_string(), None),
        };
        // The header with the delivery's id is not signed, the body is.
        let key = delivery.delivery_id.clone().unwrap_or_else(|| sum(body));
        self.replays.once(&key, now, self.outcome(&delivery, deadline)).await
    }

    async fn outcome(&self, delivery: &Delivery, deadline: Deadline) -> Answer {
        let ended = self.runs.run(delivery, deadline).await.and_then(|ended| ended.answer());
        let text = ended.and_then(|members| serde_json::to_string(&members).map_err(|error| Error::json("outcome", error)));
        match text {
            Ok(text) => Answer::ok(text),
            Err(error) => Answer::refusal(StatusCode::BAD_REQUEST, "invalid_request", &error.to_string(), None),
        }
    }

    fn verified(&self, headers: &HeaderMap, body: &[u8], now: i64) -> Result<(), Error> {
        let texts = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let all: Vec<(&str, &str)> = texts.collect();
        verify_webhook_at(body, &all, &self.settings.secrets, self.settings.tolerance.as_secs(), now)
    }
}

const NO_SECRET: &str = "a push endpoint needs its signing secret: set signing_secret or OJS_SIGNING_SECRET; \
                         unsigned trusts every request";

/// The answer to a request that cannot be trusted. Without a secret the fault is the deployment's: 401 would end the
/// job and disable the endpoint, and 500 is tried again.
fn distrusted(error: &Error) -> Answer {
    let reason = match error {
        Error::UntrustedWebhook(Untrusted::NoSecret) => {
            tracing::error!("{NO_SECRET}");
            let told = "the function has no signing secret: its log says what to set";
            return Answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", told, None);
        }
        Error::UntrustedWebhook(untrusted) => json!({"reason": untrusted.code()}),
        _ => json!({}),
    };
    tracing::warn!(%error, "a push request is refused");
    Answer::refusal(StatusCode::UNAUTHORIZED, "unauthenticated", &error.to_string(), Some(reason))
}

/// The key of a body that has no id of a delivery.
fn sum(body: &[u8]) -> String {
    format!("sha256:{}", ojs_model::hex::encode(ring::digest::digest(&ring::digest::SHA256, body).as_ref()))
}
