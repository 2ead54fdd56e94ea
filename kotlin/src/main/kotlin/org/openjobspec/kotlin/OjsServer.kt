package org.openjobspec.kotlin

import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.openjobspec.kotlin.core.CoreServer
import org.openjobspec.kotlin.core.startServer

/** An OJS server in this process: for tests, and for programs that are their own server. [start] makes one. */
public class OjsServer private constructor(private val core: CoreServer) : AutoCloseable {
    /** Where it listens. */
    public val url: String get() = core.url()

    /** Answers requests under way, closes the store. A second stop does nothing. */
    public suspend fun stop(): Unit = withContext(NonCancellable) { Core.call { core.stop() } }

    /** The same, on the calling thread, for `use { }`. */
    override fun close(): Unit = runBlocking { stop() }

    public companion object {
        /**
         * Opens [store] (`memory:`, `sqlite:jobs.db`, `postgres://…`) and listens on [listen]; port 0 takes a free one.
         *
         * @param testMode has the routes that tests use
         * @param keys a file of keys: those who have one of them are let in
         * @param insecure may be reached from other machines without a key
         */
        public suspend fun start(
            store: String = "memory:",
            listen: String = "127.0.0.1:0",
            testMode: Boolean = false,
            keys: java.nio.file.Path? = null,
            insecure: Boolean = false,
        ): OjsServer {
            Logs.start()
            return OjsServer(Core.call { startServer(store, listen, testMode, keys?.toString(), insecure) })
        }
    }
}
