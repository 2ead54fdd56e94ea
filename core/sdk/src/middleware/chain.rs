//! An ordered list of named layers. The first one added is the outermost.
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::error::Error;

/// Layers around an operation, by name. Changes are possible until the first use; then the chain is frozen.
///
/// ```
/// # use ojs::{Client, Error, transport};
/// # use ojs::middleware::EnqueueNext;
/// # let client = Client::new(transport::from_fn(|_| async { unreachable!() }));
/// let layer = |request, next: EnqueueNext| next.run(request);
/// client.middleware().add("logging", layer)?;
/// client.middleware().add("metrics", layer)?;
/// client.middleware().insert_before("metrics", "tracing", layer)?;
/// client.middleware().remove("logging")?;
/// assert_eq!(client.middleware().names(), ["tracing", "metrics"]);
/// assert!(matches!(client.middleware().insert_after("audit", "x", layer), Err(Error::UnknownMiddleware(_))));
/// # Ok::<(), Error>(())
/// ```
pub struct Chain<M: ?Sized> {
    entries: RwLock<Vec<(String, Arc<M>)>>,
    frozen: OnceLock<Layers<M>>,
    order: &'static [&'static str],
}

/// The layers around enqueueing whose order the specification fixes, outermost first ("Extension Interactions", section 14). Layers with
/// other names may stand anywhere.
pub(crate) const ENQUEUE_ORDER: &[&str] = &["trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt"];

/// The layers of a frozen chain, outermost first.
pub(crate) type Layers<M> = Arc<[Arc<M>]>;

/// What can be put into a chain of `M`: anything that implements the middleware trait, closures included.
pub trait IntoLayer<M: ?Sized> {
    /// Boxes it.
    fn into_layer(self) -> Arc<M>;
}

impl<M: ?Sized> Default for Chain<M> {
    fn default() -> Self {
        Self::ordered(&[])
    }
}

impl<M: ?Sized> Chain<M> {
    /// A chain around enqueueing: layers with a name of the specification keep its order.
    #[must_use]
    pub fn of_enqueue() -> Self {
        Self::ordered(ENQUEUE_ORDER)
    }

    /// The layers as they are from now on, outermost first: the chain is frozen.
    #[must_use]
    pub fn layers(&self) -> Arc<[Arc<M>]> {
        Arc::clone(self.freeze())
    }

    /// A chain in which layers of these names keep their order.
    pub(crate) fn ordered(order: &'static [&'static str]) -> Self {
        Self { entries: RwLock::new(Vec::new()), frozen: OnceLock::new(), order }
    }

    /// Appends a layer: it becomes the innermost.
    ///
    /// # Errors
    /// [`Error::Frozen`] after the first use, [`Error::DuplicateMiddleware`] when the name is taken.
    pub fn add(&self, name: impl Into<String>, layer: impl IntoLayer<M>) -> Result<(), Error> {
        self.insert(name.into(), layer.into_layer(), |entries| Ok(entries.len()))
    }

    /// Puts a layer around all others.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn prepend(&self, name: impl Into<String>, layer: impl IntoLayer<M>) -> Result<(), Error> {
        self.insert(name.into(), layer.into_layer(), |_| Ok(0))
    }

    /// Puts a layer directly around the one named `existing`.
    ///
    /// # Errors
    /// As [`add`](Self::add), and [`Error::UnknownMiddleware`] when there is no such layer.
    pub fn insert_before(&self, existing: &str, name: impl Into<String>, layer: impl IntoLayer<M>) -> Result<(), Error> {
        self.insert(name.into(), layer.into_layer(), |entries| position(entries, existing))
    }

    /// Puts a layer directly inside the one named `existing`.
    ///
    /// # Errors
    /// As [`insert_before`](Self::insert_before).
    pub fn insert_after(&self, existing: &str, name: impl Into<String>, layer: impl IntoLayer<M>) -> Result<(), Error> {
        self.insert(name.into(), layer.into_layer(), |entries| position(entries, existing).map(|at| at + 1))
    }

    /// Takes a layer out.
    ///
    /// # Errors
    /// [`Error::Frozen`] after the first use, [`Error::UnknownMiddleware`] when there is no such layer.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        // Dropped behind the lock: a layer of a host calls back when it goes.
        let gone = self.change(|entries| {
            let at = position(entries, name)?;
            Ok(entries.remove(at))
        })?;
        drop(gone);
        Ok(())
    }

    /// The names, outermost first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).iter().map(|(name, _)| name.clone()).collect()
    }

    fn insert(
        &self,
        name: String,
        layer: Arc<M>,
        at: impl FnOnce(&[(String, Arc<M>)]) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        // A layer that is refused is dropped behind the lock, with `layer`.
        self.change(|entries| {
            if position(entries, &name).is_ok() {
                return Err(Error::DuplicateMiddleware(name));
            }
            let at = at(entries)?;
            in_order(self.order, entries, at, &name)?;
            entries.insert(at, (name, Arc::clone(&layer)));
            Ok(())
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<(String, Arc<M>)>) -> Result<T, Error>) -> Result<T, Error> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        // Looked at under the lock: a chain is never changed after it was frozen.
        if self.frozen.get().is_some() {
            return Err(Error::Frozen);
        }
        change(&mut entries)
    }

    /// The layers as they are from now on.
    pub(crate) fn freeze(&self) -> &Layers<M> {
        self.frozen.get_or_init(|| {
            let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
            entries.iter().map(|(_, layer)| Arc::clone(layer)).collect()
        })
    }
}

/// Whether a layer of this name may stand there.
fn in_order<M: ?Sized>(order: &[&str], entries: &[(String, Arc<M>)], at: usize, name: &str) -> Result<(), Error> {
    let place = |name: &str| order.iter().position(|known| *known == name);
    let Some(own) = place(name) else { return Ok(()) };
    for (index, (other, _)) in entries.iter().enumerate() {
        let Some(its) = place(other) else { continue };
        if (its < own) != (index < at) {
            let word = if its < own { "after" } else { "before" };
            return Err(Error::Middleware(format!("'{name}' must stand {word} '{other}': the order is {}", order.join(", "))));
        }
    }
    Ok(())
}

fn position<M: ?Sized>(entries: &[(String, Arc<M>)], name: &str) -> Result<usize, Error> {
    entries.iter().position(|(entry, _)| entry == name).ok_or_else(|| Error::UnknownMiddleware(name.to_owned()))
}

impl<M: ?Sized> std::fmt::Debug for Chain<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
