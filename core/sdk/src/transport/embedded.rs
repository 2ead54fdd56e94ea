//! The engine in this process: requests go through its HTTP router without a socket.
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use axum::body::Body;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http_body_util::BodyExt;
use ojs_engine::{Engine, EngineOptions, StoreUrl};
use tower::ServiceExt;

use super::extension::REQUIRES_EXTENSION;
use super::{BoxFuture, Request, Response, Transport, TransportError, TransportErrorKind};

/// A transport to an engine in this process.
///
/// Two transports of one process that name the same store share one engine. `memory:` alone is always a fresh one,
/// `memory:name` is shared by all who use the name. The engine is closed when the last transport is closed.
pub struct Embedded {
    name: String,
    process: u32,
    open: Mutex<Option<Opened>>,
}

#[derive(Clone)]
struct Opened {
    engine: Engine,
    router: axum::Router,
    /// Where the engine is registered; `None` for a fresh memory engine, and for one that the caller has opened.
    key: Option<String>,
    /// Whether closing this transport may close the engine.
    owned: bool,
}

/// Engines that several transports of a process may share.
struct Registry {
    process: u32,
    /// Held while a store is being opened: the second to ask waits for the first.
    opening: tokio::sync::Mutex<()>,
    engines: Mutex<HashMap<String, Shared>>,
}

struct Shared {
    engine: Engine,
    users: usize,
}

impl Embedded {
    /// Opens the store, or joins those who have it open.
    ///
    /// # Errors
    /// [`TransportErrorKind::Config`] for a URL that names no store, [`TransportErrorKind::Open`] when it cannot be opened.
    pub async fn open(url: &str) -> Result<Self, TransportError> {
        let (store, key) = resolve(url)?;
        let Some(key) = key else {
            let engine = open(store).await?;
            return Ok(Self::over(url, engine, None, true));
        };
        let registry = registry();
        let _turn = registry.opening.lock().await;
        if let Some(shared) = registry.lock().get_mut(&key) {
            shared.users += 1;
            return Ok(Self::over(url, shared.engine.clone(), Some(key), true));
        }
        let engine = open(store).await?;
        registry.lock().insert(key.clone(), Shared { engine: engine.clone(), users: 1 });
        Ok(Self::over(url, engine, Some(key), true))
    }

    /// A transport to an engine that the caller has opened and will close.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self::over("engine", engine, None, false)
    }

    fn over(name: &str, engine: Engine, key: Option<String>, owned: bool) -> Self {
        let router = engine.router();
        let opened = Opened { engine, router, key, owned };
        Self { name: name.to_owned(), process: std::process::id(), open: Mutex::new(Some(opened)) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn router(&self) -> Result<axum::Router, TransportError> {
        if self.process != std::process::id() {
            let message = "an embedded engine does not follow a fork: connect again in the child process";
            return Err(TransportError::new(TransportErrorKind::Forked, message));
        }
        let opened = self.lock();
        let opened =
            opened.as_ref().ok_or_else(|| TransportError::new(TransportErrorKind::Closed, format!("{} is closed", self.name)))?;
        Ok(opened.router.clone())
    }
}

impl Transport for Embedded {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let router = self.router()?;
            let mut call = http::Request::builder()
                .method(request.method.clone())
                .uri(request.absolute_path().as_ref())
                .header(CONTENT_TYPE, ojs_model::MEDIA_TYPE);
            if let Some(extension) = request.required_extension() {
                call = call.header(REQUIRES_EXTENSION, extension);
            }
            if let Some(tenant) = request.tenant.as_deref() {
                call = call.header(super::TENANT, tenant);
            }
            let call = call
                .body(request.body.map_or_else(Body::empty, Body::from))
                .map_err(|e| TransportError::new(TransportErrorKind::Config, "cannot build a request").with_source(e))?;
            let answer = match router.oneshot(call).await {
                Ok(answer) => answer,
                Err(never) => match never {},
            };
            let (head, body) = answer.into_parts();
            let interrupted =
                |e| TransportError::new(TransportErrorKind::Interrupted, "the engine broke off its answer").with_source(e);
            let body = body.collect().await.map_err(interrupted)?.to_bytes();
            let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
            Ok(Response {
                retry_after: text(RETRY_AFTER.as_str()).and_then(|s| s.parse().ok()).map(std::time::Duration::from_secs),
                request_id: text("x-request-id").map(str::to_owned),
                ..Response::new(head.status.as_u16(), body)
            })
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let opened = self.lock().take();
        Box::pin(async move {
            if let Some(opened) = opened.filter(|_| self.process == std::process::id())
                && opened.is_last_user()
            {
                opened.engine.close().await;
            }
        })
    }
}

