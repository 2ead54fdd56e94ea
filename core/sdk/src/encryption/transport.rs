//! The place between the enqueue chain and the network.
use bytes::Bytes;

use super::codec::Codec;
use crate::transport::{BoxFuture, Enqueued, Request, Response, Transport, TransportError, TransportErrorKind};

/// Encrypts the arguments of every job that passes: it comes after all layers around enqueueing, so nothing of ours or yours comes
/// later. Workers on it decrypt before they hand a job to its handler.
#[derive(Debug)]
pub struct Encrypted<T> {
    inner: T,
    codec: Codec,
}

impl<T: Transport> Encrypted<T> {
    /// Around another transport.
    pub const fn new(inner: T, codec: Codec) -> Self {
        Self { inner, codec }
    }

    fn encoded(&self, mut request: Request) -> Result<Request, TransportError> {
        let Some(body) = request.body.as_deref().filter(|_| request.carries_jobs()) else { return Ok(request) };
        // What is no text is no request either: the server says so.
        let Ok(text) = std::str::from_utf8(body) else { return Ok(request) };
        let encoded = self.codec.encode(text).map_err(|e| TransportError::new(TransportErrorKind::Config, e.to_string()))?;
        if let Some(encoded) = encoded {
            request.body = Some(Bytes::from(encoded));
        }
        Ok(request)
    }
}

impl<T: Transport> Transport for Encrypted<T> {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        match self.encoded(request) {
            Ok(request) => self.inner.request(request),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn resends(&self) -> bool {
        self.inner.resends()
    }

    fn codec(&self) -> Option<&Codec> {
        Some(&self.codec)
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
