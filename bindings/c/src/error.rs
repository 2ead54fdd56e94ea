//! Errors.
use ojs::transport::Response;
use ojs_abi::error::{AbiError, ErrorClass};
use ojs_abi::guard::guard;

use crate::slice::{ojs_slice, put, put_new};

// gen:rust/ojs_class.j2 (make gen; do not edit)
/// What kind of error it is; the same in every language.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ojs_class {
    /// No error.
    None = 0,
    /// The server answered, and the answer is an error.
    Api = 1,
    /// The job exists already: same id, or a unique policy said so.
    Duplicate = 2,
    /// There is no such job, queue, workflow or schedule (any more).
    NotFound = 3,
    /// The queue is paused and refuses jobs.
    QueuePaused = 4,
    /// The request came too fast, or the queue is full.
    RateLimited = 5,
    /// The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it.
    InvalidStateTransition = 6,
    /// The job, its metadata, its result or the batch is larger than the server takes.
    PayloadTooLarge = 7,
    /// The server found the request wrong; field in the details names the place.
    InvalidRequest = 8,
    /// The token is missing, wrong, or not allowed to do this.
    Authentication = 9,
    /// The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done.
    UnsupportedExtension = 11,
    /// There was no OJS answer.
    Connection = 20,
    /// There was no answer in time; the server may have acted.
    Timeout = 21,
    /// The request, an argument or a setting was found wrong before anything was sent.
    Validation = 30,
    /// An enqueue middleware did not call next: the job was dropped on purpose.
    NotEnqueued = 31,
    /// A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it.
    UntrustedWebhook = 34,
    /// The client, worker or server was closed.
    Closed = 40,
    /// A worker or embedded engine of the parent was used in a forked child. Make it after the fork.
    Forked = 41,
    /// A bug in OJS. Please report it.
    Internal = 42,
}
// gen:end

/// The names are those of the core, and so are the numbers, which all languages share.
macro_rules! same_as_the_core {
    ($($name:ident),+) => {
        impl From<ErrorClass> for ojs_class {
            fn from(class: ErrorClass) -> Self {
                match class {
                    $(ErrorClass::$name => Self::$name,)+
                }
            }
        }

        const _: () = {
            $(assert!(ojs_class::$name as i32 == ErrorClass::$name as i32);)+
        };
    };
}

// gen:rust/same_classes.j2 (make gen; do not edit)
same_as_the_core!(
    Api,
    Duplicate,
    NotFound,
    QueuePaused,
    RateLimited,
    InvalidStateTransition,
    PayloadTooLarge,
    InvalidRequest,
    Authentication,
    UnsupportedExtension,
    Connection,
    Timeout,
    Validation,
    NotEnqueued,
    UntrustedWebhook,
    Closed,
    Forked,
    Internal
);
// gen:end

/// What went wrong. Free with ojs_error_free().
pub struct ojs_error {
    class: ojs_class,
    status: i32,
    retryable: bool,
    code: String,
    message: String,
    json: String,
}

impl From<&AbiError> for ojs_error {
    fn from(error: &AbiError) -> Self {
        let object = error.to_object();
        let text = |name: &str| object.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
        Self {
            class: error.class().into(),
            status: object.get("status").and_then(serde_json::Value::as_i64).and_then(|n| n.try_into().ok()).unwrap_or(0),
            retryable: object.get("retryable").and_then(serde_json::Value::as_bool).unwrap_or(false),
            code: text("code"),
            message: text("message"),
            json: object.to_string(),
        }
    }
}

/// Runs the body of an exported function: errors and panics become what it returns.
pub(crate) fn enter(export: &'static str, body: impl FnOnce() -> Result<(), AbiError>) -> Option<Box<ojs_error>> {
    ojs_abi::runtime::at_thread_start(crate::signals::block_sigpipe);
    guard(export, body).err().map(|error| Box::new(ojs_error::from(&error)))
}

/// The same for a function that makes an object: C gets it at `out`, or NULL there when there is an error.
pub(crate) fn enter_new<T>(
    export: &'static str,
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, AbiError>,
) -> Option<Box<ojs_error>> {
    put(out, std::ptr::null_mut());
    enter(export, || {
        put_new(out, make()?);
        Ok(())
    })
}

/// As [`enter`], for a body that may also end in an error of the program's own.
pub(crate) fn enter_own(export: &'static str, body: impl FnOnce() -> Result<(), Box<ojs_error>>) -> Option<Box<ojs_error>> {
    let mut own = None;
    let error = enter(export, || {
        own = body().err();
        Ok(())
    });
    own.or(error)
}

impl From<AbiError> for Box<ojs_error> {
    fn from(error: AbiError) -> Self {
        Self::new(ojs_error::from(&error))
    }
}

/// The object that a function was called on.
pub(crate) fn given<'a, T>(object: Option<&'a T>, name: &str) -> Result<&'a T, AbiError> {
    object.ok_or_else(|| AbiError::invalid(format!("{name} is NULL")))
}

/// The error that an answer with a status other than 2xx stands for, for transports of a program's own. With a status
/// of 0 `body` is the error of one item of an answer about many, `{"code", "message", …}`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_error_of(status: u16, body: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_error_of", || {
        let error = match status {
            0 => ojs::Error::from_item(body.text("body")?),
            _ => ojs::Error::from_response(&Response::new(status, body.owned("body")?.unwrap_or_default())),
        };
        Err(AbiError::Sdk(error))
    })
}

/// An error of the program's own, for layers: its class is OJS_CLASS_VALIDATION. An empty `code` is `middleware`, and
/// an empty `message` one that says so.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_error_new(code: ojs_slice, message: ojs_slice) -> Option<Box<ojs_error>> {
    enter_own("ojs_error_new", || {
        let code = code.string("code")?.unwrap_or_else(|| "middleware".to_owned());
        let message = message.string("message")?.unwrap_or_else(|| "a layer has refused the job".to_owned());
        let json = serde_json::json!({"code": code, "message": message, "retryable": false, "status": 0, "numeric": null});
        let class = ojs_class::Validation;
        Err(Box::new(ojs_error { class, status: 0, retryable: false, code, message, json: json.to_string() }))
    })
}

/// Its kind; OJS_CLASS_NONE of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_error_class(error: Option<&ojs_error>) -> ojs_class {
    error.map_or(ojs_class::None, |error| error.class)
}

/// The HTTP status; 0 when there was no answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_error_status(error: Option<&ojs_error>) -> i32 {
    error.map_or(0, |error| error.status)
}

/// Whether the same call may succeed later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_error_retryable(error: Option<&ojs_error>) -> bool {
    error.is_some_and(|error| error.retryable)
}

/// The machine-readable code, as the server wrote it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_error_code(error: Option<&ojs_error>) -> ojs_slice {
    error.map_or(ojs_slice::EMPTY, |error| ojs_slice::of(error.code.as_bytes()))
}

/// What to tell people.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_error_message(error: Option<&ojs_error>) -> ojs_slice {
    error.map_or(ojs_slice::EMPTY, |error| ojs_slice::of(error.message.as_bytes()))
}

/// All there is: a JSON object with code, message, retryable, status, numeric, and perhaps details, hint, request_id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_error_json(error: Option<&ojs_error>) -> ojs_slice {
    error.map_or(ojs_slice::EMPTY, |error| ojs_slice::of(error.json.as_bytes()))
}

/// Frees an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_error_free(error: Option<Box<ojs_error>>) {
    drop(error);
}
