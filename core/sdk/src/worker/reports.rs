//! Reports of progress that are sent to the server: the latest of each run, a few a second at most (extensions
//! section 20).
use ojs_model::json::{push_bare, push_member, push_text};

use crate::json::Json;

/// The progress of a run. Members that are left out keep the values of the previous report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// From 0 to 1. The server ignores a fraction that is lower than an earlier one of the run.
    pub fraction: Option<f64>,
    /// For people, at most 1,024 bytes.
    pub message: Option<String>,
    /// JSON of the application, at most 4,096 bytes.
    pub data: Option<Json>,
}

impl Progress {
    /// Merges a later report.
    fn merge(&mut self, later: Self) {
        self.fraction = later.fraction.or(self.fraction);
        self.message = later.message.or(self.message.take());
        self.data = later.data.or(self.data.take());
    }

    /// The members of its JSON, without the brace that ends them.
    pub(super) fn body(&self) -> String {
        let mut body = String::from("{");
        if let Some(fraction) = self.fraction {
            push_bare(&mut body, "progress", fraction);
        }
        if let Some(message) = &self.message {
            push_text(&mut body, "message", message);
        }
        if let Some(data) = &self.data {
            push_member(&mut body, "data", data.as_str());
        }
        body
    }
}

/// Reports of one run that wait.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    waiting: Option<Progress>,
    is_sending: bool,
}

impl Reports {
    /// Adds a report. True if no task sends reports now: the caller then sends them until [`next`](Self::next) has
    /// none.
    pub fn add(&mut self, progress: Progress) -> bool {
        match &mut self.waiting {
            Some(waiting) => waiting.merge(progress),
            None => self.waiting = Some(progress),
        }
        !std::mem::replace(&mut self.is_sending, true)
    }

    /// The report to send now.
    pub fn next(&mut self) -> Option<Progress> {
        let next = self.waiting.take();
        self.is_sending = next.is_some();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_of_each_member_is_sent() {
        let mut progress = Progress { fraction: Some(0.25), message: Some("a".into()), data: None };
        progress.merge(Progress { fraction: Some(0.5), ..Progress::default() });
        progress.merge(Progress { data: Some(Json::empty_object()), ..Progress::default() });
        assert_eq!(progress.body(), r#"{"progress":0.5,"message":"a","data":{}"#, "closed where the lease is added");
    }
}
