//! Tests of code that enqueues: a client whose jobs stay in this process and are recorded.
use std::sync::Arc;

use ojs::testing::Fake;
use ojs_abi::connection::Connection;
use ojs_abi::process::Owner;
use ojs_abi::{fakes, runtime};

use crate::client::ojs_client;
use crate::error::{enter_new, given, ojs_error};
use crate::slice::{ojs_buf, ojs_slice};

/// An engine in memory that records the jobs it takes. Free with ojs_fake_free().
pub struct ojs_fake {
    owner: Owner,
    core: Fake,
}

/// An empty engine in memory, for tests of code that enqueues. Nothing runs by itself: a worker on the client of a fake
/// runs the jobs.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_fake_new(out: *mut *mut ojs_fake) -> Option<Box<ojs_error>> {
    enter_new("ojs_fake_new", out, || {
        let core = runtime::handle()?.block_on(Fake::start())?;
        Ok(ojs_fake { owner: Owner::current(), core })
    })
}

/// A client of the fake, for the code under test. It may outlive the fake.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_fake_client(fake: Option<&ojs_fake>, out: *mut *mut ojs_client) -> Option<Box<ojs_error>> {
    enter_new("ojs_fake_client", out, || {
        let fake = given(fake, "fake")?;
        fake.owner.check("a fake")?;
        Ok(ojs_client::of(Connection::over(Arc::new(fake.core.clone()))))
    })
}

/// The jobs that were enqueued so far, in their order: a JSON array, in the form in which they go over the wire; not
/// those that the engine refused. ojs_fake_matching() finds in it those that a test asks for.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_fake_enqueued(fake: Option<&ojs_fake>, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_fake_enqueued", out, || ojs_buf::json(&given(fake, "fake")?.core.enqueued()))
}

/// Frees it. The engine ends with the last of its clients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_fake_free(fake: Option<Box<ojs_fake>>) {
    let Some(fake) = fake else { return };
    if !fake.owner.is_current() {
        // A forked child takes nothing of its parent's down.
        std::mem::forget(fake);
    }
}

/// What a fake records of a request: a JSON array of the jobs that it enqueues, in the form in which they go over the
/// wire; `[]` for other requests.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_fake_recorded(
    method: ojs_slice,
    path: ojs_slice,
    body: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_fake_recorded", out, || {
        let jobs = fakes::recorded(method.text("method")?, path.text("path")?, body.bytes("body")?);
        Ok(ojs_buf::new(jobs.into_bytes()))
    })
}

/// Where in a JSON array of recorded jobs those stand that a test asks for: a JSON array of numbers. `wanted` is a
/// JSON object: `type`, `args`, `id` and `schema` are equal, `meta` is a part of the job's, other members are
/// options.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_fake_matching(jobs: ojs_slice, wanted: ojs_slice, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_fake_matching", out, || ojs_buf::json(&fakes::matching(jobs.text("jobs")?, wanted.text("wanted")?)?))
}
