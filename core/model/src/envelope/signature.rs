//! Which key asked for jobs that the server enqueues later: steps of workflows, runs of cron entries.
//!
//! The name stands in the stored request as [`ENQUEUED_BY`]: a text, or an array of one text for a key that may see its
//! own jobs only. What a client sends under that name is taken out before the request is stored.
use super::{ENQUEUED_BY, NewJob};
use crate::json::{members, push_member, push_string, string};
use crate::workflow::{NewWorkflow, Work};
use crate::{OjsError, Timestamp};

/// A request with the name of the key that asked for it, or with none.
///
/// ```
/// use ojs_model::envelope::sign_request;
/// let forged = r#"{"type":"a","enqueued_by":"blog"}"#;
/// assert_eq!(sign_request(forged, Some("shop"), false), r#"{"type":"a","enqueued_by":"shop"}"#);
/// assert_eq!(sign_request(forged, None, false), r#"{"type":"a"}"#);
/// ```
#[must_use]
pub fn sign_request(request: &str, key: Option<&str>, own_only: bool) -> String {
    let Ok(given) = members(request) else { return request.to_owned() };
    let mut out = String::with_capacity(request.len() + 64);
    out.push('{');
    for (name, raw) in given.iter().filter(|(name, _)| name != ENQUEUED_BY) {
        push_member(&mut out, name, raw);
    }
    if let Some(key) = key {
        push_member(&mut out, ENQUEUED_BY, if own_only { "[" } else { "" });
        push_string(&mut out, key);
        out.push_str(if own_only { "]" } else { "" });
    }
    out.push('}');
    out
}

/// The key that a stored request names, and whether it may see its own jobs only.
#[must_use]
pub fn signature(request: &str) -> Option<(String, bool)> {
    // Most have none.
    if !request.contains(ENQUEUED_BY) {
        return None;
    }
    let (_, raw) = members(request).ok()?.into_iter().find(|(name, _)| name == ENQUEUED_BY)?;
    let inner = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    string(inner.unwrap_or(raw)).map(|key| (key.into_owned(), inner.is_some()))
}

impl NewJob {
    /// Reads a request that was stored with [`sign_request`].
    ///
    /// # Errors
    /// As [`NewJob::parse`].
    pub fn parse_signed(request: &str, now: Timestamp) -> Result<Self, OjsError> {
        Self::parse_signed_of(request, now, None)
    }

    /// The same for a request that a caller of a tenant has stored.
    ///
    /// # Errors
    /// As [`NewJob::parse_of`].
    pub fn parse_signed_of(request: &str, now: Timestamp, tenant: Option<&str>) -> Result<Self, OjsError> {
        let mut job = Self::parse_of(request, now, None, tenant)?;
        if let Some((key, own_only)) = signature(request) {
            job.sign(&key, own_only);
        }
        Ok(job)
    }
}

impl NewWorkflow {
    /// Notes which key creates it, in the requests of all its steps and callbacks.
    pub fn sign(&mut self, key: Option<&str>, own_only: bool) {
        for step in &mut self.steps {
            match &mut step.work {
                Work::Job(request) => *request = sign_request(request, key, own_only),
                Work::Workflow(inner) => inner.sign(key, own_only),
            }
        }
        for (_, request) in &mut self.callbacks {
            *request = sign_request(request, key, own_only);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_request_says_who_asked_and_a_forged_name_is_gone() {
        let forged = r#"{"type":"a","args":[1.0],"enqueued_by":"blog","enqueued_by":["x"]}"#;
        for own_only in [false, true] {
            let signed = sign_request(forged, Some("sh\"op"), own_only);
            assert_eq!(signature(&signed), Some(("sh\"op".to_owned(), own_only)), "{signed}");
            let job = NewJob::parse_signed(&signed, Timestamp::from_millis(0)).unwrap();
            assert_eq!((job.enqueued_by.as_deref(), job.own_only), (Some("sh\"op"), own_only));
            assert_eq!(job.body.matches(ENQUEUED_BY).count(), 1);
        }
        let plain = sign_request(forged, None, true);
        assert_eq!((signature(&plain), plain.as_str()), (None, r#"{"type":"a","args":[1.0]}"#));
    }
}
