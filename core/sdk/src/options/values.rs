//! Values of options: shorthands, lengths of time as text, and values that no program can mean. What else may be wrong the server says.
use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use ojs_model::duration::{self, IsoDuration};
use ojs_model::json::string;
use serde_json::{Map, Value, json};

use super::names::{self, Kind};
use super::train;
use crate::When;
use crate::error::Error;
use crate::policy::{complete_retry, complete_unique};

/// An option under its name on the wire with its value as JSON text.
type Written<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The option as it is sent; `None` where its value says "none".
pub(super) fn written<'a>(name: &'a str, value: &'a str) -> Result<Option<Written<'a>>, Error> {
    let as_given = Some((Cow::Borrowed(name), Cow::Borrowed(value)));
    match name {
        "timeout" | "timeout_ms" => Ok(milliseconds("timeout", "timeout_ms", value)?.or(as_given)),
        "visibility_timeout" | "visibility_timeout_ms" => {
            Ok(milliseconds("visibility_timeout", "visibility_timeout_ms", value)?.or(as_given))
        }
        "result_ttl" | "total_timeout" | "enqueue_ttl" | "grace_period" | "heartbeat_timeout" => {
            Ok(seconds(name, value)?.or(as_given))
        }
        "delay" => delay(value).map(Some),
        "delay_until" | "scheduled_at" | "expires_at" => not_before_now(name, value).map(|()| as_given),
        "retry" | "retry_policy" => retry(value).map(|policy| Some((Cow::Borrowed(name), policy))),
        "unique" => Ok(unique(value)?.map(|policy| (Cow::Borrowed(name), policy))),
        "rate_limit" => {
            object(&names::RATE_LIMIT, "rate_limit", value)?;
            Ok(as_given)
        }
        "train" => train::checked(name, value),
        _ => Ok(as_given),
    }
}

/// A length as text.
fn length(field: &'static str, text: &str) -> Result<Duration, Error> {
    IsoDuration::parse(text).map(|length| length.value()).map_err(|_| {
        let got: String = text.chars().take(40).collect();
        Error::validation(field, format!("must be a length of time such as '5m', '1h30m' or 'PT5M', got {}", json!(got)))
    })
}

/// A length in milliseconds; `None` when it is a number already. Zero is refused: it would mean "no limit", which is said by leaving it out.
fn milliseconds<'a>(field: &'static str, wire: &'static str, value: &str) -> Result<Option<Written<'a>>, Error> {
    let too_short = || Error::validation(field, "must be longer than zero; leave it out for the server's default");
    if let Some(text) = string(value) {
        let millis = length(field, &text)?.as_millis();
        if millis == 0 {
            return Err(too_short());
        }
        return Ok(Some((Cow::Borrowed(wire), Cow::Owned(millis.to_string()))));
    }
    // What is no length at all the server refuses, and says why.
    if value.parse::<f64>() == Ok(0.0) { Err(too_short()) } else { Ok(None) }
}

/// A length in whole seconds, never shorter than asked for; `None` when it is no text.
fn seconds<'a>(name: &'a str, value: &str) -> Result<Option<Written<'a>>, Error> {
    let Some(text) = string(value) else { return Ok(None) };
    let length = IsoDuration::parse(&text).map_err(|_| {
        Error::validation(name.to_owned(), "must be a number of seconds, or a length of time such as '5m', '1h30m' or 'PT5M'")
    })?;
    let seconds = length.value().as_millis().div_ceil(1000);
    Ok(Some((Cow::Borrowed(name), Cow::Owned(seconds.to_string()))))
}

/// `delay`, as the time at which it ends by this machine's clock: the one spelling that every server reads.
fn delay<'a>(value: &str) -> Result<Written<'a>, Error> {
    let wrong = || Error::validation("delay", "must be a length of time such as '5m', '1h30m' or 'PT5M', and not negative");
    let text = string(value).ok_or_else(wrong)?;
    let delay = IsoDuration::parse(&text).map_err(|_| wrong())?;
    let at = SystemTime::now().checked_add(delay.value()).ok_or_else(wrong)?;
    Ok((Cow::Borrowed("delay_until"), Cow::Owned(json!(When::from(at).text()).to_string())))
}

/// A relative time must lie ahead. Absolute ones may be past: such a job is due, or expired, at once.
fn not_before_now(name: &str, value: &str) -> Result<(), Error> {
    let is_back = string(value).is_some_and(|text| text.starts_with("+-") || text.starts_with('-') || text.starts_with("+P-"));
    if is_back { Err(Error::validation(name.to_owned(), "must not be negative")) } else { Ok(()) }
}

fn retry(value: &str) -> Result<Cow<'_, str>, Error> {
    if !value.starts_with('{') {
        // What is neither a number of attempts nor a policy the server refuses, and says why.
        let runs = value.parse::<u32>().ok();
        return Ok(runs.map_or(Cow::Borrowed(value), |runs| Cow::Owned(json!({"max_attempts": runs}).to_string())));
    }
    let mut policy = object(&names::RETRY, "retry", value)?;
    iso(&mut policy, "initial_interval");
    iso(&mut policy, "max_interval");
    complete_retry(&mut policy);
    Ok(Cow::Owned(Value::Object(policy).to_string()))
}

fn unique(value: &str) -> Result<Option<Cow<'_, str>>, Error> {
    let mut policy = match value {
        "true" => {
            let mut policy = Map::new();
            policy.insert("keys".to_owned(), json!(["type", "args"]));
            policy
        }
        "false" => return Ok(None),
        value if value.starts_with('{') => object(&names::UNIQUE, "unique", value)?,
        // As above.
        _ => return Ok(Some(Cow::Borrowed(value))),
    };
    iso(&mut policy, "period");
    complete_unique(&mut policy);
    Ok(Some(Cow::Owned(Value::Object(policy).to_string())))
}

/// The object with the names of its members checked.
fn object(kind: &Kind, field: &'static str, value: &str) -> Result<Map<String, Value>, Error> {
    let object: Map<String, Value> =
        serde_json::from_str(value).map_err(|_| Error::validation(field, "must be a JSON object"))?;
    object.keys().try_for_each(|name| kind.check(field, name))?;
    Ok(object)
}

/// Short lengths in the spelling of the wire. What is none the server refuses.
fn iso(policy: &mut Map<String, Value>, name: &str) {
    if let Some(value) = policy.get_mut(name)
        && let Some(text) = value.as_str().filter(|text| !text.starts_with('P'))
        && let Ok(length) = IsoDuration::parse(text)
    {
        *value = json!(duration::format(length.value()));
    }
}
