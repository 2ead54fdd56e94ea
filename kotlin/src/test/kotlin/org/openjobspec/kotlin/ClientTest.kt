package org.openjobspec.kotlin

import java.net.InetAddress
import java.net.ServerSocket
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.flow.first
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class ClientTest {
    @ParameterizedTest
    @EnumSource
    internal fun whatIsSentComesBack(place: Place) = bench(place) {
        val job =
            client.enqueue(
                "a.b",
                1,
                "ü€😀",
                listOf(true, null),
                queue = queue,
                priority = 3,
                delay = 5.minutes,
                tags = listOf("x"),
            )
        val found = client.getJob(job.id)
        assertEquals(listOf(1L, "ü€😀", listOf(true, null)), found.args)
        assertEquals(listOf("a.b", queue, "scheduled", 3), listOf(found.type, found.queue, found.state, found.priority))
        assertEquals("cancelled", client.cancelJob(job.id).state)
    }

    @ParameterizedTest
    @EnumSource
    internal fun aBatchIsAllOrNothing(place: Place) = bench(place) {
        assertEquals(2, client.enqueueBatch(listOf(job("a", queue = queue), job("b", queue = queue))).size)
        thrownBy<OjsException> {
            client.enqueueBatch(listOf(job("a", queue = queue), job("not a type!", queue = queue)))
        }
        assertEquals(2, client.queues.stats(queue).number("available"))
    }

    @ParameterizedTest
    @EnumSource
    internal fun aListIsLongerThanAPage(place: Place) = bench(place) {
        val many = List(51) { "$queue-$it" }
        client.enqueueBatch(many.map { job("a", queue = it) })
        val listed = client.queues.list().map { it["name"] }
        assertTrue(listed.containsAll(many), "$listed")
    }

    @Test
    fun bulkItemsHaveOutcomesOfTheirOwn() = bench {
        val items = client.bulk.enqueue(listOf(job("a", queue = queue), job("not a type!")))
        assertEquals(listOf(true, false), items.map { it.ok })
        assertTrue(items[1].error is OjsException.InvalidRequest, "${items[1].error}")
        assertEquals(1, client.bulk.cancel(queue = queue).succeeded)
        thrownBy<OjsException.Validation> { client.bulk.cancel() }
    }

    @Test
    fun aChainHandsResultsOn() = bench {
        worker().register("one") { 1 }.register("two") { ctx -> ctx.parentResults }.start()
        val ran = client.workflow(chain(job("one", queue = queue), job("two", queue = queue)).named("count"))
        val over = eventually { client.getWorkflow(ran.id).takeIf { it.state == "completed" } }
        val last = over.steps.last()
        assertEquals(listOf<Any?>(1L), client.getJob(last.text("job_id").orEmpty()).result)
    }

    @Test
    fun resultsAreWaitedFor() = bench(Place.HTTP) {
        val job = client.enqueue("later", queue = queue)
        val timeout = thrownBy<OjsException.Timeout> { client.waitForResult(job.id, 5.milliseconds) }
        assertTrue(timeout.retryable)
        worker().register("later") { "now" }.start()
        assertEquals("now", client.waitForResult(job.id, PATIENCE).result)
    }

    @ParameterizedTest
    @EnumSource
    internal fun eventsAreFollowed(place: Place) = bench(place) {
        val job = client.enqueue("a", queue = queue)
        val event = client.events(types = listOf("job.*"), queues = listOf(queue), after = "").first()
        assertEquals(job.id, event.subject)
    }

    @Test
    fun aTransportOfTheProgramsOwnCarriesCallsAndAWorker() = bench {
        val asked = CopyOnWriteArrayList<String>()
        val through = client
        val own = OjsClient(transport = { method, path, body ->
            asked += "$method $path"
            try {
                Transport.Answer.of(200, through.request(method, path, body?.let { plain(it) }))
            } catch (e: OjsException.Api) {
                Transport.Answer.of(e.status, mapOf("error" to mapOf("code" to e.code, "message" to e.message)))
            }
        })
        val worker = OjsWorker(own, queues = listOf(queue)).register("a") { "done" }.start()
        val job = own.enqueue("a", queue = queue)
        assertEquals("done", completed(job).result)
        assertTrue("POST /jobs" in asked, "$asked")
        worker.stop()
        own.shutdown()
    }

    @Test
    fun aClosedClientSaysSo() = patiently {
        val client = OjsClient("memory:${unique("closed")}")
        client.enqueue("a")
        client.shutdown()
        thrownBy<OjsException.Closed> { client.enqueue("a") }
    }

    @Test
    fun aServerThatIsNotThereAndOneThatDoesNotAnswer() = patiently {
        ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { silent ->
            val deaf = OjsClient("http://127.0.0.1:${silent.localPort}", timeout = 200.milliseconds, maxSends = 1)
            thrownBy<OjsException.Timeout> { deaf.enqueue("a") }
        }
        val nobody = thrownBy<OjsException.Connection> { OjsClient("http://127.0.0.1:9", maxSends = 1).enqueue("a") }
        assertTrue("ojs server" in nobody.message.orEmpty(), nobody.message)
    }

    @Test
    fun aClientOfATenantSeesAndMakesWhatBelongsToIt() = bench(Place.HTTP) {
        val acme = client.ofTenant(unique("acme"))
        val job = acme.enqueue("a", queue = queue)
        assertEquals(job.id, acme.getJob(job.id).id)
        thrownBy<OjsException.NotFound> { client.ofTenant(unique("other")).getJob(job.id) }
    }

    @Test
    fun aServerWithoutTrainsIsAnErrorOfItsOwn() = patiently {
        val refusal =
            mapOf(
                "error" to mapOf(
                    "code" to "extension_not_supported",
                    "message" to "no trains",
                    "details" to mapOf("extension" to "trains"),
                ),
            )
        val client = OjsClient(transport = { _, _, _ -> Transport.Answer.of(422, refusal) })
        thrownBy<OjsException.UnsupportedExtension> { client.enqueue("a", train = Train("x")) }
    }

    @Test
    fun theCoreSaysWhatAReaderOfEventsAsksAndWhenItEnds() = bench {
        val refusal = mapOf("error" to mapOf("code" to "x", "message" to "m"))
        val event = mapOf("id" to "evt_2", "type" to "job.enqueued", "subject" to "1", "data" to mapOf("n" to 1))
        val answers = listOf(
            200 to mapOf("events" to emptyList<Any>(), "cursor" to "1"), 503 to refusal,
            200 to mapOf("events" to listOf(event), "cursor" to "2"), 401 to refusal,
        )
        val asked = CopyOnWriteArrayList<String>()
        val client = OjsClient(transport = { _, path, _ ->
            asked += path
            answers[asked.size - 1].let { (status, body) -> Transport.Answer.of(status, body) }
        })
        val seen = mutableListOf<String?>()
        thrownBy<OjsException.Authentication> {
            client.events(types = listOf("job.*"), queues = listOf("q")).collect { seen += it.subject }
        }
        val steps = listOf("latest" to 0, "1" to 20_000, "1" to 20_000, "2" to 20_000)
        val paths = steps.map { (after, wait) ->
            "/events?after=$after&types=job.%2A&queues=q&limit=500&wait_ms=$wait"
        }
        assertEquals(listOf<String?>("1") to paths, seen to asked.toList())
    }

    @Test
    fun whatJsonHasNoFormForIsRefused() = bench {
        for (wrong in listOf(Double.NaN, Any(), mapOf(1 to 2), "\uD800", Thread.currentThread())) {
            thrownBy<OjsException.Validation> { client.enqueue("a", wrong) }
        }
        val exact =
            listOf(
                Long.MAX_VALUE,
                java.math.BigInteger("123456789012345678901234567890"),
                java.math.BigDecimal("0.1000000000000000000001"),
            )
        assertEquals(exact, client.getJob(client.enqueue("a", *exact.toTypedArray()).id).args)
    }
}
