//! Transports written in the host's own language: requests wait until one of its threads pulls them.
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use ojs_abi::connection::Connection;
use ojs_abi::error::AbiError;
use ojs_abi::host_transport::HostTransport;

use crate::client::ojs_client;
use crate::error::{enter, enter_new, given, ojs_error};
use crate::slice::{ojs_buf, ojs_slice, put};

/// A mailbox: the library puts requests in, the program takes them out and replies. Free with ojs_transport_free().
pub struct ojs_transport {
    pub(crate) core: Arc<HostTransport>,
}

/// A request for the program to answer. Free its three buffers; `body` is NULL when it has none.
#[repr(C)]
#[derive(Debug)]
pub struct ojs_request {
    /// The reply goes by this; 0 when nothing came in time.
    pub ticket: u64,
    /// `GET`, `POST`, …
    pub method: *mut ojs_buf,
    /// Relative to `/ojs/v1`, or `/ojs/manifest`.
    pub path: *mut ojs_buf,
    /// JSON text.
    pub body: *mut ojs_buf,
}

const NO_REQUEST: ojs_request = ojs_request { ticket: 0, method: ptr::null_mut(), path: ptr::null_mut(), body: ptr::null_mut() };

/// An empty mailbox.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_transport_new(out: *mut *mut ojs_transport) -> Option<Box<ojs_error>> {
    enter_new("ojs_transport_new", out, || Ok(ojs_transport { core: HostTransport::new() }))
}

/// Waits for the next request, for at most so many milliseconds. The error is of the class CLOSED after ojs_transport_close().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_transport_pull(
    transport: Option<&ojs_transport>,
    wait_ms: u64,
    out: *mut ojs_request,
) -> Option<Box<ojs_error>> {
    put(out, NO_REQUEST);
    enter("ojs_transport_pull", || {
        if out.is_null() {
            return Err(AbiError::invalid("out is NULL: the request would be lost"));
        }
        if let Some(request) = given(transport, "transport")?.core.pull(Duration::from_millis(wait_ms))? {
            let body = request.body.map_or(ptr::null_mut(), ojs_buf::leaked);
            put(
                out,
                ojs_request {
                    ticket: request.ticket,
                    method: ojs_buf::leaked(request.method),
                    path: ojs_buf::leaked(request.path),
                    body,
                },
            );
        }
        Ok(())
    })
}

/// Answers a request with a status of HTTP and a body.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_transport_reply(
    transport: Option<&ojs_transport>,
    ticket: u64,
    status: u16,
    body: ojs_slice,
) -> Option<Box<ojs_error>> {
    enter("ojs_transport_reply", || {
        given(transport, "transport")?.core.reply(ticket, status, body.owned("body")?.unwrap_or_default());
        Ok(())
    })
}

/// Says that there is no answer; `message` is for people. The library sends the request again where that is harmless.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_transport_fail(
    transport: Option<&ojs_transport>,
    ticket: u64,
    message: ojs_slice,
) -> Option<Box<ojs_error>> {
    enter("ojs_transport_fail", || {
        given(transport, "transport")?.core.fail(ticket, message.text("message")?.to_owned());
        Ok(())
    })
}

/// Ends it: requests that wait fail, and so does every pull.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_transport_close(transport: Option<&ojs_transport>) {
    if let Some(transport) = transport {
        transport.core.shut();
    }
}

/// Closes it if need be, and frees it. Clients over it stay, and find it closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_transport_free(transport: Option<Box<ojs_transport>>) {
    if let Some(transport) = transport {
        transport.core.shut();
    }
}

/// A client whose requests go to the mailbox. Free with ojs_client_free().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_over(transport: Option<&ojs_transport>, out: *mut *mut ojs_client) -> Option<Box<ojs_error>> {
    enter_new("ojs_client_over", out, || {
        let core = Arc::clone(&given(transport, "transport")?.core);
        Ok(ojs_client::of(Connection::over(core)))
    })
}
