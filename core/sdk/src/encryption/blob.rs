//! Bytes under a key: AES-256-GCM with a random nonce, in the layouts that are in use.
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use super::keys::Key;

const TAG_LEN: usize = 16;
/// The first byte of the specification's layout: version, nonce, ciphertext, tag.
const VERSION: u8 = 1;

/// Ciphertext, with its tag at the end.
pub(super) struct Sealed {
    pub nonce: [u8; NONCE_LEN],
    pub text: Vec<u8>,
}

impl Sealed {
    /// `0x01 ‖ nonce ‖ ciphertext ‖ tag`.
    pub fn versioned(&self) -> Vec<u8> {
        [&[VERSION], &self.nonce[..], &self.text].concat()
    }

    /// `nonce ‖ ciphertext ‖ tag`.
    pub fn inline(&self) -> Vec<u8> {
        [&self.nonce[..], &self.text].concat()
    }
}

/// Encrypts under a nonce from the system's generator, which a fork does not repeat. `None` when the system has no randomness.
pub(super) fn seal(key: &Key, plain: &[u8]) -> Option<Sealed> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    seal_with(key, nonce, plain)
}

fn seal_with(key: &Key, nonce: [u8; NONCE_LEN], plain: &[u8]) -> Option<Sealed> {
    let mut text = plain.to_vec();
    cipher(key)?.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut text).ok()?;
    Some(Sealed { nonce, text })
}

/// Decrypts `ciphertext ‖ tag`.
pub(super) fn open(key: &Key, nonce: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let mut text = text.to_vec();
    let plain = cipher(key)?.open_in_place(Nonce::try_assume_unique_for_key(nonce).ok()?, Aad::empty(), &mut text).ok()?.len();
    text.truncate(plain);
    Some(text)
}

/// Decrypts a layout that holds its nonce, with or without a version: the tag says which it was.
pub(super) fn open_any(key: &Key, blob: &[u8]) -> Option<Vec<u8>> {
    let inline = |blob: &[u8]| {
        let (nonce, text) = blob.split_at_checked(NONCE_LEN)?;
        open(key, nonce, text)
    };
    let versioned = blob.strip_prefix(&[VERSION]).filter(|rest| rest.len() >= NONCE_LEN + TAG_LEN);
    versioned.and_then(inline).or_else(|| inline(blob))
}

fn cipher(key: &Key) -> Option<LessSafeKey> {
    Some(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.bytes()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    fn key() -> Key {
        Key::new(std::array::from_fn(|at| u8::try_from(at).unwrap()))
    }

    #[test]
    fn the_layouts_of_the_reference() {
        let nonce = std::array::from_fn(|at| u8::try_from(at).unwrap());
        let sealed = seal_with(&key(), nonce, br#"["user@example.com",{"n":1}]"#).unwrap();
        let versioned = "AQABAgMEBQYHCAkKCxwgo2igl4J+9SD6+92MVg7su6UYi1kxXgJWmNhXs4U8rLYbcuouHWUukazI";
        let inline = "AAECAwQFBgcICQoLHCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg=";
        let bare = "HCCjaKCXgn71IPr73YxWDuy7pRiLWTFeAlaY2FezhTysthty6i4dZS6RrMg=";
        assert_eq!(STANDARD.encode(sealed.versioned()), versioned);
        assert_eq!(STANDARD.encode(sealed.inline()), inline);
        assert_eq!(STANDARD.encode(&sealed.text), bare);
        for blob in [versioned, inline] {
            let plain = open_any(&key(), &STANDARD.decode(blob).unwrap()).unwrap();
            assert_eq!(plain, br#"["user@example.com",{"n":1}]"#);
        }
    }

    #[test]
    fn a_nonce_that_begins_like_a_version_is_no_version() {
        let mut nonce = [7; NONCE_LEN];
        nonce[0] = VERSION;
        let sealed = seal_with(&key(), nonce, b"[]").unwrap();
        assert_eq!(open_any(&key(), &sealed.inline()).unwrap(), b"[]");
    }

    #[test]
    fn what_was_touched_does_not_open() {
        let sealed = seal(&key(), b"[1]").unwrap();
        for at in 0..sealed.versioned().len() {
            let mut blob = sealed.versioned();
            blob[at] ^= 1;
            assert!(open_any(&key(), &blob).is_none(), "byte {at}");
        }
        for short in 0..NONCE_LEN + TAG_LEN + 1 {
            assert!(open_any(&key(), &sealed.versioned()[..short]).is_none(), "{short} bytes");
        }
        assert!(open_any(&Key::new([9; 32]), &sealed.versioned()).is_none());
        assert_ne!(seal(&key(), b"[1]").unwrap().nonce, sealed.nonce);
    }
}
