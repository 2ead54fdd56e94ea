//! Versions of the arguments of jobs in a worker: which ones it runs, what it declares to the server, and which changes
//! bring old arguments to a version that its handlers are written for (extensions section 14, ADR 49).
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use ojs_model::json::push_member;
use ojs_model::version::{Range, Version, canonical, major};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dispatch::{Delivery, HandlerFailure};
use crate::error::Error;
use crate::members::find;

/// The versions that a worker runs, by job type, and the changes that lead from older versions to these.
///
/// A type that is not declared runs in every version. A job without a version runs in every worker.
///
/// ```
/// use ojs::worker::Versions;
/// let mut versions = Versions::default();
/// versions.handler("email.send", "2.1")?;
/// versions.transform("email.send", "1.0", "2.0")?;
/// assert_eq!(versions.path("email.send", Some(&"1".into()))?, [0], "through the first change");
/// assert!(versions.path("email.send", Some(&"2.7".into()))?.is_empty(), "another minor version");
/// assert!(versions.path("email.send", Some(&3.into())).is_err(), "no change begins at 3");
/// # Ok::<(), ojs::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions {
    types: BTreeMap<String, OfType>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OfType {
    /// The ranges as they are declared; none: every version.
    declared: Vec<String>,
    accepted: Vec<Range>,
    /// In the order in which they were registered: the place is the number of a change.
    changes: Vec<Step>,
}

/// A change of arguments from one version to another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    from: i64,
    to: Version,
}

/// The declaration of one job type by a host language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    version: Option<String>,
    versions: Option<Vec<String>>,
    #[serde(default)]
    transforms: Vec<(String, String)>,
}

/// No change leads from the version of a job to one that the worker runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPath {
    /// The version at which the changes end, all three parts of it.
    pub version: String,
    message: String,
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NoPath {}

impl From<NoPath> for Error {
    fn from(missing: NoPath) -> Self {
        Self::validation("version", missing.message)
    }
}

impl NoPath {
    /// The failure of the job. It is not tried again, because this worker would refuse it again.
    #[must_use]
    pub fn failure(&self) -> HandlerFailure {
        HandlerFailure {
            code: "unsupported_version".to_owned(),
            retryable: false,
            ..HandlerFailure::error("UnsupportedVersion", self.message.clone())
        }
    }
}

