//! TLS to other servers: the authorities that the system trusts, ring as provider (decision record 2).
use std::sync::Arc;

use rustls::{ClientConfig, Error, RootCertStore};

/// The settings. Without any authority in the system, no server is trusted, and plain HTTP still works.
///
/// # Errors
/// None in practice: ring knows the versions.
pub fn config() -> Result<ClientConfig, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let mut config = match rustls_platform_verifier::Verifier::new(provider) {
        Ok(verifier) => builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth(),
        Err(error) => {
            tracing::warn!(%error, "the certificates of the system cannot be read: requests to https:// targets will fail");
            builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
