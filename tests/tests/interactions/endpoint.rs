//! An HTTP endpoint of this test that answers 200 and keeps what it was sent.
use ojs_tests::PATIENCE;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// It listens until it is dropped.
pub struct Endpoint {
    port: u16,
    bodies: UnboundedReceiver<Value>,
    listening: JoinHandle<()>,
}

impl Endpoint {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, bodies) = unbounded_channel();
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(BufReader::new(stream), sender.clone()));
            }
        });
        Self { port, bodies, listening }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The next body; waits for it.
    pub async fn next(&mut self) -> Value {
        tokio::time::timeout(PATIENCE, self.bodies.recv()).await.expect("a delivery").unwrap()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Answers requests of one connection until the client closes it.
async fn serve(mut stream: BufReader<TcpStream>, sender: UnboundedSender<Value>) {
    while let Some(body) = read(&mut stream).await {
        let _ = sender.send(serde_json::from_slice(&body).unwrap());
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        if stream.get_mut().write_all(answer).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(body)
}
