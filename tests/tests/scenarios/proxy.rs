//! A network between a worker and its server that can fail.
use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How the network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It carries everything.
    Open,
    /// Connections break, and new ones are closed at once.
    Cut,
    /// Nothing is carried any more, and nobody is told: connections of this time stay silent for ever.
    Silent,
}

/// A TCP proxy.
pub struct Proxy {
    address: SocketAddr,
    mode: watch::Sender<Mode>,
}

impl Proxy {
    /// In front of a server.
    pub async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mode, seen) = watch::channel(Mode::Open);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, server, seen.clone()));
            }
        });
        Self { address, mode }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the network.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

async fn carry(mut client: TcpStream, server: SocketAddr, mut mode: watch::Receiver<Mode>) {
    if *mode.borrow_and_update() == Mode::Cut {
        return;
    }
    let Ok(mut upstream) = TcpStream::connect(server).await else { return };
    if *mode.borrow() == Mode::Open {
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut upstream) => return,
            _ = mode.changed() => {}
        }
    }
    if *mode.borrow() == Mode::Silent {
        // Both sockets stay open; nothing moves.
        std::future::pending::<()>().await;
    }
}
