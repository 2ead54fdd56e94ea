//! Calls to a server or embedded engine.
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ojs::transport::ConnectOptions;
use ojs_abi::connection::Connection;
use ojs_abi::error::AbiError;
use ojs_abi::runtime;
use ojs_abi::settings::{ClientSettings, environment};
use serde_json::value::RawValue;

use crate::enqueue_layer::{EnqueueChain, around, through};
use crate::error::{enter, enter_new, enter_own, given, ojs_error};
use crate::request_context;
use crate::slice::{Options, ojs_buf, ojs_slice, options, put, put_new, strings};
use crate::user_data::UserData;

/// A connection to a server, or to an engine in this process. Free with ojs_client_free().
pub struct ojs_client {
    pub(crate) link: Arc<Connection>,
    pub(crate) layers: Arc<EnqueueChain>,
}

impl ojs_client {
    /// Without layers yet.
    pub(crate) fn of(link: Arc<Connection>) -> Self {
        Self { link, layers: Arc::new(EnqueueChain::of_enqueue()) }
    }
}

/// How to connect. Empty and 0 mean the default.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_client_options {
    /// Set by ojs_client_options_init().
    pub size: u32,
    /// How often a request that did not arrive is sent, the first time included.
    pub max_sends: u32,
    /// For a whole call, in milliseconds.
    pub timeout_ms: u64,
    /// For connecting, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Bearer token.
    pub auth_token: ojs_slice,
    /// Further headers: name, value, name, value …
    pub headers: *const ojs_slice,
    /// How many slices that are: twice the number of headers.
    pub header_slices: usize,
    /// Certificates to trust, a PEM file.
    pub ca_file: ojs_slice,
    /// The client's own certificate, a PEM file.
    pub cert_file: ojs_slice,
    /// Its key.
    pub key_file: ojs_slice,
    /// Encrypts the arguments of jobs, and decrypts them in workers: `name:key,name:key`, the current key first. A key is 64
    /// hexadecimal characters, or base64 of 32 bytes.
    pub encryption_keys: ojs_slice,
    /// Most bytes of one answer; 268,435,456. A longer one is an error.
    pub max_response_bytes: u64,
    /// `environment` (requests go through the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names) or `none`;
    /// `environment`. Requests to a loopback address go through none.
    pub proxy: ojs_slice,
    /// The tenant whose requests these are: it sees and changes what belongs to it, and its jobs are the tenant's.
    pub tenant: ojs_slice,
}

// SAFETY: the members are numbers, slices and a pointer; there is no bool.
unsafe impl Options for ojs_client_options {
    const BOOLS: &'static [(usize, &'static str)] = &[];
}

impl Default for ojs_client_options {
    fn default() -> Self {
        Self {
            size: u32::try_from(size_of::<Self>()).unwrap_or(0),
            max_sends: 0,
            timeout_ms: 0,
            connect_timeout_ms: 0,
            auth_token: ojs_slice::EMPTY,
            headers: ptr::null(),
            header_slices: 0,
            ca_file: ojs_slice::EMPTY,
            cert_file: ojs_slice::EMPTY,
            key_file: ojs_slice::EMPTY,
            encryption_keys: ojs_slice::EMPTY,
            max_response_bytes: 0,
            proxy: ojs_slice::EMPTY,
            tenant: ojs_slice::EMPTY,
        }
    }
}

/// Fills in the size and the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_client_options_init(options: *mut ojs_client_options) {
    put(options, ojs_client_options::default());
}

fn connect_options(given: *const ojs_client_options) -> Result<ConnectOptions, AbiError> {
    let given = options(given, ojs_client_options::default(), "ojs_client_options")?;
    let headers = strings(given.headers, given.header_slices, "headers")?;
    let (pairs, rest) = headers.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(AbiError::invalid("headers are pairs of a name and a value: header_slices is odd"));
    }
    let length = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
    let settings = ClientSettings {
        auth_token: given.auth_token.string("auth_token")?,
        headers: pairs.iter().map(|[name, value]| (name.clone(), value.clone())).collect(),
        timeout: length(given.timeout_ms),
        connect_timeout: length(given.connect_timeout_ms),
        max_sends: (given.max_sends > 0).then_some(given.max_sends),
        ca_file: given.ca_file.string("ca_file")?,
        client_cert: given.cert_file.string("cert_file")?.zip(given.key_file.string("key_file")?),
        encryption_keys: given.encryption_keys.string("encryption_keys")?,
        max_response_bytes: (given.max_response_bytes > 0).then_some(given.max_response_bytes),
        proxy: given.proxy.string("proxy")?,
        tenant: given.tenant.string("tenant")?,
    };
    settings.options()
}

/// What the variables of the environment whose names begin with `OJS_` say. `variables` is a JSON object of their
/// texts; `out` gets a JSON object by the names of settings, lengths of time in seconds, with the defaults of `url`,
/// `queues` and `concurrency`. The library reads no environment by itself.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_environment(variables: ojs_slice, out: *mut *mut ojs_buf) -> Option<Box<ojs_error>> {
    enter_new("ojs_environment", out, || {
        let settings = environment(variables.text("variables")?)?;
        Ok(ojs_buf::new(settings.into_bytes()))
    })
}

