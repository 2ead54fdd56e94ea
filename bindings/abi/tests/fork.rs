//! A process that forks while other threads of it hold locks of the process: the child gets on with the same things.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, unsafe_code, reason = "a failed unwrap is a failed test; fork has no safe form")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ojs::defaults::JobOptions;
use rusqlite::Connection;

const ROUNDS: usize = 300;
/// Seconds after which a child that waits for a lock is ended by the system: it only ends a test that has failed already.
const PATIENCE: u32 = 60;

/// Forks while two threads do what `busy` does again and again. The child does what `child` does, once: true is success.
fn forks(rounds: usize, busy: impl Fn(usize) + Clone + Send + 'static, child: impl Fn(usize) -> bool) {
    ojs_abi::fork::guard();
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..2)
        .map(|n| {
            let (busy, stop) = (busy.clone(), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    busy(n);
                }
            })
        })
        .collect();
    for round in 0..rounds {
        // SAFETY: the child does what is tested, and calls the C library's allocator, which bears forks; then it ends at once.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            unsafe {
                libc::alarm(PATIENCE);
                libc::_exit(i32::from(!child(round)));
            }
        }
        assert!(pid > 0, "fork failed");
        let mut status = 0;
        // SAFETY: waits for a child of this test.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert!(libc::WIFEXITED(status), "round {round}: the child hung in a lock that it had inherited");
        assert_eq!(libc::WEXITSTATUS(status), 0, "round {round}: the child did not succeed");
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn open_and_close(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(())
}

#[test]
fn a_child_opens_files_whatever_other_threads_did_at_the_fork() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_owned();
    forks(
        ROUNDS,
        move |n| open_and_close(&place.join(format!("parent-{n}.db"))).unwrap(),
        |round| open_and_close(&directory.path().join(format!("child-{}.db", round % 8))).is_ok(),
    );
}

#[test]
fn a_child_logs_whatever_other_threads_logged_at_the_fork() {
    ojs_abi::logs::install();
    forks(
        ROUNDS,
        |_| {
            for _ in 0..100 {
                tracing::warn!(target: "ojs::test", "the parent logs");
            }
        },
        |_| {
            tracing::warn!(target: "ojs::test", "the child logs");
            !ojs_abi::logs::pull(1, Duration::ZERO).0.is_empty()
        },
    );
}

#[test]
fn a_child_sets_options_of_a_job_type_whatever_other_threads_did_at_the_fork() {
    forks(
        ROUNDS,
        |n| ojs::defaults::set(&format!("parent.{n}"), JobOptions::new().priority(1)).unwrap(),
        |_| ojs::defaults::set("child", JobOptions::new().priority(2)).is_ok(),
    );
}

#[test]
fn a_child_opens_an_engine_while_another_thread_of_the_parent_was_opening_one() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_owned();
    let open = |url: String| {
        let opened = ojs_abi::runtime::handle().unwrap().block_on(async {
            let client = ojs::Client::connect(&url).await?;
            client.close().await;
            Ok::<_, ojs::Error>(())
        });
        opened.is_ok()
    };
    forks(
        20,
        move |n| assert!(open(format!("sqlite:{}", place.join(format!("parent-{n}.db")).display()))),
        |round| open(format!("memory:child-{round}")),
    );
}
