//! AWS Lambda: SQS, function URLs, API Gateway, EventBridge, and direct invocations.
use std::collections::HashMap;
use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::deadline::Deadline;
use super::delivery::Delivery;
use super::push::{PushHandler, platform};
use super::runs::Settled;
use crate::error::Error;
use crate::worker::Ended;

/// Handlers as a function of AWS Lambda. It is a [`PushHandler`] as well, for function URLs and API Gateway.
///
/// ```no_run
/// # mod lambda_runtime {
/// #   pub struct LambdaEvent<T> { pub payload: T, pub context: Context }
/// #   pub struct Context;
/// #   impl Context { pub fn deadline(&self) -> std::time::SystemTime { std::time::SystemTime::now() } }
/// #   pub fn service_fn<F>(f: F) -> F { f }
/// #   pub async fn run<F, Fut>(_: F) -> Result<(), ojs::Error>
/// #   where F: Fn(LambdaEvent<serde_json::Value>) -> Fut { Ok(()) }
/// # }
/// # use lambda_runtime::{LambdaEvent, service_fn};
/// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
/// let handler = ojs::serverless::LambdaHandler::builder().ojs_url("https://ojs.example.com").build().await?;
/// handler.register("email.send", |_| async { Ok(()) })?;
/// let handler = &handler;
/// lambda_runtime::run(service_fn(|event: LambdaEvent<serde_json::Value>| async move {
///     handler.handle_sqs(event.payload, event.context.deadline()).await
/// }))
/// .await
/// # }
/// ```
#[derive(Debug)]
pub struct LambdaHandler(PushHandler);

platform!(LambdaHandler);

impl LambdaHandler {
    /// Takes an event of any kind; its members say which. `deadline` is when Lambda ends the function.
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no event with a job, and the errors of the method for its kind.
    pub async fn handle(&self, event: Value, deadline: impl Into<Option<SystemTime>>) -> Result<Value, Error> {
        let deadline = deadline.into();
        let has = |name: &str| event.get(name).is_some();
        if has("Records") {
            self.handle_sqs(event, deadline).await
        } else if has("httpMethod") || event.pointer("/requestContext/http").is_some() {
            self.handle_http(event, deadline).await
        } else if has("detail-type") || has("source") {
            self.handle_event_bridge(event, deadline).await
        } else {
            self.handle_direct(event, deadline).await
        }
    }

    /// Runs the jobs of a batch and returns those that SQS shall deliver again, as `batchItemFailures`. The event
    /// source mapping needs `ReportBatchItemFailures`.
    ///
    /// A message is delivered again when it cannot be read, and when its outcome did not reach the server. The server
    /// decides about the next attempt of a failure that it has stored. As many messages run at a time as a worker would
    /// run jobs; those of a group of a FIFO queue run one after the other, and the first failure that will be tried
    /// again ends the work on the group.
    ///
    /// # Errors
    /// [`Error::Validation`] for an event without a list `Records`.
    pub async fn handle_sqs(&self, event: Value, deadline: impl Into<Option<SystemTime>>) -> Result<Value, Error> {
        let deadline = self.until(deadline.into());
        let records = event.get("Records").and_then(Value::as_array);
        let records = records.ok_or_else(|| Error::validation("Records", "an event of SQS has a list of Records"))?;
        let lines = lines(records);
        let most = self.worker().concurrency().max(1);
        let runs = lines.into_iter().map(|line| self.again(line, deadline));
        let mut failed: Vec<(usize, &Value)> = futures_util::stream::iter(runs).buffer_unordered(most).concat().await;
        failed.sort_by_key(|(place, _)| *place);
        let items = failed.iter().map(|(_, record)| json!({"itemIdentifier": record.get("messageId")}));
        Ok(json!({"batchItemFailures": items.collect::<Vec<_>>()}))
    }

    /// Answers a push delivery that came by a function URL or API Gateway (payload formats 1.0 and 2.0).
    ///
    /// # Errors
    /// None: what is no push delivery gets an answer that says so.
    pub async fn handle_http(&self, event: Value, deadline: impl Into<Option<SystemTime>>) -> Result<Value, Error> {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let method = text("/httpMethod").or_else(|| text("/requestContext/http/method")).unwrap_or_default();
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        let body = text("/body").unwrap_or_default();
        let is_encoded = event.get("isBase64Encoded").and_then(Value::as_bool).unwrap_or(false);
        let body = if is_encoded { BASE64_STANDARD.decode(body).ok() } else { Some(body.as_bytes().to_vec()) };
        let answer = match body {
            Some(body) => self.answered(&method, &headers_of(&event), &body, self.until(deadline.into())).await,
            None => Answer::refusal(StatusCode::BAD_REQUEST, "invalid_request", "the body is no base64", None),
        };
        let headers: Map<String, Value> =
            answer.headers().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        Ok(json!({"statusCode": answer.status.as_u16(), "headers": headers, "body": answer.body, "isBase64Encoded": false}))
    }

