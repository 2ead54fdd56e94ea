//! An application's database of each kind, and the server that its jobs go to.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mysql_async::prelude::Queryable;
use ojs::outbox::{Dialect, MysqlOutbox, PostgresOutbox, RelayOptions, SqliteOutbox, Store, Style, Table, Value};
use ojs::transport::{self, Request, Response, Transport};
use ojs::{Client, JobRequest};

pub const PATIENCE: Duration = Duration::from_secs(120);

/// An application's database.
pub enum App {
    Sqlite(tempfile::TempDir),
    Postgres(ojs_postgres_fixture::Database),
    Mysql(ojs_mariadb_fixture::Database),
}

impl App {
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
            Self::Mysql(_) => Dialect::Mysql,
        }
    }

    pub fn store(&self) -> Store {
        self.store_of(Table::default())
    }

    pub fn store_of(&self, table: Table) -> Store {
        match self {
            Self::Sqlite(directory) => Store::new(table, SqliteOutbox::open(directory.path().join("app.db")).unwrap()),
            Self::Postgres(database) => Store::new(table, PostgresOutbox::new(database.url()).unwrap()),
            Self::Mysql(database) => Store::new(table, MysqlOutbox::new(database.url()).unwrap()),
        }
    }

    pub async fn run(&self, sql: &str) {
        match self {
            Self::Sqlite(directory) => {
                let connection = rusqlite::Connection::open(directory.path().join("app.db")).unwrap();
                connection.busy_timeout(PATIENCE).unwrap();
                connection.execute_batch(sql).unwrap();
            }
            Self::Postgres(database) => {
                connect(database.url()).await.batch_execute(sql).await.unwrap();
            }
            Self::Mysql(database) => connect_mysql(database.url()).await.query_drop(sql).await.unwrap(),
        }
    }

    /// The first column of a query, as text.
    pub async fn ask(&self, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite(directory) => {
                let connection = rusqlite::Connection::open(directory.path().join("app.db")).unwrap();
                connection.busy_timeout(PATIENCE).unwrap();
                let mut statement = connection.prepare(sql).unwrap();
                statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            }
            Self::Postgres(database) => {
                let rows = connect(database.url()).await.simple_query(sql).await.unwrap();
                rows.iter()
                    .filter_map(|row| match row {
                        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                        _ => None,
                    })
                    .collect()
            }
            Self::Mysql(database) => {
                let sql = sql.replace("AS text)", "AS CHAR)");
                connect_mysql(database.url()).await.query(sql).await.unwrap()
            }
        }
    }

    /// The statement of a staged job as plain SQL.
    pub async fn staged(&self, client: &Client, request: JobRequest) -> (String, String) {
        let staged = client.stage(request, self.dialect(), &Table::default()).await.unwrap().unwrap();
        let (mut sql, values) = staged.statement(Style::Question);
        for value in values {
            let Value::Text(text) = value else { panic!("{value:?}") };
            sql = sql.replacen('?', &format!("'{}'", text.replace('\'', "''")), 1);
        }
        (sql, staged.job_id)
    }
}

pub async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

pub async fn connect_mysql(url: &str) -> mysql_async::Conn {
    mysql_async::Conn::from_url(url).await.unwrap()
}

/// A connection that stays open, of a database that has more than one writer.
pub enum Session {
    Postgres(tokio_postgres::Client),
    Mysql(mysql_async::Conn),
}

impl Session {
    pub async fn of(app: &App) -> Self {
        match app {
            App::Sqlite(_) => panic!("SQLite has one writer at a time"),
            App::Postgres(database) => Self::Postgres(connect(database.url()).await),
            App::Mysql(database) => Self::Mysql(connect_mysql(database.url()).await),
        }
    }

    pub async fn run(&mut self, sql: &str) {
        match self {
            Self::Postgres(client) => client.batch_execute(sql).await.unwrap(),
            Self::Mysql(connection) => connection.query_drop(sql).await.unwrap(),
        }
    }
}

pub async fn until<F: Future<Output = bool>>(what: &str, probe: impl Fn() -> F) {
    let deadline = Instant::now() + PATIENCE;
    while !probe().await {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub async fn drained(app: &App) {
    until("the outbox is empty", || async {
        app.ask("SELECT CAST(count(*) AS text) FROM ojs_outbox WHERE status <> 'sent'").await == ["0"]
    })
    .await;
}

pub fn quick() -> RelayOptions {
    let mut options = RelayOptions::default();
    options.poll_interval = Duration::from_millis(20);
    options.retry_after = Duration::from_millis(5);
    options.max_attempts = 2;
    options
}
/// A server that can be away, and remembers what it was sent, in order.
pub struct FaultyServer {
    engine: Arc<dyn Transport>,
    pub away: AtomicBool,
    /// Answers are lost after the engine has stored the jobs, so many times.
    pub lose: AtomicUsize,
    /// The next answer takes so long.
    pub stall: std::sync::Mutex<Option<Duration>>,
    /// One request at a time, so that they are noted in the order in which the engine has seen them.
    turn: tokio::sync::Mutex<()>,
    pub requests: std::sync::Mutex<Vec<(String, usize)>>,
    pub order: std::sync::Mutex<Vec<i64>>,
}

pub async fn faulty_server() -> (Arc<FaultyServer>, Client) {
    let engine = Arc::clone(Client::connect("memory:").await.unwrap().transport());
    let server = Arc::new(FaultyServer {
        engine,
        away: AtomicBool::new(false),
        lose: AtomicUsize::new(0),
        stall: std::sync::Mutex::default(),
        turn: tokio::sync::Mutex::default(),
        requests: std::sync::Mutex::default(),
        order: std::sync::Mutex::default(),
    });
    let (inside, runtime) = (Arc::clone(&server), tokio::runtime::Handle::current());
    let transport = transport::from_fn(move |request: Request| {
        let server = Arc::clone(&inside);
        // As in a server: a request that has arrived is seen to, whether its sender still lives or not.
        let answer = runtime.spawn(async move { server.answer(request).await });
        async move { answer.await.unwrap() }
    });
    (server, Client::new(transport))
}

impl FaultyServer {
    async fn answer(&self, request: Request) -> Result<Response, transport::TransportError> {
        let away = || Err(transport::TransportError::new(transport::TransportErrorKind::Connect, "no server listens"));
        if request.method == "POST" && self.away.load(Ordering::SeqCst) {
            return away();
        }
        let stall = self.stall.lock().unwrap().take();
        tokio::time::sleep(stall.unwrap_or_default()).await;
        let _turn = self.turn.lock().await;
        let (path, body) = (request.path.to_string(), request.body.clone());
        let answer = self.engine.request(request).await?;
        if path.starts_with("/jobs")
            && answer.is_success()
            && let Some(body) = body
        {
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let jobs = body["jobs"].as_array().cloned().unwrap_or_else(|| vec![body]);
            self.requests.lock().unwrap().push((path, jobs.len()));
            self.order.lock().unwrap().extend(jobs.iter().filter_map(|job| job["args"][0].as_i64()));
            if self.lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok() {
                return away();
            }
        }
        Ok(answer)
    }
}
