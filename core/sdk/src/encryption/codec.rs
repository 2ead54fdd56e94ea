//! Jobs in and out: the specification's form, and those that published SDKs write.
use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ojs_model::json::{members, push_member, push_text};

use super::blob;
use super::compression::{Compression, ZSTD, compressed};
use super::keys::KeyProvider;
use super::marks::{
    AES, AES_TOO, ENCODINGS, Found, KEY_ID, MARKER, NONCE, UNIQUE_KEY, clear_meta, is_encoded, plain_meta, unique_key,
};
use crate::dispatch::HandlerFailure;
use crate::error::Error;
use crate::members::{Members, find};

/// In which form jobs are written. All are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// The specification's.
    #[default]
    Spec,
    /// That of the published SDKs for Rust, Ruby and Java: the nonce before the ciphertext.
    InlineNonce,
    /// That of the published SDKs for Python and JavaScript: the nonce in `meta`.
    DetachedNonce,
}

/// Why arguments cannot be read. A worker answers with it instead of running the handler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// A key that this worker does not have, yet: tried again.
    #[error("the arguments are encrypted with the key '{0}', which is not known here")]
    UnknownKey(String),
    /// The key is another one of the same name, or the job was changed on its way.
    #[error("the arguments do not belong to the key '{0}', or were changed")]
    AuthFailed(String),
    /// Not in a form that can be read.
    #[error("the arguments are marked as encrypted, but {0}")]
    Malformed(String),
}

impl CodecError {
    /// The code that the server keeps for the failed attempt.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownKey(_) => "x_codec_unknown_key",
            Self::AuthFailed(_) => "x_codec_auth_failed",
            Self::Malformed(_) => "x_codec_malformed",
        }
    }

    /// Whether a later attempt may succeed: a key may be added.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::UnknownKey(_))
    }

    pub(crate) fn failure(&self) -> HandlerFailure {
        HandlerFailure {
            code: self.code().to_owned(),
            retryable: self.is_retryable(),
            ..HandlerFailure::error("DecryptionError", self.to_string())
        }
    }
}

/// Encrypts requests and decrypts jobs, as JSON text. Cheap to clone.
#[derive(Clone)]
pub struct Codec {
    keys: Arc<dyn KeyProvider>,
    pub(super) form: Form,
    compress: bool,
}

/// Bytes after all codecs.
pub(super) struct Encoded {
    pub key_id: String,
    pub sealed: blob::Sealed,
    /// Whether they were compressed first.
    pub compressed: bool,
}

impl Encoded {
    /// With its nonce, in the layout of a form.
    pub fn blob(self, form: Form) -> Vec<u8> {
        match form {
            Form::Spec => self.sealed.versioned(),
            Form::InlineNonce => self.sealed.inline(),
            Form::DetachedNonce => self.sealed.text,
        }
    }
}

impl Codec {
    /// A codec with these keys, writing the specification's form.
    pub fn new(keys: impl KeyProvider) -> Self {
        Self { keys: Arc::new(keys), form: Form::Spec, compress: false }
    }

    /// Writes another form, for workers that do not read the specification's.
    #[must_use]
    pub fn with_form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Compresses arguments (Zstandard) before it encrypts them, where that makes them smaller. Workers of all our packages read that;
    /// how long the arguments are then says something about what is in them.
    #[must_use]
    pub fn with_compression(mut self) -> Self {
        self.compress = true;
        self
    }

    /// An enqueue request, or a workflow or schedule with jobs in it, with all arguments encrypted. What is encrypted stays as it is,
    /// and so does what is no request: the server says best what is wrong with it.
    ///
    /// # Errors
    /// [`Error::Validation`] when there is no current key.
    pub fn encode(&self, text: &str) -> Result<Option<String>, Error> {
        let Ok(given) = members(text) else { return Ok(None) };
        let mut out = String::with_capacity(text.len() + 256);
        out.push('{');
        let job = find(&given, "type").and(find(&given, "args")).filter(|args| args.starts_with('['));
        let sealed = match job.filter(|_| !is_encoded(&given)) {
            Some(args) => Some(self.seal(args, &given)?),
            None => None,
        };
        let mut changed = sealed.is_some();
        // A group comes as steps and, the same again, as jobs.
        let mut before: Option<(&str, Option<String>)> = None;
        for (name, value) in &given {
            match (name.as_ref(), &sealed) {
                ("args", Some((args, _))) => push_member(&mut out, name, args),
                ("meta", Some(_)) => {}
                ("jobs" | "steps" | "callbacks" | "job_template", _) => {
                    let inside = match before.take() {
                        Some((same, inside)) if same == *value => inside,
                        _ => self.inside(value)?,
                    };
                    changed |= inside.is_some();
                    push_member(&mut out, name, inside.as_deref().unwrap_or(value));
                    before = Some((*value, inside));
                }
                _ => push_member(&mut out, name, value),
            }
        }
        if let Some((_, meta)) = &sealed {
            push_member(&mut out, "meta", meta);
        }
        out.push('}');
        Ok(changed.then_some(out))
    }

