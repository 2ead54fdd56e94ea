//! Requests go through the proxy that the environment names, and never to it when the server is on this machine.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed unwrap is a failed test")]
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc;

use ojs::Client;
use ojs::transport::ResendPolicy;

/// The URL that the child process asks.
const ASK: &str = "OJS_TEST_ASK";
const TOKEN: &str = "planted-5ecret";
/// All that may be set where the tests run.
const VARIABLES: [&str; 9] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "OJS_PROXY"];

/// A proxy that answers 502 and tells the head of each request.
fn proxy() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
            if tell.send(head.join("\n")).is_err() {
                break;
            }
        }
    });
    (url, told)
}

/// Environments are of a process: each case runs in one of its own.
#[tokio::test]
async fn a_proxy_of_the_environment_is_used_and_never_for_this_machine() {
    if let Ok(url) = std::env::var(ASK) {
        let client = Client::builder().url(url).auth_token(TOKEN).resend(ResendPolicy::never()).connect().await.unwrap();
        assert!(client.health().await.is_err(), "neither the server nor the proxy is real");
        return;
    }
    let (proxy, told) = proxy();
    for (url, variables, goes) in [
        ("http://jobs.invalid:1", vec![("HTTP_PROXY", &*proxy)], true),
        ("http://jobs.invalid:1", vec![("ALL_PROXY", &*proxy)], true),
        ("http://jobs.invalid:1", vec![("HTTP_PROXY", &*proxy), ("NO_PROXY", "jobs.invalid")], false),
        ("http://jobs.invalid:1", vec![("HTTP_PROXY", &*proxy), ("OJS_PROXY", "none")], false),
        ("http://127.0.0.1:1", vec![("HTTP_PROXY", &*proxy), ("ALL_PROXY", &*proxy)], false),
        ("http://localhost:1", vec![("HTTP_PROXY", &*proxy)], false),
    ] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        for name in VARIABLES {
            child.env_remove(name);
        }
        let output = child.env(ASK, url).envs(variables.clone()).output().unwrap();
        assert!(output.status.success(), "{url} {variables:?}: {}", String::from_utf8_lossy(&output.stdout));
        let asked: Vec<String> = told.try_iter().collect();
        assert_eq!(!asked.is_empty(), goes, "{url} {variables:?}: {asked:?}");
        if goes {
            let head = asked[0].to_ascii_lowercase();
            assert!(head.starts_with("get http://jobs.invalid:1/") && head.contains(TOKEN), "what the guide warns of: {head}");
        }
    }
}
