//! MySQL and MariaDB: one connection that finds its way back.
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, DriverError, Error, Opts, OptsBuilder, Params, SslOpts};
use ojs_model::redact::SecretUrl;
use tokio::sync::Mutex;

use super::database::{Database, DatabaseError, Rows, Statement, Value};
use super::dialect::Dialect;
use crate::transport::BoxFuture;

/// Longest wait for an answer; the migration's statements and a full batch take less.
const PATIENCE: Duration = Duration::from_secs(20);
/// Numbers must be seen when they are committed, not as of an earlier look; no locks on gaps, which writers would wait for.
const SESSION: [&str; 3] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION innodb_lock_wait_timeout = 10",
];

/// Whether the connection is encrypted, in MySQL's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SslMode {
    Disabled,
    /// If the server can.
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

/// An application's MySQL 8 or MariaDB 10.6 (or newer) database.
pub struct MysqlOutbox {
    opts: OptsBuilder,
    ssl: SslMode,
    root: Option<std::path::PathBuf>,
    name: String,
    connection: Mutex<Option<Conn>>,
}

impl MysqlOutbox {
    /// Whether a URL names such a database, by its first word.
    #[must_use]
    pub fn takes(url: &str) -> bool {
        url.starts_with("mysql:") || url.starts_with("mariadb:")
    }

    /// By URL, `mysql://user:password@host/database` (`mariadb://` too). `ssl-mode` is `DISABLED`, `PREFERRED` (the default: encrypted if
    /// the server can), `REQUIRED`, `VERIFY_CA` or `VERIFY_IDENTITY`; `ssl-ca` is a file of certificates to trust instead of the known
    /// authorities; `socket` is the path of a unix socket. Connects with the first use.
    ///
    /// # Errors
    /// It is no such URL.
    ///
    /// ```
    /// use ojs::outbox::MysqlOutbox;
    /// assert!(MysqlOutbox::new("mysql://app@db/shop?ssl-mode=VERIFY_IDENTITY").is_ok());
    /// assert!(MysqlOutbox::new("mysql://app@db/").is_err());
    /// ```
    pub fn new(url: &str) -> Result<Self, DatabaseError> {
        // The driver's text quotes what it could not read, which may be a part of the password.
        Self::read(url).map_err(|DatabaseError(message)| DatabaseError(SecretUrl::from(url).scrub(&message)))
    }

    fn read(url: &str) -> Result<Self, DatabaseError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let base = base.strip_prefix("mariadb://").map_or_else(|| base.to_owned(), |rest| format!("mysql://{rest}"));
        let (mut ssl, mut root, mut rest) = (SslMode::Preferred, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("ssl-mode", mode)) => ssl = SslMode::read(mode)?,
                Some(("ssl-ca", path)) => root = Some(path.into()),
                // What other drivers want to know: ours speaks utf8mb4.
                Some(("charset", _)) => {}
                _ => rest.push(pair),
            }
        }
        let plain = if rest.is_empty() { base } else { format!("{base}?{}", rest.join("&")) };
        let opts = Opts::from_url(&plain).map_err(|error| DatabaseError(format!("no MySQL URL: {error}")))?;
        let Some(database) = opts.db_name().filter(|name| !name.is_empty()) else {
            return Err(DatabaseError("the MySQL URL names no database: mysql://user@host/database".to_owned()));
        };
        let name =
            format!("mysql://{}@{}:{}/{database}", opts.user().unwrap_or_default(), opts.ip_or_hostname(), opts.tcp_port());
        // Updates count the rows that they find, as PostgreSQL's do, not those that were different before.
        let opts = OptsBuilder::from_opts(opts).client_found_rows(true);
        Ok(Self { opts, ssl, root, name, connection: Mutex::new(None) })
    }

    async fn connect(&self) -> Result<Conn, DatabaseError> {
        let encrypted = self.opts.clone().ssl_opts(self.ssl.opts(self.root.as_ref()));
        let mut connection = match Conn::new(encrypted).await {
            // It has no certificate.
            Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) if self.ssl == SslMode::Preferred => {
                Conn::new(self.opts.clone().ssl_opts(None::<SslOpts>)).await.map_err(|e| fault(&e))?
            }
            connected => connected.map_err(|e| fault(&e))?,
        };
        for setting in SESSION {
            connection.query_drop(setting).await.map_err(|e| fault(&e))?;
        }
        Ok(connection)
    }
}

impl SslMode {
    fn read(word: &str) -> Result<Self, DatabaseError> {
        let modes = [
            ("DISABLED", Self::Disabled),
            ("PREFERRED", Self::Preferred),
            ("REQUIRED", Self::Required),
            ("VERIFY_CA", Self::VerifyCa),
            ("VERIFY_IDENTITY", Self::VerifyIdentity),
        ];
        let known = modes.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, mode)| *mode);
        let names = || modes.map(|(name, _)| name).join(", ");
        known.ok_or_else(|| DatabaseError(format!("ssl-mode={word} is not known: use one of {}", names())))
    }

    fn opts(self, root: Option<&std::path::PathBuf>) -> Option<SslOpts> {
        if self == Self::Disabled {
            return None;
        }
        let roots = root.map(|path| vec![path.clone().into()]).unwrap_or_default();
        Some(
            SslOpts::default()
                .with_disable_built_in_roots(root.is_some())
                .with_root_certs(roots)
                .with_danger_accept_invalid_certs(matches!(self, Self::Preferred | Self::Required))
                .with_danger_skip_domain_validation(self != Self::VerifyIdentity),
        )
    }
}

