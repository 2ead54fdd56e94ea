//! TLS with ring as its provider, handed to the client by value: the host application may have its own default (ADR 2).
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{ConnectOptions, TransportError, TransportErrorKind};

/// The settings for `https`. For plain `http` no certificate of the system is read: that takes longer than a request.
///
/// # Errors
/// [`TransportErrorKind::Config`] for files that cannot be used, and for files of TLS beside `http`.
pub(super) fn config(secure: bool, options: &ConnectOptions) -> Result<ClientConfig, TransportError> {
    if !secure {
        without_files(options)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| fault("TLS versions", e))?;
    let builder = if secure {
        let extra = options.tls_ca_file.as_deref().map(certificates).transpose()?.unwrap_or_default();
        let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(extra, provider)
            .map_err(|e| fault("the system's certificates", e))?;
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty())
    };
    match options.tls_client_cert.as_ref().filter(|_| secure) {
        None => Ok(builder.with_no_client_auth()),
        Some((chain, key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|e| file_fault(key, e))?;
            builder.with_client_auth_cert(certificates(chain)?, key).map_err(|e| fault("the client certificate", e))
        }
    }
}

/// Refuses the files of TLS for `http`: nothing would be encrypted, although the settings say so.
fn without_files(options: &ConnectOptions) -> Result<(), TransportError> {
    let given = [("ca_file", options.tls_ca_file.is_some()), ("client_cert", options.tls_client_cert.is_some())];
    let Some((setting, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = format!(
        "{setting} is set, but the URL begins with http:// and nothing would be encrypted: use https://, or leave out {setting}"
    );
    Err(TransportError::new(TransportErrorKind::Config, message))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let read = || CertificateDer::pem_file_iter(path)?.collect::<Result<Vec<_>, _>>();
    let certificates = read().map_err(|e| file_fault(path, e))?;
    if certificates.is_empty() {
        return Err(TransportError::new(TransportErrorKind::Config, format!("{} holds no certificate", path.display())));
    }
    Ok(certificates)
}

fn file_fault(path: &Path, error: rustls::pki_types::pem::Error) -> TransportError {
    TransportError::new(TransportErrorKind::Config, format!("cannot read {}", path.display())).with_source(error)
}

fn fault(what: &str, error: rustls::Error) -> TransportError {
    TransportError::new(TransportErrorKind::Config, format!("cannot use {what}")).with_source(error)
}
