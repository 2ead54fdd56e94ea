//! The supervisor of a server, and what every server of a test wants.
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::Error;

/// A supervisor process: it stops the server and removes its directory when the test process ends, also when that is killed.
#[derive(Debug)]
pub struct Supervisor {
    pipes: Mutex<Pipes>,
}

#[derive(Debug)]
struct Pipes {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Supervisor {
    /// Starts the supervisor as `shell`, a `/bin/sh` of the user that the server runs as; it starts `program`, with what `arguments`
    /// adds. `signal` ends it. In a process group of its own: an interrupt from the terminal, or a signal to the group
    /// of the test, must not end it before it has cleaned up.
    ///
    /// # Errors
    /// There is no shell.
    pub fn start(
        shell: &mut Command,
        directory: &Path,
        signal: &str,
        program: &Path,
        arguments: impl FnOnce(&mut Command),
    ) -> Result<Self, Error> {
        shell.args(["-c", include_str!("supervise.sh"), "ojs-database"]).arg(directory).arg(signal).arg(program);
        arguments(shell);
        let mut child = shell
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(Error::system("cannot start /bin/sh"))?;
        let answers = child.stdout.take().map(BufReader::new);
        let answers = answers.ok_or_else(|| Error::system("no pipe to the supervisor")(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { pipes: Mutex::new(Pipes { child, answers }) })
    }

    /// `start`, or the signal that stops it; returns when that is done.
    ///
    /// # Errors
    /// The supervisor is gone.
    pub fn order(&self, order: &str) -> Result<(), Error> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || std::io::Error::new(std::io::ErrorKind::BrokenPipe, "it has ended");
        let mut exchange = || {
            writeln!(pipes.child.stdin.as_mut().ok_or_else(gone)?, "{order}")?;
            let mut answer = String::new();
            if pipes.answers.read_line(&mut answer)? == 0 { Err(gone()) } else { Ok(()) }
        };
        exchange().map_err(Error::system("the supervisor of the server does not answer"))
    }

    /// Ends the server and removes its files. Later calls do nothing.
    pub fn end(&self) {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        drop(pipes.child.stdin.take());
        let _ = pipes.child.wait();
    }
}

/// A port of 127.0.0.1 that is free now. It lies outside the range that the system takes ports of connections from: none of them gets it
/// before the server does.
///
/// # Errors
/// There is none.
pub fn free_port() -> Result<u16, Error> {
    // Different in every process, and at every call.
    let seed = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), std::process::id());
    let mut ports = (0..1_000u64).filter_map(|step| u16::try_from(15_000 + seed.wrapping_add(step) % 17_000).ok());
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrInUse);
    let free = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).map_err(|error| last = error).is_ok());
    free.ok_or(last).map_err(Error::system("no free port on 127.0.0.1"))
}

/// The user and group that root hands a server to, the first of these that there is; `None` where this process is not root.
///
/// # Errors
/// There is none of them.
pub fn server_user(names: &[&str]) -> Result<Option<(u32, u32)>, Error> {
    // Who this process runs as, without asking libc: the owner of its own entry.
    let root = std::fs::metadata("/proc/self").is_ok_and(|entry| std::os::unix::fs::MetadataExt::uid(&entry) == 0);
    if !root {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd").map_err(Error::system("cannot read /etc/passwd"))?;
    let ids = |name: &&str| {
        let mut fields = users.lines().find(|line| line.split(':').next() == Some(name))?.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    names.iter().find_map(ids).map(Some).ok_or(Error::NoUser)
}
