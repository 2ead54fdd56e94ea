//! Job identifiers: UUID version 7, lowercase only (protocol section 1.1; conformance L0-ENV-010, -011).
mod generator;

use std::fmt;
use std::str::FromStr;

use sha2::Digest;
use uuid::{Uuid, Variant, Version};

/// The identifier of a job: a UUIDv7. It sorts by creation time and is stable across redeliveries.
///
/// ```
/// use ojs_model::JobId;
/// let id: JobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f".parse()?;
/// assert_eq!(id.to_string(), "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
/// assert!("019461A8-1A2B-7C3D-8E4F-5A6B7C8D9E0F".parse::<JobId>().is_err());
/// # Ok::<(), ojs_model::id::InvalidJobId>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(Uuid);

/// The text is not a lowercase UUIDv7.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a lowercase UUIDv7 (for example 019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f)")]
pub struct InvalidJobId;

impl JobId {
    /// A new identifier from the system clock, larger than any made before in this process.
    #[must_use]
    pub fn now_v7() -> Self {
        Self(generator::next())
    }

    /// The identifier that a text stands for: the same text at the same time always gives the same one. For jobs that come without
    /// one and must be recognised when they come again.
    #[must_use]
    pub fn derived(unix_millis: i64, text: &[u8]) -> Self {
        let digest: [u8; 32] = sha2::Sha256::digest(text).into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(digest.first_chunk::<16>().unwrap_or(&[0; 16]));
        let time = u64::try_from(unix_millis).unwrap_or(0) & 0xffff_ffff_ffff;
        let rest = u128::from_be_bytes(bytes) & 0x0fff_3fff_ffff_ffff_ffff;
        Self(Uuid::from_u128((u128::from(time) << 80) | (0x7 << 76) | (0b10 << 62) | (rest & !(0x7 << 76) & !(0b11 << 62))))
    }

    /// The 16 bytes in network order: what stores keep.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// Writes the 36 characters into `buffer`: no allocation, no formatter.
    #[must_use]
    pub fn encode<'a>(&self, buffer: &'a mut [u8; 36]) -> &'a str {
        self.0.as_hyphenated().encode_lower(buffer)
    }

    /// Reads back what [`as_bytes`](Self::as_bytes) gave. No version check: the value was ours.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl FromStr for JobId {
    type Err = InvalidJobId;

    fn from_str(text: &str) -> Result<Self, InvalidJobId> {
        // `Uuid` also reads braces, URNs, no hyphens and capitals: the wire allows one spelling.
        if text.len() != 36 || text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(InvalidJobId);
        }
        let uuid = Uuid::try_parse(text).map_err(|_| InvalidJobId)?;
        let valid = uuid.get_version() == Some(Version::SortRand) && uuid.get_variant() == Variant::RFC4122;
        if valid { Ok(Self(uuid)) } else { Err(InvalidJobId) }
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.encode(&mut [0; 36]))
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for JobId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.encode(&mut [0; 36]))
    }
}

impl<'de> serde::Deserialize<'de> for JobId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
