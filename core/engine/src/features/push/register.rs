//! What a client may ask of an endpoint, checked before it is stored.
use ojs_model::{ErrorCode, JobId, OjsError, Timestamp};
use serde_json::{Map, Value, json};

use super::records::EndpointRow;
use super::routing::{MAX_WEIGHT, Routing};
use super::sqs::QueueAddress;
use crate::http::page::stamp;
use crate::outgoing::guard::Guard;
use crate::outgoing::input::{list, prefixed_id, truth, web_address};
use crate::outgoing::{Outgoing, Secret};

/// Longest name of a provider, bytes.
const MAX_PROVIDER: usize = 64;
/// Most jobs at a time, where the client does not say.
const CONCURRENCY: i64 = 10;
/// Milliseconds for an answer, where the client does not say.
const TIMEOUT_MS: i64 = 30_000;
/// The same for a queue: jobs that wait in it, and the time for waiting and running. It is the lease of jobs that a
/// worker does not limit.
const QUEUE_NUMBERS: (i64, i64) = (1_000, 1_800_000);
/// Bounds of `max_concurrency`.
const CONCURRENCIES: (i64, i64) = (1, 10_000);
/// Bounds of `timeout_ms`: the longest is what a function may run on Amazon Lambda.
const TIMEOUTS_MS: (i64, i64) = (100, 900_000);
/// The same for a queue: the longest is what a message may be invisible in SQS.
const QUEUE_TIMEOUTS_MS: (i64, i64) = (1_000, 43_200_000);

type Members = Map<String, Value>;
type Checked<T> = Result<T, OjsError>;

/// What a server can send to.
#[derive(Clone)]
pub(crate) struct Reach {
    guard: Guard,
    has_region: bool,
}

impl Reach {
    /// That of a client.
    pub(crate) fn of(outgoing: &Outgoing) -> Self {
        Self { guard: outgoing.guard().clone(), has_region: outgoing.aws_region().is_some() }
    }
}

/// Takes over what a request says. Members that it does not have stay as they are; `null` sets optional ones back.
///
/// # Errors
/// 400 that names the member.
pub(crate) fn apply(row: &mut EndpointRow, body: &Members, reach: &Reach) -> Checked<()> {
    if let Some(address) = body.get("endpoint") {
        let was_queue = QueueAddress::is_stored(&row.endpoint);
        row.endpoint = target(address, reach)?;
        let is_queue = QueueAddress::is_stored(&row.endpoint);
        if is_queue != was_queue {
            // The defaults of URLs and of queues differ.
            (row.max_concurrency, row.timeout_ms) = usual(is_queue);
        }
    }
    if let Some(types) = body.get("job_types") {
        row.job_types = patterns("job_types", types)?;
        if row.job_types.is_empty() {
            return Err(OjsError::invalid_field("job_types", r#"job_types must name at least one job type, or ["*"]."#));
        }
    }
    match body.get("queues") {
        None => {}
        Some(Value::Null) => row.queues = "*".to_owned(),
        Some(queues) => {
            let queues = patterns("queues", queues)?;
            row.queues = if queues.is_empty() { "*".to_owned() } else { queues };
        }
    }
    if let Some(routing) = body.get("routing") {
        row.routing = Routing::parse(routing)?.text();
    }
    if let Some(provider) = body.get("provider") {
        row.provider = checked_provider(provider)?;
    }
    if let Some(active) = body.get("active") {
        row.active = truth("active", active)?;
    }
    match body.get("config") {
        None => Ok(()),
        Some(Value::Object(config)) => apply_config(row, config),
        Some(_) => Err(OjsError::invalid_field("config", "config must be an object.")),
    }
}

/// The address of an endpoint as it is stored.
fn target(address: &Value, reach: &Reach) -> Checked<String> {
    let Some(queue) = address.as_str().and_then(QueueAddress::read) else {
        return web_address("endpoint", address, &reach.guard);
    };
    let hint = "Write it as sqs:https://sqs.REGION.amazonaws.com/ACCOUNT/NAME, or as its ARN.";
    let wrong = |message: String| OjsError::invalid_field("endpoint", message);
    let queue = queue.map_err(|why| wrong(format!("endpoint names no queue of SQS: {why}.")).with_hint(hint))?;
    if !Outgoing::HAS_AWS {
        let message = "This build of the server sends nothing to Amazon SQS: it was built without the feature sqs.";
        return Err(OjsError::new(ErrorCode::Unsupported, message));
    }
    web_address("endpoint", &queue.url.as_str().into(), &reach.guard)?;
    if queue.region.is_none() && !reach.has_region {
        let message = "endpoint names a queue without its region, and the server has no region.";
        return Err(wrong(message.to_owned()).with_hint("Set AWS_REGION for the server, or --aws-region."));
    }
    Ok(queue.endpoint())
}

/// `max_concurrency` and `timeout_ms`, where the client does not say.
fn usual(is_queue: bool) -> (i64, i64) {
    if is_queue { QUEUE_NUMBERS } else { (CONCURRENCY, TIMEOUT_MS) }
}

fn apply_config(row: &mut EndpointRow, config: &Members) -> Checked<()> {
    for name in config.keys() {
        let known = ["max_concurrency", "timeout_ms", "signing_secret", "weight", "retry_429"];
        if !known.contains(&name.as_str()) {
            let field = format!("config.{name}");
            let message = format!("{field} is no setting: {} are.", known.join(", "));
            return Err(OjsError::invalid_field(&field, message));
        }
    }
    let is_queue = QueueAddress::is_stored(&row.endpoint);
    let (concurrency, timeout) = usual(is_queue);
    let timeouts = if is_queue { QUEUE_TIMEOUTS_MS } else { TIMEOUTS_MS };
    set(&mut row.max_concurrency, config, "max_concurrency", concurrency, CONCURRENCIES)?;
    set(&mut row.timeout_ms, config, "timeout_ms", timeout, timeouts)?;
    set(&mut row.weight, config, "weight", 1, (0, MAX_WEIGHT))?;
    match config.get("retry_429") {
        None => {}
        Some(Value::Null) => row.retry_429 = false,
        Some(retry) => row.retry_429 = truth("config.retry_429", retry)?,
    }
    Ok(())
}

/// Sets a whole number; `null` sets it back.
fn set(value: &mut i64, config: &Members, name: &str, usual: i64, (least, most): (i64, i64)) -> Checked<()> {
    match config.get(name) {
        None => {}
        Some(Value::Null) => *value = usual,
        Some(given) => {
            let number = given.as_i64().filter(|number| (least..=most).contains(number));
            let field = format!("config.{name}");
            let wrong = || OjsError::invalid_field(&field, format!("{field} must be a whole number from {least} to {most}."));
            *value = number.ok_or_else(wrong)?;
        }
    }
    Ok(())
}

/// A list of patterns as it is stored.
fn patterns(field: &str, value: &Value) -> Checked<String> {
    list(field, value, |entry| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'*');
        let rule = "a name or a pattern: letters, digits, '.', '_', '-', and '*' for any characters";
        if !entry.is_empty() && entry.bytes().all(fits) { Ok(()) } else { Err(rule) }
    })
}

