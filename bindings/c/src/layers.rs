//! Arranging the layers of clients and of workers.
use std::ffi::c_void;

use ojs_abi::error::AbiError;

use crate::answer::{chain, ojs_handler_layer_fn};
use crate::client::ojs_client;
use crate::enqueue_layer::ojs_enqueue_layer_fn;
use crate::error::{enter, enter_new, given, ojs_error};
use crate::layer::{Layer, names, place};
use crate::slice::{ojs_buf, ojs_slice};
use crate::user_data::{UserData, ojs_destroy_fn};
use crate::worker::ojs_worker;

/// Adds a layer around the enqueues of a client and of its tenants' clients: `place` is one of OJS_LAYER_INNERMOST, …,
/// `beside` the layer that it stands beside, or empty. Possible until the first enqueue. `trace_inject`, `auth`,
/// `validate`, `unique`, `rate_limit` and `encrypt` keep this order; other names may stand anywhere. Layers run on the
/// thread that enqueues, or, for a call with a callback, on a thread of the library. They run for each job of
/// ojs_client_enqueue(), of a call of `/jobs`, `/jobs/batch` or `/jobs/bulk`, and of ojs_outbox_encrypted(). `destroy`
/// may be NULL; it is called once, when the layer is not needed any more, also when this function fails.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_add_layer(
    client: Option<&ojs_client>,
    name: ojs_slice,
    place: u32,
    beside: ojs_slice,
    layer: ojs_enqueue_layer_fn,
    user_data: *mut c_void,
    destroy: ojs_destroy_fn,
) -> Option<Box<ojs_error>> {
    let made = Layer::new(layer, UserData(user_data), destroy);
    enter("ojs_client_add_layer", move || {
        layer.ok_or_else(|| AbiError::invalid("layer is NULL"))?;
        self::place(&given(client, "client")?.layers, made, &name, place, &beside)
    })
}

/// Takes a layer out of a client's chain. Possible until the first enqueue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_remove_layer(client: Option<&ojs_client>, name: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_client_remove_layer", || Ok(given(client, "client")?.layers.remove(name.text("name")?)?))
}

/// The names of a client's layers, outermost first: a JSON array.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_layers(client: Option<&ojs_client>, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_client_layers", out, || Ok(names(&given(client, "client")?.layers)))
}

/// Adds a layer around the handlers of ojs_worker_run(): `place` is one of OJS_LAYER_INNERMOST, …, `beside` the layer
/// that it stands beside, or empty. Possible until the worker runs. Layers run on the handlers' threads. `destroy` may
/// be NULL; it is called once, when the layer is not needed any more, also when this function fails.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_add_layer(
    worker: Option<&ojs_worker>,
    name: ojs_slice,
    place: u32,
    beside: ojs_slice,
    layer: ojs_handler_layer_fn,
    user_data: *mut c_void,
    destroy: ojs_destroy_fn,
) -> Option<Box<ojs_error>> {
    let made = Layer::new(layer, UserData(user_data), destroy);
    enter("ojs_worker_add_layer", move || {
        layer.ok_or_else(|| AbiError::invalid("layer is NULL"))?;
        self::place(chain(given(worker, "worker")?)?, made, &name, place, &beside)
    })
}

/// Takes a layer out of a worker's chain. Possible until the worker runs.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_remove_layer(worker: Option<&ojs_worker>, name: ojs_slice) -> Option<Box<ojs_error>> {
    enter("ojs_worker_remove_layer", || Ok(chain(given(worker, "worker")?)?.remove(name.text("name")?)?))
}

/// The names of a worker's layers, outermost first: a JSON array.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_worker_layers(worker: Option<&ojs_worker>, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_worker_layers", out, || Ok(names(chain(given(worker, "worker")?)?)))
}
