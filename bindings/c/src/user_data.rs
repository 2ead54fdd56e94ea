//! What callbacks are called with.
use std::ffi::c_void;

/// Frees user_data: called once, when it is not needed any more.
pub type ojs_destroy_fn = Option<extern "C" fn(user_data: *mut c_void)>;

/// What a callback is called with. It is the caller's, who promised (rule 6) that it may be used on our threads.
#[derive(Clone, Copy)]
pub(crate) struct UserData(pub *mut c_void);

// SAFETY: we never look at what it points to; using it from any thread is the callback's business, rule 6 of the header.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// The pointer. (A method, so that a closure captures the whole.)
    pub fn get(self) -> *mut c_void {
        self.0
    }
}
