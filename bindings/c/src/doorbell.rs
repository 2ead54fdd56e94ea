//! Workers on an event loop: the library calls a function of the program when there is something to do.
use std::ffi::c_void;

use ojs_abi::doorbell::Doorbell;
use ojs_abi::error::AbiError;

use crate::error::{enter, given, ojs_error};
use crate::user_data::{UserData, ojs_destroy_fn};
use crate::worker::{LANE, ojs_worker};

/// What is called when there is something to pull, a job to stop, or the end; and how its user_data is freed.
pub type ojs_ring_fn = Option<extern "C" fn(user_data: *mut c_void)>;

struct Bell {
    ring: extern "C" fn(user_data: *mut c_void),
    destroy: ojs_destroy_fn,
    user_data: UserData,
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bell")
    }
}

impl Doorbell for Bell {
    fn ring(&self) {
        (self.ring)(self.user_data.get());
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            destroy(self.user_data.get());
        }
    }
}

/// For event loops: `ring` is called once when there is something, and again only after ojs_worker_rearm(). It must not block; it
/// is best used to wake the loop, which then rearms and pulls with a wait of 0. The first doorbell stays. `destroy` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_set_doorbell(
    worker: Option<&ojs_worker>,
    ring: ojs_ring_fn,
    user_data: *mut c_void,
    destroy: ojs_destroy_fn,
) -> Option<Box<ojs_error>> {
    let user_data = UserData(user_data);
    enter("ojs_worker_set_doorbell", || {
        let ring = ring.ok_or_else(|| AbiError::invalid("ring is NULL"))?;
        given(worker, "worker")?.host.set_doorbell(LANE, Box::new(Bell { ring, destroy, user_data }))
    })
}

/// Before pulling from an event loop: what comes from now on rings again.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_rearm(worker: Option<&ojs_worker>) -> Option<Box<ojs_error>> {
    enter("ojs_worker_rearm", || given(worker, "worker")?.host.rearm(LANE))
}
