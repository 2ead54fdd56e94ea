//! Reads the options of one job from both placements and writes the fixed part of its envelope.
use std::borrow::Cow;

use serde_json::Value;

use super::check::{check_lease_ms, check_name, check_queue, shorten, too_large};
use super::fields::{Field, Members, Place, last_wins};
use super::hints;
use super::tenant;
use super::{GivenRetry, NewJob};
use crate::error::{ErrorCode, OjsError};
use crate::json::{self, push_bare, push_member, push_string, push_text, push_time};
use crate::label::is_label;
use crate::limits::{MAX_INTEGER, MAX_META_BYTES, PRIORITY_RANGE};
use crate::rate_limit::RateLimit;
use crate::unique::{Subject, UniqueKey};
use crate::version::Version;
use crate::{JobId, RetryPolicy, Timestamp, UniquePolicy, train};

/// The member of `meta` that carries a key computed before encryption (interactions, section 4).
const GIVEN_KEY: &str = "ojs.unique_key";

/// The member of `meta` that names the request which brought the job.
const REQUEST_ID: &str = "request_id";

/// Longest `fairness_key` in bytes.
const MAX_KEY_BYTES: usize = 255;

/// A request, taken apart.
pub(super) struct Reader<'a> {
    pub(super) top: Members<'a>,
    pub(super) options: Members<'a>,
    pub(super) now: Timestamp,
    /// How the client named the request.
    pub(super) request_id: Option<&'a str>,
    /// The version that stands behind the job type.
    pub(super) suffix: Option<String>,
    /// The tenant of the caller.
    pub(super) tenant: Option<&'a str>,
}

/// A time, with the client's own spelling when it was absolute.
struct When<'a> {
    at: Timestamp,
    text: Option<Cow<'a, str>>,
}

/// The options that say when and for how long.
struct Times<'a> {
    scheduled: Option<When<'a>>,
    expires: Option<When<'a>>,
    timeout_ms: Option<u64>,
    visibility_timeout_ms: Option<u64>,
    total_timeout_ms: Option<u64>,
    grace_period_ms: Option<u64>,
    enqueue_ttl_ms: Option<u64>,
    heartbeat_timeout_ms: Option<u64>,
}

impl<'a> Reader<'a> {
    pub(super) fn read(self, id: JobId, job_type: String, args: &str, size: usize) -> Result<NewJob, OjsError> {
        let (meta, tenant) = tenant::settle(self.meta()?, self.tenant)?;
        let queue = self.queue()?;
        let priority = self.priority()?;
        let pending = self.pending()?;
        let times = self.times()?;
        let tags = self.tags()?;
        self.check_rest()?;
        let result_ttl = self.result_ttl()?;
        let version = self.version()?;
        let fairness_key = self.fairness_key()?;
        let (max_per_second, rate_limit) = self.rate(&queue, &meta)?;
        let (retry, given) = self.retry()?.unzip();
        let (train, meta) = train::read(self.option(Field::Train), meta)?;
        check_meta_size(&meta)?;
        let rank = version.as_ref().map(|version| version.rank);
        let subject = Subject { job_type: &job_type, queue: &queue, args, meta: &meta, version: rank, given: None };
        // What makes it the same job as another does not depend on the request that brought it.
        let unique = self.unique(subject, tenant.as_deref())?;
        let meta = if let Some(request) = self.request_id { with_request(meta, request) } else { meta };

        // What the client sent, plus the id, names and defaults that we add: written without growing.
        let mut body = String::with_capacity(size + 192);
        push_head(&mut body, id, &job_type, args, &meta);
        times.push(&mut body);
        push_member(&mut body, "tags", tags);
        let retry_given = retry.as_ref().zip(given).map(|(retry, value)| push_retry(&mut body, retry, value));
        self.push_verbatim(&mut body);
        Ok(NewJob {
            id,
            job_type,
            queue,
            priority,
            pending,
            expires_at: times.deadline(self.now),
            scheduled_at: times.scheduled.map(|w| w.at),
            unique,
            rate_limit,
            max_per_second,
            retry,
            retry_given,
            timeout_ms: times.timeout_ms,
            visibility_timeout_ms: times.visibility_timeout_ms,
            grace_period_ms: times.grace_period_ms,
            total_timeout_ms: times.total_timeout_ms,
            enqueue_ttl_ms: times.enqueue_ttl_ms,
            heartbeat_timeout_ms: times.heartbeat_timeout_ms,
            result_ttl,
            train: train.map(Box::new),
            version,
            fairness_key,
            trace_id: crate::trace::id_of(&meta),
            tenant,
            enqueued_by: None,
            own_only: false,
            warnings: hints::unknown(&self.options.rest),
            body,
        })
    }

