package org.openjobspec.kotlin.serverless

import kotlinx.coroutines.awaitCancellation
import kotlinx.serialization.json.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test
import org.openjobspec.kotlin.OjsClient
import org.openjobspec.kotlin.OjsWorker
import org.openjobspec.kotlin.Transport
import org.openjobspec.kotlin.inner
import org.openjobspec.kotlin.items
import org.openjobspec.kotlin.jsonOf
import org.openjobspec.kotlin.jsonText
import org.openjobspec.kotlin.membersOf
import org.openjobspec.kotlin.number
import org.openjobspec.kotlin.patiently
import org.openjobspec.kotlin.plain
import org.openjobspec.kotlin.text
import org.openjobspec.kotlin.vectors

/** The vectors of all languages: what the server sends for a job that is too large for a queue, and what runs. */
class ReferenceTest {
    private fun all(name: String) = vectors("serverless_reference.json").items(name).map(::membersOf)

    private fun json(value: Any?) = jsonOf(value) as JsonObject

    @Test
    fun `references are those of the vectors`() {
        for (vector in all("cases")) {
            val name = vector.text("name")
            val delivery = Delivery.of(json(vector["message"]))
            val checkpoint = vector["checkpoint"]?.let(::json)
            assertFalse(delivery.isWhole, name)
            assertEquals(checkpoint != null, delivery.refersToCheckpoint, name)
            val whole = delivery.completed(json(vector["job"]), checkpoint)
            assertEquals(vector["runs"], plain(whole.json), name)
            assertEquals(delivery.lease, whole.lease, name)
        }
    }

    @Test
    fun `references end as the answers of the vectors say`() = patiently {
        val given = all("cases").first { it["checkpoint"] != null }
        for (answer in all("answers")) {
            val name = answer.text("name")
            val reported = ArrayList<String>()
            val saved = ArrayList<Any?>()
            val client = OjsClient(transport = { method, path, _ ->
                if (method != "GET") reported += path
                val what = if (path.endsWith("/checkpoint")) "checkpoint" else "job"
                val said = answer.inner(what).takeIf { method == "GET" }
                val found = if (what == "job") mapOf("job" to given["job"]) else given["checkpoint"]
                Transport.Answer(said?.number("status") ?: 200, (said?.text("body") ?: jsonText(found)).toByteArray())
            })
            val handler = LambdaHandler(Settings(worker = OjsWorker(client)))
            handler.register("email.send") { ctx -> saved += ctx.loadCheckpoint() }
            val comesAgain = again(handler, sqs("m1", jsonText(given["message"]))).isNotEmpty()
            val ends = if (comesAgain) "again" else if (saved.isEmpty()) "gone" else "runs"
            assertEquals(answer["ends"], ends, name)
            assertEquals(if (ends == "runs") listOf("/workers/ack") else emptyList(), reported, name)
            val state = if (answer["checkpoint"] == null) dig(given, "checkpoint", "state") else null
            if (ends == "runs") assertEquals(state, saved.single(), name)
        }
    }

    @Test
    fun `a timeout has the error of the vectors`() = patiently {
        val wanted = vectors("serverless_timeout.json").inner("error").orEmpty()
        val handler = LambdaHandler()
        handler.register("slow") { awaitCancellation() }
        val slow = mapOf("id" to "1", "type" to "slow", "args" to emptyList<Any>(), "timeout_ms" to 10)
        val error = membersOf(handler.handleDirect(slow)["error"])
        assertEquals(wanted, error.filterKeys { it in wanted })
    }
}
