//! The servers that keep being killed, and how clients find one that lives.
use std::net::SocketAddr;
use std::time::Duration;

use ojs_postgres_fixture::{Database, Options, Server, Stop};
use ojs_tests::{ServerProcess, Wire};
use rand::Rng;
use rand::rngs::StdRng;
use tokio::sync::watch;

/// Where the servers listen at the moment. Each restart takes a new port.
#[derive(Clone)]
pub struct Whereabouts(watch::Receiver<Vec<SocketAddr>>);

impl Whereabouts {
    /// A connection to a living server, any of them: waits for the next one while there is none.
    pub async fn connect(&mut self) -> Wire {
        loop {
            let addresses = self.0.borrow_and_update().clone();
            let first = rand::rng().random_range(0..addresses.len());
            for address in addresses.iter().cycle().skip(first).take(addresses.len()) {
                if let Ok(wire) = Wire::connect(*address).await {
                    return wire;
                }
            }
            self.0.changed().await.expect("the host outlives its clients");
        }
    }
}

/// A database that is restarted, too.
struct Shared {
    server: Server,
    // Dropped with the server, which has it.
    _database: Database,
}

/// Keeps servers running, except for the moments in which one is killed.
pub struct Host {
    servers: Vec<ServerProcess>,
    addresses: watch::Sender<Vec<SocketAddr>>,
    shared: Option<Shared>,
}

impl Host {
    /// One server on a SQLite file.
    pub async fn one() -> Self {
        Self::of(vec![ServerProcess::start("sqlite", &["--log-level", "warn"]).await], None)
    }

    /// Two servers on one PostgreSQL, which syncs every commit.
    pub async fn two() -> Self {
        let start = || {
            let server = Server::start(&Options::durable()).unwrap();
            let database = server.database().unwrap();
            Shared { server, _database: database }
        };
        let shared = tokio::task::spawn_blocking(start).await.unwrap();
        let url = shared._database.url().to_owned();
        let mut servers = Vec::new();
        for _ in 0..2 {
            servers.push(ServerProcess::on(&url, &["--log-level", "error"]).await);
        }
        Self::of(servers, Some(shared))
    }

    fn of(servers: Vec<ServerProcess>, shared: Option<Shared>) -> Self {
        let addresses = watch::Sender::new(servers.iter().map(ServerProcess::address).collect());
        Self { servers, addresses, shared }
    }

    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.borrow().clone()
    }

    pub fn whereabouts(&self) -> Whereabouts {
        Whereabouts(self.addresses.subscribe())
    }

    /// Lets them live for a while, kills one, starts the next one.
    pub async fn kill(&mut self, after: Duration, random: &mut StdRng) {
        // No condition to wait for: any moment must do, so a random one is taken.
        tokio::time::sleep(after).await;
        let victim = random.random_range(0..self.servers.len());
        self.servers[victim].kill().await;
        self.servers[victim] = self.servers[victim].again().await;
        self.addresses.send_replace(self.servers.iter().map(ServerProcess::address).collect());
    }

    /// Restarts the database in the middle of everything, without letting it finish anything.
    pub fn restart_database(&self) {
        let shared = self.shared.as_ref().expect("there is a database of its own");
        tokio::task::block_in_place(|| shared.server.restart(Stop::Immediate)).unwrap();
    }

    /// SIGTERM: a clean end, which a killed predecessor must not prevent.
    pub async fn stop(self) {
        for mut server in self.servers {
            assert_eq!(server.terminate().await.code(), Some(0));
        }
    }
}
