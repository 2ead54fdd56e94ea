package org.openjobspec.kotlin

import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/** Between two looks at a server that does not hold back. */
private val PAUSE = 500.milliseconds
private val FIRST_BACKOFF = 100.milliseconds
private val LONGEST_BACKOFF = 10.seconds
private const val PAGE = 500

/** What [OjsClient.events] collects. */
internal fun eventsOf(
    client: OjsClient,
    types: List<String>?,
    queues: List<String>?,
    jobTypes: List<String>?,
    after: String,
): Flow<Event> = flow {
    var cursor = after
    var heard = false // an answer has come: from here on faults are waited out
    var backoff = FIRST_BACKOFF
    while (true) {
        // The first answer says where the log ends, at once.
        val wait = if (heard) HELD_BACK else Duration.ZERO
        val asked = TimeSource.Monotonic.markNow()
        val parameters = given(
            "after" to cursor.ifEmpty { null }, "limit" to PAGE, "wait_ms" to wait.inWholeMilliseconds,
            "types" to types?.joinToString(","), "queues" to queues?.joinToString(","),
            "job_types" to jobTypes?.joinToString(","),
        )
        val answer = try {
            client.run("GET", query("/events", parameters), null, Reply.whole, wait)
        } catch (e: OjsException) {
            if (
                !heard || !(e is OjsException.Connection || e.status == 408 || e.status == 429 || e.status >= 500)
            ) throw e
            delay(backoff / 2 + backoff / 2 * Random.nextDouble())
            backoff = minOf(backoff * 2, LONGEST_BACKOFF)
            continue
        }
        val events = Reply.list(answer, "events")
        for (one in events) emit(Event(membersOf(one)))
        cursor = answer.text("cursor").orEmpty()
        val idle = heard && events.isEmpty() && asked.elapsedNow() < HELD_BACK / 2
        heard = true
        backoff = FIRST_BACKOFF
        if (idle) delay(PAUSE)
    }
}
