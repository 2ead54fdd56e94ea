//! A batch on its way to the server: whole if the server takes it, in halves where it refuses.
use std::time::Duration;

use ojs_model::OjsError;

use super::row::Row;
use crate::client::Client;
use crate::error::Error;

/// What became of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Sent,
    /// A unique policy says that another job stands for it.
    Deduplicated(String),
    /// The server will not have it as it is.
    Refused(String),
}

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// In order; rows that are missing were not sent.
    pub done: Vec<(i64, Verdict)>,
    /// Why the rest waits, and for how long at least.
    pub wait: Option<(String, Option<Duration>)>,
}

enum Answer {
    Taken,
    /// Nothing to do with the rows: the server is away, busy, or does not know us.
    Wait(String, Option<Duration>),
    Refused(Box<OjsError>),
}

/// Sends the rows in order. A batch is stored whole or not at all: one that is refused is sent again in halves, so that only the rows
/// that are refused by themselves stay behind.
pub(super) async fn deliver(client: &Client, rows: &[Row]) -> Delivery {
    let mut delivery = Delivery::default();
    let mut todo: Vec<&[Row]> = vec![rows];
    while let Some(part) = todo.pop() {
        // A row that is no request is found here, before a server sees it.
        if let Some(at) = part.iter().position(|row| row.request.is_err()) {
            let (before, rest) = part.split_at(at);
            let Some((bad, after)) = rest.split_first() else { continue };
            if !before.is_empty() {
                todo.push(rest);
                todo.push(before);
                continue;
            }
            let reason = bad.request.as_ref().err().cloned().unwrap_or_default();
            delivery.done.push((bad.id, Verdict::Refused(reason)));
            if !after.is_empty() {
                todo.push(after);
            }
            continue;
        }
        match (send(client, part).await, part) {
            (Answer::Taken, _) => delivery.done.extend(part.iter().map(|row| (row.id, Verdict::Sent))),
            (Answer::Wait(error, after), _) => {
                delivery.wait = Some((error, after));
                return delivery;
            }
            (Answer::Refused(error), [row]) => delivery.done.push((row.id, verdict(&error, row))),
            (Answer::Refused(_), _) => {
                let (first, second) = part.split_at(part.len() / 2);
                todo.push(second);
                todo.push(first);
            }
        }
    }
    delivery
}

async fn send(client: &Client, rows: &[Row]) -> Answer {
    let requests: Vec<&str> = rows.iter().filter_map(|row| row.request.as_deref().ok()).collect();
    if requests.is_empty() {
        return Answer::Taken;
    }
    let response = match client.send_jobs(&requests).await {
        Ok(response) if response.is_success() => return Answer::Taken,
        Ok(response) => response,
        Err(error) => return Answer::Wait(error.to_string(), None),
    };
    let (status, after) = (response.status, response.retry_after);
    match Error::from_response(&response) {
        Error::Ojs(error) if is_about_the_job(status, rows.len()) => Answer::Refused(error),
        error => Answer::Wait(error.to_string(), after),
    }
}

/// Whether the answer is about the jobs. Wrong credentials, a wrong address, a busy or broken server hold up all jobs alike.
fn is_about_the_job(status: u16, rows: usize) -> bool {
    match status {
        401 | 403 | 407 | 408 | 425 | 429 => false,
        // A server without batches.
        404 | 405 => rows > 1,
        status => (400..500).contains(&status),
    }
}

fn verdict(error: &OjsError, row: &Row) -> Verdict {
    if !error.is_duplicate() {
        return Verdict::Refused(error.to_string());
    }
    let existing = error.details.as_ref().and_then(|details| details.get("existing_job_id")).and_then(|id| id.as_str());
    match existing {
        Some(existing) if existing != row.job_id => Verdict::Deduplicated(existing.to_owned()),
        // An earlier send of this very row.
        _ => Verdict::Sent,
    }
}
