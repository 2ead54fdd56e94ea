//! A network between a worker and its server that can fail.
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How the network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It carries everything.
    Open,
    /// Connections break, and new ones are closed at once.
    Cut,
    /// No data is carried, and connections stay open: those of this time stay silent for ever.
    Silent,
    /// Requests arrive, and no answer comes back.
    Deaf,
    /// The next `COMMIT` reaches the database, which carries it out; its answer does not come back, and that connection breaks.
    LoseCommit,
}

/// A TCP proxy.
pub struct Proxy {
    address: SocketAddr,
    mode: watch::Sender<Mode>,
    accepted: watch::Receiver<usize>,
}

impl Proxy {
    /// In front of a server.
    pub async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = watch::Sender::new(Mode::Open);
        let network = mode.clone();
        let (counts, accepted) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                counts.send_modify(|count| *count += 1);
                tokio::spawn(carry(client, server, network.clone()));
            }
        });
        Self { address, mode, accepted }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// True when the commit that was to be lost has been.
    pub fn is_open(&self) -> bool {
        *self.mode.borrow() == Mode::Open
    }

    /// Resolves when so many more have connected, or tried to.
    pub async fn more(&self, count: usize) {
        let mut accepted = self.accepted.clone();
        let all = *accepted.borrow() + count;
        accepted.wait_for(|now| *now >= all).await.unwrap();
    }

    /// Changes the network.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

async fn carry(mut client: TcpStream, server: SocketAddr, network: watch::Sender<Mode>) {
    let mut mode = network.subscribe();
    if *mode.borrow_and_update() == Mode::Cut {
        return;
    }
    let Ok(mut upstream) = TcpStream::connect(server).await else { return };
    let (mut sent, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let now = *mode.borrow_and_update();
        match now {
            Mode::Open | Mode::Deaf | Mode::LoseCommit => {}
            Mode::Cut => return,
            // Both sockets stay open; nothing moves.
            Mode::Silent => std::future::pending().await,
        }
        tokio::select! {
            read = client.read(&mut sent) => {
                let Ok(length @ 1..) = read else { return };
                let lost = is_commit(&sent[..length]) && network.send_if_modified(|mode| {
                    let lose = *mode == Mode::LoseCommit;
                    *mode = if lose { Mode::Open } else { *mode };
                    lose
                });
                if upstream.write_all(&sent[..length]).await.is_err() {
                    return;
                }
                if lost {
                    // Its answer says that it is done.
                    let _ = upstream.read(&mut answered).await;
                    return;
                }
            }
            read = upstream.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if now != Mode::Deaf && client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
            _ = mode.changed() => {}
        }
    }
}

fn is_commit(bytes: &[u8]) -> bool {
    bytes.windows(6).any(|window| window == b"COMMIT")
}
