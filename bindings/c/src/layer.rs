//! What the layers of both chains have in common: a function of the program, and where it stands.
use std::ffi::c_void;

use ojs::middleware::{Chain, IntoLayer};
use ojs_abi::error::AbiError;

use crate::slice::{ojs_buf, ojs_slice};
use crate::user_data::{UserData, ojs_destroy_fn};

/// The innermost layer: it runs last, directly before the enqueue or the handler.
pub const OJS_LAYER_INNERMOST: u32 = 0;
/// Around all others.
pub const OJS_LAYER_OUTERMOST: u32 = 1;
/// Directly around the layer that is named.
pub const OJS_LAYER_BEFORE: u32 = 2;
/// Directly inside the layer that is named.
pub const OJS_LAYER_AFTER: u32 = 3;

/// A function of the program, what it is called with, and how that is freed.
pub(crate) struct Layer<F> {
    pub(crate) run: F,
    user_data: UserData,
    destroy: ojs_destroy_fn,
}

impl<F> Layer<F> {
    /// The function is looked at later: `destroy` is called in any case.
    pub(crate) const fn new(run: F, user_data: UserData, destroy: ojs_destroy_fn) -> Self {
        Self { run, user_data, destroy }
    }

    pub(crate) fn user_data(&self) -> *mut c_void {
        self.user_data.get()
    }
}

impl<F> Drop for Layer<F> {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            destroy(self.user_data.get());
        }
    }
}

impl<F> IntoLayer<Self> for Layer<F> {
    fn into_layer(self) -> std::sync::Arc<Self> {
        std::sync::Arc::new(self)
    }
}

/// Puts a layer into a chain.
///
/// # Errors
/// The name is empty or taken, the place is none, there is no such layer beside it, or the chain is in use.
pub(crate) fn place<F>(
    chain: &Chain<Layer<F>>,
    layer: Layer<F>,
    name: &ojs_slice,
    place: u32,
    beside: &ojs_slice,
) -> Result<(), AbiError> {
    let name = name.string("name")?.ok_or_else(|| AbiError::invalid("a middleware needs a name"))?;
    let beside = beside.text("beside")?;
    match place {
        OJS_LAYER_INNERMOST => chain.add(name, layer)?,
        OJS_LAYER_OUTERMOST => chain.prepend(name, layer)?,
        OJS_LAYER_BEFORE => chain.insert_before(beside, name, layer)?,
        OJS_LAYER_AFTER => chain.insert_after(beside, name, layer)?,
        _ => return Err(AbiError::invalid(format!("place is {place}: it is one of OJS_LAYER_INNERMOST and the three after it"))),
    }
    Ok(())
}

/// The names of the layers, outermost first: a JSON array.
pub(crate) fn names<F>(chain: &Chain<Layer<F>>) -> ojs_buf {
    ojs_buf::new(serde_json::Value::from(chain.names()).to_string().into_bytes())
}
