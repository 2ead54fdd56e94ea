//! Unique jobs: the policy, and the byte-exact key that makes two jobs "the same" (protocol section 8.4).
use std::fmt;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use crate::JobState;
use crate::duration::IsoDuration;
use crate::envelope::shorten;
use crate::error::OjsError;
use crate::hex;
use crate::time::Timestamp;
use crate::version::canonical as canonical_version;

/// SHA-256 over the canonical form of the job's dimensions. Prints as 64 lowercase hex characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UniqueKey([u8; 32]);

/// What happens when a job with the same key exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// The new job is refused with 409.
    Reject,
    /// The new job is dropped; the answer carries the existing one.
    Ignore,
    /// The existing job is cancelled.
    Replace,
    /// As `Replace`, but a scheduled job passes its time on.
    ReplaceExceptSchedule,
}

/// The uniqueness policy of one job, with its key computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniquePolicy {
    /// The key.
    pub key: UniqueKey,
    /// Milliseconds from its creation for which an existing job counts; `None` is for ever.
    pub period_ms: Option<u64>,
    /// States in which an existing job counts.
    pub states: Vec<JobState>,
    /// What happens then.
    pub on_conflict: OnConflict,
}

impl UniquePolicy {
    /// The creation time, in milliseconds since 1970, from which an existing job counts.
    #[must_use]
    pub fn since(&self, now: Timestamp) -> i64 {
        self.period_ms.map_or(i64::MIN, |ms| now.as_millis().saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX)))
    }

    /// States in which an existing job counts and has not ended.
    #[must_use]
    pub fn live_states(&self) -> Vec<JobState> {
        self.states.iter().copied().filter(|state| !state.is_terminal()).collect()
    }
}

/// What a key is computed from.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The job's type.
    pub job_type: &'a str,
    /// The job's queue.
    pub queue: &'a str,
    /// JSON text of the arguments.
    pub args: &'a str,
    /// JSON text of the metadata.
    pub meta: &'a str,
    /// The rank of the job's version, if it has one.
    pub version: Option<i64>,
    /// A key that the producer computed (encrypted arguments): used as it is.
    pub given: Option<UniqueKey>,
}

impl UniqueKey {
    /// The 32 bytes: what stores keep.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 lowercase hex characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return None;
        }
        hex::decode(text)?.try_into().ok().map(Self)
    }

    /// The key of the same job of a tenant: keys of two tenants are never equal.
    #[must_use]
    pub fn of_tenant(&self, tenant: &str) -> Self {
        Self(Sha256::new().chain_update(self.0).chain_update(tenant.as_bytes()).finalize().into())
    }

    /// The key of a canonical text.
    fn of(canonical: &str) -> Self {
        Self(Sha256::digest(canonical.as_bytes()).into())
    }
}

impl fmt::Display for UniqueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for UniqueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn fault(field: &str, message: impl fmt::Display) -> OjsError {
    OjsError::invalid_field(&format!("unique.{field}"), format!("unique.{field} {message}."))
}

impl UniquePolicy {
    /// Reads a policy and computes the key. `key: [fields of args]`, `period_ms`, `onConflict` and `use_existing` of older clients
    /// are understood.
    ///
    /// ```
    /// use ojs_model::unique::{Subject, UniquePolicy};
    /// let (args, meta) = ("[]", "{}");
    /// let job = Subject { job_type: "email.send", queue: "default", args, meta, version: None, given: None };
    /// let policy = UniquePolicy::parse(&serde_json::json!({}), &job)?;
    /// assert_eq!(policy.key.to_string(), "b427cb16d1d6f10ffdad95ac22b2fef22f6c30d89ef11703401cbf4110c42186");
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// 400 `invalid_payload` with `details.field` for unknown dimensions, states and policies, and for a named field that the job
    /// does not have.
    pub fn parse(policy: &Value, job: &Subject<'_>) -> Result<Self, OjsError> {
        let object = policy.as_object().ok_or_else(|| OjsError::invalid_field("unique", "unique must be an object."))?;
        let key = match job.given {
            Some(key) => key,
            None => UniqueKey::of(&canonical(object, job)?),
        };
        Ok(Self { key, period_ms: period(object)?, states: states(object)?, on_conflict: on_conflict(object)? })
    }
}

