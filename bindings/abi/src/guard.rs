//! One guard for every export: a panic becomes an error and never crosses into the host.
use std::panic::{AssertUnwindSafe, catch_unwind};

use ojs_model::lazy::Lazy;

use crate::error::AbiError;

/// Fault injection for the tests of every language: the exports, separated by commas, whose bodies panic; `*` stands for all of them.
static PANIC_IN: Lazy<Option<String>> = Lazy::new(|| std::env::var("OJS_FAULT_PANIC").ok().filter(|names| !names.is_empty()));

#[expect(clippy::panic, reason = "asked for by OJS_FAULT_PANIC")]
fn inject(export: &str) {
    if let Some(names) = PANIC_IN.as_deref()
        && names.split(',').any(|name| name == "*" || name == export)
    {
        panic!("injected by OJS_FAULT_PANIC");
    }
}

/// Runs `body`; a panic in it comes back as [`AbiError::Panicked`] with the name of the export.
///
/// # Errors
/// What `body` returns, or the panic.
pub fn guard<T>(export: &'static str, body: impl FnOnce() -> Result<T, AbiError>) -> Result<T, AbiError> {
    // What a panic leaves behind is only reached through our own locks, which are taken over whole (see `sync`).
    let body = || {
        inject(export);
        body()
    };
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(AbiError::Panicked { export, message: message.unwrap_or_else(|| "no message".to_owned()) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_both_names() {
        let error = guard::<()>("ojs_test", || panic!("boom {}", 1)).unwrap_err();
        assert_eq!(error.to_string(), "internal error in ojs_test: boom 1. This is a bug in OJS; please report it");
        assert_eq!(guard("ojs_test", || Ok(1)).unwrap(), 1);
    }
}
