//! One server in a directory of its own. A supervisor process stops it when the test process ends.
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::binaries::Binaries;
use crate::supervisor::{Supervisor, free_port};
use crate::{Database, Error, sql};

/// A loaded machine may need a while; a server that has not answered by then does not come.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two knocks at a server that starts.
const KNOCK: Duration = Duration::from_millis(10);
/// The free port may be taken by somebody else before the server has it.
const PORTS_TRIED: usize = 5;

/// How a server is configured.
#[derive(Debug, Clone, Default)]
pub struct Options {
    durable: bool,
    within: Option<PathBuf>,
    settings: Vec<(String, String)>,
}

impl Options {
    /// For tests: nothing is synced to the disk. Survives a kill of the server, not a power cut.
    #[must_use]
    pub fn quick() -> Self {
        Self::default()
    }

    /// For benchmarks and tests of durability: `fsync`, `synchronous_commit` and `full_page_writes` as PostgreSQL has them, on.
    #[must_use]
    pub fn durable() -> Self {
        Self { durable: true, ..Self::default() }
    }

    /// A setting of `postgresql.conf`.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Below which directory its files live, instead of the system's temporary one. The server's user must reach it.
    #[must_use]
    pub fn within(mut self, directory: impl Into<PathBuf>) -> Self {
        self.within = Some(directory.into());
        self
    }

    /// As arguments of `postgres`; later ones win.
    fn arguments(&self) -> Vec<String> {
        // Many tests at a time, each with its own pool.
        let mut all = vec!["max_connections=300".to_owned()];
        if !self.durable {
            all.extend(["fsync=off", "full_page_writes=off", "synchronous_commit=off"].map(str::to_owned));
        }
        all.extend(self.settings.iter().map(|(name, value)| format!("{name}={value}")));
        all.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
    }
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Transactions are rolled back, connections closed, everything written.
    Fast,
    /// As in a crash: nothing is written, the next start recovers.
    Immediate,
}

/// A PostgreSQL server on a port of 127.0.0.1 and a unix socket. It ends, and its files vanish, when this is dropped or
/// when the process ends, be it by `kill -9`.
#[derive(Debug)]
pub struct Server {
    supervisor: Supervisor,
    directory: PathBuf,
    port: u16,
}

impl Server {
    /// Makes a database cluster, starts its server, waits until it answers. Takes about a second.
    ///
    /// # Errors
    /// PostgreSQL is not installed, or does not start.
    pub fn start(options: &Options) -> Result<Self, Error> {
        let binaries = Binaries::find()?;
        let mut tries = 1;
        loop {
            let server = Self::try_start(&binaries, options)?;
            match server.wait() {
                Ok(()) => return Ok(server),
                Err(_) if server.port_taken() && tries < PORTS_TRIED => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn try_start(binaries: &Binaries, options: &Options) -> Result<Self, Error> {
        let directory = new_directory(binaries, options)?;
        let started = initdb(binaries, &directory).and_then(|()| free_port()).and_then(|port| {
            Ok(Self { supervisor: supervise(binaries, &directory, port, options)?, directory: directory.clone(), port })
        });
        started.inspect_err(|_| drop(std::fs::remove_dir_all(&directory)))
    }

    fn port_taken(&self) -> bool {
        self.log().contains("could not bind")
    }

    /// The URL of the database `postgres`, as its superuser.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The port on 127.0.0.1; it stays the same over restarts.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process id of the server's first process, the parent of all its others; `None` while it is stopped.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        let file = std::fs::read_to_string(self.directory.join("data/postmaster.pid")).ok()?;
        file.lines().next()?.parse().ok()
    }

    /// The directory of the unix socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.directory
    }

    /// A new, empty database.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn database(&self) -> Result<Database, Error> {
        Database::create(&self.url())
    }

    /// Stops it; connections break. Returns when no process of the server is left that could write.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub fn stop(&self, how: Stop) -> Result<(), Error> {
        self.supervisor.order(match how {
            Stop::Fast => "INT",
            Stop::Immediate => "QUIT",
        })
    }

    /// Starts it again after [`stop`](Self::stop), on the same port, and waits until it answers.
    ///
    /// # Errors
    /// It does not start.
    pub fn start_again(&self) -> Result<(), Error> {
        self.supervisor.order("start")?;
        self.wait()
    }

    /// Stops and starts it.
    ///
    /// # Errors
    /// It does not start.
    pub fn restart(&self, how: Stop) -> Result<(), Error> {
        self.stop(how)?;
        self.start_again()
    }

    /// What the server has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// Ends the server and removes its files. Later calls do nothing.
    pub(crate) fn end(&self) {
        self.supervisor.end();
    }

    /// Waits until it answers a query; the log is the message if it does not.
    fn wait(&self) -> Result<(), Error> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match sql::run(&self.url(), "SELECT 1") {
                Ok(()) => return Ok(()),
                Err(_) if Instant::now() < deadline && !self.port_taken() => std::thread::sleep(KNOCK),
                Err(error) => {
                    return Err(Error::Program {
                        program: "postgres",
                        message: format!("{error}; its log says:\n{}", self.log()),
                    });
                }
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// A directory that only the server's user reads. The supervisor removes it.
fn new_directory(binaries: &Binaries, options: &Options) -> Result<PathBuf, Error> {
    let directory = tempfile::Builder::new()
        .prefix("ojs-postgres-")
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir_in(options.within.clone().unwrap_or_else(std::env::temp_dir))
        .map_err(Error::system("cannot make a temporary directory"))?
        .keep();
    if let Some((user, group)) = binaries.user() {
        std::os::unix::fs::chown(&directory, Some(user), Some(group)).map_err(Error::system("cannot give the directory away"))?;
    }
    Ok(directory)
}

fn initdb(binaries: &Binaries, directory: &Path) -> Result<(), Error> {
    let output = binaries
        .command(binaries.path("initdb"))
        .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"])
        .arg(directory.join("data"))
        .current_dir("/")
        .output()
        .map_err(Error::system("cannot start initdb"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Program { program: "initdb", message: String::from_utf8_lossy(&output.stderr).into_owned() })
}

fn supervise(binaries: &Binaries, directory: &Path, port: u16, options: &Options) -> Result<Supervisor, Error> {
    let mut server = binaries.command("/bin/sh");
    let program = binaries.path("postgres");
    Supervisor::start(&mut server, directory, "QUIT", &program, |command| {
        command.arg("-D").arg(directory.join("data")).arg("-k").arg(directory);
        command.args(["-h", "127.0.0.1", "-p", &port.to_string()]).args(options.arguments());
    })
}
