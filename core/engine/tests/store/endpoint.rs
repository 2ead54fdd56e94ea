//! A real HTTP endpoint on a real socket, which answers as a test wants, also wrongly.
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What the endpoint does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Answers with a status, more headers and a body.
    Answer(u16, String, String),
    /// Answers never.
    Hang,
    /// Answers 200, announces a body and sends half of it.
    Cut,
    /// Answers 200 and sends a body that never ends.
    Endless,
    /// Waits until the test lets it go on, then answers with a status.
    Held(Arc<Notify>, u16),
    /// Closes the connection instead of answering.
    Close,
    /// Answers 200 with a body, and then once more without having been asked.
    Twice(String),
    /// Answers 200, announces a body and sends a byte of it now and then.
    Drip,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self::Answer(status, String::new(), "said".to_owned())
    }

    /// 200 with a JSON body.
    pub fn json(body: &serde_json::Value) -> Self {
        Self::Answer(200, "Content-Type: application/json\r\n".to_owned(), body.to_string())
    }

    pub fn redirect(status: u16, to: &str) -> Self {
        Self::Answer(status, format!("Location: {to}\r\n"), String::new())
    }
}

/// A request as it arrived.
#[derive(Debug)]
pub struct Request {
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Whether a receiver with this secret takes it at a time, in milliseconds.
    pub fn is_signed_by(&self, secret: &str, now: i64) -> bool {
        let all: Vec<(&str, &str)> = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let standard: Vec<(&str, &str)> = all.iter().copied().filter(|(name, _)| !name.starts_with("x-ojs-")).collect();
        let verify = |headers: &[(&str, &str)]| {
            let received = ojs_model::webhook::Received { body: self.body.as_bytes(), headers };
            received.verify(&[secret], 300, now / 1000).is_ok()
        };
        verify(&all) && verify(&standard)
    }
}

/// The endpoint. It listens until it is dropped.
pub struct Endpoint {
    pub port: u16,
    requests: UnboundedReceiver<Request>,
    connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Endpoint {
    /// Answers the first request with the first reply, and so on; the last one is for all that follow.
    pub async fn new(replies: Vec<Reply>) -> Self {
        Self::at("127.0.0.1:0", replies).await
    }

    /// The same, on an address of this machine.
    pub async fn at(address: &str, replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = unbounded_channel();
        let (connections, served) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let accepted = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            let mut serving = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                serving.spawn(serve(stream, replies.clone(), Arc::clone(&served), sender.clone()));
            }
        });
        Self { port, requests, connections, task }
    }

    pub async fn answering(status: u16) -> Self {
        Self::new(vec![Reply::status(status)]).await
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The next request; waits for it.
    pub async fn next(&mut self) -> Request {
        tokio::time::timeout(PATIENCE, self.requests.recv()).await.expect("a request in time").unwrap()
    }

    /// Whether a request has arrived that was not looked at.
    pub fn has_more(&mut self) -> bool {
        self.requests.try_recv().is_ok()
    }

    /// A request that has arrived and was not looked at.
    pub fn taken(&mut self) -> Option<Request> {
        self.requests.try_recv().ok()
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, replies: Vec<Reply>, served: Arc<AtomicUsize>, sender: UnboundedSender<Request>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await {
        let number = served.fetch_add(1, Ordering::SeqCst);
        let reply = replies.get(number).or(replies.last()).unwrap().clone();
        let _ = sender.send(request);
        let socket = stream.get_mut();
        // A client may hang up at any moment.
        let _ = match reply {
            Reply::Answer(status, headers, body) => {
                let length = body.len();
                socket
                    .write_all(format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}").as_bytes())
                    .await
            }
            Reply::Hang => pending().await,
            Reply::Cut => {
                let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf").await;
                return;
            }
            Reply::Endless => {
                let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n").await;
                while socket.write_all(&[b'x'; 16_384]).await.is_ok() {}
                return;
            }
            Reply::Held(go_on, status) => {
                go_on.notified().await;
                socket.write_all(format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n").as_bytes()).await
            }
            Reply::Close => return,
            Reply::Twice(body) => {
                let length = body.len();
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
                socket.write_all(answer.repeat(2).as_bytes()).await
            }
            Reply::Drip => {
                let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n").await;
                while socket.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                return;
            }
        };
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { path, headers, body: String::from_utf8(body).ok()? })
}
