//! What is drawn on a terminal: `ojs top` in a pseudo terminal, `--watch`, the manual.
use std::fs::File;
use std::io::{Read, Write};
use std::sync::mpsc;

use ojs_tests::{PATIENCE, ServerProcess};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::common::{fails, json_of, says};

/// A program in a pseudo terminal.
struct Terminal {
    master: File,
    child: std::process::Child,
    output: mpsc::Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(url: &str, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = File::options().read(true).write(true).open(name).unwrap();
        tcsetwinsize(&slave, Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ojs"));
        command.args(arguments).env("OJS_URL", url).env("TERM", "xterm-256color");
        let child = command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave).spawn().unwrap();
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The other end is closed when the program ends.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { master, child, output, seen: String::new() }
    }

    /// Waits until a text has been drawn.
    fn shows(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let bytes = self.output.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn top_shows_queues_and_workers_as_they_change_and_gives_the_screen_back() {
    let server = ServerProcess::memory().await;
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await;
    let mut terminal = Terminal::start(&server.url(), &["top"]);
    terminal.shows("\x1b[?1049h");
    terminal.shows("reports");
    terminal.shows("q quit");
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "letters"]).await;
    terminal.shows("letters");
    let beat = serde_json::json!({"worker_id": "worker-17", "active_jobs": 0, "queues": ["letters"]});
    server.connect().await.post("/workers/heartbeat", &beat).await.expect(200);
    terminal.shows("worker-17");
    terminal.press("s");
    terminal.press("q");
    terminal.shows("\x1b[?1049l");
    assert!(terminal.child.wait().unwrap().success());
    let told = json_of(&server, &["top"]).await;
    assert_eq!((told["stats"]["jobs"]["available"].as_u64(), told["queues"][0]["name"].is_string()), (Some(2), true));
    let once = says(&server, &["top"]).await;
    assert!(once.contains("2 available") && !once.contains('\x1b'), "a pipe gets one picture, without colours: {once}");
}

#[tokio::test]
async fn a_list_is_shown_again_and_again() {
    let server = ServerProcess::memory().await;
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.args(["queues", "list", "--watch=1"]).env("OJS_URL", server.url()).stdout(std::process::Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = async || tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    assert!(next().await.starts_with("QUEUE"));
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await;
    while !next().await.starts_with("reports") {}
    let refused = fails(&server.url(), &["jobs", "enqueue", "a.b", "--watch"], 2).await;
    assert!(refused.contains("`enqueue` is not repeated"), "{refused}");
}

#[tokio::test]
async fn the_manual_has_a_page_for_each_command() {
    let server = ServerProcess::memory().await;
    let page = says(&server, &["man"]).await;
    assert!(page.contains(".TH ojs 1") && page.contains("ojs\\-doctor(1)"), "{page}");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    says(&server, &["man", "--directory", path]).await;
    for name in ["ojs.1", "ojs-doctor.1", "ojs-jobs-why.1"] {
        assert!(std::fs::read_to_string(directory.path().join(name)).unwrap().contains(".SH SYNOPSIS"), "{name}");
    }
    let refused = fails(&server.url(), &["man", "--directory", "/nonexistent/man"], 2).await;
    assert!(refused.contains("mkdir -p /nonexistent/man"), "{refused}");
}
