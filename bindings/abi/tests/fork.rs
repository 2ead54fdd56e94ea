//! A process that forks while other threads of it hold locks of the process: the child gets on with the same things.
//!
//! Each case runs in a process of its own, before the `main` of Rust: C starts the hosts that fork (Python, Ruby).
//! In a program that Rust has started, each new thread takes a lock of the standard library, which a child may inherit
//! locked.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, unsafe_code, reason = "a failed unwrap is a failed test; fork has no safe form")]

use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ojs::defaults::JobOptions;
use ojs_engine::threads;
use ojs_model::JobId;
use rusqlite::Connection;

const ROUNDS: usize = 300;
/// Seconds after which a child that waits for a lock is ended by the system: it only ends a test that has failed already.
const PATIENCE: u32 = 60;

/// Names the case that the process runs in place of the tests.
const CASE: &str = "OJS_TEST_FORK_CASE";

#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = before_main;

/// The C library calls it before `main`. A panic in it aborts the process with its message.
extern "C" fn before_main() {
    let Ok(named) = std::env::var(CASE) else { return };
    let case = CASES.iter().find(|(name, _)| *name == named);
    case.unwrap_or_else(|| panic!("no case {named}")).1();
    // SAFETY: ends this process, whose other threads wait for nothing.
    unsafe { libc::_exit(0) };
}

macro_rules! cases {
    ($($name:ident,)*) => {
        const CASES: &[(&str, fn())] = &[$((stringify!($name), cases::$name)),*];
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*
    };
}

cases!(
    a_child_opens_files_whatever_other_threads_did_at_the_fork,
    a_child_logs_whatever_other_threads_logged_at_the_fork,
    a_child_sets_options_of_a_job_type_whatever_other_threads_did_at_the_fork,
    a_child_makes_ids_whatever_other_threads_did_at_the_fork,
    a_child_opens_an_engine_while_another_thread_of_the_parent_was_opening_one,
    a_child_makes_other_ids_than_its_parent,
);

fn run(case: &str) {
    let ended = Command::new(std::env::current_exe().unwrap()).env(CASE, case).output().unwrap();
    assert!(ended.status.success(), "{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
}

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

mod cases {
    use super::*;

    fn open_and_close(path: &Path) -> rusqlite::Result<()> {
        let connection = Connection::open(path)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(())
    }

    pub(super) fn a_child_opens_files_whatever_other_threads_did_at_the_fork() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().to_owned();
        forks(
            ROUNDS,
            move |n| open_and_close(&place.join(format!("parent-{n}.db"))).unwrap(),
            |round| open_and_close(&directory.path().join(format!("child-{}.db", round % 8))).is_ok(),
        );
    }

    fn log() {
        tracing::info_span!(target: "ojs::test", "work").in_scope(|| tracing::warn!(target: "ojs::test", "logged"));
    }

    pub(super) fn a_child_logs_whatever_other_threads_logged_at_the_fork() {
        ojs_abi::logs::install();
        forks(
            ROUNDS,
            |_| {
                // In a thread of its own, because what is kept per thread is made and given up under locks.
                threads::spawn("logging", || (0..100).for_each(|_| log())).unwrap().join().unwrap();
            },
            |_| {
                threads::spawn("logging", log).unwrap().join().unwrap();
                !ojs_abi::logs::pull(1, Duration::ZERO).0.is_empty()
            },
        );
    }

    pub(super) fn a_child_sets_options_of_a_job_type_whatever_other_threads_did_at_the_fork() {
        forks(
            ROUNDS,
            |n| ojs::defaults::set(&format!("parent.{n}"), JobOptions::new().priority(1)).unwrap(),
            |_| ojs::defaults::set("child", JobOptions::new().priority(2)).is_ok(),
        );
    }

    pub(super) fn a_child_opens_an_engine_while_another_thread_of_the_parent_was_opening_one() {
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
            |round| match round % 2 {
                0 => open(format!("memory:child-{round}")),
                _ => open(format!("sqlite:{}", directory.path().join(format!("child-{round}.db")).display())),
            },
        );
    }

    pub(super) fn a_child_makes_ids_whatever_other_threads_did_at_the_fork() {
        let ascending = || (0..100).map(|_| JobId::now_v7()).collect::<Vec<_>>().is_sorted();
        forks(ROUNDS, move |_| assert!(ascending()), |_| ascending());
    }

    pub(super) fn a_child_makes_other_ids_than_its_parent() {
        const EACH: usize = 50;
        let mut made = HashSet::new();
        for _ in 0..20 {
            // This thread has drawn random numbers before the fork, so the child inherits their generator.
            made.insert(JobId::now_v7().to_string());
            let ids = |_| JobId::now_v7().to_string();
            let child = from_child(|| (0..EACH).map(ids).collect());
            let own: Vec<String> = (0..EACH).map(ids).collect();
            // The last 8 digits depend on the process id. Those before are equal only if parent and child draw the same
            // numbers.
            let random = |made: &[String]| made.first().map(|id| id[20..28].to_owned());
            assert_ne!(random(&child), random(&own));
            for id in own.into_iter().chain(child) {
                assert!(made.insert(id.clone()), "{id} was made twice");
            }
        }
    }

    /// What a forked child makes.
    fn from_child(make: impl FnOnce() -> Vec<String>) -> Vec<String> {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        // SAFETY: no other thread runs; the child writes into a pipe, then it ends at once.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let written = writer.write_all(make().join("\n").as_bytes());
            unsafe { libc::_exit(i32::from(written.is_err())) };
        }
        assert!(pid > 0, "fork failed");
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let mut status = 0;
        // SAFETY: waits for a child of this test.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!(status, 0, "the child did not succeed");
        text.lines().map(str::to_owned).collect()
    }
}
