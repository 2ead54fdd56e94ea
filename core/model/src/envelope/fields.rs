//! The members of one JSON object, sorted into the attributes with a meaning and the rest.
//!
//! Values stay the text they came as. Known names land in an array by number, so reading an attribute costs no search
//! and a usual job costs no allocation here; a document with a million names stays linear.
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An attribute with a meaning (protocol section 1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Field {
    Specversion,
    Id,
    Type,
    Args,
    Meta,
    Options,
    Schema,
    Queue,
    Priority,
    Timeout,
    TimeoutMs,
    ScheduledAt,
    DelayUntil,
    ExpiresAt,
    Retry,
    RetryPolicy,
    Unique,
    Tags,
    VisibilityTimeout,
    VisibilityTimeoutMs,
    Pending,
    RateLimit,
    ResultTtl,
    TotalTimeout,
    EnqueueTtl,
    GracePeriod,
    HeartbeatTimeout,
    Train,
    Version,
    FairnessKey,
    Metadata,
}

impl Field {
    const COUNT: usize = Self::Metadata as usize + 1;

    /// The name on the wire.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Specversion => "specversion",
            Self::Id => "id",
            Self::Type => "type",
            Self::Args => "args",
            Self::Meta => "meta",
            Self::Options => "options",
            Self::Schema => "schema",
            Self::Queue => "queue",
            Self::Priority => "priority",
            Self::Timeout => "timeout",
            Self::TimeoutMs => "timeout_ms",
            Self::ScheduledAt => "scheduled_at",
            Self::DelayUntil => "delay_until",
            Self::ExpiresAt => "expires_at",
            Self::Retry => "retry",
            Self::RetryPolicy => "retry_policy",
            Self::Unique => "unique",
            Self::Tags => "tags",
            Self::VisibilityTimeout => "visibility_timeout",
            Self::VisibilityTimeoutMs => "visibility_timeout_ms",
            Self::Pending => "pending",
            Self::RateLimit => "rate_limit",
            Self::ResultTtl => "result_ttl",
            Self::TotalTimeout => "total_timeout",
            Self::EnqueueTtl => "enqueue_ttl",
            Self::GracePeriod => "grace_period",
            Self::HeartbeatTimeout => "heartbeat_timeout",
            Self::Train => "train",
            Self::Version => "version",
            Self::FairnessKey => "fairness_key",
            Self::Metadata => "metadata",
        }
    }
}

/// Where an object stands: it decides which names have a meaning there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The request itself.
    Top,
    /// Its `options` member.
    Options,
    /// An object without defined names: `meta`.
    Free,
}

/// What a name means at its place.
enum Meaning {
    Known(Field),
    /// Managed by the system: the client's value is ignored (protocol section 1.2).
    System,
    Unknown,
}

impl Place {
    fn meaning(self, name: &str) -> Meaning {
        match self {
            Self::Free => Meaning::Unknown,
            Self::Options => match name {
                "metadata" => Meaning::Known(Field::Metadata),
                "meta" => Meaning::Known(Field::Meta),
                _ => option(name).map_or(Meaning::Unknown, Meaning::Known),
            },
            Self::Top => match name {
                "type" => Meaning::Known(Field::Type),
                "args" => Meaning::Known(Field::Args),
                "options" => Meaning::Known(Field::Options),
                "id" => Meaning::Known(Field::Id),
                "meta" => Meaning::Known(Field::Meta),
                "specversion" => Meaning::Known(Field::Specversion),
                "schema" => Meaning::Known(Field::Schema),
                _ if is_system(name) => Meaning::System,
                _ => option(name).map_or(Meaning::Unknown, Meaning::Known),
            },
        }
    }
}

/// Attributes that may stand at the top level or inside `options`.
fn option(name: &str) -> Option<Field> {
    Some(match name {
        "queue" => Field::Queue,
        "priority" => Field::Priority,
        "timeout" => Field::Timeout,
        "timeout_ms" => Field::TimeoutMs,
        "scheduled_at" => Field::ScheduledAt,
        "delay_until" => Field::DelayUntil,
        "expires_at" => Field::ExpiresAt,
        "retry" => Field::Retry,
        "retry_policy" => Field::RetryPolicy,
        "unique" => Field::Unique,
        "tags" => Field::Tags,
        "visibility_timeout" => Field::VisibilityTimeout,
        "visibility_timeout_ms" => Field::VisibilityTimeoutMs,
        "pending" => Field::Pending,
        "rate_limit" => Field::RateLimit,
        "result_ttl" => Field::ResultTtl,
        "total_timeout" => Field::TotalTimeout,
        "enqueue_ttl" => Field::EnqueueTtl,
        "grace_period" => Field::GracePeriod,
        "heartbeat_timeout" => Field::HeartbeatTimeout,
        "train" => Field::Train,
        "version" => Field::Version,
        "fairness_key" => Field::FairnessKey,
        _ => return None,
    })
}

fn is_system(name: &str) -> bool {
    matches!(
        name,
        "state"
            | "attempt"
            | "max_attempts"
            | "created_at"
            | "enqueued_at"
            | "started_at"
            | "completed_at"
            | "cancelled_at"
            | "discarded_at"
            | "activated_at"
            | "error"
            | "errors"
            | "result"
            | "worker_id"
            | "retry_delay_ms"
            | "next_attempt_at"
            | "next_retry_at"
            | "parent_results"
            | "workflow_id"
            | "workflow_step"
            | "workflow_type"
            | "result_stored_at"
            | "result_expires_at"
            | "result_size_bytes"
            | "previous_state"
            | "re_enqueued_at"
            | "lease_token"
            | "enqueued_by"
    )
}

