//! `ojs server` as a process of its own.
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpSocket;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::{PATIENCE, Wire};

/// The `ojs` binary of this build: beside the test that runs, or where `OJS_BIN` says.
#[must_use]
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("OJS_BIN") {
        return path.into();
    }
    // target/<profile>/deps/<test> → target/<profile>/ojs
    let test = std::env::current_exe().expect("this test has a path");
    let path = test.parent().and_then(Path::parent).expect("tests live in target/<profile>/deps").join("ojs");
    assert!(path.exists(), "{} is missing: run `cargo build -p ojs-cli` with the same profile first", path.display());
    path
}

/// Variables for a server.
pub type Environment = Vec<(std::ffi::OsString, std::ffi::OsString)>;

/// A running server. Killed when dropped; its log is shown if the test failed.
pub struct ServerProcess {
    child: Child,
    address: SocketAddr,
    port: Arc<Port>,
    store: String,
    log: PathBuf,
    arguments: Vec<String>,
    environment: Environment,
    // Kept to be deleted with the last server that uses it.
    directory: Arc<TempDir>,
}

/// A port of 127.0.0.1 for a server and its successors.
struct Port {
    address: SocketAddr,
    /// Reserves the port: the operating system gives it to no other process while no server listens on it. Bound, and never listened on: a server that asks for the
    /// port by its number gets it (on Linux; elsewhere the port may be lost).
    _held: Option<TcpSocket>,
}

impl Port {
    fn take() -> Arc<Self> {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        Arc::new(Self { address: socket.local_addr().unwrap(), _held: cfg!(target_os = "linux").then_some(socket) })
    }
}

impl ServerProcess {
    /// A server on a new SQLite file.
    pub async fn sqlite() -> Self {
        Self::start("sqlite", &[]).await
    }

    /// A server in memory.
    pub async fn memory() -> Self {
        Self::start("memory", &[]).await
    }

    /// A server with an empty store (`sqlite` or `memory`), and further arguments.
    pub async fn start(store: &str, arguments: &[&str]) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let store = match store {
            "sqlite" => format!("sqlite:{}", directory.path().join("jobs.db").display()),
            other => format!("{other}:"),
        };
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self::spawn(directory, Port::take(), store, arguments, Environment::new()).await
    }

    /// A server on a database that exists.
    pub async fn on(store: &str, arguments: &[&str]) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self::spawn(directory, Port::take(), store.to_owned(), arguments, Environment::new()).await
    }

    /// A server on a database that exists, with variables in its environment.
    pub async fn on_with(store: &str, environment: Environment) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        Self::spawn(directory, Port::take(), store.to_owned(), Vec::new(), environment).await
    }

    /// A server on a new SQLite file with this durability; its environment is made from the directory of the file.
    pub async fn with_environment(durability: &str, environment: impl FnOnce(&Path) -> Environment) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let store = format!("sqlite:{}?durability={durability}", directory.path().join("jobs.db").display());
        let environment = environment(directory.path());
        Self::spawn(directory, Port::take(), store, Vec::new(), environment).await
    }

    /// The figures that `GET /metrics` answers with.
    pub async fn metrics(&self) -> String {
        let mut wire = self.connect().await;
        wire.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n").await.unwrap();
        String::from_utf8(wire.answer().await.unwrap().body).unwrap()
    }

    /// The directory of its files.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    async fn spawn(
        directory: Arc<TempDir>,
        port: Arc<Port>,
        store: String,
        arguments: Vec<String>,
        environment: Environment,
    ) -> Self {
        let log = directory.path().join("server.log");
        let stderr = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut child = Command::new(binary())
            .args(["server", "--listen", &port.address.to_string(), "--store", &store])
            .args(&arguments)
            .envs(environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        timeout(PATIENCE, stdout.read_line(&mut line)).await.expect("the server says where it listens").unwrap();
        let Some(address) = line.strip_prefix("listening on http://") else {
            panic!("unexpected first line {line:?}; the log says:\n{}", std::fs::read_to_string(&log).unwrap_or_default());
        };
        let address = address.trim_end().parse().unwrap();
        Self { child, address, port, store, log, arguments, environment, directory }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL that clients use.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The store, as given to `--store`.
    #[must_use]
    pub fn store(&self) -> &str {
        &self.store
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The most memory that it has had so far, in bytes. Linux tells it.
    #[must_use]
    pub fn peak_memory(&self) -> u64 {
        let peak = self.told("VmHWM:");
        peak.trim_end_matches(" kB").parse::<u64>().expect("a number of kibibytes") << 10
    }

    /// The threads that it has now. Linux tells it.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.told("Threads:").parse().expect("a number")
    }

    /// What Linux tells of its process under a name.
    fn told(&self, name: &str) -> String {
        let pid = self.child.id().expect("the server runs");
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the system tells of its processes");
        status.lines().find_map(|line| line.strip_prefix(name)).expect("a line with this name").trim().to_owned()
    }

    /// A new connection.
    pub async fn connect(&self) -> Wire {
        Wire::connect(self.address).await.unwrap()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).unwrap())).expect("the server runs");
        kill_process(pid, signal).unwrap();
    }

    /// Waits until the process has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.child.wait()).await.expect("the server ends").unwrap()
    }

    /// SIGTERM, and its exit status.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended().await
    }

    /// SIGKILL, and nothing left of it.
    pub async fn kill(&mut self) {
        self.child.start_kill().unwrap();
        self.ended().await;
    }

    /// Another process on the same store, after this one has ended (or beside it: SQLite allows that).
    pub async fn again(&self) -> Self {
        self.next(Port::take()).await
    }

    /// The next process on the same store and the same address, after this one has ended: clients do not notice the difference.
    pub async fn again_there(&self) -> Self {
        self.next(Arc::clone(&self.port)).await
    }

    async fn next(&self, port: Arc<Port>) -> Self {
        let directory = Arc::clone(&self.directory);
        Self::spawn(directory, port, self.store.clone(), self.arguments.clone(), self.environment.clone()).await
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut text = String::new();
            let read = std::fs::File::open(&self.log).and_then(|mut file| file.read_to_string(&mut text));
            eprintln!("--- log of the server on {} ({read:?}) ---\n{text}---", self.address);
        }
    }
}
