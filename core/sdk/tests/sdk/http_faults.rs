//! HTTP as it fails in the field: lost answers, TLS, certificates.
#![cfg(all(feature = "embedded", feature = "http"))]
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ojs::testing::TestServer;
use ojs::transport::{ResendPolicy, TransportErrorKind};
use ojs::{Client, Error, JobRequest};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Forwards connections to the server, but swallows the first answers: the server acts, the client never hears of it.
async fn lossy_proxy(server: &TestServer, losses: usize) -> (String, Arc<AtomicUsize>) {
    let upstream = server.url().strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let lost = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&lost);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&upstream).await.unwrap();
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let mut answer = vec![0; 65536];
                while let Ok(length @ 1..) = from_server.read(&mut answer).await {
                    if count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n < losses).then_some(n + 1)).is_ok() {
                        return;
                    }
                    to_client.write_all(&answer[..length]).await.unwrap();
                }
            });
        }
    });
    (url, lost)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_enqueue_whose_answer_is_lost_makes_one_job() {
    let server = TestServer::start().await.unwrap();
    let (url, lost) = lossy_proxy(&server, 2).await;
    let client = Client::connect(&url).await.unwrap();
    let job = client.enqueue("email.send", "a@example.com").await.unwrap();
    assert_eq!(lost.load(Ordering::SeqCst), 2, "the test has lost answers");
    assert_eq!(job.args.as_str(), r#"["a@example.com"]"#);
    assert_eq!(client.queue_stats("default").await.unwrap().available, 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_answer_is_lost_is_stored_once() {
    let server = TestServer::start().await.unwrap();
    let (url, _) = lossy_proxy(&server, 1).await;
    let client = Client::connect(&url).await.unwrap();
    let jobs = client.enqueue_batch((0..5).map(|n| JobRequest::new("email.send", n))).await.unwrap();
    assert_eq!(jobs.iter().flatten().map(|job| job.args.as_str()).collect::<Vec<_>>(), ["[0]", "[1]", "[2]", "[3]", "[4]"]);
    assert_eq!(client.queue_stats("default").await.unwrap().available, 5);
    server.stop().await;
}

/// Answers each request with a body that goes on until the client hangs up; announces `length` if there is one.
async fn endless_server(length: Option<u64>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                let _ = client.read(&mut request).await;
                let head = match length {
                    Some(length) => format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n"),
                    None => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(),
                };
                client.write_all(head.as_bytes()).await?;
                let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
                loop {
                    client.write_all(chunk.as_bytes()).await?;
                }
                #[expect(unreachable_code, reason = "gives the block its type")]
                Ok::<(), std::io::Error>(())
            });
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_end_takes_no_more_than_its_bound() {
    for length in [None, Some(1 << 40)] {
        let url = endless_server(length).await;
        let client = Client::builder().url(&url).max_response_bytes(100_000).connect().await.unwrap();
        let error = client.queue_stats("default").await.unwrap_err();
        assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::TooLarge), "{error:?}");
        assert!(error.to_string().contains("longer than 100000 bytes"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_its_bound_is_read() {
    let server = TestServer::start().await.unwrap();
    let client = Client::builder().url(server.url()).max_response_bytes(1 << 20).connect().await.unwrap();
    let job = client.enqueue("email.send", "x".repeat(200_000)).await.unwrap();
    assert_eq!(client.get_job(&job.id).await.unwrap().args.as_str().len(), 200_004);
    let strict = Client::builder().url(server.url()).max_response_bytes(200_000).connect().await.unwrap();
    let error = strict.get_job(&job.id).await.unwrap_err();
    assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::TooLarge), "{error:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_resending_a_lost_answer_is_the_callers_business() {
    let server = TestServer::start().await.unwrap();
    let (url, _) = lossy_proxy(&server, 1).await;
    let client = Client::builder().url(url).resend(ResendPolicy::never()).connect().await.unwrap();
    let error = client.enqueue("email.send", ()).await.unwrap_err();
    assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::Interrupted), "{error:?}");
    server.stop().await;
}

/// A certificate authority, a server with its certificate that wants one of the client, and the files for the client.
struct Tls {
    url: String,
    folder: tempfile::TempDir,
}

impl Tls {
    async fn start() -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().unwrap();
        let root = authority.self_signed(&authority_key).unwrap();
        let issuer = Issuer::new(authority, authority_key);
        let signed = |name: &str| {
            let key = KeyPair::generate().unwrap();
            (CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap(), key)
        };
        let (server, server_key) = signed("localhost");
        let (client, client_key) = signed("client");
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("ca.pem", root.pem()),
            ("client.pem", client.pem()),
            ("client.key", client_key.serialize_pem()),
            ("empty.pem", String::new()),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut roots = rustls::RootCertStore::empty();
        roots.add(root.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
        let chain: Vec<CertificateDer<'static>> = vec![server.der().clone()];
        let key = PrivateKeyDer::try_from(server_key.serialize_der()).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client without the right certificate is refused here.
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut head = [0; 4096];
                    let length = stream.read(&mut head).await.unwrap();
                    assert!(length > 0, "a request");
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"status\":\"ok\"}").await.unwrap();
                    stream.shutdown().await.unwrap();
                });
            }
        });
        Self { url, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn client(&self) -> ojs::client::ClientBuilder {
        Client::builder().url(&self.url).resend(ResendPolicy::never())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_authority_and_a_client_certificate() {
    let tls = Tls::start().await;
    let client = tls.client().tls_ca_file(tls.file("ca.pem")).tls_client_cert(tls.file("client.pem"), tls.file("client.key"));
    assert_eq!(client.connect().await.unwrap().health().await.unwrap()["status"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_known_authority_is_not_trusted() {
    let tls = Tls::start().await;
    let error = tls.client().connect().await.unwrap().health().await.unwrap_err();
    assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::Connect), "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_sees_whether_the_client_is_known() {
    let tls = Tls::start().await;
    let client = tls.client().tls_ca_file(tls.file("ca.pem")).connect().await.unwrap();
    assert!(matches!(client.health().await, Err(Error::Transport(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_tls_are_refused_where_nothing_is_encrypted() {
    let tls = Tls::start().await;
    let plain = || Client::builder().url("http://127.0.0.1:9");
    let (ca, cert) = (plain().tls_ca_file(tls.file("ca.pem")), plain());
    let cert = cert.tls_client_cert(tls.file("client.pem"), tls.file("client.key"));
    for (client, setting) in [(ca, "ca_file"), (cert, "client_cert")] {
        let error = client.connect().await.unwrap_err();
        assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::Config), "{error:?}");
        assert!(error.to_string().contains(setting) && error.to_string().contains("use https://"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_used_are_named() {
    let tls = Tls::start().await;
    for (name, says) in [("missing.pem", "cannot read"), ("empty.pem", "holds no certificate")] {
        let error = tls.client().tls_ca_file(tls.file(name)).connect().await.unwrap_err();
        assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::Config), "{error:?}");
        assert!(error.to_string().contains(says) && error.to_string().contains(name), "{error}");
    }
}