    /// The same for a list of requests, or for requests by name.
    fn inside(&self, text: &str) -> Result<Option<String>, Error> {
        if text.starts_with('[') {
            let Ok(list) = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(text) else { return Ok(None) };
            let parts = list.into_iter().map(|raw| Ok(self.encode(raw.get())?.map_or(Cow::Borrowed(raw.get()), Cow::Owned)));
            return Ok(Some(format!("[{}]", parts.collect::<Result<Vec<_>, Error>>()?.join(","))));
        }
        if let Some(whole) = self.encode(text)? {
            return Ok(Some(whole));
        }
        let Ok(given) = members(text) else { return Ok(None) };
        let mut out = String::from("{");
        for (name, value) in given {
            push_member(&mut out, &name, self.encode(value)?.as_deref().unwrap_or(value));
        }
        out.push('}');
        Ok(Some(out))
    }

    /// Bytes under the current key.
    pub(super) fn encoded(&self, plain: &[u8]) -> Result<Encoded, Error> {
        let none = || Error::validation("encryption", "x_codec_no_current_key: there is no current key to encrypt new jobs with");
        let key_id = self.keys.current_key_id().ok_or_else(none)?;
        let key = self.keys.key(&key_id).ok_or_else(none)?;
        let small = self.compress.then(|| compressed(plain)).flatten();
        let failed = || Error::validation("encryption", "the system gave no random numbers");
        let sealed = blob::seal(&key, small.as_deref().unwrap_or(plain)).ok_or_else(failed)?;
        Ok(Encoded { key_id, sealed, compressed: small.is_some() })
    }

