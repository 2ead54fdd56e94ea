//! A client that can say anything, right or wrong: HTTP/1.1 by hand.
use std::io;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::PATIENCE;

/// The media type of OJS.
pub const MEDIA_TYPE: &str = "application/openjobspec+json";

/// One connection.
pub struct Wire {
    stream: BufReader<TcpStream>,
    patience: std::time::Duration,
}

/// One answer.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Names in lower case, in order of arrival.
    pub headers: Vec<(String, String)>,
    /// As received, chunks joined.
    pub body: Vec<u8>,
}

impl Wire {
    /// Connects.
    ///
    /// # Errors
    /// No server there.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), patience: PATIENCE })
    }

    /// The same connection, which waits for an answer for longer than usual.
    #[must_use]
    pub fn patient(mut self, patience: std::time::Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes.as_ref()).await
    }

    /// Says that no more will be sent; answers can still be read.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn finish(&mut self) -> io::Result<()> {
        self.stream.get_mut().shutdown().await
    }

    /// Sends a well-formed request and reads the answer.
    ///
    /// # Errors
    /// The connection broke before the answer was complete.
    pub async fn call(&mut self, method: &str, path: &str, body: &str) -> io::Result<Answer> {
        self.call_with(&[], method, path, body).await
    }

    /// The same, with more headers.
    ///
    /// # Errors
    /// The connection broke before the answer was complete.
    pub async fn call_with(&mut self, headers: &[(&str, &str)], method: &str, path: &str, body: &str) -> io::Result<Answer> {
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "{method} /ojs/v1{path} HTTP/1.1\r\nHost: test\r\nContent-Type: {MEDIA_TYPE}\r\n{more}Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.send([head.as_bytes(), body.as_bytes()].concat()).await?;
        self.answer().await
    }

    /// `POST` with a JSON body; a broken connection fails the test.
    pub async fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, &body.to_string()).await.unwrap()
    }

    /// `GET`; a broken connection fails the test.
    pub async fn get(&mut self, path: &str) -> Answer {
        self.call("GET", path, "").await.unwrap()
    }

    /// Reads one answer.
    ///
    /// # Errors
    /// The connection ended first, the bytes are no HTTP, or nothing came in time.
    pub async fn answer(&mut self) -> io::Result<Answer> {
        timeout(self.patience, self.read_answer())
            .await
            .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time")))
    }

    /// True if the server closes the connection without sending anything more.
    pub async fn is_closed_by_server(&mut self) -> bool {
        let mut rest = Vec::new();
        match timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await {
            // A reset is a way to close.
            Ok(Ok(_) | Err(_)) => rest.is_empty(),
            Err(_) => false,
        }
    }

    async fn read_answer(&mut self) -> io::Result<Answer> {
        let status_line = self.line().await?;
        let status = status_line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(|| not_http(&status_line))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| not_http(&line))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        // These have no body, and often no length.
        if matches!(status, 100 | 204 | 304) {
            return Ok(answer);
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            while let size @ 1.. = usize::from_str_radix(&self.line().await?, 16).map_err(io::Error::other)? {
                self.take(size, &mut answer.body).await?;
                self.line().await?;
            }
            self.line().await?;
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            self.take(length, &mut answer.body).await?;
        } else {
            self.stream.read_to_end(&mut answer.body).await?;
        }
        Ok(answer)
    }

    async fn take(&mut self, bytes: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let start = into.len();
        into.resize(start + bytes, 0);
        self.stream.read_exact(&mut into[start..]).await.map(drop)
    }

    /// Reads one line, of whatever it may be.
    ///
    /// # Errors
    /// The connection ended first, or nothing came in time.
    pub async fn next_line(&mut self) -> io::Result<String> {
        let late = || Err(io::Error::new(io::ErrorKind::TimedOut, "no line in time"));
        timeout(PATIENCE, self.line()).await.unwrap_or_else(|_| late())
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }
}

fn not_http(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not HTTP: {line:?}"))
}

impl Answer {
    /// The first header of that name (lower case).
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body, which must be JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.body)))
    }

    /// The code of the error body, `""` if it is none.
    #[must_use]
    pub fn code(&self) -> String {
        serde_json::from_slice::<Value>(&self.body)
            .ok()
            .and_then(|body| body["error"]["code"].as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// The answer, which must have this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// The job in the answer.
    #[must_use]
    pub fn job(&self) -> Value {
        self.json()["job"].clone()
    }
}
