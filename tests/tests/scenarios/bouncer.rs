//! PgBouncer in transaction mode in front of a database: every transaction may meet another session.
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use ojs_postgres_fixture::Server;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use ojs_tests::until;

/// A pooler of its own for one test.
pub struct Bouncer {
    port: u16,
    _process: Child,
    _directory: TempDir,
}

impl Bouncer {
    /// In front of a server, with fewer connections than our nodes open.
    pub async fn start(server: &Server) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let port = ojs_postgres_fixture::supervisor::free_port().unwrap();
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 200\n",
            server.port()
        );
        let path = directory.path().join("pgbouncer.ini");
        std::fs::write(&path, settings).unwrap();
        let mut command = Command::new(binary());
        if rustix::process::getuid().is_root() {
            // It refuses to run as root.
            command.args(["-u", "nobody"]);
        }
        let process = command.arg("-q").arg(&path).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
        until("the pooler listens", || async { TcpStream::connect(("127.0.0.1", port)).await.ok() }).await;
        Self { port, _process: process, _directory: directory }
    }

    /// The URL of a database through it.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

/// Debian keeps it out of the PATH of ordinary users.
fn binary() -> &'static str {
    ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
        .expect("pgbouncer is missing: run `scripts/setup.sh postgresql pgbouncer`")
}
