//! `ojs server`: opens the engine, listens, and leaves politely.
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::exit;
use std::sync::Arc;

use ojs_engine::access::Access;
use ojs_engine::{Engine, EngineOptions, Hosts, MissingTenant, Server, StoreUrl, listening_advice};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::args::{MissingTenantArg, ServerArgs};
use crate::failure::Failure;
use crate::log;
use crate::telemetry::Telemetry;

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// A store that cannot be opened, an address that cannot be listened on, a bad log level.
pub async fn run(args: ServerArgs) -> Result<(), Failure> {
    let telemetry = Telemetry::from_environment()?;
    log::start_with(&args.log_level, args.log_format, args.log_jobs, &telemetry)?;
    let store = args.store.expose().parse::<StoreUrl>();
    let store = store.map_err(|error| Failure::usage(format!("--store: {error}"), "for example --store sqlite:jobs.db"))?;
    let keys = args.keys.as_ref().map(|path| Access::open(path).map(Arc::new)).transpose()?;
    let mut options = EngineOptions::new(store);
    options.test_mode = args.test_mode;
    options.codec_server_url.clone_from(&args.codec_server_url);
    options.strict_checkpoints = args.strict_checkpoints;
    if let Some(source) = &args.event_source {
        options.event_source = source.as_str().into();
    }
    options.history = (&args.history).into();
    options.outgoing = (&args.outgoing).into();
    options.missing_tenant = match args.missing_tenant {
        MissingTenantArg::Default => MissingTenant::Default,
        MissingTenantArg::Reject => MissingTenant::Reject,
    };

    // Before the first line is printed: who reads it may send a signal at once.
    let signals = Signals::install()?;
    // The error says what to do.
    let engine = Engine::open(options).await.map_err(|error| Failure::setting(error.to_string()))?;
    telemetry.measure(&engine);
    let measured = engine.clone();
    let mut server = Server::bind(engine, &args.listen).await.map_err(|error| cannot_listen(&args.listen, &error))?;
    server = server.with_hosts(Hosts::new(&args.hosts)).with_limits((&args.limits).into());
    let address = server.local_addr();
    if let Some(access) = keys {
        server = server.with_access(Arc::clone(&access));
        watch_keys(access)?;
    } else if !address.ip().is_loopback() && !args.insecure {
        return Err(Failure::usage(
            format!("{address} can be reached from other machines, and no keys are asked for"),
            "make keys with `ojs keys add` and give the file to --keys, or say --insecure if a proxy guards it",
        ));
    }
    let (server, page) = add_page(server, &args)?;
    announce(address, page);
    warn_of_exposure(address, &args);
    tracing::info!(%address, store = %args.store, version = env!("CARGO_PKG_VERSION"), "serving");
    let until_told = async {
        signals.first().await;
        telemetry.last_figures(&measured).await;
    };
    server.run(until_told).await;
    tracing::info!("stopped");
    telemetry.end().await;
    Ok(())
}

/// The line that scripts and tests wait for, and where the page is. A closed stdout is no reason not to serve.
pub fn announce(address: SocketAddr, page: bool) {
    let mut text = format!("listening on http://{address}\n");
    if page {
        let mut reachable = address;
        if address.ip().is_unspecified() {
            // No browser opens the address that means all addresses.
            reachable.set_ip(if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        text.push_str(&format!("dashboard at http://{reachable}/ui/\n"));
    }
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Adds the page at `/ui/`, unless the options switch it off; whether it is there.
#[cfg(feature = "dashboard")]
fn add_page(server: Server, args: &ServerArgs) -> Result<(Server, bool), Failure> {
    if args.no_ui {
        return Ok((server, false));
    }
    let pages = ojs_dashboard::router(Hosts::new(&args.hosts), args.codec_server_url.as_deref());
    let pages =
        pages.map_err(|error| Failure::usage(format!("--codec-server-url: {error}"), "for example https://codec.example.com"))?;
    Ok((server.with_pages(pages), true))
}

/// This build has no page.
#[cfg(not(feature = "dashboard"))]
#[allow(clippy::unnecessary_wraps, reason = "with the page, its options may be wrong")]
fn add_page(server: Server, _: &ServerArgs) -> Result<(Server, bool), Failure> {
    Ok((server, false))
}

/// Reads the keys again on SIGHUP, and when the file has changed.
pub fn watch_keys(access: Arc<Access>) -> Result<(), Failure> {
    let mut hangup = signal(SignalKind::hangup())
        .map_err(|error| Failure::usage(format!("cannot catch signals: {error}"), "check the limits of this process"))?;
    let told = Arc::new(Notify::new());
    let teller = Arc::clone(&told);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            teller.notify_one();
        }
    });
    tokio::spawn(async move { access.follow(&told).await });
    Ok(())
}

fn warn_of_exposure(address: SocketAddr, args: &ServerArgs) {
    let test_mode = args.test_mode;
    if !address.ip().is_loopback() && args.keys.is_none() {
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

/// Why an address cannot be listened on, and what to do.
pub fn cannot_listen(address: &str, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot listen on {address}: {error}"), listening_advice(error))
}

/// The signals that end the server.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Catches both.
    pub fn install() -> Result<Self, Failure> {
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
    pub async fn first(mut self) {
        let number = self.next().await;
        tracing::info!(signal = number, "draining; signal again to stop at once");
        tokio::spawn(async move { exit(128 + self.next().await) });
    }
}