impl Database for MysqlOutbox {
    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn run(&self, statements: Vec<Statement>) -> BoxFuture<'_, Result<Vec<Rows>, DatabaseError>> {
        Box::pin(async move {
            let mut place = self.connection.lock().await;
            // Taken out, and given back only when all went well: an error may leave half an answer, or a lock, behind.
            let work = async {
                let mut connection = match place.take() {
                    Some(connection) => connection,
                    None => self.connect().await?,
                };
                let answers = perform(&mut connection, &statements).await.map_err(|e| fault(&e))?;
                Ok((answers, connection))
            };
            let done = tokio::time::timeout(PATIENCE, work).await;
            let late = |_| DatabaseError(format!("MySQL has not answered for {} s", PATIENCE.as_secs()));
            let (answers, connection) = done.map_err(late)??;
            *place = Some(connection);
            Ok(answers)
        })
    }
}

/// What each returned; for one that changes rows, a row without columns for each: what `RETURNING` gives elsewhere.
async fn perform(connection: &mut Conn, statements: &[Statement]) -> Result<Vec<Rows>, Error> {
    let mut answers = Vec::with_capacity(statements.len());
    for statement in statements {
        if statement.params.is_empty() && !statement.sql.starts_with("SELECT") {
            // Some of these cannot be prepared.
            connection.query_drop(&statement.sql).await?;
            answers.push(Rows::new());
            continue;
        }
        let params = Params::Positional(statement.params.iter().map(parameter).collect());
        let mut result = connection.exec_iter(&statement.sql, params).await?;
        let rows: Vec<mysql_async::Row> = result.collect().await?;
        let changed = if result.columns_ref().is_empty() { result.affected_rows() } else { 0 };
        drop(result);
        let changed = std::iter::repeat_n(Vec::new(), usize::try_from(changed).unwrap_or(usize::MAX));
        answers.push(rows.into_iter().map(columns).chain(changed).collect());
    }
    Ok(answers)
}

fn parameter(value: &Value) -> mysql_async::Value {
    match value {
        Value::Null => mysql_async::Value::NULL,
        Value::Integer(number) => mysql_async::Value::Int(*number),
        Value::Text(text) => mysql_async::Value::Bytes(text.as_bytes().to_vec()),
    }
}

fn columns(row: mysql_async::Row) -> Vec<Value> {
    let numbers: Vec<bool> = row.columns_ref().iter().map(|column| column.column_type().is_numeric_type()).collect();
    let read = |(value, number): (mysql_async::Value, bool)| match value {
        mysql_async::Value::NULL => Value::Null,
        mysql_async::Value::Int(value) => Value::Integer(value),
        mysql_async::Value::UInt(value) => Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)),
        mysql_async::Value::Bytes(text) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            if number { text.parse().map_or(Value::Null, Value::Integer) } else { Value::Text(text) }
        }
        other => Value::Text(other.as_sql(true)),
    };
    row.unwrap().into_iter().zip(numbers).map(read).collect()
}

fn fault(error: &Error) -> DatabaseError {
    DatabaseError(match error {
        Error::Server(error) => format!("MySQL: {} ({})", error.message, error.code),
        other => format!("MySQL: {other}"),
    })
}

impl std::fmt::Debug for MysqlOutbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MysqlOutbox").field("target", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_and_shown_without_its_password() {
        let outbox =
            MysqlOutbox::new("mariadb://app:secret@db.example:3307/shop?ssl-mode=verify_ca&ssl-ca=/ca.pem&charset=utf8mb4")
                .unwrap();
        assert_eq!(outbox.name, "mysql://app@db.example:3307/shop");
        assert_eq!(outbox.ssl, SslMode::VerifyCa);
        assert!(!format!("{outbox:?}").contains("secret"));
        for (url, word) in [
            ("mysql://db", "names no database"),
            ("mysql://db/x?ssl-mode=maybe", "VERIFY_IDENTITY"),
            ("mysql://db/x?nonsense=1", "nonsense"),
            ("oracle://db/x", "no MySQL URL"),
        ] {
            assert!(MysqlOutbox::new(url).unwrap_err().to_string().contains(word), "{url}");
        }
    }

    #[test]
    fn a_password_is_in_no_message_about_its_url() {
        for url in [
            "mysql://app:planted?hunter2=x@db/shop",
            "mysql://app:planted?ssl-mode=hunter2@db/shop",
            "mysql://app:planted/hunter2@db/shop",
            "mysql://app:planted#hunter2@db/shop",
            "mysql://app:planted:hunter2@db/",
            "mysql://app:planted-hunter2@db:port/shop",
            "mysql://app:planted-hunter2@db/shop?nonsense=1",
            "mysql://app:planted-hunter2@db",
        ] {
            let message = MysqlOutbox::new(url).map(|outbox| format!("{outbox:?}")).unwrap_or_else(|error| error.to_string());
            assert!(!message.contains("planted") && !message.contains("hunter2"), "{url}: {message}");
        }
    }
}
