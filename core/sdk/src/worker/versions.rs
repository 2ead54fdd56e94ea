//! Versions of jobs in a worker: what it declares to the server, and arguments that are brought to another version
//! before the handler sees them.
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use ojs_model::json::push_member;
use ojs_model::version::Version;
use serde_json::{Value, json};

use super::options::WorkerOptions;
use crate::dispatch::{Delivery, HandlerFailure};
use crate::error::Error;
use crate::members::find;

/// Most changes that one job goes through: more are a circle.
const MOST_STEPS: usize = 100;

/// Changes the arguments of one version, a JSON array, into those of another.
pub(super) type Change = Arc<dyn Fn(Value) -> Result<Value, String> + Send + Sync>;

/// A change from one version to another.
#[derive(Clone)]
struct Transform {
    from: i64,
    to: Version,
    change: Change,
}

/// The changes of a worker, by job type.
#[derive(Clone, Default)]
pub(super) struct Transforms(HashMap<String, Vec<Transform>>);

impl fmt::Debug for Transforms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Transforms {
    /// Adds a change.
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no version, and when arguments of `from` are changed already.
    pub fn add(&mut self, job_type: &str, from: &str, to: &str, change: Change) -> Result<(), Error> {
        let read = |field: &'static str, text: &str| {
            Version::parse(text)
                .map_err(|_| Error::validation(field, format!("must be a version such as 2 or 2.1, got '{text}'")))
        };
        let (from, to) = (read("from", from)?, read("to", to)?);
        let known = self.0.entry(job_type.to_owned()).or_default();
        if known.iter().any(|transform| transform.from == from.rank) {
            return Err(Error::validation("from", format!("version {from} of '{job_type}' has a transform already")));
        }
        known.push(Transform { from: from.rank, to, change });
        Ok(())
    }

    /// Brings the arguments of a delivery as far as there are changes. Without any the delivery stays as it is.
    ///
    /// # Errors
    /// What a change says, as a failure that is not tried again: the same arguments would fail again.
    pub fn apply(&self, delivery: &mut Delivery) -> Result<(), HandlerFailure> {
        let Some(known) = self.0.get(&delivery.job_type) else { return Ok(()) };
        let failed = |message: String| HandlerFailure {
            code: "version_transform".to_owned(),
            retryable: false,
            ..HandlerFailure::error("VersionTransform", message)
        };
        let text = std::str::from_utf8(&delivery.envelope).unwrap_or_default();
        let Ok(members) = ojs_model::json::members(text) else { return Ok(()) };
        let given = find(&members, "version").and_then(|raw| serde_json::from_str::<Value>(raw).ok());
        let Some(mut version) = given.as_ref().and_then(|given| Version::from_json(Some(given)).ok()) else { return Ok(()) };
        let Some(mut args) = find(&members, "args").and_then(|raw| serde_json::from_str::<Value>(raw).ok()) else {
            return Ok(());
        };
        let mut steps = 0;
        while let Some(transform) = known.iter().find(|transform| transform.from == version.rank) {
            steps += 1;
            if steps > MOST_STEPS {
                return Err(failed(format!("The transforms of '{}' go in a circle at version {version}.", delivery.job_type)));
            }
            args = (transform.change)(args).map_err(|why| {
                failed(format!("The arguments of version {version} cannot become those of version {}: {why}", transform.to))
            })?;
            if !args.is_array() {
                return Err(failed(format!("The transform to version {} must return an array of arguments.", transform.to)));
            }
            version = transform.to.clone();
        }
        if steps > 0 {
            let mut out = String::with_capacity(text.len() + 64);
            out.push('{');
            for (name, raw) in &members {
                match &**name {
                    "args" => push_member(&mut out, "args", &args.to_string()),
                    "version" => push_member(&mut out, "version", &json!(version.text).to_string()),
                    _ => push_member(&mut out, name, raw),
                }
            }
            out.push('}');
            delivery.envelope = Bytes::from(out);
        }
        Ok(())
    }
}