/// The canonical text: the chosen dimensions, strings in NFC, serialized by RFC 8785.
fn canonical(policy: &Map<String, Value>, job: &Subject<'_>) -> Result<String, OjsError> {
    let (keys, args_keys) = dimensions(policy)?;
    let mut subject = Map::new();
    subject.insert("type".into(), job.job_type.into());
    for key in &keys {
        let value = match key.as_str() {
            "type" => continue,
            "queue" => job.queue.into(),
            "args" => args(job.args, args_keys.as_deref())?,
            "meta" => meta(policy, job.meta)?,
            "version" => continue,
            other => {
                return Err(fault("keys", format_args!("names '{}'; use type, queue, args, meta, version", shorten(other))));
            }
        };
        subject.insert(key.clone(), value);
    }
    // Versions tell jobs apart unless the policy names dimensions and leaves out this one.
    let named = policy.contains_key("keys") || policy.contains_key("key");
    if let Some(rank) = job.version.filter(|_| !named || keys.iter().any(|key| key == "version")) {
        subject.insert("version".into(), canonical_version(rank).into());
    }
    if args_keys.is_some() && !keys.iter().any(|key| key == "args") {
        return Err(fault("args_keys", "needs \"args\" in unique.keys"));
    }
    let subject = normalized(Value::Object(subject));
    serde_json_canonicalizer::to_string(&subject)
        .map_err(|error| fault("keys", format_args!("cannot be put in canonical form: {error}")))
}

/// What may tell jobs apart.
const DIMENSIONS: [&str; 4] = ["type", "queue", "args", "meta"];

/// The dimensions, and the fields of args.
fn dimensions(policy: &Map<String, Value>) -> Result<(Vec<String>, Option<Vec<String>>), OjsError> {
    let args_keys = strings(policy, "args_keys")?;
    if let Some(keys) = strings(policy, "keys")? {
        return Ok((keys, args_keys));
    }
    // The older form names dimensions, as the JSON format has it, or else fields of args.
    match strings(policy, "key")? {
        Some(words) if !words.is_empty() && words.iter().all(|word| DIMENSIONS.contains(&word.as_str())) => {
            Ok((words, args_keys))
        }
        Some(fields) => Ok((vec!["args".to_owned()], Some(fields))),
        None => Ok((Vec::new(), args_keys)),
    }
}

fn args(text: &str, fields: Option<&[String]>) -> Result<Value, OjsError> {
    let args: Value = serde_json::from_str(text).map_err(|_| fault("keys", "needs args that can be read"))?;
    let Some(fields) = fields else { return Ok(args) };
    // On the wire args is an array: the fields belong to its first object.
    let object = args.as_array().and_then(|items| items.iter().find_map(Value::as_object));
    let object = object.ok_or_else(|| fault("args_keys", "needs an object among the args"))?;
    picked(object, fields, "args_keys", "args")
}

fn meta(policy: &Map<String, Value>, text: &str) -> Result<Value, OjsError> {
    let fields = strings(policy, "meta_keys")?.filter(|fields| !fields.is_empty());
    let fields = fields.ok_or_else(|| fault("meta_keys", "is required when unique.keys names meta"))?;
    let meta: Value = serde_json::from_str(text).map_err(|_| fault("keys", "needs meta that can be read"))?;
    picked(meta.as_object().unwrap_or(&Map::new()), &fields, "meta_keys", "meta")
}

fn picked(object: &Map<String, Value>, fields: &[String], option: &str, place: &str) -> Result<Value, OjsError> {
    let mut out = Map::new();
    for field in fields {
        let value = object
            .get(field)
            .ok_or_else(|| fault(option, format_args!("names '{}', which {place} does not have", shorten(field))))?;
        out.insert(field.clone(), value.clone());
    }
    Ok(Value::Object(out))
}

/// All strings in Unicode normalization form C, names and values, at all depths.
fn normalized(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.nfc().collect()),
        Value::Array(items) => Value::Array(items.into_iter().map(normalized).collect()),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name.nfc().collect(), normalized(value))).collect())
        }
        other => other,
    }
}

fn period(policy: &Map<String, Value>) -> Result<Option<u64>, OjsError> {
    if let Some(value) = present(policy, "period") {
        let text = value.as_str().and_then(|text| IsoDuration::parse(text).ok());
        let period = text.ok_or_else(|| {
            fault("period", format_args!("must be an ISO 8601 duration such as PT1H, got {}", shorten(&value.to_string())))
        })?;
        return Ok(Some(u64::try_from(period.value().as_millis()).unwrap_or(u64::MAX)));
    }
    let Some(value) = present(policy, "period_ms") else { return Ok(None) };
    value.as_u64().map(Some).ok_or_else(|| fault("period_ms", "must be an integer of milliseconds"))
}

fn states(policy: &Map<String, Value>) -> Result<Vec<JobState>, OjsError> {
    let Some(words) = strings(policy, "states")? else {
        return Ok(JobState::ALL.into_iter().filter(|state| !state.is_terminal()).collect());
    };
    words
        .iter()
        .map(|word| word.parse().map_err(|_| fault("states", format_args!("names the unknown job state '{}'", shorten(word)))))
        .collect()
}

fn on_conflict(policy: &Map<String, Value>) -> Result<OnConflict, OjsError> {
    match present(policy, "on_conflict").or_else(|| present(policy, "onConflict")).map(|value| value.as_str().unwrap_or_default())
    {
        None | Some("reject") => Ok(OnConflict::Reject),
        Some("ignore" | "use_existing") => Ok(OnConflict::Ignore),
        Some("replace") => Ok(OnConflict::Replace),
        Some("replace_except_schedule") => Ok(OnConflict::ReplaceExceptSchedule),
        Some(_) => Err(fault("on_conflict", "must be reject, ignore, replace or replace_except_schedule")),
    }
}

