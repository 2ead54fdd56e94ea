package org.openjobspec.kotlin

import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import org.openjobspec.kotlin.core.followEvents

/** What [OjsClient.events] collects: the core says what to ask, after which pause, and which errors end the flow. */
internal fun eventsOf(client: OjsClient, filter: Map<String, Any?>): Flow<Event> = flow {
    var step = followed("begin", filter) ?: return@flow
    while (true) {
        delay((step.whole("pause_ms") ?: 0).milliseconds)
        val state = step["state"]
        val answer = try {
            val wait = (step.whole("wait_ms") ?: 0).milliseconds
            client.run("GET", step.text("path").orEmpty(), null, Reply.whole, wait)
        } catch (e: OjsException) {
            val about = mapOf(
                "connection" to (e is OjsException.Connection), "status" to e.status, "code" to e.code,
                "retryable" to e.retryable,
            )
            step = followed("failed", mapOf("state" to state, "error" to about)) ?: throw e
            continue
        }
        val events = Reply.list(answer, "events")
        for (one in events) emit(Event(membersOf(one)))
        val read = mapOf("state" to state, "events" to events.size, "cursor" to answer.text("cursor").orEmpty())
        step = followed("answered", read) ?: return@flow
    }
}

/** The next request; null when the error that the core was given ends the flow. */
private fun followed(what: String, said: Map<String, Any?>): Map<String, Any?>? {
    val step = Core.call { plain(parsed(followEvents(jsonText(mapOf(what to said))))) }
    return step?.let(::membersOf)
}
