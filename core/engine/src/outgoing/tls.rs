//! TLS to other servers: the authorities that the system trusts, ring as provider (decision record 2).
use std::sync::Arc;

use rustls::{CertificateError, ClientConfig, Error, RootCertStore};

use super::cause::cause_of;

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

/// What is wrong with the certificate of a server, for the person who registered its address; `None` for other errors.
pub(super) fn distrust(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    use CertificateError as Wrong;
    let Error::InvalidCertificate(wrong) = cause_of::<Error>(error)? else { return None };
    let told = match wrong {
        Wrong::Expired | Wrong::ExpiredContext { .. } => "its certificate has expired",
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => "its certificate is not valid yet",
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => "its certificate is for another host",
        Wrong::UnknownIssuer => "its certificate is signed by an authority that this machine does not trust",
        Wrong::Revoked => "its certificate was revoked",
        other => return Some(format!("its certificate is not accepted: {other}")),
    };
    Some(told.to_owned())
}
