//! `ojs server`: opens the engine, listens, and leaves politely.
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::process::exit;

use ojs_engine::{Engine, EngineOptions, Server, StoreUrl};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::ServerArgs;
use crate::failure::Failure;
use crate::log;

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// A store that cannot be opened, an address that cannot be listened on, a bad log level.
pub async fn run(args: ServerArgs) -> Result<(), Failure> {
    log::start(&args.log_level, args.log_format)?;
    let store = args.store.parse::<StoreUrl>();
    let store = store.map_err(|error| Failure::usage(format!("--store: {error}"), "for example --store sqlite:jobs.db"))?;
    let mut options = EngineOptions::new(store);
    options.test_mode = args.test_mode;

    // Before the first line is printed: who reads it may send a signal at once.
    let signals = Signals::install()?;
    // The error says what to do.
    let engine = Engine::open(options).await.map_err(|error| Failure::setting(error.to_string()))?;
    let server = Server::bind(engine, &args.listen).await.map_err(|error| cannot_listen(&args.listen, &error))?;
    let address = server.local_addr();
    announce(address);
    warn_of_exposure(address, args.test_mode);
    tracing::info!(%address, store = %args.store, version = env!("CARGO_PKG_VERSION"), "serving");
    server.run(signals.first()).await;
    tracing::info!("stopped");
    Ok(())
}

/// The line that scripts and tests wait for. A closed stdout is no reason not to serve.
fn announce(address: SocketAddr) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "listening on http://{address}").and_then(|()| stdout.flush());
}

fn warn_of_exposure(address: SocketAddr, test_mode: bool) {
    if !address.ip().is_loopback() {
        tracing::warn!(
            %address,
            "EXPOSED: anyone who reaches this address can read, add, run and delete jobs. Put an authenticating proxy in front, \
             or listen on 127.0.0.1"
        );
    }
    if test_mode {
        tracing::warn!("test mode: POST /ojs/v1/admin/reset deletes all jobs. Never in production");
    }
}

fn cannot_listen(address: &str, error: &std::io::Error) -> Failure {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => "another process listens there: stop it, or choose another port (port 0 takes any free one)",
        ErrorKind::PermissionDenied => "ports below 1024 need privileges: choose a higher one, or put a proxy in front",
        ErrorKind::AddrNotAvailable => "no interface of this machine has that address: 127.0.0.1 always works, 0.0.0.0 means all",
        _ => "use ADDRESS:PORT, for example 127.0.0.1:8080 or [::1]:8080",
    };
    Failure::usage(format!("cannot listen on {address}: {error}"), advice)
}

/// The signals that end the server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn install() -> Result<Self, Failure> {
        let catch = |kind| {
            signal(kind)
                .map_err(|error| Failure::usage(format!("cannot catch signals: {error}"), "check the limits of this process"))
        };
        Ok(Self { terminate: catch(SignalKind::terminate())?, interrupt: catch(SignalKind::interrupt())? })
    }

    /// The number of the next signal.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
        }
    }

    /// Ready at the first signal. From then on the second one ends the process with the status a shell expects.
    async fn first(mut self) {
        let number = self.next().await;
        tracing::info!(signal = number, "draining; signal again to stop at once");
        tokio::spawn(async move { exit(128 + self.next().await) });
    }
}
