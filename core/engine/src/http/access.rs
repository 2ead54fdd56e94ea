//! Who may do what: keys with names and roles (extensions sections 19 and 26). Off unless a file of keys is given.
//!
//! The file holds SHA-256 sums, never keys. A key is 256 random bits, so a plain sum is enough: there is nothing to guess.
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use ojs_model::{ErrorCode, OjsError, Timestamp, hex};
use rand::TryRngCore;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, watch};

pub use crate::http::holder::Holder;
pub use crate::http::permission::Permission;

/// How often the file of keys is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a key is for; those that are later in the order look at more, or change more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Adds jobs and reads what it knows the id of.
    Producer,
    /// Runs jobs.
    Worker,
    /// Looks at everything, changes nothing.
    Viewer,
    /// Adds, cancels, retries, pauses, looks at everything.
    Operator,
    /// Everything.
    Admin,
}

impl Role {
    /// All, for help texts.
    pub const ALL: [Self; 5] = [Self::Producer, Self::Worker, Self::Viewer, Self::Operator, Self::Admin];

    /// Whether it allows something.
    #[must_use]
    pub fn allows(self, needs: Permission) -> bool {
        use Permission::{Administer, Enqueue, Inspect, Open, Operate, Read, Work};
        match needs {
            Open => true,
            Enqueue => matches!(self, Self::Producer | Self::Operator | Self::Admin),
            Work => matches!(self, Self::Worker | Self::Admin),
            Read => true,
            Inspect => matches!(self, Self::Viewer | Self::Operator | Self::Admin),
            Operate => matches!(self, Self::Operator | Self::Admin),
            Administer => self == Self::Admin,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Producer => "producer",
            Self::Worker => "worker",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        })
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.to_string() == word);
        found.ok_or_else(|| format!("'{word}' is no role: use producer, worker, viewer, operator or admin"))
    }
}

/// A key as the file keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Unique; what logs show.
    pub name: String,
    /// What it is for; several may be joined.
    pub roles: Vec<Role>,
    /// SHA-256 of the key, hexadecimal.
    pub sha256: String,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// The tenant that it is bound to. Without one it may speak for every tenant, and for all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The file of keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct KeyFile {
    /// In the order of their making.
    pub keys: Vec<Key>,
}

/// Why a file of keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It cannot be read or written.
    #[error("{path}: {error}. Make keys with `ojs keys add NAME --role ROLE --keys {path}`")]
    Io {
        /// Which file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It holds something else.
    #[error("{path} is no file of keys: {error}")]
    Format {
        /// Which file.
        path: String,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// The name is taken.
    #[error("there is a key named '{0}' already: revoke it, or choose another name")]
    Taken(String),
    /// No key has the name.
    #[error("there is no key named '{0}'")]
    Unknown(String),
    /// The system gives no random bytes.
    #[error("no random bytes from the system: {0}")]
    Random(String),
}

impl KeyFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub fn read(path: &Path) -> Result<Self, KeyFileError> {
        let text = std::fs::read(path).map_err(|error| KeyFileError::Io { path: path.display().to_string(), error })?;
        serde_json::from_slice(&text).map_err(|error| KeyFileError::Format { path: path.display().to_string(), error })
    }

    /// Reads the file, changes what it holds and writes it, while no other process of this machine does the same: a lock on the file
    /// `PATH.lock` is waited for. With `create`, a file that is not there counts as an empty one.
    ///
    /// # Errors
    /// When the file cannot be read, locked or written; what `change` refuses, and then nothing is written.
    pub fn change<T>(
        path: &Path,
        create: bool,
        change: impl FnOnce(&mut Self) -> Result<T, KeyFileError>,
    ) -> Result<T, KeyFileError> {
        // The file itself, not a link to it: a link would be replaced by a file.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let failed = |error| KeyFileError::Io { path: path.display().to_string(), error };
        let lock = private(&beside(path, ".lock"), false).map_err(failed)?;
        // Given back when the file is closed, also by a process that is killed.
        lock.lock().map_err(failed)?;
        let mut file = match Self::read(path) {
            Err(KeyFileError::Io { error, .. }) if create && error.kind() == std::io::ErrorKind::NotFound => Self::default(),
            read => read?,
        };
        let changed = change(&mut file)?;
        file.write(path)?;
        Ok(changed)
    }

    /// Writes the file beside itself, under a name that no other writer has, and puts it in place: a reader sees the old one or the new
    /// one. Only the owner may read it. Those who change a file that others may change too use [`change`](Self::change).
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), KeyFileError> {
        let failed = |error| KeyFileError::Io { path: path.display().to_string(), error };
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        let mut bits = [0_u8; 8];
        rand::rngs::OsRng.try_fill_bytes(&mut bits).map_err(|error| KeyFileError::Random(error.to_string()))?;
        let new = beside(path, &format!(".{}.new", hex::encode(&bits)));
        let put = write_new(&new, &text).and_then(|()| std::fs::rename(&new, path)).and_then(|()| sync_folder(path));
        put.map_err(|error| {
            // The error is what counts; a file that is left behind does no harm.
            let _ = std::fs::remove_file(&new);
            failed(error)
        })
    }

    /// Makes a key; returns it. This is the only time that it is seen.
    ///
    /// # Errors
    /// When the name is taken, or the system gives no random bytes.
    pub fn add(&mut self, name: &str, roles: Vec<Role>, now: Timestamp) -> Result<String, KeyFileError> {
        if self.keys.iter().any(|key| key.name == name) {
            return Err(KeyFileError::Taken(name.to_owned()));
        }
        let mut bits = [0_u8; 32];
        rand::rngs::OsRng.try_fill_bytes(&mut bits).map_err(|error| KeyFileError::Random(error.to_string()))?;
        let secret = format!("ojs_{}", hex::encode(&bits));
        let (sha256, created_at) = (sum(&secret), now.to_string());
        self.keys.push(Key { name: name.to_owned(), roles, sha256, created_at, tenant: None });
        Ok(secret)
    }

    /// Binds a key to a tenant.
    ///
    /// # Errors
    /// When no key has the name.
    pub fn bind(&mut self, name: &str, tenant: &str) -> Result<(), KeyFileError> {
        let key = self.keys.iter_mut().find(|key| key.name == name);
        key.ok_or_else(|| KeyFileError::Unknown(name.to_owned()))?.tenant = Some(tenant.to_owned());
        Ok(())
    }

    /// Takes a key out.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn revoke(&mut self, name: &str) -> Result<Key, KeyFileError> {
        let place = self.keys.iter().position(|key| key.name == name);
        place.map(|place| self.keys.remove(place)).ok_or_else(|| KeyFileError::Unknown(name.to_owned()))
    }
}

