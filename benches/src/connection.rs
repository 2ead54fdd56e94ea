//! A keep-alive HTTP/1.1 connection that sends bytes made beforehand and looks at no more of the answer than it must:
//! the generator shares the cores with the server it measures.
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Result;

/// One connection, one request at a time.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

/// Where an answer lies in the connection's buffer.
pub struct Answer<'a> {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub body: &'a [u8],
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 16 * 1024], filled: 0 })
    }

    /// Sends the request and waits for its answer.
    pub async fn call(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.filled = 0;
        let (status, body_start, length) = loop {
            self.read_some().await?;
            if let Some(head) = parse_head(&self.buffer[..self.filled])? {
                break head;
            }
        };
        let end = body_start + length;
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        while self.filled < end {
            self.read_some().await?;
        }
        Ok(Answer { status, body: &self.buffer[body_start..end] })
    }

    /// As [`call`](Self::call), but any status other than `expected` is an error that shows the answer.
    pub async fn expect(&mut self, request: &[u8], expected: u16) -> Result<&[u8]> {
        let answer = self.call(request).await?;
        if answer.status == expected {
            return Ok(answer.body);
        }
        let shown: String = String::from_utf8_lossy(answer.body).chars().take(400).collect();
        Err(format!("expected HTTP {expected}, got {}: {shown}", answer.status).into())
    }

    async fn read_some(&mut self) -> Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let n = self.stream.read(&mut self.buffer[self.filled..]).await?;
        if n == 0 {
            return Err("the server closed the connection".into());
        }
        self.filled += n;
        Ok(())
    }
}

/// Status, start of the body, length of the body; `None` while the head is incomplete.
fn parse_head(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let Some(head) = memchr::memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&bytes[..head])?;
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.get(9..12)).ok_or("no status line")?.parse()?;
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .ok_or("the answer has no Content-Length")?;
    Ok(Some((status, head + 4, length.1.trim().parse()?)))
}

/// The bytes of a POST request.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    with_body("POST", path, body)
}

/// The bytes of a PUT request.
pub fn put(path: &str, body: &str) -> Vec<u8> {
    with_body("PUT", path, body)
}

/// The bytes of a PATCH request.
pub fn patch(path: &str, body: &str) -> Vec<u8> {
    with_body("PATCH", path, body)
}

fn with_body(method: &str, path: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/openjobspec+json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The bytes of a GET request.
pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n").into_bytes()
}
