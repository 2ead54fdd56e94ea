package org.openjobspec.kotlin

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest

/** Longest time a test waits for something that takes milliseconds on a busy machine. Reached only by failures. */
internal val PATIENCE = 90.seconds

/** The root of the repository: the tests run in kotlin/. */
internal val ROOT: Path = Path.of("").toAbsolutePath().parent

private val names = AtomicInteger()

internal fun unique(kind: String) = "$kind-${ProcessHandle.current().pid()}-${names.incrementAndGet()}"

/** A server in this process, over HTTP; it ends with the tests. */
internal val server: OjsServer by lazy { runBlocking { OjsServer.start(testMode = true) } }

internal enum class Place {
    MEMORY, HTTP;

    fun url() = if (this == MEMORY) "memory:${unique("test")}" else server.url
}

/** Runs a test, which may not take longer than patience allows. */
internal fun patiently(test: suspend () -> Unit) = runBlocking { withTimeout(PATIENCE * 2) { test() } }

/** The first value that is not null. */
internal suspend fun <T : Any> eventually(probe: suspend () -> T?): T = withTimeout(PATIENCE) {
    var found = probe()
    while (found == null) {
        delay(2)
        found = probe()
    }
    found
}

/** A client and a queue of its own, with workers that end with the test. */
internal class Bench(place: Place) {
    val client = OjsClient(place.url())
    val queue = unique("queue")
    private val workers = ArrayList<OjsWorker>()

    fun worker(concurrency: Int = 4, gracePeriod: Duration? = null) =
        OjsWorker(
            client,
            queues = listOf(queue),
            concurrency = concurrency,
            gracePeriod = gracePeriod,
        ).also { workers += it }

    suspend fun ended(job: Job, vararg states: String): Job =
        eventually { client.getJob(job.id).takeIf { it.state in states } }

    suspend fun completed(job: Job): Job {
        val over = ended(job, "completed", "discarded", "cancelled")
        check(over.state == "completed") { "$over ${over.error}" }
        return over
    }

    suspend fun close() {
        workers.forEach { it.stop(Duration.ZERO) }
        client.shutdown()
    }
}

internal fun bench(place: Place = Place.MEMORY, test: suspend Bench.() -> Unit) = patiently {
    val bench = Bench(place)
    try {
        bench.test()
    } finally {
        bench.close()
    }
}

internal fun vectors(file: String): Map<String, Any?> =
    membersOf(plain(Files.readAllBytes(ROOT.resolve("tests/vectors/$file"))))

/** A test for each of the vectors of a kind, which have a name and at most these members. */
internal fun eachVector(
    kind: String,
    vararg members: String,
    check: suspend (Map<String, Any?>) -> Unit,
): List<DynamicTest> {
    val all = vectors("vectors.json").items(kind).map(::membersOf)
    assertTrue(all.isNotEmpty(), "there are vectors of $kind")
    return all.map { vector ->
        DynamicTest.dynamicTest(vector.text("name")) { runBlocking { check(known(vector, "name", *members)) } }
    }
}

/** An object that has at most these members: nothing would play another one. */
internal fun known(value: Any?, vararg names: String): Map<String, Any?> {
    val members = membersOf(value)
    assertEquals(emptySet<String>(), members.keys - names.toSet(), "members that this test does not play")
    return members
}

internal suspend inline fun <reified E : Throwable> thrownBy(body: suspend () -> Unit): E {
    try {
        body()
    } catch (e: Throwable) {
        return e as? E ?: throw AssertionError("expected ${E::class.simpleName}, got $e", e)
    }
    throw AssertionError("expected ${E::class.simpleName}, nothing was thrown")
}
