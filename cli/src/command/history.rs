//! `ojs jobs history`: what happened to a job, an event a line, and its attempts.
use serde_json::Value;

use crate::output::{items, rows, text};

/// The history of a job as text.
pub fn describe(history: &Value) -> String {
    let mut out = rows(&["time", "event", "by", "what"], items(history, "/events").iter().map(event));
    let attempts = items(history, "/attempts");
    if !attempts.is_empty() {
        out.push_str("\n\n");
        let columns = ["/attempt", "/state", "/worker_id", "/wait_ms", "/duration_ms", "/fingerprint", "/error/message"];
        let lines = attempts.iter().map(|attempt| columns.iter().map(|path| text(attempt, path)).collect());
        let heading = ["attempt", "state", "worker", "waited ms", "took ms", "fingerprint", "error"];
        out.push_str(&rows(&heading, lines));
    }
    out
}

fn event(event: &Value) -> Vec<String> {
    let actor = [text(event, "/actor/type"), text(event, "/actor/id")].join(" ");
    vec![text(event, "/timestamp"), text(event, "/event_type"), actor.trim().to_owned(), what(event)]
}

/// What an event says, in a few words.
fn what(event: &Value) -> String {
    let data = |name: &str| text(event, &format!("/data/{name}"));
    match text(event, "/event_type").as_str() {
        "job.created" => format!("{} on queue {}, {} bytes of arguments", data("type"), data("queue"), data("args_size_bytes")),
        "job.state_changed" => match data("from").as_str() {
            "" => data("to"),
            from => format!("{from} to {}", data("to")),
        },
        "job.attempt_started" => format!("attempt {}", data("attempt")),
        "job.attempt_completed" => format!("attempt {}, after {} ms", data("attempt"), data("duration_ms")),
        "job.attempt_failed" => format!("attempt {}: {}", data("attempt"), data("error/message")),
        "job.discarded" => format!("after {} attempts", data("total_attempts")),
        _ => data("reason"),
    }
}