impl Versions {
    /// Reads what a host language says: a JSON object by job type, whose members are `version` (the version that the
    /// handler is written for), `versions` (ranges in place of those that follow from it), and `transforms` (pairs of
    /// versions).
    ///
    /// ```
    /// # use ojs::worker::Versions;
    /// let versions = Versions::from_json(r#"{"email.send": {"version": "2.0", "transforms": [["1.0", "2.0"]]}}"#)?;
    /// assert_eq!(versions.path("email.send", Some(&"1.0".into()))?, [0]);
    /// # Ok::<(), ojs::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no version or range, and for changes that end at a version that the worker
    /// does not run.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let said: BTreeMap<String, Said> = serde_json::from_str(text).map_err(|e| Error::json("versions", e))?;
        let mut versions = Self::default();
        for (job_type, Said { version, versions: ranges, transforms }) in said {
            if let Some(version) = version {
                versions.handler(&job_type, &version)?;
            }
            if let Some(ranges) = ranges {
                versions.ranges(&job_type, ranges)?;
            }
            for (from, to) in transforms {
                versions.transform(&job_type, &from, &to)?;
            }
        }
        versions.check()?;
        Ok(versions)
    }

    /// The handler of this type is written for `version`: it runs every version with the same first number, because the
    /// others differ in what may be missing.
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no version.
    pub fn handler(&mut self, job_type: &str, version: &str) -> Result<(), Error> {
        let first = major(read("version", version)?.rank);
        self.ranges(job_type, [format!(">={first}.0 <{}.0", first + 1)])
    }

    /// The worker runs these ranges of versions of the type: `*`, `2.0` or `>=2.0 <3.0`. They replace what was said
    /// before.
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no range, and without any.
    pub fn ranges<R: Into<String>>(&mut self, job_type: &str, ranges: impl IntoIterator<Item = R>) -> Result<(), Error> {
        let declared: Vec<String> = ranges.into_iter().map(Into::into).collect();
        if declared.is_empty() {
            return Err(Error::validation("versions", format!("names no range for '{job_type}'; write * for every version")));
        }
        let parse = |text: &String| Range::parse(text).map_err(|error| Error::validation("versions", error.message.clone()));
        let accepted = declared.iter().map(parse).collect::<Result<_, _>>()?;
        let of = self.types.entry(job_type.to_owned()).or_default();
        (of.declared, of.accepted) = (declared, accepted);
        Ok(())
    }

    /// Arguments of version `from` can be changed into those of version `to`. Returns the number of the change among
    /// those of the type.
    ///
    /// # Errors
    /// [`Error::Validation`] for what is no version, when the version `from` has a change already, and for changes that
    /// lead back to where they begin.
    pub fn transform(&mut self, job_type: &str, from: &str, to: &str) -> Result<usize, Error> {
        let (from, to) = (read("from", from)?, read("to", to)?);
        let of = self.types.entry(job_type.to_owned()).or_default();
        if of.changes.iter().any(|step| step.from == from.rank) {
            return Err(Error::validation("from", format!("version {from} of '{job_type}' has a transform already")));
        }
        // No change begins at `from` yet, so a circle ends there, and so does a change of a version to itself.
        let (end, _) = of.follow(to.rank);
        if end == from.rank {
            return Err(Error::validation("to", format!("the transforms of '{job_type}' lead from version {from} back to it")));
        }
        of.changes.push(Step { from: from.rank, to });
        Ok(of.changes.len() - 1)
    }

    /// Whether all changes end at a version that the worker runs.
    ///
    /// # Errors
    /// [`Error::Validation`] that names the type and the version.
    pub fn check(&self) -> Result<(), Error> {
        for (job_type, of) in &self.types {
            for step in &of.changes {
                of.path(job_type, step.from).map_err(|missing| Error::validation("transforms", missing.message))?;
            }
        }
        Ok(())
    }

    /// Which changes a job of this version goes through, by their numbers, before its handler runs.
    ///
    /// # Errors
    /// [`NoPath`] when the worker runs neither the version nor one that changes lead to.
    pub fn path(&self, job_type: &str, version: Option<&Value>) -> Result<Vec<usize>, NoPath> {
        let Some(of) = self.types.get(job_type) else { return Ok(Vec::new()) };
        // A version that cannot be read is as none: a server of ours does not store it.
        match version.map(|version| Version::from_json(Some(version))) {
            Some(Ok(version)) => of.path(job_type, version.rank),
            _ => Ok(Vec::new()),
        }
    }

    /// Whether anything is said about any type.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Adds what others say; for a type that both name, their ranges count if they have any.
    fn extend(&mut self, others: Self) {
        for (job_type, other) in others.types {
            let of = self.types.entry(job_type).or_default();
            if !other.declared.is_empty() {
                (of.declared, of.accepted) = (other.declared, other.accepted);
            }
            of.changes.extend(other.changes);
        }
    }

    /// The version that a change leads to.
    fn target(&self, job_type: &str, number: usize) -> Option<&Version> {
        self.types.get(job_type)?.changes.get(number).map(|step| &step.to)
    }

    /// The member `handlers` of requests for jobs, as JSON: what the worker runs, when it has declared versions. Types
    /// with a handler and without declared versions are there with every version.
    pub(super) fn declared(&self, job_types: Option<&[String]>) -> Option<String> {
        if self.types.values().all(|of| of.declared.is_empty()) {
            return None;
        }
        let mut types: BTreeSet<&str> = self.types.keys().map(String::as_str).collect();
        types.extend(job_types.unwrap_or_default().iter().map(String::as_str));
        let handler = |job_type: &str| match self.types.get(job_type).filter(|of| !of.declared.is_empty()) {
            Some(of) => json!({"type": job_type, "versions": of.ranges()}),
            None => json!({"type": job_type, "versions": "*"}),
        };
        Some(Value::Array(types.into_iter().map(handler).collect()).to_string())
    }
}

impl OfType {
    /// Where the changes lead from a version, and which they are. Changes never go in a circle.
    fn follow(&self, from: i64) -> (i64, Vec<usize>) {
        let (mut at, mut numbers) = (from, Vec::new());
        while let Some((number, step)) = self.changes.iter().enumerate().find(|(_, step)| step.from == at) {
            numbers.push(number);
            at = step.to.rank;
        }
        (at, numbers)
    }

