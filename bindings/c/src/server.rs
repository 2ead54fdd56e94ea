//! An OJS server in this process.
use std::mem::offset_of;
use std::sync::{Mutex, PoisonError};

use ojs_abi::error::AbiError;
use ojs_abi::process::Owner;
use ojs_abi::runtime;
use ojs_abi::server::{Admission, Server};

use crate::error::{enter, enter_new, given, ojs_error};
use crate::slice::{Options, ojs_slice, options, put};

/// Settings of a server. Fill with ojs_server_options_init(), then change.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_server_options {
    /// Set by ojs_server_options_init().
    pub size: u32,
    /// Whether anyone who can connect can delete all jobs; false.
    pub test_mode: bool,
    /// Whether it may listen, without `keys`, where other machines reach it; true.
    pub insecure: bool,
    /// `sqlite:jobs.db`, `memory:` (the default).
    pub store: ojs_slice,
    /// `127.0.0.1:8080`; the default takes a free port.
    pub listen: ojs_slice,
    /// A file of keys, which `ojs keys add` writes: every request needs one. Empty: no request needs a key.
    pub keys: ojs_slice,
}

// SAFETY: the other members are a number and slices.
unsafe impl Options for ojs_server_options {
    const BOOLS: &'static [(usize, &'static str)] =
        &[(offset_of!(Self, test_mode), "test_mode"), (offset_of!(Self, insecure), "insecure")];
}

impl Default for ojs_server_options {
    fn default() -> Self {
        Self {
            size: u32::try_from(size_of::<Self>()).unwrap_or(0),
            test_mode: false,
            insecure: true,
            store: ojs_slice::EMPTY,
            listen: ojs_slice::EMPTY,
            keys: ojs_slice::EMPTY,
        }
    }
}

/// Fills in the size and the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_server_options_init(options: *mut ojs_server_options) {
    put(options, ojs_server_options::default());
}

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
pub unsafe extern "C" fn ojs_server_start(
    store: ojs_slice,
    listen: ojs_slice,
    test_mode: bool,
    out: *mut *mut ojs_server,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_server_start", out, || started(store.text("store")?, listen.text("listen")?, test_mode, Admission::Anyone))
}

/// As ojs_server_start(), with settings; NULL takes the defaults.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_server_start_with(
    server_options: *const ojs_server_options,
    out: *mut *mut ojs_server,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_server_start_with", out, || {
        let given = options(server_options, ojs_server_options::default(), "ojs_server_options")?;
        let store = given.store.string("store")?.unwrap_or_else(|| "memory:".to_owned());
        let listen = given.listen.string("listen")?.unwrap_or_else(|| "127.0.0.1:0".to_owned());
        let admission = Admission::of(given.keys.string("keys")?, given.insecure);
        started(&store, &listen, given.test_mode, admission)
    })
}

fn started(store: &str, listen: &str, test_mode: bool, admission: Admission) -> Result<ojs_server, AbiError> {
    let core = runtime::handle()?.block_on(Server::start(store, listen, test_mode, admission))?;
    Ok(ojs_server { owner: Owner::current(), url: core.url().to_owned(), core: Mutex::new(Some(core)) })
}

/// Where it listens: `http://127.0.0.1:8080`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_server_url(server: Option<&ojs_server>) -> ojs_slice {
    server.map_or(ojs_slice::EMPTY, |server| ojs_slice::of(server.url.as_bytes()))
}

/// Stops listening, answers requests under way, closes the store. A second stop does nothing.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_server_stop(server: Option<&ojs_server>) -> Option<Box<ojs_error>> {
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
pub unsafe extern "C" fn ojs_server_free(server: Option<Box<ojs_server>>) {
    let Some(server) = server else { return };
    if server.owner.is_current() {
        // The receiver is gone.
        // SAFETY: the server is a reference, and there is no other pointer.
        drop(unsafe { ojs_server_stop(Some(&server)) });
    } else {
        // A forked child takes nothing of its parent's down.
        std::mem::forget(server);
    }
}