/// The path with more text at the end of the file's name.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Opens a file that only its owner may read, from its first moment on; `new`: it must not be there yet.
fn private(path: &Path, new: bool) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(!new).create_new(new);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = private(path, true)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// After a power cut the new name is there, too.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn sum(secret: &str) -> String {
    hex::encode(&Sha256::digest(secret.as_bytes()))
}

/// The keys in force. Read anew while the server runs.
#[derive(Debug)]
pub struct Access {
    path: PathBuf,
    keys: RwLock<Arc<Vec<Key>>>,
    /// Rung when they have been read again.
    changed: watch::Sender<()>,
}

impl Access {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, KeyFileError> {
        let path = path.into();
        let keys = RwLock::new(Arc::new(KeyFile::read(&path)?.keys));
        Ok(Self { path, keys, changed: watch::Sender::new(()) })
    }

    /// Reads the file again. When that fails the keys stay as they are.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn reload(&self) -> Result<usize, KeyFileError> {
        let keys = KeyFile::read(&self.path)?.keys;
        let count = keys.len();
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        self.changed.send_replace(());
        Ok(count)
    }

    /// Reads the file again whenever it has changed, looked at once a second, and when told to. Never ends; a file that cannot be read
    /// changes nothing.
    pub async fn follow(&self, told: &Notify) {
        let mut known = stamp(&self.path);
        loop {
            let told = tokio::select! {
                () = told.notified() => true,
                () = tokio::time::sleep(LOOK_EVERY) => false,
            };
            let found = stamp(&self.path);
            if !told && found == known {
                continue;
            }
            known = found;
            match self.reload() {
                Ok(keys) => tracing::info!(keys, "keys read again"),
                Err(error) => tracing::error!(%error, "the keys stay as they were"),
            }
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks up the key that a request shows.
    ///
    /// # Errors
    /// 401 without a valid key.
    pub fn holder(&self, bearer: Option<&str>) -> Result<Holder, OjsError> {
        let keys = Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner));
        let Some(secret) = bearer else {
            let message = "This server asks for a key: Authorization: Bearer KEY.";
            return Err(
                OjsError::new(ErrorCode::Unauthenticated, message).with_hint("An operator makes one with `ojs keys add`.")
            );
        };
        let sum = sum(secret);
        // All are compared, each in full: the time reveals nothing.
        let found = keys.iter().fold(None, |found, key| if same(&key.sha256, &sum) { Some(key) } else { found });
        let unknown = || OjsError::new(ErrorCode::Unauthenticated, "This key is not known here; it may have been revoked.");
        let key = found.ok_or_else(unknown)?;
        Ok(Holder::of(key))
    }

    /// The holder of a key that is in force, by its name.
    pub(crate) fn holder_named(&self, name: &str) -> Option<Holder> {
        let keys = Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner));
        keys.iter().find(|key| key.name == name).map(Holder::of)
    }

    /// Resolves when a key is no longer in force as its holder has it: it was revoked, or got other roles or another
    /// tenant.
    pub(crate) async fn ended(&self, holder: &Holder) {
        // Before the first look: a change that comes in between is not missed.
        let mut changed = self.changed.subscribe();
        while self.holder_named(holder.name()).as_ref() == Some(holder) {
            // The sender is a part of this, so it does not end.
            let _ = changed.changed().await;
        }
    }
}

