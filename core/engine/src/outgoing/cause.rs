//! What is wrapped in the error of a client.
use std::error::Error;
use std::io;

/// The error of a type among the causes of another. An I/O error does not count what it wraps as its cause, so both are
/// looked at.
pub(super) fn cause_of<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = wrapped.map_or_else(|| error.source(), |wrapped| Some(wrapped));
    }
    None
}
