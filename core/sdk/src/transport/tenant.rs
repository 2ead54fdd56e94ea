//! Requests of one tenant over the connection of a client (extensions section 10).
use std::sync::Arc;

use ojs_model::envelope::check_tenant;

use super::{BoxFuture, Enqueued, Request, Response, Transport, TransportError, TransportErrorKind};
use crate::encryption::Codec;

/// The same transport, with requests of one tenant.
pub(crate) struct OfTenant {
    inner: Arc<dyn Transport>,
    tenant: Arc<str>,
}

impl OfTenant {
    /// # Errors
    /// [`TransportErrorKind::Config`] for what is no id of a tenant.
    pub fn over(inner: Arc<dyn Transport>, tenant: &str) -> Result<Arc<dyn Transport>, TransportError> {
        let wrong = |error: ojs_model::OjsError| TransportError::new(TransportErrorKind::Config, error.message);
        check_tenant("tenant", tenant).map_err(wrong)?;
        Ok(Arc::new(Self { inner, tenant: tenant.into() }))
    }
}

impl Transport for OfTenant {
    fn request(&self, mut request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        request.tenant.get_or_insert_with(|| Arc::clone(&self.tenant));
        self.inner.request(request)
    }

    fn resends(&self) -> bool {
        self.inner.resends()
    }

    fn codec(&self) -> Option<&Codec> {
        self.inner.codec()
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    fn enqueue_signal(&self) -> Option<&Enqueued> {
        self.inner.enqueue_signal()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}