    /// Runs the job in `detail`, and returns `status`, `job_id`, and `result` or `error`.
    ///
    /// # Errors
    /// [`Error::DeliveryFailed`] with its message when the job has failed and no server has stored that: then Lambda
    /// calls the function again. [`Error::Validation`] for what is no job.
    pub async fn handle_event_bridge(&self, event: Value, deadline: impl Into<Option<SystemTime>>) -> Result<Value, Error> {
        let detail = event.get("detail").ok_or_else(|| Error::validation("detail", "an event has its job in 'detail'"))?;
        let delivery = Delivery::parse(detail.to_string().as_bytes())?;
        let id = delivery.id.clone();
        let (ended, taken) = self.settled(delivery, self.until(deadline.into())).await?;
        if taken { told(&ended, &id) } else { Err(ended.again()) }
    }

    /// Runs the job that the event is, and returns `status`, `job_id`, and `result` or `error`.
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no job.
    pub async fn handle_direct(&self, event: Value, deadline: impl Into<Option<SystemTime>>) -> Result<Value, Error> {
        let delivery = Delivery::parse(event.to_string().as_bytes())?;
        let id = delivery.id.clone();
        let (ended, _) = self.settled(delivery, self.until(deadline.into())).await?;
        told(&ended, &id)
    }

    fn until(&self, deadline: Option<SystemTime>) -> Deadline {
        let margin = self.settings.safety_margin;
        deadline.map_or_else(|| self.deadline(), |end| Deadline::before(end, margin))
    }

    async fn settled(&self, delivery: Delivery, deadline: Deadline) -> Result<(Ended, bool), Error> {
        match self.runs.settle(delivery, deadline).await {
            Settled::Ran { ended, taken } => Ok((*ended, taken)),
            Settled::Gone => Err(Error::NotHeld),
            Settled::Unread(error) => Err(error),
        }
    }

    /// The messages of a line that SQS shall deliver again: the first that failed, and all after it.
    async fn again<'r>(&self, line: Vec<(usize, &'r Value)>, deadline: Deadline) -> Vec<(usize, &'r Value)> {
        for (at, (_, record)) in line.iter().enumerate() {
            if deadline.has_passed() || !self.message(record, deadline).await {
                return line.get(at..).unwrap_or_default().to_vec();
            }
        }
        Vec::new()
    }

    /// Runs the job of one message; false when SQS shall deliver it again.
    async fn message(&self, record: &Value, deadline: Deadline) -> bool {
        let body = record.get("body").and_then(Value::as_str).unwrap_or_default();
        let delivery = match Delivery::parse(body.as_bytes()) {
            Ok(delivery) => delivery,
            Err(error) => {
                tracing::error!(message = %record["messageId"], %error, "a message of SQS has no job");
                return false;
            }
        };
        let count = record.pointer("/attributes/ApproximateReceiveCount").and_then(Value::as_str);
        let comes_again = count.and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 1);
        if comes_again && self.runs.is_stale(&delivery).await {
            tracing::info!(job = %delivery.id, "a job came again after the server moved on; it is not run");
            return true;
        }
        let id = delivery.id.clone();
        match self.runs.settle(delivery, deadline).await {
            Settled::Ran { ended, taken } => taken && !(group(record).is_some() && ended.comes_again()),
            Settled::Gone => true,
            Settled::Unread(error) => {
                tracing::error!(job = %id, %error, "a job cannot be read");
                false
            }
        }
    }
}

/// The answer to EventBridge and to direct calls.
fn told(ended: &Ended, job_id: &str) -> Result<Value, Error> {
    let members = ended.answer()?;
    let mut told = serde_json::to_value(members).map_err(|error| Error::json("outcome", error))?;
    if let Some(members) = told.as_object_mut() {
        members.insert("job_id".to_owned(), job_id.into());
    }
    Ok(told)
}

/// The message group of a FIFO queue; `None` in a standard queue, where groups order nothing.
fn group(record: &Value) -> Option<&str> {
    let arn = record.get("eventSourceARN").and_then(Value::as_str)?;
    let group = record.pointer("/attributes/MessageGroupId").and_then(Value::as_str).unwrap_or_default();
    arn.ends_with(".fifo").then_some(group)
}

/// The messages of a batch with their places: those of a group in a line, every other one alone.
fn lines(records: &[Value]) -> Vec<Vec<(usize, &Value)>> {
    let mut lines: Vec<Vec<(usize, &Value)>> = Vec::new();
    let mut groups: HashMap<&str, usize> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        let known = group(record).map(|group| *groups.entry(group).or_insert(lines.len()));
        match known.and_then(|line| lines.get_mut(line)) {
            Some(line) => line.push((place, record)),
            None => lines.push(vec![(place, record)]),
        }
    }
    lines
}

/// The headers of a request, in either form.
fn headers_of(event: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut add = |name: &str, value: &Value| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok();
        let value = value.as_str().and_then(|value| HeaderValue::from_str(value).ok());
        if let (Some(name), Some(value)) = (name, value) {
            headers.insert(name, value);
        }
    };
    let members = |name: &str| event.get(name).and_then(Value::as_object).into_iter().flatten();
    for (name, values) in members("multiValueHeaders") {
        values.get(0).into_iter().for_each(|value| add(name, value));
    }
    members("headers").for_each(|(name, value)| add(name, value));
    headers
}
