//! One server in a directory of its own. A supervisor process stops it when the test process ends.
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ojs_postgres_fixture::supervisor::{Supervisor, free_port, server_user};

use crate::{Database, Error, database};

/// A loaded machine may need a while; a server that has not answered by then does not come.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two knocks at a server that starts.
const KNOCK: Duration = Duration::from_millis(10);
/// The free port may be taken by somebody else before the server has it.
const PORTS_TRIED: usize = 5;
/// The user of the tests, with rights on everything: drivers differ in how they take an empty password.
const USER: &str = "CREATE USER IF NOT EXISTS 'ojs'@'127.0.0.1' IDENTIFIED BY 'ojs';
GRANT ALL ON *.* TO 'ojs'@'127.0.0.1' WITH GRANT OPTION;
";

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Transactions are rolled back, connections closed, everything written.
    Fast,
    /// As in a crash: nothing is written, the next start recovers.
    Immediate,
}

/// A MariaDB server on a port of 127.0.0.1. It ends, and its files vanish, when this is dropped or when the process ends, be it
/// by `kill -9`. Nothing is synced to the disk: it survives a kill of the server, not a power cut.
#[derive(Debug)]
pub struct Server {
    supervisor: Supervisor,
    directory: PathBuf,
    port: u16,
}

impl Server {
    /// Makes a data directory, starts its server, waits until it answers. Takes a few seconds. `settings` are the server's own
    /// options without their dashes: `innodb_autoinc_lock_mode=2`.
    ///
    /// # Errors
    /// MariaDB is not installed, or does not start.
    pub fn start(settings: &[String]) -> Result<Self, Error> {
        let program = program("mariadbd")?;
        let user = server_user(&["mysql", "nobody"])?;
        let mut tries = 1;
        loop {
            let server = Self::try_start(&program, user, settings)?;
            match server.wait() {
                Ok(()) => return Ok(server),
                Err(_) if server.port_taken() && tries < PORTS_TRIED => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn try_start(program: &Path, user: Option<(u32, u32)>, settings: &[String]) -> Result<Self, Error> {
        let directory = new_directory(user)?;
        let started = install(&directory, user).and_then(|()| free_port()).and_then(|port| {
            let supervisor = supervise(program, &directory, user, port, settings)?;
            Ok(Self { supervisor, directory: directory.clone(), port })
        });
        started.inspect_err(|_| drop(std::fs::remove_dir_all(&directory)))
    }

    fn port_taken(&self) -> bool {
        self.log().contains("Bind on TCP/IP port")
    }

    /// The URL of the database `mysql`, as a user with all rights.
    #[must_use]
    pub fn url(&self) -> String {
        format!("mysql://ojs:ojs@127.0.0.1:{}/mysql", self.port)
    }

    /// A new, empty database.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn database(&self) -> Result<Database, Error> {
        Database::create(&self.url())
    }

    /// Stops it; connections break.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub fn stop(&self, how: Stop) -> Result<(), Error> {
        self.supervisor.order(match how {
            Stop::Fast => "TERM",
            Stop::Immediate => "KILL",
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
            match database::run(&self.url(), "DO 0") {
                Ok(()) => return Ok(()),
                Err(_) if Instant::now() < deadline && !self.port_taken() => std::thread::sleep(KNOCK),
                Err(error) => {
                    let message = format!("{error}; its log says:\n{}", self.log());
                    return Err(Error::Program { program: "mariadbd", message });
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

/// Debian keeps the server out of everybody's PATH.
fn program(name: &str) -> Result<PathBuf, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = places.find_map(|directory| Some(directory.join(name)).filter(|program| program.is_file()));
    found.ok_or_else(|| Error::Program { program: "mariadbd", message: format!("no {name}: run `scripts/setup.sh mariadb`") })
}

fn command(program: impl AsRef<std::ffi::OsStr>, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command
}

/// A directory that only the server's user reads. The supervisor removes it.
fn new_directory(user: Option<(u32, u32)>) -> Result<PathBuf, Error> {
    let failed = |what| move |source| Error::System { what, source };
    let directory = tempfile::Builder::new()
        .prefix("ojs-mariadb-")
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir()
        .map_err(failed("cannot make a temporary directory"))?
        .keep();
    std::fs::write(directory.join("user.sql"), USER).map_err(failed("cannot write into the directory"))?;
    if let Some((user, group)) = user {
        std::os::unix::fs::chown(&directory, Some(user), Some(group)).map_err(failed("cannot give the directory away"))?;
    }
    Ok(directory)
}

/// Makes the system tables. MariaDB 10.11's bootstrap sometimes dies of a signal when another runs beside it, so it has three tries.
fn install(directory: &Path, user: Option<(u32, u32)>) -> Result<(), Error> {
    let data = directory.join("data");
    let mut message = String::new();
    for _ in 0..3 {
        let output = command(program("mariadb-install-db")?, user)
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .args([format!("--datadir={}", data.display()), format!("--tmpdir={}", directory.display())])
            .current_dir("/")
            .output()
            .map_err(|source| Error::System { what: "cannot start mariadb-install-db", source })?;
        if output.status.success() {
            return Ok(());
        }
        message = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        // Half-made tables would be in the next one's way.
        if data.exists() {
            std::fs::remove_dir_all(&data).map_err(|source| Error::System { what: "cannot empty the directory", source })?;
        }
    }
    Err(Error::Program { program: "mariadb-install-db", message })
}

fn supervise(
    program: &Path,
    directory: &Path,
    user: Option<(u32, u32)>,
    port: u16,
    settings: &[String],
) -> Result<Supervisor, Error> {
    Supervisor::start(&mut command("/bin/sh", user), directory, "KILL", program, |command| {
        let place = |option: &str, name: &str| format!("--{option}={}", directory.join(name).display());
        command.arg("--no-defaults").args([place("datadir", "data"), place("socket", "socket"), place("pid-file", "pid")]);
        command.arg(place("init-file", "user.sql")).args(["--bind-address=127.0.0.1", "--skip-name-resolve"]);
        // Many tests at a time, each with its own pool; nothing is to outlive a power cut.
        command.args([&format!("--port={port}"), "--max-connections=500", "--innodb-flush-log-at-trx-commit=0"]);
        command.args(settings.iter().map(|setting| format!("--{setting}")));
    })
}