    /// The `args` and the `meta` of an encrypted job.
    fn seal(&self, args: &str, job: &Members<'_>) -> Result<(String, String), Error> {
        let encoded = self.encoded(args.as_bytes())?;
        // In the order in which they were applied; in the element the last comes first.
        let (names, name) = if encoded.compressed {
            (format!(r#"["{ZSTD}","{AES}"]"#), format!("{AES}+zstd"))
        } else {
            (format!(r#"["{AES}"]"#), AES.to_owned())
        };
        let mut meta = String::from("{");
        for (name, value) in plain_meta(job) {
            push_member(&mut meta, &name, value);
        }
        push_member(&mut meta, MARKER, "true");
        push_member(&mut meta, ENCODINGS, &names);
        push_text(&mut meta, KEY_ID, &encoded.key_id);
        if self.form == Form::DetachedNonce {
            push_text(&mut meta, NONCE, &STANDARD.encode(encoded.sealed.nonce));
        }
        if let Some(key) = unique_key(job) {
            push_text(&mut meta, UNIQUE_KEY, &key);
        }
        meta.push('}');
        let data = STANDARD.encode(encoded.blob(self.form));
        let args = match self.form {
            Form::Spec => format!(r#"[{{"{MARKER}":true,"encoding":"{name}","data":"{data}"}}]"#),
            Form::InlineNonce | Form::DetachedNonce => format!(r#"["{data}"]"#),
        };
        Ok((args, meta))
    }

    /// A job as its handler sees it; `None` when it is not encrypted.
    ///
    /// # Errors
    /// Why its arguments cannot be read.
    pub fn decode(&self, text: &str) -> Result<Option<String>, CodecError> {
        let Ok(given) = members(text) else { return Ok(None) };
        let Some(found) = Found::of(&given) else { return Ok(None) };
        let args = self.open(&found)?;
        let mut out = String::with_capacity(text.len());
        out.push('{');
        for (name, value) in &given {
            match name.as_ref() {
                "args" => push_member(&mut out, name, &args),
                "meta" => push_member(&mut out, name, &clear_meta(&given)),
                _ => push_member(&mut out, name, value),
            }
        }
        out.push('}');
        Ok(Some(out))
    }

    fn open(&self, found: &Found) -> Result<String, CodecError> {
        let malformed = |why: &str| CodecError::Malformed(why.to_owned());
        let data = found.data.as_ref().ok_or_else(|| malformed("there is no data"))?;
        let data = STANDARD.decode(data).map_err(|_| malformed("their data is no base64"))?;
        let plain = self.undo(&found.encodings, found.key_id.as_deref(), found.nonce.as_deref(), data)?;
        let plain = String::from_utf8(plain).unwrap_or_default();
        match serde_json::from_str::<Vec<&serde_json::value::RawValue>>(&plain) {
            Ok(_) => Ok(plain),
            Err(_) => Err(malformed("what was encoded is no JSON array")),
        }
    }

    /// Undoes what was done to bytes, the last first.
    pub(super) fn undo(
        &self,
        encodings: &[String],
        key_id: Option<&str>,
        nonce: Option<&str>,
        mut data: Vec<u8>,
    ) -> Result<Vec<u8>, CodecError> {
        for name in encodings.iter().rev() {
            data = if matches!(name.as_str(), AES | AES_TOO) {
                self.decrypted(key_id, nonce, &data)?
            } else {
                let unknown = || CodecError::Malformed(format!("their encoding '{name}' is not known here"));
                let how = Compression::of(name).ok_or_else(unknown)?;
                how.undo(&data).ok_or_else(|| CodecError::Malformed(format!("it is no valid {name}, or too large")))?
            };
        }
        Ok(data)
    }

    fn decrypted(&self, key_id: Option<&str>, nonce: Option<&str>, data: &[u8]) -> Result<Vec<u8>, CodecError> {
        let malformed = |why: &str| CodecError::Malformed(why.to_owned());
        let id = key_id.ok_or_else(|| malformed("no key is named"))?;
        let key = self.keys.key(id).ok_or_else(|| CodecError::UnknownKey(id.to_owned()))?;
        let plain = match nonce {
            Some(nonce) => {
                let nonce = STANDARD.decode(nonce).map_err(|_| malformed("their nonce is no base64"))?;
                blob::open(&key, &nonce, data)
            }
            None => blob::open_any(&key, data),
        };
        plain.ok_or_else(|| CodecError::AuthFailed(id.to_owned()))
    }
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Codec").field("current_key_id", &self.keys.current_key_id()).field("form", &self.form).finish()
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::unique::{Subject, UniquePolicy};
    use serde_json::Value;

    use super::super::keys::{Key, Keys};
    use super::*;

    fn codec() -> Codec {
        let key = Key::new(std::array::from_fn(|at| u8::try_from(at).unwrap()));
        Codec::new(Keys::new("k-07", key).unwrap())
    }

    fn meta(text: &str) -> Value {
        serde_json::from_str::<Value>(text).unwrap()["meta"].clone()
    }

    #[test]
    fn a_request_comes_back_as_it_was() {
        let text = r#"{"type":"card.charge","args":["4111",{"n":1.50}],"meta":{"tenant_id":"a"},"options":{"queue":"q"}}"#;
        for form in [Form::Spec, Form::InlineNonce, Form::DetachedNonce] {
            let codec = codec().with_form(form);
            let encoded = codec.encode(text).unwrap().unwrap();
            assert!(!encoded.contains("4111") && encoded.contains(r#""queue":"q""#), "{encoded}");
            let said = meta(&encoded);
            assert_eq!(
                (&said[ENCODINGS][0], &said[KEY_ID], &said[MARKER]),
                (&Value::from(AES), &Value::from("k-07"), &Value::from(true))
            );
            let clear = codec.decode(&encoded).unwrap().unwrap();
            assert!(clear.contains(r#""args":["4111",{"n":1.50}]"#), "{clear}");
            assert_eq!(meta(&clear), serde_json::json!({"tenant_id": "a"}));
            assert_eq!(codec.encode(&encoded).unwrap(), None, "never twice");
        }
        assert_eq!(codec().decode(text).unwrap(), None);
    }

    #[test]
    fn jobs_inside_of_workflows_batches_and_schedules() {
        let job = r#"{"type":"a","args":["secret"]}"#;
        for text in [
            format!(r#"{{"jobs":[{job},{job}]}}"#),
            format!(r#"{{"type":"chain","steps":[{job},{{"type":"group","jobs":[{job}]}}]}}"#),
            format!(r#"{{"type":"batch","jobs":[{job}],"callbacks":{{"on_complete":{job}}}}}"#),
            format!(r#"{{"name":"n","cron":"* * * * *","type":"a","args":["secret"],"job_template":{job}}}"#),
        ] {
            let encoded = codec().encode(&text).unwrap().unwrap();
            let (plain, blobs) = (text.matches("secret").count(), encoded.matches(r#""data""#).count());
            assert!(!encoded.contains("secret") && plain == blobs, "{encoded}");
        }
    }

    #[test]
    fn the_forms_of_published_sdks_are_read() {
        let inline = "AAECAwQFBgcICQoLHCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg=";
        let bare = "HCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg=";
        let spec = "AQABAgMEBQYHCAkKCxwgo2igl4J+9SD6+92MVg7su6UYi1kxXgJWmNhXs4U8rLYbcuouHWUukazI";
        let nonce = "AAECAwQFBgcICQoL";
        for (args, meta) in [
            (
                format!(r#"{{"ojs_encoded":true,"encoding":"{AES}","data":"{spec}"}}"#),
                r#"{"ojs.codec.key_id":"k-07"}"#.to_owned(),
            ),
            (format!(r#"{{"ojs_encoded":true,"data":"{spec}","metadata":{{"encryption_key_id":"k-07"}}}}"#), "{}".to_owned()),
            (format!(r#""{inline}""#), format!(r#"{{"{ENCODINGS}":["{AES}"],"{KEY_ID}":"k-07"}}"#)),
            (format!(r#""{bare}""#), format!(r#"{{"{ENCODINGS}":["{AES}"],"{KEY_ID}":"k-07","{NONCE}":"{nonce}"}}"#)),
            (format!(r#""{inline}""#), r#"{"ojs_encoded":true,"ojs.codec.key_id":"k-07"}"#.to_owned()),
            (format!(r#""{inline}""#), r#"{"_encrypted":true,"_encryption_key_id":"k-07"}"#.to_owned()),
            (format!(r#""{bare}""#), format!(r#"{{"ojs_encoded":"true","ojs_key_id":"k-07","ojs_nonce":"{nonce}"}}"#)),
            (
                format!(r#""{bare}""#),
                format!(r#"{{"ojs.encryption.encrypted":true,"ojs.encryption.key_id":"k-07","ojs.encryption.nonce":"{nonce}"}}"#),
            ),
        ] {
            let text = format!(r#"{{"id":"x","args":[{args}],"meta":{meta}}}"#);
            let clear = codec().decode(&text).unwrap().unwrap();
            assert_eq!(clear, r#"{"id":"x","args":["user@example.com",{"n":1}],"meta":{}}"#, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let codec = codec();
        let encoded = codec.encode(r#"{"type":"a","args":[1]}"#).unwrap().unwrap();
        let cases = [
            (encoded.replace("k-07", "k-99"), "x_codec_unknown_key", true),
            (encoded.replace(r#""data":"A"#, r#""data":"B"#), "x_codec_auth_failed", false),
            (encoded.replace(r#"["binary/encrypted"]"#, r#"["zstd/plain","binary/encrypted"]"#), "x_codec_malformed", false),
            (encoded.replace(r#"["binary/encrypted"]"#, r#"["lzma/plain","binary/encrypted"]"#), "x_codec_malformed", false),
            (encoded.replace(r#""data":""#, r#""data":"!"#), "x_codec_malformed", false),
            (encoded.replace(KEY_ID, "other"), "x_codec_malformed", false),
        ];
        for (text, code, retryable) in cases {
            let failure = codec.decode(&text).unwrap_err().failure();
            assert_eq!((failure.code.as_str(), failure.retryable), (code, retryable), "{text}");
        }
        let other = Codec::new(Keys::new("k-07", Key::new([1; 32])).unwrap());
        assert_eq!(other.decode(&encoded), Err(CodecError::AuthFailed("k-07".to_owned())));
    }

    #[test]
    fn arguments_are_compressed_where_that_makes_them_smaller() {
        let long = format!(r#"{{"type":"a","args":["{}"],"meta":{{}}}}"#, "the same again ".repeat(100));
        for form in [Form::Spec, Form::InlineNonce, Form::DetachedNonce] {
            let codec = codec().with_form(form).with_compression();
            let encoded = codec.encode(&long).unwrap().unwrap();
            assert!(encoded.len() < long.len() / 2, "{form:?}: {}", encoded.len());
            assert_eq!(meta(&encoded)[ENCODINGS], serde_json::json!([ZSTD, AES]));
            assert_eq!(codec.decode(&encoded).unwrap().unwrap(), long, "{form:?}");
            // Without the list in `meta` the element says it, the last first.
            let bare = encoded.replace(ENCODINGS, "x");
            assert!(form != Form::Spec || codec.decode(&bare).unwrap().unwrap().contains("the same again"));
            let short = codec.encode(r#"{"type":"a","args":[1]}"#).unwrap().unwrap();
            assert_eq!(meta(&short)[ENCODINGS], serde_json::json!([AES]), "no gain");
        }
    }

    #[test]
    fn the_unique_key_is_that_of_the_plain_arguments() {
        let text = r#"{"type":"ei.a","args":["u1"],"options":{"unique":{"keys":["type","args"]}}}"#;
        let key = |text: &str| meta(&codec().encode(text).unwrap().unwrap())[UNIQUE_KEY].clone();
        let subject = Subject { job_type: "ei.a", queue: "default", args: r#"["u1"]"#, meta: "{}", version: None, given: None };
        let expected = UniquePolicy::parse(&serde_json::json!({"keys": ["type", "args"]}), &subject).unwrap().key.to_string();
        assert_eq!(key(text), Value::from(expected));
        assert_eq!(key(text), key(text));
        assert_ne!(key(text), key(&text.replace("u1", "u2")));
        assert_eq!(key(r#"{"type":"a","args":[]}"#), Value::Null);
    }
}
