//! A server whose answers are the bytes of another implementation, over a real socket.
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// Status, media type, body.
pub type Words = (u16, &'static str, String);

/// The double, and what it was asked.
pub struct Double {
    pub url: String,
    /// Method and path, and the body.
    pub heard: mpsc::UnboundedReceiver<(String, Value)>,
}

impl Double {
    /// Listens on a port of the system's choice; `answer` gets the method with the path, and the body.
    pub async fn speaking(answer: impl Fn(&str, &Value) -> Words + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let (tell, heard) = mpsc::unbounded_channel();
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&answer), tell.clone()));
            }
        });
        Self { url, heard }
    }

    /// The next request to this path, others are passed over.
    pub async fn hears(&mut self, wanted: &str) -> Value {
        let patience = std::time::Duration::from_secs(60);
        loop {
            let heard = tokio::time::timeout(patience, self.heard.recv()).await;
            let (line, body) = heard.unwrap_or_else(|_| panic!("no {wanted}")).expect("the double lives");
            if line == wanted {
                return body;
            }
        }
    }
}

async fn converse(
    stream: TcpStream,
    answer: Arc<impl Fn(&str, &Value) -> Words>,
    tell: mpsc::UnboundedSender<(String, Value)>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
        let line = line.rsplit_once(' ')?.0.to_owned();
        let mut length = 0;
        loop {
            let mut header = String::new();
            stream.read_line(&mut header).await.ok()?;
            if header.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let (status, media, text) = answer(&line, &body);
        // A test that is over does not listen.
        let _ = tell.send((line, body));
        let head = format!("HTTP/1.1 {status} OK\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n", text.len());
        stream.get_mut().write_all(format!("{head}{text}").as_bytes()).await.ok()?;
    }
}
