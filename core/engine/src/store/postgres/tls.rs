//! TLS to PostgreSQL, with the modes of libpq: `prefer` and `require` encrypt without checking the certificate,
//! `verify-full` checks it.
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use crate::error::{Result, StoreError};

/// Settings for one target. `verify` checks the certificate against `roots`, or the system's authorities when there is none.
pub fn config(verify: bool, roots: Option<&Path>) -> Result<ClientConfig> {
    let failed = |error: Error| StoreError::Failed(format!("cannot set up TLS: {error}"));
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = if verify {
        let extra = roots.map(certificates).transpose()?.unwrap_or_default();
        Arc::new(rustls_platform_verifier::Verifier::new_with_extra_roots(extra, Arc::clone(&provider)).map_err(failed)?)
    } else {
        Arc::new(AnyServer(Arc::clone(&provider)))
    };
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(failed)?;
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let fault = |error: rustls::pki_types::pem::Error| StoreError::Failed(format!("sslrootcert {}: {error}", path.display()));
    CertificateDer::pem_file_iter(path).map_err(fault)?.collect::<std::result::Result<_, _>>().map_err(fault)
}

/// Accepts every certificate: protects against listening in, not against an impostor.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
