//! Azure Functions with a custom handler: a program that the host calls over HTTP.
use std::collections::BTreeMap;

use http::{Method, Response};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::brought::Brought;
use super::push::{PushHandler, platform};
use crate::error::Error;

/// Handlers as a custom handler of Azure Functions. It is a [`PushHandler`] as well, for HTTP triggers: with
/// `enableForwardingHttpRequest` in `host.json` the host forwards them as they are.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
/// use http::Method;
/// use ojs::serverless::AzureHandler;
///
/// let handler = AzureHandler::builder().build().await?;
/// handler.register("email.send", |_| async { Ok(()) })?;
///
/// // What the host sends for a queue trigger whose binding is named `message` in function.json.
/// let job = r#"{"id": "1", "type": "email.send", "args": []}"#;
/// let call = format!(r#"{{"Data": {{"message": {job}}}, "Metadata": {{"DequeueCount": 1}}}}"#);
/// assert_eq!(handler.handle_queue("message", &Method::POST, call.as_bytes()).await.status(), 200);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct AzureHandler(PushHandler);

platform!(AzureHandler);

/// What the host sends for a trigger.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(rename = "Data", borrow)]
    data: BTreeMap<String, &'a RawValue>,
    #[serde(rename = "Metadata", borrow, default)]
    metadata: BTreeMap<String, &'a RawValue>,
}

impl AzureHandler {
    /// Answers the host for a trigger of Service Bus or a storage queue: with 200, or with 500 when the message shall
    /// be delivered again. `binding` is the name of the trigger in `function.json`. A lock on a message must last
    /// fifteen seconds longer than the time that the settings allow.
    pub async fn handle_queue(&self, binding: &str, method: &Method, body: &[u8]) -> Response<String> {
        let done = Answer::ok(r#"{"Outputs":{},"Logs":[]}"#.to_owned());
        self.0.brought(method, body, |body| job_of(binding, body), done).await.response()
    }
}

fn job_of(binding: &str, body: &[u8]) -> Result<Brought, Error> {
    let call: Call<'_> = serde_json::from_slice(body)
        .map_err(|error| Error::validation("body", format!("the request of the host cannot be read: {error}")))?;
    let message = call.data.get(binding).ok_or_else(|| {
        Error::validation("Data", format!("the request of the host has no '{binding}' in its Data: name the trigger's binding"))
    })?;
    let said = ["DeliveryCount", "DequeueCount"].into_iter().filter_map(|name| call.metadata.get(name));
    let count = said.filter_map(|raw| unquoted(raw.get()).parse().ok()).find(|count| *count > 0);
    // The host writes a text in a string, and some hosts write that string in a string once more.
    Ok((unquoted(&unquoted(message.get())).into_bytes(), count.unwrap_or(1)))
}

/// The text in a JSON string; other JSON as it is.
fn unquoted(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}
