//! The way into the core: panics and errors come out as exceptions that the package knows.
use ojs_abi::error::AbiError;
use ojs_abi::guard::guard;

/// Runs `body`, which must be wait-free.
pub fn enter<T>(export: &'static str, body: impl FnOnce() -> Result<T, AbiError>) -> napi::Result<T> {
    guard(export, body).map_err(|error| exception(&error))
}

/// An exception whose message is [`describe`]; the package makes an object of its own of it.
pub fn exception(error: &AbiError) -> napi::Error {
    napi::Error::from_reason(describe(error))
}

/// The error as text for the package: the object of the wire with the number of its class as `class`.
pub fn describe(error: &AbiError) -> String {
    let mut object = error.to_object();
    if let Some(members) = object.as_object_mut() {
        members.insert("class".to_owned(), (error.class() as i32).into());
    }
    object.to_string()
}
