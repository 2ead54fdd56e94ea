//! Receiving webhooks.
use ojs_abi::webhook;

use crate::error::{enter, ojs_error};
use crate::slice::ojs_slice;

/// Checks a request of a webhook: that one of the secrets signed its body within the tolerance. `body` is the body byte
/// for byte as it arrived; `request` is a JSON object with `headers` (an object of texts, names in any case), `secrets`
/// (a list of texts), and if wanted `tolerance` (seconds, 300 without it) and `now` (seconds since the epoch). NULL
/// when the request is to be trusted; else the error says why, with the class OJS_CLASS_UNTRUSTED_WEBHOOK and the word
/// `reason` in its details.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_webhook_verify(body: ojs_slice, request: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_webhook_verify", || webhook::verify(body.bytes("body")?, request.text("request")?))
}
