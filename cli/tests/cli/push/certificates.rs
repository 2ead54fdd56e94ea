//! Endpoints with certificates, on rustls and hyper: HTTP/2, HTTP/1.1, and certificates that are not to be trusted.
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use ojs_tests::{ServerProcess, until};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::faults::reason_in_list;
use super::{enqueued, state};
use crate::common::says;

/// A certificate and its key.
struct Identity(CertificateDer<'static>, KeyPair);

/// An authority that signs certificates.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut about = named(name, Vec::new());
        about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = about.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(about, key) }
    }

    fn signed(&self, about: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        Identity(about.signed_by(&key, &self.issuer).unwrap().der().clone(), key)
    }

    /// A server whose system trusts this authority alone.
    async fn server(&self) -> ServerProcess {
        let environment = |directory: &Path| {
            let file = directory.join("authority.pem");
            std::fs::write(&file, &self.pem).unwrap();
            let certificates = ("SSL_CERT_FILE".into(), file.into_os_string());
            // Without hashed names, so there are no certificates for OpenSSL in this directory.
            let no_others = ("SSL_CERT_DIR".into(), directory.into());
            vec![certificates, no_others, ("OJS_WEBHOOK_ALLOW".into(), "localhost".into())]
        };
        ServerProcess::with_environment("full", environment).await
    }
}

/// A name of its own for each: authorities are looked for by their names.
fn named(name: &str, hosts: Vec<String>) -> CertificateParams {
    let mut about = CertificateParams::new(hosts).unwrap();
    about.distinguished_name = DistinguishedName::new();
    about.distinguished_name.push(DnType::CommonName, name);
    about
}

fn for_host(host: &str) -> CertificateParams {
    named(host, vec![host.to_owned()])
}

fn expired(host: &str) -> CertificateParams {
    let mut about = for_host(host);
    (about.not_before, about.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    about
}

fn self_signed(host: &str) -> Identity {
    let key = KeyPair::generate().unwrap();
    Identity(named("its own authority", vec![host.to_owned()]).self_signed(&key).unwrap().der().clone(), key)
}

/// An endpoint that completes every job.
struct Secured {
    url: String,
    /// The version of HTTP of each request.
    versions: UnboundedReceiver<Version>,
    connections: Arc<AtomicUsize>,
}

impl Secured {
    async fn new(Identity(certificate, key): Identity, protocols: &[&str]) -> Self {
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}/hook", listener.local_addr().unwrap().port());
        let (sender, versions) = unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let accepted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    // A client that does not trust the certificate ends the connection here.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let completed = service_fn(move |request: Request<Incoming>| {
                        let _ = sender.send(request.version());
                        let answer = Response::new(json!({"status": "completed"}).to_string());
                        async move { Ok::<_, Infallible>(answer) }
                    });
                    let builder = auto::Builder::new(TokioExecutor::new());
                    let _ = builder.serve_connection(TokioIo::new(stream), completed).await;
                });
            }
        });
        Self { url, versions, connections }
    }
}

async fn completed(server: &ServerProcess, job_type: &str) {
    let job = enqueued(server, job_type).await;
    until("the job is completed", || async { (state(server, &job).await == "completed").then_some(()) }).await;
}

#[tokio::test]
async fn an_endpoint_that_speaks_http_2_gets_its_jobs_over_one_connection() {
    let authority = Authority::new("the authority");
    let server = authority.server().await;
    let mut endpoint = Secured::new(authority.signed(&for_host("localhost")), &["h2", "http/1.1"]).await;
    says(&server, &["push", "add", &endpoint.url, "t", "--max-concurrency", "20"]).await;
    completed(&server, "t").await;
    let jobs: Vec<String> = {
        let body = json!({"jobs": vec![json!({"type": "t", "args": []}); 20]});
        let answer = server.connect().await.post("/jobs/batch", &body).await.expect(201).json();
        answer["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned()).collect()
    };
    for job in &jobs {
        until("the job is completed", || async { (state(&server, job).await == "completed").then_some(()) }).await;
    }
    for _ in 0..21 {
        assert_eq!(endpoint.versions.recv().await, Some(Version::HTTP_2));
    }
    assert!(endpoint.versions.try_recv().is_err(), "each job was sent once");
    assert_eq!(endpoint.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_endpoint_that_knows_http_1_alone_gets_its_jobs_over_tls_too() {
    let authority = Authority::new("the authority");
    let server = authority.server().await;
    let mut endpoint = Secured::new(authority.signed(&for_host("localhost")), &["http/1.1"]).await;
    says(&server, &["push", "add", &endpoint.url, "t"]).await;
    completed(&server, "t").await;
    assert_eq!(endpoint.versions.recv().await, Some(Version::HTTP_11));
}

#[tokio::test]
async fn no_job_goes_to_an_endpoint_whose_certificate_is_wrong_and_the_list_says_what_is_wrong() {
    let authority = Authority::new("the authority");
    let server = authority.server().await;
    let cases = [
        ("expired", authority.signed(&expired("localhost")), "its certificate has expired"),
        ("another.host", authority.signed(&for_host("other.example")), "its certificate is for another host"),
        ("self.signed", self_signed("localhost"), "its certificate is signed by an authority that this machine does not trust"),
        (
            "unknown.authority",
            Authority::new("another authority").signed(&for_host("localhost")),
            "authority that this machine does not trust",
        ),
    ];
    for (job_type, identity, reason) in cases {
        let mut endpoint = Secured::new(identity, &["h2", "http/1.1"]).await;
        says(&server, &["push", "add", &endpoint.url, job_type]).await;
        let job = enqueued(&server, job_type).await;
        let listed = reason_in_list(&server, &endpoint.url).await;
        assert!(listed.contains("cannot connect: ") && listed.contains(reason), "{job_type}: {listed}");
        until("the job waits", || async { (state(&server, &job).await == "retryable").then_some(()) }).await;
        assert!(endpoint.versions.try_recv().is_err(), "{job_type}: it has seen no request");
    }
}
