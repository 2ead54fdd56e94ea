//! Resolves names for the client, and hands over only addresses that the guard lets through.
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::cause::cause_of;
use super::guard::{Guard, Refused};
use super::options::{self, Names};

/// Between the client and the system's resolver. The client connects to the addresses that it gets from here, and
/// resolves no name a second time.
pub(super) struct GuardedResolver {
    guard: Arc<Guard>,
    names: Arc<dyn Names>,
}

impl GuardedResolver {
    pub fn new(guard: Arc<Guard>, names: Option<Arc<dyn Names>>) -> Self {
        Self { guard, names: names.unwrap_or_else(|| Arc::new(SystemNames)) }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, host) = (Arc::clone(&self.guard), name.as_str().to_owned());
        let resolving = self.names.resolve(&host);
        Box::pin(async move {
            let addresses = resolving.await?;
            if addresses.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address")).into());
            }
            // One refused address refuses all: the name points inside on purpose or by a mistake that its owner mends.
            for address in &addresses {
                guard.check_address(&host, *address)?;
            }
            let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}

/// Finds a refusal of the guard among the causes of a client's error.
pub(super) fn refusal(error: &(dyn std::error::Error + 'static)) -> Option<Refused> {
    cause_of::<Refused>(error).cloned()
}

/// The resolver of the operating system.
struct SystemNames;

impl Names for SystemNames {
    fn resolve(&self, host: &str) -> options::Resolving {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