/// What changes when a file is replaced: its time, its size, and its number, for two changes in one tick of the clock.
fn stamp(path: &Path) -> Option<(SystemTime, u64, u64)> {
    let about = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let number = 0;
    Some((about.modified().ok()?, about.len(), number))
}

/// Compares without stopping at the first difference.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && std::hint::black_box(a.bytes().zip(b.bytes()).fold(0, |seen, (a, b)| seen | (a ^ b))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(access: &Access, bearer: Option<&str>, needs: Permission) -> Result<String, OjsError> {
        let holder = access.holder(bearer)?;
        holder.check(needs).map(|()| holder.name().to_owned())
    }

    fn made(roles: &[Role]) -> (tempfile::TempDir, Access, String) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys.json");
        let mut file = KeyFile::default();
        let secret = file.add("k", roles.to_vec(), Timestamp::from_millis(0)).unwrap();
        file.write(&path).unwrap();
        (directory, Access::open(path).unwrap(), secret)
    }

    #[test]
    fn roles_allow_what_they_are_for() {
        use Permission::{Administer, Enqueue, Inspect, Open, Operate, Read, Work};
        let all = [Open, Enqueue, Work, Read, Inspect, Operate, Administer];
        let allowed = |role: Role| all.into_iter().filter(|needs| role.allows(*needs)).collect::<Vec<_>>();
        assert_eq!(allowed(Role::Producer), [Open, Enqueue, Read]);
        assert_eq!(allowed(Role::Worker), [Open, Work, Read]);
        assert_eq!(allowed(Role::Viewer), [Open, Read, Inspect]);
        assert_eq!(allowed(Role::Operator), [Open, Enqueue, Read, Inspect, Operate]);
        assert_eq!(allowed(Role::Admin), all);
    }

    #[test]
    fn a_key_is_checked_and_can_be_revoked() {
        let (_directory, access, secret) = made(&[Role::Producer, Role::Worker]);
        assert_eq!(check(&access, Some(&secret), Permission::Work).as_deref(), Ok("k"));
        assert_eq!(check(&access, None, Permission::Work).unwrap_err().status, 401);
        assert_eq!(check(&access, Some("ojs_wrong"), Permission::Work).unwrap_err().status, 401);
        let denied = check(&access, Some(&secret), Permission::Operate).unwrap_err();
        assert_eq!((denied.status, denied.code.as_ref()), (403, "permission_denied"));
        assert!(denied.message.contains("ojs:admin:write"), "{denied}");
        let mut file = KeyFile::read(access.path()).unwrap();
        assert!(matches!(file.add("k", vec![Role::Admin], Timestamp::from_millis(0)), Err(KeyFileError::Taken(_))));
        file.revoke("k").unwrap();
        assert!(file.revoke("k").is_err());
        file.write(access.path()).unwrap();
        assert_eq!(access.reload().unwrap(), 0);
        assert_eq!(check(&access, Some(&secret), Permission::Work).unwrap_err().status, 401);
    }

    #[test]
    fn changes_side_by_side_lose_nothing_and_leave_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys.json");
        // What an older version may have left behind, readable by all.
        std::fs::write(directory.path().join("keys.json.new"), "{}").unwrap();
        std::thread::scope(|scope| {
            for number in 0..20 {
                let path = &path;
                scope.spawn(move || {
                    let add = |file: &mut KeyFile| file.add(&format!("k{number}"), vec![Role::Admin], Timestamp::from_millis(0));
                    KeyFile::change(path, true, add).unwrap();
                });
            }
        });
        assert_eq!(KeyFile::read(&path).unwrap().keys.len(), 20);
        let names =
            || std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<String> = names().collect();
        found.sort();
        assert_eq!(found, ["keys.json", "keys.json.lock", "keys.json.new"]);
        #[cfg(unix)]
        for name in ["keys.json", "keys.json.lock"] {
            let mode = std::os::unix::fs::PermissionsExt::mode(&directory.path().join(name).metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        // What is refused changes nothing.
        let before = std::fs::read(&path).unwrap();
        assert!(KeyFile::change(&path, false, |file| file.revoke("nobody")).is_err());
        assert!(KeyFile::change(&directory.path().join("absent.json"), false, |file| file.revoke("k1")).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn the_file_holds_no_key_and_a_broken_one_changes_nothing() {
        let (_directory, access, secret) = made(&[Role::Admin]);
        let text = std::fs::read_to_string(access.path()).unwrap();
        assert!(!text.contains(&secret) && !text.contains(&secret[4..]), "{text}");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(access.path()).unwrap().permissions()) & 0o777,
            0o600
        );
        std::fs::write(access.path(), "{").unwrap();
        assert!(access.reload().is_err());
        assert!(check(&access, Some(&secret), Permission::Administer).is_ok());
        assert!(Access::open("/nowhere/keys.json").unwrap_err().to_string().contains("ojs keys add"));
    }
}
