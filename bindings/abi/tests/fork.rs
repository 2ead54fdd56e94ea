//! A process that forks while another of its threads opens and closes files: the child can open files of its own.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, unsafe_code, reason = "a failed unwrap is a failed test; fork has no safe form")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

const ROUNDS: usize = 300;
/// Seconds after which a child that waits for a lock is ended by the system: it only ends a test that has failed already.
const PATIENCE: u32 = 60;

fn open_and_close(path: &PathBuf) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(())
}

#[test]
fn a_child_opens_files_whatever_other_threads_did_at_the_fork() {
    ojs_abi::fork::guard();
    let directory = tempfile::tempdir().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let busy: Vec<_> = (0..2)
        .map(|n| {
            let (path, stop) = (directory.path().join(format!("parent-{n}.db")), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    open_and_close(&path).unwrap();
                }
            })
        })
        .collect();
    for round in 0..ROUNDS {
        let path = directory.path().join(format!("child-{}.db", round % 8));
        // SAFETY: the child calls SQLite, which is what is tested, and the C library's allocator, which bears forks; then it ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            unsafe {
                libc::alarm(PATIENCE);
                let opened = open_and_close(&path).is_ok();
                libc::_exit(i32::from(!opened));
            }
        }
        assert!(child > 0, "fork failed");
        let mut status = 0;
        // SAFETY: waits for a child of this test.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status), "round {round}: the child hung in a lock that it had inherited");
        assert_eq!(libc::WEXITSTATUS(status), 0, "round {round}: the child could not open a file");
    }
    stop.store(true, Ordering::Relaxed);
    busy.into_iter().for_each(|thread| thread.join().unwrap());
}
