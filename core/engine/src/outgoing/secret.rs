//! Secrets that sign requests: chosen by a client or made here, and never printed.
use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ojs_model::redact::HIDDEN;
use ojs_model::webhook::SECRET_PREFIX;
use ojs_model::{ErrorCode, OjsError};
use rand::TryRngCore;
use serde_json::Value;

use crate::store::record::{Cell, Field, Kind};

/// Shortest and longest secret of a client, bytes.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 8..=255;
/// Random bytes of a generated secret.
const RANDOM_BYTES: usize = 32;
/// How long a secret stays valid after another one has taken its place.
const ROTATION: Duration = Duration::from_secs(86_400);

/// A secret that signs requests. It is never printed.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// The secret itself: to sign, or to show to the client that has just created it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Field for Secret {
    const KIND: Kind = Kind::Text;

    fn cell(&self) -> Cell<'_> {
        Cell::text(&self.0)
    }

    fn read(cell: Cell<'_>) -> Option<Self> {
        String::read(cell).map(Self)
    }
}

impl Secret {
    /// The secret in a member of a request, or a new one where the request has none.
    ///
    /// # Errors
    /// 400 for one that cannot be used; 500 when the system has no randomness.
    pub(crate) fn given_or_new(field: &str, given: Option<&Value>) -> Result<Self, OjsError> {
        let Some(value) = given.filter(|value| !value.is_null()) else { return Self::generated() };
        let fits = |text: &&str| SECRET_BYTES.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        let text = value.as_str().filter(fits).ok_or_else(|| {
            let (least, most) = SECRET_BYTES.into_inner();
            OjsError::invalid_field(field, format!("{field} must have {least} to {most} characters of ASCII without spaces."))
        })?;
        Ok(Self(text.to_owned()))
    }

    fn generated() -> Result<Self, OjsError> {
        let mut bytes = [0; RANDOM_BYTES];
        let failed = |error| OjsError::new(ErrorCode::InternalError, format!("The system gives no random numbers: {error}."));
        rand::rngs::OsRng.try_fill_bytes(&mut bytes).map_err(failed)?;
        Ok(Self(format!("{SECRET_PREFIX}{}", BASE64_STANDARD.encode(bytes))))
    }

    /// Puts a new secret in the place of the current one, which signs as well until [`ROTATION`] has passed.
    pub(crate) fn rotate(current: &mut Self, previous: &mut Self, previous_until: &mut i64, new: &Self, now: i64) {
        *previous = std::mem::replace(current, new.clone());
        *previous_until = now.saturating_add(i64::try_from(ROTATION.as_millis()).unwrap_or(i64::MAX));
    }

    /// The secrets that sign at a time, in milliseconds: the current one, and the one before it until its end.
    pub(crate) fn valid<'a>(current: &'a Self, previous: &'a Self, previous_until: i64, now: i64) -> Vec<&'a str> {
        let previous = (previous_until > now).then(|| previous.expose());
        [Some(current.expose()), previous].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_secret_is_long_and_never_the_same() {
        let new = || Secret::given_or_new("secret", None).unwrap();
        let (first, second) = (new(), new());
        assert_ne!(first, second);
        assert!(first.expose().starts_with("whsec_") && first.expose().len() > 48);
        assert_eq!(format!("{first:?}"), "***");
    }
}
