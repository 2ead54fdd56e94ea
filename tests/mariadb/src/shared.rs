//! The one server of a process.
use std::sync::OnceLock;

use crate::{Database, Server};

/// Holds the URL of a running server, any database, a user that may create databases.
pub const SERVER_VARIABLE: &str = "OJS_TEST_MYSQL";

static SERVER: OnceLock<Server> = OnceLock::new();

/// An empty database on the server that `OJS_TEST_MYSQL` names, or else on the server of this process.
///
/// # Panics
/// There is no server: this is for tests, which have nothing to do without one.
#[must_use]
#[expect(clippy::panic, reason = "a test without its database has failed")]
pub fn database() -> Database {
    let database = match std::env::var(SERVER_VARIABLE) {
        Ok(url) => Database::create(&url),
        Err(_) => server().database(),
    };
    database.unwrap_or_else(|error| panic!("no database for this test: {error}"))
}

#[expect(clippy::panic, reason = "a test without its server has failed")]
fn server() -> &'static Server {
    SERVER.get_or_init(|| {
        let server = Server::start(&[]).unwrap_or_else(|error| panic!("no MariaDB for this test: {error}"));
        end_with_the_process();
        server
    })
}

/// Statics are not dropped. Without this the supervisor would still notice the end of the process, only a moment later.
fn end_with_the_process() {
    extern "C" fn end() {
        if let Some(server) = SERVER.get() {
            server.end();
        }
    }
    // SAFETY: `end` is a plain function that neither unwinds nor registers anything; it uses no thread-local value.
    let refused = unsafe { libc::atexit(end) };
    debug_assert_eq!(refused, 0, "atexit has room for 32 functions at least");
}