    /// The raw value of an option: from `options`, else from the top level.
    fn option(&self, field: Field) -> Option<&'a str> {
        self.options.get(field).or_else(|| self.top.get(field))
    }

    /// The same for two names of one attribute: the placement decides before the name does.
    fn either(&self, first: Field, second: Field) -> Option<(Field, &'a str)> {
        [&self.options, &self.top]
            .into_iter()
            .find_map(|at| [first, second].into_iter().find_map(|f| at.get(f).map(|raw| (f, raw))))
    }

    fn meta(&self) -> Result<Cow<'a, str>, OjsError> {
        let top = self.top.get(Field::Meta).map(|raw| object("meta", raw)).transpose()?;
        let nested = self.options.get(Field::Metadata).or_else(|| self.options.get(Field::Meta));
        let nested = nested.map(|raw| object("options.metadata", raw)).transpose()?;
        let meta = match (top, nested) {
            (None, None) => Cow::Borrowed("{}"),
            (Some(raw), None) | (None, Some(raw)) => Cow::Borrowed(raw),
            (Some(top), Some(nested)) => Cow::Owned(merge(top, nested)?),
        };
        check_meta_size(&meta)?;
        Ok(meta)
    }

    fn queue(&self) -> Result<String, OjsError> {
        let Some(raw) = self.option(Field::Queue) else { return Ok("default".to_owned()) };
        let queue = json::string(raw).ok_or_else(|| OjsError::invalid_field("queue", "queue must be a string."))?;
        check_queue(&queue)?;
        Ok(queue.into_owned())
    }

    fn priority(&self) -> Result<i32, OjsError> {
        let Some(raw) = self.option(Field::Priority) else { return Ok(0) };
        let fault = || {
            OjsError::invalid_field("priority", format!("priority must be an integer from -100 to 100, got {}.", shorten(raw)))
        };
        let n: i64 = raw.parse().map_err(|_| fault())?;
        if PRIORITY_RANGE.contains(&n) { i32::try_from(n).map_err(|_| fault()) } else { Err(fault()) }
    }

    fn pending(&self) -> Result<bool, OjsError> {
        match self.option(Field::Pending) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(OjsError::invalid_field("pending", "pending must be true or false.")),
        }
    }

    fn times(&self) -> Result<Times<'a>, OjsError> {
        let timeout_ms = match self.integer(Field::TimeoutMs, 0)? {
            Some(ms) => Some(ms),
            None => self.seconds(Field::Timeout, 0)?,
        };
        let times = Times {
            scheduled: self
                .either(Field::ScheduledAt, Field::DelayUntil)
                .map(|(field, raw)| self.time(field, raw))
                .transpose()?,
            expires: self.option(Field::ExpiresAt).map(|raw| self.time(Field::ExpiresAt, raw)).transpose()?,
            // Zero asks for the default.
            timeout_ms: timeout_ms.filter(|ms| *ms > 0),
            visibility_timeout_ms: self.visibility()?,
            total_timeout_ms: self.seconds(Field::TotalTimeout, 1)?,
            grace_period_ms: self.seconds(Field::GracePeriod, 0)?,
            enqueue_ttl_ms: self.seconds(Field::EnqueueTtl, 1)?,
            heartbeat_timeout_ms: self.seconds(Field::HeartbeatTimeout, 1)?,
        };
        if let (Some(total), Some(one)) = (times.total_timeout_ms, times.timeout_ms)
            && total < one
        {
            return Err(OjsError::invalid_field("total_timeout", "total_timeout must not be shorter than timeout."));
        }
        Ok(times)
    }

    fn time(&self, field: Field, raw: &'a str) -> Result<When<'a>, OjsError> {
        let fault = || {
            let name = field.name();
            let message =
                format!("{name} must be an RFC 3339 time with a zone, or + and an ISO 8601 duration, got {}.", shorten(raw));
            OjsError::invalid_field(name, message)
        };
        let text = json::string(raw).ok_or_else(fault)?;
        let at = Timestamp::parse_from(&text, self.now).map_err(|_| fault())?;
        Ok(When { at, text: (!text.starts_with('+')).then_some(text) })
    }

    fn integer(&self, field: Field, min: u64) -> Result<Option<u64>, OjsError> {
        let Some(raw) = self.option(field) else { return Ok(None) };
        let n = raw.parse().ok().filter(|n| (min..=MAX_INTEGER).contains(n));
        let fault = || {
            let name = field.name();
            OjsError::invalid_field(name, format!("{name} must be an integer of at least {min}, got {}.", shorten(raw)))
        };
        n.map(Some).ok_or_else(fault)
    }

    /// A number of seconds, as milliseconds.
    fn seconds(&self, field: Field, min: u64) -> Result<Option<u64>, OjsError> {
        Ok(self.integer(field, min)?.map(|s| s.saturating_mul(1000).min(MAX_INTEGER)))
    }

    /// `visibility_timeout_ms`, or `visibility_timeout` in seconds or as an ISO 8601 string.
    fn visibility(&self) -> Result<Option<u64>, OjsError> {
        let (field, ms) = match self.integer(Field::VisibilityTimeoutMs, 1000)? {
            Some(ms) => (Field::VisibilityTimeoutMs, Some(ms)),
            None => (Field::VisibilityTimeout, self.visibility_period()?),
        };
        ms.map_or(Ok(()), |ms| check_lease_ms(field.name(), ms))?;
        Ok(ms)
    }

    fn visibility_period(&self) -> Result<Option<u64>, OjsError> {
        let raw = match self.option(Field::VisibilityTimeout) {
            Some(raw) if raw.starts_with('"') => raw,
            _ => return self.seconds(Field::VisibilityTimeout, 1),
        };
        let value = json::string(raw).and_then(|text| crate::duration::parse(&text).ok());
        let ms = value.and_then(|v| u64::try_from(v.as_millis()).ok()).filter(|ms| (1000..=MAX_INTEGER).contains(ms));
        ms.map(Some).ok_or_else(|| {
            let message =
                format!("visibility_timeout must be seconds or an ISO 8601 duration of at least PT1S, got {}.", shorten(raw));
            OjsError::invalid_field("visibility_timeout", message)
        })
    }

    fn tags(&self) -> Result<&'a str, OjsError> {
        let Some(raw) = self.option(Field::Tags) else { return Ok("[]") };
        let fault = || OjsError::invalid_field("tags", "tags must be an array of unique, non-empty strings.");
        let tags: Vec<Cow<'_, str>> = serde_json::from_str(raw).map_err(|_| fault())?;
        tags.iter().filter(|tag| !tag.is_empty()).try_for_each(|tag| check_name("tags", tag))?;
        let unique: std::collections::HashSet<&Cow<'_, str>> = tags.iter().collect();
        if tags.iter().any(|tag| tag.is_empty()) || unique.len() != tags.len() { Err(fault()) } else { Ok(raw) }
    }

    /// The policy, and what the client named of it.
    fn retry(&self) -> Result<Option<(RetryPolicy, Value)>, OjsError> {
        let Some((_, raw)) = self.either(Field::Retry, Field::RetryPolicy) else { return Ok(None) };
        let value: Value = serde_json::from_str(raw).map_err(|_| OjsError::invalid_retry("", "must be an object"))?;
        Ok(Some((RetryPolicy::parse(&value, &RetryPolicy::default())?, value)))
    }

    /// `rate_limit`: the policy of a key, or `max_per_second` without one, which is the queue's.
    fn rate(&self, queue: &str, meta: &str) -> Result<(Option<f64>, Option<Box<RateLimit>>), OjsError> {
        let Some(raw) = self.option(Field::RateLimit) else { return Ok((None, None)) };
        let limit: serde_json::Map<String, Value> = serde_json::from_str(object("rate_limit", raw)?)
            .map_err(|_| OjsError::invalid_field("rate_limit", "rate_limit must be an object."))?;
        match RateLimit::parse(&limit, queue, meta)? {
            Some(policy) => Ok((None, Some(Box::new(policy)))),
            None => Ok((limit.get("max_per_second").and_then(Value::as_f64), None)),
        }
    }

    fn unique(&self, mut subject: Subject<'_>, tenant: Option<&str>) -> Result<Option<UniquePolicy>, OjsError> {
        let Some(raw) = self.option(Field::Unique) else { return Ok(None) };
        let policy: Value =
            serde_json::from_str(raw).map_err(|_| OjsError::invalid_field("unique", "unique must be an object."))?;
        // Encrypted arguments never compare equal: their producer sends the key of the plain ones.
        if subject.meta.contains(GIVEN_KEY) {
            let meta: Value = serde_json::from_str(subject.meta).unwrap_or_default();
            subject.given = meta.get(GIVEN_KEY).and_then(Value::as_str).and_then(UniqueKey::parse);
        }
        let mut policy = UniquePolicy::parse(&policy, &subject)?;
        if let Some(tenant) = tenant {
            // Jobs of two tenants are never the same job.
            policy.key = policy.key.of_tenant(tenant);
        }
        Ok(Some(policy))
    }

    /// Attributes that only others interpret still have a type.
    fn check_rest(&self) -> Result<(), OjsError> {
        if self.top.get(Field::Schema).is_some_and(|raw| !raw.starts_with('"')) {
            return Err(OjsError::invalid_field("schema", "schema must be a string: the URI of a schema."));
        }
        Ok(())
    }

    fn result_ttl(&self) -> Result<Option<i64>, OjsError> {
        let Some(raw) = self.option(Field::ResultTtl) else { return Ok(None) };
        let seconds = raw.parse::<i64>().ok().filter(|s| *s >= -1 && s.unsigned_abs() <= MAX_INTEGER);
        seconds.map(Some).ok_or_else(|| {
            let message = "result_ttl must be an integer of seconds, 0 (do not keep) or -1 (keep for ever).";
            OjsError::invalid_field("result_ttl", message)
        })
    }

    /// `fairness_key`: the key of its line in a queue that is shared by keys.
    fn fairness_key(&self) -> Result<Option<Box<str>>, OjsError> {
        let Some(raw) = self.option(Field::FairnessKey) else { return Ok(None) };
        let key = json::string(raw).filter(|key| is_label(key, MAX_KEY_BYTES));
        let key = key.ok_or_else(|| {
            let message = format!(
                "fairness_key must be a string of letters, digits, '.', '_', ':' and '-' that starts with a letter or \
                 digit, at most {MAX_KEY_BYTES} bytes, got {}.",
                shorten(raw)
            );
            OjsError::invalid_field("fairness_key", message)
        })?;
        Ok(Some(key.into()))
    }

    /// The member `version`, else what stands behind the `@` of the job type.
    fn version(&self) -> Result<Option<Version>, OjsError> {
        match (self.option(Field::Version), &self.suffix) {
            (Some(raw), _) => Version::from_json(serde_json::from_str(raw).ok().as_ref()).map(Some),
            (None, Some(text)) => Version::parse(text).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Attributes that travel as they came; unknown options stay inside an `options` remainder.
    fn push_verbatim(&self, body: &mut String) {
        const PLAIN: &[Field] = &[
            Field::Unique,
            Field::RateLimit,
            Field::ResultTtl,
            Field::TotalTimeout,
            Field::EnqueueTtl,
            Field::GracePeriod,
            Field::HeartbeatTimeout,
            Field::FairnessKey,
        ];
        if let Some(raw) = self.top.get(Field::Schema) {
            push_member(body, "schema", raw);
        }
        match (self.option(Field::Version), &self.suffix) {
            (Some(raw), _) => push_member(body, "version", raw),
            (None, Some(text)) => push_text(body, "version", text),
            (None, None) => {}
        }
        for field in PLAIN {
            if let Some(raw) = self.option(*field) {
                push_member(body, field.name(), raw);
            }
        }
        for (name, raw) in &self.top.rest {
            push_member(body, name, raw);
        }
        if !self.options.rest.is_empty() {
            push_member(body, "options", "{");
            for (name, raw) in &self.options.rest {
                push_member(body, name, raw);
            }
            body.push('}');
        }
    }
}

impl Times<'_> {
    fn push(&self, body: &mut String) {
        if let Some(ms) = self.timeout_ms {
            push_bare(body, "timeout_ms", ms);
            push_bare(body, "timeout", ms.div_ceil(1000));
        }
        if let Some(ms) = self.visibility_timeout_ms {
            push_bare(body, "visibility_timeout_ms", ms);
        }
        for (name, time) in [("scheduled_at", &self.scheduled), ("expires_at", &self.expires)] {
            match time {
                Some(When { text: Some(text), .. }) => push_text(body, name, text),
                Some(When { at, text: None }) => push_time(body, name, *at),
                None => {}
            }
        }
    }

    /// When a job that has not been started is given up. The time to live counts from the moment it may start.
    fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let ready = self.scheduled.as_ref().map_or(now, |w| w.at.max(now));
        let ttl = self.enqueue_ttl_ms.map(|ms| ready.plus_millis(ms));
        let total = self.total_timeout_ms.map(|ms| now.plus_millis(ms));
        self.expires.as_ref().map(|w| w.at).into_iter().chain(ttl).chain(total).min()
    }
}

