// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec.kotlin

import java.nio.file.Path
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineDispatcher

/**
 * A client. Making one opens nothing: it connects with its first call. Coroutines and threads may share it.
 *
 * ```kotlin
 * OjsClient("sqlite:jobs.db").use { client -> client.enqueue("email.send", "ada@example.com", queue = "mail") }
 * ```
 *
 * @param url `http://host:8080`, `https://…`, `sqlite:jobs.db`, `memory:` or `memory:name`. Without it `OJS_URL`, else
 *   `http://localhost:8080`
 * @param authToken the bearer token. Without it `OJS_AUTH_TOKEN`
 * @param headers further headers of every request
 * @param tenant the tenant of all requests: the client sees and changes what belongs to it, and its jobs are the tenant's
 * @param timeout for a whole call; a long poll's wait is added. Without it 30 s
 * @param connectTimeout for connecting. Without it 5 s
 * @param maxSends how often a request that did not arrive is sent, the first time included. Without it 5
 * @param caFile certificates to trust, a PEM file. Without it `OJS_TLS_CA_FILE`
 * @param clientCert the client's own certificate and its key, PEM files. Without it `OJS_TLS_CERT_FILE` and `OJS_TLS_KEY_FILE`
 * @param encryptionKeys encrypts the arguments of jobs, and decrypts them in workers; the first key is the one for new jobs. `name:key,name:key`, where a key is 64 hexadecimal characters, or base64 of 32 bytes. Without it `OJS_ENCRYPTION_KEYS`
 * @param maxResponseBytes most bytes of one answer (256 MiB); a longer one is an error, and what it asked for may have happened. Without it `OJS_MAX_RESPONSE_BYTES`, else `268435456`
 * @param proxy `environment`: requests go through the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names; `none`: those variables are not read. Requests to a loopback address go through none. Without it `OJS_PROXY`, else `environment`
 * @param transport carries the requests in place of what the URL names
 */
public fun OjsClient(
    url: String? = null,
    authToken: String? = null,
    headers: Map<String, String>? = null,
    tenant: String? = null,
    timeout: Duration? = null,
    connectTimeout: Duration? = null,
    maxSends: Int? = null,
    caFile: Path? = null,
    clientCert: Pair<Path, Path>? = null,
    encryptionKeys: String? = null,
    maxResponseBytes: Long? = null,
    proxy: Proxy? = null,
    transport: Transport? = null,
): OjsClient {
    val said = Environment.read()
    val settings = given(
        "auth_token" to (authToken ?: said["auth_token"]),
        "headers" to (headers?.map { (name, value) -> listOf(name, value) }),
        "tenant" to (tenant),
        "timeout" to (timeout?.let { seconds("timeout", it, zero = false) }),
        "connect_timeout" to (connectTimeout?.let { seconds("connectTimeout", it, zero = false) }),
        "max_sends" to (maxSends?.also { atLeastOne("maxSends", it) }),
        "ca_file" to (caFile?.toString() ?: said["ca_file"]),
        "client_cert" to (clientCert?.let { (certificate, key) -> listOf(certificate.toString(), key.toString()) } ?: said["client_cert"]),
        "encryption_keys" to (encryptionKeys ?: said["encryption_keys"]),
        "max_response_bytes" to (maxResponseBytes?.also { atLeastOne("maxResponseBytes", it) } ?: said["max_response_bytes"]),
        "proxy" to (proxy?.word ?: said["proxy"]),
    )
    return OjsClient.made(url?.ifEmpty { null } ?: said["url"] as String, transport, tenant, settings)
}

/**
 * A worker on this client's connection. Register handlers, then start it.
 *
 * ```kotlin
 * val worker = OjsWorker(client, queues = listOf("mail"), concurrency = 20)
 * worker.register("email.send") { ctx -> send(ctx.arg<String>(0)) }
 * worker.run() // until SIGTERM, Ctrl-C, or the end of the coroutine
 * ```
 *
 * @param client shares its connection
 * @param queues in order of preference. Without it `OJS_QUEUE`, else `default`
 * @param concurrency handlers at a time. Without it `OJS_CONCURRENCY`, else `10`
 * @param workerId its name on the server; without it a random one
 * @param heartbeatInterval between heartbeats. Without it 5 s
 * @param visibilityTimeout how long a silent worker keeps a job. Without it 30 s
 * @param gracePeriod how long running handlers may finish after a stop. With 0 they are cancelled at once. Without it `OJS_SHUTDOWN_TIMEOUT`, else `25 s`
 * @param flushTimeout how long the outcomes of jobs may take to reach the server after the grace period. Without it as long as the visibility timeout, at most 30 s
 * @param pollInterval the longest pause between fetches, where a server cannot wake a worker. Without it 2 s
 * @param labels labels of the worker, sent to the server
 * @param releaseOnShutdown gives unfinished jobs back when it stops; else they wait until their leases end. Without it true
 * @param unknownTypes what happens to a job whose type has no handler: `fail` makes it a dead letter whose reason is no_handler; `release` gives it back to its queue, and no attempt is counted. Without it fail
 * @param onlyRegisteredTypes asks only for jobs of the types that have a handler, where the server's manifest names `fetch_types`. Jobs of other types that come all the same are given back. Without it false
 * @param dispatcher where handlers run. Without it virtual threads on JDK 24 and later, before that threads of `Dispatchers.IO`, as many
 *     as `concurrency`: handlers may block
 */
public fun OjsWorker(
    client: OjsClient,
    queues: List<String>? = null,
    concurrency: Int? = null,
    workerId: String? = null,
    heartbeatInterval: Duration? = null,
    visibilityTimeout: Duration? = null,
    gracePeriod: Duration? = null,
    flushTimeout: Duration? = null,
    pollInterval: Duration? = null,
    labels: List<String>? = null,
    releaseOnShutdown: Boolean? = null,
    unknownTypes: UnknownTypes? = null,
    onlyRegisteredTypes: Boolean? = null,
    dispatcher: CoroutineDispatcher? = null,
): OjsWorker {
    val said = Environment.read()
    val settings = given(
        "queues" to (queues ?: said["queues"]),
        "concurrency" to (concurrency?.also { atLeastOne("concurrency", it) } ?: said["concurrency"]),
        "worker_id" to (workerId),
        "heartbeat_interval" to (heartbeatInterval?.let { seconds("heartbeatInterval", it, zero = false) }),
        "visibility_timeout" to (visibilityTimeout?.let { seconds("visibilityTimeout", it, zero = false) } ?: 30.0),
        "grace_period" to (gracePeriod?.let { seconds("gracePeriod", it, zero = true) } ?: said["grace_period"]),
        "flush_timeout" to (flushTimeout?.let { seconds("flushTimeout", it, zero = true) }),
        "poll_interval" to (pollInterval?.let { seconds("pollInterval", it, zero = false) }),
        "labels" to (labels),
        "release_on_shutdown" to (releaseOnShutdown),
        "unknown_types" to (unknownTypes?.word),
        "only_registered_types" to (onlyRegisteredTypes),
    )
    return OjsWorker.made(client, dispatcher, settings)
}
