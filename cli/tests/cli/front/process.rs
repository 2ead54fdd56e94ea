//! The process in front.
use std::net::SocketAddr;
use std::process::{ExitStatus, Output, Stdio};

use ojs_tests::{PATIENCE, Wire};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// `ojs server --ui-server`, killed when dropped.
pub struct Front {
    child: Child,
    pub address: SocketAddr,
}

fn command(url: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.args(["server", "--ui-server", url]).args(more);
    for name in ["OJS_AUTH_TOKEN", "OJS_URL", "OJS_STORE", "OJS_KEYS"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

impl Front {
    pub async fn start(url: &str, more: &[&str]) -> Self {
        let more = [&["--listen", "127.0.0.1:0", "--log-level", "error"], more].concat();
        let mut child = command(url, &more).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = timeout(PATIENCE, lines.next_line()).await.expect("it says where it listens").unwrap().unwrap();
        let address = first.strip_prefix("listening on http://").expect(&first).parse().unwrap();
        let second = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        assert_eq!(second, format!("dashboard at http://{address}/ui/"));
        Self { child, address }
    }

    pub async fn connect(&self) -> Wire {
        Wire::connect(self.address).await.unwrap()
    }

    pub async fn stopped(mut self) -> ExitStatus {
        let pid = Pid::from_raw(self.child.id().unwrap().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        timeout(PATIENCE, self.child.wait()).await.expect("it ends").unwrap()
    }
}

/// Runs one that must not start; returns its words.
#[track_caller]
pub fn refused(output: &Output, status: i32, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert!(output.stdout.is_empty(), "what does not start must not say that it listens");
    for word in words {
        assert!(said.contains(word), "{word:?} is missing in: {said}");
    }
}

pub async fn fails(url: &str, more: &[&str]) -> Output {
    let more = [&["--listen", "127.0.0.1:0"], more].concat();
    timeout(PATIENCE, command(url, &more).output()).await.expect("it ends").unwrap()
}
