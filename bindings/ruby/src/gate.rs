//! The two ways into the core: with the GVL released for whatever may wait, with it held for what is wait-free. Panics and
//! errors of both come out as exceptions of the gem.
use std::ffi::c_void;
use std::future::Future;
use std::time::Duration;

use magnus::rb_sys::AsRawValue;
use magnus::{Error, Exception, Module, RClass, RModule, Ruby, value::ReprValue};
use ojs_abi::error::AbiError;
use ojs_abi::guard::guard;
use ojs_abi::runtime;
use tokio::sync::Notify;

/// Runs `body`, which must be wait-free, with the GVL held.
pub fn held<T>(ruby: &Ruby, export: &'static str, body: impl FnOnce() -> Result<T, AbiError>) -> Result<T, Error> {
    guard(export, body).map_err(|error| exception(ruby, &error))
}

/// Runs `body` again and again with the GVL released, until it says what came of it. `unblock` is called, from any thread and
/// perhaps before `body` begins, when Ruby wants the thread back: `body` then returns None, soon. Signal handlers run and
/// exceptions of other threads are raised between two runs.
pub fn released<T>(
    ruby: &Ruby,
    export: &'static str,
    unblock: impl Fn() + Sync,
    mut body: impl FnMut() -> Result<Option<T>, AbiError>,
) -> Result<T, Error> {
    loop {
        let mut result = Ok(None);
        without_gvl(&unblock, &mut || result = guard(export, &mut body));
        if let Some(result) = result.map_err(|error| exception(ruby, &error))? {
            return Ok(result);
        }
        ruby.thread_check_ints()?;
    }
}

/// How often a main thread that waits looks for signals. Until version 3.3 Ruby notices a signal only while one of its threads sleeps or
/// waits in Ruby's own functions; a worker that has nothing to do has all of them in ours.
const SIGNAL_SLICE: Duration = Duration::from_millis(100);

/// Waits for `future` on the runtime, with the GVL released.
pub fn wait<T, F>(ruby: &Ruby, export: &'static str, future: F) -> Result<T, Error>
where
    F: Future<Output = Result<T, AbiError>>,
{
    let mut future = Box::pin(future);
    let interrupt = Notify::new();
    let main = ruby.thread_current().as_raw() == ruby.thread_main().as_raw();
    let slice = if main { SIGNAL_SLICE } else { Duration::MAX };
    // A wake-up that comes early is kept until a thread waits for it.
    let unblock = || interrupt.notify_one();
    released(ruby, export, unblock, || {
        let future = &mut future;
        runtime::handle()?.block_on(async {
            tokio::select! {
                biased;
                result = future => result.map(Some),
                () = interrupt.notified() => Ok(None),
                () = tokio::time::sleep(slice) => Ok(None),
            }
        })
    })
}

/// The exception of the gem for an error of the core.
pub fn exception(ruby: &Ruby, error: &AbiError) -> Error {
    let make = || -> Result<Exception, Error> {
        let base: RClass = ruby.class_object().const_get::<_, RModule>("OJS")?.const_get("Error")?;
        base.funcall("from_native", (error.class() as i32, error.to_object().to_string()))
    };
    make().map_or_else(|failed| failed, Error::from)
}

/// Calls `body` once with the GVL released, or not at all when the thread has been interrupted already.
#[expect(unsafe_code, reason = "Ruby's own functions, with pointers to what outlives the call")]
fn without_gvl<U: Fn() + Sync>(unblock: &U, body: &mut dyn FnMut()) {
    unsafe extern "C" fn run(body: *mut c_void) -> *mut c_void {
        // SAFETY: the pointer below, while the caller waits.
        unsafe { (*body.cast::<&mut dyn FnMut()>())() };
        std::ptr::null_mut()
    }
    unsafe extern "C" fn wake<U: Fn()>(unblock: *mut c_void) {
        // SAFETY: the pointer below; Ruby does not call it any more when the call has returned.
        unsafe { (*unblock.cast::<U>().cast_const())() };
    }
    let mut body = body;
    // SAFETY: this form of the function raises nothing and returns when `run` has, so that what it was given lives long enough.
    unsafe {
        rb_sys::rb_thread_call_without_gvl2(
            Some(run),
            std::ptr::from_mut(&mut body).cast(),
            Some(wake::<U>),
            std::ptr::from_ref(unblock).cast_mut().cast(),
        );
    }
}
