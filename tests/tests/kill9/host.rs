//! The server that keeps being killed, and how clients find it again.
use std::time::Duration;

use ojs_tests::{ServerProcess, Wire};
use rand::Rng;
use rand::rngs::StdRng;
use tokio::sync::watch;

/// Where the server listens at the moment. Each restart takes a new port.
#[derive(Clone)]
pub struct Whereabouts(watch::Receiver<std::net::SocketAddr>);

impl Whereabouts {
    /// A connection to the living server: waits for the next one while there is none.
    pub async fn connect(&mut self) -> Wire {
        loop {
            let address = *self.0.borrow_and_update();
            match Wire::connect(address).await {
                Ok(wire) => return wire,
                Err(_) => self.0.changed().await.expect("the host outlives its clients"),
            }
        }
    }
}

/// Keeps a server running, except for the moments in which it is killed.
pub struct Host {
    server: ServerProcess,
    address: watch::Sender<std::net::SocketAddr>,
}

impl Host {
    pub async fn start() -> Self {
        let server = ServerProcess::start("sqlite", &["--log-level", "warn"]).await;
        let address = watch::Sender::new(server.address());
        Self { server, address }
    }

    pub fn whereabouts(&self) -> Whereabouts {
        Whereabouts(self.address.subscribe())
    }

    /// Lets it live for a random time, kills it, starts the next one.
    pub async fn kill(&mut self, random: &mut StdRng) {
        // No condition to wait for: any moment must do, so a random one is taken.
        tokio::time::sleep(Duration::from_millis(random.random_range(20..500))).await;
        self.server.kill().await;
        self.server = self.server.again().await;
        self.address.send_replace(self.server.address());
    }

    /// SIGTERM: a clean end, which a killed predecessor must not prevent.
    pub async fn stop(mut self) {
        assert_eq!(self.server.terminate().await.code(), Some(0));
    }
}
