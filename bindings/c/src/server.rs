//! An OJS server in this process.
use std::ptr;
use std::sync::{Mutex, PoisonError};

use ojs_abi::error::AbiError;
use ojs_abi::process::Owner;
use ojs_abi::runtime;
use ojs_abi::server::Server;

use crate::error::{enter, given, ojs_error};
use crate::slice::{ojs_slice, put, put_new};

/// A listening server. Free with ojs_server_free().
pub struct ojs_server {
    owner: Owner,
    url: String,
    core: Mutex<Option<Server>>,
}

/// Opens `store` (`sqlite:jobs.db`, `memory:`) and listens on `listen` (`127.0.0.1:8080`; port 0 takes a free one). In test mode
/// anyone who can connect can delete all jobs.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_server_start(
    store: ojs_slice,
    listen: ojs_slice,
    test_mode: bool,
    out: *mut *mut ojs_server,
) -> Option<Box<ojs_error>> {
    put(out, ptr::null_mut());
    enter("ojs_server_start", || {
        let (store, listen) = (store.text("store")?, listen.text("listen")?);
        let core = runtime::handle()?.block_on(Server::start(store, listen, test_mode))?;
        let server = ojs_server { owner: Owner::current(), url: core.url().to_owned(), core: Mutex::new(Some(core)) };
        put_new(out, server);
        Ok(())
    })
}

/// Where it listens: `http://127.0.0.1:8080`.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_server_url(server: Option<&ojs_server>) -> ojs_slice {
    server.map_or(ojs_slice::EMPTY, |server| ojs_slice::of(server.url.as_bytes()))
}

/// Stops listening, answers requests under way, closes the store. A second stop does nothing.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ojs_server_stop(server: Option<&ojs_server>) -> Option<Box<ojs_error>> {
    enter("ojs_server_stop", || {
        let server = given(server, "server")?;
        server.owner.check("a server")?;
        let core = server.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        match core {
            Some(core) => runtime::handle()?.block_on(core.stop()).map_err(AbiError::System),
            None => Ok(()),
        }
    })
}

/// Stops it if need be, and frees it.
#[unsafe(no_mangle)]
pub extern "C" fn ojs_server_free(server: Option<Box<ojs_server>>) {
    let Some(server) = server else { return };
    if server.owner.is_current() {
        // Nobody is left to be told.
        drop(ojs_server_stop(Some(&server)));
    } else {
        // A forked child takes nothing of its parent's down.
        std::mem::forget(server);
    }
}