    /// Whether one of the ranges has this version.
    fn accepts(&self, rank: i64) -> bool {
        self.accepted.iter().any(|range| range.contains(rank))
    }

    fn path(&self, job_type: &str, version: i64) -> Result<Vec<usize>, NoPath> {
        let (end, numbers) = self.follow(version);
        if self.declared.is_empty() || self.accepts(end) {
            return Ok(numbers);
        }
        let (given, end, runs) = (canonical(version), canonical(end), self.declared.join(" or "));
        let led = if numbers.is_empty() { String::new() } else { format!(", which transforms change into {end}") };
        let message = format!(
            "This worker runs '{job_type}' in versions {runs}; the arguments have version {given}{led}. \
             Register a transform from {end}, or run a worker for that version."
        );
        Err(NoPath { version: end, message })
    }

    /// What is declared: the ranges, and the versions outside of them whose arguments can be changed.
    fn ranges(&self) -> Vec<String> {
        let old = self.changes.iter().map(|step| step.from);
        let old = old.filter(|from| !self.accepts(*from) && self.accepts(self.follow(*from).0));
        self.declared.iter().cloned().chain(old.map(canonical)).collect()
    }
}

fn read(field: &'static str, text: &str) -> Result<Version, Error> {
    Version::parse(text).map_err(|_| Error::validation(field, format!("must be a version such as 2 or 2.1, got '{text}'")))
}

/// Changes the arguments of one version, a JSON array, into those of another.
pub(super) type Change = Arc<dyn Fn(Value) -> Result<Value, String> + Send + Sync>;

/// The changes of a Rust worker, by job type, in the order of their numbers.
#[derive(Clone, Default)]
pub(super) struct Transforms {
    pub versions: Versions,
    changes: HashMap<String, Vec<Change>>,
}

impl fmt::Debug for Transforms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.changes.keys()).finish()
    }
}

impl Transforms {
    /// Adds a change.
    ///
    /// # Errors
    /// Those of [`Versions::transform`].
    pub fn add(&mut self, job_type: &str, from: &str, to: &str, change: Change) -> Result<(), Error> {
        self.versions.transform(job_type, from, to)?;
        self.changes.entry(job_type.to_owned()).or_default().push(change);
        Ok(())
    }

    /// The options of the worker with what was registered with its handlers.
    pub fn declare(&self, versions: &mut Versions) {
        let mut all = self.versions.clone();
        all.extend(std::mem::take(versions));
        *versions = all;
    }

