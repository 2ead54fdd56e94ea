//! Google Cloud: CloudEvents and push subscriptions of Pub/Sub.
use http::{Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::brought::{Brought, decoded};
use super::push::{PushHandler, platform};
use crate::error::Error;

/// Handlers as a function of Google Cloud: a container of Cloud Run that serves HTTP. It is a [`PushHandler`] as well,
/// for signed push deliveries.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
/// use std::time::Duration;
/// use http::Method;
/// use ojs::serverless::GoogleHandler;
///
/// let handler = GoogleHandler::builder().timeout(Duration::from_secs(60)).build().await?;
/// handler.register("email.send", |_| async { Ok(()) })?;
///
/// // A push subscription of Pub/Sub; `data` is the job in base64.
/// let body = br#"{"message": {"data": "eyJpZCI6IjEiLCJ0eXBlIjoiZW1haWwuc2VuZCIsImFyZ3MiOltdfQ=="}}"#;
/// assert_eq!(handler.handle_cloud_event(&Method::POST, body).await.status(), 204);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct GoogleHandler(PushHandler);

platform!(GoogleHandler);

/// A CloudEvent in structured form. A job has a `specversion` as well, and no `source`.
#[derive(Deserialize)]
struct Structured<'a> {
    #[serde(rename = "specversion")]
    _version: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    data_base64: Option<String>,
}

/// What Pub/Sub sends.
#[derive(Deserialize)]
struct Published {
    message: Message,
    #[serde(rename = "deliveryAttempt", default)]
    count: u32,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    data: String,
}

impl GoogleHandler {
    /// Answers a CloudEvent over HTTP, in binary or structured form, or the request of a push subscription of Pub/Sub:
    /// with 204, or with 500 when it shall be delivered again. Its data is a message of Pub/Sub or the job itself.
    ///
    /// The platform checks who may call (the invoker's role): these requests are not signed. The acknowledgement
    /// deadline of the subscription must be ten seconds longer than the time that the settings allow.
    pub async fn handle_cloud_event(&self, method: &Method, body: &[u8]) -> Response<String> {
        let done = Answer { status: StatusCode::NO_CONTENT, body: String::new() };
        self.0.brought(method, body, job_of, done).await.response()
    }
}

fn job_of(body: &[u8]) -> Result<Brought, Error> {
    let data = match serde_json::from_slice::<Structured<'_>>(body) {
        Ok(Structured { data: Some(data), .. }) => data.get().as_bytes().to_vec(),
        Ok(Structured { data_base64: Some(text), .. }) => decoded(&text, "data_base64")?,
        _ => body.to_vec(),
    };
    match serde_json::from_slice::<Published>(&data) {
        Ok(Published { message, count }) => Ok((decoded(&message.data, "data")?, count)),
        Err(_) => Ok((data, 1)),
    }
}
