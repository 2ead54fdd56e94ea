//! What a job says about its encryption, in `meta` and in its one argument: our members, and those of published SDKs.
use ojs_model::json::{members, push_member, string};
use ojs_model::unique::{Subject, UniquePolicy};
use ojs_model::version::{Version, split_type};
use serde_json::Value;

use crate::members::{Members, find};

pub(super) const AES: &str = "binary/encrypted";
/// The same in the words of other programs.
pub(super) const AES_TOO: &str = "aes-256-gcm";
pub(super) const ENCODINGS: &str = "ojs.codec.encodings";
pub(super) const KEY_ID: &str = "ojs.codec.key_id";
pub(super) const NONCE: &str = "ojs.codec.nonce";
pub(super) const MARKER: &str = "ojs_encoded";
/// The key that the server compares instead of hashing what never repeats (EI-001).
pub(super) const UNIQUE_KEY: &str = "ojs.unique_key";

/// Members of `meta` that say "encrypted", name the key, and hold the nonce: ours, and those of published SDKs.
const MARKERS: &[&str] = &[MARKER, "_encrypted", "ojs.encryption.encrypted"];
const KEY_IDS: &[&str] = &[KEY_ID, "_encryption_key_id", "ojs_key_id", "ojs.encryption.key_id"];
const NONCES: &[&str] = &[NONCE, "ojs_nonce", "ojs.encryption.nonce"];

/// What an encrypted job says about its encryption.
pub(super) struct Found {
    pub encodings: Vec<String>,
    pub key_id: Option<String>,
    pub nonce: Option<String>,
    pub data: Option<String>,
}

impl Found {
    /// What a job says; `None` when it is not encrypted.
    pub fn of(job: &Members<'_>) -> Option<Self> {
        let meta: Value = find(job, "meta").and_then(|meta| serde_json::from_str(meta).ok()).unwrap_or_default();
        // Only what is short is parsed: one element, an object with a mark or a text.
        let element = find(job, "args").filter(|args| meta.get(ENCODINGS).is_some() || args.contains(MARKER) || marked(&meta));
        let element: Value =
            element.and_then(|args| serde_json::from_str::<[Value; 1]>(args).ok()).map(|[one]| one).unwrap_or_default();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let first = |names: &[&str]| names.iter().find_map(|name| text(meta.get(name)));
        let encodings = match meta.get(ENCODINGS).and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            // Written outermost first here.
            None => element
                .get("encoding")
                .and_then(Value::as_str)
                .map_or_else(Vec::new, |names| names.rsplit('+').map(str::to_owned).collect()),
        };
        let encrypted =
            encodings.iter().any(|name| name == AES) || element.get(MARKER) == Some(&Value::Bool(true)) || marked(&meta);
        encrypted.then(|| Self {
            // Marked, and nothing said: encrypted.
            encodings: if encodings.is_empty() { vec![AES.to_owned()] } else { encodings },
            key_id: first(KEY_IDS).or_else(|| text(element.pointer("/metadata/encryption_key_id"))),
            nonce: first(NONCES),
            data: text(element.get("data")).or_else(|| text(Some(&element))),
        })
    }
}

fn marked(meta: &Value) -> bool {
    MARKERS
        .iter()
        .any(|name| matches!(meta.get(name), Some(Value::Bool(true))) || meta.get(name).and_then(Value::as_str) == Some("true"))
}

pub(super) fn is_encoded(job: &Members<'_>) -> bool {
    Found::of(job).is_some()
}

/// The members of `meta` that do not speak of encryption.
pub(super) fn plain_meta<'a>(job: &Members<'a>) -> Members<'a> {
    let meta = find(job, "meta").and_then(|meta| members(meta).ok()).unwrap_or_default();
    let codec = |name: &str| name == ENCODINGS || [MARKERS, KEY_IDS, NONCES].iter().any(|names| names.contains(&name));
    meta.into_iter().filter(|(name, _)| !codec(name)).collect()
}

pub(super) fn clear_meta(job: &Members<'_>) -> String {
    let mut out = String::from("{");
    for (name, value) in plain_meta(job) {
        push_member(&mut out, &name, value);
    }
    out.push('}');
    out
}

/// The key of the plain arguments: the encrypted ones never repeat. A policy that is wrong is the server's to refuse.
pub(super) fn unique_key(job: &Members<'_>) -> Option<String> {
    let options = find(job, "options").and_then(|options| members(options).ok()).unwrap_or_default();
    let either = |name: &str| find(&options, name).or_else(|| find(job, name));
    let policy: Value = serde_json::from_str(either("unique")?).ok()?;
    let meta = clear_meta(job);
    if find(job, "meta").is_some_and(|meta| meta.contains(UNIQUE_KEY)) {
        return None;
    }
    let (job_type, queue) = (find(job, "type").and_then(string)?, either("queue").and_then(string));
    let (job_type, suffix) = split_type(&job_type);
    let version = match (either("version"), suffix) {
        (Some(raw), _) => Version::from_json(serde_json::from_str(raw).ok().as_ref()).ok(),
        (None, suffix) => suffix.and_then(|text| Version::parse(text).ok()),
    };
    let subject = Subject {
        job_type,
        queue: queue.as_deref().unwrap_or("default"),
        args: find(job, "args")?,
        meta: &meta,
        version: version.map(|version| version.rank),
        given: None,
    };
    Some(UniquePolicy::parse(&policy, &subject).ok()?.key.to_string())
}