    /// Makes the changes that a delivery names. Without any the delivery stays as it is.
    ///
    /// # Errors
    /// What a change says, as a failure that is not tried again: the same arguments would fail again.
    pub fn apply(&self, delivery: &mut Delivery) -> Result<(), HandlerFailure> {
        if delivery.transforms.is_empty() {
            return Ok(());
        }
        let text = std::str::from_utf8(&delivery.envelope).unwrap_or_default();
        let Ok(members) = ojs_model::json::members(text) else { return Ok(()) };
        let Some(mut args) = find(&members, "args").and_then(|raw| serde_json::from_str::<Value>(raw).ok()) else {
            return Ok(());
        };
        let mut version = None;
        for number in &delivery.transforms {
            let change = self.changes.get(&delivery.job_type).and_then(|changes| changes.get(*number));
            let target = self.versions.target(&delivery.job_type, *number);
            let (Some(change), Some(target)) = (change, target) else { continue };
            args = change(args).map_err(|why| {
                HandlerFailure::transform(format!("The arguments cannot become those of version {target}: {why}"))
            })?;
            if !args.is_array() {
                let why = format!("The transform to version {target} must return an array of arguments.");
                return Err(HandlerFailure::transform(why));
            }
            version = Some(target);
        }
        let mut out = String::with_capacity(text.len() + 64);
        out.push('{');
        for (name, raw) in &members {
            match (&**name, version) {
                ("args", _) => push_member(&mut out, "args", &args.to_string()),
                ("version", Some(version)) => push_member(&mut out, "version", &json!(version.text).to_string()),
                _ => push_member(&mut out, name, raw),
            }
        }
        out.push('}');
        delivery.envelope = Bytes::from(out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::dispatch::{Completion, DeliveryKey};

    fn delivery(transforms: &Transforms, envelope: &str) -> Delivery {
        let version = serde_json::from_str::<Value>(envelope).unwrap().get("version").cloned();
        Delivery {
            key: DeliveryKey(0),
            id: "id".into(),
            job_type: "mail".into(),
            queue: "q".into(),
            attempt: 1,
            deadline: None,
            envelope: Bytes::copy_from_slice(envelope.as_bytes()),
            transforms: transforms.versions.path("mail", version.as_ref()).unwrap(),
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
            let mut delivery = delivery(&transforms, before);
            transforms.apply(&mut delivery).unwrap();
            assert_eq!(delivery.envelope, after.as_bytes());
        }
    }

    #[test]
    fn what_a_change_says_ends_the_job() {
        let mut transforms = Transforms::default();
        transforms.add("mail", "1", "2", Arc::new(|_| Err("no address".into()))).unwrap();
        transforms.add("mail", "5", "6", Arc::new(|_| Ok(json!({})))).unwrap();
        for (version, part) in [(1, "no address"), (5, "must return an array")] {
            let mut delivery = delivery(&transforms, &json!({"args": [], "version": version}).to_string());
            let failure = transforms.apply(&mut delivery).unwrap_err();
            assert_eq!((failure.code.as_str(), failure.retryable), ("version_transform", false));
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        assert!(transforms.add("mail", "1.0", "3", Arc::new(Ok)).is_err(), "1 and 1.0 are one version");
        assert!(transforms.add("mail", "x", "3", Arc::new(Ok)).is_err());
        let circle = transforms.add("mail", "6", "5", Arc::new(Ok)).unwrap_err().to_string();
        assert!(circle.contains("back to it"), "{circle}");
        assert!(transforms.add("mail", "7", "7.0", Arc::new(Ok)).is_err());
    }

    #[test]
    fn a_worker_declares_every_version_of_its_other_types() {
        let mut versions = Versions::default();
        let types = ["sms".to_owned(), "mail".to_owned()];
        assert_eq!(versions.declared(Some(&types)), None);
        versions.transform("mail", "0.9", "1").unwrap();
        assert_eq!(versions.declared(Some(&types)), None, "changes alone declare nothing");
        versions.handler("mail", "2.1").unwrap();
        versions.transform("mail", "1", "2").unwrap();
        versions.transform("mail", "2.0", "2.1").unwrap();
        versions.transform("mail", "7", "8").unwrap();
        let wanted = r#"[{"type":"mail","versions":[">=2.0 <3.0","0.9.0","1.0.0"]},{"type":"sms","versions":"*"}]"#;
        assert_eq!(versions.declared(Some(&types)).as_deref(), Some(wanted));
    }

    #[test]
    fn a_version_that_no_change_brings_to_the_handler_is_named() {
        let given = r#"{"mail":{"version":"3.1","transforms":[["1","2"],["2","3.0"]]},"sms":{"version":"1","versions":["*"]}}"#;
        let versions = Versions::from_json(given).unwrap();
        let path = |job_type: &str, version: Value| versions.path(job_type, Some(&version));
        assert_eq!(path("mail", json!("1.0")).unwrap(), [0, 1]);
        assert_eq!((path("mail", json!(3)).unwrap(), path("sms", json!(9)).unwrap()), (Vec::new(), Vec::new()));
        assert_eq!(versions.path("mail", None).unwrap(), [0_usize; 0]);
        let missing = path("mail", json!("4.1")).unwrap_err();
        let failure = missing.failure();
        assert_eq!((missing.version.as_str(), failure.code.as_str(), failure.retryable), ("4.1.0", "unsupported_version", false));
        assert!(failure.message.contains("'mail' in versions >=3.0 <4.0") && failure.message.contains("4.1.0"), "{missing}");
    }

    #[test]
    fn wrong_versions_are_named() {
        for (given, part) in [
            ("[]", "versions"),
            (r#"{"mail":{"version":2}}"#, "versions"),
            (r#"{"mail":{"version":"two"}}"#, "got 'two'"),
            (r#"{"mail":{"versions":[]}}"#, "names no range for 'mail'"),
            (r#"{"mail":{"versions":[">3 <2"]}}"#, "contains no version"),
            (r#"{"mail":{"transforms":[["1","2"],["2","1"]]}}"#, "back to it"),
            (r#"{"mail":{"version":"3","transforms":[["1","2"]]}}"#, "which transforms change into 2.0.0"),
        ] {
            let error = Versions::from_json(given).unwrap_err().to_string();
            assert!(error.contains(part), "{given}: {error}");
        }
    }
}
