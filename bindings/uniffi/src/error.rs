//! What calls fail with.
use ojs::transport::Response;
use ojs_abi::error::AbiError;
use ojs_abi::guard::guard;
use ojs_abi::runtime;
use tokio_util::task::AbortOnDropHandle;

/// A call failed.
#[derive(Debug, thiserror::Error, uniffi::Error)]
pub enum CoreError {
    /// `number` is the class of exception by the table of `xtask/schema.toml`; `about` is a JSON object with `message`,
    /// `code`, `retryable`, `status`, `details`, `hint`, `request_id` and `numeric`.
    #[error("{about}")]
    Failed {
        /// The class of exception.
        number: i32,
        /// JSON.
        about: String,
    },
}

impl From<AbiError> for CoreError {
    fn from(error: AbiError) -> Self {
        Self::Failed { number: error.class() as i32, about: error.to_object().to_string() }
    }
}

/// Runs what does not wait; a panic in it is an error.
pub(crate) fn enter<T>(export: &'static str, body: impl FnOnce() -> Result<T, AbiError>) -> Result<T, CoreError> {
    Ok(guard(export, body)?)
}

/// Runs a call on the runtime of this process. When the host drops its future, because its task was cancelled, the call
/// is dropped.
pub(crate) async fn call<T: Send + 'static>(
    export: &'static str,
    future: impl Future<Output = Result<T, AbiError>> + Send + 'static,
) -> Result<T, CoreError> {
    let running = enter(export, || Ok(AbortOnDropHandle::new(runtime::handle()?.spawn(future))))?;
    let ended = running.await;
    Ok(ended.unwrap_or_else(|error| Err(AbiError::Panicked { export, message: error.to_string() }))?)
}

/// Fails with the error that an answer means which is not 2xx, for transports of a program's own. With a status of 0
/// `body` is the error of one item of an answer about many, `{"code", "message", …}`.
///
/// # Errors
/// Always.
#[uniffi::export]
pub fn refuse(status: u16, body: &[u8]) -> Result<(), CoreError> {
    enter("error_of", || {
        let text = String::from_utf8_lossy(body);
        Err(AbiError::Sdk(match status {
            0 => ojs::Error::from_item(&text),
            _ => ojs::Error::from_response(&Response::new(status, body.to_vec())),
        }))
    })
}
