//! A transport that keeps what goes over the wire.
use std::sync::{Arc, Mutex};

use ojs::transport::{BoxFuture, Request, Response, Transport, TransportError, connect};

/// Passes requests on, and keeps their bodies.
pub struct Recorded {
    inner: Arc<dyn Transport>,
    bodies: Mutex<Vec<String>>,
}

impl Recorded {
    /// Over a connection of its own.
    pub async fn to(url: &str) -> Arc<Self> {
        Arc::new(Self { inner: connect(url, Default::default()).await.unwrap(), bodies: Mutex::default() })
    }

    /// The bodies so far.
    pub fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }
}

impl Transport for Recorded {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let body = String::from_utf8(request.body.clone().unwrap_or_default().to_vec()).unwrap();
        self.bodies.lock().unwrap().push(body);
        self.inner.request(request)
    }
}
