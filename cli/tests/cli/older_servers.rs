//! The operator's tools against servers that cannot do everything.
use crate::common::{fails, ojs};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// A server that refuses the question about bulk operations, and changes two jobs in the operators' older calls.
async fn without_operations(status: u16, code: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let refusal = json!({"error": {"code": code, "message": "not for you", "retryable": false}}).to_string();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).await.unwrap() > 0 {
                let last = head.lines().last().unwrap().to_ascii_lowercase();
                length = last.strip_prefix("content-length: ").map_or(length, |text| text.parse().unwrap());
            }
            stream.read_exact(&mut vec![0; length]).await.unwrap();
            let is_asked = head.contains("/admin/bulk?");
            let changed = json!({"matched": 2, "succeeded": 2, "failed": 0, "has_more": false}).to_string();
            let (status, body) = if is_asked { (status, refusal.clone()) } else { (200, changed) };
            let length = body.len();
            let answer = format!("HTTP/1.1 {status} A\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn options_of_bulk_operations_are_refused_where_the_server_has_none() {
    let all = ["jobs", "bulk-cancel", "--all", "--queue", "q", "--yes"];
    let old = without_operations(404, "not_found").await;
    let output = ojs(&old, &all).await;
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "2 cancelled", "{output:?}");
    for (option, more) in [("--detach", &["--detach"][..]), ("--reason", &["--reason", "not needed"])] {
        let said = fails(&old, &[&all[..], more].concat(), 2).await;
        assert!(said.contains(&format!("{option} needs bulk operations")) && said.contains("leave"), "{said}");
    }
    // A refusal of the key says nothing about the server: the jobs are not changed in another way.
    let closed = without_operations(403, "permission_denied").await;
    let said = fails(&closed, &all, 1).await;
    assert!(said.contains("not for you"), "{said}");
}