/// A client for `http://host:8080`, `https://…`, `sqlite:jobs.db`, `memory:` or `memory:name`. It connects with its first call.
/// `options` may be NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_new(
    url: ojs_slice,
    options: *const ojs_client_options,
    out: *mut *mut ojs_client,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_client_new", out, || {
        let url = url.text("url")?;
        if url.is_empty() {
            return Err(AbiError::invalid("url is empty: give http://host:8080, sqlite:jobs.db or memory:"));
        }
        let link = Connection::to_url(url, connect_options(options)?)?;
        Ok(ojs_client::of(link))
    })
}

/// A client on the same connection, with the requests of one tenant: they see and change what belongs to it, and the
/// jobs are the tenant's. It shares the layers. Closing it leaves the connection open.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_of_tenant(
    client: Option<&ojs_client>,
    tenant: ojs_slice,
    out: *mut *mut ojs_client,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_client_of_tenant", out, || {
        let client = given(client, "client")?;
        let link = client.link.of_tenant(tenant.text("tenant")?)?;
        Ok(ojs_client { link, layers: Arc::clone(&client.layers) })
    })
}

/// A call of the protocol, with its arguments read.
struct Call {
    link: Arc<Connection>,
    layers: Arc<EnqueueChain>,
    method: String,
    path: String,
    body: Option<Bytes>,
}

impl Call {
    fn read(client: Option<&ojs_client>, method: ojs_slice, path: ojs_slice, body: ojs_slice) -> Result<Self, AbiError> {
        let (method, path) = (method.text("method")?, path.text("path")?);
        if method.is_empty() || !path.starts_with('/') {
            return Err(AbiError::invalid(format!("a call is a method and a path that begins with /, got '{method}' '{path}'")));
        }
        body.text("body")?;
        let client = given(client, "client")?;
        Ok(Self {
            link: Arc::clone(&client.link),
            layers: Arc::clone(&client.layers),
            method: method.to_owned(),
            path: path.to_owned(),
            body: body.owned("body")?,
        })
    }

    async fn run(self) -> Result<Bytes, AbiError> {
        self.link.call(&self.method, &self.path, self.body).await
    }

    /// Whether it enqueues, and there are layers around that.
    fn is_layered(&self) -> bool {
        self.body.is_some() && around(&self.layers, &self.method, &self.path).is_some()
    }

    /// Through the layers, where there are any, and to the server; waits for it.
    fn wait_for(self) -> Result<Bytes, Box<ojs_error>> {
        let runtime = runtime::handle()?;
        match (around(&self.layers, &self.method, &self.path), &self.body) {
            (Some((layers, enqueues)), Some(body)) => {
                through(&layers, enqueues, body, |body| runtime.block_on(self.link.call(&self.method, &self.path, Some(body))))
            }
            _ => Ok(runtime.block_on(self.run())?),
        }
    }

    async fn run_waiting(self, wait: Duration) -> Result<Bytes, AbiError> {
        self.link.call_waiting(&self.method, &self.path, self.body, wait).await
    }
}

/// Any call of the protocol: `path` is relative to /ojs/v1 (or is /ojs/manifest), `body` is JSON or empty; `out` is the body of a
/// 2xx answer. Waits for it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_call(
    client: Option<&ojs_client>,
    method: ojs_slice,
    path: ojs_slice,
    body: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    answer("ojs_client_call", out, || Call::read(client, method, path, body))
}

fn answer(export: &'static str, out: *mut *mut ojs_buf, call: impl FnOnce() -> Result<Call, AbiError>) -> Option<Box<ojs_error>> {
    put(out, ptr::null_mut());
    enter_own(export, || {
        put_new(out, ojs_buf::new(call()?.wait_for()?));
        Ok(())
    })
}

/// What an asynchronous call ends in: an error, or a body; the one who is called owns it.
pub type ojs_done_fn = Option<extern "C" fn(user_data: *mut c_void, error: Option<Box<ojs_error>>, body: Option<Box<ojs_buf>>)>;

/// The same without waiting: `done` is called once, on a thread of the library. When this function itself returns an error, it is
/// not called.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_call_async(
    client: Option<&ojs_client>,
    method: ojs_slice,
    path: ojs_slice,
    body: ojs_slice,
    done: ojs_done_fn,
    user_data: *mut c_void,
) -> Option<Box<ojs_error>> {
    let user_data = UserData(user_data);
    enter("ojs_client_call_async", || {
        let done = done.ok_or_else(|| AbiError::invalid("done is NULL"))?;
        let call = Call::read(client, method, path, body)?;
        if call.is_layered() {
            return spawn_layered("ojs_client_call_async", call, done, user_data);
        }
        spawn("ojs_client_call_async", call.run(), done, user_data)
    })
}