/// The member `handlers` of requests for jobs, as JSON: what the worker runs, when it has declared versions.
/// Types with a handler and without declared versions are there with every version.
pub(super) fn declared(options: &WorkerOptions, job_types: Option<&[String]>) -> Option<String> {
    if options.versions.is_empty() {
        return None;
    }
    let mut handlers: Vec<Value> =
        options.versions.iter().map(|(job_type, ranges)| json!({"type": job_type, "versions": ranges})).collect();
    let mut others: Vec<&String> = job_types.unwrap_or_default().iter().collect();
    others.retain(|name| !options.versions.iter().any(|(declared, _)| declared == *name));
    others.sort_unstable();
    handlers.extend(others.into_iter().map(|name| json!({"type": name, "versions": "*"})));
    Some(Value::Array(handlers).to_string())
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::dispatch::{Completion, DeliveryKey};

    fn delivery(envelope: &str) -> Delivery {
        Delivery {
            key: DeliveryKey(0),
            id: "id".into(),
            job_type: "mail".into(),
            queue: "q".into(),
            attempt: 1,
            deadline: None,
            envelope: Bytes::copy_from_slice(envelope.as_bytes()),
            completion: Completion::new(DeliveryKey(0), mpsc::unbounded_channel().0),
        }
    }

    fn named(text: &'static str) -> Change {
        Arc::new(move |args| {
            let mut list = args.as_array().cloned().unwrap_or_default();
            list.push(text.into());
            Ok(Value::Array(list))
        })
    }

    #[test]
    fn changes_are_made_one_after_the_other_up_to_the_last_version() {
        let mut transforms = Transforms::default();
        transforms.add("mail", "2.0", "3", named("to 3")).unwrap();
        transforms.add("mail", "1", "2", named("to 2")).unwrap();
        for (before, after) in [
            (r#"{"id":"a","version":1,"args":[7],"x":1.0}"#, r#"{"id":"a","version":"3","args":[7,"to 2","to 3"],"x":1.0}"#),
            (r#"{"args":[],"version":"2"}"#, r#"{"args":["to 3"],"version":"3"}"#),
            (r#"{"args":[],"version":3}"#, r#"{"args":[],"version":3}"#),
            (r#"{"args":[]}"#, r#"{"args":[]}"#),
        ] {
            let mut delivery = delivery(before);
            transforms.apply(&mut delivery).unwrap();
            assert_eq!(delivery.envelope, after.as_bytes());
        }
    }

    #[test]
    fn what_a_change_says_ends_the_job() {
        let mut transforms = Transforms::default();
        transforms.add("mail", "1", "2", Arc::new(|_| Err("no address".into()))).unwrap();
        transforms.add("mail", "5", "6", Arc::new(|_| Ok(json!({})))).unwrap();
        transforms.add("mail", "8", "9", Arc::new(Ok)).unwrap();
        transforms.add("mail", "9", "8", Arc::new(Ok)).unwrap();
        for (version, part) in [(1, "no address"), (5, "must return an array"), (8, "circle")] {
            let failure = transforms.apply(&mut delivery(&json!({"args": [], "version": version}).to_string())).unwrap_err();
            assert_eq!((failure.code.as_str(), failure.retryable), ("version_transform", false));
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        assert!(transforms.add("mail", "1.0", "3", Arc::new(Ok)).is_err(), "1 and 1.0 are one version");
        assert!(transforms.add("mail", "x", "3", Arc::new(Ok)).is_err());
    }

    #[test]
    fn a_worker_declares_every_version_of_its_other_types() {
        let options = WorkerOptions::default().versions("mail", [">=2.0 <3.0"]);
        let types = ["sms".to_owned(), "mail".to_owned()];
        let wanted = r#"[{"type":"mail","versions":[">=2.0 <3.0"]},{"type":"sms","versions":"*"}]"#;
        assert_eq!(declared(&options, Some(&types)).as_deref(), Some(wanted));
        assert_eq!(declared(&WorkerOptions::default(), Some(&types)), None);
    }
}