/// Names and values in the order they came.
pub(super) type Pairs<'a> = Vec<(Cow<'a, str>, &'a str)>;

/// The members of one object. The last of equal names wins.
#[derive(Debug)]
pub(super) struct Members<'a> {
    known: [Option<&'a str>; Field::COUNT],
    /// What has no meaning here, without doubles.
    pub(super) rest: Pairs<'a>,
}

impl<'a> Members<'a> {
    /// No members.
    pub(super) const fn none() -> Self {
        Self { known: [None; Field::COUNT], rest: Vec::new() }
    }

    pub(super) fn parse(text: &'a str, place: Place) -> Result<Self, serde_json::Error> {
        let mut parser = serde_json::Deserializer::from_str(text);
        let mut members = place.deserialize(&mut parser)?;
        parser.end()?;
        last_wins(&mut members.rest);
        Ok(members)
    }

    /// The value as text; null counts as absent.
    pub(super) fn get(&self, field: Field) -> Option<&'a str> {
        self.known.get(field as usize).copied().flatten().filter(|text| *text != "null")
    }
}

impl<'de> DeserializeSeed<'de> for Place {
    type Value = Members<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Members<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Place {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::none();
        while let Some(Name(name)) = map.next_key()? {
            let raw: &'de RawValue = map.next_value()?;
            match self.meaning(&name) {
                Meaning::Known(field) => {
                    if let Some(slot) = members.known.get_mut(field as usize) {
                        *slot = Some(raw.get());
                    }
                }
                Meaning::System => {}
                Meaning::Unknown => members.rest.push((name, raw.get())),
            }
        }
        Ok(members)
    }
}

/// Drops doubles: the first place, the last value.
pub(super) fn last_wins(pairs: &mut Pairs<'_>) {
    if pairs.len() < 2 {
        return;
    }
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::with_capacity(pairs.len());
    let mut kept: Pairs<'_> = Vec::with_capacity(pairs.len());
    for (name, value) in pairs.drain(..) {
        match places.get(&name).and_then(|at| kept.get_mut(*at)) {
            Some((_, earlier)) => *earlier = value,
            None => {
                places.insert(name.clone(), kept.len());
                kept.push((name, value));
            }
        }
    }
    *pairs = kept;
}

/// A member name, borrowed where it holds no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_found_at_their_place_only() {
        let top = Members::parse(r#"{"type":"a","metadata":1,"state":"x","queue":"q"}"#, Place::Top).unwrap();
        assert_eq!((top.get(Field::Type), top.get(Field::Queue)), (Some("\"a\""), Some("\"q\"")));
        assert_eq!(top.rest, [(Cow::Borrowed("metadata"), "1")]);
        let options = Members::parse(r#"{"type":"a","metadata":{},"state":"x"}"#, Place::Options).unwrap();
        assert_eq!(options.get(Field::Metadata), Some("{}"));
        assert_eq!(options.rest.len(), 2, "type and state mean nothing inside options");
    }

    #[test]
    fn the_last_of_equal_names_wins_escaped_or_not() {
        let members = Members::parse(r#"{"a":1,"b":2,"\u0061":3,"queue":"x","qu\u0065ue":"y"}"#, Place::Top).unwrap();
        assert_eq!(members.rest, [(Cow::Borrowed("a"), "3"), (Cow::Borrowed("b"), "2")]);
        assert_eq!(members.get(Field::Queue), Some("\"y\""));
    }

    #[test]
    fn a_hundred_thousand_names_stay_linear() {
        let mut text = String::from("{\"first\":0");
        for n in 0..100_000 {
            text.push_str(&format!(",\"name{}\":{n}", n % 50_000));
        }
        text.push('}');
        let members = Members::parse(&text, Place::Free).unwrap();
        assert_eq!(members.rest.len(), 50_001);
        assert_eq!(members.rest[1], (Cow::Borrowed("name0"), "50000"));
    }

    #[test]
    fn every_field_is_reached_by_its_name() {
        for (place, field) in [
            (Place::Top, Field::Specversion),
            (Place::Top, Field::Id),
            (Place::Top, Field::Type),
            (Place::Top, Field::Args),
            (Place::Top, Field::Meta),
            (Place::Top, Field::Options),
            (Place::Top, Field::Schema),
            (Place::Options, Field::Metadata),
            (Place::Top, Field::Queue),
            (Place::Options, Field::Queue),
            (Place::Top, Field::HeartbeatTimeout),
            (Place::Options, Field::HeartbeatTimeout),
            (Place::Options, Field::RetryPolicy),
            (Place::Options, Field::Pending),
            (Place::Top, Field::Train),
            (Place::Options, Field::Train),
            (Place::Top, Field::FairnessKey),
            (Place::Options, Field::FairnessKey),
        ] {
            let text = format!("{{\"{}\":7}}", field.name());
            assert_eq!(Members::parse(&text, place).unwrap().get(field), Some("7"), "{field:?} at {place:?}");
        }
    }
}
