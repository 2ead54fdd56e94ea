//! Layers around enqueueing.
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;
use ojs::middleware::Chain;
use ojs_abi::error::AbiError;
use ojs_abi::layered::{self, Enqueues};

use crate::error::{enter_own, given, ojs_error};
use crate::layer::Layer;
use crate::slice::{ojs_buf, ojs_slice, put, put_new};

/// The layers of a client.
pub(crate) type EnqueueChain = Chain<Layer<EnqueueLayer>>;
type EnqueueLayers = Arc<[Arc<Layer<EnqueueLayer>>]>;

/// What became of an enqueue: the job as JSON, nothing when a layer has dropped it, or an error, perhaps a layer's own.
type Sent = Result<Option<Bytes>, Box<ojs_error>>;

/// The rest of the layers around an enqueue, and behind them the request to the server. It lives as long as the call of
/// the layer, and belongs to its thread.
pub struct ojs_enqueue_next<'a> {
    layers: &'a EnqueueLayers,
    index: usize,
    send: &'a dyn Fn(&str) -> Sent,
    request: &'a str,
    called: Cell<bool>,
    job: RefCell<Option<Bytes>>,
}

/// A layer around enqueueing. `request` is the job as JSON: `type`, `args`, perhaps `meta` and `options`. It goes on
/// with ojs_enqueue_next_run(), once; a job with which it does not go on is dropped. What it leaves in `job` (it may
/// hand the same pointer on), or else what came back from inside, goes outwards; the library frees it. An error that it
/// returns ends the enqueue, and is what its caller gets: one from inside, or one of ojs_error_new().
pub type ojs_enqueue_layer_fn = Option<
    extern "C" fn(
        user_data: *mut c_void,
        request: ojs_slice,
        next: *const ojs_enqueue_next<'_>,
        job: *mut *mut ojs_buf,
    ) -> Option<Box<ojs_error>>,
>;

type EnqueueLayer = ojs_enqueue_layer_fn;

/// Goes on inwards with this job (empty: with the same one). `job` gets the job as the server stored it, as JSON; in a
/// batch, which is sent after all its jobs have passed, the job as it will be sent. It may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_enqueue_next_run(
    next: Option<&ojs_enqueue_next<'_>>,
    request: ojs_slice,
    job: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    put(job, ptr::null_mut());
    enter_own("ojs_enqueue_next_run", || {
        let next = given(next, "next")?;
        let request = match request.text("request")? {
            "" => next.request,
            changed => layered::job(changed.as_bytes())?,
        };
        if next.called.replace(true) {
            return Err(AbiError::Sdk(ojs::Error::Middleware("a middleware called next twice".to_owned())).into());
        }
        if let Some(came) = run(next.layers, next.index, next.send, request)? {
            put_new(job, ojs_buf::new(came.clone()));
            *next.job.borrow_mut() = Some(came);
        }
        Ok(())
    })
}

/// Runs the layers from this one inwards.
fn run(layers: &EnqueueLayers, index: usize, send: &dyn Fn(&str) -> Sent, request: &str) -> Sent {
    let Some(layer) = layers.get(index) else { return send(request) };
    let Some(function) = layer.run else { return run(layers, index + 1, send, request) };
    let (called, came) = (Cell::new(false), RefCell::new(None));
    let next = ojs_enqueue_next { layers, index: index + 1, send, request, called, job: came };
    let mut job: *mut ojs_buf = ptr::null_mut();
    let error = function(layer.user_data(), ojs_slice::of(request.as_bytes()), &raw const next, &raw mut job);
    // SAFETY: NULL, or a buffer of ours that the layer hands over (rule 2 of the header).
    let job = (!job.is_null()).then(|| unsafe { Box::from_raw(job) });
    match error {
        Some(error) => Err(error),
        None => Ok(job.map(|job| job.0).or_else(|| next.job.take())),
    }
}

/// Whether a request has to pass layers; it freezes the chain when it enqueues.
pub(crate) fn around(chain: &EnqueueChain, method: &str, path: &str) -> Option<(EnqueueLayers, Enqueues)> {
    let enqueues = Enqueues::of(method, path)?;
    Some((chain.layers(), enqueues)).filter(|(layers, _)| !layers.is_empty())
}

/// Takes the jobs of a request through the layers, on this thread, and sends what comes out.
pub(crate) fn through(
    layers: &EnqueueLayers,
    enqueues: Enqueues,
    body: &Bytes,
    send: impl Fn(Bytes) -> Result<Bytes, AbiError>,
) -> Result<Bytes, Box<ojs_error>> {
    let dropped = || AbiError::Sdk(ojs::Error::NotEnqueued);
    match enqueues {
        Enqueues::One => {
            let send = |job: &str| Ok(Some(layered::answered(&send(Bytes::copy_from_slice(job.as_bytes()))?)));
            let job = run(layers, 0, &send, layered::job(body)?)?.ok_or_else(dropped)?;
            Ok(layered::answer_of(&job))
        }
        Enqueues::Many => {
            let kept = layered::jobs(body)?.into_iter().map(|job| passed(layers, job));
            let kept: Vec<Bytes> = kept.filter_map(Result::transpose).collect::<Result<_, _>>()?;
            if kept.is_empty() {
                return Err(dropped().into());
            }
            Ok(send(layered::with_jobs(body, &kept)?)?)
        }
    }
}

/// A job as it leaves the layers, to be sent later; nothing when one has dropped it.
pub(crate) fn passed(layers: &EnqueueLayers, job: &str) -> Sent {
    let out = RefCell::new(None);
    let keep = |job: &str| {
        let job = Bytes::copy_from_slice(job.as_bytes());
        *out.borrow_mut() = Some(job.clone());
        Ok(Some(job))
    };
    run(layers, 0, &keep, job)?;
    Ok(out.into_inner())
}
