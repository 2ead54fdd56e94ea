//! The address of the database, and how to open a connection with the right settings.
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ojs_model::redact::SecretUrl;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_postgres::config::Host;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Notification};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connection::{STATEMENT_TIMEOUT_MS, parse};
use crate::error::{Result, StoreError};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// PgBouncer's usual port: over a unix socket nothing else distinguishes it from PostgreSQL.
const PGBOUNCER_PORT: u16 = 6432;

/// Where notifications go.
pub type Notes = tokio::sync::mpsc::UnboundedSender<Notification>;

/// Whether a pooler stands in front of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooler {
    /// Find out.
    #[default]
    Auto,
    /// None: named statements and settings of the session are used.
    None,
    /// One in transaction mode: every transaction may meet another session.
    Transaction,
}

/// What may be relied on between two transactions of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Statements keep their names, settings stay: no pooler in between.
    pub named: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self { named: true }
    }
}

/// A database to connect to.
pub struct Target {
    config: Config,
    /// For messages: no password.
    pub name: String,
    pooler: Pooler,
    tls: MakeRustlsConnect,
    /// How often a connection of this process was found dead although the network had reported nothing.
    silences: AtomicU64,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Settings that our statements want: all of them find their rows by index, and a plan for a small table must not survive its growth.
const SETTINGS: &str = "enable_seqscan = off; enable_hashjoin = off; enable_mergejoin = off; jit = off; client_min_messages = warning; \
    idle_in_transaction_session_timeout = 30000; lock_timeout = 10000";

/// Settings of connections that write. Their statements name rows by indexes that hardly depend on the values, so one
/// plan serves them all. Left to itself, the server plans some statements anew each time they run, once it has
/// statistics of large tables: a claim then takes a third longer. A plan for unknown values expects many rows, so
/// bitmaps, which read all rows before the first is returned, would look cheap where a few are wanted.
const KEPT_PLANS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_bitmapscan = off";

/// The settings as statements; `local` binds them to the transaction that is open.
pub fn settings(local: bool) -> String {
    let word = if local { "SET LOCAL" } else { "SET" };
    let mut sql = format!("{word} statement_timeout = {STATEMENT_TIMEOUT_MS};");
    for setting in SETTINGS.split("; ") {
        sql.push_str(&format!("{word} {};", setting.trim()));
    }
    sql
}

impl Target {
    /// Reads a URL. Three parameters are ours: `pooler=auto|none|transaction`, `sslmode=verify-full`, `sslrootcert=FILE`.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when it is no PostgreSQL URL.
    pub fn new(url: &str) -> Result<Arc<Self>> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut pooler, mut verify, mut roots) = (Pooler::Auto, false, None);
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("pooler", "auto")) => pooler = Pooler::Auto,
                Some(("pooler", "none")) => pooler = Pooler::None,
                Some(("pooler", "transaction")) => pooler = Pooler::Transaction,
                Some(("pooler", other)) => {
                    let other = SecretUrl::from(url).scrub(other);
                    return Err(StoreError::Failed(format!("pooler={other} is not known: use auto, none or transaction")));
                }
                Some(("sslmode", "verify-full" | "verify-ca")) => {
                    verify = true;
                    rest.push("sslmode=require");
                }
                Some(("sslrootcert", path)) => roots = Some(PathBuf::from(path)),
                // A second parameter of ours, which the listener reads when it connects.
                Some(("direct", _)) => {}
                _ => rest.push(pair),
            }
        }
        let plain = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        // The parser quotes what it does not understand: of a password that was not encoded, too.
        let mut config = parse(&plain).map_err(|error| StoreError::Failed(SecretUrl::from(url).scrub(&error)))?;
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(StoreError::Failed("the password in the URL holds '@': write it as %40".into()));
        }
        if config.get_application_name().is_none() {
            config.application_name("ojs");
        }
        let name = describe(&config);
        let tls = MakeRustlsConnect::new(super::tls::config(verify, roots.as_deref())?);
        Ok(Arc::new(Self { config, name, pooler, tls, silences: AtomicU64::new(0) }))
    }

    /// Notes that a connection has died in silence: the others were made over the same network.
    pub(super) fn note_silence(&self) {
        self.silences.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that has happened. A connection made before the latest time is not to be trusted.
    pub(super) fn silences(&self) -> u64 {
        self.silences.load(Ordering::Relaxed)
    }

    /// Connects to the first host that answers, and makes the session ours; with `keeps_plans` it plans each statement
    /// once.
    pub async fn connect(&self, keeps_plans: bool) -> Result<(Client, Session)> {
        let (client, session) = self.connect_raw(None).await?;
        if session.named {
            client.batch_execute(&settings(false)).await?;
        }
        if session.named && keeps_plans {
            client.batch_execute(KEPT_PLANS).await?;
        }
        Ok((client, session))
    }

    /// Connects, and passes on notifications. The second value says whether `LISTEN` works: not through a pooler.
    pub async fn connect_for_notes(&self, notes: Notes) -> Result<(Client, bool)> {
        let (client, session) = self.connect_raw(Some(notes)).await?;
        Ok((client, session.named))
    }

    async fn connect_raw(&self, notes: Option<Notes>) -> Result<(Client, Session)> {
        let ports = self.config.get_ports();
        let mut last = StoreError::Unavailable("the URL names no host".into());
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
            match tokio::time::timeout(CONNECT_TIMEOUT, self.connect_to(host, port, notes.clone())).await {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(fault)) => last = fault,
                Err(_) => {
                    last =
                        StoreError::Unavailable(format!("{} does not answer within {} s", self.name, CONNECT_TIMEOUT.as_secs()))
                }
            }
        }
        Err(last)
    }

    async fn connect_to(&self, host: &Host, port: u16, notes: Option<Notes>) -> Result<(Client, Session)> {
        let refused = |error: std::io::Error| StoreError::Unavailable(format!("cannot connect to {}: {error}", self.name));
        match host {
            Host::Tcp(name) => {
                let stream = TcpStream::connect((name.as_str(), port)).await.map_err(refused)?;
                stream.set_nodelay(true).map_err(refused)?;
                let local = stream.local_addr().map_err(refused)?.port();
                let mut tls = self.tls.clone();
                let connector = <MakeRustlsConnect as MakeTlsConnect<TcpStream>>::make_tls_connect(&mut tls, name)
                    .map_err(|error| StoreError::Failed(format!("'{name}' is no name for a certificate: {error}")))?;
                let client = self.talk(stream, connector, notes).await?;
                let session = self.look_for_pooler(&client, Some(local), port).await?;
                Ok((client, session))
            }
            #[cfg(unix)]
            Host::Unix(directory) => {
                let stream = UnixStream::connect(directory.join(format!(".s.PGSQL.{port}"))).await.map_err(refused)?;
                let connector = <NoTls as MakeTlsConnect<UnixStream>>::make_tls_connect(&mut NoTls, "")
                    .map_err(|error| StoreError::Failed(error.to_string()))?;
                let client = self.talk(stream, connector, notes).await?;
                let session = self.look_for_pooler(&client, None, port).await?;
                Ok((client, session))
            }
            #[cfg(not(unix))]
            Host::Unix(_) => Err(StoreError::Failed("this platform has no unix sockets".into())),
        }
    }

    async fn talk<S, T>(&self, stream: S, tls: T, notes: Option<Notes>) -> Result<Client>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
        T: TlsConnect<S>,
        T::Stream: Send + 'static,
    {
        let (client, mut connection) = self.config.connect_raw(stream, tls).await?;
        tokio::spawn(async move {
            loop {
                match std::future::poll_fn(|context| connection.poll_message(context)).await {
                    Some(Ok(AsyncMessage::Notification(note))) => {
                        if let Some(notes) = &notes {
                            // The receiver is gone: the connection is about to be closed.
                            let _ = notes.send(note);
                        }
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) => {
                        tracing::debug!(%error, "connection to PostgreSQL ended");
                        return;
                    }
                    None => return,
                }
            }
        });
        Ok(client)
    }

    /// A pooler is there when the database sees another end of the connection than we do. An address translator looks the same; mistaking
    /// one for a pooler costs a few percent, the opposite would mix up statements.
    async fn look_for_pooler(&self, client: &Client, local: Option<u16>, port: u16) -> Result<Session> {
        let named = match self.pooler {
            Pooler::None => true,
            Pooler::Transaction => false,
            Pooler::Auto => {
                let row = client.query_typed("SELECT inet_client_port()", &[]).await?;
                let seen: Option<i32> = row.first().and_then(|row| row.try_get(0).ok()).flatten();
                // Over a unix socket the database sees no port (some versions say -1).
                let seen = seen.filter(|port| *port >= 0);
                port != PGBOUNCER_PORT && seen == local.map(i32::from)
            }
        };
        Ok(Session { named })
    }
}

/// `postgres://user@host:port/db`.
fn describe(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        _ => "?".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("postgres://{}@{host}:{port}/{}", config.get_user().unwrap_or("?"), config.get_dbname().unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::SslMode;

    #[test]
    fn a_name_for_messages_holds_no_password() {
        let target = Target::new("postgres://app:secret@db.example:6000/jobs?pooler=none").unwrap();
        assert_eq!(target.name, "postgres://app@db.example:6000/jobs");
        assert_eq!(target.pooler, Pooler::None);
        assert!(Target::new("postgres://app@db/jobs?pooler=session").is_err());
        for bad in ["s3cr3t@t0ps", "s3cr3t:t0ps", "s3cr3t?t0ps", "s3cr3t/t0ps", "s3cr3t#t0ps", "s3cr3t%t0ps", "s3cr3t?a=t0ps"] {
            for url in [format!("postgres://app:{bad}@db:port/jobs"), format!("postgres://app:{bad}@db/jobs?none=1")] {
                let fault = Target::new(&url).unwrap_err().to_string();
                assert!(!fault.contains("s3cr3t") && !fault.contains("t0ps"), "{url}: {fault}");
            }
        }
        assert_eq!(target.config.get_ssl_mode(), SslMode::Prefer);
    }
}
