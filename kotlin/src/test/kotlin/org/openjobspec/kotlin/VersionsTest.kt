package org.openjobspec.kotlin

import java.util.Collections
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Versions of the arguments of a job type: what a worker takes, and how old arguments become new ones. */
class VersionsTest {
    private val addressed = ArgsTransform { args -> listOf(mapOf("to" to args[0])) }

    private suspend fun Bench.resultOf(type: String, argument: Any?, version: String? = null): Any? =
        completed(client.enqueue(type, argument, queue = queue, version = version)).result

    @ParameterizedTest
    @EnumSource
    internal fun aWorkerTakesTheVersionsOfItsHandler(place: Place) = bench(place) {
        for ((name, range) in listOf("old" to "1", "new" to ">=2.0 <3.0")) {
            worker().register("versions.taken") { ctx -> "$name ${ctx.args[0]}" }
                .versions("versions.taken", range).start()
        }
        val held = client.enqueue("versions.taken", "3", queue = queue, version = "3")
        for ((version, name) in listOf("1" to "old", "2.4" to "new", "2" to "new", "1.0.0" to "old")) {
            assertEquals("$name $version", resultOf("versions.taken", version, version))
        }
        assertEquals("available" to 0, client.getJob(held.id).let { it.state to it.attempt })
    }

    @ParameterizedTest
    @EnumSource
    internal fun oldArgumentsBecomeThoseOfTheHandler(place: Place) = bench(place) {
        val seen = Collections.synchronizedList(ArrayList<Any?>())
        worker().use("outer") { ctx, next -> seen.add(ctx.args); next(ctx) }
            .register("versions.old", version = "3.1") { ctx -> listOf(ctx.args[0], ctx.job["version"]) }
            .transform("versions.old", "2", "3.0") { args -> listOf(membersOf(args[0]) + ("copy" to true)) }
            .transform("versions.old", "1.0", "2", addressed)
            .start()
        val ada = mapOf("to" to "ada", "copy" to true)
        val eve = mapOf("to" to "eve")
        assertEquals(listOf(ada, "3.0"), resultOf("versions.old", "ada", "1"))
        assertEquals(listOf(mapOf("to" to "bob", "copy" to true), "3.0"),
            resultOf("versions.old", mapOf("to" to "bob"), "2.0"))
        assertEquals(listOf(eve, "3.9"), resultOf("versions.old", eve, "3.9"))
        assertEquals(listOf(eve, "3.1"), resultOf("versions.old", eve))
        assertEquals(listOf(ada), seen.first(), "the middleware sees what the handler sees")
    }

    @ParameterizedTest
    @EnumSource
    internal fun aChangeThatFailsEndsTheJob(place: Place) = bench(place) {
        worker().register("versions.note") {}.transform("versions.note", "1", "2") { error("no address") }.start()
        val error = ended(client.enqueue("versions.note", queue = queue, version = "1"), "discarded").error.orEmpty()
        assertEquals("version_transform", error["code"])
        assertTrue("cannot become those of version 2: no address" in error["message"].toString(), "$error")
    }

    @Test
    fun aVersionThatNoHandlerRunsIsRefusedByTheWorkerToo() = patiently {
        val jobs = Channel<Map<String, Any?>>(1)
        jobs.trySend(
            mapOf(
                "id" to "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "type" to "versions.mail", "args" to emptyList<Any>(),
                "version" to "4.0", "queue" to "default", "attempt" to 1,
            ),
        )
        val asked = Channel<Map<String, Any?>>(Channel.UNLIMITED)
        val refused = Channel<Map<String, Any?>>(Channel.UNLIMITED)
        // It knows no versions: it hands out what the worker does not run.
        val server = Transport { _, path, body ->
            if (path == "/workers/nack") refused.send(membersOf(plain(body!!)))
            if (path == "/workers/fetch") asked.send(membersOf(plain(body!!)))
            when {
                "manifest" in path -> Transport.Answer.of(404, emptyMap<String, Any>())
                path != "/workers/fetch" -> Transport.Answer.of(200, emptyMap<String, Any>())
                else -> Transport.Answer.of(200, mapOf("jobs" to listOfNotNull(jobs.tryReceive().getOrNull())))
            }
        }
        val worker = OjsWorker(OjsClient(transport = server), pollInterval = 10.milliseconds)
        worker.register("versions.mail", version = "2") {}.transform("versions.mail", "1", "2", addressed).start()
        val error = withTimeout(PATIENCE) { refused.receive() }.inner("error").orEmpty()
        assertEquals("unsupported_version", error["code"])
        val wanted = "'versions.mail' in versions >=2.0 <3.0; the arguments have version 4.0.0"
        assertTrue(wanted in error["message"].toString(), "$error")
        val said = mapOf("type" to "versions.mail", "versions" to listOf(">=2.0 <3.0", "1.0.0"))
        assertEquals(listOf(said), asked.receive()["handlers"])
        worker.stop()
    }

    @Test
    fun changesThatContradictEachOtherAreRefusedAtTheStart() = bench {
        val wrong = mapOf(
            listOf("1" to "2", "1.0" to "3") to "has a transform already",
            listOf("1" to "2", "2" to "1") to "back to it",
            listOf("1" to "two") to "must be a version such as 2 or 2.1, got 'two'",
            listOf("1" to "1.5") to "which transforms change into 1.5.0",
        )
        for ((changes, text) in wrong) {
            val worker = OjsWorker(client).register("versions.wrong", version = "2") {}
            for ((from, to) in changes) worker.transform("versions.wrong", from, to, addressed)
            val message = thrownBy<OjsException.Validation> { worker.start() }.message.orEmpty()
            assertTrue(text in message, message)
        }
    }

    @Test
    fun aFakeChangesOldArgumentsToo() = bench {
        val seen = ArrayList<Any?>()
        OjsTesting.fake().use { fake ->
            val worker = OjsWorker(client).register("versions.fake", version = "2.0.0") { ctx -> seen.add(ctx.args) }
            worker.transform("versions.fake", "1", "2", addressed)
            client.enqueue("versions.fake", "ada", version = "1")
            assertEquals(1, fake.drain(worker))
        }
        assertEquals(listOf<Any?>(listOf(mapOf("to" to "ada"))), seen)
    }
}
