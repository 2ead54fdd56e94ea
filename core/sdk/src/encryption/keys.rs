//! Keys by name.
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::error::Error;

/// Where keys are looked for that are configured by the environment.
pub(crate) const VARIABLE: &str = "OJS_ENCRYPTION_KEYS";

/// 256 bits. Wiped when it is dropped; never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Zeroizing<[u8; 32]>);

impl Key {
    /// A key of these bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Key {
    type Err = Error;

    /// 64 hexadecimal characters, or base64 of 32 bytes.
    fn from_str(text: &str) -> Result<Self, Error> {
        let hex = Some(text).filter(|text| text.len() == 64).and_then(ojs_model::hex::decode);
        let bytes = Zeroizing::new(hex.or_else(|| STANDARD.decode(text).ok()).unwrap_or_default());
        let bytes = <[u8; 32]>::try_from(bytes.as_slice());
        bytes
            .map(Self::new)
            .map_err(|_| Error::validation("encryption", "a key is 32 bytes: 64 hexadecimal characters, or base64"))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Gives keys out. [`Keys`] holds them; implement this to ask a key service, from a cache: it is called for every job.
pub trait KeyProvider: Send + Sync + 'static {
    /// The key of this name; `None` when it is not known (yet): jobs under it are tried again later.
    fn key(&self, id: &str) -> Option<Key>;

    /// The name of the key that new jobs are encrypted with; `None` refuses them.
    fn current_key_id(&self) -> Option<String>;
}

/// Keys by name, one of them for new jobs. Rotation: put a new one in front, keep the old ones until no job needs them.
///
/// As text `name:key,name:key`, the current one first; a key is 64 hexadecimal characters, or base64 of 32 bytes.
///
/// ```
/// use ojs::encryption::{Key, KeyProvider, Keys};
/// let keys = Keys::new("k-08", Key::new([8; 32]))?.with("k-07", Key::new([7; 32]))?;
/// assert_eq!(keys.current_key_id().as_deref(), Some("k-08"));
/// assert_eq!(format!("{keys:?}"), r#"Keys { current: "k-08", others: ["k-07"] }"#);
/// # Ok::<(), ojs::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    current: String,
    keys: HashMap<String, Key>,
}

impl Keys {
    /// One key, for new jobs.
    ///
    /// # Errors
    /// [`Error::Validation`] for a name that is not 1 to 256 characters.
    pub fn new(id: impl Into<String>, key: Key) -> Result<Self, Error> {
        let current = named(id.into())?;
        Ok(Self { keys: HashMap::from([(current.clone(), key)]), current })
    }

    /// One more, for jobs that were encrypted with it.
    ///
    /// # Errors
    /// As [`new`](Self::new), and for a name that is taken.
    pub fn with(mut self, id: impl Into<String>, key: Key) -> Result<Self, Error> {
        let id = named(id.into())?;
        if self.keys.contains_key(&id) {
            return Err(Error::validation("encryption", format!("there are two keys named '{id}'")));
        }
        self.keys.insert(id, key);
        Ok(self)
    }

    /// The names, the current one first.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.keys.keys().map(String::as_str).collect();
        ids.sort_unstable_by_key(|id| (*id != self.current, *id));
        ids
    }

    /// The keys in `OJS_ENCRYPTION_KEYS`; `None` when it is not set.
    ///
    /// # Errors
    /// [`Error::Validation`] for a text that is no list of keys.
    pub fn from_env() -> Result<Option<Self>, Error> {
        std::env::var(VARIABLE).ok().filter(|text| !text.is_empty()).map(|text| text.parse()).transpose()
    }
}

fn named(id: String) -> Result<String, Error> {
    if (1..=256).contains(&id.chars().count()) {
        return Ok(id);
    }
    Err(Error::validation("encryption", "the name of a key is 1 to 256 characters"))
}

impl FromStr for Keys {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut keys: Option<Self> = None;
        for part in text.split(',').map(str::trim) {
            let (id, key) =
                part.rsplit_once(':').ok_or_else(|| Error::validation("encryption", "keys are written name:key,name:key"))?;
            keys = Some(match keys {
                None => Self::new(id, key.parse()?)?,
                Some(keys) => keys.with(id, key.parse()?)?,
            });
        }
        keys.ok_or_else(|| Error::validation("encryption", "there must be a key"))
    }
}

impl KeyProvider for Keys {
    fn key(&self, id: &str) -> Option<Key> {
        self.keys.get(id).cloned()
    }

    fn current_key_id(&self) -> Option<String> {
        Some(self.current.clone())
    }
}

impl<P: KeyProvider + ?Sized> KeyProvider for Arc<P> {
    fn key(&self, id: &str) -> Option<Key> {
        (**self).key(id)
    }

    fn current_key_id(&self) -> Option<String> {
        (**self).current_key_id()
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("current", &self.current).field("others", &self.ids().split_off(1)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_as_hex_and_as_base64() {
        let bytes: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap());
        let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        let both: Keys = format!("new:{},old:a:{hex}", STANDARD.encode(bytes)).parse().unwrap();
        assert_eq!(both.key("new"), Some(Key::new(bytes)));
        assert_eq!(both.key("old:a"), Some(Key::new(bytes)));
        assert_eq!(both.key("other"), None);
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_repeated() {
        for text in
            ["", "k", "k:", "k:secret", ":00", "k:0001", "k-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f,"]
        {
            let error = text.parse::<Keys>().unwrap_err().to_string();
            assert!(error.starts_with("encryption: ") && !error.contains("secret"), "{text}: {error}");
        }
        let twice = Keys::new("a", Key::new([1; 32])).unwrap().with("a", Key::new([2; 32]));
        assert!(twice.unwrap_err().to_string().contains("two keys"));
        assert_eq!(format!("{:?}", Key::new([9; 32])), "Key(…)");
    }
}