fn checked_provider(value: &Value) -> Checked<String> {
    let fits = |text: &&str| text.len() <= MAX_PROVIDER && text.bytes().all(|byte| byte.is_ascii_graphic());
    match value {
        Value::Null => Ok(String::new()),
        value => value.as_str().filter(fits).map(str::to_owned).ok_or_else(|| {
            let message = format!("provider must be a word of at most {MAX_PROVIDER} characters, such as aws or gcp.");
            OjsError::invalid_field("provider", message)
        }),
    }
}

/// The secret that a client chose in `config`, or a new one.
///
/// # Errors
/// As [`Secret::given_or_new`].
pub(crate) fn secret(body: &Members) -> Checked<Secret> {
    let config = body.get("config").and_then(Value::as_object);
    Secret::given_or_new("config.signing_secret", config.and_then(|config| config.get("signing_secret")))
}

/// An endpoint without any settings.
pub(crate) fn blank(secret: Secret, now: Timestamp) -> EndpointRow {
    EndpointRow {
        id: JobId::now_v7(),
        endpoint: String::new(),
        job_types: String::new(),
        queues: "*".to_owned(),
        routing: String::new(),
        provider: String::new(),
        active: true,
        max_concurrency: CONCURRENCY,
        timeout_ms: TIMEOUT_MS,
        weight: 1,
        retry_429: false,
        secret,
        previous_secret: Secret::default(),
        previous_until: 0,
        created_at: now.as_millis(),
        updated_at: now.as_millis(),
        failures: 0,
        opened_at: 0,
        probe_until: 0,
        resume_at: 0,
        disabled_at: 0,
        failed_at: 0,
        status: 0,
        reason: String::new(),
    }
}

/// The members of an endpoint on the wire, in the form of "Serverless Integration", section 2.1. Its secret is shown
/// only in the answer that creates or replaces it.
pub(crate) fn described(row: &EndpointRow, now: i64, with_secret: bool) -> Value {
    let mut config = json!({
        "max_concurrency": row.max_concurrency, "timeout_ms": row.timeout_ms, "weight": row.weight, "retry_429": row.retry_429,
    });
    if let (true, Some(config)) = (with_secret, config.as_object_mut()) {
        config.insert("signing_secret".to_owned(), row.secret.expose().into());
    }
    let failure = (row.failed_at > 0).then(
        || json!({"at": stamp(row.failed_at), "reason": row.reason, "status_code": (row.status > 0).then_some(row.status)}),
    );
    let routing: Value = serde_json::from_str(&row.routing).unwrap_or_else(|_| json!({"rules": []}));
    json!({
        "id": wire_id(row.id), "endpoint": row.endpoint, "provider": (!row.provider.is_empty()).then_some(&row.provider),
        "job_types": EndpointRow::entries(&row.job_types).collect::<Vec<_>>(),
        "queues": EndpointRow::entries(&row.queues).collect::<Vec<_>>(),
        "config": config, "routing": routing, "active": row.active, "status": row.standing(now),
        "consecutive_failures": row.failures, "last_failure": failure, "worker_id": row.worker_id(),
        "previous_secret_expires_at": (row.previous_until > now).then(|| stamp(row.previous_until)),
        "created_at": stamp(row.created_at), "updated_at": stamp(row.updated_at),
    })
}

/// How ids of endpoints begin on the wire.
const PREFIX: &str = "push_";

/// An id as clients see it.
pub(crate) fn wire_id(id: JobId) -> String {
    format!("{PREFIX}{id}")
}

/// Reads an id: one that has another form names nothing.
///
/// # Errors
/// 404.
pub(crate) fn endpoint_id(text: &str) -> Checked<JobId> {
    prefixed_id("push_endpoint", PREFIX, text)
}
