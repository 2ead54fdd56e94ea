//! Waking a JavaScript thread.
use std::fmt;

use napi::bindgen_prelude::*;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use ojs_abi::doorbell::Doorbell;

/// The function to call, on its own thread. Weak: it does not keep the process alive, that is decided in JavaScript.
type Ring = ThreadsafeFunction<(), (), (), Status, false, true>;

/// Calls a JavaScript function without arguments.
pub struct Bell {
    ring: Ring,
}

impl Bell {
    /// # Errors
    /// Node.js has no room for another one.
    pub fn new(ring: &Function<'_, (), ()>) -> Result<Self> {
        Ok(Self { ring: ring.build_threadsafe_function::<()>().weak::<true>().build()? })
    }

    /// Rings; false when the environment has ended, and there is no thread to wake.
    pub fn reaches(&self) -> bool {
        self.ring.call((), ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bell")
    }
}

impl Doorbell for Bell {
    fn ring(&self) {
        let _ = self.reaches();
    }
}