impl Opened {
    /// Signs off from the registry. True when the engine has no other user.
    fn is_last_user(&self) -> bool {
        let Some(key) = &self.key else { return self.owned };
        let registry = registry();
        let mut engines = registry.lock();
        let Some(shared) = engines.get_mut(key) else { return false };
        shared.users -= 1;
        let last = shared.users == 0;
        if last {
            engines.remove(key);
        }
        last
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // Without `close` the writer ends with the last clone of the engine; it has flushed all it confirmed.
        if self.process == std::process::id()
            && let Some(opened) = self.lock().take()
        {
            opened.is_last_user();
        }
    }
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").field("store", &self.name).finish_non_exhaustive()
    }
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Shared>> {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The registry of this process. A forked child has one of its own: another thread of the parent may have been opening a store at the
/// moment of the fork, and the locks of that registry are held for ever in the child.
fn registry() -> Arc<Registry> {
    static REGISTRY: ArcSwapOption<Registry> = ArcSwapOption::const_empty();
    loop {
        let current = REGISTRY.load_full();
        if let Some(registry) = current.as_ref().filter(|registry| registry.process == std::process::id()) {
            return Arc::clone(registry);
        }
        let fresh = Registry { process: std::process::id(), opening: tokio::sync::Mutex::default(), engines: Mutex::default() };
        let before = REGISTRY.compare_and_swap(&current, Some(Arc::new(fresh)));
        if before.as_ref().map(Arc::as_ptr) == current.as_ref().map(Arc::as_ptr) {
            // The parent's engines are not closed in the child: their files and threads are the parent's.
            std::mem::forget(current);
        }
    }
}

/// The store of a URL, and the name under which it is shared.
fn resolve(url: &str) -> Result<(StoreUrl, Option<String>), TransportError> {
    // A child process must not find its parent's engines.
    let process = std::process::id();
    if let Some(name) = url.strip_prefix("memory:") {
        let key = (!name.is_empty()).then(|| format!("{process}:{url}"));
        return Ok((StoreUrl::Memory, key));
    }
    let store: StoreUrl =
        url.parse().map_err(|e: ojs_engine::InvalidStoreUrl| TransportError::new(TransportErrorKind::Config, e.to_string()))?;
    let key = match &store {
        StoreUrl::Sqlite { path, .. } => format!("{process}:sqlite:{}", canonical(path)?.display()),
        StoreUrl::Postgres { .. } => format!("{process}:{url}"),
        StoreUrl::Memory => return Ok((store, None)),
    };
    Ok((store, Some(key)))
}

/// The one spelling of a path: links resolved, absolute, though the file may not exist yet.
fn canonical(path: &Path) -> Result<std::path::PathBuf, TransportError> {
    let fault = |e| TransportError::new(TransportErrorKind::Open, format!("cannot open {}", path.display())).with_source(e);
    if let Ok(existing) = path.canonicalize() {
        return Ok(existing);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|e| {
        let message = format!("cannot open {}: the folder {} is not there: make it first", path.display(), folder.display());
        if e.kind() == std::io::ErrorKind::NotFound { TransportError::new(TransportErrorKind::Open, message) } else { fault(e) }
    })?;
    Ok(path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name)))
}

async fn open(store: StoreUrl) -> Result<Engine, TransportError> {
    let opened = Engine::open(EngineOptions::new(store)).await;
    opened.map_err(|e| TransportError::new(TransportErrorKind::Open, e.to_string()))
}
