package org.openjobspec.kotlin

import java.nio.file.Path
import java.sql.DriverManager
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** What a request hands on to its jobs, and a job to those of its handler. */
class RequestContextTest {
    private val parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test
    fun theHeadersOfARequestAreRead() {
        val headers = mapOf(
            "X-Request-ID" to "r-1", "traceparent" to parent, "X-OJS-Tenant" to "acme",
            "Accept-Language" to "cs-CZ;q=0.9, en",
        )
        val read = RequestContext.ofRequest(headers::get, userId = 7)
        val wanted = mapOf(
            "ojs.context.user_id" to "7", "ojs.context.request_id" to "r-1", "traceparent" to parent,
            "tenant_id" to "acme", "ojs.context.locale" to "cs-CZ",
        )
        assertEquals(wanted, read.meta)
        assertEquals("other", RequestContext.ofRequest(headers::get, tenantId = "other").meta["tenant_id"])
        assertEquals(emptyMap<String, Any>(), RequestContext.ofRequest({ null }).meta)
        assertEquals(emptyMap<String, Any>(), RequestContext.ofRequest(mapOf("Accept-Language" to "*")::get).meta)
    }

    @ParameterizedTest
    @EnumSource
    internal fun theTraceGoesWithTheJobThroughBothChains(place: Place) = bench(place) {
        client.use("request_context", RequestContext.carry)
        worker().use("request_context", RequestContext.restore)
            .register("outer") { ctx -> client.enqueue("inner", ctx.attempt, queue = queue).id }
            .register("inner") { ctx -> listOf(RequestContext.current()?.meta, ctx.meta["traceparent"]) }
            .start()
        val outer = withContext(RequestContext(mapOf("traceparent" to parent, "ojs.context.user_id" to ""))) {
            coroutineScope { async { client.enqueue("outer", queue = queue) }.await() }
        }
        assertEquals(mapOf("traceparent" to parent), outer.meta)
        val inner = client.getJob(completed(outer).result as String)
        assertEquals(listOf(mapOf("traceparent" to parent), parent), completed(inner).result)
        assertNull(RequestContext.current())
        assertEquals(emptyMap<String, Any?>(), client.enqueue("bare", queue = queue).meta)
    }

    @Test
    fun whatAJobSaysItselfStays() = bench {
        client.use("request_context", RequestContext.carry)
        withContext(RequestContext(mapOf("traceparent" to parent, "tenant_id" to "acme"))) {
            val own = client.enqueue("a", queue = queue, meta = mapOf("traceparent" to "mine"), tenant = "globex")
            assertEquals("mine" to "globex", own.meta["traceparent"] to own.meta["tenant_id"])
        }
    }

    @Test
    fun jobsOfATransactionCarryItToo(@TempDir folder: Path) = bench {
        client.use("request_context", RequestContext.carry)
        val outbox = Outbox(client)
        DriverManager.getConnection("jdbc:sqlite:${folder.resolve("shop.db")}").use { connection ->
            outbox.migrate(connection)
            withContext(RequestContext(mapOf("traceparent" to parent))) {
                outbox.enqueueAfterCommit(connection, job("email.welcome", queue = queue))
            }
            assertEquals(parent, outbox.staged(connection).single().meta["traceparent"])
        }
    }
}