/// The members that every job has.
fn push_head(body: &mut String, id: JobId, job_type: &str, args: &str, meta: &str) {
    body.push_str("\"specversion\":\"");
    body.push_str(crate::SPEC_VERSION);
    body.push_str("\",\"id\":\"");
    body.push_str(id.encode(&mut [0; 36]));
    // Only letters, digits, `.`, `_` and `-`: nothing to escape.
    body.push_str("\",\"type\":\"");
    body.push_str(job_type);
    body.push_str("\",\"args\":");
    body.push_str(args);
    body.push_str(",\"meta\":");
    body.push_str(meta);
}

/// The full policy, and what is kept of the one that the client sent.
fn push_retry(body: &mut String, retry: &RetryPolicy, value: Value) -> Box<GivenRetry> {
    push_member(body, "retry", "");
    let start = body.len();
    retry.push_json(body);
    Box::new(GivenRetry { value, place: start..body.len() })
}

/// The text, when it is an object: its syntax has been checked, so the first byte decides.
fn object<'a>(name: &str, raw: &'a str) -> Result<&'a str, OjsError> {
    if raw.starts_with('{') { Ok(raw) } else { Err(OjsError::invalid_field(name, format!("{name} must be an object."))) }
}

/// Both objects in one; `top` wins on equal names.
fn merge(top: &str, nested: &str) -> Result<String, OjsError> {
    // Before they are taken apart: the sum bounds the work.
    check_meta_size(top)?;
    check_meta_size(nested)?;
    let members = |raw| Members::parse(raw, Place::Free).map_err(|_| OjsError::invalid_field("meta", "meta must be an object."));
    let mut pairs = members(nested)?.rest;
    pairs.append(&mut members(top)?.rest);
    last_wins(&mut pairs);
    let mut merged = String::with_capacity(top.len() + nested.len());
    merged.push('{');
    for (name, raw) in &pairs {
        if merged.len() > 1 {
            merged.push(',');
        }
        push_string(&mut merged, name);
        merged.push(':');
        merged.push_str(raw);
    }
    merged.push('}');
    Ok(merged)
}

/// `meta` with the name of the request, where there is room for it.
fn with_request<'m>(meta: Cow<'m, str>, request: &str) -> Cow<'m, str> {
    let Ok(known) = Members::parse(&meta, Place::Free) else { return meta };
    if known.rest.iter().any(|(name, _)| name == REQUEST_ID) {
        return meta;
    }
    let mut named = String::with_capacity(meta.len() + request.len() + 20);
    named.push('{');
    push_text(&mut named, REQUEST_ID, request);
    for (name, raw) in &known.rest {
        push_member(&mut named, name, raw);
    }
    named.push('}');
    if check_meta_size(&named).is_ok() { Cow::Owned(named) } else { meta }
}

/// The limit counts the compact form; measuring it is only worth it for a text that looks too long.
pub(super) fn check_meta_size(meta: &str) -> Result<(), OjsError> {
    if meta.len() <= MAX_META_BYTES {
        return Ok(());
    }
    let compact = json::compact_len(meta);
    if compact <= MAX_META_BYTES { Ok(()) } else { Err(too_large(ErrorCode::MetadataTooLarge, "meta", compact, MAX_META_BYTES)) }
}
