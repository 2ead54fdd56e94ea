//! The codec interface: bytes with metadata on what they are (ENC-001). A codec server speaks it, for people who may
//! look at arguments through a dashboard that has no keys.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::codec::{Codec, CodecError, Form};
use super::marks::{AES, AES_TOO};
use crate::error::Error;

const ENCODING: &str = "encoding";
const KEY_ID: &str = "encryption_key_id";
/// The same in the words of the published codec server.
const CODEC_TOO: &str = "ojs_codec";
const KEY_ID_TOO: &str = "ojs_key_id";
/// Not encoded at all.
const PLAIN: &str = "json/plain";

/// Bytes, and what was done to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// In base64.
    pub data: String,
    /// `encoding` and `encryption_key_id`, or `ojs_codec` and `ojs_key_id`; anything else is passed on.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

impl Codec {
    /// Encrypts a payload with the current key.
    ///
    /// ```
    /// use ojs::encryption::{Codec, Key, Keys, Payload};
    /// let codec = Codec::new(Keys::new("k-1", Key::new([1; 32]))?);
    /// let plain = Payload { data: "WzQxMTFd".to_owned(), metadata: Default::default() };
    /// let sealed = codec.encode_payload(&plain)?;
    /// assert_eq!((&sealed.metadata["encoding"], &sealed.metadata["encryption_key_id"]), (&"binary/encrypted".into(), &"k-1".into()));
    /// assert_eq!(codec.decode_payload(&sealed)?.data, plain.data);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Validation`] for data that is no base64, and when there is no current key.
    pub fn encode_payload(&self, payload: &Payload) -> Result<Payload, Error> {
        let plain = STANDARD.decode(&payload.data).map_err(|_| Error::validation("data", "must be base64"))?;
        let encoded = self.encoded(&plain)?;
        let encoding = if encoded.compressed { format!("{AES}+zstd") } else { AES.to_owned() };
        let mut metadata = rest(&payload.metadata);
        let words = [(ENCODING, encoding), (KEY_ID, encoded.key_id.clone()), (CODEC_TOO, AES_TOO.to_owned())];
        for (name, value) in words.into_iter().chain([(KEY_ID_TOO, encoded.key_id.clone())]) {
            metadata.insert(name.to_owned(), value.into());
        }
        // A payload has no place for a nonce of its own.
        let form = if self.form == Form::Spec { Form::Spec } else { Form::InlineNonce };
        Ok(Payload { data: STANDARD.encode(encoded.blob(form)), metadata })
    }

    /// The payload as it was. One that says of no encoding is passed on as it is.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn decode_payload(&self, payload: &Payload) -> Result<Payload, CodecError> {
        let word = |name: &str| payload.metadata.get(name).and_then(Value::as_str);
        let Some(encoding) = word(ENCODING).or_else(|| word(CODEC_TOO)).filter(|encoding| *encoding != PLAIN) else {
            return Ok(payload.clone());
        };
        let encodings: Vec<String> = encoding.rsplit('+').map(str::to_owned).collect();
        let data = STANDARD.decode(&payload.data).map_err(|_| CodecError::Malformed("their data is no base64".to_owned()))?;
        let plain = self.undo(&encodings, word(KEY_ID).or_else(|| word(KEY_ID_TOO)), None, data)?;
        let mut metadata = rest(&payload.metadata);
        metadata.insert(ENCODING.to_owned(), PLAIN.into());
        Ok(Payload { data: STANDARD.encode(plain), metadata })
    }
}

/// What does not speak of codecs.
fn rest(metadata: &Map<String, Value>) -> Map<String, Value> {
    let ours = [ENCODING, KEY_ID, CODEC_TOO, KEY_ID_TOO];
    metadata
        .iter()
        .filter(|(name, _)| !ours.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::keys::{Key, Keys};
    use super::*;

    fn codec() -> Codec {
        Codec::new(Keys::new("k-1", Key::new([1; 32])).unwrap())
    }

    fn payload(data: &[u8], metadata: Value) -> Payload {
        Payload { data: STANDARD.encode(data), metadata: serde_json::from_value(metadata).unwrap() }
    }

    #[test]
    fn both_vocabularies_and_layouts_are_read() {
        let plain = payload(br#"["4111"]"#, serde_json::json!({"own": 1}));
        for codec in [codec(), codec().with_form(Form::InlineNonce), codec().with_form(Form::DetachedNonce)] {
            let mut sealed = codec.encode_payload(&plain).unwrap();
            assert_eq!(sealed.metadata["own"], 1);
            let clear = codec.decode_payload(&sealed).unwrap();
            assert_eq!(
                (&clear.data, &clear.metadata),
                (&plain.data, &payload(b"", serde_json::json!({"own": 1, "encoding": "json/plain"})).metadata)
            );
            for name in [ENCODING, KEY_ID] {
                sealed.metadata.remove(name);
            }
            assert_eq!(codec.decode_payload(&sealed).unwrap().data, plain.data, "the published server's words");
        }
        assert_eq!(codec().decode_payload(&plain).unwrap(), plain, "nothing to undo");
        let long = payload(&b"again and ".repeat(99), serde_json::json!({}));
        let small = codec().with_compression().encode_payload(&long).unwrap();
        assert!(small.data.len() < long.data.len() / 2 && codec().decode_payload(&small).unwrap().data == long.data);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let sealed = codec().encode_payload(&payload(b"[]", serde_json::json!({}))).unwrap();
        let with = |name: &str, value: &str| {
            let mut changed = sealed.clone();
            changed.metadata.insert(name.to_owned(), value.into());
            codec().decode_payload(&changed).unwrap_err()
        };
        assert_eq!(with(KEY_ID, "k-2"), CodecError::UnknownKey("k-2".to_owned()));
        assert!(matches!(with(ENCODING, "rot13"), CodecError::Malformed(_)));
        let other = Codec::new(Keys::new("k-1", Key::new([2; 32])).unwrap());
        assert_eq!(other.decode_payload(&sealed), Err(CodecError::AuthFailed("k-1".to_owned())));
        let bad = Payload { data: "!".to_owned(), metadata: Map::new() };
        assert!(codec().encode_payload(&bad).unwrap_err().to_string().contains("base64"));
    }
}