/// As ojs_client_call_async(), for a call whose answer the server may hold back for `wait_ms` (results, events): there is that much
/// more time, and it is sent once.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_call_waiting(
    client: Option<&ojs_client>,
    method: ojs_slice,
    path: ojs_slice,
    body: ojs_slice,
    wait_ms: u64,
    done: ojs_done_fn,
    user_data: *mut c_void,
) -> Option<Box<ojs_error>> {
    let user_data = UserData(user_data);
    enter("ojs_client_call_waiting", || {
        let done = done.ok_or_else(|| AbiError::invalid("done is NULL"))?;
        let call = Call::read(client, method, path, body)?;
        spawn("ojs_client_call_waiting", call.run_waiting(Duration::from_millis(wait_ms)), done, user_data)
    })
}

type Done = extern "C" fn(user_data: *mut c_void, error: Option<Box<ojs_error>>, body: Option<Box<ojs_buf>>);

/// The same for a call with layers, which run there; what its request hands on goes along.
fn spawn_layered(export: &'static str, call: Call, done: Done, user_data: UserData) -> Result<(), AbiError> {
    let context = request_context::current();
    runtime::handle()?.spawn_blocking(move || {
        let mut body = None;
        let error = request_context::scoped(context, || {
            enter_own(export, || {
                body = Some(Box::new(ojs_buf(call.wait_for()?)));
                Ok(())
            })
        });
        done(user_data.get(), error, body);
    });
    Ok(())
}

/// Makes a call on the runtime, then calls back on a thread for blocking work: the callback may take its time.
fn spawn(
    export: &'static str,
    call: impl Future<Output = Result<Bytes, AbiError>> + Send + 'static,
    done: Done,
    user_data: UserData,
) -> Result<(), AbiError> {
    let handle = runtime::handle()?;
    let work = handle.spawn(call);
    handle.spawn(async move {
        let ended = work.await.unwrap_or_else(|error| Err(AbiError::Panicked { export, message: error.to_string() }));
        tokio::task::spawn_blocking(move || match ended {
            Ok(body) => done(user_data.get(), None, Some(Box::new(ojs_buf(body)))),
            Err(error) => done(user_data.get(), Some(Box::new(ojs_error::from(&error))), None),
        });
    });
    Ok(())
}

/// Sends a job: its type, its arguments (a JSON array, `[]` when empty) and its options (a JSON object, the `options` of the
/// protocol, or empty). `out` is the answer, `{"job": {…}}`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_enqueue(
    client: Option<&ojs_client>,
    job_type: ojs_slice,
    args: ojs_slice,
    options: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    answer("ojs_client_enqueue", out, || {
        let client = given(client, "client")?;
        let job_type = serde_json::Value::from(job_type.text("type")?);
        let args = json("args", &args, '[')?.unwrap_or("[]");
        let body = match json("options", &options, '{')? {
            Some(options) => format!(r#"{{"type":{job_type},"args":{args},"options":{options}}}"#),
            None => format!(r#"{{"type":{job_type},"args":{args}}}"#),
        };
        let (method, path) = ("POST".to_owned(), "/jobs".to_owned());
        let (link, layers) = (Arc::clone(&client.link), Arc::clone(&client.layers));
        Ok(Call { link, layers, method, path, body: Some(body.into()) })
    })
}

/// JSON text that begins as it must; `None` when it is empty.
fn json<'a>(name: &str, slice: &'a ojs_slice, first: char) -> Result<Option<&'a str>, AbiError> {
    let text = slice.text(name)?;
    if text.is_empty() {
        return Ok(None);
    }
    let kind = if first == '[' { "array" } else { "object" };
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|e| AbiError::invalid(format!("{name} must be a JSON {kind}: {e}")))?;
    if raw.get().starts_with(first) {
        Ok(Some(raw.get()))
    } else {
        Err(AbiError::invalid(format!("{name} must be a JSON {kind}")))
    }
}

/// A delivered job, as JSON, with its arguments in the clear, as a worker's handler gets it: for jobs that come by
/// another way than ojs_worker_pull(), such as the body of a push request. A job that is not encrypted comes back as it
/// is.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_decrypted(
    client: Option<&ojs_client>,
    job: ojs_slice,
    out: *mut *mut ojs_buf,
) -> Option<Box<ojs_error>> {
    enter_new("ojs_client_decrypted", out, || {
        Ok(ojs_buf::new(given(client, "client")?.link.decrypted(job.bytes("job")?)?.into_owned()))
    })
}

/// Releases the connection; an embedded engine is flushed. Calls from now on fail with OJS_CLASS_CLOSED; a second close does nothing.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_client_close(client: Option<&ojs_client>) -> Option<Box<ojs_error>> {
    enter("ojs_client_close", || {
        let link = Arc::clone(&given(client, "client")?.link);
        runtime::handle()?.block_on(async move { link.close().await });
        Ok(())
    })
}

/// Frees a client. Workers made from it go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_client_free(client: Option<Box<ojs_client>>) {
    if let Some(client) = client {
        Connection::let_go("ojs_client_free", client.link);
    }
}