fn present<'a>(policy: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    policy.get(name).filter(|value| !value.is_null())
}

fn strings(policy: &Map<String, Value>, name: &str) -> Result<Option<Vec<String>>, OjsError> {
    let Some(value) = present(policy, name) else { return Ok(None) };
    let words = value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    words.map(Some).ok_or_else(|| fault(name, "must be an array of strings"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key(policy: Value, job_type: &str, queue: &str, args: &str, meta: &str) -> String {
        let job = Subject { job_type, queue, args, meta, version: None, given: None };
        UniquePolicy::parse(&policy, &job).unwrap().key.to_string()
    }

    /// The vectors of protocol section 8.4.
    #[test]
    fn keys_are_byte_exact() {
        let by_args = json!({"keys": ["type", "args"]});
        let fields = json!({"keys": ["type", "args"], "args_keys": ["report_id"]});
        for (policy, job_type, queue, args, meta, expected) in [
            (json!({}), "email.send", "q", "[1]", "{}", "b427cb16d1d6f10ffdad95ac22b2fef22f6c30d89ef11703401cbf4110c42186"),
            (
                by_args.clone(),
                "email.send",
                "q",
                r#"["user@example.com","welcome"]"#,
                "{}",
                "8593fdde88b9053a2462f469b14a25f48a09d6ad46dbba12a40fc16109cabe13",
            ),
            (
                json!({"keys": ["type", "queue", "args"], "args_keys": ["user_id"]}),
                "email.send",
                "notifications",
                r#"[{"user_id":42,"x":1}]"#,
                "{}",
                "71f9344b82e66297a49775bbe27752297922842b675330641ebe3ff4fea46c1f",
            ),
            (
                by_args,
                "unique.test.type_and_args",
                "q",
                r#"[{"user_id":"U-200","action":"send_email"}]"#,
                "{}",
                "a691d59225f899b404514ade64a5b8bd48833b5c47041e8f3f0fbe929b9d6b11",
            ),
            (
                json!({"keys": ["args", "meta"], "meta_keys": ["tenant_id"]}),
                "cache.warm",
                "q",
                "[1, 1.5, true, null, \"e\\u0301\"]",
                r#"{"tenant_id":"acme","other":1}"#,
                "1452ba9d58963d3d8bee969c447f9515f812e3671840b6dfde5d027c5193deef",
            ),
            (
                fields,
                "report.generate",
                "q",
                r#"["x", {"report_id":42,"at":"now"}]"#,
                "{}",
                "3cdc852427a0c06061a5759b3b02d2792f7fb4a649ff93465106a5363d04a05e",
            ),
            (
                json!({"key": ["report_id"]}),
                "report.generate",
                "q",
                r#"[{"report_id":42}]"#,
                "{}",
                "3cdc852427a0c06061a5759b3b02d2792f7fb4a649ff93465106a5363d04a05e",
            ),
        ] {
            assert_eq!(key(policy, job_type, queue, args, meta), expected, "{job_type} {args}");
        }
    }

    #[test]
    fn faults_name_the_field() {
        let job = Subject { job_type: "t", queue: "q", args: "[1]", meta: "{}", version: None, given: None };
        for (policy, field) in [
            (json!({"keys": ["color"]}), "unique.keys"),
            (json!({"keys": "type"}), "unique.keys"),
            (json!({"keys": ["meta"]}), "unique.meta_keys"),
            (json!({"keys": ["meta"], "meta_keys": ["x"]}), "unique.meta_keys"),
            (json!({"keys": ["args"], "args_keys": ["x"]}), "unique.args_keys"),
            (json!({"args_keys": ["x"]}), "unique.args_keys"),
            (json!({"period": "soon"}), "unique.period"),
            (json!({"states": ["asleep"]}), "unique.states"),
            (json!({"on_conflict": "explode"}), "unique.on_conflict"),
        ] {
            let error = UniquePolicy::parse(&policy, &job).unwrap_err();
            assert_eq!(error.details.as_ref().unwrap()["field"], field, "{policy}");
            assert!(error.message.contains(field));
        }
    }

    #[test]
    fn a_given_key_is_used_as_it_is() {
        let text = "ab".repeat(32);
        let given = UniqueKey::parse(&text);
        let job = Subject { job_type: "t", queue: "q", args: "[]", meta: "{}", version: None, given };
        assert_eq!(UniquePolicy::parse(&json!({"keys": ["type", "args"]}), &job).unwrap().key.to_string(), text);
        assert_eq!(UniqueKey::parse("AB"), None);
        assert_eq!(UniqueKey::parse(&"AB".repeat(32)), None);
    }
}
