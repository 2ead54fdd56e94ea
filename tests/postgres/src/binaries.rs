//! Where PostgreSQL is installed, and whom it may run as.
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::supervisor::server_user;

/// The programs of one installation.
pub(crate) struct Binaries {
    directory: PathBuf,
    /// Whom to run them as; `None` is the present user.
    user: Option<(u32, u32)>,
}

impl Binaries {
    /// The newest installation of Debian's layout, then what `pg_config` names, then PATH.
    pub(crate) fn find() -> Result<Self, Error> {
        let directory = debian().or_else(configured).or_else(on_path).ok_or(Error::NotInstalled)?;
        Ok(Self { directory, user: server_user(&["postgres", "nobody"])? })
    }

    /// The user and group the server runs as, if not the present ones.
    pub(crate) fn user(&self) -> Option<(u32, u32)> {
        self.user
    }

    /// The path of a program.
    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.directory.join(program)
    }

    /// Any command, run as the server's user.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }
}

fn complete(directory: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|program| directory.join(program).is_file())
}

fn debian() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut found: Vec<_> = versions.filter_map(|entry| Some((version(&entry.path())?, entry.path().join("bin")))).collect();
    found.retain(|(_, directory)| complete(directory));
    found.into_iter().max().map(|(_, directory)| directory)
}

fn configured() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let directory = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    complete(&directory).then_some(directory)
}

fn on_path() -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).find(|directory| complete(directory))
}
