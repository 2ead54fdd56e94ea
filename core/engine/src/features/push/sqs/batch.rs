//! Requests of `SendMessageBatch`: which deliveries go into which one, and their form.
use std::time::Duration;

use axum::http::HeaderMap;
use bytes::Bytes;
use ojs_model::limits::MAX_RESULT_BYTES;
use serde::Serialize;
use serde_json::json;

use super::address::QueueAddress;
use super::reference::reference;
use crate::features::push::delivery::Delivery;
use crate::outgoing::signed::add;
use crate::outgoing::{AwsScope, Bounds, Post};

/// Messages of a request at most.
const MOST: usize = 10;
/// Bytes of all messages of a request, and so of one. Amazon has raised its own limit since; queues with the limit of
/// 256 KiB, and servers that speak the same protocol, still exist.
const MAX_BYTES: usize = 262_144;
/// Bytes of a checkpoint in a message that refers to its job.
const CHECKPOINT_ROOM: usize = 64 * 1024;
/// How long SQS may take for its answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A message.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    /// The place of its delivery in the request.
    id: String,
    message_body: String,
    message_attributes: serde_json::Value,
    /// What is delivered in order: a train, or else the job alone. Only FIFO queues have groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_group_id: Option<String>,
    /// The job, and the lease of this delivery: a job that is tried again within five minutes is another message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_deduplication_id: Option<String>,
}

impl Entry {
    /// The message of a job; its body is the envelope, or a reference to the job.
    fn new(queue: &QueueAddress, delivery: &Delivery) -> Self {
        let (row, id) = (&delivery.job.row, delivery.id());
        let train = delivery.job.train.as_ref().map(|place| place.id.to_string());
        let mut entry = Self {
            message_attributes: attributes(&row.id.to_string(), &id),
            message_group_id: queue.is_fifo().then(|| train.unwrap_or_else(|| row.id.to_string())),
            message_deduplication_id: queue.is_fifo().then(|| format!("{}.{}", row.id, row.lease)),
            id: String::new(),
            message_body: delivery.envelope(),
        };
        if !fits(&entry.message_body) || entry.bytes() > MAX_BYTES {
            entry.message_body = reference(&entry.message_body, CHECKPOINT_ROOM).unwrap_or(entry.message_body);
        }
        entry
    }

    /// What it counts for the limit: its body, and names, types and values of its attributes.
    fn bytes(&self) -> usize {
        let attributes = self.message_attributes.as_object().into_iter().flatten();
        let sizes = attributes.map(|(name, value)| {
            let text = |member: &str| value.get(member).and_then(serde_json::Value::as_str).map_or(0, str::len);
            name.len() + text("DataType") + text("StringValue")
        });
        self.message_body.len() + sizes.sum::<usize>()
    }
}

/// Whether SQS takes every character of a text. JSON escapes control characters.
fn fits(text: &str) -> bool {
    !text.contains(['\u{fffe}', '\u{ffff}'])
}

fn attributes(job: &str, delivery: &str) -> serde_json::Value {
    let text = |value: &str| json!({"DataType": "String", "StringValue": value});
    json!({"X-OJS-Job-ID": text(job), "X-OJS-Delivery-ID": text(delivery)})
}

/// Deliveries that go to a queue in one request.
#[derive(Debug)]
pub(crate) struct Batch {
    /// In the order of their messages.
    pub(crate) deliveries: Vec<Delivery>,
    queue: QueueAddress,
    entries: Vec<Entry>,
}

impl Batch {
    /// The request. It is signed when it is sent.
    pub(crate) fn post(&self) -> Post {
        request(&self.queue, &self.entries)
    }
}

/// Puts deliveries into as few requests as the limits of SQS allow. Their order stays.
pub(crate) fn batches(queue: &QueueAddress, deliveries: Vec<Delivery>) -> Vec<Batch> {
    let mut made: Vec<Batch> = Vec::new();
    let mut bytes = 0_usize;
    for delivery in deliveries {
        let mut entry = Entry::new(queue, &delivery);
        let more = entry.bytes();
        let last = made.last_mut().filter(|batch| batch.entries.len() < MOST && bytes.saturating_add(more) <= MAX_BYTES);
        if let Some(batch) = last {
            bytes = bytes.saturating_add(more);
            entry.id = batch.entries.len().to_string();
            batch.deliveries.push(delivery);
            batch.entries.push(entry);
        } else {
            bytes = more;
            entry.id = "0".to_owned();
            made.push(Batch { deliveries: vec![delivery], queue: queue.clone(), entries: vec![entry] });
        }
    }
    made
}

/// The request of a trial: a message with a job that the server does not store.
pub(crate) fn trial(queue: &QueueAddress, job_id: &str, delivery_id: &str, job: String) -> Post {
    let entry = Entry {
        id: "0".to_owned(),
        message_body: job,
        message_attributes: attributes(job_id, delivery_id),
        message_group_id: queue.is_fifo().then(|| job_id.to_owned()),
        message_deduplication_id: queue.is_fifo().then(|| job_id.to_owned()),
    };
    request(queue, &[entry])
}

fn request(queue: &QueueAddress, entries: &[Entry]) -> Post {
    let mut headers = HeaderMap::new();
    add(&mut headers, "content-type", "application/x-amz-json-1.0");
    add(&mut headers, "x-amz-target", "AmazonSQS.SendMessageBatch");
    let body = json!({"QueueUrl": queue.url, "Entries": entries}).to_string();
    // The answer repeats ids and sums of messages; an error has a sentence.
    let bounds = Bounds { timeout: Some(TIMEOUT), answer_bytes: MAX_RESULT_BYTES, redirects: 0 };
    let aws = Some(AwsScope { service: "sqs", region: queue.region.clone() });
    Post { url: queue.service(), headers, body: Bytes::from(body), bounds, aws }
}
